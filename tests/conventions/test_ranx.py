"""The ranx convention against ranx itself: `make test-conventions TOOL=ranx`. Skipped where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate
from assay.errors import MeasureError, QuerySetError
from conventions.cases import PARTS, Case, Tally, cases, random_case

ranx = pytest.importorskip(
    "ranx", reason="needs ranx, which has an environment of its own: make test-conventions TOOL=ranx"
)

NAMES = {
    "nDCG": "ndcg",
    "nDCG@5": "ndcg@5",
    "nDCG(gain='exp')@5": "ndcg_burges@5",
    "nDCG@100": "ndcg@100",
    "DCG@20": "dcg@20",
    "DCG(gain='exp')": "dcg_burges",
    "AP": "map",
    "AP@5": "map@5",
    "AP(rel=2)@100": "map@100-l2",
    "RR": "mrr",
    "RR@5": "mrr@5",
    "P@5": "precision@5",
    "P@200": "precision@200",
    "R@5": "recall@5",
    "R(rel=3)@50": "recall@50-l3",
    "Success@3": "hit_rate@3",
    "F@5": "f1@5",
    "SetP": "precision",
    "SetR": "recall",
    "SetF": "f1",
    "Rprec": "r-precision",
    "RBP(p=0.5)": "rbp.5",
    "RBP(p=0.95)": "rbp.95",
}
LEVELS = {f"IPrec@{level / 10}": level for level in range(11)}


def by_ranx(case: Case, names: dict[str, str]) -> dict[str, float]:
    """The means by our names."""
    theirs = ranx.evaluate(ranx.Qrels(case.grades), ranx.Run(case.scores), [*names.values(), "map"])
    return {ours: float(theirs[name]) for ours, name in names.items()}


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_means_as_ranx(part):
    tally = Tally("ranx")
    for case in cases(part, missing=False):
        tally.compare(case, by_ranx(case, NAMES))

    assert (0, 100 * len(NAMES)) == (tally.refused, tally.equal)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_bpref_where_every_query_has_a_relevant_document_and_one_that_is_not(part):
    tally = Tally("ranx")
    for case in cases(part, missing=False):
        both = {query: {**docs, "missed": 1, "avoided": 0} for query, docs in case.grades.items()}
        known = Case(case.seed, both, case.scores)
        tally.compare(known, by_ranx(known, {"Bpref": "bpref"}))

    assert (0, 100) == (tally.refused, tally.equal)


@pytest.mark.parametrize("seed", range(20))
def test_the_same_values_per_query_with_fractions_of_grades(seed):
    case = random_case(seed * 2, missing=False)
    grades = {query: {doc: grade + 0.5 for doc, grade in docs.items()} for query, docs in case.grades.items()}
    theirs = ranx.evaluate(ranx.Qrels(grades), ranx.Run(case.scores), list(NAMES.values()), return_mean=False)
    ours = evaluate(grades, case.scores, list(NAMES), like="ranx", unmatched="zero").values

    for column, (name, other) in enumerate(NAMES.items()):
        assert theirs[other].tolist() == pytest.approx(ours[:, column].tolist(), abs=1e-9), (seed, name)


@pytest.mark.parametrize("seed", range(10))
def test_the_same_interpolated_precision(seed):
    case = random_case(seed, missing=False)
    qrels, run = ranx.Qrels(case.grades).to_typed_list(), ranx.Run(case.scores).to_typed_list()
    theirs = ranx.metrics.interpolated_precision_at_recall(qrels, run)
    ours = evaluate(case.grades, case.scores, list(LEVELS), like="ranx", unmatched="zero").values

    assert theirs.ravel().tolist() == pytest.approx(ours.ravel().tolist(), abs=1e-9)


def test_the_same_on_forty_documents_with_four_scores():
    docs = [f"d{number:02}" for number in range(40)]
    grades, scores = {"q": dict.fromkeys(docs[::3], 1)}, {"q": {doc: 10.0 - k // 10 for k, doc in enumerate(docs)}}

    assert ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "map") == pytest.approx(0.433442569, abs=1e-9)
    assert evaluate(grades, scores, ["AP"], like="ranx").mean()["AP"] == pytest.approx(0.433442569, abs=1e-9)


def test_other_ways_into_ranx_move_ties_again():
    """Sorting a second time, or ascending and then in reverse, as for plain dicts."""
    grades, scores = {"q": {"d5": 1}}, {"q": {f"d{number}": 1.0 for number in range(20)}}

    def reciprocal(qrels, run, **options):
        return round(1 / ranx.evaluate(qrels, run, "mrr", **options))

    once = reciprocal(ranx.Qrels(grades), ranx.Run(scores))
    twice = reciprocal(ranx.Qrels(grades), ranx.Run(scores), make_comparable=True)
    reverse = reciprocal(grades, scores)

    assert (once, 21 - once) == (round(1 / evaluate(grades, scores, ["RR"], like="ranx").mean()["RR"]), reverse)
    assert once != twice


def test_bpref_is_refused_where_ranx_divides_0_by_0():
    grades, scores = {"q": {"a": 1}}, {"q": {"a": 1.0}}

    assert np.isnan(ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "bpref"))
    with pytest.raises(MeasureError, match=r"^ranx gives no number for Bpref"):
        evaluate(grades, scores, ["Bpref"], like="ranx")


def test_bpref_of_a_query_without_a_found_relevant_document_is_0():
    grades, scores = {"q": {"b": 1}}, {"q": {"a": 1.0}}

    assert 0.0 == ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "bpref")
    assert {"Bpref": 0.0} == evaluate(grades, scores, ["Bpref"], like="ranx", unmatched="zero").mean()


def test_bpref_is_refused_where_a_query_without_relevant_documents_makes_others_0():
    """ranx divides by 0 in query p, and leaves the value of q at 0."""
    grades, scores = {"p": {"a": 0}, "q": {"a": 1, "b": 0}}, {"p": {"a": 1.0}, "q": {"a": 1.0}}
    alone = ranx.evaluate(ranx.Qrels({"q": grades["q"]}), ranx.Run({"q": scores["q"]}), "bpref")
    both = ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), ["bpref"], return_mean=False)

    assert (1.0, [0.0, 0.0]) == (alone, both.tolist())
    with pytest.raises(
        MeasureError, match=r"^ranx gives no number for Bpref: 1 of 2 queries has no document judged relevant"
    ):
        evaluate(grades, scores, ["Bpref"], like="ranx")


def test_hits_is_a_count_and_so_refused():
    grades, scores = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}

    assert 2.0 == ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "hits@5")
    with pytest.raises(MeasureError, match=r"^ranx does not report Hits@5: its hits@k is the number of relevant"):
        evaluate(grades, scores, ["Hits@5"], like="ranx")


def test_ranx_refuses_runs_that_lack_a_query_and_so_does_the_convention():
    case = random_case(1, missing=False)
    del case.scores["q1"]
    with pytest.raises(AssertionError):
        ranx.evaluate(ranx.Qrels(case.grades), ranx.Run(case.scores), "mrr")
    with pytest.raises(QuerySetError, match="1 of 5 judged queries is missing"):
        evaluate(case.grades, case.scores, ["RR"], like="ranx")
