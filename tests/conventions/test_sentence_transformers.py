"""The sentence-transformers convention against InformationRetrievalEvaluator.

`make test-conventions TOOL=sentence-transformers`. Skipped where it is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate
from assay.errors import MeasureError
from conventions.cases import PARTS, Case, Tally, cases, random_case

pytest.importorskip(
    "sentence_transformers",
    reason="needs sentence-transformers, in an environment of its own: make test-conventions TOOL=sentence-transformers",
)

import torch
from sentence_transformers.evaluation import InformationRetrievalEvaluator

CUTOFFS = [1, 5, 10, 100]
NAMES = {"nDCG": "ndcg@k", "AP": "map@k", "RR": "mrr@k", "P": "precision@k", "R": "recall@k", "Success": "accuracy@k"}


def evaluator_of(case: Case, corpus: dict[str, str], cutoffs: list[int] = CUTOFFS) -> InformationRetrievalEvaluator:
    """An evaluator of the judged queries, in which documents of grade 1 or more are relevant."""
    relevant = {query: {doc for doc, grade in docs.items() if grade >= 1} for query, docs in case.grades.items()}
    at_k = dict.fromkeys(["mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k"], cutoffs)
    queries = {query: query for query in case.grades}
    return InformationRetrievalEvaluator(
        queries, corpus, relevant, **at_k, write_csv=False, score_functions={"dot": lambda a, b: a @ b.T}
    )


def by_name(scores: dict) -> dict[str, float]:
    return {f"{ours}@{k}": value for ours, theirs in NAMES.items() for k, value in scores[theirs].items()}


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_means_from_ranked_hits(part):
    """Hits are given to the evaluator's own arithmetic; scores are 32-bit floats, as a model gives them."""
    tally, undefined = Tally("sentence-transformers", tolerance=1e-12), 0
    for case in cases(part):
        evaluator = evaluator_of(case, {})
        if not evaluator.queries_ids:  # the tool fails
            undefined += 1
            continue
        hits = [
            [{"corpus_id": doc, "score": float(np.float32(s))} for doc, s in case.scores.get(query, {}).items()]
            for query in evaluator.queries_ids
        ]
        tally.compare(case, by_name(evaluator.compute_metrics(hits)))

    assert (0, (100 - undefined) * len(NAMES) * len(CUTOFFS)) == (tally.refused, tally.equal)
    assert undefined < 10


class PreparedModel:
    """A stand-in for a model: the vector of a query selects its column of the documents' scores."""

    def __init__(self, queries: list[str], scores: dict[str, list[float]]) -> None:
        self.queries, self.scores = queries, scores

    def encode_query(self, texts: list[str], **_: object) -> torch.Tensor:
        return torch.eye(len(self.queries))[[self.queries.index(text) for text in texts]]

    def encode_document(self, texts: list[str], **_: object) -> torch.Tensor:
        return torch.tensor([self.scores[text] for text in texts], dtype=torch.float32)


@pytest.mark.parametrize("seed", range(40))
def test_the_same_means_from_a_model(seed):
    """The whole evaluator, chunk by chunk: every query has a score for every document, many of them tied."""
    random = np.random.default_rng(seed)
    docs = [f"d{n}" for n in random.permutation(int(random.integers(5, 300)))]
    queries = [f"q{n}" for n in range(5)]
    values = random.integers(-3, 4, (len(docs), 5)) * random.choice([0.1, 1.0])
    grades = {q: {d: int(g) for d, g in zip(docs, random.integers(0, 3, len(docs)), strict=True)} for q in queries}
    model = PreparedModel(queries, dict(zip(docs, values.tolist(), strict=True)))
    scores = {q: dict(zip(docs, values[:, n].tolist(), strict=True)) for n, q in enumerate(queries)}
    case = Case(seed, grades, scores)
    evaluator = evaluator_of(case, {doc: doc for doc in docs}, [1, 3, 10])
    evaluator.corpus_chunk_size = 50
    tally = Tally("sentence-transformers", tolerance=1e-12)
    tally.compare(case, by_name(evaluator.compute_all_metrics(model)["dot"]))

    assert 18 == tally.equal


def test_a_query_without_relevant_documents_is_dropped_and_one_without_results_is_not():
    grades = {"empty": {"a": 0}, "found": {"a": 1}, "lost": {"a": 1}}
    case = Case(0, grades, {"empty": {"a": 1.0}, "found": {"a": 1.0}})
    evaluator = evaluator_of(case, {})

    assert ["found", "lost"] == evaluator.queries_ids
    assert {"RR@10": 0.5} == evaluate(grades, case.scores, ["RR@10"], like="sentence-transformers").mean()


@pytest.mark.parametrize("name", ["AP", "nDCG", "Rprec", "nDCG(judged_only=True)@10"])
def test_it_has_nothing_without_a_cutoff(name):
    case = random_case(1)
    with pytest.raises(MeasureError, match="sentence-transformers does not report"):
        evaluate(case.grades, case.scores, [name], like="sentence-transformers")
