"""The queries that moved most and their documents; agreement between runs and between measures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple
from scipy import stats

import assay
from assay.comparison.agreement import kendall_tau, measure_agreements, rank_biased_overlap, run_agreements
from assay.comparison.moves import most_moved, with_documents
from assay.comparison.pairs import Study, SystemScores


def scores(*columns: list[float], measures: tuple[str, ...] = ("AP",)) -> SystemScores:
    values = np.array([columns] * len(measures), float).transpose(0, 2, 1)
    return SystemScores(
        tuple("abcdef"[: len(columns)]), tuple(f"q{n}" for n in range(len(columns[0]))), measures, values
    )


# Moves


def test_the_largest_gain_and_the_largest_loss_come_first():
    (moves,) = most_moved(scores([0.5, 0.5, 0.5, 0.5, 0.5], [0.6, 0.9, 0.5, 0.1, 0.4]), Study(), 1)

    assert [("q1", 0.5, 0.9)] == [(move.query, move.before, move.after) for move in moves.up]
    assert [("q3", pytest.approx(-0.4))] == [(move.query, move.difference) for move in moves.down]


def test_a_query_that_one_system_lacks_has_not_moved():
    (moves,) = most_moved(scores([0.5, math.nan], [math.nan, 0.9]), Study(), 3)

    assert ((), ()) == (moves.up, moves.down)


def test_documents_that_entered_left_and_changed_rank():
    rankings = {("a", "q0"): ["x", "y", "z"], ("b", "q0"): ["y", "new", "x"]}
    (moves,) = with_documents(
        most_moved(scores([0.1], [0.9], measures=("P@2",)), Study(), 1),
        lambda measure, system, query: rankings[system, query],
        lambda query: {"y": 2.0, "x": 0.0},
    )

    (move,) = moves.up
    assert 2 == move.depth
    assert [("new", None, 2, None)] == [astuple(place) for place in move.entered]
    assert [("x", 1, 3, 0.0)] == [astuple(place) for place in move.left]
    assert [("y", 2, 1, 2.0)] == [astuple(place) for place in move.moved]


# Python


QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"b": 2, "c": 1}, "q3": {"c": 1}}
BM25 = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"x": 3.0, "c": 2.0, "b": 1.0}, "q3": {"c": 1.0}}
DENSE = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 3.0, "c": 2.0, "y": 1.0}, "q3": {"d": 2.0, "c": 1.0}}


def test_compare_in_python():
    found = assay.compare(
        QRELS, {"bm25": BM25, "dense": DENSE}, ["RR"], baseline="dense", study=assay.Study(test="sign", alpha=0.1)
    )

    (pair,) = found.pairs
    assert ("dense", "bm25", (1, 0, 2)) == (pair.baseline, pair.system, (pair.wins, pair.ties, pair.losses))
    assert ("sign", 0.1) == (found.study.test, found.study.alpha)


def test_compare_in_python_looks_at_documents_segments_and_agreement():
    found = assay.compare(
        QRELS,
        {"bm25": BM25, "dense": DENSE},
        ["nDCG@2"],
        segments=["relevant", {"q1": "x", "q2": "x", "q3": "y"}],
        documents=True,
        corpus={"b": "about b", "y": "about y"},
        agreement=True,
        queries={"q2": "why"},
    )

    (move,) = [move for move in found.moves[0].up if move.query == "q2"]
    assert [("b", 3, 1)] == [(place.doc, place.before, place.after) for place in move.entered]
    assert [("x", 1, None)] == [(place.doc, place.before, place.after) for place in move.left]
    assert {"b": "about b"} == dict(found.documents)
    assert ["relevant documents", "segment"] == [segments.segmentation.name for segments in found.segments]
    (alike,) = found.runs_alike
    assert 3 == alike.queries
    assert "why" == found.texts["q2"]


@pytest.mark.parametrize(("measure", "places"), [("AP", (1, 2)), ("RBP(rel=1)", (2, 1))])
def test_documents_are_in_the_order_that_the_measure_saw(measure, places):
    """ir_measures orders ties by id, descending, but for RBP by input order."""
    tied = {"q1": {"a": 1.0, "z": 1.0}, "q2": {"a": 1.0, "z": 1.0}}
    first = {"q1": {"k": 2.0}, "q2": {"k": 2.0}}
    found = assay.compare(
        {"q1": {"z": 1}, "q2": {"z": 1}},
        {"first": first, "tied": tied},
        [measure],
        like="ir_measures",
        documents=True,
        unmatched="zero",
    )

    ranks = {place.doc: place.after for place in found.moves[0].up[0].entered}
    assert places == (ranks["z"], ranks["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"study": {"test": "sign"}}, "study cannot be a value of type dict; use assay.Study(test='sign')."),
        (
            {"baseline": "a", "study": assay.Study(baselines=("b",))},
            "give the baseline either as `baseline=` or in the study, not both.",
        ),
    ],
)
def test_a_study_that_cannot_be(options, message):
    with pytest.raises(assay.AssayError) as refused:
        assay.compare(QRELS, {"a": BM25, "b": DENSE}, ["RR"], **options)

    assert message == str(refused.value)
    with pytest.raises(assay.AssayError, match="baselines cannot be 'bm25'; it takes a tuple of names"):
        assay.Study(baselines="bm25")


RUN = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
OTHER = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
TWO = {"q1": {"a": 1}, "q2": {"a": 1}}


def test_runs_without_a_name_are_numbered():
    assert ("run 1", "run 2") == assay.compare(TWO, [RUN, OTHER], ["RR"]).scores.systems
    assert ("run 1", "run 2") == assay.compare(TWO, (run for run in (RUN, OTHER)), ["RR"]).scores.systems
    assert ("1", "2") == assay.compare(TWO, {1: RUN, 2: OTHER}, ["RR"]).scores.systems


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ("a.run", {}, "expected several runs; give a list, or a dict by name."),
        ([], {}, "there are no runs; give a list, or a dict by name."),
        ([RUN], {}, "comparing needs at least two systems."),
        ([RUN, OTHER], {"moves": -1}, "moves cannot be -1; it takes a number of queries, 0 or more."),
        (
            [RUN, OTHER],
            {"segments": "relevant", "minimum_segment": 1},
            "minimum cannot be 1; a segment needs at least two queries to be tested.",
        ),
        (
            [RUN, OTHER],
            {"segments": 3},
            "segments cannot be a value of type int; give length, relevant, difficulty, a file, or a dict "
            "{query: segment}.",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(runs, options, message):
    with pytest.raises(assay.AssayError) as refused:
        assay.compare(TWO, runs, ["RR"], **options)

    assert message == str(refused.value)


def test_what_is_none_is_not_there():
    found = assay.compare(TWO, [RUN, OTHER], ["RR"], segments=None, queries={"q1": "two words", "q2": None})

    assert ((), "") == (found.segments, found.texts["q2"])


def test_segments_by_length_need_texts():
    with pytest.raises(assay.AssayError, match="segments by length need the texts of the queries"):
        assay.compare(QRELS, {"a": BM25, "b": DENSE}, segments="length")


# Agreement


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_kendalls_tau_is_scipys(rows):
    first, second = (np.array(column, float) for column in zip(*rows, strict=True))
    found = kendall_tau(first, second)

    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert stats.kendalltau(first, second).statistic == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [  # computed by the package rbo (rbo_ext, p = 0.9)
        ("sbnpadhrek", "fbqpksd", 0.5066411203285714),
        ("hsr", "elpcaonhtijd", 0.0439565721484091),
        ("tilqa", "ohbfd", 0.0),
        ("abc", "abc", 1.0),
    ],
)
def test_rank_biased_overlap_is_that_of_another_tool(first, second, expected):
    assert expected == pytest.approx(rank_biased_overlap(list(first), list(second)), abs=1e-12)
    assert expected == pytest.approx(rank_biased_overlap(list(second), list(first)), abs=1e-12)


@given(st.permutations("abcdefgh"), st.permutations("abcdefgh"), st.integers(0, 8), st.integers(0, 8))
def test_rank_biased_overlap_lies_between_0_and_1(first, second, one, other):
    found = rank_biased_overlap(first[:one], second[:other])

    assert 0 <= found <= 1
    assert found == pytest.approx(rank_biased_overlap(second[:other], first[:one]), abs=1e-12)


def test_runs_that_rank_the_same_and_the_other_way_round():
    lists = {"a": ["x", "y", "z"], "b": ["x", "y", "z"], "c": ["z", "y", "x"], "d": ["k"]}
    found = {(each.first, each.second): each for each in run_agreements("abcd", ["q"], lambda run, query: lists[run])}

    assert (1.0, 1.0, 1.0) == (found["a", "b"].overlap, found["a", "b"].rbo, found["a", "b"].tau)
    assert (1.0, -1.0) == (found["a", "c"].overlap, found["a", "c"].tau)
    assert (0.0, 0.0, None) == (found["a", "d"].overlap, found["a", "d"].rbo, found["a", "d"].tau)


def test_measures_that_agree_on_the_order_and_on_the_winners():
    table = np.array([[[0.1, 0.2, 0.3], [0.1, 0.3, 0.2]], [[0.2, 0.4, 0.6], [0.3, 0.2, 0.5]]])  # measure, query, system
    (found,) = measure_agreements(SystemScores(("a", "b", "c"), ("q1", "q2"), ("AP", "RR"), table), Study())

    assert (0.75, 4) == (found.same_winner, found.queries)  # only b on q2 wins by one and loses by the other
    assert stats.kendalltau([0.1, 0.25, 0.25], [0.25, 0.3, 0.55]).statistic == pytest.approx(found.tau)


def test_two_systems_have_no_order_worth_the_name():
    table = np.array([[[0.1, 0.2]], [[0.2, 0.4]]])
    (found,) = measure_agreements(SystemScores(("a", "b"), ("q1",), ("AP", "RR"), table), Study())

    assert found.tau is None
    assert 1.0 == found.same_winner
