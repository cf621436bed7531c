"""Compare a query with every document. Fast products find the candidates, and exact sums order them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.tables import Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.floating[Any]]  # (documents or queries, dimensions)
else:
    Matrix = np.ndarray

BLOCK = 16384  # documents compared in one step
# Upper bound on the rounding error of products of unit float32 vectors, in any order of addition. That of other vectors
# grows with their lengths.
_SLACK = 1e-4


def near_enough(vectors: Matrix, queries: Matrix, depth: int, longest: float = 1.0) -> list[Integers]:
    """For each query, the rows that may be among the best in an exact comparison; `longest` is the longest vector."""
    lengths = np.linalg.norm(queries, axis=1) * longest
    near = np.empty((len(queries), len(vectors)), np.float32)
    for begin in range(0, len(vectors), BLOCK):
        block = vectors[begin : begin + BLOCK]
        near[:, begin : begin + len(block)] = queries @ block.T
    return [_candidates(some, depth, _SLACK * length) for some, length in zip(near, lengths, strict=True)]


def exact_scores(vectors: Matrix, rows: Integers | Sequence[int], query: Matrix) -> Floats:
    """The dot products of a query with some documents, to the last bit independent of other queries and documents.

    In a matrix product, the order of addition would depend on the shapes.
    """
    products = vectors[rows].astype(np.float64)
    products *= query.astype(np.float64)
    scores: Floats = products.sum(axis=1)
    return scores


def longest_of(vectors: Matrix) -> float:
    """The length of the longest vector."""
    return max((float(np.linalg.norm(block, axis=1).max()) for block in blocks_of(vectors)), default=1.0)


def blocks_of(vectors: Matrix) -> Iterator[Matrix]:
    """The vectors, so many at a time that they fit into memory."""
    return (vectors[begin : begin + BLOCK] for begin in range(0, len(vectors), BLOCK))


def _candidates(near: Matrix, depth: int, slack: float) -> Integers:
    """All rows that may be among the best in an exact comparison, if products have an error of at most the slack."""
    if len(near) <= depth:
        return np.arange(len(near))
    lowest = np.partition(near, len(near) - depth)[len(near) - depth]
    return np.flatnonzero(near >= lowest - 2 * slack)
