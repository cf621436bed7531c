"""Which results of two lists are the same document, as far as grades and names say."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import product


def same_documents(grades: Sequence[Sequence[float | None]], names: Sequence[Sequence[str]]) -> dict[int, int]:
    """For results of the second list, by their places from 0, the place of the same document in the first list.

    The same document has the same grade. Results with different names are different documents; a result without a name
    may be any of its grade. As many as possible are the same, first those of the same name. An unjudged result is none of
    the other list.

    >>> same_documents([(3.0, 3.0, 2.0), (2.0, 3.0, 3.0)], [("rye", "", ""), ("", "spelt", "rye")])
    {2: 0, 1: 1, 0: 2}
    """
    first, second = (list(zip(*each, strict=True)) for each in zip(grades, names, strict=True))
    found: dict[int, int] = {}
    for has_name, other_has_name in product((True, False), repeat=2):
        by_name = has_name and other_has_name
        waiting: dict[tuple[float | None, str], deque[int]] = defaultdict(deque)
        taken = set(found.values())
        for place, (grade, name) in enumerate(first):
            if grade is not None and place not in taken and bool(name) == has_name:
                waiting[grade, name if by_name else ""].append(place)
        for place, (grade, name) in enumerate(second):
            free = waiting.get((grade, name if by_name else ""))
            if free and place not in found and bool(name) == other_has_name:
                found[place] = free.popleft()
    return found
