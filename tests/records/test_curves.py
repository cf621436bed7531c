"""Curves have the same values as the measures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from assay.evaluation import Evaluator, evaluate
from assay.measures import parse_measure
from assay.measures.conventions import CONVENTIONS
from assay.records.curves import BINS, NO_CURVES, RECALLS, curves_of, first_relevant
from strategies import cases, qrels_of, ranking, run_of

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN = {"q1": ranking(["x", "a", "y", "b"]), "q2": ranking(["c", "z"])}


def curves(qrels, run, measures=("AP",), rules=None, like="assay"):
    evaluator = Evaluator(qrels, measures, rules or {}, like=like, unmatched="zero")
    return curves_of(evaluator, evaluator.rank(run))


def means(qrels, run, measures, rules=None):
    found = evaluate(qrels, run, measures, rules=rules or {}, unmatched="zero").mean().values()
    return [None if math.isnan(mean) else mean for mean in found]


def test_two_queries_by_hand():
    found = curves(QRELS, RUN)

    # q1 has hits at ranks 2 and 4, q2 at rank 1. The longest ranking has four documents.
    assert (1, 2, 3, 4) == found.cutoffs
    assert (0.5, (0.5 + 0.5) / 2, (1 / 3 + 1 / 3) / 2, (0.5 + 0.25) / 2) == pytest.approx(found.at_cutoff["P"])
    assert (0.5, 0.75, 0.75, 1.0) == found.at_cutoff["R"]
    assert (0.5, 1.0, 1.0, 1.0) == found.at_cutoff["Success"]
    # Interpolated: q1 reaches recall 0.5 at precision 1/2, and 1.0 at 2/4; q2 always has 1.
    assert [0.75] * 11 == pytest.approx(found.precision_at_recall)
    assert {
        "1": 1,
        "2": 1,
        "3": 0,
        "4-10": 0,
        "11-100": 0,
        "101-1000": 0,
        "later": 0,
        "never": 0,
    } == found.first_relevant


@settings(max_examples=40)
@given(cases())
def test_every_point_is_the_mean_of_its_measure(case):
    found = curves(case.qrels, case.run)

    assert means(case.qrels, case.run, [f"IPrec@{recall}" for recall in RECALLS]) == list(found.precision_at_recall)
    for name, points in found.at_cutoff.items():
        assert means(case.qrels, case.run, [f"{name}@{cutoff}" for cutoff in found.cutoffs]) == list(points)


@settings(max_examples=40)
@given(cases())
def test_every_query_has_its_first_relevant_document_somewhere(case):
    found = curves(case.qrels, case.run)

    assert len(case.grades) == sum(found.first_relevant.values())
    assert list(found.at_cutoff["Success"]) == sorted(found.at_cutoff["Success"])


@pytest.mark.parametrize(("documents", "last"), [(3, 3), (100, 100), (150, 100)])
def test_cutoffs_go_to_100_or_to_the_depth(documents, last):
    run = {"q1": ranking([f"d{number}" for number in range(documents)])}
    found = curves({"q1": {"d1": 1}}, run)

    assert tuple(range(1, last + 1)) == found.cutoffs
    assert all(len(points) == last for points in found.at_cutoff.values())


def test_the_depth_of_the_rules_cuts_them():
    assert (1, 2) == curves(QRELS, RUN, rules={"depth": 2}).cutoffs


def test_a_run_cut_to_nothing_has_empty_curves():
    found = curves(QRELS, RUN, rules={"depth": 0})

    assert ((), {"nDCG": (), "P": (), "R": (), "Success": ()}) == (found.cutoffs, found.at_cutoff)
    assert 2 == found.first_relevant["never"]


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 10, 11, 100, 101, 1000, 1001])
def test_each_rank_falls_into_its_bin(rank):
    found = first_relevant(np.array([1 / rank]))
    name = next((name for name, last in BINS if rank <= last), "later")

    assert {name: 1} == {key: count for key, count in found.items() if count}


def test_all_ranks_up_to_2000_are_told_apart_from_their_reciprocals():
    found = first_relevant(1 / np.arange(1, 2001))

    assert [1, 1, 1, 7, 90, 900, 1000, 0] == list(found.values())


def test_queries_without_a_value_are_left_out():
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}}
    run = {"q1": ranking(["a"]), "q2": ranking(["b"])}

    assert 1 == curves(qrels, run).first_relevant["never"]
    assert 0 == curves(qrels, run, rules={"undefined": "nan"}).first_relevant["never"]


def test_where_no_query_has_a_value_there_is_none():
    found = curves({"q1": {"a": 0}}, {"q1": ranking(["a"])}, rules={"undefined": "nan"})

    assert (None,) * 11 == found.precision_at_recall
    assert {"nDCG": (None,), "P": (None,), "R": (None,), "Success": (None,)} == found.at_cutoff


def test_averaging_over_ties_averages_the_curves_too():
    qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}}
    found = curves(qrels, run, rules={"ties": "expected"})

    assert (0.5, 0.5) == found.at_cutoff["P"]
    assert (0.5, 1.0) == found.at_cutoff["Success"]
    # Interpolated precision has no closed form for averaged ties, so b comes first by its id.
    assert (0.5,) * 11 == found.precision_at_recall


@pytest.mark.parametrize("like", [name for name in CONVENTIONS if name != "assay"])
def test_every_convention_has_curves_even_for_measures_that_it_lacks(like):
    known = ["RR", "RR@10", "nDCG@2"]
    measure = next(name for name in known if not CONVENTIONS[like].refusal(parse_measure(name), name))
    found = curves(qrels_of(QRELS), run_of(RUN), measures=[measure], rules={"order": "score"}, like=like)

    assert 4 == len(found.cutoffs)
    assert 2 == sum(found.first_relevant.values())


def test_a_convention_that_rounds_recall_levels_otherwise_has_its_own_curve():
    qrels = {"q": {f"d{number}": 1 for number in range(14)}}
    run = {"q": ranking(["d0", "x", "y", "d1", "z"])}
    ours, theirs = (curves(qrels, run, like=like).precision_at_recall for like in ("assay", "trec_eval-10"))

    # Recall 0.1 of 14 is 1.4 documents: trec_eval 9 requires two, trec_eval 10 one.
    assert (0.5, 1.0) == (ours[1], theirs[1])


def test_many_queries_give_the_same_as_few(monkeypatch):
    few = curves(QRELS, RUN)
    monkeypatch.setattr("assay.records.curves._MANY_QUERIES", 1)

    assert few == curves(QRELS, RUN)


def test_no_curves_are_empty():
    assert ((), (), {}, {}) == (
        NO_CURVES.precision_at_recall,
        NO_CURVES.cutoffs,
        NO_CURVES.at_cutoff,
        NO_CURVES.first_relevant,
    )


def test_diversity_measures_have_curves_of_the_same_ranking():
    from assay import parse_qrels, parse_run

    qrels = parse_qrels("q 1 a 1\nq 2 b 1\n")
    run = parse_run("q Q0 b 1 2.0 t\nq Q0 x 2 1.0 t\n")
    found = curves(qrels, run, measures=("alpha_nDCG@2",))

    assert (1.0, 0.5) == found.at_cutoff["P"]
    assert 1 == found.first_relevant["1"]
