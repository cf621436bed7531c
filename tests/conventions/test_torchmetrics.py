"""The torchmetrics convention against torchmetrics itself: `make test-conventions TOOL=torchmetrics`.

Skipped where it is not installed. Its tensors hold the retrieved documents. It computes with 32-bit floats.
"""

from __future__ import annotations

import pytest

from assay import evaluate
from assay.errors import MeasureError
from conventions.cases import PARTS, Case, Tally, cases, random_case

pytest.importorskip(
    "torchmetrics", reason="needs torchmetrics, in an environment of its own: make test-conventions TOOL=torchmetrics"
)

import torch
from torchmetrics import retrieval

METRICS = {
    "AP": retrieval.RetrievalMAP,
    "RR": retrieval.RetrievalMRR,
    "P": retrieval.RetrievalPrecision,
    "R": retrieval.RetrievalRecall,
    "Success": retrieval.RetrievalHitRate,
    "nDCG": retrieval.RetrievalNormalizedDCG,
}
MEASURES = [("AP", None), ("RR", None), ("nDCG", None), *((name, k) for name in METRICS for k in (1, 5, 100))]


def tensors(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores, grades and query numbers of the retrieved documents of judged queries."""
    rows = [
        (score, case.grades[query].get(doc, 0), number)
        for number, query in enumerate(case.answered())
        for doc, score in case.scores[query].items()
    ]
    scores, grades, numbers = zip(*rows, strict=True)
    return torch.tensor(scores, dtype=torch.float64), torch.tensor(grades), torch.tensor(numbers)


def by_torchmetrics(case: Case) -> dict[str, float]:
    """The mean of every measure, by our names."""
    scores, grades, numbers = tensors(case)
    found = {}
    for name, k in MEASURES:
        metric = METRICS[name](top_k=k)
        found[f"{name}@{k}" if k else name] = float(metric(scores, grades if name == "nDCG" else grades >= 1, numbers))
    found["P(rel=2)@5"] = float(retrieval.RetrievalPrecision(top_k=5)(scores, grades >= 2, numbers))
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_means_as_torchmetrics_or_a_reason(part):
    tally = Tally("torchmetrics", tolerance=5e-6)
    for case in cases(part):
        tally.compare(case, by_torchmetrics(case))

    assert 100 * (len(MEASURES) + 1) == tally.equal + tally.refused
    assert tally.equal > 100 * 6


@pytest.mark.parametrize("part", range(PARTS))
def test_without_ties_nothing_is_refused(part):
    """Ranks as scores, half of them 0 or less; no grade below 0."""
    tally = Tally("torchmetrics", tolerance=5e-6)
    for case in cases(part):
        grades = {query: {doc: max(grade, 0) for doc, grade in docs.items()} for query, docs in case.grades.items()}
        scores = {query: {doc: len(docs) / 2 - n for n, doc in enumerate(docs)} for query, docs in case.scores.items()}
        known = Case(case.seed, grades, scores)
        tally.compare(known, by_torchmetrics(known))

    assert (0, 100 * (len(MEASURES) + 1)) == (tally.refused, tally.equal)


def test_only_the_retrieved_documents_are_known():
    """Two relevant documents, one retrieved: at rank 2, behind a document that is not relevant."""
    case = Case(0, {"q": {"a": 1, "missed": 1}}, {"q": {"x": 2.0, "a": 1.0}})
    found = by_torchmetrics(case)

    assert [0.6309, 0.5, 1.0] == pytest.approx([found["nDCG@5"], found["AP"], found["R@5"]], abs=0.00005)
    ours = evaluate(case.grades, case.scores, ["nDCG@5", "AP", "R@5"]).mean()
    assert [0.3869, 0.25, 0.5] == pytest.approx(list(ours.values()), abs=0.00005)
    like = evaluate(case.grades, case.scores, ["nDCG@5", "AP", "R@5"], like="torchmetrics").mean()
    assert [0.6309, 0.5, 1.0] == pytest.approx(list(like.values()), abs=0.00005)


def test_a_score_of_0_or_less_is_not_relevant():
    """But it is in recall's denominator, and hit rate and nDCG do not look at the sign."""
    case = Case(0, {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "x": 0.5, "b": -1.0}})
    names = ["AP", "P@5", "R@5", "Success@1", "nDCG"]
    theirs = by_torchmetrics(case)
    ours = evaluate(case.grades, case.scores, names, like="torchmetrics").mean()

    assert [1.0, 0.2, 0.5, 1.0, 0.9197] == pytest.approx([theirs[name] for name in names], abs=0.00005)
    assert [1.0, 0.2, 0.5, 1.0, 0.9197] == pytest.approx(list(ours.values()), abs=0.00005)


def test_the_order_of_ties_is_torchs_own():
    """One relevant document among 100 with the same score: MRR depends on the place in the input and on the cutoff."""
    found = set()
    for place in range(0, 100, 7):
        scores, grades = torch.ones(100), torch.zeros(100, dtype=torch.long)
        grades[place] = 1
        for k in (None, 2, 50, 99):
            found.add(
                (place, round(float(retrieval.RetrievalMRR(top_k=k)(scores, grades, torch.zeros(100).long())), 9))
            )
    by_input_order = {(place, round(1 / (place + 1), 9)) for place in range(0, 100, 7)}

    assert not found <= by_input_order | {(place, 0.0) for place in range(100)}
    with pytest.raises(MeasureError) as error:
        evaluate({"q": {"d7": 1}}, {"q": {f"d{n}": 1.0 for n in range(100)}}, ["RR"], like="torchmetrics")
    assert str(error.value) == (
        "torchmetrics gives no number for RR: torch does not define the order of equal scores, which changes the value in "
        "1 of 1 query (q). Break the ties in the run, or choose an order with `ties=`."
    )


def test_an_order_of_ties_that_is_chosen_is_followed():
    case = random_case(4)
    found = evaluate(case.grades, case.scores, ["RR"], rules={"ties": "input"}, like="torchmetrics", unmatched="zero")

    assert "input" == found.rules.ties
