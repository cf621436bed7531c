"""The expected value over all orders of tied documents, and the lowest and highest value.

The expected values are closed forms (McSherry and Najork 2008, Computing information retrieval performance measures
efficiently in the presence of tied scores); tests/laws/test_ties.py compares them with every order of small rankings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.errors import MeasureError
from assay.judged import ARRANGEMENTS, JudgedRanking
from assay.measures.arithmetic import discount, powers, ratio, running
from assay.measures.core import Kernel, Measure, PerQuery
from assay.measures.families.binary import num_to_find
from assay.measures.families.graded import Gain, gain_of, ideal_dcg_of
from assay.measures.families.utility import gain_share
from assay.tables import Booleans, Floats, Integers
from assay.topics import JudgedTopics

EXPECTED: dict[str, Kernel] = {}  # measure -> the function that computes its expected value


def expected(*names: str) -> Callable[[Kernel], Kernel]:
    """Register the expected value of measures under ties."""

    def register(kernel: Kernel) -> Kernel:
        EXPECTED.update(dict.fromkeys(names, kernel))
        return kernel

    return register


# These do not depend on the order of documents.
ORDER_FREE = {"SetP", "SetR", "SetF", "SetAP", "Utility", "NumQ", "NumRet", "NumRel", "NumNonrelRet", "iDCG"}


def expected_values(measure: Measure, judged: JudgedRanking | JudgedTopics) -> PerQuery:
    """One value per query, averaged over all orders of tied documents."""
    if measure.name in ORDER_FREE:
        return measure.values(judged)
    takes = inspect.signature(EXPECTED[measure.name]).parameters if measure.name in EXPECTED else {}
    if not all(name in takes or name == "judged_only" for name, _ in measure.params) or not takes:
        known = ", ".join(sorted(EXPECTED.keys() | ORDER_FREE))
        raise MeasureError(
            f"{measure} has no closed form for its expected value under ties; these measures have one: {known}. "
            "Choose another rule for ties; assay reports the lowest and highest value for every measure."
        )
    params = dict(measure.complete().params)
    if params.pop("judged_only", False):
        judged = judged.only_judged()
    return EXPECTED[measure.name](judged, **params)


def bounds(measure: Measure, judged: JudgedRanking | JudgedTopics) -> tuple[PerQuery, PerQuery]:
    """The lowest and highest value over the orders of tied documents, per query.

    Exact for measures that never fall when a better document moves up, and for shares of judged documents. For others,
    the range over four arrangements: best first, worst first, judged first and judged last.
    """
    gain, rel = measure.param("gain"), judged.ranking.hit_rel if isinstance(judged, JudgedTopics) else judged.hit_rel
    worth = None if gain is None else np.where(rel < 0, rel, gain_of(rel, gain))
    ranges = [measure.values(judged.reordered(arrangement, worth)) for arrangement in ARRANGEMENTS]
    return np.minimum.reduce(ranges), np.maximum.reduce(ranges)


def undecided(measure: Measure, judged: JudgedRanking | JudgedTopics) -> tuple[str, ...]:
    """The queries in which the order of tied documents changes the value.

    Where the bounds are not exact: those in which documents of different grades are tied within the cutoff.
    """
    ranking = judged.ranking if isinstance(judged, JudgedTopics) else judged
    if measure.name in EXPECTED.keys() | ORDER_FREE:
        low, high = bounds(measure, judged)
        found = np.flatnonzero(low < high)
    else:
        cutoff = measure.param("cutoff")
        reached = ranking.hit_tie_first < ranking.hit_tie_last
        reached &= True if cutoff is None else ranking.hit_tie_first <= cutoff
        found = np.unique(ranking.hit_query[reached & (_is_mixed(ranking, measure) | isinstance(judged, JudgedTopics))])
    return tuple(ranking.queries[place] for place in found.tolist())


def _is_mixed(judged: JudgedRanking, measure: Measure) -> Booleans:
    """For each hit, whether the measure distinguishes the documents of its tie group."""
    group, size, rel = judged.hit_group, judged.hit_tie_last - judged.hit_tie_first + 1, measure.param("rel")
    if rel is not None:
        relevant = np.bincount(group, weights=judged.hit_rel >= rel)[group]
        return np.asarray((relevant > 0) & (relevant < size))
    lowest, highest = np.full((2, int(group.max(initial=-1)) + 1), [[np.inf], [-np.inf]])
    np.minimum.at(lowest, group, judged.hit_rel)
    np.maximum.at(highest, group, judged.hit_rel)
    return np.asarray((lowest < highest)[group] | (np.bincount(group)[group] < size))


def _share_within(judged: JudgedRanking, cutoff: Integers | int) -> Floats:
    """For each hit, the probability of being within the cutoff: the share of its tie group that is."""
    limit = cutoff if isinstance(cutoff, int) else cutoff[judged.hit_query]
    size = judged.hit_tie_last - judged.hit_tie_first + 1
    return np.clip(limit - judged.hit_tie_first + 1, 0, size) / size


def _expected_found(judged: JudgedRanking, cutoff: Integers | int, rel: float) -> Floats:
    return judged.total((judged.hit_rel >= rel) * _share_within(judged, cutoff))


@expected("P")
def _precision(judged: JudgedRanking, *, cutoff: int, rel: float = 1, filled: bool = True) -> PerQuery:
    found = _expected_found(judged, cutoff, rel)
    return found / cutoff if filled else ratio(found, np.minimum(judged.retrieved, cutoff))


@expected("R")
def _recall(judged: JudgedRanking, *, cutoff: int, rel: float = 1, among: str = "judged") -> PerQuery:
    return ratio(_expected_found(judged, cutoff, rel), num_to_find(judged, rel, among))


@expected("R_cap")
def _capped_recall(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    return ratio(_expected_found(judged, cutoff, rel), np.minimum(judged.num_rel(rel), cutoff))


@expected("F")
def _f(judged: JudgedRanking, *, cutoff: int, beta: float = 1.0, rel: float = 1) -> PerQuery:
    # F@k is (1 + beta2) * found / (beta2 * R + k), which is linear in found.
    return ratio((1 + beta**2) * _expected_found(judged, cutoff, rel), beta**2 * judged.num_rel(rel) + cutoff)


@expected("Rprec")
def _rprec(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    relevant = judged.num_rel(rel)
    return ratio(_expected_found(judged, relevant, rel), relevant)


@expected("Judged")
def _judged(judged: JudgedRanking, *, cutoff: int | None = None) -> PerQuery:
    if cutoff is None:
        return ratio(np.diff(judged.hit_start), judged.retrieved)
    return ratio(judged.total(_share_within(judged, cutoff)), np.minimum(judged.retrieved, cutoff))


@expected("CG")
def _cg(judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear") -> PerQuery:
    worth = gain_of(judged.hit_rel, gain)
    return judged.total(worth if cutoff is None else worth * _share_within(judged, cutoff))


def _mean_weight(judged: JudgedRanking, weight: Callable[[Integers], Floats], cutoff: int | None) -> Floats:
    """For each hit, the weight of a rank averaged over the ranks of its tie group; 0 beyond the cutoff."""
    deepest = int(judged.hit_tie_last.max(initial=0))
    weights = weight(np.arange(1, deepest + 1))
    if cutoff is not None:
        weights[cutoff:] = 0.0
    so_far = np.concatenate(([0.0], np.cumsum(weights)))
    size = judged.hit_tie_last - judged.hit_tie_first + 1
    mean = (so_far[judged.hit_tie_last] - so_far[judged.hit_tie_first - 1]) / size
    alone = weights[judged.hit_tie_first - 1] if len(weights) else mean
    return np.where(size == 1, alone, mean)  # no rounding without a tie


@expected("DCG")
def _dcg(judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear") -> PerQuery:
    return judged.total(gain_of(judged.hit_rel, gain) * _mean_weight(judged, lambda rank: 1 / discount(rank), cutoff))


@expected("nDCG")
def _ndcg(
    judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear", ideal: str = "judged"
) -> PerQuery:
    return ratio(_dcg(judged, cutoff=cutoff, gain=gain), ideal_dcg_of(judged, gain, cutoff, ideal))


@expected("RBP")
def _rbp(
    judged: JudgedRanking, *, p: float = 0.8, cutoff: int | None = None, rel: float | None = None, raw: bool = False
) -> PerQuery:
    weight = _mean_weight(judged, lambda rank: powers(p, rank), cutoff)
    return (1.0 - p) * judged.total(gain_share(judged, rel, raw=raw) * weight)


class _Groups(Struct, frozen=True):
    """Tie groups with a relevant document, in rank order, query after query."""

    query: Integers
    first: Integers  # rank
    size: Integers  # documents
    relevant: Integers  # of these
    before: Integers  # relevant documents of the query in earlier groups


def _groups(judged: JudgedRanking, rel: float) -> _Groups:
    hit = judged.hit_rel >= rel
    _, start, counts = np.unique(judged.hit_group[hit], return_index=True, return_counts=True)
    query = judged.hit_query[hit][start]
    first, last = judged.hit_tie_first[hit][start], judged.hit_tie_last[hit][start]
    found = np.concatenate(([0], np.cumsum(counts)))[:-1]
    return _Groups(query, first, last - first + 1, counts, found - found[np.searchsorted(query, query)])


@expected("AP")
def _ap(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1, norm: str = "rel") -> PerQuery:
    groups = _groups(judged, rel)
    last = groups.first + groups.size - 1
    shown = last if cutoff is None else np.minimum(last, cutoff)
    inverse = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, int(last.max(initial=0)) + 1))))
    # At rank i of a group: relevant with probability r/n; then (i - first) * (r - 1)/(n - 1) others are before it.
    slope = ratio(groups.relevant - 1, groups.size - 1)
    level = groups.before + 1 - slope * groups.first
    harmonic = inverse[np.maximum(shown, groups.first - 1)] - inverse[groups.first - 1]
    ranks = np.maximum(shown - groups.first + 1, 0)
    parts = groups.relevant / groups.size * (level * harmonic + slope * ranks)
    sums = np.bincount(groups.query, weights=parts, minlength=len(judged))
    relevant = judged.num_rel(rel)
    return ratio(sums, np.minimum(relevant, cutoff) if norm == "cutoff" and cutoff else relevant)


def _first_group(judged: JudgedRanking, rel: float) -> _Groups:
    """The first tie group of each query with a relevant document; it contains the first relevant document."""
    groups = _groups(judged, rel)
    chosen = np.flatnonzero(groups.before == 0)
    return _Groups(*(column[chosen] for column in astuple(groups)))


def _first_relevant(groups: _Groups) -> tuple[Integers, Integers, Floats]:
    """For each place of each group: group, place from 0, and the probability of its first relevant document there."""
    places = groups.size - groups.relevant + 1
    start = np.concatenate(([0], np.cumsum(places)))
    group = np.repeat(np.arange(len(places)), places)
    place = np.arange(start[-1]) - start[:-1][group]
    size, relevant = groups.size[group], groups.relevant[group]
    # P(0) = r/n, and P(i) = P(i - 1) * (n - r - i + 1) / (n - i).
    step = np.where(place == 0, relevant / size, ratio(size - relevant - place + 1, size - place))
    return group, place, running(np.multiply, step, start)


@expected("RR")
def _rr(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    groups = _first_group(judged, rel)
    group, place, chance = _first_relevant(groups)
    rank = groups.first[group] + place
    worth = chance / rank * (True if cutoff is None else rank <= cutoff)
    return np.bincount(groups.query[group], weights=worth, minlength=len(judged)).astype(np.float64)


@expected("Success")
def _success(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    groups = _first_group(judged, rel)
    group, place, chance = _first_relevant(groups)
    inside = chance * (groups.first[group] + place <= cutoff)
    found = np.bincount(groups.query[group], weights=inside, minlength=len(judged)).astype(np.float64)
    surely = np.zeros(len(judged), bool)
    surely[groups.query] = groups.first + groups.size - groups.relevant <= cutoff
    return np.where(surely, 1.0, np.minimum(found, 1.0))
