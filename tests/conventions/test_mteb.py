"""The mteb convention against MTEB itself: `make test-conventions TOOL=mteb`. Skipped where it is not installed."""

from __future__ import annotations

from typing import Any

import pytest

from assay import evaluate
from assay.errors import MeasureError
from conventions.cases import PARTS, Case, Tally, cases, random_case

pytest.importorskip("mteb", reason="needs MTEB, which has an environment of its own: make test-conventions TOOL=mteb")

from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict

CUTOFFS = [1, 5, 10, 100, 1000]
NAMES = {"nDCG": "ndcg", "AP": "map", "R": "recall", "P": "precision", "RR": "mrr", "Success": "hit_rate"}


def score_dict(found: Any) -> dict[str, Any]:
    """The scores as MTEB writes them."""
    return make_score_dict(
        ndcg=found.ndcg,
        _map=found.map,
        recall=found.recall,
        precision=found.precision,
        mrr=found.mrr,
        naucs=found.naucs,
        naucs_mrr=found.naucs_mrr,
        hit_rate=found.hit_rate,
        task_scores={},
    )


def by_mteb(case: Case) -> dict[str, float]:
    """The means that MTEB writes, by our names."""
    scores = score_dict(calculate_retrieval_scores(case.scores, case.grades, CUTOFFS))
    return {f"{ours}@{k}": scores[f"{theirs}_at_{k}"] for ours, theirs in NAMES.items() for k in CUTOFFS}


@pytest.mark.filterwarnings("ignore")  # nAUC divides by 0
@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_means_as_mteb(part):
    """Tolerance 1e-12: means are rounded to 5 decimals, MRR is not."""
    tally = Tally("mteb", tolerance=1e-12)
    for case in cases(part):
        tally.compare(case, by_mteb(case))

    assert (0, 100 * len(NAMES) * len(CUTOFFS)) == (tally.refused, tally.equal)


def test_a_document_with_the_id_of_the_query_is_dropped_only_by_some_tasks():
    from mteb._evaluators.retrieval_evaluator import RetrievalEvaluator

    grades, scores = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    evaluator = RetrievalEvaluator.__new__(RetrievalEvaluator)
    usual = evaluator.evaluate(grades, {"q": dict(scores["q"])}, CUTOFFS)
    dropped = evaluator.evaluate(grades, {"q": dict(scores["q"])}, CUTOFFS, ignore_identical_ids=True)

    assert (0.5, 1.0) == (usual.mrr["MRR@10"], dropped.mrr["MRR@10"])
    assert 0.5 == evaluate(grades, scores, ["RR@10"], like="mteb").mean()["RR@10"]
    assert 1.0 == evaluate(grades, scores, ["RR@10"], like="mteb", rules={"self_match": "drop"}).mean()["RR@10"]


def test_its_accuracy_is_recall_at_1():
    case = random_case(5)
    found = calculate_retrieval_scores(case.scores, case.grades, CUTOFFS)

    assert score_dict(found)["accuracy"] == found.recall["Recall@1"]
    with pytest.raises(MeasureError, match=r"^mteb does not report accuracy@1: its accuracy is R@1\.$"):
        evaluate(case.grades, case.scores, ["accuracy@1"], like="mteb")
