"""One-sided bounds of the mean of a sample in which perhaps few values differ from zero. Independent of measures and runs.

A change of code touches few queries: the differences of all others are exactly 0. With few that are not 0, Student's t
takes the spread of what it happened to see for that of the population, and its bounds are too narrow. So there are three
kinds here; docs/statistics.md reports how often each errs.

- `t_bounds`: Student's t, corrected for skewness, with degrees of freedom that follow from how many queries changed.
- `betting_bounds`: valid for bounded values whatever their distribution, however few there are.
- `share_bounds`: of a share, exact.
"""

from __future__ import annotations

import math

import numpy as np

from assay.comparison.intervals import Interval, t_quantile
from assay.comparison.paired import TIE
from assay.native.sums import exact_sum
from assay.tables import Floats

FEWEST_CHANGED = 7  # with fewer, a spread is not to be trusted (measured: docs/statistics.md)

# A gambler who bets against the mean being as low as claimed stakes these shares of the fortune on each query, beginning
# with these parts of it. Few queries changed means few losses, where high stakes pay: half of the fortune goes there.
_PLACES = np.arange(16)
STAKES = 2.0 ** (-_PLACES / 2)
PARTS = 1 / ((_PLACES + 1) * (_PLACES + 2))
PARTS = PARTS / PARTS.sum()
_HALVINGS = 40  # of the interval in which a bound is sought


def mean_bounds(differences: Floats, limits: Interval | None, alpha: float) -> Interval | None:
    """One-sided bounds of a mean difference, each wrong with probability alpha, by whichever method suits the sample.

    None if few differences are not 0, and differences have no limits.
    """
    changed = int(np.count_nonzero(np.abs(differences) > TIE))
    if changed >= FEWEST_CHANGED and np.ptp(differences) > TIE:
        return t_bounds(differences, changed, alpha)
    return None if limits is None else betting_bounds(differences, limits, alpha)


def t_bounds(values: Floats, changed: float, alpha: float, effective: float | None = None) -> Interval:
    """The one-sided t bounds of a mean, each wrong with probability alpha, when `changed` of the values say something.

    Skewness pulls a bound outwards, never inwards (Hall 1992). Values that did not change add no degrees of freedom, and
    outliers take some: the variance of a variance grows with kurtosis, most where few values changed. `effective` is how many values these are worth if
    they are those of a weighted mean.

    >>> low, high = t_bounds(np.array([0.1, -0.1, 0.2, -0.2, 0.3, -0.3]), 6, 0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    -0.1947 0.1947
    """
    number, worth = len(values), len(values) if effective is None else effective
    mean = exact_sum(values) / number
    apart = values - mean
    variance = exact_sum(apart**2) / number
    skewness = exact_sum(apart**3) / number / variance**1.5 * math.sqrt(number * (number - 1)) / (number - 2)
    kurtosis = exact_sum(apart**4) / number / variance**2
    degrees = min(changed - 1, 2 * (number + changed) / (kurtosis - 1)) if kurtosis > 1 else changed - 1
    quantile = t_quantile(degrees, 1 - alpha)
    error = math.sqrt(variance / (number - number / worth))
    return (
        mean - _widened(quantile, min(skewness, 0.0), number) * error,
        mean + _widened(quantile, min(-skewness, 0.0), number) * error,
    )


def _widened(quantile: float, skewness: float, number: int) -> float:
    """Hall's transformation of a quantile, for a bound on the side of the longer tail: skewness is 0 or negative."""
    if skewness > -1e-9:
        return quantile
    root = math.sqrt(number)
    inner = 1 + skewness * (quantile / root - skewness / (6 * number))
    return float(3 * root / skewness * (math.cbrt(inner) - 1))


def betting_bounds(values: Floats, limits: Interval, alpha: float, weights: Floats | None = None) -> Interval:
    """One-sided bounds of a mean of values within limits, each wrong with probability at most alpha, for any distribution.

    A lower bound is the largest mean against which a gambler, who cannot win on average if the mean is that large or
    smaller, has multiplied the fortune by 1 / alpha (Waudby-Smith and Ramdas 2024; the mixture of stakes is that of Cover's
    universal portfolio). The order of the values does not matter, and the bounds stay valid when values are added
    until they suffice (Ville 1939). With weights, it is the weighted mean; no query may weigh more than the heaviest here.

    >>> low, high = betting_bounds(np.zeros(400), (-1.0, 1.0), 0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    -0.0086 0.0086
    """
    low, high = limits
    different, heavy, times = values, np.ones(1), np.ones(len(values))
    if weights is None:  # nearly all values are the same
        different, counts = np.unique(values, return_counts=True)
        times = counts.astype(np.float64)
    else:
        heavy = weights / weights.max()
    return (
        _lower_bound(np.maximum(different - low, 0), heavy, times, high - low, alpha) + low,
        high - _lower_bound(np.maximum(high - different, 0), heavy, times, high - low, alpha),
    )


def _lower_bound(values: Floats, weights: Floats, counts: Floats, most: float, alpha: float) -> float:
    """The lower bound of a mean of values from 0 to `most`, each of which is there so many times."""
    bound, beyond = 0.0, most
    for _ in range(_HALVINGS):
        middle = (bound + beyond) / 2
        if _log_fortune(values / middle, weights, counts) >= -math.log(alpha):
            bound = middle
        else:
            beyond = middle
    return bound


def _log_fortune(returns: Floats, weights: Floats, counts: Floats) -> float:
    """The logarithm of the fortune after all bets, from 1 at the beginning; a bet returns its stake times `returns`."""
    with np.errstate(divide="ignore"):  # whoever stakes everything can lose everything
        gains = np.log1p(STAKES[:, None] * weights * (returns - 1))  # stakes x values
    fortunes = np.log(PARTS) + gains @ counts
    return float(np.logaddexp.reduce(fortunes))


def share_bounds(found: int, of: int, alpha: float) -> Interval:
    """One-sided bounds of a share of the population, each wrong with probability at most alpha (Clopper and Pearson 1934).

    >>> low, high = share_bounds(50, 10_000, 0.05)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0039 0.0063
    """
    from scipy.special import betaincinv  # imports five times as fast as scipy.stats

    low = float(betaincinv(found, of - found + 1, alpha)) if found else 0.0
    high = float(betaincinv(found + 1, of - found, 1 - alpha)) if found < of else 1.0
    return low, high


def most_unseen(queries: int, alpha: float) -> float:
    """The largest share of a population of which a sample could contain nothing, with probability alpha or more.

    >>> round(most_unseen(50, 0.05), 3)
    0.058
    """
    return -math.expm1(math.log(alpha) / queries)


def fewest_queries(margin: float, alpha: float) -> int:
    """How many queries it takes until a loss of this share of the largest possible one would have been seen.

    >>> fewest_queries(0.01, 0.05)
    299
    """
    return math.ceil(math.log(alpha) / math.log1p(-margin))
