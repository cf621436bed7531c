"""Small runs and their fused scores."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from assay import Run, fuse
from strategies import run_of

Scores = dict[str, dict[str, float]]

# Three runs for one query. Ranks: a 1 2 -, b 2 1 1, c 3 - -, d - - 2.
ONE: Scores = {"q": {"a": 0.9, "b": 0.6, "c": 0.1}}
TWO: Scores = {"q": {"b": 8.0, "a": 4.0}}
THREE: Scores = {"q": {"b": 0.5, "d": 0.25}}


def runs(*tables: Scores) -> list[Run]:
    return [run_of(table) for table in tables]


def scores_of(run: Run) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(run.query.tolist(), run.doc.tolist(), run.score.tolist(), strict=True):
        assert doc not in found.setdefault(run.queries[query], {})
        found[run.queries[query]][doc] = score
    return found


def fused(*tables: Scores, method: str, **options: Any) -> dict[str, float]:
    """The fused scores of the query q."""
    return scores_of(fuse(runs(*tables), method, **options))["q"]


def rounded(scores: dict[str, float]) -> dict[str, float]:
    return {doc: round(score, 4) for doc, score in scores.items()}


# Sevenths are not binary fractions: sums are rounded, so the order of addition would show.
SCORES = st.integers(-20, 40).map(lambda number: number / 7)
DOCS = [
    "a",
    "b",
    "c",
    "d",
    "e",
    "é",
    "a b",
    "#x",
    "\ud800x".encode("utf-8", "surrogatepass").decode("latin-1"),
    "\udce9",
]
# Made once: strategies that are made anew for each example take longer than drawing from them.
SOME_QUERIES = st.lists(st.sampled_from(["q", "p", "r"]), min_size=1, max_size=3, unique=True)
SOME_DOCS = st.lists(st.sampled_from(DOCS), min_size=1, max_size=6, unique=True)


@st.composite
def tables(draw: Any, scores: st.SearchStrategy[float] = SCORES) -> Scores:
    """A run of up to three queries, some of which other runs lack."""
    return {query: {doc: draw(scores) for doc in draw(SOME_DOCS)} for query in draw(SOME_QUERIES)}


several = st.lists(tables(), min_size=2, max_size=4)
