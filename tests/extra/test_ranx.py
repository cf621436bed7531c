"""The ranx convention against ranx itself, in an environment of its own because of its size: `make test-ranx`.

Skipped where ranx is not installed.
"""

from __future__ import annotations

import numpy as np
import pytest

from assay import evaluate

ranx = pytest.importorskip("ranx", reason="needs ranx, which has an environment of its own: make test-ranx")

NAMES = {
    "nDCG@5": "ndcg@5",
    "nDCG(gain='exp')@5": "ndcg_burges@5",
    "AP@5": "map@5",
    "RR@5": "mrr@5",
    "P@5": "precision@5",
    "R@5": "recall@5",
    "Success@3": "hit_rate@3",
    "F@5": "f1@5",
    "Rprec": "r-precision",
}


def random_case(seed: int, *, tied: bool) -> tuple[dict, dict]:
    random = np.random.default_rng(seed)
    grades, scores = {}, {}
    for number in range(8):
        docs = [f"d{n}" for n in random.permutation(20)]
        grades[f"q{number}"] = {doc: int(grade) for doc, grade in zip(docs[:9], random.integers(0, 4, 9), strict=True)}
        grades[f"q{number}"][docs[0]] = 2
        values = random.integers(0, 4, 12) if tied else random.random(12)
        scores[f"q{number}"] = {
            doc: float(value) for doc, value in zip(random.permutation(docs)[:12], values, strict=True)
        }
    return grades, scores


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_same_means_as_ranx(seed, tied):
    """Tied documents keep the order in which they were put in."""
    grades, scores = random_case(seed, tied=tied)
    theirs = ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), list(NAMES.values()), make_comparable=False)
    ours = evaluate(grades, scores, list(NAMES), like="ranx").mean()

    for name, other in NAMES.items():
        assert theirs[other] == pytest.approx(ours[name], abs=1e-9), name


def test_ranx_refuses_runs_that_lack_a_query():
    grades, scores = random_case(1, tied=False)
    del scores["q1"]
    with pytest.raises(AssertionError):
        ranx.evaluate(ranx.Qrels(grades), ranx.Run(scores), "mrr")
