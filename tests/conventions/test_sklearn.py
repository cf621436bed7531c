"""The sklearn convention against scikit-learn itself: `make test-conventions TOOL=sklearn`.

Skipped where it is not installed. scikit-learn takes a score for every document, so judged documents that were not
retrieved are given a score below all others.
"""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate
from assay.errors import MeasureError
from conventions.cases import PARTS, Case, Tally, cases, random_case

pytest.importorskip(
    "sklearn", reason="needs scikit-learn, in an environment of its own: make test-conventions TOOL=sklearn"
)

from sklearn.metrics import dcg_score, ndcg_score

GAINS = {"": lambda grade: grade, "(gain='exp')": lambda grade: 2.0**grade - 1}


def arrays(case: Case, query: str) -> tuple[np.ndarray, np.ndarray]:
    """The grades and scores of a query's documents: those retrieved, then those only judged."""
    grades, scores = case.grades[query], case.scores[query]
    below = min(scores.values()) - 1 - abs(min(scores.values()))
    docs = [*scores, *(doc for doc in grades if doc not in scores)]
    return np.array([[grades.get(doc, 0) for doc in docs]]), np.array([[scores.get(doc, below) for doc in docs]])


def by_sklearn(case: Case) -> dict[str, float]:
    """Means over the queries in both, by our names; NaN where scikit-learn refuses negative grades."""
    found = {}
    for name, score in {"nDCG": ndcg_score, "DCG": dcg_score}.items():
        for text, gain in GAINS.items():
            for k in (1, 5, 100, None):
                pairs = [arrays(case, query) for query in case.answered()]
                try:
                    values = [score(gain(y_true), y_score, k=k) for y_true, y_score in pairs]
                except ValueError:
                    values = [np.nan]  # equals nothing: the convention must refuse
                found[f"{name}{text}{f'@{k}' if k else ''}"] = float(np.mean(values))
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_means_as_sklearn_or_a_reason(part):
    tally = Tally("sklearn")
    for case in cases(part):
        tally.compare(case, by_sklearn(case))

    assert 100 * 16 == tally.equal + tally.refused
    assert tally.equal > 100 * 7  # cutoffs 1 and 5 never reach beyond the list


@pytest.mark.parametrize("part", range(PARTS))
def test_without_missed_documents_no_cutoff_is_refused(part):
    """Judgments of retrieved documents only, none below 0: nothing can be refused."""
    tally = Tally("sklearn")
    for case in cases(part):
        kept = {
            q: {d: max(g, 0) for d, g in docs.items() if d in case.scores.get(q, ())} for q, docs in case.grades.items()
        }
        known = Case(case.seed, {query: docs or {"d0": 0} for query, docs in kept.items()}, case.scores)
        tally.compare(known, by_sklearn(known))

    assert (0, 100 * 16) == (tally.refused, tally.equal)


def test_negative_grades_and_single_documents_are_refused_by_both():
    two = {"q": {"a": 2.0, "b": 1.0}}
    with pytest.raises(ValueError, match="negative"):
        ndcg_score([[1, -1]], [[2.0, 1.0]])
    with pytest.raises(
        MeasureError,
        match=r"sklearn gives no number for nDCG@1: it has no rule for grades below 0, which are in 1 of 1 query",
    ):
        evaluate({"q": {"a": 1, "b": -1}}, two, ["nDCG@1"], like="sklearn")
    with pytest.raises(ValueError, match="more than 1 document"):
        ndcg_score([[1]], [[2.0]])
    with pytest.raises(
        MeasureError, match=r"sklearn gives no number for nDCG: it needs two documents, but has one in 1 of 1 query"
    ):
        evaluate({"q": {"a": 1}}, {"q": {"a": 2.0}}, ["nDCG"], like="sklearn")


def test_a_document_that_was_not_retrieved_takes_a_rank_in_sklearn():
    """b is second of two there, and not found here: the convention refuses."""
    grades, scores = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0}}
    case = Case(0, grades, scores)
    y_true, y_score = arrays(case, "q")

    assert 1.0 == ndcg_score(y_true, y_score)
    assert evaluate(grades, scores, ["nDCG"]).mean()["nDCG"] < 0.62
    with pytest.raises(MeasureError) as error:
        evaluate(grades, scores, ["nDCG"], like="sklearn")
    assert str(error.value) == (
        "sklearn gives no number for nDCG: it needs a score for every relevant document, but the list ends before the "
        "cutoff in 1 of 1 query (q)."
    )
    assert {"nDCG@1": 1.0} == evaluate(grades, scores, ["nDCG@1"], like="sklearn").mean()


@pytest.mark.parametrize("seed", range(40))
def test_given_only_the_retrieved_documents_it_knows_no_others(seed):
    case = random_case(seed * 2 + 1, missing=False)
    values = []
    for query, docs in case.scores.items():
        y_true = [[case.grades[query].get(doc, 0) for doc in docs]]
        values.append([ndcg_score(y_true, [list(docs.values())], k=k) for k in (5, None)])
    names = ["nDCG(ideal='retrieved')@5", "nDCG(ideal='retrieved')"]
    ours = evaluate(case.grades, case.scores, names, rules={"ties": "expected"}, unmatched="zero").mean()

    assert np.mean(values, axis=0).tolist() == pytest.approx(list(ours.values()), abs=1e-9)


def test_its_ties_are_ours_averaged_over_all_orders():
    case = random_case(2)
    theirs = np.mean([ndcg_score(*arrays(case, query), k=5) for query in case.answered()])
    ours = evaluate(case.grades, case.scores, ["nDCG@5"], rules={"ties": "expected", "queries": "both"}).mean()

    assert theirs == pytest.approx(ours["nDCG@5"], abs=1e-9)
