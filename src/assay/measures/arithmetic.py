"""Sums, logarithms and running values with the order and rounding of the C library.

trec_eval's last printed digit depends on them: its loops add from left to right, and the C library's log2 differs from
NumPy's in the last bit for some integers. tests/golden/test_rounding.py shows both.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.tables import Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt

_CELLS = 1 << 20  # largest grid in which running values are computed


def ratio(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> Floats:
    """above / below, and 0 where below is 0."""
    out = np.zeros(np.broadcast(above, below).shape)
    np.divide(above, below, out=out, where=np.asarray(below) != 0)
    return out


def discount(rank: Integers) -> Floats:
    """log2(rank + 1), the divisor of the gain at a rank."""
    return _log2_table(int(rank.max(initial=1)) + 1)[1:][rank]


def log2_of_integers(numbers: Integers) -> Floats:
    """log2 of whole numbers from 1."""
    return _log2_table(int(numbers.max(initial=1)))[numbers]


def log2(numbers: Floats) -> Floats:
    """log2 as in the C library; NaN where it is undefined."""
    whole = numbers.astype(np.int64)
    if np.array_equal(whole, numbers) and whole.min(initial=1) >= 1 and whole.max(initial=1) <= _CELLS:
        return log2_of_integers(whole)
    return np.fromiter((math.log2(x) if x > 0 else math.nan for x in numbers.tolist()), np.float64, len(numbers))


def log(numbers: Floats) -> Floats:
    """Natural logarithm of positive numbers, as in the C library."""
    return np.fromiter(map(math.log, numbers.tolist()), np.float64, len(numbers))


def _log2_table(largest: int) -> Floats:
    """log2 of 1 to at least `largest`, by index. Sizes are powers of two, so few tables are computed."""
    return _log2_up_to(max(1024, 1 << (largest + 1).bit_length()))


@cache
def _log2_up_to(size: int) -> Floats:
    return np.concatenate(([0.0], np.fromiter(map(math.log2, range(1, size)), np.float64, size - 1)))


def powers(base: float, rank: Integers) -> Floats:
    """base ** (rank - 1), by repeated multiplication."""
    table = np.full(int(rank.max(initial=1)), base)
    table[0] = 1.0
    return np.asarray(np.multiply.accumulate(table)[rank - 1])


def running(operation: np.ufunc, values: Floats, start: Integers) -> Floats:
    """operation.accumulate within each segment start[i]:start[i + 1], strictly from left to right.

    >>> running(np.add, np.array([1.0, 2.0, 4.0]), np.array([0, 2, 3])).tolist()
    [1.0, 3.0, 4.0]
    """
    size = np.diff(start)
    out = np.empty(len(values))
    longest_first = np.argsort(-size, kind="stable")
    done = 0
    while done < len(size) and (width := int(size[longest_first[done]])):
        block = longest_first[done : done + max(1, _CELLS // width)]
        done += len(block)
        inside = np.arange(width) < size[block][:, None]  # (segments, width)
        rows = (start[:-1][block][:, None] + np.arange(width))[inside]
        grid = np.zeros((len(block), width))
        grid[inside] = values[rows]
        out[rows] = operation.accumulate(grid, axis=1)[inside]
    return out


def highest(values: Floats, start: Integers) -> Floats:
    """The highest value of each segment start[i]:start[i + 1]; 0 for an empty one."""
    out = np.zeros(len(start) - 1)
    filled = np.diff(start) > 0
    if filled.any():
        out[filled] = np.maximum.reduceat(values, start[:-1][filled])
    return out


def within(interval: tuple[float, float] | None, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    """The part of an interval that is possible: a share lies between 0 and 1, so its mean does, too.

    >>> within((-0.02, 0.13), (0.0, 1.0)), within((-0.02, 0.13), None)
    ((0.0, 0.13), (-0.02, 0.13))
    """
    if interval is None or bounds is None:
        return interval
    return max(interval[0], bounds[0]), min(interval[1], bounds[1])
