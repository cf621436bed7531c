"""The weighted mean of values over queries, and how sure it is. Knows no measure; every command estimates here.

With weights w and values y, the mean is the ratio of two Horvitz-Thompson totals, sum(w y) / sum(w). Its variance is that
of sum(z), where z = w (y - mean) / sum(w): the linearised ratio (Hájek 1971; Woodruff 1971; Särndal, Swensson and Wretman
1992, section 5.7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from assay.native.sums import exact_sum
from assay.tables import Floats, Integers
from assay.weighting.weights import QueryWeights

CONFIDENCE = 0.95


class WeightedMean(Struct, frozen=True):
    """A weighted mean and how sure it is."""

    mean: float  # NaN if no query has a value
    interval: tuple[float, float] | None  # None if the error is unknown
    error: float | None  # standard error; 0 if no query was left to chance, None if it cannot be estimated
    degrees: float | None  # of freedom of Student's t; None if the error is 0 or unknown
    queries: int  # with a value
    effective: float  # this many queries with equal weights would say as much (Kish 1965)


def weighted_mean(
    weights: QueryWeights, queries: Sequence[str], values: Floats, confidence: float = CONFIDENCE
) -> WeightedMean:
    """The weighted mean of the values, which are NaN where undefined, with its two-sided t interval.

    Weights alone say nothing about the sample: the interval treats the queries as drawn at random, one by one. With equal
    weights it is Student's. With probabilities it takes the design into account: a query that could not be left out adds
    no uncertainty, and the others vary within their stratum (Deville 1993). Undefined values make the rest a subset of the
    sample, as in the estimation for domains.

    >>> weights = QueryWeights(("q1", "q2", "q3"), np.array([2.0, 1.0, 1.0]))
    >>> found = weighted_mean(weights, ["q1", "q2", "q3"], np.array([1.0, 0.5, 0.0]))
    >>> found.mean, round(found.effective, 2)
    (0.625, 2.67)
    """
    spread = weights.over(queries, values)
    known = ~np.isnan(spread)
    if not known.any():
        return WeightedMean(math.nan, None, None, None, 0, 0.0)
    some, weight = spread[known], weights.weight[known]
    weight = weight / weight.max()  # so that equal weights give exactly the plain mean
    total, squares = exact_sum(weight), exact_sum(weight * weight)
    mean = float(some[0]) + 0.0 if some.min() == some.max() else exact_sum(weight * some) / total  # no -0
    influence = weight * (some - mean)
    if weights.probability is None:
        found = _independent(influence, total, squares)
    else:
        z = np.zeros(len(spread))
        z[known] = influence / total
        found = _designed(z, weights.probability, weights.strata)
    interval = _interval(mean, found, confidence)
    return WeightedMean(mean, interval, found.error, found.degrees, len(some), total * total / squares)


class _Error(Struct, frozen=True):
    """A standard error and its degrees of freedom; see `WeightedMean`."""

    error: float | None
    degrees: float | None


def _interval(mean: float, found: _Error, confidence: float) -> tuple[float, float] | None:
    if found.error is None:
        return None
    if found.degrees is None or found.error == 0:
        return mean, mean
    from scipy.special import stdtrit  # imports five times as fast as scipy.stats

    half = float(stdtrit(found.degrees, (1 + confidence) / 2)) * found.error
    return (mean - half, mean + half) if math.isfinite(half) else None


def _independent(influence: Floats, total: float, squares: float) -> _Error:
    """Queries drawn one by one. The divisor corrects for the mean that was estimated from the same values."""
    degrees = total * total / squares - 1  # Kish's effective size takes the place of n
    if len(influence) < 2 or degrees <= 0:
        return _Error(None, None)
    return _Error(math.sqrt(exact_sum(influence * influence) / (total - squares / total) / total), degrees)


def _designed(z: Floats, probability: Floats, strata: Sequence[str] | None) -> _Error:
    """A stratified sample of fixed size, without replacement and with unequal probabilities.

    The variance of a stratum is sum((1 - p) (z - a)^2) / (1 - sum(c^2)), where c = (1 - p) / sum(1 - p) and a = sum(c z)
    (Deville 1993; Matei and Tillé 2005); for equal p it is the textbook one of a simple random sample. Degrees of freedom after Satterthwaite
    (1946).
    """
    left = 1 - probability
    variances, degrees = [], []
    for members in _groups(left, probability, strata):
        share = left[members] / left[members].sum()
        squares = exact_sum(share * share)
        if squares >= 1:  # a single query: its variance is unknown
            return _Error(None, None)
        apart = z[members] - exact_sum(share * z[members])
        variances.append(exact_sum(left[members] * apart * apart) / (1 - squares))
        degrees.append(1 / squares - 1)
    variance = math.fsum(variances)
    if not variance:
        return _Error(0.0, None)
    return _Error(
        math.sqrt(variance),
        variance**2 / math.fsum(one**2 / of for one, of in zip(variances, degrees, strict=True)),
    )


def _groups(left: Floats, probability: Floats, strata: Sequence[str] | None) -> list[Integers]:
    """The queries of each stratum that were left to chance; a stratum with only one is merged with its neighbour.

    Neighbours have similar probabilities, and so similar traffic.
    """
    number = {name: code for code, name in enumerate(dict.fromkeys(strata or ("",)))}
    codes = np.array([number[name] for name in strata or ("",) * len(left)], np.int64)
    found = [np.flatnonzero((codes == code) & (left > 0)) for code in number.values()]
    found = sorted((members for members in found if len(members)), key=lambda members: -probability[members].mean())
    merged: list[Integers] = []
    for members in found:
        if merged and (len(merged[-1]) < 2 or (members is found[-1] and len(members) < 2)):
            merged[-1] = np.concatenate((merged[-1], members))
        else:
            merged.append(members)
    return merged
