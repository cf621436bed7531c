"""Measures of agreement with an ideal ranking: the overlap of the first documents at each depth."""

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
        "p": Parameter(
            "the weight of each depth, relative to the depth before it", number_between(0, 1, open_ends=True)
        ),
        "normalize": boolean("divide by the value of the ideal ranking"),
    },
    paper="Clarke, Vtyurina and Smucker 2021, Assessing top-k preferences",
    elsewhere={"ir_measures": "Compat(p=0.95)"},
)
def Compat(judged: JudgedRanking, *, p: float = 0.95, normalize: bool = True) -> PerQuery:
    """Compatibility: how much the first documents of the ranking overlap with those of an ideal ranking.

    Formula: sum over the depths i of p**(i - 1) / i * (documents that are among the first i of both rankings), divided
    by the same sum for the ideal ranking and itself; with normalize=False, by the sum of p**(i - 1).

    Edges: The ideal ranking contains the documents with grades above 0, best first; within a grade, retrieved documents
    come first, in the order of the run. The depths go to the end of the longer ranking. 0 if no grade is above 0. Only
    the order of the grades matters, so they can represent preferences. ir_measures treats documents that were not
    retrieved as having score 0, which ranks them above retrieved ones with negative scores.

    Answers: How close is the ranking to an ideal one?

    Misleads: Ties among ideal documents are broken in the run's favour.

    Pair with: nDCG.

    Example: ideal grades 3, 2, 2, 1, 1; overlaps of 0, 1, 2, 2, 3 and 4 documents at the depths 1 to 6:
    Compat = 2.5099 / 5.1692 = 0.4856.
    """
    found = np.flatnonzero(judged.hit_rel > 0)
    return compatibility(judged, found, _ideal_place(judged, found), p, normalize)


def compatibility(judged: JudgedRanking, found: Integers, place: Integers, p: float, normalize: bool) -> Floats:
    """The overlap with an ideal ranking in which these hits, all those with grades above 0, have these places."""
    ideal = ideal_ranking(judged.pool, "linear")  # documents with a gain: those with grades above 0
    both_from = np.maximum(judged.hit_rank[found], place)  # first depth with both
    depth = np.maximum(judged.retrieved, ideal.size)

    every = np.arange(1, int(depth.max(initial=0)) + 1)
    weight = powers(p, every)
    per_document = _up_to(weight / every)
    overlap = _sum_from(both_from, judged.hit_query[found], depth, per_document)
    highest = _sum_from(ideal.place, ideal.query, depth, per_document) if normalize else _up_to(weight)[depth]
    return ratio(overlap, highest)


def _ideal_place(judged: JudgedRanking, found: Integers) -> Integers:
    """The places of these hits in the ideal ranking: after higher grades and earlier hits of the same grade."""
    ideal = ideal_ranking(judged.pool, "linear")
    levels, ideal_key = judged.pool.remember("ideal by grade", lambda: _by_grade(ideal))
    query = judged.hit_query[found]
    key = _key(query, judged.hit_rel[found], levels)
    best_first = np.argsort(key, kind="stable")  # hits are in rank order
    nth = np.empty(len(found), np.int64)
    nth[best_first] = np.arange(len(found)) - np.searchsorted(key[best_first], key[best_first])
    return np.asarray(np.searchsorted(ideal_key, key) - ideal.start[:-1][query] + nth + 1)


def _by_grade(ideal: Ideal) -> tuple[Floats, Integers]:
    """The distinct grades, and the ascending keys of the documents of the ideal rankings."""
    levels = np.unique(ideal.gain)
    return levels, _key(ideal.query, ideal.gain, levels)


def _key(query: Integers, grade: Floats, levels: Floats) -> Integers:
    """Query and grade as one number: ascending by query, then descending by grade."""
    return np.asarray((query + 1) * len(levels) - np.searchsorted(levels, grade))


def _up_to(values: Floats) -> Floats:
    """Sums of the first 0, 1, 2, ... values."""
    return np.concatenate(([0.0], np.cumsum(values)))


def _sum_from(first: Integers, query: Integers, depth: Integers, up_to: Floats) -> Floats:
    """The contribution of each document from its first depth to the last, summed per query."""
    added = up_to[depth[query]] - up_to[first - 1]
    return np.asarray(np.bincount(query, weights=added, minlength=len(depth)), np.float64)
