"""The beir convention against BEIR itself: `make test-conventions TOOL=beir`. Skipped where it is not installed."""

from __future__ import annotations

from copy import deepcopy

import pytest

from assay import evaluate
from assay.errors import MeasureError
from conventions.cases import PARTS, Case, Tally, cases

pytest.importorskip("beir", reason="needs BEIR, which has an environment of its own: make test-conventions TOOL=beir")

from beir.retrieval.evaluation import EvaluateRetrieval

CUTOFFS = [1, 5, 10, 100]
OWN = {"RR": "MRR", "Success": "Accuracy", "Hole": "Hole"}  # BEIR's own code; the others are pytrec_eval's


def by_beir(case: Case) -> dict[str, float]:
    """The means that BEIR reports, by our names: `evaluate` first, which drops documents with the id of the query."""
    results = deepcopy(case.scores)
    ndcg, average, recall, precision = EvaluateRetrieval.evaluate(case.grades, results, CUTOFFS)
    own = {
        name: EvaluateRetrieval.evaluate_custom(case.grades, results, CUTOFFS, theirs)
        for name, theirs in {"RR": "mrr", "Success": "top_k_accuracy", "Hole": "hole"}.items()
    }
    found = {f"nDCG@{k}": ndcg[f"NDCG@{k}"] for k in CUTOFFS}
    found |= {f"AP@{k}": average[f"MAP@{k}"] for k in CUTOFFS}
    found |= {f"R@{k}": recall[f"Recall@{k}"] for k in CUTOFFS}
    found |= {f"P@{k}": precision[f"P@{k}"] for k in CUTOFFS}
    return found | {f"{name}@{k}": own[name][f"{OWN[name]}@{k}"] for name in OWN for k in CUTOFFS}


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_means_as_beir(part):
    """Every seventh case has documents with the ids of queries. Tolerance 1e-12: BEIR rounds to 5 decimals."""
    tally, capped = Tally("beir", tolerance=1e-12), 0
    for case in cases(part):
        if case.seed % 7 == 0:
            for query, docs in case.scores.items():
                docs[query] = max(docs.values())
        tally.compare(case, by_beir(case))
        capped += compare_capped_recall(case, tally)

    assert 100 * 7 * len(CUTOFFS) + capped == tally.equal
    assert (100 - capped / len(CUTOFFS)) == tally.refused > 0


def compare_capped_recall(case: Case, tally: Tally) -> int:
    """R_cap, which fails in BEIR if an answered query has no relevant document: how many values were compared."""
    results = {query: {doc: s for doc, s in docs.items() if doc != query} for query, docs in case.scores.items()}
    try:
        found = EvaluateRetrieval.evaluate_custom(case.grades, results, CUTOFFS, "r_cap")
    except ZeroDivisionError:
        tally.compare(case, {"R_cap@5": float("nan")})
        return 0
    tally.compare(case, {f"R_cap@{k}": found[f"R_cap@{k}"] for k in CUTOFFS})
    return len(CUTOFFS)


def test_capped_recall_is_refused_where_beir_divides_by_0():
    grades, scores = {"q": {"a": 0}, "p": {"a": 1}}, {"q": {"a": 1.0}, "p": {"a": 1.0}}
    with pytest.raises(ZeroDivisionError):
        EvaluateRetrieval.evaluate_custom(grades, scores, [5], "r_cap")
    with pytest.raises(MeasureError) as error:
        evaluate(grades, scores, ["R_cap@5"], like="beir")

    assert str(error.value) == (
        "beir gives no number for R_cap@5: it divides by the number of relevant documents, which is 0 in 1 of 2 queries (q)."
    )
