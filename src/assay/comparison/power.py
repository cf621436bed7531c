"""What so many queries can show: the smallest difference, and how many queries a difference needs. Paired t test, two-sided.

All functions take the standard deviation of the differences between two systems, query by query (n - 1).
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
    """The chance that a t test finds a difference that is there, in either direction; 0 with fewer than two queries.

    By the noncentral t distribution, with difference / deviation * sqrt(queries) for its centre (Cohen 1988). Without a
    difference it is alpha.

    >>> round(power_of_t(0.05, deviation=0.1, queries=34), 3)
    0.808
    """
    _check(deviation, alpha=alpha)
    if queries < 2:
        return 0.0
    return _power(abs(difference) / deviation * math.sqrt(queries), queries - 1, alpha)


def _power(centre: float, degrees: int, alpha: float) -> float:
    """The chance of t beyond its bounds when its centre is not zero.

    Summed by Simpson's rule over the standard deviation that a sample may have, as a share of the true one: SciPy's
    noncentral t is not a number in the far tail, and slow for many degrees of freedom.
    """
    from scipy.special import ndtr

    bound = t_quantile(degrees, 1 - alpha / 2)
    reach = 12 / math.sqrt(2 * degrees)  # twelve standard deviations to either side
    spread = np.linspace(max(1e-12, 1 - reach), 1 + reach, STEPS + 1)
    logarithm = (degrees - 1) * np.log(spread) - degrees * spread**2 / 2
    weight = np.exp(logarithm - logarithm.max()) * SIMPSON
    found = ndtr(centre - bound * spread) + ndtr(-centre - bound * spread)
    return float((weight * found).sum() / weight.sum())


def detectable_difference(deviation: float, queries: int, power: float = POWER, alpha: float = ALPHA) -> float:
    """The smallest difference that so many queries show with this power; infinite with fewer than two.

    >>> round(detectable_difference(deviation=0.1, queries=50), 4)
    0.0404
    """
    _check(deviation, power=power, alpha=alpha)
    return math.inf if queries < 2 else _detectable_centre(queries, power, alpha) * deviation / math.sqrt(queries)


@cache  # all pairs over the same queries have the same
def _detectable_centre(queries: int, power: float, alpha: float) -> float:
    """Where the centre of t must lie for this power."""
    low, high = 0.0, 1.0
    while _power(high, queries - 1, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, queries - 1, alpha) < power else (low, middle)
    return high


def queries_needed(difference: float, deviation: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """How many queries show a difference of this size with this power; at least two.

    >>> queries_needed(0.02, deviation=0.1)
    199
    """
    from scipy.special import ndtri

    _check(deviation, power=power, alpha=alpha)
    if difference == 0 or not math.isfinite(difference):
        raise AssayError(f"difference cannot be {difference!r}; no number of queries shows it. Name one such as 0.02.")

    def enough(queries: int) -> bool:
        return power_of_t(difference, deviation, queries, alpha) >= power

    # Were the spread known, it would take so many; a little more or less is right, so the search begins here.
    normal = (float(ndtri(1 - alpha / 2) + ndtri(power)) * deviation / difference) ** 2
    if normal > MOST_QUERIES:
        raise AssayError(f"a difference of {difference:g} needs over {MOST_QUERIES:,} queries; name a larger one.")
    high, step = max(2, math.ceil(normal)), 1
    while not enough(high):
        high, step = high + step, 2 * step
    low = max(1, high - step)  # one is never enough
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
            f"deviation cannot be {deviation!r}; it takes a number over 0. Without spread there is nothing to plan for."
        )
    for name, share in shares.items():
        if not 0 < share < 1:
            raise AssayError(f"{name} cannot be {share!r}; it takes a number between 0 and 1.")
    if shares.get("power", 1) <= shares["alpha"]:
        raise AssayError(f"power {shares['power']:g} is not over alpha {shares['alpha']:g}: chance alone reaches it.")
