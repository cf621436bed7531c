"""Modes by name: settings, errors, and hybrids of other modes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.errors import AssayError, FusionError, RetrievalError
from assay.fusion import METHODS, fuse
from assay.retrieval.modes import MODES, make_fused, make_retriever
from assay.retrieval.retrievers.approximate import Approximate
from assay.retrieval.retrievers.bm25s import BM25s
from assay.retrieval.retrievers.dense import Dense
from assay.retrieval.retrievers.duckdb import DuckDB
from assay.retrieval.retrievers.lexical import TantivyBM25
from assay.retrieval.retrievers.postgres_hybrid import PostgresHybrid
from assay.retrieval.retrievers.postgres_lexical import PostgresLexical
from assay.retrieval.retrievers.postgres_vector import PostgresVector
from assay.retrieval.retrievers.qdrant import QdrantVectors
from assay.retrieval.retrievers.sqlite import SQLite
from assay.retrieval.retrievers.vectors import Vectors
from assay.tables import Run

WORDS = Run.from_columns(["q", "q", "p"], ["a", "b", "a"], [9.0, 8.0, 1.0])
VECTORS = Run.from_columns(["q", "q", "q"], ["b", "c", "a"], [0.7, 0.6, 0.1])
RUNS = {"lexical": WORDS, "vector": VECTORS}


def test_every_mode_makes_its_retriever():
    files = {"vectors": {"documents": "docs.npy", "queries": "queries.npy"}}  # the only ones without a default
    names = [name for name, mode in MODES.items() if mode.role == "retriever"]

    made = [
        Approximate,
        BM25s,
        DuckDB,
        TantivyBM25,
        PostgresHybrid,
        PostgresLexical,
        PostgresVector,
        QdrantVectors,
        SQLite,
        Dense,
        Vectors,
    ]
    assert made == [type(make_retriever(name, files.get(name))) for name in names]


def test_settings_reach_the_retriever():
    assert BM25s(k1=0.9, method="atire") == make_retriever("bm25s", {"k1": 0.9, "method": "atire"})
    assert Dense(max_length=128) == make_retriever("vector", {"max_length": 128})


def test_no_engine_is_loaded_before_it_is_asked_for():
    engines = {"tantivy", "bm25s", "onnxruntime", "usearch", "psycopg", "duckdb", "httpx"}
    code = f"import sys, assay.retrieval.modes; print({engines!r} & set(sys.modules))"

    assert b"set()\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout


def test_a_hybrid_is_reciprocal_rank_fusion_with_k_60_unless_told_otherwise():
    fused = make_fused("hybrid").fuse(RUNS)

    assert ["a", "b", "a", "c"] == fused.doc.tolist()
    assert [1 / 61, 1 / 61 + 1 / 62, 1 / 61 + 1 / 63, 1 / 62] == pytest.approx(fused.score.tolist())
    assert {
        "engine": "fusion",
        "modes": ["lexical", "vector"],
        "method": "rrf",
        "norm": "none",
        "weights": None,
        "k": 60,
    } == make_fused("hybrid").settings


def test_any_fusion_of_the_registry_will_do():
    for name, method in METHODS.items():
        settings = {"method": name, "norm": "min-max", **({"weights": [1, 2]} if method.weights == "required" else {})}
        fused = make_fused("hybrid", settings).fuse(RUNS, depth=2)
        same = fuse([WORDS, VECTORS], depth=2, **settings)

        assert (same.doc.tolist(), same.score.tolist()) == (fused.doc.tolist(), fused.score.tolist())


def test_the_order_of_modes_is_that_of_their_weights():
    heavy = make_fused("hybrid", {"modes": ["vector", "lexical"], "method": "weighted", "weights": [1, 0]})

    assert ["a", "b", "c", "a"] == heavy.fuse(RUNS).doc.tolist()  # p is only in the lexical run, whose weight is 0


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: make_retriever("lexica"), RetrievalError, "there is no mode 'lexica'; did you mean 'lexical'?"),
        (
            lambda: make_retriever("hybrid"),
            RetrievalError,
            "hybrid is not a retriever; it takes the runs of other",
        ),
        (lambda: make_fused("vector"), RetrievalError, "vector does not fuse other modes."),
        (
            lambda: make_retriever("bm25s", {"k": 1}),
            RetrievalError,
            "bm25s has no setting 'k'; did you mean 'k1'? It has",
        ),
        (lambda: make_fused("hybrid", {"alpha": 1}), RetrievalError, "hybrid has no setting 'alpha'. It has modes, "),
        (lambda: make_fused("hybrid", {"modes": []}), RetrievalError, "modes cannot be []; it takes a list of names"),
        (
            lambda: make_fused("hybrid", {"weights": [1]}),
            FusionError,
            "weights cannot be [1]; it takes a list of numbers",
        ),
        (lambda: make_fused("hybrid", {"method": "rff"}), FusionError, ""),
        (lambda: make_fused("hybrid", {"k": -3}), FusionError, ""),
        (lambda: make_fused("hybrid").fuse({"vector": VECTORS}), RetrievalError, "no run of lexical to fuse"),
    ],
)
def test_what_cannot_be_is_refused(make, error, words):
    with pytest.raises(AssayError) as refusal:
        make()

    assert error is type(refusal.value)
    assert str(refusal.value).startswith(words)
