"""Agreement between runs and between measures. Reads no files.

Runs: Kendall's tau over their common documents, and rank-biased overlap, which also reflects documents that only one
has. Measures: tau between their orders of the systems, and how often they have the same winner on a query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from assay.comparison.moves import Ranking
from assay.comparison.pairs import Study, SystemScores, chosen_pairs
from assay.tables import Floats, Integers

DEPTH = 100  # of each ranking; with persistence 0.9 the rest has a weight below 0.00003
PERSISTENCE = 0.9  # of rank-biased overlap: the first ten ranks carry 86 % of the weight
FEWEST_SYSTEMS = 3  # for a rank correlation to mean anything


class RunAgreement(Struct, frozen=True):
    """Similarity of two runs, as means over their common queries."""

    first: str
    second: str
    overlap: float  # share of the top ten that both have in common
    rbo: float
    tau: float | None  # None if no query has two documents in common
    queries: int


class MeasureAgreement(Struct, frozen=True):
    """Agreement of two measures about the systems."""

    first: str
    second: str
    tau: float | None  # between their orders of the systems; None with fewer than three
    same_winner: float | None  # share of `queries` with the same winner; None if there are none
    queries: int  # query-pair combinations where both measures show a difference


def run_agreements(
    systems: Sequence[str], queries: Sequence[str], ranking: Callable[[str, str], Ranking]
) -> tuple[RunAgreement, ...]:
    """Agreement of every pair of runs; `ranking(system, query)` gives the documents, best first."""
    found = []
    for first, second in combinations(systems, 2):
        overlaps, rbos, taus = [], [], []
        for query in queries:
            one, other = ranking(first, query)[:DEPTH], ranking(second, query)[:DEPTH]
            if not one or not other:
                continue
            top = min(10, max(len(one), len(other)))
            overlaps.append(len(set(one[:top]) & set(other[:top])) / top)
            rbos.append(rank_biased_overlap(one, other))
            place = {doc: rank for rank, doc in enumerate(other)}
            shared = np.array([place[doc] for doc in one if doc in place], np.float64)
            tau = kendall_tau(np.arange(len(shared), dtype=np.float64), shared)
            taus += [] if tau is None else [tau]
        if overlaps:
            tau = math.fsum(taus) / len(taus) if taus else None
            count = len(overlaps)
            found.append(RunAgreement(first, second, math.fsum(overlaps) / count, math.fsum(rbos) / count, tau, count))
    return tuple(found)


def measure_agreements(scores: SystemScores, study: Study) -> tuple[MeasureAgreement, ...]:
    """Agreement of every pair of measures, over the pairs of the study."""
    pairs = chosen_pairs(scores, study)
    with np.errstate(invalid="ignore"):
        signs = [
            np.sign(np.stack([scores.column(number, b) - scores.column(number, a) for a, b in pairs]))
            for number in range(len(scores.measures))
        ]
    means = [scores.common_means(number) for number in range(len(scores.measures))]
    found = []
    for first, second in combinations(range(len(scores.measures)), 2):
        product = signs[first] * signs[second]
        told = int(np.count_nonzero(np.nan_to_num(product)))
        same = int((product > 0).sum()) / told if told else None
        tau = kendall_tau(means[first], means[second]) if len(scores.systems) >= FEWEST_SYSTEMS else None
        found.append(MeasureAgreement(scores.measures[first], scores.measures[second], tau, same, told))
    return tuple(found)


def kendall_tau(first: Floats, second: Floats) -> float | None:
    """Kendall's tau-b, which adjusts for ties; None if either side is all ties or contains NaN.

    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.3333333333333333
    """
    later = np.triu_indices(len(first), 1)
    one = np.sign(first[:, None] - first[None, :])[later]
    other = np.sign(second[:, None] - second[None, :])[later]
    if np.isnan(one).any() or np.isnan(other).any():
        return None
    told = np.count_nonzero(one) * np.count_nonzero(other)
    return float((one * other).sum() / math.sqrt(told)) if told else None


def rank_biased_overlap(first: Ranking, second: Ranking, persistence: float = PERSISTENCE) -> float:
    """Rank-biased overlap, extrapolated to infinite rankings (Webber, Moffat and Zobel 2010, equation 32).

    1 for identical rankings, 0 for rankings with no common document; lengths may differ.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"]), rank_biased_overlap(["a"], ["b"])
    (1.0, 0.0)
    """
    place = {doc: rank for rank, doc in enumerate(second)}
    deeper = [max(rank, place[doc]) for rank, doc in enumerate(first) if doc in place]
    width = max(len(first), len(second), 1)
    shared = np.cumsum(np.bincount(np.array(deeper, np.int64), minlength=width))
    one, other = np.array([len(first)]), np.array([len(second)])
    return float(rank_biased_overlaps(shared[None], one, other, persistence)[0])


def rank_biased_overlaps(shared: Integers, first: Integers, second: Integers, persistence: float) -> Floats:
    """Rank-biased overlap of each query, as in `rank_biased_overlap`.

    `shared` has a row for each query: how many documents both rankings have in their first 1, 2, ... documents. `first` and
    `second` are the lengths of its rankings.
    """
    short, long = np.minimum(first, second), np.maximum(first, second)
    rows = np.arange(len(shared))
    at_short = np.where(short > 0, shared[rows, np.maximum(short, 1) - 1], 0)
    at_long = np.where(long > 0, shared[rows, np.maximum(long, 1) - 1], 0)
    depth = np.arange(1, shared.shape[1] + 1)
    weight = persistence**depth
    inside = depth <= long[:, None]
    total = np.where(inside, shared, 0) @ (weight / depth)
    # Below the end of the shorter ranking, it is assumed to go on as it was.
    beyond = inside & (depth > short[:, None])
    if beyond.any():
        longer = np.where(beyond, depth - short[:, None], 0) @ (weight / depth)
        total = total + longer * at_short / np.maximum(short, 1)
    tail = (at_long - at_short) / np.maximum(long, 1) + at_short / np.maximum(short, 1)
    found = np.minimum(1.0, total * (1 - persistence) / persistence + tail * persistence**long)
    return np.where(short > 0, found, np.where(long > 0, 0.0, 1.0))
