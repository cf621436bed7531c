"""How many queries it takes to settle a rule: the power of a one-sided t test. Knows no rule and no run."""

from __future__ import annotations

import math

from assay.comparison.intervals import t_quantile
from assay.comparison.power import POWER

_MANY = 100_000  # queries, from where t is as good as normal
SMALLEST_EFFECT = 1e-4  # standard deviations; it takes 600 million queries to see it


def queries_to_settle(effect: float, alpha: float, power: float = POWER) -> int:
    """The fewest queries with which a one-sided test at alpha sees an effect, in standard deviations, with this power.

    By the noncentral t distribution. Beyond 100,000 queries by the normal one, with what t adds to it (Guenther 1981).

    >>> queries_to_settle(0.5, alpha=0.05)
    27
    """
    from scipy.special import ndtri

    bound = float(ndtri(1 - alpha))
    normal = ((bound + float(ndtri(power))) / effect) ** 2  # too few, if known spread is taken for unknown
    if normal > _MANY:
        return math.ceil(normal + bound**2 / 2)
    queries = max(2, math.floor(normal))
    while _power(effect, queries, alpha) < power:
        queries += 1
    return queries


def _power(effect: float, queries: int, alpha: float) -> float:
    """The chance that a one-sided test with so many queries sees the effect."""
    from scipy.special import nctdtr

    centre, bound = effect * math.sqrt(queries), t_quantile(queries - 1, 1 - alpha)
    missed = float(nctdtr(queries - 1, centre, bound))
    if math.isnan(missed):  # in the far tail, where SciPy gives up
        missed = 0.0 if centre > bound else 1.0
    return 1 - missed
