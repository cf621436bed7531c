"""The ranx convention against ranx itself, in an environment of its own because of its size: `make test-ranx`.

Skipped where ranx is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate
from assay.errors import MeasureError
from assay.measures.conventions import CONVENTIONS

ranx = pytest.importorskip("ranx", reason="needs ranx, which has an environment of its own: make test-ranx")

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
QUERIES = 8


def random_case(seed: int) -> tuple[dict, dict]:
    """Lists of 5 to 1,000 documents with anything from no ties to nothing but ties, in any order, with negative scores.

    Grades go from -1 to 3, some of them with a fraction. Each query has a document judged relevant and one judged not.
    """
    random = np.random.default_rng(seed)
    grades, scores = {}, {}
    for number in range(QUERIES):
        size = int(np.exp(random.uniform(np.log(5), np.log(1001))))
        docs = [f"d{n}" for n in random.permutation(size + 20)]
        values = random.integers(-size, size, size) if random.random() < 0.3 else random.integers(-3, 4, size)
        values = values * random.choice([0.1, 1.0, 1e6])
        values = np.sort(values)[::-1] if random.random() < 0.5 else values
        scores[f"q{number}"] = dict(zip(docs, values.tolist(), strict=False))
        judged = random.permutation(docs)[: random.integers(2, size + 2)].tolist()
        grade = random.integers(-1, 4, len(judged)) + random.choice([0, 0, 0.5], len(judged)) * (seed % 2)
        grades[f"q{number}"] = {**dict(zip(judged, grade.tolist(), strict=True)), judged[0]: 2, judged[1]: 0}
    return grades, scores


@pytest.mark.parametrize("part", range(5))
def test_the_same_values_as_ranx_on_a_thousand_lists(part):
    for seed in range(part * 25, part * 25 + 25):
        grades, scores = random_case(seed)
        names = {**NAMES, "Bpref": "bpref"}
        theirs = ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), list(names.values()), return_mean=False)
        ours = evaluate(grades, scores, list(names), like="ranx", unmatched="zero").values

        for column, (name, other) in enumerate(names.items()):
            assert theirs[other].tolist() == pytest.approx(ours[:, column].tolist(), abs=1e-9), (seed, name)


@pytest.mark.parametrize("seed", range(10))
def test_the_same_interpolated_precision(seed):
    grades, scores = random_case(seed)
    qrels, run = ranx.Qrels(grades).to_typed_list(), ranx.Run(scores).to_typed_list()
    theirs = ranx.metrics.interpolated_precision_at_recall(qrels, run)
    ours = evaluate(grades, scores, list(LEVELS), like="ranx", unmatched="zero").values

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


def test_bpref_of_a_query_without_relevant_documents_or_without_a_found_one_is_0():
    for grades in ({"a": 0}, {"b": 1}):
        found = ranx.evaluate(ranx.Qrels({"q": grades}), ranx.Run({"q": {"a": 1.0}}), "bpref")

        assert (0.0, {"Bpref": 0.0}) == (
            found,
            evaluate({"q": grades}, {"q": {"a": 1.0}}, ["Bpref"], like="ranx", unmatched="zero").mean(),
        )


def test_hits_is_a_count_and_so_refused():
    grades, scores = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}

    assert 2.0 == ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "hits@5")
    with pytest.raises(MeasureError, match=r"^ranx does not report Hits@5: its hits@k is the number of relevant"):
        evaluate(grades, scores, ["Hits@5"], like="ranx")


def test_ranx_refuses_runs_that_lack_a_query_and_so_does_the_convention():
    grades, scores = random_case(1)
    del scores["q1"]
    with pytest.raises(AssertionError):
        ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "mrr")

    assert "strict" == CONVENTIONS["ranx"].rules["queries"]
