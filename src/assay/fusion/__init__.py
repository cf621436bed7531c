"""Fuse several runs into one, and collapse chunks into documents.

fusing          fuse: check, pool, normalise and combine the runs   collapsing  chunks to documents
methods         one function for each method, with its paper        pooled      runs matched by document
normalisations  one function for each normalisation                 registry    how methods are declared
"""

from __future__ import annotations

from assay.fusion.collapsing import WAYS, collapse
from assay.fusion.fusing import Fused, fuse, fuse_with_notes
from assay.fusion.pooled import RANKS
from assay.fusion.registry import METHODS, NORMALISATIONS, Method, Normalisation

__all__ = [
    "METHODS",
    "NORMALISATIONS",
    "RANKS",
    "WAYS",
    "Fused",
    "Method",
    "Normalisation",
    "collapse",
    "fuse",
    "fuse_with_notes",
]
