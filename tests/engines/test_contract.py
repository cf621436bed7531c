"""The contract of plug-ins: every mode of assay passes it, and whatever breaks a rule is told which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec import Struct

from assay.errors import ContractError
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.base import Hits, SearchesWhatItOpens, best_hits, distinct
from assay.retrieval.indexes import StoredIndex, building, open_index
from assay.retrieval.modes import KINDS
from assay.retrieval.rerankers.cross_encoder import CrossEncoder
from assay.retrieval.rerankers.late_interaction import LateInteraction
from assay.retrieval.reranking import Reranked, by_score
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
from assay.testing import DOCUMENTS, QUERIES, check_reranker, check_retriever

# The modes of assay


@pytest.mark.parametrize("retriever", [TantivyBM25(), BM25s(), BM25s(method="bm25l", language="none")])
def test_modes_by_words_keep_the_contract(retriever):
    check_retriever(retriever)


@pytest.mark.parametrize("retriever", [SQLite(), SQLite(tokenizer="trigram")])
def test_sqlite_keeps_the_contract(retriever):
    check_retriever(retriever)


@pytest.mark.parametrize("retriever", [Dense(), Approximate()])
def test_modes_with_a_model_keep_the_contract(retriever, minilm, fresh_cache):
    check_retriever(retriever)


def test_duckdb_keeps_the_contract(minilm, fresh_cache):
    pytest.importorskip("duckdb")
    check_retriever(DuckDB())


@pytest.mark.parametrize("retriever", [PostgresLexical(), PostgresLexical(ranking="ts_rank_cd", language="none")])
def test_postgres_by_words_keeps_the_contract(retriever, postgres):
    check_retriever(retriever)


@pytest.mark.parametrize(
    "retriever",
    [PostgresVector(), PostgresVector(method="hnsw"), PostgresHybrid(k=10)],
)
def test_postgres_with_a_model_keeps_the_contract(retriever, postgres, minilm, fresh_cache):
    check_retriever(retriever)


@pytest.mark.parametrize("retriever", [QdrantVectors(), QdrantVectors(method="hnsw")])
def test_qdrant_keeps_the_contract(retriever, qdrant, minilm, fresh_cache):
    check_retriever(retriever)


def test_vectors_of_your_own_keep_the_contract(tmp_path):
    random = np.random.default_rng(3)
    ids = list(dict.fromkeys(document.id for document in DOCUMENTS))
    for name, names in (("docs", ids), ("queries", list(QUERIES))):
        vectors = random.normal(size=(len(names), 8))
        vectors[1:3] = vectors[1]  # ties
        np.save(tmp_path / f"{name}.npy", vectors.astype(np.float32))
        (tmp_path / f"{name}.ids.txt").write_bytes("\n".join(names).encode("utf-8", "surrogateescape"))

    check_retriever(Vectors(documents=str(tmp_path / "docs.npy"), queries=str(tmp_path / "queries.npy")))


@pytest.mark.parametrize("reranker", [CrossEncoder(max_length=64), CrossEncoder(max_length=64, batch=4)])
def test_the_cross_encoder_keeps_the_contract(reranker, bert_mini):
    check_reranker(reranker)


def test_late_interaction_keeps_the_contract(minilm):
    check_reranker(LateInteraction(max_length=64))


def test_every_retriever_and_offline_reranker_is_checked_above():
    here = {TantivyBM25, BM25s, Dense, Approximate, Vectors, CrossEncoder, LateInteraction}
    here |= {SQLite, DuckDB, PostgresLexical, PostgresVector, PostgresHybrid, QdrantVectors}
    roles = {"retriever", "reranker"}

    assert set() == {
        kind.name
        for kind in KINDS.values()
        if kind.role in roles and kind.made_of not in here and not kind.name.startswith("llm-")
    }


# Retrievers that break a rule


class Overlap(SearchesWhatItOpens, Struct, frozen=True):
    """Counts the words that query and document share."""

    name: ClassVar[str] = "overlap"

    @property
    def settings(self) -> dict[str, Any]:
        return {"engine": "overlap"}

    def index(self, documents, folder, progress=None) -> None:
        with building(folder, self.settings) as build:
            if build is not None:
                words = {document.id: document.whole.split() for document in self.kept(documents())}
                (build.folder / "words").write_text(
                    "\n".join(map(" ".join, words.values())), "utf-8", "surrogateescape"
                )
                build.finish(list(words))

    def kept(self, documents: Iterator[Document]) -> Iterator[Document]:
        return distinct(documents)

    @contextmanager
    def open(self, folder) -> Iterator[OverlapSearcher]:
        stored = open_index(folder, self.settings)
        yield self.searcher(stored, (stored.folder / "words").read_text("utf-8", "surrogateescape").split("\n"))

    def searcher(self, stored: StoredIndex, lines: list[str]) -> OverlapSearcher:
        return OverlapSearcher(stored, lines)


class OverlapSearcher(Struct, frozen=True):
    stored: StoredIndex
    lines: list[str]
    change: Callable[[Hits, StoredIndex, int], Hits] | None = None

    @property
    def ids(self):
        return self.stored.ids

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        return [self.found(query, depth) for query in queries]

    def found(self, query: Query, depth: int) -> Hits:
        words = set(query.text.split())
        score = np.array([len(words.intersection(line.split())) for line in self.lines], float)
        rows = np.flatnonzero(score)
        if self.change is not None:
            return self.change(Hits(rows, score[rows]), self.stored, depth)
        return best_hits(rows, score[rows], self.stored.place, depth)


def changed(change: Callable[[Hits, StoredIndex, int], Hits]) -> Overlap:
    """A retriever that changes its hits before it returns them."""

    class Changed(Overlap, frozen=True):
        def searcher(self, stored: StoredIndex, lines: list[str]) -> OverlapSearcher:
            return OverlapSearcher(stored, lines, change)

    return Changed()


def with_settings(settings: Any) -> Overlap:
    class Other(Overlap, frozen=True):
        @property
        def settings(self) -> Any:
            return settings()

    return Other()


def test_a_small_retriever_keeps_the_contract():
    check_retriever(Overlap())


def by_row(hits: Hits, stored: StoredIndex, depth: int) -> Hits:
    order = np.argsort(-hits.score, kind="stable")[:depth]
    return Hits(hits.row[order], hits.score[order])


def rising(hits: Hits, stored: StoredIndex, depth: int) -> Hits:
    best = best_hits(hits.row, hits.score, stored.place, depth)
    return Hits(best.row[::-1], best.score[::-1])


COUNTER = iter(range(1_000_000))


@pytest.mark.parametrize(
    ("retriever", "message"),
    [
        (with_settings(lambda: {"at": next(COUNTER)}), "the settings change from one reading to the next. Leave out"),
        (with_settings(lambda: {"words": {"a"}}), "the settings cannot be written as JSON"),
        (with_settings(lambda: {"words": ("a", "b")}), "the settings are not the same after a round trip through JSON"),
        (with_settings(lambda: ["overlap"]), "settings is a list. Return a dict"),
        (changed(by_row), "documents with the same score are in no fixed order in query '"),
        (
            changed(lambda hits, stored, depth: best_hits(hits.row, hits.score, stored.place, 100)),
            "documents at depth 1",
        ),
        (
            changed(lambda hits, stored, depth: Hits(hits.row[:0], hits.score[:0])),
            "no query finds a document. If these",
        ),
        (changed(rising), "the scores of query 'byte' rise"),
        (
            changed(lambda hits, stored, depth: best_hits(hits.row, hits.score + next(COUNTER), stored.place, depth)),
            "two searches give two runs. Fix seeds and threads, or set `deterministic = False`",
        ),
    ],
)
def test_the_rule_that_a_retriever_breaks_is_named(retriever, message):
    with pytest.raises(ContractError) as refusal:
        check_retriever(
            retriever, documents=[*DOCUMENTS, Document("more", "a plate"), Document("most", "a plate of lift")]
        )

    assert message in str(refusal.value)


def test_an_index_that_is_used_unfinished_is_noticed():
    class Careless(Overlap, frozen=True):
        def kept(self, documents: Iterator[Document]) -> Iterator[Document]:
            try:
                yield from distinct(documents)
            except Exception:  # swallows the interruption, and finishes an index of half the documents
                return

    with pytest.raises(ContractError, match="was interrupted and built again gives another run"):
        check_retriever(Careless())


def test_an_index_that_is_built_each_time_is_noticed():
    class Eager(Overlap, frozen=True):
        def index(self, documents, folder, progress=None) -> None:
            list(documents())
            super().index(documents, folder, progress)

    with pytest.raises(ContractError, match=r"a finished index is built again. Return at once"):
        check_retriever(Eager())


def test_a_document_id_that_occurs_twice_is_found_once():
    class Doubled(Overlap, frozen=True):
        def index(self, documents, folder, progress=None) -> None:
            with building(folder, self.settings) as build:
                if build is not None:
                    found = list(documents())
                    (build.folder / "words").write_text(
                        "\n".join(document.whole for document in found), "utf-8", "surrogateescape"
                    )
                    build.finish([document.id for document in found])

    again = [Document("a", "lift of a body"), Document("a", "lift of wings"), Document("b", "lift")]
    with pytest.raises(ContractError, match=r"query 'q1' finds a document twice. Of documents with the same id"):
        check_retriever(Doubled(), documents=again)


# Rerankers that break a rule


class Shortest(Struct, frozen=True):
    """The shortest document first."""

    name: ClassVar[str] = "shortest"
    deterministic: ClassVar[bool] = True

    answer: Callable[[str, Sequence[Document]], Any] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {"engine": "shortest"}

    @contextmanager
    def open(self) -> Iterator[Shortest]:
        yield self

    def rerank(self, query: str, documents: Sequence[Document]) -> Any:
        if self.answer is not None:
            return self.answer(query, documents)
        return by_score([-len(document.text) for document in documents])


def test_a_small_reranker_keeps_the_contract():
    check_reranker(Shortest())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda query, documents: list(range(len(documents))), "rerank returns a list. Return a Reranked"),
        (lambda query, documents: Reranked((0, 0)), "the order for the query 'lift of a body' is not one of the 11"),
        (lambda query, documents: Reranked(tuple(range(1, len(documents) + 1))), "is not one of the 11 documents"),
        (lambda query, documents: Reranked(tuple(range(len(documents))), (1.0,)), "there are 1 scores for the query"),
        (
            lambda query, documents: Reranked(tuple(range(len(documents))), tuple(map(float, range(len(documents))))),
            "the scores for the query 'lift of a body' rise",
        ),
        (
            lambda query, documents: Reranked(tuple(range(len(documents))), (float("nan"),) * len(documents)),
            "scores for the query 'lift of a body' are not finite",
        ),
        (
            lambda query, documents: by_score([next(COUNTER)] * len(documents)),
            "gets another order when it is asked again. Fix seeds",
        ),
    ],
)
def test_the_rule_that_a_reranker_breaks_is_named(answer, message):
    with pytest.raises(ContractError) as refusal:
        check_reranker(Shortest(answer))

    assert message in str(refusal.value)
