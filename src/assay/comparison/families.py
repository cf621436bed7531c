"""Families of comparisons: which p values are corrected together, and which intervals stand beside them.

Comparisons by the first measure are a family of their own, so that measures which are only looked at do not weaken it; all
others are a second one. The same comparison counts once, and that of two systems with equal values not at all. Which
columns are equal does not depend on who is ahead on a query, so every test still errs at its level (Tarone 1990).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from assay.comparison.corrections import corrected_p, level_of
from assay.comparison.paired import Significance
from assay.tables import Floats, Integers

TUKEY = "tukey"  # the test that corrects its p values itself, for all pairs of systems


class Family(Struct, frozen=True, eq=False):
    """Comparisons whose p values are corrected together."""

    members: Integers  # their places among all comparisons
    counted: Integers  # places of those that count, each different comparison once
    place: Integers  # of each member in `counted`; -1 if it does not count

    @property
    def size(self) -> int:
        """The number of comparisons that count."""
        return len(self.counted)

    def corrected(self, p: Floats, correction: str, parts: int) -> Floats:
        """The corrected p of each member, from the p values of all comparisons; 1 for those that do not count."""
        if correction == TUKEY:
            return np.minimum(1.0, p[self.members] * parts)
        found = np.append(corrected_p(p[self.counted], correction), 1.0)  # -1 is the last
        return found[self.place]

    def level(self, p: Floats, correction: str, alpha: float, parts: int) -> float:
        """The level of the intervals that stand beside the corrected p values."""
        return alpha / max(1, parts) if correction == TUKEY else level_of(p[self.counted], correction, alpha)


def families_of(tests: Sequence[Sequence[Significance]], *, equal_counts: bool = False) -> tuple[Family, Family]:
    """The family of the first measure and that of all others, over all parts (such as segments).

    Comparisons are numbered by part, measure and pair. With `equal_counts` those of two systems with equal values count too.
    """
    keys = [(measure == 0, key) for at, part in enumerate(tests) for measure, key in _keys(at, part, equal_counts)]
    return _family(keys, True), _family(keys, False)


def _family(keys: Sequence[tuple[bool, object]], primary: bool) -> Family:
    members = [place for place, (first, _) in enumerate(keys) if first == primary]
    counted: dict[object, int] = {}
    for place in members:
        if keys[place][1] is not None:
            counted.setdefault(keys[place][1], place)
    order = {key: number for number, key in enumerate(counted)}
    places = [-1 if keys[place][1] is None else order[keys[place][1]] for place in members]
    return Family(np.array(members, np.int64), np.array(list(counted.values()), np.int64), np.array(places, np.int64))


def _keys(part: int, tests: Sequence[Significance], equal_counts: bool) -> Iterator[tuple[int, object]]:
    """What each comparison compares, by measure: comparisons with the same key are the same. None if it does not count."""
    known: dict[bytes, int] = {}
    for measure, test in enumerate(tests):
        columns = [known.setdefault(column.tobytes(), len(known)) for column in (test.tested.values + 0.0).T]
        for (first, second), p, untested in zip(test.pairs, test.p.tolist(), test.untested.tolist(), strict=True):
            low, high = sorted((columns[first], columns[second]))  # both directions of a two-sided test are the same
            yield measure, (part, low, high, p) if (equal_counts or low < high) and not untested else None
