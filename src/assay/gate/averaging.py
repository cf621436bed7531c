"""One number from the values of all queries, plain or weighted, and its bounds. Knows no rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from assay.comparison.intervals import Interval
from assay.comparison.paired import TIE, Moments
from assay.gate.bounds import FEWEST_CHANGED, betting_bounds, t_bounds
from assay.native.sums import exact_sum
from assay.tables import Booleans, Floats
from assay.weighting.weights import QueryWeights

if TYPE_CHECKING:  # rarely needed: imported on demand
    from assay.weighting.estimating import WeightedMean

Method = Literal["t", "betting", "traffic"]  # where bounds come from


class Bounds(Struct, frozen=True):
    """One-sided bounds, and how they were found."""

    ends: Interval
    method: Method


class Averaging(Struct, frozen=True):
    """How values over queries become one: by the plain mean, or by the weighted one.

    Means and bounds, and so the decision, follow from it.
    """

    weights: QueryWeights | None = None
    queries: Sequence[str] = ()  # of the values

    def select(self, chosen: Booleans) -> Averaging:
        """The same for some of the queries."""
        if self.weights is None:
            return self
        queries = [query for query, kept in zip(self.queries, chosen.tolist(), strict=True) if kept]
        self.weights.refuse_lacking(queries, "query")
        return Averaging(self.weights, queries)

    def mean(self, values: Floats) -> float | None:
        """The mean; None without values."""
        if self.weights is None or not len(values):
            return exact_sum(values) / len(values) if len(values) else None
        return self._estimate(values, 0.5).mean

    def bounds(self, values: Floats, changed: Booleans, limits: Interval | None, alpha: float) -> Bounds | None:
        """One-sided bounds of the mean, by whichever method suits the sample; None if there are none."""
        varies = bool(np.ptp(values) > TIE * max(1.0, np.abs(values).max()))
        enough = varies and self.worth(changed) >= FEWEST_CHANGED
        if self.weights is not None and self.weights.probability is not None:
            found = self._estimate(values, 1 - 2 * alpha)
            if enough or found.error == 0:  # 0: all queries there are
                return None if found.interval is None else Bounds(found.interval, "t")
        if enough:
            return Bounds(self._t_bounds(values, changed, alpha), "t")
        return None if limits is None else Bounds(betting_bounds(values, limits, alpha, self.shares()), "betting")

    def worth(self, changed: Booleans) -> float:
        """How many queries the changed ones are worth; with weights no more than all queries are."""
        heavy = self.shares()
        if heavy is None or not changed.any():
            return float(np.count_nonzero(changed))
        return min(_effective(heavy[changed]), _effective(heavy))

    def _t_bounds(self, values: Floats, changed: Booleans, alpha: float) -> Interval:
        heavy = self.shares()
        if heavy is None:
            return t_bounds(values, int(np.count_nonzero(changed)), alpha)
        mean = self._estimate(values, 0.5).mean
        linear = (
            mean + (values - mean) * heavy / heavy.mean()
        )  # its plain mean and error are those of the weighted mean
        return t_bounds(linear, _effective(heavy[changed]), alpha, _effective(heavy))

    def shares(self) -> Floats | None:
        """The weights of the values, as shares of the largest."""
        if self.weights is None:
            return None
        weight: Floats = self.weights.weight[self.weights.places(self.queries)]
        return weight / float(weight.max())

    def spread(self, values: Floats, plain: Moments | None) -> Moments | None:
        """Moments with the standard error of this mean, from those of the plain one."""
        if self.weights is None or plain is None:
            return plain
        found = self._estimate(values, 0.5)
        deviation = math.sqrt(len(values)) * found.error if found.error else plain.deviation
        return Moments(len(values), found.mean, deviation)

    def effective(self) -> float | None:
        """The effective sample size."""
        return None if self.weights is None else self.weights.effective(self.queries)

    def _estimate(self, values: Floats, confidence: float) -> WeightedMean:
        from assay.weighting.estimating import weighted_mean

        if self.weights is None:
            raise TypeError("the plain mean needs no estimate")
        return weighted_mean(self.weights, self.queries, values, confidence)


def _effective(weights: Floats) -> float:
    """How many queries with equal weights would say as much as these (Kish 1965)."""
    shares = weights / weights.max()  # squares of tiny numbers are 0
    return round(float(shares.sum() ** 2 / (shares**2).sum()), 9)
