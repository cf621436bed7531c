"""Effect size: Cohen's d_z, and queries won and lost."""

from __future__ import annotations

from msgspec import Struct

from assay.comparison.paired import difference_moments
from assay.comparison.ranks import wins_and_losses
from assay.errors import AssayError
from assay.tables import Floats


class Effect(Struct, frozen=True):
    """The size of a difference between two systems over the same queries."""

    d_z: float | None  # mean difference over the standard deviation of the differences; None without spread
    wins: int
    ties: int
    losses: int


def effect(first: Floats, second: Floats, minimum: float = 0.0) -> Effect:
    """The effect size of first minus second system, with queries won, tied and lost.

    d_z is the mean difference over the standard deviation of the differences (n - 1): 0.2 is called small, 0.5 medium,
    0.8 large (Cohen 1988). It is None for fewer than two queries, or if all differ by the same amount. Differences up
    to `minimum` are ties. Queries missing (NaN) from either system are left out.

    >>> import numpy as np
    >>> effect(np.array([0.9, 0.5, 0.8, 0.2]), np.array([0.4, 0.3, 0.5, 0.2]))
    Effect(d_z=1.2009611535381535, wins=3, ties=1, losses=0)
    """
    if not minimum >= 0:
        raise AssayError(f"minimum cannot be {minimum!r}; it takes a number, 0 or more, such as 0.01.")
    difference, found = difference_moments(first, second)
    wins, losses = map(int, wins_and_losses(difference, minimum))
    return Effect(found.mean / found.deviation if found else None, wins, len(difference) - wins - losses, losses)
