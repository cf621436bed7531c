"""Fusion against ranx itself, in an environment of its own because of its size: `make test-conventions TOOL=ranx`.

Condorcet is left out: ranx sorts by votes in which a draw counts against the first of two documents.
"""

from __future__ import annotations

import numpy as np
import pytest

from assay import Run, fuse

ranx = pytest.importorskip(
    "ranx", reason="needs ranx, which has an environment of its own: make test-conventions TOOL=ranx"
)

METHODS = {  # ours -> theirs, their parameters
    "combsum": ("sum", None),
    "combmnz": ("mnz", None),
    "combmax": ("max", None),
    "combmin": ("min", None),
    "combanz": ("anz", None),
    "combmed": ("med", None),
    "weighted": ("wsum", {"weights": (2.0, 1.0, 0.5)}),
    "rrf": ("rrf", {"k": 60}),
    "isr": ("isr", None),
    "logisr": ("log_isr", None),
    "rbc": ("rbc", {"phi": 0.8}),
    "borda": ("bordafuse", None),
}
NORMALISATIONS = {"none": None, "min-max": "min-max", "sum": "sum", "z-score": "zmuv", "rank": "rank", "borda": "borda"}


def random_runs(seed: int) -> list[dict[str, dict[str, float]]]:
    """Three runs for the same queries, since ranx takes no others; at least two documents, none of them tied."""
    random = np.random.default_rng(seed)
    return [
        {
            f"q{query}": {
                f"d{doc}": float(score)
                for doc, score in zip(
                    random.permutation(15)[: random.integers(2, 10)], -np.sort(-random.random(10)), strict=False
                )
            }
            for query in range(5)
        }
        for _ in range(3)
    ]


def run_of(table: dict[str, dict[str, float]]) -> Run:
    rows = [(query, doc, score) for query, docs in table.items() for doc, score in docs.items()]
    return Run.from_columns([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


@pytest.mark.parametrize("norm", NORMALISATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_the_same_scores_as_ranx(method, norm):
    theirs, params = METHODS[method]
    by_rank = method in ("rrf", "isr", "logisr", "rbc", "borda")
    for seed in range(4):
        tables = random_runs(seed)
        weights = [2.0, 1.0, 0.5] if method == "weighted" else None
        ours = fuse([run_of(table) for table in tables], method, norm, weights)
        name = None if by_rank else NORMALISATIONS[norm]  # theirs would have made other ranks of Borda's scores
        other = ranx.fuse(runs=[ranx.Run(table) for table in tables], norm=name, method=theirs, params=params).to_dict()

        expected = {(query, doc): score for query, docs in other.items() for doc, score in docs.items()}
        found = zip(ours.query, ours.doc, ours.score.tolist(), strict=True)
        assert expected == pytest.approx({(ours.queries[code], doc): score for code, doc, score in found}, abs=1e-9)


def test_ranx_makes_0_of_equal_scores_under_min_max():
    """We make 1 of them, as Pyserini does."""
    constant, other = {"q": {"a": 5.0, "b": 5.0}}, {"q": {"a": 5.0, "b": 3.0}}
    theirs = ranx.fuse(runs=[ranx.Run(constant), ranx.Run(other)], norm="min-max", method="sum").to_dict()

    assert {"a": 1.0, "b": 0.0} == theirs["q"]
    assert [2.0, 1.0] == fuse([run_of(constant), run_of(other)], "combsum", "min-max").score.tolist()
