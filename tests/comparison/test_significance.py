"""Paired tests: against SciPy and statsmodels, by hand, and laws for all of them."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import stdtr

from assay.comparison.intervals import bca_intervals, mean_interval, percentile_intervals
from assay.comparison.paired import REGISTRY, PairedOptions
from assay.comparison.resampling import WeightedSums, coins, grouped_means, resamples
from assay.comparison.significance import definition_of, significance_of
from assay.errors import AssayError

ALL = ["t", "anova", "wilcoxon", "wilcoxon-exact", "sign", "permutation", "bootstrap", "tukey"]
ALTERNATIVES = ["two-sided", "greater", "less"]
QUICK = 500  # draws

# Sixty-fourths: their differences, sums and shifts are exact, so no tie depends on rounding.
STEPS = st.integers(-64, 64).map(lambda step: step / 64)


@st.composite
def tables(draw, systems=2, min_queries=2, max_queries=20):
    queries = draw(st.integers(min_queries, max_queries))
    rows = st.lists(STEPS, min_size=systems, max_size=systems)
    return np.array(draw(st.lists(rows, min_size=queries, max_size=queries)))


def p_of(values, test="t", pair=(0, 1), **options):
    return float(significance_of(np.asarray(values, float), [pair], test, PairedOptions(**options)).p[0])


def of_differences(differences, test, **options):
    table = np.column_stack((differences, np.zeros(len(differences))))
    return significance_of(table, [(0, 1)], test, PairedOptions(**options))


def random_table(queries=30, systems=4, seed=5):
    return np.random.default_rng(seed).random((queries, systems))


# By hand.


def test_t_of_three_queries():
    # differences 1, 2, 3: mean 2, deviation 1, standard error 1 / sqrt(3), t = 3.4641 with 2 degrees of freedom
    found = of_differences([1.0, 2.0, 3.0], "t")

    assert 3.4641 == pytest.approx(found.statistic[0], abs=1e-4)
    assert 0.0742 == pytest.approx(found.p[0], abs=1e-4)
    assert [3] == found.queries.tolist()


def test_permutation_of_four_queries_counts_sixteen_outcomes():
    # differences 5, 2, 3, 4: only all plus and all minus reach 14
    found = of_differences([5.0, 2.0, 3.0, 4.0], "permutation")

    assert [2 / 16] == found.p.tolist()
    assert [True] == found.exact.tolist()
    assert [16] == found.draws.tolist()
    assert found.seed is None
    assert [3.5] == found.statistic.tolist()


def test_permutation_with_a_loss():
    # 3, 2, -1: sum 4. Sums of all signs: 6, 4, 2, 0, 0, -2, -4, -6. Two are 4 or more, four are as extreme.
    assert 4 / 8 == of_differences([3.0, 2.0, -1.0], "permutation").p[0]
    assert 2 / 8 == of_differences([3.0, 2.0, -1.0], "permutation", alternative="greater").p[0]
    assert 7 / 8 == of_differences([3.0, 2.0, -1.0], "permutation", alternative="less").p[0]


def test_sign_of_ten_queries():
    # nine wins, one loss: 2 * (1 + 10) / 1024
    found = of_differences([0.1] * 8 + [0.2, -0.1], "sign")

    assert 22 / 1024 == pytest.approx(found.p[0])
    assert [8.0] == found.statistic.tolist()
    assert found.exact.all()


def test_the_minimum_of_the_sign_test_makes_ties():
    differences = [0.05, 0.02, 0.01, -0.01, -0.3]

    assert [1.0] == of_differences(differences, "sign").statistic.tolist()
    assert [1.0] == of_differences(differences, "sign", minimum=0.01).statistic.tolist()
    assert [0.0] == of_differences(differences, "sign", minimum=0.02).statistic.tolist()


def test_rounding_does_not_decide_on_the_minimum():
    # 0.25 - 0.24 is 0.010000000000000009
    found = significance_of(
        np.array([[0.25, 0.24], [0.5, 0.1], [0.3, 0.4]]), [(0, 1)], "sign", PairedOptions(minimum=0.01)
    )

    assert [0.0] == found.statistic.tolist()


def test_wilcoxon_exact_of_five_wins():
    # ranks 1 to 5 all won: 2 of 32
    found = of_differences([1.0, 2.0, 3.0, 4.0, 5.0], "wilcoxon-exact")

    assert [2 / 32] == found.p.tolist()
    assert [15.0] == found.statistic.tolist()


def test_wilcoxon_exact_with_ties():
    # sizes 1, 1, 2 have ranks 1.5, 1.5, 3; signs + + -: wins 3, losses 3, which is the middle
    found = of_differences([1.0, 1.0, -2.0], "wilcoxon-exact")

    assert [0.0] == found.statistic.tolist()
    assert [1.0] == found.p.tolist()


def test_zeros_are_dropped_by_wilcoxon():
    for test in ("wilcoxon", "wilcoxon-exact"):
        without = of_differences([1.0, 2.0, -3.0, 4.0], test)
        with_zeros = of_differences([1.0, 0.0, 2.0, -3.0, 0.0, 4.0], test)

        assert without.p.tolist() == with_zeros.p.tolist()
        assert [6] == with_zeros.queries.tolist()


# Against SciPy and statsmodels.


@given(tables(), st.sampled_from(ALTERNATIVES))
def test_t_is_scipys(values, alternative):
    from scipy import stats

    assume(np.ptp(values[:, 0] - values[:, 1]) > 0)
    expected = stats.ttest_rel(values[:, 0], values[:, 1], alternative=alternative)
    found = significance_of(values, [(0, 1)], "t", PairedOptions(alternative))

    assert expected.pvalue == pytest.approx(found.p[0], rel=1e-9)
    assert expected.statistic == pytest.approx(found.statistic[0], rel=1e-9, abs=1e-12)


@given(tables(), st.sampled_from(ALTERNATIVES))
def test_wilcoxon_is_scipys_with_correction(values, alternative):
    from scipy import stats

    difference = values[:, 0] - values[:, 1]
    assume(np.ptp(difference) > 0)
    expected = stats.wilcoxon(
        difference, correction=True, method="asymptotic", zero_method="wilcox", alternative=alternative
    )

    assert expected.pvalue == pytest.approx(p_of(values, "wilcoxon", alternative=alternative), rel=1e-9)


@given(st.permutations(range(1, 13)), st.lists(st.booleans(), min_size=12, max_size=12), st.sampled_from(ALTERNATIVES))
def test_wilcoxon_exact_is_scipys_without_ties(sizes, signs, alternative):
    from scipy import stats

    difference = np.where(signs, sizes, np.negative(sizes)).astype(float)
    expected = stats.wilcoxon(difference, method="exact", alternative=alternative)
    found = of_differences(difference, "wilcoxon-exact", alternative=alternative)

    assert expected.pvalue == pytest.approx(found.p[0], rel=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9), st.sampled_from(ALTERNATIVES))
def test_wilcoxon_exact_counts_all_signs_also_with_ties(differences, alternative):
    from scipy import stats

    some = np.array([value for value in differences if value], float)
    assume(len(some) and np.ptp(differences) > 0)
    ranks = stats.rankdata(np.abs(some))
    sums = np.array([np.dot(signs, ranks) for signs in product([0, 1], repeat=len(some))])
    seen = ranks[some > 0].sum()
    lower, upper = np.mean(sums <= seen + 1e-9), np.mean(sums >= seen - 1e-9)
    expected = {"less": lower, "greater": upper, "two-sided": min(1, 2 * min(lower, upper))}[alternative]

    found = of_differences(np.array(differences, float), "wilcoxon-exact", alternative=alternative)

    assert expected == pytest.approx(found.p[0], rel=1e-12)


@given(tables(), st.sampled_from(ALTERNATIVES))
def test_sign_is_the_binomial_test(values, alternative):
    from scipy import stats

    difference = values[:, 0] - values[:, 1]
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    assume(np.ptp(difference) > 0)
    expected = stats.binomtest(wins, wins + losses, alternative=alternative).pvalue

    assert expected == pytest.approx(p_of(values, "sign", alternative=alternative), rel=1e-9)


@settings(max_examples=30)
@given(tables(max_queries=9), st.sampled_from(ALTERNATIVES))
def test_exact_permutation_is_scipys(values, alternative):
    from scipy import stats

    difference = values[:, 0] - values[:, 1]
    assume(np.ptp(difference) > 0)
    expected = stats.permutation_test(
        (difference,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
        alternative="greater" if alternative == "two-sided" else alternative,
    )
    sums = np.array([np.dot(signs, difference) for signs in product([1, -1], repeat=len(difference))])
    two_sided = np.mean(np.abs(sums) >= abs(difference.sum()))
    found = p_of(values, "permutation", alternative=alternative)

    assert (two_sided if alternative == "two-sided" else expected.pvalue) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_random_permutation_comes_close_to_the_exact_one(alternative):
    values = random_table(14, 2)
    exact = significance_of(values, [(0, 1)], "permutation", PairedOptions(alternative, draws=2**14))
    drawn = significance_of(values, [(0, 1)], "permutation", PairedOptions(alternative, draws=2**14 - 1))

    assert exact.exact.all()
    assert not drawn.exact.any()
    assert 1 == drawn.seed
    assert exact.p[0] == pytest.approx(drawn.p[0], abs=0.016)  # four standard errors of a p of one half


def test_bootstrap_is_the_plain_loop():
    values = random_table(24, 2)
    difference = values[:, 0] - values[:, 1]
    shifted = difference - difference.mean()
    rng = np.random.default_rng(3)
    means = shifted[rng.integers(0, 24, (40_000, 24))].mean(axis=1)
    expected = np.mean(np.abs(means) >= abs(difference.mean()))

    assert expected == pytest.approx(p_of(values, "bootstrap", draws=40_000), abs=0.015)


@settings(max_examples=20)
@given(tables(systems=3, min_queries=3))
def test_anova_is_statsmodels(values):
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    found = significance_of(values, list(combinations(range(3), 2)), "anova")
    assume(found.overall is not None)
    frame = pd.DataFrame(
        [(q, s, values[q, s]) for q in range(len(values)) for s in range(3)], columns=["query", "system", "value"]
    )
    expected = anova_lm(ols("value ~ C(system) + C(query)", frame).fit()).loc["C(system)"]

    assert expected["F"] == pytest.approx(found.overall.statistic, rel=1e-6, abs=1e-9)
    assert expected["PR(>F)"] == pytest.approx(found.overall.p, rel=1e-6, abs=1e-9)
    assert (2, 2 * (len(values) - 1)) == found.overall.degrees


@given(tables(), st.sampled_from(ALTERNATIVES))
def test_anova_of_two_systems_is_the_t_test(values, alternative):
    assume(np.ptp(values[:, 0] - values[:, 1]) > 0)
    anova = significance_of(values, [(0, 1)], "anova", PairedOptions(alternative))

    assert p_of(values, "t", alternative=alternative) == pytest.approx(anova.p[0], rel=1e-8)
    assert anova.overall.p == pytest.approx(p_of(values, "t"), rel=1e-8)


def test_tukey_of_two_systems_is_the_permutation_test():
    values = random_table(14, 2, seed=8)
    expected = p_of(values, "permutation")

    assert expected == pytest.approx(p_of(values, "tukey", draws=20_000), abs=0.015)


def test_tukey_is_the_plain_loop():
    values = random_table(10, 3)
    rng = np.random.default_rng(0)
    ranges = [np.ptp(rng.permuted(values, axis=1).mean(axis=0)) for _ in range(5_000)]
    pairs = list(combinations(range(3), 2))
    expected = [np.mean(np.array(ranges) >= abs(values[:, a].mean() - values[:, b].mean()) - 1e-12) for a, b in pairs]

    found = significance_of(values, pairs, "tukey", PairedOptions(draws=5_000))

    assert expected == pytest.approx(found.p.tolist(), abs=0.04)


def test_tukey_is_harder_to_pass_with_more_systems():
    values = random_table(20, 12)
    few = p_of(values[:, :2], "tukey", draws=2_000)

    assert few < p_of(values, "tukey", draws=2_000)


def test_one_sided_tukey():
    values = random_table(20, 3)
    values[:, 0] += 0.3
    both, greater, less = (p_of(values, "tukey", alternative=side, draws=QUICK) for side in ALTERNATIVES)

    assert both == greater < 0.05
    assert 1.0 == less


# Laws for all tests.


def options_for(alternative="two-sided", seed=1):
    return PairedOptions(alternative, draws=QUICK, seed=seed)


def test_these_are_all_tests():
    assert sorted(ALL) == sorted(REGISTRY)


@pytest.mark.parametrize("name", ALL)
def test_every_test_says_what_it_asks(name):
    definition = definition_of(name)

    assert definition.summary.endswith(".")
    assert "statistic" in definition.text or "tested by t" in definition.text


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_a_system_against_itself(name, alternative):
    found = significance_of(random_table(), [(2, 2)], name, options_for(alternative))

    assert [1.0] == found.p.tolist()
    assert [0.0] == found.statistic.tolist()
    assert [True] == found.constant.tolist()


@settings(max_examples=25)
@given(values=tables(systems=3, min_queries=3), alternative=st.sampled_from(ALTERNATIVES))
@pytest.mark.parametrize("name", ALL)
def test_swapping_the_two_turns_the_sign(name, values, alternative):
    turned = {"greater": "less", "less": "greater", "two-sided": "two-sided"}[alternative]
    one = significance_of(values, [(0, 1), (2, 0)], name, options_for(alternative))
    other = significance_of(values, [(1, 0), (0, 2)], name, options_for(turned))

    assert one.p.tolist() == pytest.approx(other.p.tolist(), rel=1e-9)
    assert one.statistic.tolist() == pytest.approx((-other.statistic).tolist(), rel=1e-9, abs=1e-12, nan_ok=True)


@settings(max_examples=25)
@given(values=tables(min_queries=3), shift=STEPS, scale=st.sampled_from([0.25, 2.0, 1024.0]))
@pytest.mark.parametrize("name", ALL)
def test_shift_and_scale_change_nothing(name, values, shift, scale):
    expected = significance_of(values, [(0, 1)], name, options_for())
    found = significance_of(scale * (values + shift), [(0, 1)], name, options_for())

    assert expected.p.tolist() == pytest.approx(found.p.tolist(), rel=1e-9)
    assert expected.exact.tolist() == found.exact.tolist()


@settings(max_examples=25)
@given(values=tables(min_queries=3), alternative=st.sampled_from(ALTERNATIVES))
@pytest.mark.parametrize("name", ALL)
def test_p_is_a_chance(name, values, alternative):
    found = significance_of(values, [(0, 1)], name, options_for(alternative))

    assert 0 <= found.p[0] <= 1
    assert len(values) == found.queries[0]


@pytest.mark.parametrize("name", ALL)
def test_one_sided_is_half_of_two_sided_where_it_looks(name):
    values = random_table(20, 2, seed=2)
    values[:, 0] += 0.2
    both, greater, less = (p_of(values, name, alternative=side, draws=2**16) for side in ALTERNATIVES)

    assert greater <= both <= 2 * greater + 0.01
    assert greater < less


@pytest.mark.parametrize("name", ALL)
def test_a_clear_difference_is_found(name):
    values = random_table(40, 2)
    values[:, 0] += 1

    assert p_of(values, name, draws=2_000) < 0.001


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("tukey", "anova")])
def test_a_pair_does_not_hang_on_the_others(name):
    values = random_table(30, 6)
    alone = significance_of(values, [(1, 4)], name, options_for())
    among = significance_of(values, list(combinations(range(6), 2)), name, options_for())

    assert alone.p[0] == pytest.approx(among.p[among.pairs.index((1, 4))], rel=1e-12)
    assert 15 == len(among)


@pytest.mark.parametrize("name", [name for name in ALL if definition_of(name).draws])
def test_the_seed_decides(name):
    values = random_table(30, 3)
    one, again, other = (significance_of(values, [(0, 1)], name, options_for(seed=seed)) for seed in (1, 1, 2))

    assert one.p.tolist() == again.p.tolist()
    assert one.p.tolist() != other.p.tolist()
    assert (1, 2) == (one.seed, other.seed)
    assert [QUICK] == one.draws.tolist()
    assert not one.exact.any()


@pytest.mark.parametrize("name", [name for name in ALL if not definition_of(name).draws])
def test_formulas_have_no_seed(name):
    found = significance_of(random_table(), [(0, 1)], name)

    assert found.seed is None
    assert [0] == found.draws.tolist()


@pytest.mark.parametrize("name", ALL)
def test_what_is_given_is_not_changed(name):
    values = random_table()
    before = values.copy()
    significance_of(values, [(0, 1), (2, 3)], name, options_for())

    assert np.array_equal(before, values)


# No spread.


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "values",
    [
        np.zeros((0, 2)),
        np.zeros((1, 2)),
        np.array([[1.0, 0.0]]),
        np.zeros((50, 2)),
        np.full((50, 2), 0.1),
        np.full((50, 2), np.nan),
        np.column_stack((np.full(50, np.nan), np.linspace(0, 1, 50))),
        np.linspace(0, 1, 50)[:, None] + [1e-15, 0.0],  # the same but for rounding
    ],
    ids=["empty", "one", "one differs", "zeros", "tenths", "nan", "one nan", "rounding"],
)
def test_no_difference_is_never_significant(name, alternative, values):
    found = significance_of(values, [(0, 1), (1, 0)], name, options_for(alternative))

    assert [1.0, 1.0] == found.p.tolist()
    assert [True, True] == found.constant.tolist()


CONSTANT = [np.tile([1.0, 0.0], (30, 1)), np.tile([0.3, 0.1], (30, 1)), np.linspace(0, 1, 30)[:, None] + [0.1, 0.0]]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("values", CONSTANT, ids=["1 and 0", "0.3 and 0.1", "shifted"])
def test_the_same_difference_on_every_query_is_the_strongest_evidence(name, values):
    found = significance_of(values, [(0, 1), (1, 0)], name, options_for())

    assert [True, True] == found.constant.tolist()
    assert found.p.max() <= 1 / (QUICK + 1)
    (less,) = significance_of(values, [(0, 1)], name, options_for("less")).p
    assert less > 0.99


@pytest.mark.parametrize("name", ["t", "anova", "sign", "wilcoxon-exact", "permutation"])
@pytest.mark.parametrize(("alternative", "expected"), [("two-sided", 0.25), ("greater", 0.125), ("less", 1.0)])
def test_three_equal_differences_have_the_p_of_the_sign_test(name, alternative, expected):
    assert expected == p_of(np.tile([0.7, 0.5], (3, 1)), name, alternative=alternative)
    assert expected == significance_of(np.tile([0.5, 0.7], (3, 1)), [(1, 0)], name, options_for(alternative)).p[0]


def test_systems_without_error_are_still_told_apart_by_their_pooled_one():
    values = np.random.default_rng(1).random((20, 1)) + np.array([0.0, 0.2, 0.0])
    values[:, 2] = np.random.default_rng(2).random(20)
    found = significance_of(values, [(1, 0)], "anova")

    assert found.pooled is not None
    assert 2 * stdtr(found.pooled.degrees, -0.2 / found.pooled.error) == pytest.approx(found.p[0])


@pytest.mark.parametrize("name", ALL)
def test_one_query_is_not_tested(name):
    found = significance_of(np.array([[0.9, 0.1]]), [(0, 1)], name, options_for())

    assert ([True], [1.0]) == (found.untested.tolist(), found.p.tolist())


def test_the_bootstrap_needs_twenty_queries():
    values = random_table(20, 2)
    few, enough = (significance_of(values[:queries], [(0, 1)], "bootstrap", options_for()) for queries in (19, 20))

    assert ([True], [1.0]) == (few.untested.tolist(), few.p.tolist())
    assert [False] == enough.untested.tolist()
    assert enough.p[0] < 1


@pytest.mark.parametrize(("queries", "most"), [(2, 0.05), (3, 0.05), (5, 0.05), (19, 0.05), (20, 0.08)])
def test_the_bootstrap_does_not_err_with_few_queries(queries, most):
    """Symmetric differences without a difference of means, 4,000 times at 5 %."""
    rng = np.random.default_rng(queries)
    values = np.column_stack((rng.normal(0, 1, (queries, 4000)), np.zeros(queries)))
    found = significance_of(values, [(draw, 4000) for draw in range(4000)], "bootstrap", PairedOptions(draws=999))

    assert (found.p <= 0.05).mean() <= most


def test_rounding_is_no_difference():
    # 0.1 + 0.2 is not 0.3 in the last bit, on every second query
    first = np.array([0.1 + 0.2, 0.5] * 20)
    second = np.array([0.3, 0.5] * 20)
    for name in ALL:
        assert 1.0 == p_of(np.column_stack((first, second)), name, draws=QUICK), name


def test_sums_that_are_equal_but_for_rounding_are_ties():
    # 0.1 + 0.2 - 0.3 is not 0 in floating point, but all outcomes reach a mean of zero
    assert 1.0 == of_differences(np.array([0.1, 0.2, -0.3]), "permutation").p[0]
    # 0.3 = 0.1 + 0.2: four of eight sums reach 0 on each side
    assert 6 / 8 >= of_differences(np.array([0.1, 0.2, -0.3]), "permutation", alternative="greater").p[0] >= 5 / 8


def test_no_pairs():
    for name in ALL:
        found = significance_of(random_table(), [], name, options_for())

        assert 0 == len(found)
        assert [] == found.p.tolist()


# Missing values.


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("tukey", "anova")])
def test_a_pair_leaves_out_queries_that_one_of_the_two_lacks(name):
    values = random_table(30, 3)
    values[3, 0] = values[7, 1] = values[7, 2] = values[20, 2] = math.nan
    found = significance_of(values, [(0, 1), (1, 2), (0, 2)], name, options_for())

    assert [28, 28, 27] == found.queries.tolist()
    for number, (first, second) in enumerate(found.pairs):
        kept = values[:, [first, second]]
        kept = kept[~np.isnan(kept).any(axis=1)]
        assert significance_of(kept, [(0, 1)], name, options_for()).p[0] == pytest.approx(found.p[number], rel=1e-12)


@pytest.mark.parametrize("name", ["tukey", "anova"])
def test_tests_of_all_systems_leave_out_queries_that_any_lacks(name):
    values = random_table(30, 3)
    values[3, 0] = values[20, 2] = math.nan
    found = significance_of(values, [(0, 1)], name, options_for())
    kept = values[~np.isnan(values).any(axis=1)]

    assert [28] == found.queries.tolist()
    assert significance_of(kept, [(0, 1)], name, options_for()).p.tolist() == found.p.tolist()


# When permutation is exact.


@pytest.mark.parametrize(("queries", "draws", "exact"), [(10, 1024, True), (10, 1023, False), (16, 100_000, True)])
def test_exact_whenever_all_outcomes_are_no_more_than_asked_for(queries, draws, exact):
    found = significance_of(random_table(queries, 2), [(0, 1)], "permutation", PairedOptions(draws=draws))

    assert [exact] == found.exact.tolist()
    assert [2**queries if exact else draws] == found.draws.tolist()


@pytest.mark.parametrize("queries", [17, 62, 63, 64, 65, 1_100])
def test_many_outcomes_are_never_counted(queries):
    # 2**64 overflows to 0 in 64 bits
    found = significance_of(random_table(queries, 2), [(0, 1)], "permutation", PairedOptions(draws=np.int64(200)))

    assert [False] == found.exact.tolist()
    assert [200] == found.draws.tolist()


def test_queries_that_do_not_differ_do_not_count():
    differences = np.zeros(60)
    differences[:5] = [1, 2, 3, 4, -5]
    found = of_differences(differences, "permutation")

    assert found.exact.all()
    assert [32] == found.draws.tolist()
    assert of_differences(differences[:5], "permutation").p.tolist() == found.p.tolist()


def test_exact_and_drawn_pairs_side_by_side():
    values = random_table(40, 3)
    values[:, 1] = values[:, 0]
    values[:3, 1] += [0.1, 0.2, -0.05]
    found = significance_of(values, [(0, 1), (0, 2)], "permutation", PairedOptions(draws=QUICK))

    assert [True, False] == found.exact.tolist()
    assert [8, QUICK] == found.draws.tolist()
    assert 1 == found.seed


def test_a_drawn_p_is_never_zero():
    values = random_table(40, 2)
    values[:, 0] += 5
    for name in ("permutation", "bootstrap", "tukey"):
        assert 1 / (QUICK + 1) == p_of(values, name, draws=QUICK)


# Draws.


def test_coins_are_fair_and_padded():
    blocks = [block.copy() for block in coins(70, 1000, seed=4, width=80)]
    tosses = np.concatenate(blocks)

    assert (1000, 80) == tosses.shape
    assert {0.0, 1.0} == set(np.unique(tosses))
    assert not tosses[:, 70:].any()
    assert 0.5 == pytest.approx(tosses[:, :70].mean(), abs=4 * 0.5 / math.sqrt(70_000))


def test_fewer_draws_are_the_first_of_many():
    few = np.concatenate([block.copy() for block in coins(30, 200, seed=4)])
    many = np.concatenate([block.copy() for block in coins(30, 1000, seed=4)])

    assert np.array_equal(few, many[:200])


@pytest.mark.parametrize("kind", [coins, resamples])
def test_the_size_of_blocks_changes_no_draw(kind):
    plain = np.concatenate([block.copy() for block in kind(70, 9, seed=4)])
    wide = [block.copy() for block in kind(70, 9, seed=4, width=2**22)]

    assert [2, 2, 2, 2, 1] == [len(block) for block in wide]
    assert np.array_equal(plain, np.concatenate([block[:, :70] for block in wide]))


@settings(max_examples=20)
@given(st.integers(1, 700), st.integers(1, 70), st.integers(1, 128))
def test_sums_by_tiles_are_the_matrix_product(rows, columns, weightings):
    rng = np.random.default_rng(rows)
    table = rng.random((rows, columns))
    sums = WeightedSums(table)
    weights = np.zeros((weightings, sums.width))
    weights[:, :rows] = rng.integers(0, 3, (weightings, rows))

    assert (columns, weightings) == sums.of(weights).shape
    assert np.allclose(table.T @ weights[:, :rows].T, sums.of(weights), rtol=1e-12)


def test_all_pairs_from_one_table_of_signs_are_the_plain_loop():
    values = random_table(300, 7)
    pairs = list(combinations(range(7), 2))
    signs = 2 * np.concatenate([block.copy() for block in coins(300, 999, seed=1)]) - 1
    expected = []
    for first, second in pairs:
        difference = values[:, first] - values[:, second]
        expected.append((np.sum(np.abs(signs @ difference) >= abs(difference.sum())) + 1) / 1000)

    assert expected == significance_of(values, pairs, "permutation", PairedOptions(draws=999)).p.tolist()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_values_in_tenths_tie_often_and_no_rounding_decides(alternative):
    rng = np.random.default_rng(3)
    tenths = rng.integers(0, 11, (40, 5))  # P@10
    pairs = list(combinations(range(5), 2))
    whole = significance_of(tenths.astype(float), pairs, "permutation", PairedOptions(alternative, draws=2_000))
    parts = significance_of(tenths / 10, pairs, "permutation", PairedOptions(alternative, draws=2_000))

    assert whole.p.tolist() == parts.p.tolist()


def test_a_resample_has_as_many_queries():
    times = np.concatenate([block.copy() for block in resamples(13, 300, seed=4, width=16)])

    assert (300, 16) == times.shape
    assert (times.sum(axis=1) == 13).all()
    assert not times[:, 13:].any()
    assert 1 == pytest.approx(times[:, :13].mean())


# Errors.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alternative": "both"}, "alternative cannot be 'both'; it takes two-sided, greater, less."),
        ({"draws": 0}, "draws cannot be 0; it takes a whole number, 1 or more, such as 100000."),
        ({"draws": 1.5}, "draws cannot be 1.5; it takes a whole number, 1 or more, such as 100000."),
        ({"draws": True}, "draws cannot be True; it takes a whole number, 1 or more, such as 100000."),
        ({"seed": -1}, "seed cannot be -1; it takes a whole number, 0 or more."),
        ({"minimum": -0.1}, "minimum cannot be -0.1; it takes a number, 0 or more, such as 0.01."),
        ({"minimum": math.nan}, "minimum cannot be nan; it takes a number, 0 or more, such as 0.01."),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(AssayError) as refused:
        PairedOptions(**options)

    assert message == str(refused.value)


@pytest.mark.parametrize(
    ("values", "pairs", "message"),
    [
        (np.zeros(3), [(0, 1)], "values must have 2 dimensions (queries, systems), not 1."),
        (np.zeros((3, 2)), [(0, 2)], "no pair (0, 2); the 2 systems are numbered from 0 to 1."),
        (np.zeros((3, 2)), [(-1, 0)], "no pair (-1, 0); the 2 systems are numbered from 0 to 1."),
        (np.array([[1.0, math.inf]]), [(0, 1)], "1 value is infinite and cannot be tested."),
    ],
)
def test_tables_that_cannot_be(values, pairs, message):
    with pytest.raises(AssayError) as refused:
        significance_of(values, pairs)

    assert message == str(refused.value)


def test_a_near_miss_of_a_name():
    with pytest.raises(AssayError) as refused:
        significance_of(np.zeros((3, 2)), [(0, 1)], "wilcoxn")

    assert "no test called 'wilcoxn'; did you mean 'wilcoxon'?" == str(refused.value)


def test_an_unknown_name():
    with pytest.raises(AssayError) as refused:
        significance_of(np.zeros((3, 2)), [(0, 1)], "zzz")

    assert (
        "no test called 'zzz'; there are t, anova, bootstrap, permutation, sign, tukey, wilcoxon, wilcoxon-exact."
        == str(refused.value)
    )


def test_wilcoxon_exact_refuses_many_queries():
    with pytest.raises(AssayError) as refused:
        significance_of(random_table(600, 2), [(0, 1)], "wilcoxon-exact")

    assert (
        "wilcoxon-exact takes up to 500 queries that differ, not 600. Use wilcoxon: with so many queries its normal "
        "approximation is as good."
    ) == str(refused.value)


def test_at_its_limit_wilcoxon_exact_is_close_to_the_approximation():
    values = random_table(500, 2, seed=4)

    assert p_of(values, "wilcoxon") == pytest.approx(p_of(values, "wilcoxon-exact"), rel=0.01)


def test_scipy_comes_late_and_without_its_statistics():
    code = (
        "import sys, numpy; from assay.comparison.significance import *; from assay.comparison.paired import PairedOptions; print('scipy' in sys.modules); "
        "x = numpy.random.default_rng(1).random((20, 3)); "
        f"[significance_of(x, [(0, 1)], name, PairedOptions(draws=99)) for name in {ALL!r}]; "
        "print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ["False", "False"] == done.stdout.split()


# Very many queries.


def many_differences(kind, queries=20_001):
    rng = np.random.default_rng(3)
    if kind == "sparse":
        return rng.uniform(-1, 1, queries) * (rng.random(queries) < 0.002)
    if kind == "skewed":
        return rng.lognormal(0, 1.5, queries) * 0.001
    return np.clip(rng.normal(0, 0.2, queries), -1, 1) * (rng.random(queries) < 0.6)


@pytest.mark.parametrize("kind", ["usual", "sparse", "skewed"])
def test_resamples_of_groups_are_as_those_of_queries(kind):
    """Moments of the mean of a resample are known: those of the values over n, n and the square root of n."""
    values = many_differences(kind)
    found = grouped_means(values, 20_000, 1)
    error = values.std() / math.sqrt(len(values))

    assert values.mean() == pytest.approx(found.mean(), abs=4 * error / math.sqrt(20_000))
    assert 1 == pytest.approx(found.std() / error, abs=0.02)
    skewness = ((values - values.mean()) ** 3).mean() / values.std() ** 3 / math.sqrt(len(values))
    assert skewness == pytest.approx((((found - found.mean()) / found.std()) ** 3).mean(), abs=0.07)


def test_a_mean_of_few_different_values_is_resampled_exactly():
    values = np.repeat([0.0, 0.5, 1.0], [15_000, 4_000, 2_000])
    found = grouped_means(values, 3_000, 2)
    times = found * len(values) / 0.5

    assert np.abs(times - np.rint(times)).max() < 1e-6


def test_a_million_queries_are_resampled_in_seconds():
    values = np.random.default_rng(4).beta(0.5, 1, (1_000_000, 2))
    start = time.perf_counter()
    found = significance_of(values, [(0, 1)], "bootstrap", PairedOptions(draws=2_000))

    assert time.perf_counter() - start < 10
    assert significance_of(values, [(0, 1)]).p[0] == pytest.approx(found.p[0], abs=0.05)


def test_many_queries_have_the_intervals_of_t():
    values = many_differences("usual", 100_000)

    for intervals in (percentile_intervals, bca_intervals):
        (found,) = intervals(values[:, None], draws=4_000)
        assert mean_interval(values) == pytest.approx(found, abs=0.1 * values.std() / math.sqrt(len(values)))
