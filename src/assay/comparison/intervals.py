"""Confidence intervals of means and differences. Independent of measures, queries and files.

Each interval is for one comparison; of many, one in twenty misses. Beside corrected p values stand intervals of a higher
confidence (`corrections.level_of`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from assay.comparison.paired import PairMoments, check_draws
from assay.comparison.resampling import resampled_means
from assay.errors import AssayError
from assay.native.sums import exact_sum
from assay.tables import Booleans, Floats, Integers

CONFIDENCE = 0.95
DRAWS = 10_000
_AT_ONCE = 256  # columns whose resamples are in memory at once

Interval = tuple[float, float]


def mean_interval(values: Floats, confidence: float = CONFIDENCE) -> Interval | None:
    """The two-sided t interval of a mean; None for fewer than two values, zero width if all are equal.

    NaN is left out. The values are treated as a sample: over repeated samples, 95 of 100 such intervals contain the
    mean of the population (Student 1908). It may go beyond the bounds of a measure, which `measures.arithmetic.within` cuts off.

    >>> low, high = mean_interval(np.array([0.2, 0.4, 0.6]))
    >>> print(f"{low:.4f} {high:.4f}")
    -0.0968 0.8968
    """
    _check_confidence(confidence)
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return None
    if known.min() == known.max():  # the computed mean may differ in the last bit
        return float(known[0]), float(known[0])
    mean = exact_sum(known) / len(known)
    error = math.sqrt(exact_sum((known - mean) ** 2) / (len(known) - 1) / len(known))
    half = t_quantile(len(known) - 1, (1 + confidence) / 2) * error
    return mean - half, mean + half


def mean_intervals(found: PairMoments, confidence: float = CONFIDENCE) -> list[Interval | None]:
    """`mean_interval` of the differences of each pair."""
    _check_confidence(confidence)
    degrees = np.maximum(found.count - 1, 1)
    counts, place = np.unique(degrees, return_inverse=True)
    half = np.array([t_quantile(count, (1 + confidence) / 2) for count in counts.tolist()])[place]
    half = np.where(found.low == found.high, 0.0, half * np.sqrt(found.squares / degrees / found.count))
    middle = np.where(found.low == found.high, found.low, found.mean)
    return [end if count > 1 else None for end, count in zip(around(middle, half), found.count.tolist(), strict=True)]


def around(middle: Floats, half: Floats | float) -> list[Interval]:
    """The intervals that reach so far to both sides."""
    return list(zip((middle - half).tolist(), (middle + half).tolist(), strict=True))


def percentile_intervals(
    columns: Floats, confidence: float = CONFIDENCE, *, draws: int = DRAWS, seed: int = 1
) -> list[Interval | None]:
    """The bootstrap interval of each column's mean: the middle quantiles of the means of resamples.

    Resamples the same rows for all columns. Simple, but somewhat too narrow with few rows. NaN is left out of its
    column; None for fewer than two values, zero width if all are equal (Efron 1979).
    """

    def ends(column: Floats, means: Floats) -> Interval:
        low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
        return float(low), float(high)

    return _bootstrap_intervals(columns, confidence, draws, seed, ends)


def bca_intervals(
    columns: Floats, confidence: float = CONFIDENCE, *, draws: int = DRAWS, seed: int = 1
) -> list[Interval | None]:
    """The bootstrap interval of each column's mean, corrected for bias and skewness (BCa).

    Like `percentile_intervals`, but the quantiles are shifted by the share of resamples below the mean and by the
    skewness of the values (Efron 1987).
    """

    def ends(column: Floats, means: Floats) -> Interval:
        low, high = np.quantile(means, _bca_quantiles(column, means, confidence))
        return float(low), float(high)

    return _bootstrap_intervals(columns, confidence, draws, seed, ends)


def _bca_quantiles(column: Floats, means: Floats, confidence: float) -> tuple[float, float]:
    """The quantiles of the resampled means at the ends of a BCa interval."""
    from scipy.special import ndtr, ndtri

    mean = column.mean()
    rounding = 1e-12 * np.abs(column).max()
    below = ((means < mean - rounding).mean() + (means <= mean + rounding).mean()) / 2
    bias = float(ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means))))
    apart = column - mean
    skewness = float((apart**3).sum() / (6 * (apart**2).sum() ** 1.5))

    def moved(share: float) -> float:
        sum_ = bias + float(ndtri(share))
        return float(ndtr(bias + sum_ / (1 - skewness * sum_)))

    return moved((1 - confidence) / 2), moved((1 + confidence) / 2)


def _bootstrap_intervals(
    columns: Floats, confidence: float, draws: int, seed: int, ends: Callable[[Floats, Floats], Interval]
) -> list[Interval | None]:
    """The interval of each column, from `ends(values, means of resamples)`."""
    _check_confidence(confidence)
    check_draws(draws, seed, usual=DRAWS)
    found: list[Interval | None] = [None] * columns.shape[1]
    for rows, numbers in _alike(~np.isnan(columns)):
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            block = columns[np.ix_(rows, some)]
            for number, column, means in zip(some, block.T, resampled_means(block, draws, seed), strict=True):
                flat = column.min() == column.max()  # the computed mean may differ in the last bit
                found[number] = (float(column[0]), float(column[0])) if flat else ends(column, means)
    return found


def _alike(known: Booleans) -> list[tuple[Integers, Integers]]:
    """Columns with the same known rows, at least two: the rows, and the numbers of the columns."""
    groups: dict[bytes, list[int]] = {}
    for number, column in enumerate(known.T):
        groups.setdefault(column.tobytes(), []).append(number)
    rows = [(np.flatnonzero(np.frombuffer(key, np.bool_)), numbers) for key, numbers in groups.items()]
    return [(row, np.array(numbers)) for row, numbers in rows if len(row) > 1]


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise AssayError(f"confidence cannot be {confidence!r}; it takes a number between 0 and 1, such as 0.95.")


def t_quantile(degrees: float, probability: float) -> float:
    """The quantile of Student's t distribution."""
    from scipy.special import stdtrit  # imports five times as fast as scipy.stats

    return float(stdtrit(degrees, probability))
