"""Decisions from values: against SciPy and statsmodels, and edge cases."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from assay.errors import AssayError
from assay.gate.deciding import decide_rule, worst
from assay.gate.grammar import parse_rule
from assay.gate.settling import queries_to_settle


def decided(rule, baseline, candidate, alpha=0.05):
    return decide_rule(parse_rule(rule), np.array(baseline, float), np.array(candidate, float), alpha)


def drawn(seed, count, shift=0.0, spread=0.1):
    random = np.random.default_rng(seed)
    baseline = random.uniform(0.2, 0.8, count)
    return baseline, baseline + random.normal(shift, spread, count)


# By hand

BEFORE = [0.40, 0.50, 0.30, 0.60, 0.20, 0.70, 0.55, 0.35]
GAINED = [0.45, 0.65, 0.55, 0.95, 0.30, 1.00, 0.70, 0.35]  # by 0.05, 0.15, 0.25, 0.35, 0.1, 0.3, 0.15 and 0


def test_a_small_case_by_hand():
    """Differences of mean 0.1688, standard deviation 0.1223, error 0.0432, skewed to the right; t of 7 - 1 degrees 1.9432."""
    found = decided("AP >= 0.07", BEFORE, GAINED)

    assert ("pass", "t", 8, 7, 1, 0) == (
        found.status, found.method, found.queries, found.wins, found.ties, found.losses
    )  # fmt: skip
    assert [0.45, 0.6188, 0.1688, 0.07] == pytest.approx(
        [found.baseline_mean, found.candidate_mean, found.difference, found.margin], abs=1e-4
    )
    assert [0.16875 - 1.9432 * 0.04324, 0.16875 + 2.0527 * 0.04324] == pytest.approx(
        [found.lower, found.upper], abs=1e-4
    )
    assert "the lower bound +0.0847 is at or above the margin +0.07" == found.words
    assert (None, None) == (found.needed, found.needed_for)


def test_the_same_the_other_way_round_fails():
    found = decided("AP >= 0", GAINED, BEFORE)

    assert ("fail", "the upper bound -0.0847 is below the margin 0") == (found.status, found.words)


def test_a_margin_between_the_bounds_is_inconclusive_and_says_how_many_queries_would_do():
    found = decided("AP >= 0.15", BEFORE, GAINED)

    assert ("inconclusive", "pass") == (found.status, found.needed_for)
    assert (
        f"the margin +0.15 is between the bounds +0.0847 and +0.2575; {found.needed} queries would settle it as pass "
        "(80% power) if difference and spread stay as on these 8" == found.words
    )


def test_of_what_less_is_better_the_upper_bound_decides():
    """The same differences, read from the other side."""
    kept = decided("Unjudged@10 <= 0.3", BEFORE, GAINED)
    broken = decided("Unjudged@10 <= 0", BEFORE, GAINED)
    open_ = decided("Unjudged@10 <= 0.2000", BEFORE, GAINED)

    assert ("pass", "the upper bound +0.2575 is at or below the margin +0.3") == (kept.status, kept.words)
    assert ("fail", "the lower bound +0.0847 is above the margin 0") == (broken.status, broken.words)
    assert ("inconclusive", "pass") == (open_.status, open_.needed_for)
    assert kept.lower < kept.difference < kept.upper


# Against SciPy


def lower_bound(values, changed, alpha):
    """Student's t with Hall's correction, from SciPy's moments."""
    number, skewness = len(values), min(stats.skew(values, bias=False), 0)
    degrees = min(changed - 1, 2 * (number + changed) / (stats.kurtosis(values, fisher=False) - 1))
    quantile = stats.t.ppf(1 - alpha, degrees)
    if skewness:
        inner = 1 + skewness * (quantile / number**0.5 - skewness / 6 / number)
        quantile = 3 * number**0.5 * (np.cbrt(inner) - 1) / skewness
    return values.mean() - quantile * stats.sem(values)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.2])
