"""Columns cut into segments, as the rows of queries are, and what is computed from them once. Any columns will do."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct

from assay.tables import Booleans, Integers

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")


class Remembers(Struct, frozen=True, eq=False, dict=True):
    """A value that never changes, and so can keep what was computed from it."""

    def remember(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What was computed for this key the first time: many measures and many runs share it."""
        known: dict[Hashable, Any] = self.__dict__.setdefault("_known", {})
        if key not in known:
            known[key] = value = compute()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)  # it is handed out again and again
        return known[key]  # type: ignore[no-any-return]


def count_per_segment(mask: Booleans, start: Integers) -> Integers:
    """How many values of each segment are marked; segment i is start[i]:start[i + 1]."""
    counted = running_count(mask)[start]
    return counted[1:] - counted[:-1]


def running_count(mask: Booleans) -> Integers:
    """How many values are marked before each place; one place more than there are values."""
    counted = np.zeros(len(mask) + 1, np.int64)
    counted[1:] = mask  # summed in place, without a change of type on the way: twice as fast
    return np.cumsum(counted, out=counted)


def starts(size: Integers) -> Integers:
    """Where each segment starts when segments of these sizes lie end to end, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(size)))


def changes(column: npt.NDArray[Any]) -> Booleans:
    """True where a value differs from the one before; the first always."""
    return np.concatenate(([True], column[1:] != column[:-1]))[: len(column)]
