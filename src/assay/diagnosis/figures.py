"""Figures that several looks need: means, a paired test, a p value in words."""

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


def shown_p(value: float) -> str:
    """A p value for a sentence."""
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
