"""Bounds of means where few queries changed: against brute force, SciPy and statsmodels, and how often they err."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay.gate.bounds import (
    PARTS,
    STAKES,
    betting_bounds,
    fewest_queries,
    mean_bounds,
    most_unseen,
    share_bounds,
    t_bounds,
)

WHOLE = (-1.0, 1.0)  # of differences of a measure from 0 to 1


def fortune(values, mean, low):
    """What becomes of 1 if every part of it is staked on each value, one after the other."""
    total = 0.0
    for stake, part in zip(STAKES.tolist(), PARTS.tolist(), strict=True):
        money = part
        for value in values:
            money *= 1 - stake + stake * (value - low) / (mean - low)
        total += money
    return total


# Bets


@given(st.lists(st.sampled_from([-1.0, -0.3, 0.0, 0.0, 0.0, 0.25, 1.0]), min_size=1, max_size=40))
def test_a_lower_bound_is_where_the_fortune_is_one_over_alpha(values):
    low, high = betting_bounds(np.array(values), WHOLE, 0.05)

    assert low == pytest.approx(-betting_bounds(-np.array(values), WHOLE, 0.05)[1], abs=1e-12)
    assert -1 <= low < high <= 1
    if low > -1 + 1e-9:
        assert 20 == pytest.approx(fortune(values, low, -1.0), rel=1e-6)


def test_nobody_can_win_on_average_against_a_true_mean():
    """The fortune after one bet is 1 on average, whatever the stake: all values with their probabilities."""
    values, chances = np.array([-1.0, 0.0, 0.5]), np.array([0.2, 0.5, 0.3])

    assert 1 == pytest.approx(
        sum(
            chance * fortune([value], float(values @ chances), -1.0)
            for value, chance in zip(values, chances, strict=True)
        )
    )


@pytest.mark.parametrize(
    ("values", "chances"),
    [
        ([-1.0, 0.0], [0.01, 0.99]),  # few lose everything
        ([-0.5, 0.0], [0.02, 0.98]),
        ([-1.0, 0.05, 0.0], [0.012, 0.04, 0.948]),  # most of those that change gain a little
        ([-1.0, 1.0], [0.505, 0.495]),
    ],
)
@pytest.mark.parametrize("number", [50, 400])
def test_bets_err_in_at_most_5_percent_whatever_the_distribution(values, chances, number):
    draws = 1500
    random = np.random.default_rng(1)
    truth = float(np.dot(values, chances))
    counts = random.multinomial(number, chances, draws)
    wrong = 0
    known: dict[tuple[int, ...], float] = {}
    for row in map(tuple, counts.tolist()):
        known[row] = known.get(row) or betting_bounds(np.repeat(values, row), WHOLE, 0.05)[0]
        wrong += known[row] > truth + 1e-12

    assert wrong / draws <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)


def test_bets_stay_valid_when_queries_are_added_until_the_bound_pleases():
    """Looking after every thirty queries for the moment when the bound is above the true mean of -0.01."""
    draws, wrong = 150, 0
    random = np.random.default_rng(2)
    for _ in range(draws):
        values = random.choice([-1.0, 0.0, 0.02], 600, p=[0.014, 0.786, 0.2])  # mean -0.01
        wrong += any(betting_bounds(values[:seen], WHOLE, 0.05)[0] > -0.01 for seen in range(150, 601, 30))

    assert wrong / draws <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / draws)


def test_neither_order_nor_unit_of_values_matters():
    values = np.array([0.1, -0.2, 0.0, 0.3, 0.0])

    assert betting_bounds(values, WHOLE, 0.05) == betting_bounds(values[::-1], WHOLE, 0.05)
    assert betting_bounds(10 * values, (-10, 10), 0.05) == pytest.approx(
        tuple(10 * end for end in betting_bounds(values, WHOLE, 0.05))
    )
    assert betting_bounds(values, WHOLE, 0.05, np.full(5, 7.0)) == betting_bounds(values, WHOLE, 0.05)


def test_a_query_of_weight_two_counts_for_more_than_one_of_weight_one():
    values = np.array([0.5] * 30 + [0.0] * 30)
    heavy = np.array([2.0] * 30 + [1.0] * 30)

    assert betting_bounds(values, WHOLE, 0.05, heavy)[0] > betting_bounds(values, WHOLE, 0.05, heavy[::-1])[0]


# Student's t


def test_without_skewness_and_outliers_it_is_the_t_interval():
    values = np.array([-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3])
    half = stats.t.ppf(0.95, 6) * stats.sem(values)

    assert (-half, half) == pytest.approx(t_bounds(values, 7, 0.05))


def test_a_long_tail_pulls_the_bound_on_its_side():
    values = np.array([-0.8, *[0.05] * 12, *[0.0] * 12])
    low, high = t_bounds(values, 13, 0.05)
    half = stats.t.ppf(0.95, min(12, 2 * (25 + 13) / (stats.kurtosis(values, fisher=False) - 1))) * stats.sem(values)

    assert low < values.mean() - half - 0.01
    assert high == pytest.approx(values.mean() + half)


def test_few_changes_get_bets_and_many_get_t():
    six, seven = np.zeros(60), np.zeros(60)
    six[:6], seven[:7] = 0.1 * np.arange(1, 7), 0.1 * np.arange(1, 8)

    assert betting_bounds(six, WHOLE, 0.05) == mean_bounds(six, WHOLE, 0.05)
    assert t_bounds(seven, 7, 0.05) == mean_bounds(seven, WHOLE, 0.05)
    assert mean_bounds(six, None, 0.05) is None


# Shares


@pytest.mark.parametrize(("found", "of"), [(0, 50), (1, 50), (50, 10_000), (50, 50), (3, 7)])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_shares_have_exact_bounds(found, of, alpha):
    low, high = share_bounds(found, of, alpha)

    assert (low, high) == pytest.approx(proportion_confint(found, of, 2 * alpha, "beta"), abs=1e-12)
    test = stats.binomtest(found, of).proportion_ci(1 - 2 * alpha, "exact")
    assert (low, high) == pytest.approx((test.low, test.high))


def test_what_a_sample_could_not_show():
    assert most_unseen(50, 0.05) == pytest.approx(share_bounds(0, 50, 0.05)[1])
    assert 299 == fewest_queries(0.01, 0.05)
    assert most_unseen(299, 0.05) < 0.01 < most_unseen(298, 0.05)
