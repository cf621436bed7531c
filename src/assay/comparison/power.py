"""Power of the two-sided paired t test: the smallest detectable difference, and the queries a difference needs.

All functions take the standard deviation of the per-query differences between two systems (n - 1).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from assay.comparison.intervals import t_quantile
from assay.errors import AssayError

POWER = 0.8
ALPHA = 0.05
MOST_QUERIES = 10**9
STEPS = 10_000
SIMPSON = np.array([1.0, *([4.0, 2.0] * (STEPS // 2))])
SIMPSON[-1] = 1.0


def power_of_t(difference: float, deviation: float, queries: int, alpha: float = ALPHA) -> float:
    """The probability that a t test detects a true difference, in either direction; 0 for fewer than two queries.

    Uses the noncentral t distribution centred at difference / deviation * sqrt(queries) (Cohen 1988). For a difference
    of 0 it is alpha.

    >>> round(power_of_t(0.05, deviation=0.1, queries=34), 3)
    0.808
    """
    _check(deviation, alpha=alpha)
    if queries < 2:
        return 0.0
    return _power(abs(difference) / deviation * math.sqrt(queries), queries - 1, alpha)


def _power(centre: float, degrees: int, alpha: float) -> float:
    """The probability that noncentral t exceeds its bounds.

    Integrates by Simpson's rule over the ratio of sample to true standard deviation: SciPy's noncentral t returns NaN
    in the far tail, and is slow for many degrees of freedom.
    """
    from scipy.special import ndtr

    bound = t_quantile(degrees, 1 - alpha / 2)
    reach = 12 / math.sqrt(2 * degrees)  # twelve standard deviations on either side
    spread = np.linspace(max(1e-12, 1 - reach), 1 + reach, STEPS + 1)
    logarithm = (degrees - 1) * np.log(spread) - degrees * spread**2 / 2
    weight = np.exp(logarithm - logarithm.max()) * SIMPSON
    found = ndtr(centre - bound * spread) + ndtr(-centre - bound * spread)
    return float((weight * found).sum() / weight.sum())


def detectable_difference(deviation: float, queries: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest difference that this many queries detect with this power; infinite for fewer than two queries.

    >>> round(detectable_difference(deviation=0.1, queries=50), 4)
    0.0404
    """
    _check(deviation, power=power, alpha=alpha)
    return math.inf if queries < 2 else _detectable_centre(queries, power, alpha) * deviation / math.sqrt(queries)


@cache  # the same for all pairs over the same queries
def _detectable_centre(queries: int, power: float, alpha: float) -> float:
    """The centre of noncentral t that gives this power."""
    low, high = 0.0, 1.0
    while _power(high, queries - 1, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, queries - 1, alpha) < power else (low, middle)
    return high


def queries_needed(difference: float, deviation: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """The number of queries that detect this difference with this power; at least two.

    >>> queries_needed(0.02, deviation=0.1)
    199
    """
    from scipy.special import ndtri

    _check(deviation, power=power, alpha=alpha)
    if difference == 0 or not math.isfinite(difference):
        raise AssayError(
            f"difference cannot be {difference!r}: no number of queries would detect it. Give one such as 0.02."
        )

    def enough(queries: int) -> bool:
        return power_of_t(difference, deviation, queries, alpha) >= power

    # The number for a known spread is close to the answer, so the search starts there.
    normal = (float(ndtri(1 - alpha / 2) + ndtri(power)) * deviation / difference) ** 2
    if normal > MOST_QUERIES:
        raise AssayError(f"a difference of {difference:g} needs more than {MOST_QUERIES:,} queries; give a larger one.")
    high, step = max(2, math.ceil(normal)), 1
    while not enough(high):
        high, step = high + step, 2 * step
    low = max(1, high - step)  # one query is never enough
    while low > 1 and enough(low):
        step *= 2
        low, high = max(1, low - step), low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(deviation: float, **shares: float) -> None:
    if not 0 < deviation < math.inf:
        raise AssayError(
            f"deviation cannot be {deviation!r}; it takes a number greater than 0. Without spread there is nothing to plan."
        )
    for name, share in shares.items():
        if not 0 < share < 1:
            raise AssayError(f"{name} cannot be {share!r}; it takes a number between 0 and 1.")
    if shares.get("power", 1) <= shares["alpha"]:
        raise AssayError(
            f"power {shares['power']:g} is not greater than alpha {shares['alpha']:g}, which chance alone reaches."
        )
