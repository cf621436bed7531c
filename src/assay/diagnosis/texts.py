"""Words, shingles and similarity of texts. Independent of queries and documents."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from math import ceil
from typing import TypeVar

_WORD = re.compile(r"\w+")
Item = TypeVar("Item", bound=Hashable)


def words_of(text: str) -> list[str]:
    """The words of a text, case-folded and without punctuation.

    >>> words_of("Wi-Fi  ROUTER?")
    ['wi', 'fi', 'router']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def normalised(text: str) -> str:
    """The words of a text, separated by single spaces."""
    return " ".join(words_of(text))


def shingles(words: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    """All sequences of `size` words; a shorter text is one shingle (Broder 1997).

    >>> sorted(shingles(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    if len(words) < size:
        return frozenset([tuple(words)]) if words else frozenset()
    return frozenset(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def trigrams(text: str) -> frozenset[str]:
    """All sequences of three characters of a normalised text, padded at the ends."""
    padded = f"  {text} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def jaccard(first: frozenset[Item], second: frozenset[Item]) -> float:
    """Jaccard similarity: intersection over union; 0 for two empty sets."""
    together = len(first | second)
    return len(first & second) / together if together else 0.0


def alike(sets: Mapping[str, frozenset[str]], least: float) -> list[tuple[str, str, float]]:
    """All pairs of sets with a Jaccard similarity of at least `least`.

    Such sets share one of their rarest members, so only sets that do are compared (Bayardo, Ma and Srikant 2007).

    >>> alike({"a": frozenset("abcd"), "b": frozenset("abce"), "c": frozenset("xyz")}, 0.6)
    [('a', 'b', 0.6)]
    """
    frequency = Counter(member for members in sets.values() for member in members)
    holders: defaultdict[str, list[str]] = defaultdict(list)
    found = []
    for name, members in sets.items():
        rare = sorted(members, key=lambda member: (frequency[member], member))
        prefix = rare[: len(rare) - ceil(least * len(rare) - 1e-9) + 1]
        for other in dict.fromkeys(other for member in prefix for other in holders[member]):
            share = jaccard(members, sets[other])
            if share >= least:
                found.append((other, name, share))
        for member in prefix:
            holders[member].append(name)
    return found
