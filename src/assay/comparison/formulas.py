"""Tests with p from a distribution: the t test and analysis of variance."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from assay.comparison.paired import (
    TIE,
    Overall,
    Paired,
    PairedOptions,
    PairedOutcome,
    Pooled,
    p_value,
    p_values,
    paired_test,
)
from assay.tables import Floats


@paired_test("t")
def t(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Is the mean difference zero? Student's paired t test.

    The statistic is the mean difference over its standard error. Differences need not be normal: with 50 queries of
    TREC data its error rate is the nominal one (docs/statistics.md). If all queries differ by the same amount, there is no
    standard error, and p is that of the sign test (Student 1908).
    """
    from scipy.special import stdtr  # imports five times as fast as scipy.stats

    found = paired.moments
    some = found.spread(np.maximum(np.abs(found.low), np.abs(found.high)))
    error = found.deviation[some] / np.sqrt(found.count[some])
    degrees = found.count[some] - 1
    statistic, p = np.full(len(some), np.nan), np.ones(len(some))
    statistic[some] = found.mean[some] / error
    p[some] = p_values(stdtr(degrees, statistic[some]), stdtr(degrees, -statistic[some]), options.alternative)
    return PairedOutcome.of(np.stack((statistic, p), axis=1), paired.queries)


@paired_test("anova", together=True)
def anova(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Are all systems equally good? Two-way analysis of variance (systems, queries), with t tests of the pairs.

    All columns of the table count as systems. Queries missing from any of them are left out for all pairs. `overall` holds F and
    its p. Pairs are tested by t: mean difference over a standard error pooled over all systems, with
    (systems - 1)(queries - 1) degrees of freedom. For two systems it is the paired t test. Pairs are not corrected for
    their number (Fisher 1925).
    """
    queries, systems = paired.values.shape
    nothing = PairedOutcome.of([(math.nan, 1.0)] * len(paired.pairs), paired.queries)
    if queries < 2 or systems < 2:
        return nothing
    # Relative to the first system: sums of squares keep their digits if all values are large.
    values = paired.values - paired.values[:, :1]
    means = values.mean(axis=0)
    left = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    degrees = (systems - 1) * (queries - 1)
    residual = float((left**2).sum()) / degrees
    if math.sqrt(residual) <= TIE * float(np.abs(paired.values).max()):
        return nothing
    pooled = Pooled(math.sqrt(2 * residual / queries), degrees)
    found = PairedOutcome.of(_pairs_from_residual(paired, means, pooled, options), paired.queries)
    return replace(found, overall=_overall(means, residual, queries), pooled=pooled)


def _overall(means: Floats, residual: float, queries: int) -> Overall:
    from scipy.special import fdtrc

    systems = len(means)
    between = queries * float(((means - means.mean()) ** 2).sum()) / (systems - 1)
    degrees = (systems - 1, (systems - 1) * (queries - 1))
    return Overall(between / residual, float(fdtrc(*degrees, between / residual)), degrees)


def _pairs_from_residual(
    paired: Paired, means: Floats, pooled: Pooled, options: PairedOptions
) -> list[tuple[float, float]]:
    from scipy.special import stdtr

    first, second = paired.columns
    statistic = (means[first] - means[second]) / pooled.error
    lower, upper = stdtr(pooled.degrees, statistic), stdtr(pooled.degrees, -statistic)
    return [
        (value, p_value(low, high, options.alternative))
        for value, low, high in zip(statistic.tolist(), lower.tolist(), upper.tolist(), strict=True)
    ]
