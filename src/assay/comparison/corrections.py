"""Corrections of p values for multiple comparisons, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from assay.errors import AssayError, did_you_mean
from assay.tables import Floats

DEFAULT = "holm"


def holm(p: Floats) -> Floats:
    """Controls the chance of any false positive, stepwise from the smallest p; never less powerful than Bonferroni.

    The smallest of m p values is multiplied by m, the next by m - 1, and so on, keeping their order (Holm 1979).
    """
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _in_place(steps, order)


def bonferroni(p: Floats) -> Floats:
    """Controls the chance of any false positive: every p times their number (Dunn 1961)."""
    return np.minimum(p * len(p), 1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """Controls the false discovery rate, for independent or positively dependent tests.

    The i-th smallest of m p values is multiplied by m / i, keeping their order (Benjamini and Hochberg 1995).
    """
    order = np.argsort(p, kind="stable")
    steps = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _in_place(np.minimum.accumulate(steps[::-1])[::-1], order)


def benjamini_yekutieli(p: Floats) -> Floats:
    """Controls the false discovery rate, however the tests are related.

    Benjamini-Hochberg times 1 + 1/2 + ... + 1/m (Benjamini and Yekutieli 2001).
    """
    order = np.argsort(p, kind="stable")
    harmonic = (1 / np.arange(1, len(p) + 1)).sum()
    steps = p[order] * len(p) * harmonic / np.arange(1, len(p) + 1)
    return _in_place(np.minimum.accumulate(steps[::-1])[::-1], order)


def sidak(p: Floats) -> Floats:
    """Controls the chance of any false positive, for independent tests: 1 - (1 - p)**m (Sidak 1967)."""
    with np.errstate(divide="ignore"):  # p = 1 stays 1
        corrected: Floats = -np.expm1(len(p) * np.log1p(-p))
    return corrected


def none(p: Floats) -> Floats:
    """No correction."""
    return p.copy()


def _in_place(steps: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    """Sorted values back in their original order, capped at 1."""
    corrected = np.empty_like(steps)
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


CORRECTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "benjamini-hochberg": benjamini_hochberg,
    "benjamini-yekutieli": benjamini_yekutieli,
    "sidak": sidak,
    "none": none,
}


def level_of(p: Floats, correction: str, alpha: float) -> float:
    """The level of an interval that stands beside a corrected p: with confidence 1 - level it excludes 0 if that is significant.

    For Bonferroni and Sidak this is exact, and all intervals of the family hold together with confidence 1 - alpha. Those of
    Holm are Bonferroni's: Holm may find more. Beside the two that control the false discovery rate, no more than alpha of the
    intervals of significant differences are expected to miss (Benjamini and Yekutieli 2005).
    """
    count = max(1, len(p))
    if correction == "none":
        return alpha
    if correction == "sidak":
        return float(-np.expm1(np.log1p(-alpha) / count))
    if correction in ("holm", "bonferroni"):
        return alpha / count
    found = max(1, int((corrected_p(p, correction) < alpha).sum()))
    related = float((1 / np.arange(1, count + 1)).sum()) if correction == "benjamini-yekutieli" else 1.0
    return found * alpha / (count * related)


def corrected_p(p: Floats, correction: str = DEFAULT) -> Floats:
    """The p values of one family, corrected for multiple comparisons, in the same order and shape.

    NaN stays NaN and does not count towards the family.

    >>> corrected_p(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    if correction not in CORRECTIONS:
        hint = did_you_mean(correction, CORRECTIONS) or f"; there are {', '.join(CORRECTIONS)}."
        raise AssayError(f"no correction called {correction!r}{hint}")
    given = np.asarray(p, np.float64)
    known = ~np.isnan(given)
    if ((given[known] < 0) | (given[known] > 1)).any():
        raise AssayError("p values must be between 0 and 1.")
    corrected = given.copy()
    corrected[known] = CORRECTIONS[correction](given[known])
    return corrected
