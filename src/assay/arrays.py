"""Columns cut into segments, as rows of queries are. Knows nothing of what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.tables import Booleans, Integers

if TYPE_CHECKING:
    import numpy.typing as npt


def count_per_segment(mask: Booleans, start: Integers) -> Integers:
    """How many values of each segment are marked; segment i is start[i]:start[i + 1]."""
    counted = np.concatenate(([0], np.cumsum(mask)))
    return np.asarray(counted[start[1:]] - counted[start[:-1]])


def starts(size: Integers) -> Integers:
    """Where each segment starts when segments of these sizes lie end to end, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(size)))


def changes(column: npt.NDArray[Any]) -> Booleans:
    """True where a value differs from the one before; the first always."""
    return np.concatenate(([True], column[1:] != column[:-1]))[: len(column)]
