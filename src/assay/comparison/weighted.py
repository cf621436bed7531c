"""The weighted difference of each pair: its interval, and a t test with the standard error of the sample's design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from assay.comparison.corrections import corrected_p
from assay.comparison.intervals import CONFIDENCE
from assay.comparison.paired import Alternative, p_value
from assay.comparison.pairs import PairResult, Study, SystemScores, Verdict, WeightedPair, higher_is_better
from assay.weighting.estimating import WeightedMean, weighted_mean
from assay.weighting.weights import QueryWeights


def with_weights(
    scores: SystemScores, study: Study, pairs: Sequence[PairResult], weights: QueryWeights, correction: str
) -> tuple[PairResult, ...]:
    """The pairs with their weighted differences. Their p values are a family of their own, corrected in the same way."""
    weights.refuse_lacking(scores.queries, "query")
    confidence = _confidence(study, len(pairs))
    found = [_weighted(scores, study, pair, weights, confidence) for pair in pairs]
    corrected = corrected_p(np.array([each.p for each in found]), correction)
    return tuple(
        replace(pair, weighted=replace(each, p_corrected=float(p), verdict=_verdict(pair, each, float(p), study)))
        for pair, each, p in zip(pairs, found, corrected, strict=True)
    )


def _confidence(study: Study, family: int) -> float:
    return 1 - (1 - CONFIDENCE) / family if study.simultaneous else CONFIDENCE


def _weighted(
    scores: SystemScores, study: Study, pair: PairResult, weights: QueryWeights, confidence: float
) -> WeightedPair:
    measure = scores.measures.index(pair.measure)
    system, baseline = (scores.column(measure, scores.systems.index(name)) for name in (pair.system, pair.baseline))
    both = np.where(np.isnan(system) | np.isnan(baseline), np.nan, 0.0)
    difference = weighted_mean(weights, scores.queries, system - baseline, confidence)
    return WeightedPair(
        baseline_mean=weighted_mean(weights, scores.queries, baseline + both).mean,
        system_mean=weighted_mean(weights, scores.queries, system + both).mean,
        difference=difference.mean,
        interval=difference.interval,
        error=difference.error,
        degrees=difference.degrees,
        p=1.0 if pair.constant else weighted_p(difference, study.alternative),
        p_corrected=1.0,
        effective=difference.effective,
        verdict="not tested",
    )


def weighted_p(difference: WeightedMean, alternative: Alternative) -> float:
    """The p value of a weighted difference, by Student's t; 1 if its error is unknown.

    If no query was left to chance, the difference over the log is known: p is 0, or 1 if it is 0 or on the other side.
    """
    if difference.error is None:
        return 1.0
    if not difference.error or difference.degrees is None:
        above, below = difference.mean > 0, difference.mean < 0
        return p_value(float(not below), float(not above), alternative)
    from scipy.special import stdtr  # imports five times as fast as scipy.stats

    statistic = difference.mean / difference.error
    lower, upper = (float(stdtr(difference.degrees, side)) for side in (statistic, -statistic))
    return p_value(lower, upper, alternative)


def _verdict(pair: PairResult, found: WeightedPair, corrected: float, study: Study) -> Verdict:
    if found.error is None:
        return "not tested"
    if not corrected < study.alpha:
        return "no significant difference"
    if higher_is_better(pair.measure):
        return "better" if found.difference > 0 else "worse"
    return "higher" if found.difference > 0 else "lower"
