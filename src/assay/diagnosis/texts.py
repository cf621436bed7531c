"""Texts as words and shingles, and how alike two of them are. Knows no query and no document."""

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
    """The words of a text, without case and punctuation.

    >>> words_of("Wi-Fi  ROUTER?")
    ['wi', 'fi', 'router']
    """
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def normalised(text: str) -> str:
    """The words of a text with one blank between."""
    return " ".join(words_of(text))


def shingles(words: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    """All runs of so many words; of a shorter text, the text itself (Broder 1997).

    >>> sorted(shingles(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    if len(words) < size:
        return frozenset([tuple(words)]) if words else frozenset()
    return frozenset(tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def trigrams(text: str) -> frozenset[str]:
    """All runs of three characters of a normalised text, its ends marked."""
    padded = f"  {text} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def jaccard(first: frozenset[Item], second: frozenset[Item]) -> float:
    """What two sets share of what they hold together; 0 of nothing."""
    together = len(first | second)
    return len(first & second) / together if together else 0.0


def alike(sets: Mapping[str, frozenset[str]], least: float) -> list[tuple[str, str, float]]:
    """All pairs of sets that are at least so much alike.

    Sets that are that much alike share one of their rarest members: only those are compared (Bayardo, Ma and Srikant
    2007).

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
