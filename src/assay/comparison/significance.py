"""Paired significance tests by name, on a table with a row per query and a column per system.

Reads no files and is independent of measures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.comparison import formulas, ranks, resampling  # noqa: F401  (import registers their tests)
from assay.comparison.paired import (
    REGISTRY,
    Alternative,
    Pair,
    Paired,
    PairedOptions,
    PairedTest,
    Significance,
    p_values,
)
from assay.errors import AssayError, did_you_mean
from assay.tables import Floats

DEFAULT = "t"


def significance_of(
    values: Floats, pairs: Sequence[Pair], test: str = DEFAULT, options: PairedOptions = PairedOptions()
) -> Significance:
    """Test each pair of systems, given as columns of a table with a row per query.

    The difference is first minus second. A query missing (NaN) from either system is left out for this pair only;
    `tukey` and `anova`, which test all systems at once, leave out queries missing from any system. p is 1 if the two
    do not differ on any query, and with fewer queries than the test needs. If all queries differ by the same amount, tests
    that need a spread (t, and anova if nothing varies) give the p of the sign test.

    >>> values = np.array([[0.9, 0.4], [0.5, 0.3], [0.8, 0.5], [0.6, 0.2]])
    >>> found = significance_of(values, [(0, 1)], "permutation")
    >>> found.p.tolist(), found.exact.tolist(), found.draws.tolist()
    ([0.125], [True], [16])
    """
    known = definition_of(test)
    paired = Paired(np.asarray(values, np.float64), tuple((first, second) for first, second in pairs))
    if known.together:
        paired = paired.complete()
    outcome = known.kernel(paired, options)
    untested = paired.queries < known.fewest
    signs = np.isnan(outcome.statistic) & paired.constant
    p = np.where(signs, _p_of_signs(paired, options.alternative), outcome.p)
    return Significance(
        test=known.name,
        alternative=options.alternative,
        statistic=np.where(paired.same, 0.0, outcome.statistic),
        p=np.where(paired.same | untested, 1.0, p),
        queries=paired.queries,
        constant=paired.constant,
        untested=untested,
        exact=outcome.exact,
        draws=outcome.draws,
        seed=options.seed if known.draws and not outcome.exact.all() else None,
        tested=paired,
        overall=outcome.overall,
        pooled=outcome.pooled,
        ranges=outcome.ranges,
    )


def _p_of_signs(paired: Paired, alternative: Alternative) -> Floats:
    """The p of each pair if all its queries have the sign of the mean: one of the 2**n outcomes of the sign test."""
    one = 0.5**paired.queries
    above = paired.moments.mean > 0
    return p_values(np.where(above, 1.0, one), np.where(above, one, 1.0), alternative)


def names_of_tests() -> list[str]:
    """The names of all tests, the default first."""
    return sorted(REGISTRY, key=lambda name: (name != DEFAULT, name))


def definition_of(name: str) -> PairedTest:
    """The test with this name."""
    if name not in REGISTRY:
        hint = did_you_mean(name, REGISTRY) or f"; there are {', '.join(names_of_tests())}."
        raise AssayError(f"no test called {name!r}{hint}")
    return REGISTRY[name]
