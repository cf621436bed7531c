"""The order in which a sort that is not stable leaves equal values: numba's argsort, by which ranx ranks documents."""

from __future__ import annotations

SHORT = 15  # lists up to this length are sorted by insertion, which is stable


def unstable_order(values: list[int]) -> list[int]:
    """The indices of the values in ascending order, with equal values where numba's argsort leaves them.

    It is a quicksort with the median of three as pivot. Each swap of equal values decides the result, so the comparisons
    and swaps are numba's, one by one (tests/conventions/test_ranx.py).

    >>> unstable_order([7, 5, 7, 5]), unstable_order([1] * 17)
    ([1, 3, 0, 2], [15, 14, 13, 12, 11, 10, 9, 16, 8, 6, 5, 4, 3, 2, 1, 0, 7])
    """
    order = list(range(len(values)))
    parts = [(0, len(values))]
    while parts:  # parts do not overlap, so the order in which they are sorted does not matter
        start, end = parts.pop()
        if end - start <= SHORT:
            order[start:end] = sorted(order[start:end], key=values.__getitem__)  # stable, like insertion
        else:
            middle = _split(values, order, start, end - 1)
            parts += [(start, middle), (middle + 1, end)]
    return order


def _split(values: list[int], order: list[int], first: int, last: int) -> int:
    """Move lower values to the left of a pivot and higher ones to its right; returns the pivot's place."""
    middle = (first + last) // 2
    for low, high in ((first, middle), (middle, last), (first, middle)):
        if values[order[high]] < values[order[low]]:
            order[low], order[high] = order[high], order[low]
    pivot = values[order[middle]]
    order[middle], order[last] = order[last], order[middle]
    left, right = first, last - 1
    while True:
        while left < last and values[order[left]] < pivot:
            left += 1
        while right >= first and pivot < values[order[right]]:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
        left, right = left + 1, right - 1
    order[left], order[last] = order[last], order[left]
    return left
