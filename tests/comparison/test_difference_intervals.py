"""Intervals of differences, by resampling, and simultaneous ones: against SciPy and the tests, and edge cases."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.comparison.comparing import compare_scores
from assay.comparison.intervals import (
    bca_intervals,
    mean_interval,
    percentile_intervals,
)
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.resampling import resampled_means
from assay.comparison.significance import significance_of
from assay.errors import AssayError

VALUES = st.lists(st.integers(-64, 64).map(lambda step: step / 64), min_size=3, max_size=40).map(np.array)
BOOTSTRAPS = {"percentile": percentile_intervals, "bca": bca_intervals}


def one(name, values, *given_, **options):
    return BOOTSTRAPS[name](np.asarray(values, float)[:, None], *given_, **options)[0]


# Differences.


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=40).map(np.array))
def test_it_is_scipys_interval_of_the_paired_test(values):
    from scipy import stats

    first, second = values.T
    assume(np.ptp(first - second) > 1e-6)
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)

    assert tuple(expected) == pytest.approx(mean_interval(first - second), rel=1e-7, abs=1e-12)


@given(VALUES)
def test_it_leaves_out_zero_where_the_t_test_is_significant(values):
    zeros = np.zeros(len(values))
    assume(np.ptp(values) > 0)
    p = significance_of(np.column_stack((values, zeros)), [(0, 1)]).p[0]
    assume(abs(p - 0.05) > 1e-9)
    low, high = mean_interval(values - zeros)

    assert (p < 0.05) == (low > 0 or high < 0)


@given(VALUES)
def test_swapping_turns_it_about_zero(values):
    other = values[::-1].copy()
    low, high = mean_interval(values - other)
    turned = mean_interval(other - values)

    assert (-high, -low) == pytest.approx(turned)


def test_queries_that_one_lacks_are_left_out():
    first = np.array([0.5, math.nan, 0.8, 0.9])
    second = np.array([0.3, 0.2, 0.4, 0.3])

    assert mean_interval(first[[0, 2, 3]] - second[[0, 2, 3]]) == mean_interval(first - second)


def test_a_system_against_itself_differs_by_nothing():
    values = np.random.default_rng(1).random(20)

    assert (0.0, 0.0) == mean_interval(values - values)


def test_one_query_has_none():
    assert mean_interval(np.array([0.5]) - np.array([0.3])) is None


# Resampling.


@pytest.mark.parametrize("name", ["percentile", "bca"])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
@given(seed=st.integers(0, 10**6), count=st.integers(15, 40))
def test_from_the_same_resamples_it_is_scipys(name, confidence, seed, count):
    from scipy import stats

    values = np.random.default_rng(seed).random(count)  # almost no two resampled means are equal
    means = resampled_means(values[:, None], 300, seed=1)[0]
    drawn = SimpleNamespace(bootstrap_distribution=means)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=0, bootstrap_result=drawn, confidence_level=confidence, method=name
    ).confidence_interval

    assert tuple(expected) == pytest.approx(one(name, values, confidence, draws=300), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_another_draw_of_scipys_is_close(name):
    from scipy import stats

    values = np.random.default_rng(2).gamma(1, 0.2, 60)
    expected = stats.bootstrap((values,), np.mean, n_resamples=20_000, method=name, rng=np.random.default_rng(0))

    assert tuple(expected.confidence_interval) == pytest.approx(one(name, values, draws=20_000), abs=0.003)


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_with_many_values_it_is_the_t_interval(name):
    values = np.random.default_rng(3).random(2_000)

    assert mean_interval(values) == pytest.approx(one(name, values, draws=5_000), abs=0.001)


def test_bca_leans_to_the_long_tail():
    values = np.random.default_rng(4).exponential(1, 30)
    percentile, bca = one("percentile", values), one("bca", values)

    assert bca[0] > percentile[0]
    assert bca[1] > percentile[1]


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_more_confidence_is_wider(name):
    values = np.random.default_rng(5).random(30)
    narrow, wide = one(name, values, 0.8), one(name, values, 0.99)

    assert wide[0] < narrow[0] < values.mean() < narrow[1] < wide[1]


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_the_seed_decides(name):
    values = np.random.default_rng(6).random(30)

    assert one(name, values, seed=1, draws=500) == one(name, values, seed=1, draws=500)
    assert one(name, values, seed=1, draws=500) != one(name, values, seed=2, draws=500)


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_shift_and_scale_move_it_along(name):
    values = np.random.default_rng(7).random(30)
    low, high = one(name, values, draws=500)

    assert (3 * low + 1, 3 * high + 1) == pytest.approx(one(name, 3 * values + 1, draws=500))


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_a_column_does_not_hang_on_the_others(name):
    columns = np.random.default_rng(8).random((25, 300))  # more than are resampled at once
    found = BOOTSTRAPS[name](columns, draws=200)

    assert 300 == len(found)
    for number in (0, 137, 299):
        assert one(name, columns[:, number], draws=200) == pytest.approx(found[number], rel=1e-12)


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_what_is_no_number_is_left_out_of_its_column(name):
    columns = np.random.default_rng(9).random((25, 3))
    columns[4, 1] = columns[7, 1] = math.nan
    found = BOOTSTRAPS[name](columns, draws=200)

    assert one(name, np.delete(columns[:, 1], [4, 7]), draws=200) == pytest.approx(found[1], rel=1e-12)
    assert one(name, columns[:, 0], draws=200) == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize("name", ["percentile", "bca"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, -2.5])
def test_equal_values_have_no_width(name, value):
    assert (value, value) == one(name, np.full(10, value), draws=100)


@pytest.mark.parametrize("name", ["percentile", "bca"])
@pytest.mark.parametrize("values", [[], [0.5], [math.nan, math.nan], [math.nan, 0.5]])
def test_fewer_than_two_values_have_none(name, values):
    assert one(name, values, draws=100) is None


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_two_values(name):
    low, high = one(name, [0.0, 1.0], draws=1_000)

    assert 0.0 <= low <= high <= 1.0


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_no_column(name):
    assert [] == BOOTSTRAPS[name](np.zeros((10, 0)))


@pytest.mark.parametrize("name", ["percentile", "bca"])
def test_what_cannot_be_asked_for(name):
    with pytest.raises(AssayError) as refused:
        one(name, [0.1, 0.2], draws=0)
    assert "draws cannot be 0; it takes a whole number, 1 or more, such as 10000." == str(refused.value)

    with pytest.raises(AssayError) as refused:
        one(name, [0.1, 0.2], 95)
    assert "confidence cannot be 95; it takes a number between 0 and 1, such as 0.95." == str(refused.value)


def test_means_of_resamples_are_those_of_the_plain_loop():
    columns = np.random.default_rng(10).random((7, 40))  # more columns than one tile
    means = resampled_means(columns, 300, seed=5)

    assert (40, 300) == means.shape
    assert columns.mean(axis=0).tolist() == pytest.approx(means.mean(axis=1).tolist(), abs=0.05)
    assert (means >= columns.min(axis=0)[:, None] - 1e-12).all()
    assert (means <= columns.max(axis=0)[:, None] + 1e-12).all()


# Simultaneous intervals (Bonferroni: Dunn 1961).


def simultaneous_intervals(columns):
    """The intervals of these differences in one comparison: each column is a system, and the baseline has 0 everywhere."""
    systems = ("baseline", *(str(number) for number in range(columns.shape[1])))
    values = np.column_stack((np.zeros(len(columns)), columns))[None]
    scores = SystemScores(systems, tuple(map(str, range(len(columns)))), ("AP",), values)
    return [pair.interval for pair in compare_scores(scores, Study(simultaneous=True), moves=0).pairs]


def test_ten_intervals_have_a_tenth_of_the_error_each():
    columns = np.random.default_rng(11).random((30, 10))

    expected = [mean_interval(column, 0.995) for column in columns.T]

    assert np.ravel(expected).tolist() == pytest.approx(np.ravel(simultaneous_intervals(columns)).tolist())


def test_one_interval_is_as_it_was():
    column = np.random.default_rng(12).random(30)

    assert mean_interval(column) == pytest.approx(simultaneous_intervals(column[:, None])[0])


def test_together_they_hold_more_often_than_alone():
    rng = np.random.default_rng(13)
    alone = together = 0
    for _ in range(300):
        columns = rng.standard_normal((20, 10))
        alone += all(low <= 0 <= high for low, high in map(mean_interval, columns.T))
        together += all(low <= 0 <= high for low, high in simultaneous_intervals(columns))

    assert alone < 0.8 * 300
    assert together > 0.91 * 300


def test_simultaneous_at_the_edges():
    columns = np.column_stack((np.full(5, 0.3), np.full(5, math.nan)))

    assert [None, None] == simultaneous_intervals(columns)
