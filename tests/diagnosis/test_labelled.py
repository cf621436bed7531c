"""Runs ranked once and scored under any labels: the same bits as an evaluation with those judgments."""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate, parse_run
from assay.diagnosis.labelled import LabelledRuns
from assay.errors import DuplicateError
from assay.evaluation import Evaluator
from assay.formats import as_run
from diagnosis.worlds import World

MEASURES = ["nDCG@10", "AP", "RR@10", "R@20", "P@5", "Bpref", "infAP", "RBP", "ERR@10", "Judged@10", "NumRel"]


@pytest.fixture
def world():
    return World(1, queries=12, docs=30)


def labelled(qrels, runs, measures=MEASURES, rules=None, like="assay", depth=10):
    tables = [as_run(run, name=name) for name, run in runs.items()]
    return LabelledRuns.of(Evaluator(qrels, measures, rules or {}, like=like), tables, depth)


@pytest.mark.parametrize(
    ("rules", "like"),
    [
        ({}, "assay"),
        ({"ties": "doc-asc"}, "assay"),
        ({"queries": "both", "undefined": "nan"}, "assay"),
        ({"depth": 7}, "assay"),
        ({"ties": "expected"}, "assay"),
        ({"ties": "input"}, "assay"),
        ({"scores": "float32"}, "assay"),
        ({}, "trec_eval-9"),
        ({}, "ir_measures"),
        ({}, "beir"),
    ],
)
def test_the_judgments_as_they_are_give_what_evaluating_gives(world, rules, like):
    run, other = world.system(1.0), world.system(2.0, depth=15)
    del run["q003"]
    rounded = {query: {doc: round(score) * 1.0 for doc, score in docs.items()} for query, docs in other.items()}  # ties
    qrels = world.pool(run | {"q003": other["q003"]}, depth=8)

    measures = {"trec_eval-9": MEASURES[:7], "beir": ["nDCG@10", "AP@10", "R@20", "P@5"]}.get(like, MEASURES)
    if like == "ir_measures":  # what it does at the edges (NumRel, ERR by gdeval) is not done again for other labels
        measures = ["nDCG@10", "AP", "RR@10", "R@20", "P@5", "Bpref", "infAP", "RBP(rel=1)", "Judged@10"]
    measures = ["nDCG@10", "AP", "P@5"] if rules.get("ties") == "expected" else measures
    found = labelled(qrels, {"a": run, "b": rounded}, measures, rules=rules, like=like)

    for number, given in enumerate((run, rounded)):
        expected = evaluate(qrels, given, measures, rules=rules, like=like)
        places = [found.queries.index(query) for query in expected.queries]
        assert np.array_equal(expected.values, found.usual[number, places], equal_nan=True)
        means = found.means(found.usual)[number]
        np.testing.assert_allclose(list(expected.mean().values()), means, rtol=0, atol=5e-6)  # beir rounds


def test_new_labels_give_what_evaluating_with_them_gives(world):
    """Holes become relevant, and some judgments are removed."""
    a, b = world.system(0.5), world.system(2.0)
    qrels = world.pool(a, depth=6)
    found = labelled(qrels, {"a": a, "b": b})
    grade = found.pairs.grade.copy()
    holes = np.flatnonzero(found.holes(10))
    grade[holes[::2]] = 2.0
    grade[np.flatnonzero(found.judged)[::5]] = np.nan

    then: dict[str, dict[str, float]] = {query: {} for query in found.queries}
    for query, doc, rel in zip(found.pairs.query, found.pairs.doc, grade, strict=True):
        if not np.isnan(rel):
            then[found.queries[query]][doc] = rel

    for number, run in enumerate((a, b)):
        assert np.array_equal(evaluate(then, run, MEASURES).values, found.values(grade)[number])


def test_the_queries_that_count_stay_the_same():
    """Under undefined=nan, b has nothing relevant and has no value; nor when its hole becomes relevant. a loses all: 0."""
    qrels, run = {"a": {"x": 1}, "b": {"x": 0}}, {"a": {"x": 1.0}, "b": {"y": 1.0}}
    found = labelled(qrels, {"r": run}, ["AP"], rules={"undefined": "nan"})
    grade = np.where(found.pairs.grade > 0, np.nan, 1.0)

    assert np.array_equal([[[1.0], [np.nan]]], found.usual, equal_nan=True)
    assert np.array_equal([[[0.0], [np.nan]]], found.values(grade), equal_nan=True)


def test_ranks_of_judged_and_unjudged_documents():
    found = labelled({"q": {"a": 1, "z": 0}}, {"r": {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}}, ["P@1"], depth=2)

    place = {doc: number for number, doc in enumerate(found.pairs.doc)}
    assert {"a", "z", "b"} == set(place)  # c is neither judged nor in the first two
    assert (2, 0, 1) == tuple(found.rank[0, place[doc]] for doc in "azb")
    assert ["b"] == list(found.pairs.doc[found.holes(2)])
    assert [[3]] == found.retrieved.tolist()


def test_queries_without_judgments_are_left_out_and_measures_by_subtopic_too():
    found = labelled({"q": {"a": 1}}, {"r": {"q": {"a": 1.0}, "p": {"a": 1.0}}}, ["P@1", "AP"])

    assert ("q",) == found.queries
    assert ("P@1", "AP") == found.labels


def test_documents_that_stand_twice_and_self_matches_follow_the_rules():
    text = "q Q0 a 1 9 x\nq Q0 b 2 8 x\nq Q0 a 3 7 x\nq Q0 q 4 6 x\nq Q0 z 5 5 x\n"
    qrels = {"q": {"z": 1, "a": 1}}
    for rules in ({"duplicates": "first"}, {"duplicates": "best", "self_match": "drop"}):
        run = parse_run(text)
        found = LabelledRuns.of(Evaluator(qrels, MEASURES, rules), [run], 10)

        assert np.array_equal(evaluate(qrels, run, MEASURES, rules=rules).values, found.usual[0])

    with pytest.raises(DuplicateError):
        LabelledRuns.of(Evaluator(qrels, MEASURES), [parse_run(text)], 10)
