"""Measures of how far a ranking agrees with an ideal one: the overlap of their first documents, depth by depth."""

from __future__ import annotations

import numpy as np

from assay.judged import JudgedRanking
from assay.measures.arithmetic import powers, ratio
from assay.measures.core import Parameter, PerQuery, boolean, measure, number_between
from assay.measures.families.graded import Ideal, ideal_ranking
from assay.tables import Floats, Integers


@measure(
    "Compat",
    parameters={
        "p": Parameter("how much each depth weighs of the one before it", number_between(0, 1, open_ends=True)),
        "normalize": Parameter("divide by what the ideal ranking itself would get", boolean),
    },
    paper="Clarke, Vtyurina and Smucker 2021, Assessing top-k preferences",
    elsewhere={"ir_measures": "Compat(p=0.95)"},
)
def Compat(judged: JudgedRanking, *, p: float = 0.95, normalize: bool = True) -> PerQuery:
    """Compatibility: how far the first documents of the ranking are also the first ones of an ideal ranking.

    Formula: sum over the depths i of p**(i - 1) / i * (documents that are among the first i of both rankings), divided
    by the same sum of the ideal ranking with itself; with normalize=False by the sum of p**(i - 1).

    Edges: The ideal ranking holds the documents with grades above 0, best first; within a grade those retrieved come
    first, in the order of the run. The depths go to the end of the longer ranking. 0 if no grade is above 0. Only the
    order of the grades matters, so they may stand for preferences. ir_measures takes documents that were not retrieved
    for documents of score 0: there they stand before retrieved ones with negative scores.

    Answers: How near is the ranking to an ideal one?

    Misleads: Ties among ideal documents are broken in the run's favour.

    Pair with: nDCG.

    Example: ideal grades 3, 2, 2, 1, 1; overlaps of 0, 1, 2, 2, 3 and 4 documents at the depths 1 to 6:
    Compat = 2.5099 / 5.1692 = 0.4856.
    """
    ideal = ideal_ranking(judged.pool, "linear")  # documents that gain anything: those with grades above 0
    found = np.flatnonzero(judged.hit_rel > 0)
    both_from = np.maximum(judged.hit_rank[found], _ideal_place(judged, found))  # the depth that brings it into both
    depth = np.maximum(judged.retrieved, ideal.size)

    every = np.arange(1, int(depth.max(initial=0)) + 1)
    weight = powers(p, every)
    per_document = _up_to(weight / every)
    overlap = _sum_from(both_from, judged.hit_query[found], depth, per_document)
    highest = _sum_from(ideal.place, ideal.query, depth, per_document) if normalize else _up_to(weight)[depth]
    return ratio(overlap, highest)


def _ideal_place(judged: JudgedRanking, found: Integers) -> Integers:
    """Where the given hits stand in the ideal ranking: after those of higher grade and of the same grade before them."""
    ideal = ideal_ranking(judged.pool, "linear")
    levels, ideal_key = judged.pool.remember("ideal by grade", lambda: _by_grade(ideal))
    query = judged.hit_query[found]
    key = _key(query, judged.hit_rel[found], levels)
    best_first = np.argsort(key, kind="stable")  # hits stand in rank order
    nth = np.empty(len(found), np.int64)
    nth[best_first] = np.arange(len(found)) - np.searchsorted(key[best_first], key[best_first])
    return np.asarray(np.searchsorted(ideal_key, key) - ideal.start[:-1][query] + nth + 1)


def _by_grade(ideal: Ideal) -> tuple[Floats, Integers]:
    """The grades that occur, and the key of each document of the ideal rankings; the keys are ascending."""
    levels = np.unique(ideal.gain)
    return levels, _key(ideal.query, ideal.gain, levels)


def _key(query: Integers, grade: Floats, levels: Floats) -> Integers:
    """Query and grade in one number: ascending for queries, and for falling grades within a query."""
    return np.asarray((query + 1) * len(levels) - np.searchsorted(levels, grade))


def _up_to(values: Floats) -> Floats:
    """Sums of the first 0, 1, 2, ... values."""
    return np.concatenate(([0.0], np.cumsum(values)))


def _sum_from(first: Integers, query: Integers, depth: Integers, up_to: Floats) -> Floats:
    """What each document adds from its first depth to the last, summed per query."""
    added = up_to[depth[query]] - up_to[first - 1]
    return np.asarray(np.bincount(query, weights=added, minlength=len(depth)), np.float64)
