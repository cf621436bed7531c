"""What changes the value of a list, compared with doing it: move a result, take its judgment away, cut elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.errors import InputError, ParameterError
from assay.measures import parse_measure
from assay.worked import (
    GradedList,
    best_move,
    by_cutoff,
    gains_of_moves,
    interpolated,
    measures_for,
    moved,
    moves_up,
    precision_recall,
    values,
    worth,
)
from worked.graded_lists import GRADED

MEASURES = measures_for(3, "exp")
NDCG, RR, P3 = parse_measure("nDCG"), parse_measure("RR"), parse_measure("P@3")


def value(ranked, measure):
    return float(values([ranked], [measure]).table[0, 0])


def all_values(ranked):
    return values([ranked], MEASURES).table[0]


def all_moves(ranked):
    ranks = range(1, len(ranked) + 1)
    return [(start, end) for start in ranks for end in ranks]


# Moves


def test_a_moved_result_makes_the_others_shift():
    assert (3, 0, 1, 2) == moved(GradedList((0, 1, 2, 3)), 4, 1).grades
    assert (0, 2, 3, 1) == moved(GradedList((0, 1, 2, 3)), 2, 4).grades
    assert GradedList((0, 1), missed=(2,)) == moved(GradedList((0, 1), missed=(2,)), 2, 2)


@settings(max_examples=30)
@given(GRADED)
def test_the_gain_of_a_move_is_the_difference_that_it_makes(ranked):
    moves = all_moves(ranked)
    expected = [all_values(moved(ranked, *move)) - all_values(ranked) for move in moves]

    found = gains_of_moves(ranked, MEASURES, moves)

    assert (len(moves), len(MEASURES)) == found.shape
    np.testing.assert_allclose(np.reshape(expected, found.shape), found, rtol=0, atol=1e-12)


def test_moves_without_a_change_gain_exactly_nothing():
    ranked = GradedList((None, 1, 0.1, 0.1, -1))

    assert not gains_of_moves(ranked, MEASURES, [(1, 1), (4, 3)]).any()


@pytest.mark.parametrize("move", [(0, 1), (1, 4), (4, 1), (1, -1)])
def test_only_results_of_the_list_move(move):
    for attempt in (
        lambda: moved(GradedList((1, 2, 3)), *move),
        lambda: gains_of_moves(GradedList((1,) * 3), [RR], [move]),
    ):
        with pytest.raises(InputError, match=r"^there is no result at rank -?\d: the list has 3\.$"):
            attempt()


def test_moves_up_by_one_rank():
    assert ((2, 1), (3, 2), (4, 3)) == moves_up(GradedList((0,) * 4), deepest=9)
    assert ((2, 1),) == moves_up(GradedList((0,) * 4), deepest=2)
    assert () == moves_up(GradedList((1,)), deepest=9) == moves_up(GradedList(()), deepest=9)


def test_the_best_move_puts_the_highest_grade_on_top():
    found = best_move(GradedList((0, 1, 0, 3)), NDCG)

    assert (4, 1) == (found.start, found.end)
    assert found.gain == value(GradedList((3, 0, 1, 0)), NDCG) - value(GradedList((0, 1, 0, 3)), NDCG)


def test_of_equally_good_moves_it_is_the_shortest():
    """Ranks 5 and 6 can move to any of the first three ranks."""
    found = best_move(GradedList((0, 0, 0, 0, 1, 1)), P3)

    assert (5, 3) == (found.start, found.end)


def test_no_move_is_best_if_none_gains():
    for ranked in (
        GradedList((2, 1, 0)),
        GradedList((0, 0)),
        GradedList(()),
        GradedList((None,)),
        GradedList((), (1,)),
    ):
        assert best_move(ranked, NDCG) is None


def test_a_measure_that_cannot_be_computed_has_no_best_move():
    assert best_move(GradedList((1, 61)), parse_measure("DCG(gain='exp')")) is None


def test_only_the_first_results_move():
    assert best_move(GradedList((0,) * 9 + (1,)), NDCG, deepest=9) is None
    found = best_move(GradedList((0,) * 9 + (1,)), NDCG, deepest=10)

    assert (10, 1) == (found.start, found.end)


@settings(max_examples=30)
@given(GRADED, st.sampled_from(MEASURES), st.integers(1, 15))
def test_no_move_to_a_higher_rank_gains_more_than_the_best(ranked, measure, deepest):
    moves = [(start, end) for start, end in all_moves(ranked) if end < start <= deepest]
    gains = [value(moved(ranked, *move), measure) - value(ranked, measure) for move in moves]
    found = best_move(ranked, measure, deepest)

    if found is None:
        assert max(gains, default=0) <= 1e-12
    else:
        assert max(gains) == pytest.approx(found.gain, abs=1e-12)
        assert found.gain == pytest.approx(gains[moves.index((found.start, found.end))], abs=1e-12)
        as_good = [end - start for (start, end), gain in zip(moves, gains, strict=True) if gain >= max(gains) - 1e-13]
        assert found.end - found.start >= max(as_good)


# What results add


@given(GRADED, st.integers(0, 16))
def test_a_result_is_worth_what_is_lost_without_its_judgment(ranked, deepest):
    """Its document is still judged: the list misses it."""
    expected = []
    for place, grade in enumerate(ranked.grades[:deepest]):
        without = (*ranked.grades[:place], None, *ranked.grades[place + 1 :])
        missed = ranked.missed if grade is None else (*ranked.missed, grade)
        expected.append(all_values(ranked) - all_values(GradedList(without, missed)))

    found = worth(ranked, MEASURES, deepest)

    assert (len(expected), len(MEASURES)) == found.shape
    np.testing.assert_allclose(np.reshape(expected, found.shape), found, rtol=0, atol=1e-12)


def test_what_the_results_of_a_page_add():
    """R@3 counts each of three relevant documents as a third; DCG discounts the gain."""
    measures = [parse_measure("R@3"), parse_measure("DCG")]

    assert [[1 / 3, 2.0], [0.0, 0.0], [1 / 3, 0.5]] == pytest.approx(
        worth(GradedList((2, None, 1), missed=(1,)), measures, 10), abs=1e-12
    )


def test_an_unjudged_result_is_worth_exactly_nothing():
    assert not worth(GradedList((None, 3, None)), MEASURES, 3)[[0, 2]].any()


def test_a_measure_that_cannot_be_computed_has_no_worth():
    assert np.isnan(worth(GradedList((61,)), [parse_measure("DCG(gain='exp')")], 1)).all()


# Cutoffs


@given(GRADED)
def test_values_by_cutoff_are_those_at_each_cutoff(ranked):
    measures = [measure for measure in MEASURES if "cutoff" in measure.definition.takes]
    cutoffs = [1, 3, 20]

    np.testing.assert_array_equal(
        [values([ranked], [measure(cutoff=cutoff) for measure in measures]).table[0] for cutoff in cutoffs],
        by_cutoff(ranked, measures, cutoffs),
    )


def test_a_measure_without_a_cutoff_has_no_values_by_cutoff():
    with pytest.raises(ParameterError, match="Rprec has no parameter 'cutoff'"):
        by_cutoff(GradedList((1,)), [parse_measure("Rprec")], [1])


@given(GRADED, st.sampled_from([0, 1, 2, 9]))
def test_the_points_of_recall_and_precision_are_r_and_p_at_each_rank(ranked, rel):
    for rank, point in enumerate(precision_recall(ranked, rel), 1):
        assert rank == point.rank
        assert value(ranked, parse_measure(f"R(rel={rel})@{rank}")) == point.recall
        assert value(ranked, parse_measure(f"P(rel={rel})@{rank}")) == point.precision
    assert len(ranked) == len(precision_recall(ranked, rel))


def test_interpolated_precision_is_the_best_from_there_on():
    """Relevant at ranks 1, 3 and 4 of 5: precision 1, 2/3 and 3/4 at recall 0.2, 0.4 and 0.6."""
    found = interpolated(GradedList((1, 0, 1, 1), missed=(1, 1)))

    assert (1.0, 1.0, 1.0, 0.75, 0.75, 0.75, 0.75, 0.0, 0.0, 0.0, 0.0) == found


def test_nothing_else_of_the_list_changes():
    ranked = GradedList((1, 0), missed=(2,))
    worth(ranked, MEASURES, 2), gains_of_moves(ranked, MEASURES, [(2, 1)])

    assert replace(ranked) == GradedList((1, 0), missed=(2,))
