"""The weighted mean: by hand, against other formulas, and what must hold for all weights."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from assay.comparison.intervals import mean_interval
from assay.errors import InputError, QuerySetError
from assay.weighting.estimating import weighted_mean
from assay.weighting.weights import QueryWeights


def named(count):
    return tuple(f"q{number}" for number in range(count))


def estimate(values, weights, probability=None, strata=None, confidence=0.95):
    queries = named(len(values))
    chance = None if probability is None else np.array(probability, float)
    given_weights = QueryWeights(queries, np.array(weights, float), chance, strata)
    return weighted_mean(given_weights, queries, np.array(values, float), confidence)


# By hand


def test_a_small_case_by_hand():
    """Weights 2, 1, 1 and values 1, 0.5, 0: the mean is 2.5 / 4. Influences 0.75, -0.125, -0.625: squares 0.96875.

    The divisor is 4^2 - 6 = 10, and the degrees of freedom are 16 / 6 - 1.
    """
    found = estimate([1, 0.5, 0], [2, 1, 1])

    assert 0.625 == found.mean
    assert math.sqrt(0.96875 / 10) == pytest.approx(found.error, rel=1e-12)
    assert (16 / 6 - 1, 16 / 6) == pytest.approx((found.degrees, found.effective), rel=1e-12)
    half = stats.t.ppf(0.975, 16 / 6 - 1) * found.error
    assert (0.625 - half, 0.625 + half) == pytest.approx(found.interval, rel=1e-9)


def test_a_stratified_sample_by_hand():
    """A certain query with 60 searches, and 2 of 4 queries with 10 each: the tail's weight is 20 for each.

    The mean is (60 x 1 + 20 x 0.5 + 20 x 0) / 100. The tail has 40% of the traffic, its values a variance of 0.125: the
    textbook variance of its mean is (1 - 2/4) x 0.125 / 2.
    """
    found = estimate([1, 0.5, 0], [60, 20, 20], [1, 0.5, 0.5], ("head", "tail", "tail"))

    assert 0.7 == pytest.approx(found.mean, rel=1e-15)
    assert 0.4 * math.sqrt(0.5 * 0.125 / 2) == pytest.approx(found.error, rel=1e-12)
    assert 1 == pytest.approx(found.degrees)


def test_unequal_chances_in_fractions():
    weights = [Fraction(7), Fraction(3), Fraction(5), Fraction(2), Fraction(4)]
    values = [Fraction(1), Fraction(1, 2), Fraction(0), Fraction(1, 4), Fraction(1)]
    chances = [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(3, 4)]
    strata = ("a", "a", "a", "b", "b")
    total = sum(weights)
    mean = sum(w * y for w, y in zip(weights, values, strict=True)) / total
    z = [w * (y - mean) / total for w, y in zip(weights, values, strict=True)]
    variance = Fraction(0)
    for members in ([1, 2], [3, 4]):  # the first is certain
        left = {k: 1 - chances[k] for k in members}
        share = {k: left[k] / sum(left.values()) for k in members}
        middle = sum(share[k] * z[k] for k in members)
        within = sum(left[k] * (z[k] - middle) ** 2 for k in members)
        variance += within / (1 - sum(each**2 for each in share.values()))

    found = estimate(list(map(float, values)), list(map(float, weights)), list(map(float, chances)), strata)

    assert float(mean) == pytest.approx(found.mean, rel=1e-14)
    assert math.sqrt(variance) == pytest.approx(found.error, rel=1e-12)


def test_over_all_samples_of_a_small_log_mean_and_variance_are_right_on_average():
    """Two strata with equal counts within: 2 of 4 queries asked 5 times, 2 of 5 asked twice. 60 samples are possible."""
    counts, values = [5] * 4 + [2] * 5, [1.0, 0.2, 0.5, 0.9, 0.0, 0.1, 0.7, 0.3, 0.4]
    truth = sum(c * y for c, y in zip(counts, values, strict=True)) / sum(counts)
    found = []
    for first, second in product(combinations(range(4), 2), combinations(range(4, 9), 2)):
        chosen, chance = (*first, *second), [2 / 4] * 2 + [2 / 5] * 2
        weights = [counts[place] / p for place, p in zip(chosen, chance, strict=True)]
        found.append(estimate([values[place] for place in chosen], weights, chance, ("a", "a", "b", "b")))
    means = np.array([one.mean for one in found])

    assert 60 == len(found)
    assert truth == pytest.approx(means.mean(), rel=1e-12)
    assert means.var() == pytest.approx(np.mean([one.error**2 for one in found]), rel=1e-12)


def test_the_weighted_mean_is_that_of_statsmodels():
    random = np.random.default_rng(1)
    values, weights = random.random(50), random.pareto(1, 50) + 0.1

    assert DescrStatsW(values, weights).mean == pytest.approx(estimate(values, weights).mean, rel=1e-12)


def test_a_stratum_with_one_query_left_to_chance_joins_its_neighbour():
    together = estimate([1, 0.5, 0, 0.2], [4, 3, 5, 5], [1, 0.6, 0.5, 0.5], ("head", "torso", "tail", "tail"))
    joined = estimate([1, 0.5, 0, 0.2], [4, 3, 5, 5], [1, 0.6, 0.5, 0.5], ("head", "tail", "tail", "tail"))

    assert joined.error == together.error


def test_one_query_left_to_chance_has_an_unknown_error():
    found = estimate([1, 0.5], [4, 3], [1, 0.6])

    assert (None, None, None) == (found.interval, found.error, found.degrees)


def test_without_any_value_there_is_no_mean():
    found = estimate([math.nan, math.nan], [1, 2])

    assert math.isnan(found.mean)
    assert (None, 0, 0.0) == (found.interval, found.queries, found.effective)


def test_an_undefined_value_makes_the_others_a_subset_of_the_sample():
    """2 of 4 tail queries are drawn, and one is undefined: how many are defined is left to chance, too."""
    strata, chances = ("head", "tail", "tail", "tail"), [1, 0.5, 0.5, 0.5]
    found = estimate([1, 0.5, 0, math.nan], [6, 2, 2, 2], chances, strata)
    mean = (6 + 1) / 10
    z = np.array([2 * (0.5 - mean), 2 * (0 - mean), 0]) / 10

    assert mean == pytest.approx(found.mean, rel=1e-12)
    assert math.sqrt(0.5 * 3 * z.var(ddof=1)) == pytest.approx(found.error, rel=1e-12)
    assert 3 == found.queries


# For all weights

values_of_queries = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@given(values_of_queries, st.floats(1e-3, 1e6), st.sampled_from([0.8, 0.95]))
def test_equal_weights_give_the_plain_mean_and_students_interval_to_the_last_bit(values, weight, confidence):
    found = estimate(values, [weight] * len(values), confidence=confidence)

    assert mean_interval(np.array(values), confidence) == found.interval
    if min(values) < max(values):
        assert math.fsum(values) / len(values) == found.mean
        assert len(values) - 1 == found.degrees
    assert len(values) == found.effective


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=3, max_size=20), st.floats(1e-6, 1e6))
def test_scaling_all_weights_changes_nothing(pairs, factor):
    values, weights = zip(*pairs, strict=True)
    one, other = estimate(values, weights), estimate(values, [factor * weight for weight in weights])

    assert one.mean == pytest.approx(other.mean, rel=1e-12, abs=1e-15)
    assert one.effective == pytest.approx(other.effective, rel=1e-9)
    assert (one.error is None) == (other.error is None)
    if one.error is not None:
        assert one.error == pytest.approx(other.error, rel=1e-9, abs=1e-15)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=1, max_size=20))
def test_a_sample_of_everything_has_no_error(pairs):
    values, weights = zip(*pairs, strict=True)
    found = estimate(values, weights, [1] * len(values))

    assert 0 == found.error
    assert (found.mean, found.mean) == found.interval


@given(st.permutations(range(6)))
def test_the_order_of_queries_changes_nothing(order):
    weights = QueryWeights(
        named(6), np.array([5.0, 4, 3, 3, 2, 2]), np.array([1, 0.8, 0.5, 0.5, 0.2, 0.2]), tuple("aabbcc")
    )
    queries, values = named(6), np.array([0.1, 0.9, 0.4, 0.5, 0.0, 1.0])
    shuffled = [queries[place] for place in order]

    assert weighted_mean(weights, queries, values) == weighted_mean(weights, shuffled, values[order])


@given(values_of_queries)
def test_the_mean_lies_between_the_values(values):
    found = estimate(values, [2.0**number for number in range(len(values))])

    assert min(values) <= found.mean <= max(values)


# Weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 0], "w.tsv: the weight of query q1 is 0; it takes a number greater than 0. Fix or remove it."),
        (
            [-1, -2],
            "w.tsv: the weight of query q0 is -1 (2 like it); it takes a number greater than 0. Fix or remove it.",
        ),
        ([1, math.nan], "w.tsv: the weight of query q1 is nan; it takes a number greater than 0. Fix or remove it."),
        ([math.inf, 1], "w.tsv: the weight of query q0 is inf; it takes a number greater than 0. Fix or remove it."),
    ],
)
def test_weights_that_are_none(weights, message):
    with pytest.raises(InputError) as raised:
        QueryWeights(named(2), np.array(weights, float), source="w.tsv")

    assert message == str(raised.value)


def test_a_probability_is_at_most_1():
    with pytest.raises(
        InputError, match=r"the probability of query q1 is 1.5; it takes a number greater than 0 and at most"
    ):
        QueryWeights(named(2), np.ones(2), np.array([1, 1.5]))


def test_a_query_has_one_weight():
    with pytest.raises(InputError, match=r"w\.tsv:4: query a appears twice"):
        QueryWeights(("a", "a"), np.ones(2), source="w.tsv", lines=[2, 4])


def test_every_judged_query_needs_a_weight():
    weights = QueryWeights(("a", "b"), np.ones(2), source="w.tsv")
    weights.refuse_lacking(["b", "a"])

    with pytest.raises(QuerySetError) as raised:
        weights.refuse_lacking(["a", "x", "y"])

    assert str(raised.value) == (
        "w.tsv: 2 of 3 judged queries have no weight (x, y). Add them, or leave these queries out of the judgments."
    )


def test_weights_for_other_ids():
    with pytest.raises(QuerySetError, match=r"w.tsv: 2 of 2 judged .* The weights are for a, b: other query ids\?"):
        QueryWeights(("a", "b"), np.ones(2), source="w.tsv").refuse_lacking(["x", "y"])


def test_few_queries_that_dominate():
    skewed = QueryWeights(named(20), np.array([30.0, 20, *[1] * 18]))
    even = QueryWeights(named(20), np.ones(20))

    assert 2 == skewed.dominant(named(20))
    assert 0 == even.dominant(named(20))


@pytest.mark.parametrize("scale", [1e308, 1.0, 1e-300])
def test_only_the_ratios_of_weights_count_however_large_they_are(scale):
    weights = QueryWeights(tuple("abcdef"), np.array([1.0, 1, 0.5, 0.5, 0.5, 0.5]) * scale)

    assert 16 / 3 == pytest.approx(weights.effective("abcdef"))
    assert 4.0 == weights.effective("cdef")
    assert 0.25 == weights.share_of("a")
    assert 0 == weights.dominant("abcdef")
