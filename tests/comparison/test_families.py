"""Which p values are corrected together, and which intervals stand beside them."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from assay.comparison.comparing import compare_scores
from assay.comparison.corrections import CORRECTIONS, corrected_p, level_of
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.segments import Segmentation, compare_segments
from assay.errors import AssayError


def scores(values: np.ndarray, measures: tuple[str, ...] = ("nDCG@10",)) -> SystemScores:
    """From (queries, systems), or (measures, queries, systems)."""
    table = values[None] if values.ndim == 2 else values
    names = tuple(f"s{number}" for number in range(table.shape[2]))
    return SystemScores(names, tuple(f"q{number}" for number in range(table.shape[1])), measures, table)


def noisy(queries: int = 40, gains: tuple[float, ...] = (0.0, 0.05, 0.12, 0.0), seed: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((queries, 1)) + rng.normal(0, 0.15, (queries, len(gains))) + np.array(gains)


# What is corrected together


def test_the_first_measure_is_a_family_of_its_own():
    values = np.stack([noisy(seed=seed) for seed in range(4)])
    found = compare_scores(scores(values, ("nDCG@10", "AP", "RR", "P@5")))
    alone = compare_scores(scores(values[:1]))

    assert [pair.p_corrected for pair in alone.pairs] == [pair.p_corrected for pair in found.of("nDCG@10")]
    others = found.pairs[3:]
    assert corrected_p(np.array([pair.p for pair in others])).tolist() == [pair.p_corrected for pair in others]
    assert ((3, 9), 3, {3, 9}) == (found.families, found.family, {pair.family for pair in found.pairs})


def test_two_systems_by_one_measure_need_no_correction_and_by_the_others_they_do():
    values = np.stack([noisy(gains=(0.0, 0.08), seed=seed) for seed in range(3)])
    first, *others = compare_scores(scores(values, ("nDCG@10", "AP", "RR"))).pairs

    assert first.p == first.p_corrected
    assert corrected_p(np.array([pair.p for pair in others])).tolist() == [pair.p_corrected for pair in others]


@pytest.mark.parametrize("all_pairs", [False, True])
@pytest.mark.parametrize("correction", [name for name in CORRECTIONS if name != "none"])
def test_a_column_that_equals_another_weakens_nobody(all_pairs, correction):
    values = noisy()
    twice = np.column_stack((values, values[:, 2], values[:, 0]))  # one equals s2, one the baseline
    study = Study(correction=correction, all_pairs=all_pairs)
    there = {(pair.baseline, pair.system): pair for pair in compare_scores(scores(twice), study).pairs}

    for pair in compare_scores(scores(values), study).pairs:
        same = there[pair.baseline, pair.system]
        assert (pair.p_corrected, pair.interval_corrected, pair.family, pair.verdict) == (
            same.p_corrected,
            same.interval_corrected,
            same.family,
            same.verdict,
        )
    assert there["s0", "s4"].p_corrected == there["s0", "s2"].p_corrected
    assert (1.0, "no significant difference") == (there["s0", "s5"].p_corrected, there["s0", "s5"].verdict)


def test_equal_columns_are_said():
    values = noisy(60)
    found = compare_scores(scores(np.column_stack((values, values[:, 2]))))

    assert (
        "s2, s4 have the same nDCG@10 on every query: their comparisons count once in the correction.",
    ) == found.notes


def test_equal_columns_keep_the_chance_of_a_false_finding():
    """Systems that often equal others or the baseline: any false finding in at most 5 % (2,000 families)."""
    rng = np.random.default_rng(7)
    found, families = 0, 2000
    for _ in range(families):
        queries = 12
        touched = rng.random((queries, 1)) < 0.25
        base = rng.random((queries, 1))
        values = base + np.where(touched, rng.choice([-0.5, 0.5], (queries, 4)) * rng.random((queries, 1)), 0.0)
        values[:, 3] = np.where(rng.random() < 0.5, values[:, 2], values[:, 3])
        test = Study(test="permutation", draws=4096)
        found += any(pair.p_corrected < 0.05 for pair in compare_scores(scores(values), test, moves=0).pairs)

    assert found / families < 0.06


# Intervals beside corrected p values


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01, 0.001])
def test_alpha_decides_on_the_confidence(alpha):
    values = noisy(gains=(0.0, 0.05))
    (pair,) = compare_scores(scores(values), Study(alpha=alpha)).pairs
    expected = stats.ttest_rel(values[:, 1], values[:, 0]).confidence_interval(1 - alpha)

    assert expected == pytest.approx(pair.interval, rel=1e-9)
    assert pair.interval == pair.interval_corrected


@pytest.mark.parametrize("correction", ["bonferroni", "sidak", "benjamini-hochberg", "benjamini-yekutieli", "none"])
@pytest.mark.parametrize("seed", range(20))
def test_an_interval_excludes_0_exactly_where_p_is_significant(correction, seed):
    values = noisy(30, (0.0, 0.02, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12), seed)
    for pair in compare_scores(scores(values), Study(correction=correction, all_pairs=True), moves=0).pairs:
        low, high = pair.interval_corrected
        assert (low > 0 or high < 0) == (pair.p_corrected < 0.05)


@pytest.mark.parametrize("seed", range(20))
def test_intervals_beside_holm_are_bonferronis_and_exclude_0_only_where_p_is_significant(seed):
    values = noisy(30, (0.0, 0.02, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12), seed)
    holm, bonferroni = (
        compare_scores(scores(values), Study(correction=name), moves=0).pairs for name in ("holm", "bonferroni")
    )

    assert [pair.interval_corrected for pair in holm] == [pair.interval_corrected for pair in bonferroni]
    assert all(
        pair.p_corrected < 0.05 for pair in holm if not pair.interval_corrected[0] <= 0 <= pair.interval_corrected[1]
    )


def test_the_levels_are_those_of_statsmodels():
    """A p value just below the level is rejected, one just above it is not."""
    p = np.array([0.0001, 0.004, 0.019, 0.03, 0.2, 0.6])
    for ours, theirs in (
        ("bonferroni", "bonferroni"),
        ("sidak", "sidak"),
        ("benjamini-hochberg", "fdr_bh"),
        ("benjamini-yekutieli", "fdr_by"),
    ):
        rejected, _, sidak, bonferroni = multipletests(p, 0.05, theirs)
        assert rejected.tolist() == (p < level_of(p, ours, 0.05)).tolist(), ours
        expected = {"sidak": sidak, "bonferroni": bonferroni}
        if ours in expected:
            assert expected[ours] == pytest.approx(level_of(p, ours, 0.05))


def test_corrected_intervals_hold_together():
    """Of 400 families of ten differences, all intervals hold the truth in at least 93 %, and in at most 80 % alone."""
    rng = np.random.default_rng(13)
    truth = np.linspace(0, 0.3, 10)
    alone = together = 0
    for _ in range(400):
        values = np.column_stack((np.zeros(20), rng.normal(truth, 0.3, (20, 10))))
        pairs = compare_scores(scores(values), moves=0).pairs
        alone += all(
            low <= true <= high for true, (low, high) in zip(truth, (pair.interval for pair in pairs), strict=True)
        )
        together += all(
            low <= true <= high
            for true, (low, high) in zip(truth, (pair.interval_corrected for pair in pairs), strict=True)
        )

    assert alone < 0.8 * 400
    assert together > 0.93 * 400


# Tukey and anova


def test_tukey_is_its_own_correction():
    values = np.stack([noisy(seed=seed) for seed in range(2)])
    found = compare_scores(scores(values, ("nDCG@10", "AP")), Study(test="tukey", all_pairs=True, draws=500))

    assert "tukey" == found.correction
    assert [pair.p for pair in found.pairs] == [pair.p_corrected for pair in found.pairs]
    with pytest.raises(AssayError, match="tukey corrects its p values itself"):
        Study(test="tukey", correction="holm")


@pytest.mark.parametrize("seed", range(10))
def test_tukeys_intervals_exclude_0_exactly_where_its_p_is_significant(seed):
    values = noisy(25, (0.0, 0.02, 0.05, 0.08, 0.12, 0.15), seed)
    for draws in (39, 500):
        for pair in compare_scores(scores(values), Study(test="tukey", all_pairs=True, draws=draws), moves=0).pairs:
            low, high = pair.interval_corrected
            assert (low > 0 or high < 0) == (pair.p_corrected < 0.05)
            assert low + high == pytest.approx(2 * pair.difference)


def test_tukeys_intervals_are_near_those_of_the_studentized_range():
    values = noisy(200, (0.0, 0.0, 0.0, 0.0), seed=2)
    found = compare_scores(scores(values), Study(test="tukey", all_pairs=True, draws=20_000), moves=0)
    centred = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    residual = (centred**2).sum() / (3 * 199)
    half = stats.studentized_range.ppf(0.95, 4, 3 * 199) * math.sqrt(residual / 200)

    for pair in found.pairs:
        assert half == pytest.approx((pair.interval_corrected[1] - pair.interval_corrected[0]) / 2, rel=0.03)


def test_too_few_draws_give_tukey_no_interval():
    found = compare_scores(scores(noisy()), Study(test="tukey", draws=10), moves=0)

    assert [None] * 3 == [pair.interval_corrected for pair in found.pairs]
    assert all(pair.p > 0.05 for pair in found.pairs)


def test_in_segments_tukey_is_corrected_for_the_segments_only():
    values = noisy(60)
    kinds = Segmentation.from_labels("kind", {f"q{n}": "xyz"[n % 3] for n in range(60)})
    found = compare_segments(scores(values), Study(test="tukey", draws=500), kinds)

    for segment in found.segments:
        assert [min(1.0, 3 * pair.p) for pair in segment.pairs] == [pair.p_corrected for pair in segment.pairs]


def with_gaps() -> tuple[np.ndarray, np.ndarray]:
    """A pair that differs much on queries that a third system lacks, and the other way on those that it has."""
    rng = np.random.default_rng(3)
    values = rng.random((60, 1)) + rng.normal(0, 0.02, (60, 3))
    values[:30, 1] -= 0.1
    values[30:, 1] += 0.3
    values[30:, 2] = np.nan
    return values, values[:30]


@pytest.mark.parametrize("test", ["anova", "tukey"])
def test_with_gaps_in_a_third_system_every_figure_of_a_pair_is_from_the_same_queries(test):
    values, complete = with_gaps()
    study = Study(test=test, draws=500, margin=0.02)
    found, expected = (compare_scores(scores(each), study, moves=0) for each in (values, complete))

    assert expected.pairs == found.pairs
    assert (30, "worse") == (found.pairs[0].queries, found.pairs[0].verdict)
    assert complete[:, 1].mean() - complete[:, 0].mean() == pytest.approx(found.pairs[0].difference)
    assert (
        f"{test} compares all systems over the same queries: those that any system lacks are left out of every comparison, "
        "which leaves 30 of 60 (s2: 30 missing)."
    ) in found.notes


def test_weighted_differences_beside_anova_are_from_the_same_queries():
    values, complete = with_gaps()
    weights = {f"q{number}": 1 + number % 3 for number in range(60)}
    found = compare_scores(scores(values), Study(test="anova"), moves=0, query_weights=weights)
    some = {query: weight for query, weight in weights.items() if int(query[1:]) < 30}
    expected = compare_scores(scores(complete), Study(test="anova"), moves=0, query_weights=some)

    assert [pair.weighted for pair in expected.pairs] == [pair.weighted for pair in found.pairs]


def test_anovas_intervals_have_its_pooled_error():
    values = noisy(30, (0.0, 0.03, 0.06, 0.09), seed=8)
    found = compare_scores(scores(values), Study(test="anova", all_pairs=True), moves=0)
    centred = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    error = math.sqrt(2 * (centred**2).sum() / (3 * 29) / 30)

    for pair, (first, second) in zip(found.pairs, combinations(range(4), 2), strict=True):
        difference = values[:, second].mean() - values[:, first].mean()
        half = stats.t.ppf(0.975, 3 * 29) * error
        assert (difference - half, difference + half) == pytest.approx(pair.interval)
        assert (pair.interval[0] > 0 or pair.interval[1] < 0) == (pair.p < 0.05)


# What the queries could have shown


def test_what_could_have_been_shown_counts_the_correction():
    values = noisy(40)
    found = compare_scores(scores(values), moves=0)
    for pair in found.pairs:
        apart = values[:, int(pair.system[1:])] - values[:, 0]
        centre = pair.detectable / apart.std(ddof=1) * math.sqrt(40)
        bound = stats.t.ppf(1 - 0.05 / 3 / 2, 39)
        assert 0.8 == pytest.approx(stats.nct.sf(bound, 39, centre) + stats.nct.cdf(-bound, 39, centre), abs=1e-6)
