"""Means and a paired test, shared by several looks."""

from __future__ import annotations

import math

import numpy as np

from assay.comparison.significance import significance_of
from assay.tables import Floats


def mean_of(values: Floats) -> float:
    """The correctly rounded mean without NaN; 0 if there are no values."""
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / len(known) if len(known) else 0.0


def paired_p(difference: Floats) -> float:
    """The two-sided p of the paired t test, from the differences."""
    columns = np.column_stack((difference, np.zeros_like(difference)))
    return float(significance_of(columns, [(0, 1)], "t").p[0])