def test_bounds_are_those_of_the_t_test_corrected_for_skewness(seed, alpha):
    baseline, candidate = drawn(seed, 7 + 7 * seed, shift=0.01 * (seed - 6))
    found = decided("AP >= -0.01", baseline, candidate, alpha)
    difference = candidate - baseline

    assert found.lower == pytest.approx(lower_bound(difference, len(difference), alpha), abs=1e-9)
    assert found.upper == pytest.approx(-lower_bound(-difference, len(difference), alpha), abs=1e-9)
    expected = "pass" if found.lower >= -0.01 else "fail" if found.upper < -0.01 else "inconclusive"
    assert expected == found.status


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_never_tighter_than_those_of_the_t_test_and_close_to_them(seed):
    baseline, candidate = drawn(seed, 100)
    found = decided("AP >= -0.01", baseline, candidate)
    low, high = stats.ttest_1samp(candidate - baseline, 0).confidence_interval(0.9)

    assert found.lower <= low + 1e-12
    assert found.upper >= high - 1e-12
    assert found.upper - found.lower <= 1.1 * (high - low)


@pytest.mark.parametrize("seed", range(6))
def test_a_relative_margin_is_a_share_of_the_baseline_query_by_query(seed):
    """Candidate - 0.95 baseline: the uncertainty of the baseline's mean counts too."""
    baseline, candidate = drawn(seed, 40, shift=-0.02)
    found = decided("AP >= -5%", baseline, candidate)

    slack = lower_bound(candidate - 0.95 * baseline, len(baseline), 0.05)

    assert -0.05 * baseline.mean() == pytest.approx(found.margin)
    assert found.lower - found.margin == pytest.approx(slack, abs=1e-9)
    assert (slack >= 0) == (found.status == "pass")


def test_on_real_data_a_rule_errs_as_often_as_it_says(shared_data):
    """Queries drawn from two TREC systems whose difference is exactly the margin: either decision is wrong in 5 %."""
    random, found = np.random.default_rng(1), []
    for path in sorted((shared_data / "statistics" / "urbano2019").glob("*.csv")):
        values = np.loadtxt(path, delimiter=",", skiprows=1)
        for _ in range(250):
            one, other = values.T[random.choice(values.shape[1], 2, replace=False)]
            drawn_again = random.integers(0, len(one), 50)
            rule = parse_rule(f"DCG >= {np.mean(other - one):.17f}")  # a measure without bounds takes any margin
            found.append(decide_rule(rule, one[drawn_again], other[drawn_again]).status)

    error = math.sqrt(0.05 * 0.95 / len(found))
    assert 0.05 == pytest.approx(found.count("pass") / len(found), abs=0.005 + 2 * error)
    assert 0.05 == pytest.approx(found.count("fail") / len(found), abs=0.005 + 2 * error)


# How many queries


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.25])
def test_the_number_of_queries_is_the_smallest_with_80_percent_power(seed, alpha):
    baseline, candidate = drawn(seed, 30, shift=0.004 * (seed - 4))
    found = decided("AP >= 0.0013", baseline, candidate, alpha)
    difference = candidate - baseline
    effect = abs(difference.mean() - 0.0013) / difference.std(ddof=1)

    if found.status != "inconclusive":
        assert found.needed is None
        return
    enough, one_less = (
        TTestPower().power(effect, count, alpha, alternative="larger") for count in (found.needed, found.needed - 1)
    )

    assert one_less < 0.8 <= enough
    assert ("pass" if difference.mean() > 0.0013 else "fail") == found.needed_for


@pytest.mark.parametrize("effect", [300.0, 3.0, 1.0, 0.5, 0.1, 0.02, 0.0061, 0.0058])
@pytest.mark.parametrize("alpha", [0.05, 0.001, 0.25])
def test_the_number_is_right_for_large_and_small_effects(effect, alpha):
    """0.0061 and 0.0058 are on either side of the switch to the normal distribution at 5 %."""
    needed = queries_to_settle(effect, alpha)
    power = [TTestPower().power(effect, count, alpha, alternative="larger") for count in (needed, needed - 1)]

    assert 0.8 <= power[0] + 1e-12
    assert needed == 2 or power[1] < 0.8


def test_so_many_queries_do_settle_it_in_80_of_100_cases():
    """Simulated with the observed difference and spread."""
    baseline, candidate = drawn(3, 40, shift=0.01)
    found = decided("AP >= -0.01", baseline, candidate)
    assert "inconclusive" == found.status
    difference = candidate - baseline
    random = np.random.default_rng(1)
    draws = 1000

    zero = np.zeros(found.needed)
    again = random.normal(difference.mean(), difference.std(ddof=1), (draws, found.needed))
    passed = sum(decide_rule(found.rule, zero, values).status == "pass" for values in again)

    assert 0.8 == pytest.approx(passed / draws, abs=4 * math.sqrt(0.8 * 0.2 / draws))


