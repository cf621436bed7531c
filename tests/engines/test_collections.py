"""Real collections: the values of each engine, reproducible runs, and time limits."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from assay.evaluation import evaluate
from assay.formats.writing import run_as_bytes
from assay.heads import recall_of
from assay.inputs.documents import read_documents
from assay.retrieval.modes import make_fused, make_retriever
from assay.tables import Run


def searched(mode: str, collection: Path, folder: Path, depth: int = 1000, **settings) -> Run:
    lines = (collection / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {query["_id"]: query["text"] for query in map(json.loads, lines)}
    retriever = make_retriever(mode, settings)
    retriever.index(lambda: read_documents(collection / "corpus.jsonl.gz"), folder)
    return retriever.search(folder, queries, depth)


def mean(collection: Path, run: Run, measure: str) -> float:
    return evaluate(collection / "qrels" / "test.tsv", run, [measure]).mean()[measure]


@pytest.fixture
def collections(shared_data) -> Path:
    return shared_data / "collections"


@pytest.mark.parametrize(("mode", "least"), [("lexical", 0.28), ("bm25s", 0.275)])
def test_bm25_on_vaswani_is_near_the_published_figure(mode, least, collections, tmp_path):
    """Terrier's own page gives an average precision of 0.2965 for its BM25."""
    run = searched(mode, collections / "vaswani", tmp_path)

    assert least <= mean(collections / "vaswani", run, "AP") < 0.31


@pytest.mark.parametrize("mode", ["lexical", "bm25s"])
def test_bm25_on_cranfield(mode, collections, tmp_path):
    assert 0.36 <= mean(collections / "cranfield", searched(mode, collections / "cranfield", tmp_path), "nDCG@10")


@pytest.mark.parametrize("mode", ["lexical", "bm25s"])
def test_two_runs_are_the_same_to_the_last_byte(mode, collections, tmp_path):
    runs = [searched(mode, collections / "cranfield", tmp_path / name) for name in ("one", "two")]
    one, two = (run_as_bytes(run, "trec")[0] for run in runs)

    assert one == two


def test_nineteen_thousand_products_are_indexed_and_searched_within_half_a_minute(collections, tmp_path):
    """It takes a second or two; the limit leaves room for a busy machine."""
    begun = time.monotonic()
    run = searched("lexical", collections / "chorus_electronics", tmp_path)

    assert time.monotonic() - begun < 30
    assert 0.6 < mean(collections / "chorus_electronics", run, "nDCG@10")


@pytest.mark.slow
def test_vectors_and_words_together_are_better_than_either_on_cranfield(minilm, collections, tmp_path):
    cranfield = collections / "cranfield"
    runs = {mode: searched(mode, cranfield, tmp_path / mode) for mode in ("lexical", "vector")}
    hybrid = make_fused("hybrid").fuse(runs, depth=1000)
    words, vectors = (mean(cranfield, run, "nDCG@10") for run in runs.values())
    near = searched("approximate", cranfield, tmp_path / "approximate", depth=10)

    assert 0.37 < vectors
    assert max(words, vectors, 0.41) < mean(cranfield, hybrid, "nDCG@10")
    assert 0.99 < recall_of(near, runs["vector"], 10).mean  # its vectors come from the cache
