"""Figures that several looks need: means and a paired test."""

from __future__ import annotations

import math

import numpy as np

from assay.comparison.significance import significance_of
from assay.tables import Floats


def mean_of(values: Floats) -> float:
    """The mean of the values that are numbers, exactly rounded; 0 of none."""
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / len(known) if len(known) else 0.0


def paired_p(difference: Floats) -> float:
    """Two-sided p of the paired t test, from the differences."""
    columns = np.column_stack((difference, np.zeros_like(difference)))
    return float(significance_of(columns, [(0, 1)], "t").p[0])
