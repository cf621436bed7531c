"""Normalisations make scores comparable within each query of each run: one function each, with its paper.

None of them changes the order of a run's documents, and all of them accept negative scores.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from assay.fusion.methods import borda_points
from assay.fusion.pooled import PooledRuns, total_of
from assay.fusion.registry import normalisation
from assay.tables import Booleans, Floats

LEE = "Lee (1997), Analyses of Multiple Evidence Combination, SIGIR"
MONTAGUE = "Montague and Aslam (2001), Relevance Score Normalization for Metasearch, CIKM"


@normalisation("none", paper="")
def none(pooled: PooledRuns) -> PooledRuns:
    """The scores, unchanged."""
    return pooled


@normalisation("min-max", paper=LEE, aliases=("standard",))
def min_max(pooled: PooledRuns) -> PooledRuns:
    """The lowest score becomes 0 and the highest 1; where all are equal, each becomes 1, as in Pyserini.

    Example: 2, 4 and 10: 0, 0.25 and 1.
    """
    scaled, constant = _scaled(pooled)
    return replace(pooled, score=np.where(constant, 1.0, scaled))


@normalisation("sum", paper=MONTAGUE)
def sum_to_one(pooled: PooledRuns) -> PooledRuns:
    """The lowest score becomes 0 and the sum 1; where all n scores are equal, each becomes 1 / n.

    Example: 2, 4 and 10: 0, 0.2 and 0.8.
    """
    scaled, constant = _scaled(pooled)
    parts = np.where(constant, 1.0, scaled)
    return replace(pooled, score=parts / total_of(parts, pooled.segment, pooled.segments)[pooled.segment])


@normalisation("z-score", paper=MONTAGUE, aliases=("zmuv",))
def z_score(pooled: PooledRuns) -> PooledRuns:
    """Mean 0 and standard deviation 1 (over n, not n - 1); where all scores are equal, each becomes 0.

    A document that a run lacks and that counts as 0 is then as good as the average document that the run retrieved.

    Example: 2, 4 and 6: -1.2247, 0 and 1.2247.
    """
    scaled, constant = _scaled(pooled)
    segment, size = pooled.segment, np.maximum(pooled.retrieved, 1)
    away = scaled - (total_of(scaled, segment, pooled.segments) / size)[segment]
    deviation = np.sqrt(total_of(np.square(away), segment, pooled.segments) / size)[segment]
    return replace(pooled, score=np.where(constant, 0.0, away / np.where(constant, 1.0, deviation)))


@normalisation("rank", paper=LEE)
def by_rank(pooled: PooledRuns) -> PooledRuns:
    """1 - (rank - 1) / n for n retrieved documents: the first gets 1, the last 1 / n; scores only decide the order.

    Example: three documents: 1, 0.6667 and 0.3333.
    """
    return replace(pooled, score=1 - (pooled.rank - 1) / pooled.retrieved[pooled.segment])


@normalisation("borda", paper="Renda and Straccia (2003), Web Metasearch: Rank vs. Score Based Rank Aggregation, SAC")
def by_borda(pooled: PooledRuns) -> PooledRuns:
    """Borda points divided by the number of candidates; documents that a run lacks share the points not assigned.

    Afterwards every run has every candidate of the query, and no document is missing for the method.

    Example: 4 candidates, of which a run has 2: these get 1 and 0.75, the others 0.375 each.
    """
    points, left = borda_points(pooled)
    candidates = pooled.candidates
    parts = replace(pooled, score=points / candidates[pooled.pair_query[pooled.pair]])
    return parts.completed(left / np.maximum(np.tile(candidates, len(pooled.weights)), 1))


def _scaled(pooled: PooledRuns) -> tuple[Floats, Booleans]:
    """Scores scaled from 0 to 1 within each segment, and which rows are in a segment of equal scores."""
    segment, score = pooled.segment, pooled.score
    if np.abs(score).max(initial=0) > 1e307:
        score = score / 4  # otherwise the range of the scores may overflow
    lowest, highest = np.full(pooled.segments, np.inf), np.full(pooled.segments, -np.inf)
    np.minimum.at(lowest, segment, score)
    np.maximum.at(highest, segment, score)
    span = highest[segment] - lowest[segment]
    constant = span == 0
    return (score - lowest[segment]) / np.where(constant, 1.0, span), constant
