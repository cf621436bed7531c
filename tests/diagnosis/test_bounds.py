"""Bounds of values under unknown labels: by hand, and against all possible labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay import diagnose
from assay.diagnosis.bounds import OWN_LABELS, RELEVANCE, bounds, is_bound
from assay.diagnosis.labelled import LabelledRuns
from assay.evaluation import Evaluator
from assay.formats import as_run
from assay.measures import parse_measure
from diagnosis.worlds import World

K = 3


def test_recall_falls_when_all_unjudged_documents_are_relevant():
    """One of two relevant documents found. The holes: x of this run, and y and z of the other."""
    qrels = {"q": {"a": 1, "b": 1, "none": 0}}
    runs = {"mine": {"q": {"a": 3.0, "x": 2.0}}, "other": {"q": {"y": 3.0, "z": 2.0}}}

    rows = (
        diagnose(qrels, runs, ["R@2"], only=["labels"], baseline="mine", unmatched="zero")["DIA002"].tables[0].records()
    )

    mine = rows[0]
    assert ("mine", 0.5, 2 / 5) == (mine["run"], mine["none relevant"], mine["all relevant"])
    assert (1 / 4, 2 / 3) == (mine["lowest"], mine["highest"])  # y and z relevant; x relevant
    assert "bounds" == mine["ends are"]


def test_average_precision_is_not_at_its_best_with_all_holes_relevant():
    """A perfect first document; the hole at rank 3, if relevant, makes AP (1 + 2/3) / 2."""
    qrels = {"q": {"a": 1, "b": 0}}
    row = diagnose(qrels, {"r": {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}}, ["AP"], only=["labels"])["DIA002"]
    record = row.tables[0].records()[0]

    assert (1.0, pytest.approx(5 / 6), pytest.approx(5 / 6), 1.0) == (
        record["none relevant"], record["all relevant"], record["lowest"], record["highest"],
    )  # fmt: skip


def cases(grades):
    """Small searches with up to five holes, the bounds found, and the lowest and highest value of all labels."""
    rng = np.random.default_rng(7)
    names = [*(name + "@3" for name in ("P", "R", "AP", "RR", "nDCG", "DCG", "ERR", "Success", "RBP", "CG", "SDCG"))]
    names += ["AP", "RR", "nDCG", "DCG", "ERR", "RBP", "SetP", "SetR", "CG"]
    docs = [f"d{number}" for number in range(9)]
    while True:
        qrels = {"q": {doc: int(rng.choice([0, *grades])) for doc in rng.permutation(docs)[: rng.integers(1, 5)]}}
        runs = [
            as_run(
                {"q": {doc: 9.0 - rank for rank, doc in enumerate(rng.permutation(docs)[: rng.integers(3, 8)])}},
                name=name,
            )
            for name in "ab"
        ]
        if set(grades) <= set(qrels["q"].values()):
            found = LabelledRuns.of(Evaluator(qrels, names), runs, K)
            if 0 < found.holes(K).sum() <= 5:
                yield found


def extremes(runs, grades):
    rows = np.flatnonzero(runs.holes(K))
    tried = []
    for labels in itertools.product([0.0, *grades], repeat=len(rows)):
        grade = runs.pairs.grade.copy()
        grade[rows] = labels
        tried.append(runs.values(grade, runs=[0])[0, 0])
    return np.min(tried, axis=0), np.max(tried, axis=0)


@pytest.mark.parametrize("grades", [(1,), (1, 2)])
def test_what_is_called_a_bound_is_one(grades):
    called = set()
    for runs in itertools.islice(cases(grades), 60):
        low, high = bounds(runs, 0, runs.holes(K), range(len(runs.labels)))
        lowest, highest = extremes(runs, grades)
        for column, label in enumerate(runs.labels):
            assert lowest[column] <= low[0, column] + 1e-12
            assert high[0, column] - 1e-12 <= highest[column]
            if is_bound(runs.plans[column].measure, runs):
                called.add(runs.plans[column].measure.name)
                assert (label, pytest.approx(lowest[column])) == (label, low[0, column])
                assert (label, pytest.approx(highest[column])) == (label, high[0, column])

    assert OWN_LABELS | RELEVANCE | ({"nDCG"} if len(grades) == 1 else set()) == called


def test_with_several_grades_the_ends_of_ndcg_are_close_to_the_true_ones():
    for runs in itertools.islice(cases((1, 2)), 60):
        column = runs.labels.index("nDCG@3")
        low, high = bounds(runs, 0, runs.holes(K), [column])
        lowest, highest = extremes(runs, (1, 2))
        assert pytest.approx(lowest[column], abs=0.01) == low[0, 0]
        assert pytest.approx(highest[column], abs=0.01) == high[0, 0]


def test_measures_that_skip_unjudged_documents_have_no_bounds():
    runs = next(cases((1,)))

    assert not is_bound(parse_measure("nDCG(judged_only=True)@3"), runs)
    assert not is_bound(parse_measure("Bpref"), runs)


def test_the_truth_lies_between():
    """Only what one system found was judged; the true value of both is within the bounds, query by query."""
    world = World(3, queries=20, docs=50, top=1)
    mine, other = world.system(0.7), world.system(0.7)
    # Documents below the first 10 of both are not relevant, as the bounds assume.
    seen = world.pool(mine, other, depth=10)
    found = diagnose(world.pool(mine, depth=10), {"mine": mine, "other": other}, ["P@10", "R@10", "nDCG@10", "AP"])
    true = diagnose(seen, {"mine": mine, "other": other}, ["P@10", "R@10", "nDCG@10", "AP"])

    values = {row["measure"] + str(row["run"]): row for row in found["DIA002"].tables[0].records()}
    checked = 0
    for evidence in true["DIA005"].tables[0].records():
        row = values[evidence["measure"] + str(evidence["run"])]
        assert row["lowest"] - 1e-12 <= evidence["value"] <= row["highest"] + 1e-12
        checked += 1
    assert 8 == checked


def test_no_holes_is_fine():
    found = diagnose({"q": {"a": 1, "b": 0}}, {"r": {"q": {"a": 2.0, "b": 1.0}}}, ["AP"], only=["labels"])

    assert "fine" == found["DIA002"].severity
    assert "No run has an unjudged document in its first 10." == found["DIA002"].measured
