"""Arrays divided into segments, such as the rows of each query, and cached values. Independent of the contents."""

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
    """An immutable value that caches what is computed from it."""

    def remember(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for this key, computed on first use and shared by all measures and runs."""
        known: dict[Hashable, Any] = self.__dict__.setdefault("_known", {})
        if key not in known:
            known[key] = value = compute()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)  # it is shared
        return known[key]  # type: ignore[no-any-return]


def count_per_segment(mask: Booleans, start: Integers) -> Integers:
    """The number of true values in each segment; segment i is start[i]:start[i + 1]."""
    counted = running_count(mask)[start]
    return counted[1:] - counted[:-1]


def running_count(mask: Booleans) -> Integers:
    """The number of true values before each position; the result has one more element than `mask`."""
    counted = np.zeros(len(mask) + 1, np.int64)
    counted[1:] = mask  # summing int64 in place is twice as fast
    return np.cumsum(counted, out=counted)


def starts(size: Integers) -> Integers:
    """Start offsets of consecutive segments of these sizes, plus the end of the last one."""
    return np.concatenate(([0], np.cumsum(size)))


def changes(column: npt.NDArray[Any]) -> Booleans:
    """True for the first value and for every value that differs from the one before."""
    return np.concatenate(([True], column[1:] != column[:-1]))[: len(column)]
