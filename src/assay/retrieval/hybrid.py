"""Runs of several modes as one: any fusion of the registry. Searches nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.fusion import fuse
from assay.tables import Run


def hybrid(runs: Sequence[Run], method: str = "rrf", *, depth: int | None = None, **options: Any) -> Run:
    """One run from those of several modes, under the name "hybrid"; reciprocal rank fusion with k = 60 unless told otherwise.

    `options` are those of `assay.fuse`: norm, weights, and the method's parameters.

    >>> words = Run.from_columns(["q", "q"], ["a", "b"], [9.0, 8.0])
    >>> vectors = Run.from_columns(["q", "q"], ["b", "c"], [0.7, 0.6])
    >>> hybrid([words, vectors]).doc.tolist()
    ['b', 'a', 'c']
    """
    return fuse(runs, method, depth=depth, **options).named("hybrid")