@pytest.mark.parametrize(
    ("names", "lowest", "highest"),
    [
        ([f"web{year}_ndcg20" for year in range(2010, 2014)], 0.18, 0.21),
        ([f"adhoc{number}_ap" for number in range(5, 9)], 0.14, 0.21),
    ],
)
def test_how_far_differences_spread_between_real_systems(shared_data, names, lowest, highest):
    """The claim of docs/gate.md about the better half of the TREC systems."""
    medians = []
    for name in names:
        values = np.loadtxt(shared_data / "statistics" / "urbano2019" / f"{name}.csv", delimiter=",", skiprows=1)
        better = values[:, np.argsort(-values.mean(axis=0))[: values.shape[1] // 2]]
        medians.append(np.median([(one - other).std(ddof=1) for one, other in combinations(better.T, 2)]))

    assert (lowest, highest) == (round(min(medians), 2), round(max(medians), 2))


def test_on_the_margin_no_number_of_queries_would_do():
    found = decided("AP >= 0.1", [0.4] * 8, [0.45, 0.55] * 4)

    assert ("inconclusive", None) == (found.status, found.needed)
    assert (
        "the margin +0.1 is between the bounds +0.0642 and +0.1358, and the difference is on the margin: "
        in found.words
    )
    assert found.words.endswith("no number of queries would settle it")


# Without spread


def test_identical_runs_are_unchanged_but_do_not_gain():
    values = [0.5, 0.2, 0.9] * 20
    same = "both runs have the same value on every query"
    unchanged = ("unchanged", f"{same}; on other queries a loss of up to 0.049 remains possible")
    fails = ("fail", f"{same}, so the difference is 0; the rule requires more")

    assert [unchanged, unchanged, unchanged, fails, fails] == [
        (found.status, found.words)
        for found in (decided(f"AP >= {margin}", values, values) for margin in ("-0.01", "0", "-3%", "0.001", "1%"))
    ]
    found = decided("AP >= -3%", values, values)
    assert (0.0, 0.0, 0.0) == (found.difference, found.lower, found.upper)
    assert 1 - 0.05 ** (1 / 60) == pytest.approx(found.unseen)


def test_two_runs_that_find_nothing_do_not_pass():
    found = decided("AP >= -0.01", [0.0] * 60, [0.0] * 60)

    assert ("inconclusive", "both runs have 0 on every query: do their ids match the judgments?") == (
        found.status,
        found.words,
    )
    assert "unchanged" == decided("Unjudged@10 <= 0.01", [0.0] * 60, [0.0] * 60).status  # here 0 is best


def test_the_same_gain_on_every_query_is_strong_evidence():
    """60 wins by 0.2 cannot be chance: that a query does not win has at most 0.05 ** (1 / 60) = 0.049 of probability."""
    found = decided("AP >= 0", [0.3] * 60, [0.5] * 60)

    assert ("pass", "betting") == (found.status, found.method)
    assert 0.1 < found.lower < 0.2 < found.upper


def test_an_empty_baseline_does_not_make_a_candidate_look_good():
    found = decided("AP >= 0", [0.0] * 60, [1.0] * 60)

    assert ("inconclusive", "one of the runs has 0 on every query: do its ids match the judgments?") == (
        found.status,
        found.words,
    )


def test_the_same_loss_of_a_measure_without_limits_has_no_bound():
    found = decide_rule(parse_rule("DCG@5 >= -0.1"), np.full(60, 0.9), np.full(60, 0.5))

    assert "inconclusive" == found.status
    assert "all 60 queries changed by the same amount, and DCG@5 has no upper limit" == found.words


def test_the_same_loss_on_every_query_fails():
    found = decided("AP >= -0.1", [0.9, 0.8, 0.7] * 10, [0.4, 0.3, 0.2] * 10)

    assert "fail" == found.status
    assert "is below the margin -0.1" in found.words


@pytest.mark.parametrize(("before", "after"), [(0.07, 0.06), (100_000.02, 100_000.01)])
def test_rounding_neither_passes_nor_fails(before, after):
    """0.06 + 0.01 is a little less than 0.07 in binary; a loss that is exactly the margin does not break the rule."""
    assert after + 0.01 < before

    assert "inconclusive" == decided("AP >= -0.01", [before] * 3, [after] * 3).status


def test_a_bound_that_looks_like_the_margin_is_shown_with_more_digits():
    bound = decided("AP >= 0", BEFORE, GAINED).lower
    found = decided(f"AP >= {bound + 1e-6:.12f}", BEFORE, GAINED)

    assert "inconclusive" == found.status
    assert re.search(r"between the bounds \+0\.08\d{3,} and", found.words)


# Too few queries


@pytest.mark.parametrize(
    ("baseline", "candidate", "queries", "words"),
    [
        ([], [], 0, "no query has a value in both runs"),
        ([math.nan, 0.5], [0.5, math.nan], 0, "no query has a value in both runs"),
        ([0.5], [0.5], 1, "only one query has a value in both runs; at least two are needed"),
        ([0.1, math.nan], [0.9, 0.9], 1, "only one query has a value in both runs; at least two are needed"),
    ],
)
@pytest.mark.parametrize("rule", ["AP >= -0.5", "AP >= -50%", "Unjudged@10 <= 0.5"])
def test_too_few_queries_never_pass(baseline, candidate, queries, words, rule):
    found = decided(rule, baseline, candidate)

    assert ("inconclusive", words, queries) == (found.status, found.words, found.queries)
    assert (None, None, None) == (found.lower, found.upper, found.needed)


def test_values_that_are_no_numbers_are_left_out_of_everything():
    found = decided("AP >= 0", [0.4, math.nan, 0.5, 0.3, 0.6], [0.5, 0.9, 0.5, 0.5, 0.7])

    assert decided("AP >= 0", [0.4, 0.5, 0.3, 0.6], [0.5, 0.5, 0.5, 0.7]) == found


def test_infinite_values_are_refused():
    with pytest.raises(AssayError, match="YAAP is infinite for some queries"):
        decided("YAAP >= 0", [0.5, math.inf], [0.5, 0.5])


@pytest.mark.parametrize("alpha", [0, -0.1, 0.3, 1, math.nan])
def test_an_alpha_that_decides_nothing_is_refused(alpha):
    with pytest.raises(AssayError, match=r"takes a number greater than 0 and up to 0\.25"):
        decided("AP >= 0", [0.4, 0.5], [0.5, 0.5], alpha)


# Laws

shares = st.integers(0, 20).map(lambda number: number / 20)
pairs = st.lists(st.tuples(shares, shares), min_size=0, max_size=12)
margins = st.integers(-9, 9).map(lambda number: number / 10)


@given(pairs, margins, margins)
def test_who_passes_a_rule_passes_every_weaker_one(values, one, other):
    baseline, candidate = [pair[0] for pair in values], [pair[1] for pair in values]
    strict, weak = (decided(f"AP >= {margin}", baseline, candidate) for margin in (max(one, other), min(one, other)))

    if strict.status in ("pass", "unchanged"):
        assert strict.status == weak.status
    if weak.status == "fail":
        assert "fail" == strict.status


@given(pairs, margins, st.randoms())
def test_the_order_of_queries_changes_nothing(values, margin, random):
    shuffled = random.sample(values, len(values))
    found, again = (
        decided(f"AP >= {margin}", [pair[0] for pair in rows], [pair[1] for pair in rows])
        for rows in (values, shuffled)
    )

    assert found == again


@given(pairs, margins)
def test_what_is_open_needs_more_queries_than_there_are(values, margin):
    found = decided(f"AP >= {margin}", [pair[0] for pair in values], [pair[1] for pair in values])

    assert found.needed is None or (found.needed > found.queries and found.status == "inconclusive")


@given(pairs, margins)
def test_more_of_a_good_thing_is_less_of_a_bad_one(values, margin):
    """Candidate and baseline change places, and so do >= and <=."""
    first, second = [pair[0] for pair in values], [pair[1] for pair in values]
    more, less = decided(f"P@5 >= {margin}", first, second), decided(f"Unjudged@5 <= {-margin}", second, first)

    if any(first) or any(second):  # all 0 is inconclusive for >=, and best for <=
        assert more.status == less.status
    assert more.needed == less.needed


def test_one_failure_is_a_failure_and_what_is_open_does_not_pass():
    assert ["fail", "inconclusive", "unchanged", "pass", "inconclusive"] == [
        worst(["pass", "inconclusive", "fail"]),
        worst(["pass", "inconclusive"]),
        worst(["pass", "unchanged"]),
        worst(["pass", "pass"]),
        worst([]),
    ]
