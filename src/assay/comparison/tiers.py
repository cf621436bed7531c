"""Tiers of systems: the best one and all that are not significantly worse, then the same with the rest.

Every pair of systems is compared by a paired t test, and p is corrected over all pairs by Holm's method, because which
system is the best is only known from the same data.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from assay.comparison.corrections import holm
from assay.comparison.paired import TIE
from assay.tables import Booleans, Floats, Integers


class Estimate(Struct, frozen=True, eq=False):
    """A mean of means with its standard error; one entry for each column."""

    mean: Floats
    error: Floats  # NaN if there is a table with fewer than two rows
    degrees: Floats  # of freedom (Welch and Satterthwaite)


def estimate(tables: Sequence[Floats]) -> Estimate:
    """The mean over tables of the means of a column; each table counts equally and is a sample of its own.

    The squared standard error is the sum of those of the tables over the square of their number. With one table this is
    the usual standard error of a mean, with n - 1 degrees of freedom.
    """
    means, variances = zip(*map(_moments, tables), strict=True)
    parts = np.array(variances) / len(tables) ** 2  # (tables, columns)
    degrees = np.array([[max(len(table) - 1, 1)] for table in tables])
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = parts.sum(axis=0) ** 2 / (parts**2 / degrees).sum(axis=0)
    return Estimate(np.mean(means, axis=0), np.sqrt(parts.sum(axis=0)), freedom)


def _moments(table: Floats) -> tuple[Floats, Floats]:
    """The mean of each column and its squared standard error; NaN for fewer than two rows."""
    mean = table.mean(axis=0)
    if len(table) < 2:
        return mean, np.full(table.shape[1], np.nan)
    return mean, ((table - mean) ** 2).sum(axis=0) / (len(table) - 1) / len(table)


def pair_p(tables: Sequence[Floats]) -> Floats:
    """The two-sided p of each pair of systems, uncorrected: (systems, systems), symmetric, 1 on the diagonal.

    A pair that differs by the same amount on all queries has no spread for t; its p is that of the sign test, as in `compare`.
    """
    from scipy.special import stdtr  # imports five times as fast as scipy.stats

    systems = tables[0].shape[1]
    queries = sum(map(len, tables))
    sizes = [np.abs(table).max(axis=0, initial=0) for table in tables]
    p = np.ones((systems, systems))
    for first in range(systems - 1):  # a row at a time: memory for one table more, not for all pairs
        rest = slice(first + 1, None)
        differences = [
            _without_rounding(table[:, first : first + 1] - table[:, rest], np.maximum(size[first], size[rest]))
            for table, size in zip(tables, sizes, strict=True)
        ]
        found = estimate(differences)
        with np.errstate(invalid="ignore", divide="ignore"):
            row = 2 * stdtr(found.degrees, -np.abs(found.mean) / found.error)
        sides = np.array([np.sign(table[:1]) for table in differences]).sum(axis=(0, 1))
        signs = 0.5 ** (queries - 1) if queries > len(tables) else 1.0
        flat = np.where(np.abs(sides) == len(tables), signs, 1.0)
        p[first, rest] = p[rest, first] = np.where(found.error > 0, row, flat)
    return p


def _without_rounding(differences: Floats, sizes: Floats) -> Floats:
    """Differences that vary no more than rounding does, made equal."""
    flat = np.ptp(differences, axis=0) <= TIE * sizes
    same = flat & (np.abs(differences[:1]) <= TIE * sizes)[0]
    level = np.where(same, 0.0, differences[:1])
    return np.where(flat, level, differences) if flat.any() else differences


def significantly_different(tables: Sequence[Floats], alpha: float) -> Booleans:
    """Which pairs of systems differ significantly, corrected over all pairs by Holm: (systems, systems).

    Systems with the same values count as one.
    """
    values = np.concatenate(tables) + 0.0
    _, kept, place = np.unique(values, axis=1, return_index=True, return_inverse=True)
    p = pair_p([table[:, kept] for table in tables])
    pairs = np.triu_indices(len(p), 1)
    found = np.zeros(p.shape, np.bool_)
    found[pairs] = holm(p[pairs]) < alpha
    different: Booleans = (found | found.T)[np.ix_(place.ravel(), place.ravel())]
    return different


def tiers_of(means: Floats, different: Booleans) -> Integers:
    """The tier of each system, from 1.

    A tier starts with the best system that has none yet and takes all others without one that do not differ
    significantly from it.

    >>> different = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]], np.bool_)
    >>> tiers_of(np.array([0.9, 0.8, 0.7, 0.6]), different).tolist()
    [1, 1, 2, 2]
    """
    tiers = np.zeros(len(means), np.int64)
    tier = 0
    for best in np.argsort(-means, kind="stable"):
        if tiers[best] == 0:
            tier += 1
            tiers[(tiers == 0) & ~different[best]] = tier
    return tiers
