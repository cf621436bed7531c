"""Equivalence of two systems within a margin: two one-sided tests."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from assay.comparison.paired import difference_moments
from assay.errors import AssayError
from assay.tables import Floats


class Equivalence(Struct, frozen=True):
    """The result of a test that a mean difference is within a margin of zero."""

    margin: float
    p: float  # the larger of the two
    p_lower: float  # against a difference of -margin or less
    p_upper: float  # against a difference of margin or more
    queries: int


def equivalence(first: Floats, second: Floats, margin: float) -> Equivalence:
    """Two one-sided paired t tests: a small p means that the mean difference is within the margin on both sides.

    p < 0.05 exactly when the 90 % interval of the difference is inside the margin (Schuirmann 1987). Queries missing
    (NaN) from either system are left out. p is 1 with fewer than two queries. If all differences are the same, there is no
    spread for t. Of values between 0 and 1, p is then the chance to see nothing else in n queries if the mean were at the
    margin, (1 - margin)**n for differences of 0; of others it is 1, since the next query may differ by any amount.

    >>> from numpy import array
    >>> equivalence(array([0.5, 0.4, 0.6, 0.3]), array([0.5, 0.41, 0.59, 0.3]), 0.05).p < 0.01
    True
    """
    from scipy.special import stdtr

    if not 0 < margin < math.inf:
        raise AssayError(f"margin cannot be {margin!r}; it takes a number greater than 0, such as 0.01.")
    difference, found = difference_moments(first, second)
    count = len(difference)
    if found is None:
        values = np.stack((first, second))[:, ~np.isnan(first - second)]
        within = values.min(initial=0) >= 0 and values.max(initial=0) <= 1
        ends = (-difference.max(initial=-1), difference.min(initial=1)) if within and count > 1 else (1.0, 1.0)
        p_lower, p_upper = (_chance(float(toward), margin, count) for toward in ends)
        return Equivalence(margin, max(p_lower, p_upper), p_lower, p_upper, count)
    p_lower = float(stdtr(count - 1, -(found.mean + margin) / found.error))
    p_upper = float(stdtr(count - 1, (found.mean - margin) / found.error))
    return Equivalence(margin, max(p_lower, p_upper), p_lower, p_upper, count)


def _chance(toward: float, margin: float, count: int) -> float:
    """The highest chance of this difference on every query if the mean were at the margin, and no query were beyond 1."""
    return 1.0 if toward >= min(margin, 1.0) else max(0.0, (1 - margin) / (1 - toward)) ** count
