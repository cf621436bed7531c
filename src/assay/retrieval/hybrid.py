"""Fuse the runs of several modes with any fusion method. Searches nothing itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.fusion import fuse
from assay.tables import Run


def hybrid(runs: Sequence[Run], method: str = "rrf", *, depth: int | None = None, **options: Any) -> Run:
    """Fuse runs into one run named "hybrid"; by default with reciprocal rank fusion and k = 60.

    `options` are those of `assay.fuse`: norm, weights and the parameters of the method.

    >>> words = Run.from_columns(["q", "q"], ["a", "b"], [9.0, 8.0])
    >>> vectors = Run.from_columns(["q", "q"], ["b", "c"], [0.7, 0.6])
    >>> hybrid([words, vectors]).doc.tolist()
    ['b', 'a', 'c']
    """
    return fuse(runs, method, depth=depth, **options).named("hybrid")
