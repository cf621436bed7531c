"""Power: against statsmodels, the textbook, and simulation."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.comparison.power import detectable_difference, power_of_t, queries_needed
from assay.comparison.significance import significance_of
from assay.errors import AssayError


@settings(max_examples=40)
@given(st.floats(0.02, 2), st.integers(3, 400), st.sampled_from([0.01, 0.05, 0.1]))
def test_power_is_statsmodels(effect, queries, alpha):
    from statsmodels.stats.power import TTestPower

    expected = TTestPower().power(effect, queries, alpha)
    assume(not math.isnan(expected))  # SciPy's noncentral t is NaN in some far tails; ours is not

    assert expected == pytest.approx(power_of_t(effect, 1.0, queries, alpha), rel=1e-5, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(4, 500), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_smallest_difference_is_statsmodels(queries, power):
    from statsmodels.stats.power import TTestPower

    expected = TTestPower().solve_power(None, queries, 0.05, power)

    assert expected == pytest.approx(
        detectable_difference(1.0, queries, power), rel=1e-4
    )  # the precision of its search


@pytest.mark.parametrize(("effect", "expected"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_textbook_for_small_medium_and_large_effects(effect, expected):
    # G*Power, t test of matched pairs, two-sided, alpha 0.05, power 0.8
    assert expected == queries_needed(effect, 1.0)


def test_power_is_how_often_the_test_finds_it():
    rng = np.random.default_rng(1)
    samples = rng.normal(0.05, 0.1, (30, 4_000))
    table = np.column_stack((samples, np.zeros(30)))
    found = (significance_of(table, [(draw, 4_000) for draw in range(4_000)]).p < 0.05).mean()

    assert power_of_t(0.05, 0.1, 30) == pytest.approx(found, abs=4 * math.sqrt(0.19 / 4_000))


@given(st.floats(0.001, 1), st.floats(0.01, 1))
def test_as_many_as_needed_are_enough_and_one_fewer_is_not(difference, deviation):
    needed = queries_needed(difference, deviation)

    assert power_of_t(difference, deviation, needed) >= 0.8
    assert needed == 2 or power_of_t(difference, deviation, needed - 1) < 0.8


@given(st.integers(2, 2_000), st.floats(0.01, 10))
def test_the_smallest_difference_has_just_the_power(queries, deviation):
    smallest = detectable_difference(deviation, queries)

    assert 0.8 == pytest.approx(power_of_t(smallest, deviation, queries), abs=1e-6)


@given(st.integers(2, 500), st.floats(0.01, 10))
def test_it_grows_with_the_deviation(queries, deviation):
    assert 2 * detectable_difference(deviation, queries) == pytest.approx(detectable_difference(2 * deviation, queries))


def test_more_queries_show_smaller_differences():
    smallest = [detectable_difference(0.1, queries) for queries in (5, 10, 50, 500, 5_000, 100_000, 200_000)]

    assert sorted(smallest, reverse=True) == smallest
    # with many queries: (1.96 + 0.84) standard errors
    assert 2.8016 * 0.1 / math.sqrt(200_000) == pytest.approx(smallest[-1], rel=1e-4)


@pytest.mark.parametrize("queries", [10**6, 10**8])
def test_with_very_many_queries_it_is_the_normal_distribution(queries):
    from scipy import stats

    centre = 2.5
    expected = stats.norm.sf(1.959964 - centre) + stats.norm.cdf(-1.959964 - centre)

    assert expected == pytest.approx(power_of_t(centre / math.sqrt(queries), 1, queries), abs=1e-5)


def test_without_a_difference_power_is_alpha():
    assert 0.05 == pytest.approx(power_of_t(0.0, 0.1, 50))
    assert 0.01 == pytest.approx(power_of_t(0.0, 0.1, 50, alpha=0.01))


def test_the_sign_of_a_difference_does_not_matter():
    assert power_of_t(0.05, 0.1, 50) == power_of_t(-0.05, 0.1, 50)
    assert queries_needed(0.05, 0.1) == queries_needed(-0.05, 0.1)


def test_a_huge_difference_is_always_found():
    assert 1.0 == pytest.approx(power_of_t(1_000.0, 0.1, 50))
    assert 2 <= queries_needed(1e9, 0.1)


@pytest.mark.parametrize("queries", [0, 1])
def test_fewer_than_two_queries_show_nothing(queries):
    assert math.inf == detectable_difference(0.1, queries)
    assert 0.0 == power_of_t(0.5, 0.1, queries)


@pytest.mark.parametrize("deviation", [0, -1.0, math.nan, math.inf])
def test_without_spread_there_is_nothing_to_plan(deviation):
    message = (
        f"deviation cannot be {deviation!r}; it takes a number greater than 0. Without spread there is nothing to plan."
    )
    for refuses in (
        lambda: detectable_difference(deviation, 50),
        lambda: queries_needed(0.02, deviation),
        lambda: power_of_t(0.02, deviation, 50),
    ):
        with pytest.raises(AssayError) as refused:
            refuses()
        assert message == str(refused.value)


@pytest.mark.parametrize("share", [0, 1, 80, math.nan])
def test_power_and_alpha_are_shares(share):
    with pytest.raises(AssayError, match=f"power cannot be {share!r}; it takes a number between 0 and 1."):
        detectable_difference(0.1, 50, power=share)
    with pytest.raises(AssayError, match=f"alpha cannot be {share!r}; it takes a number between 0 and 1."):
        queries_needed(0.1, 0.1, alpha=share)


def test_power_under_alpha_asks_for_nothing():
    with pytest.raises(AssayError) as refused:
        detectable_difference(0.1, 50, power=0.05)

    assert "power 0.05 is not greater than alpha 0.05, which chance alone reaches." == str(refused.value)


@pytest.mark.parametrize("difference", [0, 0.0, math.nan, math.inf])
def test_a_difference_that_no_queries_show(difference):
    with pytest.raises(AssayError) as refused:
        queries_needed(difference, 0.1)

    assert f"difference cannot be {difference!r}: no number of queries would detect it. Give one such as 0.02." == str(
        refused.value
    )


def test_a_difference_that_would_need_too_many():
    with pytest.raises(AssayError) as refused:
        queries_needed(1e-9, 0.1)

    assert "a difference of 1e-09 needs more than 1,000,000,000 queries; give a larger one." == str(refused.value)


def test_the_smallest_difference_of_many_pairs_takes_no_time():
    """The search depends only on the number of queries; one for each of a thousand pairs would take half a minute."""
    began = time.perf_counter()
    found = [detectable_difference(0.1 * (1 + number), 77) for number in range(1000)]

    assert time.perf_counter() - began < 2
    assert found[1] == pytest.approx(2 * found[0])


@pytest.mark.parametrize("power", [0.06, 0.3, 0.8, 0.999])
@pytest.mark.parametrize("effect", [3.0, 1.0, 0.2, 0.01])
def test_the_search_ends_at_the_fewest_queries_wherever_it_begins(effect, power):
    found = queries_needed(effect, 1.0, power)

    assert power_of_t(effect, 1.0, found) >= power
    assert found == 2 or power_of_t(effect, 1.0, found - 1) < power
