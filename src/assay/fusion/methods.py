"""The fusion methods: one function each, with its paper.

Every method gives one score for each pair of query and document. `missing` says how a document counts in a run that
lacks it. A run that lacks a query retrieved nothing for it.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import starts
from assay.fusion.pooled import PooledRuns
from assay.fusion.registry import MethodParameter, method
from assay.tables import Booleans, Floats

if TYPE_CHECKING:
    import numpy.typing as npt

FOX_SHAW = "Fox and Shaw (1994), Combination of Multiple Searches, TREC-2"
MOURAO = (
    "Mourão, Martins and Magalhães (2015), Multimodal Medical Information Retrieval with Unsupervised Rank Fusion, CMIG"
)
ADDS_NOTHING = "adds nothing"
AS_ZERO = "counts as score 0"
LEFT_OUT = "that run is ignored"

_BLOCK = 1 << 17  # pairs of documents that Condorcet compares at once: they fit in the processor's cache


# By rank


@method(
    "rrf",
    missing=ADDS_NOTHING,
    paper="Cormack, Clarke and Büttcher (2009), Reciprocal Rank Fusion Outperforms Condorcet, SIGIR",
    uses="ranks",
    weights="optional",
    parameters={"k": MethodParameter("larger values make the first ranks stand out less", 0)},
)
def rrf(pooled: PooledRuns, *, k: float = 60) -> Floats:
    """Reciprocal rank fusion: the sum of 1 / (k + rank).

    Example: ranks 1 and 3 with k = 60: 1/61 + 1/63 = 0.0323.
    """
    return pooled.total(pooled.weighted(1.0 / (k + pooled.rank.astype(np.float64))))


@method("isr", missing=ADDS_NOTHING, paper=MOURAO, uses="ranks", weights="optional")
def isr(pooled: PooledRuns) -> Floats:
    """Inverse square rank: the number of runs that found the document, times the sum of 1 / rank².

    Example: ranks 1 and 2: 2 * (1 + 1/4) = 2.5.
    """
    return _inverse_squares(pooled) * pooled.found


@method(
    "logisr",
    missing=ADDS_NOTHING,
    paper=MOURAO,
    uses="ranks",
    weights="optional",
    parameters={"sigma": MethodParameter("added to the number of runs; 0.01 gives the paper's logN_ISR", 0)},
)
def logisr(pooled: PooledRuns, *, sigma: float = 0) -> Floats:
    """Inverse square rank with a logarithm: log(runs that found the document + sigma), times the sum of 1 / rank².

    A document that only one run found gets log 1 = 0 at any rank, unless sigma is above 0.

    Example: ranks 1 and 2: log 2 * (1 + 1/4) = 0.8664.
    """
    log: Floats = np.log(pooled.found + sigma)
    return log * _inverse_squares(pooled)


def _inverse_squares(pooled: PooledRuns) -> Floats:
    return pooled.total(pooled.weighted(1.0 / np.square(pooled.rank.astype(np.float64))))


@method(
    "rbc",
    missing=ADDS_NOTHING,
    paper="Bailey, Moffat, Scholer and Thomas (2017), Retrieval Consistency in the Presence of Query Variations, SIGIR",
    uses="ranks",
    weights="optional",
    parameters={
        "phi": MethodParameter("how patient the reader is, like p of rank-biased precision", 0, 1, open_ends=True)
    },
)
def rbc(pooled: PooledRuns, *, phi: float = 0.8) -> Floats:
    """Rank-biased centroid: the sum of (1 - phi) * phi ** (rank - 1).

    Example: ranks 1 and 2 with phi = 0.8: 0.2 + 0.16 = 0.36.
    """
    return pooled.total(pooled.weighted((1 - phi) * np.power(phi, pooled.rank - 1.0)))


@method(
    "borda",
    missing="gets an equal share of the points the run did not assign",
    paper="Aslam and Montague (2001), Models for Metasearch, SIGIR",
    uses="ranks",
    weights="optional",
    aliases=("bordafuse",),
)
def borda(pooled: PooledRuns) -> Floats:
    """Borda count: with c candidates for a query, a run's first document gets c points, its second c - 1, and so on.

    Example: 4 candidates; rank 1 in a run, and missing from one that has 2 documents: 4 + (2 + 1) / 2 = 5.5.
    """
    points, left = borda_points(pooled)
    shares = np.sort(left.reshape(len(pooled.weights), -1) * pooled.weights[:, None], axis=0).sum(axis=0)
    more = pooled.total(pooled.weighted(points - left[pooled.segment]))
    score: Floats = more + shares[pooled.pair_query]
    return score


def borda_points(pooled: PooledRuns) -> tuple[Floats, Floats]:
    """The points of each row, and for each segment the points of a document that the run lacks."""
    candidates = pooled.candidates
    points = (candidates[pooled.pair_query[pooled.pair]] - pooled.rank + 1).astype(np.float64)
    left = (np.tile(candidates, len(pooled.weights)) - pooled.retrieved + 1) / 2
    return points, left


@method(
    "condorcet",
    missing="ranks below all documents of the run; two missing ones are tied",
    paper="Montague and Aslam (2002), Condorcet Fusion for Improved Retrieval, CIKM; scores by Copeland (1951)",
    uses="ranks",
    weights="optional",
)
def condorcet(pooled: PooledRuns) -> Floats:
    """The number of documents that this one beats in a vote of the runs, plus half of those it ties with.

    The paper sorts by the outcome of the votes, which gives an arbitrary order for cycles; Copeland's count does not. A
    document that beats all others is first under both. The time grows with the square of the number of candidates.

    Example: a before b in two of three runs, and c last in all: a beats 2, b beats 1, c beats 0.
    """
    bounds = starts(pooled.candidates)  # pairs are sorted by query
    kind = np.int16 if pooled.rank.max(initial=0) < 2**15 - 1 else np.int32  # narrow numbers are compared faster
    ranks = np.full((len(pooled.weights), len(pooled.pair_query)), np.iinfo(kind).max, kind)
    ranks[pooled.run, pooled.pair] = pooled.rank
    scores = [_copeland(ranks[:, low:high], pooled.weights) for low, high in pairwise(bounds.tolist())]
    return np.concatenate([np.empty(0), *scores])


def _copeland(ranks: npt.NDArray[Any], weights: Floats) -> Floats:
    """Documents beaten plus half of the ties; ranks is (runs, documents) of one query."""
    docs = ranks.shape[1]
    rows = max(1, _BLOCK // max(docs, 1))
    found = np.empty(docs)
    for low in range(0, docs, rows):
        margin = _margins(ranks, slice(low, low + rows), weights)
        won, lost = np.count_nonzero(margin > 0, axis=1), np.count_nonzero(margin < 0, axis=1)
        found[low : low + rows] = won + (docs - 1 - won - lost) / 2
    return found


def _margins(ranks: npt.NDArray[Any], rows: slice, weights: Floats) -> npt.NDArray[Any]:
    """The total weight by which each document of these rows is ranked above each other one; 0 for a tie."""
    equal = bool(np.all(weights == weights[0])) and len(weights) < 2**7
    margin = np.zeros((len(ranks[0, rows]), ranks.shape[1]), np.int8 if equal else np.float64)
    for own, weight in zip(ranks, weights, strict=True):
        ahead: Booleans = own[rows, None] < own[None, :]
        behind: Booleans = own[rows, None] > own[None, :]
        side = ahead.view(np.int8) - behind.view(np.int8)
        margin += side if equal else side * weight
    if not equal:
        margin[np.abs(margin) <= 1e-12 * weights.sum()] = 0  # 0.1 + 0.2 against 0.3 is a tie
    return margin


# By score


@method("combsum", missing=AS_ZERO, paper=FOX_SHAW, weights="optional", zero=True)
def combsum(pooled: PooledRuns) -> Floats:
    """The sum of the scores.

    Example: 0.5 and 0.25: 0.75.
    """
    return pooled.total(pooled.weighted(pooled.score))


@method(
    "weighted",
    missing=AS_ZERO,
    paper="Vogt and Cottrell (1999), Fusion via a Linear Combination of Scores, Information Retrieval 1(3)",
    weights="required",
    zero=True,
    aliases=("wsum", "linear"),
)
def weighted(pooled: PooledRuns) -> Floats:
    """The sum of the scores, each times the weight of its run; weights are required.

    Example: 0.5 and 0.25 with weights 2 and 1: 1.25.
    """
    return combsum(pooled)


@method("combmnz", missing=f"{AS_ZERO}, and is not counted", paper=FOX_SHAW, weights="optional", zero=True)
def combmnz(pooled: PooledRuns) -> Floats:
    """The sum of the scores, times the number of runs that found the document.

    Example: 0.5 and 0.25: 2 * 0.75 = 1.5.
    """
    return combsum(pooled) * pooled.found


@method("combanz", missing=LEFT_OUT, paper=FOX_SHAW)
def combanz(pooled: PooledRuns) -> Floats:
    """The mean score over the runs that found the document.

    Example: 0.5 and 0.25, and missing from a third run: 0.375.
    """
    return pooled.total(pooled.score) / pooled.found


@method("combmax", missing=LEFT_OUT, paper=FOX_SHAW)
def combmax(pooled: PooledRuns) -> Floats:
    """The highest score.

    Example: 0.5 and 0.25: 0.5.
    """
    score, begin = pooled.sorted_scores()
    highest: Floats = score[begin + pooled.found - 1]
    return highest


@method("combmin", missing=LEFT_OUT, paper=FOX_SHAW)
def combmin(pooled: PooledRuns) -> Floats:
    """The lowest score among the runs that found the document.

    Example: 0.5 and 0.25: 0.25.
    """
    score, begin = pooled.sorted_scores()
    return score[begin]


@method("combmed", missing=LEFT_OUT, paper=FOX_SHAW)
def combmed(pooled: PooledRuns) -> Floats:
    """The median score among the runs that found the document; for an even number, the mean of the middle two.

    Example: 0.5, 0.25 and 0.125: 0.25.
    """
    score, begin = pooled.sorted_scores()
    low, high = score[begin + (pooled.found - 1) // 2], score[begin + pooled.found // 2]
    middle: Floats = low / 2 + high / 2  # halve first: the sum may overflow
    middle[low == high] = low[low == high]
    return middle


@method("average", missing=AS_ZERO, paper="as `average` of Pyserini", weights="optional", zero=True)
def average(pooled: PooledRuns) -> Floats:
    """The mean score over all runs; with weights, their weighted mean.

    Example: 0.5 in one of two runs, and missing from the other: 0.25.
    """
    return combsum(pooled) / math.fsum(pooled.weights)


@method(
    "interpolation",
    missing=AS_ZERO,
    paper="as `interpolation` of Pyserini",
    runs=2,
    zero=True,
    parameters={"alpha": MethodParameter("the weight of the first run; the second has 1 - alpha", 0, 1)},
)
def interpolation(pooled: PooledRuns, *, alpha: float = 0.5) -> Floats:
    """alpha times the score in the first run plus 1 - alpha times the score in the second.

    Example: 0.5 and 0.25 with alpha = 0.4: 0.2 + 0.15 = 0.35.
    """
    return pooled.total(pooled.score * np.array([alpha, 1 - alpha])[pooled.run])
