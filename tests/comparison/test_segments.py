"""Segments of queries: how they are formed, and the comparison in each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

from assay.comparison.comparing import compare_scores
from assay.comparison.corrections import holm
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.segments import (
    Segmentation,
    by_difficulty,
    by_length,
    by_relevant,
    compare_segments,
    differing_means,
)
from assay.errors import AssayError


def two_systems(baseline: list[float], system: list[float]) -> SystemScores:
    values = np.array([baseline, system], float).T[None]
    return SystemScores(("a", "b"), tuple(f"q{n}" for n in range(len(baseline))), ("AP",), values)


def labels(*names: str) -> Segmentation:
    return Segmentation.from_labels("kind", {f"q{n}": name for n, name in enumerate(names)})


# Forming segments


def test_labels_are_in_order_and_a_query_without_one_is_in_none():
    found = Segmentation.from_labels("kind", {"q1": "know", "q2": "buy", "q3": ""})

    assert ("buy", "know") == found.segments
    assert "q3" not in found.segment_of


def test_a_few_numbers_are_labels_in_the_order_of_numbers():
    found = Segmentation.from_labels("year", {"q1": "10", "q2": "9", "q3": "9"})

    assert ("9", "10") == found.segments


def test_many_numbers_are_cut_into_thirds():
    found = Segmentation.from_labels("length", {f"q{n}": str(n) for n in range(30)})

    assert ("0 to 9", "10 to 19", "20 to 29") == found.segments


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60))
def test_equal_numbers_are_never_parted_and_every_query_has_its_range(numbers):
    given_numbers = {f"q{n}": float(number) for n, number in enumerate(numbers)}
    found = Segmentation.from_numbers("n", given_numbers)

    assert set(given_numbers) == set(found.segment_of)
    by_number: dict[float, set[str]] = {}
    for query, number in given_numbers.items():
        by_number.setdefault(number, set()).add(found.segment_of[query])
    assert all(len(segments) == 1 for segments in by_number.values())
    assert 1 <= len(found.segments) <= 3
    assert len(set(found.segments)) == len(found.segments)


def test_built_in_segments():
    scores = two_systems([0.0, 0.1, 0.2, 0.5, 0.8, 0.9], [0.5] * 6)

    texts = {"a": "x", "b": "x y", "c": "x y z", "d": "w x y z", "e": " "}
    assert ("1 to 2", "3", "4") == by_length(texts).segments  # a query without text is in no segment
    assert ("1", "2", "9") == by_relevant({"a": 1, "b": 2, "c": 9}).segments
    assert ("hard (0 to 0.1)", "middling (0.2 to 0.5)", "easy (0.8 to 0.9)") == by_difficulty(scores, "a").segments
    assert "regression to the mean" in by_difficulty(scores, "a").caution


# Comparing within segments


def test_each_segment_has_the_test_of_its_own_queries_corrected_over_all_segments():
    rng = np.random.default_rng(1)
    baseline, noise = rng.random(60), rng.normal(0, 0.1, 60)
    system = baseline + noise + np.where(np.arange(60) < 30, 0.2, 0.0)
    found = compare_segments(
        two_systems(baseline.tolist(), system.tolist()), Study(), labels(*["new"] * 30, *["old"] * 30)
    )

    expected = [stats.ttest_rel(system[part], baseline[part]) for part in (slice(30), slice(30, 60))]
    for segment, test in zip(found.segments, expected, strict=True):
        (pair,) = segment.pairs
        assert test.pvalue == pytest.approx(pair.p, rel=1e-9)
        assert test.confidence_interval() == pytest.approx(pair.interval, rel=1e-9)
    assert holm(np.array([test.pvalue for test in expected])) == pytest.approx(
        [segment.pairs[0].p_corrected for segment in found.segments]
    )
    assert ["better", "no significant difference"] == [segment.pairs[0].verdict for segment in found.segments]
    assert [("b",), ("a",)] == [segment.best("AP") for segment in found.segments]
    assert 2 == found.family


def test_a_small_segment_is_shown_and_not_tested():
    scores = two_systems([0.1] * 12 + [0.2] * 3, [0.1 + 0.01 * n for n in range(12)] + [0.9] * 3)
    found = compare_segments(scores, Study(), labels(*["large"] * 12, *["small"] * 3))

    small = next(segment for segment in found.segments if segment.name == "small")
    assert (3, False, "not tested", 1.0) == (
        small.queries,
        small.tested,
        small.pairs[0].verdict,
        small.pairs[0].p_corrected,
    )
    assert 0.7 == pytest.approx(small.pairs[0].difference)
    assert 1 == found.family
    assert () == found.interactions  # one tested segment cannot differ from another


def test_queries_without_a_segment_are_counted():
    scores = two_systems([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])
    found = compare_segments(scores, Study(), Segmentation.from_labels("kind", {"q0": "x", "q1": "x"}))

    assert 1 == found.unsegmented


def test_a_file_of_other_queries_is_refused():
    with pytest.raises(AssayError, match=r"no query of the runs is in a segment of 'kind'"):
        compare_segments(two_systems([0.1], [0.2]), Study(), Segmentation.from_labels("kind", {"other": "x"}))


def test_a_column_without_labels_is_refused():
    with pytest.raises(AssayError, match=r"segments by 'kind' have no labels; leave them out\."):
        compare_segments(two_systems([0.1], [0.2]), Study(), Segmentation.from_labels("kind", {"q0": ""}))


def test_whether_an_effect_differs_is_brown_and_forsythes_test():
    rng = np.random.default_rng(2)
    for sizes, spreads in (((20, 30, 10), (1, 3, 0.5)), ((5, 50), (2, 1)), ((12, 12, 12, 12), (1, 1, 1, 4))):
        groups = [
            rng.normal(0.3 * at, spread, size) for at, (size, spread) in enumerate(zip(sizes, spreads, strict=True))
        ]
        expected = anova_oneway(groups, use_var="bf")

        assert (expected.statistic, expected.pvalue) == pytest.approx(differing_means(groups), rel=1e-9)


def test_segments_on_which_nothing_varies_do_not_break_it():
    level = np.zeros(12)

    assert (0.0, 1.0) == differing_means([level, level])
    statistic, p = differing_means([level, np.linspace(0.4, 0.6, 12)])
    assert statistic > 100
    assert p < 1e-6


def test_the_interaction_errs_as_often_as_it_says():
    """Random segments on skewed differences, many of them 0: about 5 % false positives at most."""
    rng = np.random.default_rng(3)
    draws, found = 2000, 0
    for _ in range(draws):
        values = np.where(rng.random(60) < 0.5, 0.0, rng.beta(0.5, 2, 60) * rng.choice([-1, 1], 60))
        found += differing_means([values[:20], values[20:45], values[45:]])[1] < 0.05

    assert 0.03 < found / draws < 0.065


def test_a_segment_against_the_mean_is_called_out_if_it_is_significant():
    """Better over all through one segment; significantly worse in two others."""
    baseline = [0.5] * 30
    system = (
        [0.49 - 0.001 * n for n in range(10)]
        + [0.48 - 0.001 * n for n in range(10)]
        + [0.9 + 0.001 * n for n in range(10)]
    )
    found = compare_segments(two_systems(baseline, system), Study(), labels(*["x"] * 10, *["y"] * 10, *["z"] * 10))

    assert [("b", "x"), ("b", "y")] == [(each.system, each.segment) for each in found.reversals]
    assert all(each.within < 0 < each.difference and each.p_corrected < 0.05 for each in found.reversals)


def test_a_segment_against_the_mean_by_chance_is_not_called_out():
    rng = np.random.default_rng(11)
    noise = rng.normal(0.02, 0.3, 60)
    kinds = labels(*["x", "y", "z"] * 20)
    found = compare_segments(two_systems([0.5] * 60, (0.5 + noise).tolist()), Study(), kinds)

    assert any(segment.pairs[0].difference < 0 < noise.mean() for segment in found.segments)
    assert () == found.reversals


def test_small_segments_are_never_called_out():
    found = compare_segments(two_systems([0.5] * 5, [0.4, 0.45, 0.49, 0.48, 0.9]), Study(), labels(*"xxyyz"))

    assert () == found.reversals


def test_segments_against_several_baselines():
    """c is better than a over all but worse in two of three segments; it is worse than b everywhere."""
    a, b = [0.5] * 30, [0.95] * 30
    c = [0.49 - 0.001 * n for n in range(20)] + [0.9 + 0.001 * n for n in range(10)]
    values = np.array([a, b, c], float).T[None]
    scores = SystemScores(("a", "b", "c"), tuple(f"q{n}" for n in range(30)), ("AP",), values)
    kinds = labels(*["x"] * 10, *["y"] * 10, *["z"] * 10)

    found = compare_segments(scores, Study(baselines=("a", "b")), kinds)
    assert [("a", "c", "x"), ("a", "c", "y")] == [
        (each.baseline, each.system, each.segment) for each in found.reversals
    ]


@pytest.mark.parametrize("segments", [2, 3, 6])
def test_without_any_difference_hardly_a_segment_is_called_out(segments):
    """Random segments of skewed differences whose mean is 0: at most 5.5 % of 1,000 comparisons name a segment."""
    rng = np.random.default_rng(segments)
    draws, called = 1000, 0
    kinds = labels(*(f"k{n % segments}" for n in range(120)))
    for _ in range(draws):
        values = np.where(rng.random(120) < 0.5, 0.0, rng.beta(0.5, 2, 120) * rng.choice([-1, 1], 120))
        called += bool(compare_segments(two_systems([0.0] * 120, values.tolist()), Study(), kinds).reversals)

    assert called / draws <= 0.055


def test_segments_by_difficulty_are_shown_and_never_tested():
    """Two equal systems, each with its own luck: the baseline's hard queries look better, and nothing is claimed."""
    rng = np.random.default_rng(5)
    level = rng.random(120)
    first, second = (level + rng.normal(0, 0.2, 120) for _ in range(2))
    scores = two_systems(first.tolist(), second.tolist())
    found = compare_segments(scores, Study(margin=0.1), by_difficulty(scores, "a"))

    hard, _, easy = (segment.pairs[0] for segment in found.segments)
    assert hard.difference > 0.05 > -0.05 > easy.difference
    assert {("not tested", 1.0, None, None)} == {
        (pair.verdict, pair.p_corrected, pair.interval, pair.interval_corrected)
        for segment in found.segments
        for pair in segment.pairs
    }
    assert {None} == {mean.interval for segment in found.segments for mean in segment.means}
    assert (0, (), ()) == (found.family, found.interactions, found.reversals)


