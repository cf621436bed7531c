"""Tests on the ranks and signs of differences, not their size: Wilcoxon and sign."""

from __future__ import annotations

import math

import numpy as np

from assay.comparison.paired import TIE, Paired, PairedOptions, PairedOutcome, p_value, paired_test
from assay.errors import AssayError
from assay.tables import Floats, Integers

EXACT_LIMIT = 500  # queries; the work grows with their cube


@paired_test("wilcoxon")
def wilcoxon(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Are differences symmetric about zero? Wilcoxon's signed ranks by the normal approximation.

    As in R: with continuity correction, zeros dropped, tied sizes share their mean rank, and the variance is corrected
    for ties. Sizes are tied only if all bits are equal: 0.3 - 0.2 and 0.2 - 0.1 are not, and published p values depend
    on that. The statistic is the rank sum of the wins minus that of the losses. SciPy is exact up to 50 queries and so
    gives other digits: see `wilcoxon-exact` (Wilcoxon 1945).
    """
    from scipy.special import ndtr

    rows = []
    for difference in paired.differences():
        ranks, ties = _signed_ranks(difference)
        count = len(ranks)
        variance = count * (count + 1) * (2 * count + 1) / 24 - float((ties**3 - ties).sum()) / 48
        if variance <= 0:
            rows.append((0.0, 1.0))
            continue
        beyond = float(ranks.sum()) / 2  # rank sum of the wins minus its expectation
        lower = float(ndtr((beyond + 0.5) / math.sqrt(variance)))
        upper = float(ndtr((0.5 - beyond) / math.sqrt(variance)))
        rows.append((2 * beyond, p_value(lower, upper, options.alternative)))
    return PairedOutcome.of(rows, paired.queries)


@paired_test("wilcoxon-exact", signs=True)
def wilcoxon_exact(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Are differences symmetric about zero? Wilcoxon's signed ranks, exact over all 2**n signs.

    Also exact with ties: tied sizes share their mean rank, and sums of doubled ranks are whole numbers, which can be
    counted. Zeros are dropped. The statistic is the rank sum of the wins minus that of the losses. Up to 500 queries.
    """
    rows = []
    for difference in paired.differences():
        ranks, _ = _signed_ranks(difference)
        if len(ranks) > EXACT_LIMIT:
            raise AssayError(
                f"wilcoxon-exact takes up to {EXACT_LIMIT} queries that differ, not {len(ranks)}. Use wilcoxon: with so "
                "many queries its normal approximation is as good."
            )
        doubled = np.rint(2 * ranks).astype(np.int64)
        chances = _chances_of_sums(np.abs(doubled))
        wins = int(doubled[doubled > 0].sum())
        lower, upper = float(chances[: wins + 1].sum()), float(chances[wins:].sum())
        rows.append((float(ranks.sum()), min(1.0, p_value(lower, upper, options.alternative))))
    return PairedOutcome.of(rows, paired.queries, exact=True)


def _signed_ranks(difference: Floats) -> tuple[Floats, Integers]:
    """Mean ranks of the sizes with the signs of the differences, and the counts of tied sizes; zeros dropped."""
    some = difference[difference != 0]
    _, place, ties = np.unique(np.abs(some), return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(ties) - (ties - 1) / 2
    return mean_rank[place] * np.sign(some), ties.astype(np.int64)


def _chances_of_sums(weights: Integers) -> Floats:
    """The probability of each sum, from 0, if every weight is included with probability 1/2.

    >>> _chances_of_sums(np.array([1, 2])).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    chances = np.zeros(int(weights.sum()) + 1)
    chances[0] = 1.0
    reach = 0
    for weight in np.sort(weights).tolist():
        taken = chances[: reach + 1] / 2
        chances[: reach + 1] = taken
        chances[weight : reach + weight + 1] += taken
        reach += weight
    return chances


@paired_test("sign", signs=True)
def sign(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Are wins and losses equally likely? The sign test, exact by the binomial distribution.

    Differences up to `minimum` count as ties, and ties are dropped: with 0.01, a query that differs by 0.01 or less is
    neither won nor lost. The statistic is wins minus losses (Arbuthnot 1710).
    """
    from scipy.special import bdtr

    rows = []
    for difference in paired.differences():
        wins, losses = map(int, wins_and_losses(difference, options.minimum))
        count = wins + losses
        lower = float(bdtr(wins, count, 0.5)) if count else 1.0
        upper = float(bdtr(losses, count, 0.5)) if count else 1.0
        rows.append((float(wins - losses), p_value(lower, upper, options.alternative)))
    return PairedOutcome.of(rows, paired.queries, exact=True)


def wins_and_losses(difference: Floats, minimum: float = 0.0) -> tuple[Integers, Integers]:
    """The number of differences above `minimum` and below its negative, up to rounding; of each row of a table."""
    bound = minimum * (1 + TIE)
    return (difference > bound).sum(axis=-1), (difference < -bound).sum(axis=-1)
