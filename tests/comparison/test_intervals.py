"""Intervals of means: against SciPy, and edge cases."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.comparison.intervals import mean_interval, t_quantile
from assay.errors import AssayError

VALUES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=60)


def test_three_values_by_hand():
    # mean 0.4, standard deviation 0.2, standard error 0.2 / sqrt(3); t for 2 degrees of freedom is 4.3027
    low, high = mean_interval(np.array([0.2, 0.4, 0.6]))

    assert 0.4 - 4.3027 * 0.2 / math.sqrt(3) == pytest.approx(low, abs=1e-4)
    assert 0.4 + 4.3027 * 0.2 / math.sqrt(3) == pytest.approx(high, abs=1e-4)


@given(VALUES, st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_it_is_scipys_interval(values, confidence):
    from scipy import stats

    found = mean_interval(np.array(values), confidence)
    error = stats.sem(values)
    if error < 1e-9:  # SciPy gives nan if all values are equal
        assert found[1] - found[0] < 1e-6
    else:
        expected = stats.t.interval(confidence, len(values) - 1, loc=np.mean(values), scale=error)
        assert expected == pytest.approx(found, rel=1e-9, abs=1e-12)


@given(VALUES)
def test_it_holds_the_mean_in_its_middle(values):
    low, high = mean_interval(np.array(values))
    middle = math.fsum(values) / len(values)

    assert low <= middle + 1e-12
    assert middle - 1e-12 <= high
    assert middle == pytest.approx((low + high) / 2, abs=1e-9)


@given(VALUES)
def test_more_confidence_is_wider(values):
    narrow, wide = mean_interval(np.array(values), 0.8), mean_interval(np.array(values), 0.99)

    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


def test_the_order_of_values_changes_no_bit():
    values = np.random.default_rng(1).random(500)

    assert mean_interval(values) == mean_interval(values[::-1])
    assert mean_interval(values) == mean_interval(np.sort(values))


@pytest.mark.parametrize("values", [[], [0.5], [math.nan], [math.nan, 0.5, math.nan]])
def test_fewer_than_two_values_have_none(values):
    assert mean_interval(np.array(values, float)) is None


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1.0, -2.5])
@pytest.mark.parametrize("count", [2, 3, 10, 1000])
def test_equal_values_have_no_width(value, count):
    assert (value, value) == mean_interval(np.full(count, value))


def test_what_is_no_number_is_left_out():
    values = np.array([0.1, math.nan, 0.5, 0.9, math.nan])

    assert mean_interval(np.array([0.1, 0.5, 0.9])) == mean_interval(values)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, math.nan])
def test_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(AssayError) as refused:
        mean_interval(np.array([0.1, 0.2]), confidence)

    assert f"confidence cannot be {confidence!r}; it takes a number between 0 and 1, such as 0.95." == str(
        refused.value
    )


@pytest.mark.parametrize(
    ("degrees", "expected"), [(1, 12.7062), (2, 4.3027), (10, 2.2281), (30, 2.0423), (6979, 1.9603)]
)
def test_the_table_in_every_textbook(degrees, expected):
    assert expected == pytest.approx(t_quantile(degrees, 0.975), abs=5e-5)


def test_neither_scipy_nor_its_statistics_are_loaded_before_they_are_needed():
    code = (
        "import sys, numpy, assay.comparison.intervals as i; print('scipy' in sys.modules); "
        "i.mean_interval(numpy.array([1.0, 2.0])); print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ["False", "False"] == done.stdout.split()


def test_bias_is_bounded_where_every_resample_is_above_the_mean() -> None:
    """As if half a resample were below it: the normal quantile of 0 is not finite. Symmetric values have no skewness."""
    from scipy.special import ndtr, ndtri

    from assay.comparison.intervals import _bca_quantiles

    low, high = _bca_quantiles(np.array([-1.0, 0.0, 1.0]), np.full(100, 0.5), 0.95)
    bias = ndtri(0.005)

    assert (ndtr(2 * bias + ndtri(0.025)), ndtr(2 * bias + ndtri(0.975))) == pytest.approx((low, high), abs=1e-12)
