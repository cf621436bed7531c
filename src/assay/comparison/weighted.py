"""The weighted difference of each pair: its interval, and a t test with the standard error of the sample's design."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from assay.comparison.families import families_of
from assay.comparison.paired import Alternative, Significance, p_value
from assay.comparison.pairs import (
    PairResult,
    Study,
    SystemScores,
    Verdict,
    WeightedPair,
    higher_is_better,
    of_t_tests,
)
from assay.comparison.significance import definition_of
from assay.tables import Floats
from assay.weighting.estimating import WeightedMean, weighted_mean
from assay.weighting.weights import QueryWeights


def with_weights(
    scores: SystemScores,
    study: Study,
    tests: Sequence[Significance],
    pairs: Sequence[PairResult],
    weights: QueryWeights,
    correction: str,
) -> tuple[PairResult, ...]:
    """The pairs with their weighted differences. Their p values are families of their own, corrected in the same way."""
    weights.refuse_lacking(scores.queries, "query")
    compared = _Weighing(scores, study, weights)
    p = np.array([compared.p(pair) for pair in pairs])
    families, by = families_of([tests]), of_t_tests(correction)
    widened = "bonferroni" if study.simultaneous and by == "none" else by
    levels, corrected = np.full(len(pairs), study.alpha), np.ones(len(pairs))
    for family in families:
        corrected[family.members] = family.corrected(p, by, parts=1)
        levels[family.members] = family.level(p, widened, study.alpha, parts=1)
    return tuple(
        replace(pair, weighted=compared.result(pair, *of))
        for pair, *of in zip(pairs, p.tolist(), corrected.tolist(), levels.tolist(), strict=True)
    )


class _Weighing:
    """Weighted means and differences of systems, over the queries that the test compares."""

    def __init__(self, scores: SystemScores, study: Study, weights: QueryWeights) -> None:
        self._scores, self._study, self._weights = scores, study, weights
        self._together = definition_of(study.test).together

    def p(self, pair: PairResult) -> float:
        """The p of the weighted difference; without spread, that of the plain one."""
        return pair.p if pair.constant else weighted_p(self._difference(pair), self._study.alternative)

    def result(self, pair: PairResult, p: float, corrected: float, level: float) -> WeightedPair:
        """The weighted pair, given its p values and the level of the interval beside the corrected one."""
        found, widened = self._difference(pair), self._difference(pair, level)
        system, baseline = self._columns(pair)
        single = widened if self._study.simultaneous else found
        return WeightedPair(
            baseline_mean=self._mean(baseline).mean,
            system_mean=self._mean(system).mean,
            difference=found.mean,
            interval=None if pair.constant else single.interval,
            error=found.error,
            degrees=found.degrees,
            p=p,
            p_corrected=corrected,
            effective=found.effective,
            verdict=_verdict(pair, found, corrected, self._study),
            interval_corrected=None if pair.constant else widened.interval,
        )

    def _difference(self, pair: PairResult, level: float | None = None) -> WeightedMean:
        system, baseline = self._columns(pair)
        return self._mean(system - baseline, 1 - (level or self._study.alpha))

    def _mean(self, values: Floats, confidence: float = 0.5) -> WeightedMean:
        return weighted_mean(self._weights, self._scores.queries, values, confidence)

    def _columns(self, pair: PairResult) -> tuple[Floats, Floats]:
        """The values of system and baseline; NaN for queries that are left out."""
        measure = self._scores.measures.index(pair.measure)
        table = self._scores.values[measure]
        own = [self._scores.systems.index(name) for name in (pair.system, pair.baseline)]
        missing = np.isnan(table if self._together else table[:, own]).any(axis=1)
        system, baseline = (np.where(missing, np.nan, table[:, column]) for column in own)
        return system, baseline


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


def _verdict(pair: PairResult, found: WeightedMean, corrected: float, study: Study) -> Verdict:
    if found.error is None:
        return "not tested"
    if not corrected < study.alpha:
        return "no significant difference"
    if higher_is_better(pair.measure):
        return "better" if found.mean > 0 else "worse"
    return "higher" if found.mean > 0 else "lower"
