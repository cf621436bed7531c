"""Nearly identical ids: equal after trimming, folding case, dropping leading zeros or normalising Unicode."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from assay.words import listed

_LEADING_ZEROS = re.compile(r"(?<![0-9])0+(?=[0-9])")
_LETTERS_BEFORE_NUMBER = re.compile(r"^[^0-9]+(?=[0-9]+$)")
_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), 0x2060, 0xFEFF, 0xAD])

# From the smallest change to the largest; the changes needed to make two ids equal say how they differ.
FOLDS: dict[str, Callable[[str], str]] = {
    "surrounding spaces": str.strip,
    "letter case": str.casefold,
    "Unicode normalisation": lambda text: unicodedata.normalize("NFKC", text.translate(_INVISIBLE)),
    "leading zeros": lambda text: _LEADING_ZEROS.sub("", text),
    "letters before the number": lambda text: _LETTERS_BEFORE_NUMBER.sub("", text),
}


class Match(Struct, frozen=True):
    """Two nearly identical ids."""

    ours: str
    theirs: str
    differ_by: str


def fold(text: str) -> str:
    """An id reduced to what people and programs do not change by mistake.

    >>> fold(" Q007") == fold("7"), fold("d\u00e9") == fold("de\u0301"), fold("a1") == fold("b1")
    (True, True, True)
    """
    for change in FOLDS.values():
        text = change(text)
    return text


def difference(ours: str, theirs: str) -> str:
    """How two ids with the same fold differ.

    >>> difference("007", "7"), difference("Q7", "q07")
    ('leading zeros', 'letter case and leading zeros')
    """
    by = []
    for words, change in FOLDS.items():
        if ours == theirs:
            break
        changed = change(ours), change(theirs)
        if changed != (ours, theirs):
            by.append(words)
            ours, theirs = changed
    return " and ".join(by)


def near_matches(ours: Iterable[str], theirs: Iterable[str]) -> list[Match]:
    """For each of our ids missing from theirs, the nearly identical one of theirs, if there is exactly one.

    >>> near_matches(["01", "2"], ["1", "2", "3"])
    [Match(ours='01', theirs='1', differ_by='leading zeros')]
    """
    known = set(theirs)
    if not known:
        return []
    folded: dict[str, set[str]] = {}
    for text in known:
        folded.setdefault(fold(text), set()).add(text)
    found = []
    for text in ours:
        candidates = folded.get(fold(text), set()) if text not in known else set()
        if len(candidates) == 1:
            theirs_alone = next(iter(candidates))
            found.append(Match(text, theirs_alone, difference(text, theirs_alone)))
    return found


def twins(ids: Iterable[str]) -> list[Match]:
    """Pairs of nearly identical ids in one set. A different prefix does not count: q1 and d1 may well be two ids.

    >>> twins(["1", "01", "q1"])
    [Match(ours='01', theirs='1', differ_by='leading zeros')]
    """
    seen: dict[str, str] = {}
    found = []
    ids = sorted(ids)
    if _are_plain("\n".join(ids)):
        return []
    for text in ids:
        key = text
        for words, change in FOLDS.items():
            key = change(key) if words != "letters before the number" else key
        if key in seen:
            found.append(Match(seen[key], text, difference(seen[key], text)))
        seen.setdefault(key, text)
    return found


def _are_plain(lines: str) -> bool:
    """Whether no id changes when it is folded, judged quickly for all at once."""
    plain = lines.isascii() and " " not in lines and "\t" not in lines and lines == lines.lower()
    return plain and not _LEADING_ZEROS.search(lines)


def known_by(sets: Mapping[str, frozenset[str]]) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """For each combination of sets: its name, how many ids are in just these sets, and the first ones.

    >>> known_by({"run": frozenset("ab"), "qrels": frozenset("bc")})
    (('run and qrels', 1, ('b',)), ('run only', 1, ('a',)), ('qrels only', 1, ('c',)))
    """
    members: dict[tuple[str, ...], list[str]] = {}
    for text in sorted(frozenset().union(*sets.values())):
        members.setdefault(tuple(name for name, ids in sets.items() if text in ids), []).append(text)
    order = sorted(members, key=lambda names: (-len(names), [list(sets).index(name) for name in names]))
    return tuple((_together(names), len(members[names]), tuple(members[names][:3])) for names in order)


def _together(names: tuple[str, ...]) -> str:
    return f"{names[0]} only" if len(names) == 1 else listed(names)
