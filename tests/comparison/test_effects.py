"""Effect sizes, wins and losses, and equivalence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.comparison.effects import Effect, effect
from assay.comparison.equivalence import equivalence
from assay.comparison.intervals import mean_interval
from assay.comparison.significance import significance_of
from assay.errors import AssayError

PAIRS = st.lists(st.tuples(st.integers(0, 64), st.integers(0, 64)), min_size=2, max_size=30).map(
    lambda rows: np.array(rows).T / 64
)


def test_four_queries_by_hand():
    # differences 1, 2, 3, 2: mean 2, deviation sqrt(2 / 3)
    found = effect(np.array([1.0, 2.0, 3.0, 2.0]), np.zeros(4))

    assert 2 / math.sqrt(2 / 3) == pytest.approx(found.d_z)
    assert (4, 0, 0) == (found.wins, found.ties, found.losses)


@given(PAIRS)
def test_it_is_t_over_the_root_of_the_queries(pair):
    first, second = pair
    assume(np.ptp(first - second) > 0)
    statistic = significance_of(np.column_stack(pair), [(0, 1)]).statistic[0]

    assert statistic / math.sqrt(len(first)) == pytest.approx(effect(first, second).d_z, abs=1e-12)


@given(PAIRS)
def test_swapping_turns_it(pair):
    one, other = effect(*pair), effect(*pair[::-1])

    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.d_z is other.d_z is None or one.d_z == pytest.approx(-other.d_z)


@given(PAIRS, st.integers(0, 64).map(lambda step: step / 64))
def test_every_query_is_won_lost_or_tied(pair, minimum):
    found = effect(*pair, minimum)

    assert len(pair[0]) == found.wins + found.ties + found.losses
    assert int((np.abs(pair[0] - pair[1]) <= minimum).sum()) == found.ties


def test_a_system_against_itself():
    values = np.random.default_rng(1).random(10)

    assert Effect(None, 0, 10, 0) == effect(values, values)


def test_rounding_has_no_effect_size():
    assert effect(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.5])).d_z is None


@pytest.mark.parametrize(("values", "ties"), [([], 0), ([0.5], 1)])
def test_too_few_queries(values, ties):
    assert Effect(None, 0, ties, 0) == effect(np.array(values, float), np.array(values, float))


def test_queries_that_one_lacks_are_left_out():
    first, second = np.array([0.5, math.nan, 0.9, 0.4]), np.array([0.4, 0.1, math.nan, 0.6])

    assert effect(first[[0, 3]], second[[0, 3]]) == effect(first, second)
    assert (1, 0, 1) == (effect(first, second).wins, effect(first, second).ties, effect(first, second).losses)


def test_a_minimum_under_zero():
    with pytest.raises(AssayError) as refused:
        effect(np.zeros(2), np.zeros(2), -1)

    assert "minimum cannot be -1; it takes a number, 0 or more, such as 0.01." == str(refused.value)


# Equivalence.


@given(PAIRS, st.floats(0.01, 1))
def test_it_is_statsmodels(pair, margin):
    from statsmodels.stats.weightstats import ttost_paired

    first, second = pair
    assume(np.ptp(first - second) > 0)
    p, lower, upper = ttost_paired(first, second, -margin, margin)
    found = equivalence(first, second, margin)

    assert p == pytest.approx(found.p, rel=1e-8)
    assert (lower[1], upper[1]) == pytest.approx((found.p_lower, found.p_upper), rel=1e-8)


@given(PAIRS, st.floats(0.01, 1))
def test_it_is_significant_where_the_90_percent_interval_is_inside(pair, margin):
    first, second = pair
    assume(np.ptp(first - second) > 0)
    found = equivalence(first, second, margin)
    assume(abs(found.p - 0.05) > 1e-9)
    low, high = mean_interval(first - second, 0.9)

    assert (found.p < 0.05) == (-margin < low and high < margin)


@given(PAIRS)
def test_a_wider_margin_is_easier(pair):
    assert equivalence(*pair, 0.5).p <= equivalence(*pair, 0.1).p


@given(PAIRS)
def test_swapping_changes_the_sides_only(pair):
    one, other = equivalence(*pair, 0.1), equivalence(*pair[::-1], 0.1)

    assert one.p == pytest.approx(other.p)
    assert (one.p_lower, one.p_upper) == pytest.approx((other.p_upper, other.p_lower))


@pytest.mark.parametrize("values", [[], [0.5], [5.0] * 20])
def test_without_spread_there_is_no_proof(values):
    found = equivalence(np.array(values, float), np.array(values, float), 0.1)

    assert (1.0, len(values)) == (found.p, found.queries)


def test_without_spread_the_proof_is_that_nothing_else_was_seen():
    """At a mean of 0.1 at most 9 of 10 queries can have no difference, since none can differ by more than 1."""
    same, near = np.full(20, 0.5), np.full(20, 0.55)

    assert 0.9**20 == pytest.approx(equivalence(same, same, 0.1).p)
    found = equivalence(near, same, 0.1)  # a share of 1 / 19 by 1 and the rest by 0.05 make 0.1
    assert (1 - 1 / 19) ** 20 == pytest.approx(found.p_upper)
    assert (0.9 / 1.05) ** 20 == pytest.approx(found.p_lower)
    assert found.p == found.p_upper
    assert 1.0 == equivalence(np.full(20, 0.7), same, 0.1).p


def test_missing_queries_do_not_count():
    first, second = np.array([0.5, math.nan, 0.9, 0.4]), np.array([0.4, 0.1, 0.8, 0.6])

    assert 3 == equivalence(first, second, 0.1).queries


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf])
def test_the_margin_is_over_zero(margin):
    with pytest.raises(AssayError) as refused:
        equivalence(np.zeros(3), np.zeros(3), margin)

    assert f"margin cannot be {margin!r}; it takes a number greater than 0, such as 0.01." == str(refused.value)
