"""Draw a sample of queries from the traffic: with known probabilities, and with some of the head, the torso and the tail.

Queries are ordered by traffic and divided into strata. Each stratum gets a part of the sample in proportion to its traffic,
at least two queries. Within it the chance of a query is proportional to its traffic; a query whose chance would be over 1
is always taken. The rest is drawn systematically from a random order (Goodman and Kish 1950; Hartley and Rao 1962), which
gives exactly these chances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.numbers import real
from assay.native.sums import exact_sum
from assay.tables import Booleans, Floats, Integers, as_bytes
from assay.weighting.weights import QueryWeights
from assay.words import number_of

By = Literal["traffic", "uniform"]
HEAD, TORSO = 0.5, 0.8  # of the traffic; the tail is the rest
LARGEST = 2.0**53  # count: beyond, adding one search changes nothing
FEWEST = 2  # queries of each stratum, for which a variance can be estimated
_NAMES = ("head", "torso", "tail")
_ONE = "all"  # if all queries are equally frequent
_ID = 12  # hexadecimal digits: two of a thousand queries are the same once in 500 million samples


class Stratum(Struct, frozen=True):
    """One part of the traffic."""

    name: str
    queries: int
    traffic: float
    sampled: int
    certain: int  # of those, how many were always in the sample


class QuerySample(Struct, frozen=True, eq=False):
    """The sampled queries, most frequent first, and how they were drawn."""

    weights: QueryWeights  # its queries are ids, made from the texts
    texts: tuple[str, ...]
    counts: Floats
    strata: tuple[Stratum, ...]
    size: int  # that was asked for
    by: By
    seed: int

    @property
    def traffic(self) -> float:
        """All searches of the log."""
        return exact_sum(np.array([one.traffic for one in self.strata]))

    @property
    def queries(self) -> int:
        """The different queries of the log."""
        return sum(one.queries for one in self.strata)

    @property
    def complete(self) -> bool:
        """Whether every query of the log is in the sample."""
        return len(self.texts) == self.queries


def sample_queries(counts: Mapping[str, float], size: int, *, by: By = "traffic", seed: int = 1) -> QuerySample:
    """A sample of the queries, given how often each was asked, with weights for `query_weights=`.

    With `by="traffic"` the weighted mean of a measure estimates its mean over all searches, and a frequent query is more
    likely to be drawn. With "uniform" it estimates the mean over all different queries, and all in a stratum are equally
    likely. If there are no more queries than `size`, all are taken.

    >>> sample = sample_queries({"shoes": 70, "red shoes": 20, "blue shoes": 5, "shoe rack": 3, "laces": 2}, 4)
    >>> sample.texts[0], sample.weights.probability.tolist()[0], len(sample.texts)
    ('shoes', 1.0, 4)
    """
    _check(counts, size, by, seed)
    texts = sorted(counts, key=as_bytes)
    count = np.array([counts[text] for text in texts], np.float64)
    order = np.argsort(-count, kind="stable")  # the same whatever the order of the log
    count = count[order]
    strata = strata_of(count)
    measure = count if by == "traffic" else np.ones(len(count))
    chance = probabilities(measure, strata, size)
    chosen = np.sort(_drawn(chance, strata, np.random.default_rng(seed)))
    names = _names(strata)
    sampled = tuple(texts[place] for place in order[chosen].tolist())
    weights = QueryWeights(
        queries=_ids(sampled),
        weight=measure[chosen] / chance[chosen],
        probability=chance[chosen],
        strata=tuple(names[code] for code in strata[chosen].tolist()),
        source="sample",
    )
    described = tuple(_described(names[code], strata == code, count, chance, chosen) for code in range(len(names)))
    return QuerySample(weights, sampled, count[chosen], described, size, by, seed)


def _check(counts: Mapping[str, float], size: int, by: str, seed: int) -> None:
    if by not in get_args(By):
        raise InputError(f"by cannot be {by!r}; it takes {' or '.join(get_args(By))}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed cannot be {seed!r}; it takes a whole number, 0 or more.")
    if not isinstance(counts, Mapping):
        raise InputError(
            f"counts cannot be a {type(counts).__name__}; it takes how often each query was asked: {{'red shoes': 410}}."
        )
    if not counts:
        raise InputError("there are no queries to sample from.")
    for text, count in counts.items():
        if not isinstance(text, str):
            raise InputError(f"a query cannot be {text!r}; it takes a text.")
        value = real(count)
        if value is None or not 0 < value <= LARGEST:
            raise InputError(
                f"the count of '{show_id(text)}' cannot be {count!r}; it takes a number greater than 0 and at most "
                f"{LARGEST:.0f}."
            )
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(f"size cannot be {size!r}; it takes a whole number, such as 200.")


def _names(strata: Integers) -> tuple[str, ...]:
    count = int(strata[-1]) + 1
    return {1: (_ONE,), 2: (_NAMES[0], _NAMES[-1])}.get(count, _NAMES)


def _described(name: str, members: Booleans, count: Floats, chance: Floats, chosen: Integers) -> Stratum:
    inside = members[chosen]
    return Stratum(
        name,
        int(members.sum()),
        exact_sum(count[members]),
        int(inside.sum()),
        int((chance[chosen][inside] >= 1).sum()),
    )


def _ids(texts: Sequence[str]) -> tuple[str, ...]:
    """Ids that depend on the texts only, so that judgments of a query serve every sample that has it."""
    digests = [sha256(as_bytes(text)).hexdigest() for text in texts]
    digits = next(digits for digits in range(_ID, 65) if len({one[:digits] for one in digests}) == len(digests))
    return tuple(
        f"q{digest[:digits]}" for digest in digests
    )  # with a letter first, or spreadsheets take 12e3... as a number


def strata_of(count: Floats) -> Integers:
    """The stratum of each query, 0 for the head, from counts that fall.

    The head has the most frequent queries with at most half of the traffic, and always the most frequent one. With the
    torso it has at most 80%. Equally frequent queries stay together, and the least frequent are the tail.

    >>> strata_of(np.array([50.0, 20, 10, 5, 5, 5, 5])).tolist()
    [0, 1, 1, 2, 2, 2, 2]
    >>> strata_of(np.array([1.0, 1, 1])).tolist()
    [0, 0, 0]
    """
    ends = np.flatnonzero(np.append(count[1:] != count[:-1], True))
    share = np.cumsum(count)[ends] / count.sum()
    stratum = np.searchsorted([HEAD, TORSO], share - 1e-12)
    stratum[-1] = 2
    stratum[0] = 0
    _, stratum = np.unique(stratum, return_inverse=True)  # without empty ones
    return np.repeat(stratum, np.diff(ends, prepend=-1))


def probabilities(measure: Floats, strata: Integers, size: int) -> Floats:
    """The chance of each query to be in a sample of this size; they add up to it.

    >>> probabilities(np.array([6.0, 2, 1, 1]), np.array([0, 0, 0, 0]), 2).tolist()
    [1.0, 0.5, 0.25, 0.25]
    """
    if size >= len(measure):
        return np.ones(len(measure))
    groups = [np.flatnonzero(strata == code) for code in range(int(strata[-1]) + 1)]
    least = sum(min(FEWEST, len(group)) for group in groups)
    if size < least:
        raise InputError(
            f"a sample of {number_of(size, 'query')} is too small: it takes {FEWEST} of each part of the traffic, "
            f"`size={least}` or more."
        )
    chance = np.zeros(len(measure))
    for group, part in zip(groups, _parts([measure[group] for group in groups], size), strict=True):
        chance[group] = _proportional(measure[group], part)
    return chance


def _parts(strata: Sequence[Floats], size: int) -> list[int]:
    """How many queries each stratum gets: in proportion to its sum, but at least two and at most all of them.

    >>> _parts([np.array([60.0, 30]), np.ones(5), np.ones(5)], 6)
    [2, 2, 2]
    """
    sums, most = np.array([exact_sum(one) for one in strata]), np.array([len(one) for one in strata])
    least = np.minimum(FEWEST, most)
    parts, free = np.zeros(len(strata), np.int64), np.ones(len(strata), np.bool_)
    while True:
        rest = size - int(parts[~free].sum())
        share = np.where(free, rest * sums / sums[free].sum(), parts)
        over, under = free & (share > most), free & (share < least)
        too_many = np.clip(share, least, most)[free].sum() > rest  # then those that get more than their share stay
        fixed = under if too_many and under.any() else over if over.any() else under
        if not fixed.any():
            break
        parts[fixed] = np.where(share > most, most, least)[fixed]
        free &= ~fixed
        if not free.any():
            return [int(part) for part in parts]
    whole = np.floor(share[free] + 1e-9).astype(np.int64)
    for place in np.argsort(whole - share[free], kind="stable")[: rest - int(whole.sum())]:
        whole[place] += 1
    parts[free] = whole
    return [int(part) for part in parts]


def _proportional(measure: Floats, size: int) -> Floats:
    """Chances in proportion to the measure, where none is over 1."""
    chance = np.ones(len(measure))
    free = np.ones(len(measure), np.bool_)
    while free.any():
        rest = size - int((~free).sum())
        chance[free] = rest * (measure[free] / exact_sum(measure[free]))
        over = free & (chance >= 1 - 1e-9)
        if not over.any():
            break
        chance[over], free = 1.0, free & ~over
    return chance


def _drawn(chance: Floats, strata: Integers, random: np.random.Generator) -> Integers:
    """The places of a sample: systematic within each stratum, from a random order."""
    drawn = [np.flatnonzero(chance >= 1)]
    for code in range(int(strata[-1]) + 1):
        members = np.flatnonzero((strata == code) & (chance < 1))
        if len(members):
            members = members[np.argsort(random.random(len(members)), kind="stable")]
            reached = np.cumsum(chance[members])
            steps = random.random() + np.arange(round(float(reached[-1])))
            drawn.append(members[np.minimum(np.searchsorted(reached, steps, side="right"), len(members) - 1)])
    return np.concatenate(drawn)
