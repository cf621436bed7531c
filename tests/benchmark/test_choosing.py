"""Which mode to use, on values that can be checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.benchmark.choosing import best_by_measure, best_by_segment, best_of, best_overall, best_within
from assay.comparison.comparing import compare_scores
from assay.comparison.pairs import SystemScores
from assay.comparison.segments import Segmentation

QUERIES = tuple(f"q{number:02}" for number in range(20))


def scores(**columns) -> SystemScores:
    """One measure; a column of 20 values for each system."""
    values = np.array([list(column) for column in columns.values()]).T[None]
    return SystemScores(tuple(columns), QUERIES, ("AP",), values)


def around(mean, spread=0.02):
    return [mean + spread * (-1) ** number for number in range(20)]


def test_the_best_is_the_highest_and_equal_ones_share_the_place():
    assert ("b",) == best_of({"a": 0.1, "b": 0.2})
    assert ("a", "b") == best_of({"a": 0.2, "b": 0.2, "c": 0.1})
    assert () == best_of({"a": None, "b": math.nan})


def test_no_mode_is_the_best_by_a_measure_that_does_not_reward_or_where_all_are_equal():
    means = {"AP": {"a": 0.1, "b": 0.2}, "P@5": {"a": 0.5, "b": 0.5}, "num_ret": {"a": 1.0, "b": 9.0}}

    assert {"AP": ("b",), "P@5": (), "num_ret": ()} == best_by_measure(
        means, {"AP": True, "P@5": True, "num_ret": False}
    )


def test_the_only_mode_is_the_best():
    assert {"AP": ("a",)} == best_by_measure({"AP": {"a": 0.3}}, {"AP": True})


def test_the_best_over_all_says_which_others_are_not_shown_to_be_worse():
    uneven = [0.48 + 0.3 * (-1) ** (number // 2) for number in range(20)]  # mean 0.48
    given = scores(low=[value * 0.5 for value in around(0.4)], near=uneven, top=around(0.5))
    found = best_overall(given, {"AP": ("top",)}, compare_scores(given))

    assert ("top", ("near",), {"top": 1}) == (found.mode, found.not_worse, found.measures_won)
    assert 0.5 == pytest.approx(found.value)
    assert "top has the highest AP (0.5000), but near is not significantly worse." == found.words


def test_the_best_beyond_chance():
    given = scores(low=[value / 10 for value in around(2, 1)], top=around(0.5))
    found = best_overall(given, {}, compare_scores(given))

    assert ((), "top has the highest AP (0.5000), and is significantly better than the other mode.") == (
        found.not_worse,
        found.words,
    )


def test_modes_that_are_equal_are_all_the_best():
    given = scores(vector=around(0.5), approximate=around(0.5))
    found = best_overall(given, {}, compare_scores(given))

    assert ("vector", ("approximate",), ("approximate",)) == (found.mode, found.equal, found.not_worse)
    assert "vector and approximate tie: both have AP 0.5000." == found.words


def test_equal_modes_before_others():
    given = scores(a=around(0.5), low=[value / 10 for value in around(2, 1)], b=around(0.5))
    found = best_overall(given, {}, compare_scores(given))
    assert "a and b tie for the highest AP (0.5000), and are significantly better than the other mode." == found.words

    uneven = [0.48 + 0.3 * (-1) ** (number // 2) for number in range(20)]
    given = scores(a=around(0.5), near=uneven, b=around(0.5), c=around(0.5))
    found = best_overall(given, {}, compare_scores(given))
    assert ("b", "c") == found.equal
    assert "a, b and c tie for the highest AP (0.5000), but near is not significantly worse." == found.words


def test_an_equal_mode_that_was_not_shown_to_be_better_is_heeded():
    """Two modes with one mean: only the steady one is significantly better than the third."""
    low, steady = [0.4] * 20, around(0.5)
    wild = [0.5 + 0.45 * (-1) ** number for number in range(20)]
    given = scores(steady=steady, wild=wild, low=low)
    found = best_overall(given, {}, compare_scores(given))

    assert ("steady", ("wild",), ("wild", "low")) == (found.mode, found.equal, found.not_worse)
    assert "but low is not significantly worse" in found.words


def test_what_the_table_says_of_a_pair_is_what_the_choice_says():
    alone = scores(low=[0.5] * 20, top=around(0.556, 0.1))  # p is 0.02
    others = {f"other{number}": around(0.5, 0.1 + number / 100) for number in range(7)}
    among_eight = scores(low=[0.5] * 20, top=around(0.556, 0.1), **others)

    assert "better" == compare_scores(alone).pairs[0].verdict
    assert () == best_overall(alone, {}, compare_scores(alone)).not_worse
    assert "better" != compare_scores(among_eight).pairs[0].verdict
    assert "low" in best_overall(among_eight, {}, compare_scores(among_eight)).not_worse


def test_one_mode_alone_and_none_with_a_value():
    assert "a has the highest AP (0.5000); no other mode ran." == best_overall(scores(a=around(0.5)), {}, None).words
    assert (
        "a has the highest AP (0.5000); b and c found nothing."
        == best_overall(scores(a=around(0.5)), {}, None, empty=("b", "c")).words
    )
    assert None is best_overall(scores(a=[math.nan] * 20, b=[math.nan] * 20), {}, None)


def test_the_best_of_each_segment():
    kinds = Segmentation.from_labels("kind", dict.fromkeys(QUERIES[:15], "short") | dict.fromkeys(QUERIES[15:], "long"))
    given = scores(words=[0.9] * 15 + [0.1] * 5, meaning=[0.5] * 20)

    long, short = best_by_segment(given, [kinds])

    assert ("long", 5, ("meaning",), True) == (long.segment, long.queries, long.best, long.few)
    assert ("short", 15, ("words",), False) == (short.segment, short.queries, short.best, short.few)
    assert {"words": pytest.approx(0.9), "meaning": 0.5} == short.means


def test_under_a_limit_slow_modes_are_left_out():
    means, times = {"lexical": 0.4, "vector": 0.6, "hybrid": 0.7}, {"lexical": 1.0, "vector": 8.0, "hybrid": 20.0}

    assert ("vector", ("hybrid",)) == (
        best_within(10, means, times, "AP").mode,
        best_within(10, means, times, "AP").too_slow,
    )
    assert "hybrid" == best_within(20, means, times, "AP").mode
    assert None is best_within(0.5, means, times, "AP").mode
    assert (
        "No mode is within 0.5 ms per query; too slow: lexical (1.00 ms), vector (8.00 ms), hybrid (20.0 ms)."
        == best_within(0.5, means, times, "AP").words
    )


def test_a_mode_whose_time_is_not_known_is_not_called_slow():
    found = best_within(10, {"lexical": 0.4, "theirs": 0.6}, {"lexical": 1.0}, "AP")

    assert ("lexical", ()) == (found.mode, found.too_slow)
    assert found.words.endswith("lexical has the highest AP (0.4000); time not known: theirs.")


def test_of_equal_modes_under_a_limit_the_fastest_is_chosen():
    found = best_within(10, {"vector": 0.6, "approximate": 0.6}, {"vector": 8.0, "approximate": 2.0}, "AP")

    assert ("approximate", ()) == (found.mode, found.too_slow)
    assert (
        "Within 10 ms per query, vector and approximate tie for the highest AP (0.6000); approximate has the lowest median time."
        == found.words
    )


def test_several_modes_that_are_not_worse_are_listed_as_in_a_sentence():
    uneven = [0.48 + 0.3 * (-1) ** (number // 2) for number in range(20)]
    given = scores(one=uneven, two=uneven, three=uneven, top=around(0.5))
    found = best_overall(given, {"AP": ("top",)}, compare_scores(given))

    assert "top has the highest AP (0.5000), but one, two and three are not significantly worse." == found.words
