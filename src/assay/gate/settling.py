"""The number of queries that would settle a rule, by Student's t or by bets. Independent of rules and runs."""

from __future__ import annotations

import math

import numpy as np

from assay.comparison.intervals import Interval, t_quantile
from assay.comparison.power import POWER
from assay.gate.bounds import PARTS, STAKES
from assay.tables import Floats

_MANY = 100_000  # queries, beyond which t is practically normal
SMALLEST_EFFECT = 1e-4  # in standard deviations; detecting it takes 600 million queries


def queries_to_settle(effect: float, alpha: float, power: float = POWER) -> int:
    """The fewest queries for a one-sided test at alpha to detect an effect, in standard deviations, with this power.

    Uses the noncentral t distribution; beyond 100,000 queries the normal one with a correction (Guenther 1981).

    >>> queries_to_settle(0.5, alpha=0.05)
    27
    """
    from scipy.special import ndtri

    bound = float(ndtri(1 - alpha))
    normal = ((bound + float(ndtri(power))) / effect) ** 2  # a little too few, since it takes the spread as known
    if normal > _MANY:
        return math.ceil(normal + bound**2 / 2)
    queries = max(2, math.floor(normal))
    while _power(effect, queries, alpha) < power:
        queries += 1
    return queries


def _power(effect: float, queries: int, alpha: float) -> float:
    """The probability that a one-sided test with this many queries detects the effect."""
    from scipy.special import nctdtr

    centre, bound = effect * math.sqrt(queries), t_quantile(queries - 1, 1 - alpha)
    missed = float(nctdtr(queries - 1, centre, bound))
    if math.isnan(missed):  # SciPy fails in the far tail
        missed = 0.0 if centre > bound else 1.0
    return 1 - missed


def bets_to_settle(
    slack: Floats, limits: Interval, alpha: float, power: float = POWER, weights: Floats | None = None
) -> int | None:
    """About how many queries like these it takes until bets show that the mean slack is above 0; None if none would do.

    A fortune grows by the mean logarithm of what a bet returns; the normal distribution says how much bad luck to expect.

    >>> bets_to_settle(np.array([0.01] * 48 + [-0.19, 0.21]), (-0.99, 1.01), alpha=0.05)
    474
    """
    from scipy.special import ndtri

    low, luck = limits[0], float(ndtri(power))
    stakes = STAKES[:, None] if weights is None else STAKES[:, None] * weights
    with np.errstate(divide="ignore", invalid="ignore"):  # whoever stakes everything can lose everything
        growth = np.log1p(stakes * (np.maximum(slack - low, 0) / -low - 1))
        means, deviations = growth.mean(axis=1), growth.std(axis=1)
    needed = [
        ((luck * deviation + math.sqrt((luck * deviation) ** 2 + 4 * mean * wanted)) / (2 * mean)) ** 2
        for mean, deviation, wanted in zip(means.tolist(), deviations.tolist(), -np.log(alpha * PARTS), strict=True)
        if mean > 0
    ]
    return math.ceil(min(needed)) if needed else None