def test_a_comparison_carries_its_segments():
    scores = two_systems([0.1 * (n % 7) for n in range(24)], [0.1 * (n % 5) for n in range(24)])
    found = compare_scores(scores, Study(), segments=[labels(*["x", "y"] * 12)], minimum_segment=5)

    (segments,) = found.segments
    assert [12, 12] == [segment.queries for segment in segments.segments]
    weighted = sum(segment.queries * segment.pairs[0].difference for segment in segments.segments) / 24
    assert weighted == pytest.approx(found.pairs[0].difference)


def test_a_segment_without_values_has_no_mean():
    scores = two_systems([0.1, 0.2, math.nan], [0.2, 0.3, math.nan])
    found = compare_segments(scores, Study(), labels("x", "x", "y"), minimum=2)

    empty = found.segments[1]
    assert math.isnan(empty.means[0].mean)
    assert () == empty.best("AP")


def test_ranges_that_look_alike_are_told_apart():
    """Three digits are not enough for numbers that are close."""
    for numbers in ([1234.5 + n / 10 for n in range(30)], [0.33331 + n * 1e-6 for n in range(30)]):
        found = Segmentation.from_numbers("n", {f"q{n}": number for n, number in enumerate(numbers)})

        assert 3 == len(set(found.segments))
        assert [10, 10, 10] == [list(found.segment_of.values()).count(name) for name in found.segments]


def test_segments_that_do_not_vary_have_no_spread_whatever_the_rounding():
    assert (0.0, 1.0) == differing_means([np.full(10, 0.1), np.full(12, 0.3)])
    base = np.arange(40) / 40 + 0.1
    system = base + np.where(np.arange(40) < 20, 0.1, 0.2)
    found = compare_segments(two_systems(base.tolist(), system.tolist()), Study(), labels(*["x"] * 20, *["y"] * 20))

    assert 1.0 == found.interactions[0].p


def test_equivalence_in_segments_is_corrected_over_all_of_them():
    rng = np.random.default_rng(8)
    base = rng.random(60)
    near = base + rng.normal(0, 0.03, 60)
    found = compare_segments(
        two_systems(base.tolist(), near.tolist()), Study(margin=0.02), labels(*["x"] * 30, *["y"] * 28, "z", "z")
    )
    pairs = [segment.pairs[0] for segment in found.segments]

    assert holm(np.array([pair.p_equivalence for pair in pairs[:2]])).tolist() == pytest.approx(
        [pair.p_equivalence_corrected for pair in pairs[:2]]
    )
    assert (None, None) == (pairs[2].p_equivalence, pairs[2].p_equivalence_corrected)
