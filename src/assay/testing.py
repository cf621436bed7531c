"""Check a retriever or reranker of your own against the rules of its interface, in a test of yours.

    from assay.testing import check_retriever

    def test_my_retriever():
        check_retriever(MyRetriever())

The modes of assay pass the same checks. A rule that is broken raises ContractError, which says what to do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import AssayError, ContractError, show_id, some_of
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.base import Retriever
from assay.retrieval.reranking import OpenReranker, Reranked, Reranker
from assay.tables import Run

__all__ = ["DOCUMENTS", "QUERIES", "check_reranker", "check_retriever"]

_DEPTH = 10
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")

DOCUMENTS = (
    Document("lift", "the lift of wings in a slipstream", "Wings"),
    Document("heat", "heating of a blunt body"),
    Document("drag", "drag and lift of a blunt body"),
    Document("same-1", "pressure on a flat plate"),
    Document("same-2", "pressure on a flat plate"),  # ties with the one before
    Document("lift", "of documents with one id, the first counts"),
    Document("two words", "a plate in a supersonic stream"),
    Document("Ünï/çøde", "a plate at an angle of attack"),
    Document("byte-\udce9", "a plate with a bad byte \udce9"),  # as a byte that is not UTF-8 is read
    Document("empty", ""),
    Document("long", "boundary layer of a plate " * 100),
)
QUERIES = {
    "q1": "lift of a body",
    "q2": "pressure on a plate",
    "q 3": "what lifts wings?",
    "same": "lift of a body",
    "unknown": "qwxzk vbnmt",
    "empty": "",
    "blank": " \t ",
    "signs": 'plate AND (lift OR "drag" +body:* ~2 \\ [',
    "byte": "plate \udce9",
    "long": "plate " * 300,
}


def check_retriever(
    retriever: Retriever, *, documents: Sequence[Document] = DOCUMENTS, queries: Mapping[str, str] = QUERIES
) -> None:
    """Raise ContractError if a retriever breaks a rule of its interface (`assay.retrieval.base.Retriever`).

    It is built, interrupted, searched and opened in temporary folders, with documents and queries that are hard to
    handle. Give others if yours finds nothing among them, such as one that needs vectors of its own.
    """
    _check_settings(retriever, "retriever")
    with TemporaryDirectory(prefix="assay-check-") as folder:
        case = _Case(retriever, tuple(documents), queries, Path(folder))
        case.index(case.whole)
        for rule in _RETRIEVER_RULES:
            rule(case)


def check_reranker(
    reranker: Reranker, *, documents: Sequence[Document] = DOCUMENTS, queries: Mapping[str, str] = QUERIES
) -> None:
    """Raise ContractError if a reranker breaks a rule of its interface (`assay.retrieval.reranking.Reranker`).

    It orders all documents for each query, and is asked again if it says that it is deterministic.
    """
    _check_settings(reranker, "reranker")
    if not isinstance(getattr(reranker, "deterministic", None), bool):
        _broken("it has no `deterministic`", "Write `deterministic: ClassVar[bool] = True` in the class.")
    given = tuple(documents)
    with reranker.open() as opened:
        first = {id: _reranked(opened, text, given) for id, text in queries.items()}
        _reranked(opened, "lift", ())
        _reranked(opened, "lift", given[:1])
    if reranker.deterministic:
        _check_same_again(reranker, queries, given, first)


# What retrievers and rerankers have in common


def _broken(problem: str, fix: str) -> NoReturn:
    raise ContractError(f"{problem}. {fix}")


def _check_settings(way: Any, what: str) -> None:
    name = getattr(way, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        _broken(
            f"the name of the {what} is {name!r}", 'Give the class a name for recipes: `name: ClassVar[str] = "mine"`.'
        )
    settings = way.settings
    if not isinstance(settings, Mapping):
        _broken(f"settings is a {type(settings).__name__}", "Return a dict with everything that decides the result.")
    try:
        written = json.dumps(dict(settings), allow_nan=False)
    except (TypeError, ValueError) as error:
        _broken(
            f"the settings cannot be written as JSON ({error})",
            "Use text, numbers, true and false, None, lists and dicts only.",
        )
    if json.loads(written) != dict(settings):
        _broken(
            "the settings are not the same after a round trip through JSON",
            "Use lists instead of tuples, and text as keys.",
        )
    if dict(way.settings) != dict(settings):
        _broken("the settings change from one reading to the next", "Leave out times, counters and random numbers.")


# Retrievers


class _Interruption(Exception):
    """Stops indexing, as a kill would."""


_Rows: TypeAlias = dict[str, list[tuple[str, float]]]  # query -> documents and scores, best first


class _Case(Struct, frozen=True, dict=True):
    retriever: Retriever
    documents: tuple[Document, ...]
    queries: Mapping[str, str]
    folder: Path

    @property
    def deterministic(self) -> bool:
        return bool(getattr(self.retriever, "deterministic", True))

    @property
    def whole(self) -> Path:
        return self.folder / "whole"

    def corpus(self) -> Iterator[Document]:
        return iter(self.documents)

    def index(self, folder: Path, documents: Callable[[], Iterator[Document]] | None = None) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        self.retriever.index(documents or self.corpus, folder)
        return folder

    def search(self, folder: Path, queries: Mapping[str, str] | None = None, depth: int = _DEPTH) -> _Rows:
        run = self.retriever.search(folder, self.queries if queries is None else queries, depth)
        if not isinstance(run, Run):
            _broken(
                f"search returns a {type(run).__name__}", "Return a Run: `assay.retrieval.base.search_with` makes it."
            )
        return _rows_of(run)


def _rows_of(run: Run) -> _Rows:
    rows: _Rows = {query: [] for query in run.queries}
    for query, doc, score in zip(run.query.tolist(), run.doc.tolist(), run.score.tolist(), strict=True):
        rows[run.queries[query]].append((doc, score))
    return rows


def _unfinished_indexes_are_not_used(case: _Case) -> None:
    def interrupted() -> Iterator[Document]:
        yield from case.documents[: len(case.documents) // 2]
        raise _Interruption

    folder = case.folder / "killed"
    try:
        case.index(folder, interrupted)
    except _Interruption:
        try:
            found = case.search(folder)
        except AssayError:
            found = {}
        if found:
            _broken(
                "an index whose building was interrupted is searched",
                "Build it inside `with building(folder, settings)` of assay.retrieval.indexes.",
            )
    if case.search(case.index(folder)) != case.search(case.whole) and case.deterministic:
        _broken(
            "an index that was interrupted and built again gives another run",
            "Begin again from nothing, or only keep what is complete.",
        )


def _finished_indexes_are_not_built_again(case: _Case) -> None:
    def refused() -> Iterator[Document]:
        if case.documents:
            raise _Interruption
        yield from ()

    try:
        case.index(case.whole, refused)
    except _Interruption:
        _broken("a finished index is built again", "Return at once if one with the same settings is in the folder.")


def _runs_are_rankings(case: _Case) -> None:
    """Known queries and documents, each once, with falling scores, ties by id, and no more than the depth."""
    rows = case.search(case.whole)
    known = {document.id for document in case.documents}
    if not any(rows.values()):
        _broken(
            "no query finds a document", "If these documents do not suit it, give others: `documents=`, `queries=`."
        )
    if extra := [query for query in rows if query not in case.queries]:
        _broken(f"the run has queries that nobody asked ({some_of(extra)})", "Use the ids of the queries.")
    for query, found in rows.items():
        docs, scores = [doc for doc, _ in found], [score for _, score in found]
        where = f"query {show_id(query)!r}"
        if invented := [doc for doc in docs if doc not in known]:
            _broken(
                f"{where} finds documents that are not in the collection ({some_of(invented)})",
                "Return the ids of the documents, byte for byte, also with blanks and other characters.",
            )
        if len(set(docs)) < len(docs):
            _broken(f"{where} finds a document twice", "Of documents with the same id, keep the first: `distinct`.")
        if len(docs) > _DEPTH:
            _broken(f"{where} finds {len(docs)} documents at depth {_DEPTH}", "Return the best `depth` documents.")
        if scores != sorted(scores, reverse=True):
            _broken(f"the scores of {where} rise", "Sort by falling scores: `best_hits` does.")
        ties = [(-score, _descending(doc)) for doc, score in found]
        if ties != sorted(ties):
            _broken(
                f"documents with the same score are in no fixed order in {where}",
                "Order them by id, descending: `best_hits` with `stored.place` does.",
            )


def _descending(doc: str) -> tuple[int, ...]:
    """A key that sorts ids from last to first, byte by byte; a longer id comes before its beginning."""
    return (*(-byte for byte in doc.encode("utf-8", "surrogateescape")), 1)


def _the_same_question_gets_the_same_answer(case: _Case) -> None:
    if not case.deterministic:
        return
    first = case.search(case.whole)
    if first != case.search(case.whole):
        _broken("two searches give two runs", "Fix seeds and threads, or set `deterministic = False`.")
    again = case.folder / "again"
    if first != case.search(case.index(again)):
        _broken("the same documents indexed twice give two runs", "Fix the order and seeds of indexing.")
    names = list(case.queries)
    some = case.search(case.whole, {query: case.queries[query] for query in names[::-2]})
    best = case.search(case.whole, depth=1)
    for query in names:
        if query in names[::-2] and some.get(query, []) != first.get(query, []):
            _broken(
                f"query {show_id(query)!r} finds something else when it is asked with other queries",
                "The answer must not depend on the other queries.",
            )
        if best.get(query, []) != first.get(query, [])[:1]:
            _broken(
                f"at depth 1, query {show_id(query)!r} does not find the first document of depth {_DEPTH}",
                "A smaller depth is the beginning of the same ranking, also where scores are equal at the cutoff.",
            )


def _an_open_index_answers_many_queries(case: _Case) -> None:
    expected = case.search(case.whole)
    asked = [Query(id, text) for id, text in case.queries.items()]
    with case.retriever.open(case.whole) as searcher:

        def ask(query: Query) -> list[tuple[str, float]]:
            answers = searcher.find([query], _DEPTH)
            if len(answers) != 1:
                _broken(f"find gives {len(answers)} answers to 1 query", "Return one Hits for each query, in order.")
            (hits,) = answers
            rows, scores = np.asarray(hits.row), np.asarray(hits.score, np.float64)
            if len(rows) != len(scores) or (len(rows) and not 0 <= rows.min() <= rows.max() < len(searcher.ids)):
                _broken("find gives rows that are not in `ids`", "Hits have one row of `ids` and one score each.")
            return list(zip(searcher.ids[rows].tolist(), scores.tolist(), strict=True))

        one_by_one = {query.id: ask(query) for query in asked}
        with ThreadPoolExecutor(2) as pool:
            at_once = dict(zip(case.queries, pool.map(ask, asked), strict=True))
    for query in case.queries:
        if case.deterministic and one_by_one[query] != expected.get(query, []):
            _broken(f"find and search differ for query {show_id(query)!r}", "Make `search` from `find`: `search_with`.")
        if case.deterministic and at_once[query] != one_by_one[query]:
            _broken(
                f"query {show_id(query)!r} finds something else when two threads ask", "Share nothing that changes."
            )


_RETRIEVER_RULES = (
    _runs_are_rankings,
    _the_same_question_gets_the_same_answer,
    _finished_indexes_are_not_built_again,
    _unfinished_indexes_are_not_used,
    _an_open_index_answers_many_queries,
)


# Rerankers


def _reranked(opened: OpenReranker, query: str, documents: Sequence[Document]) -> Reranked:
    found = opened.rerank(query, documents)
    where = f"for the query {show_id(query)!r}"
    if not isinstance(found, Reranked):
        _broken(f"rerank returns a {type(found).__name__}", "Return a Reranked: `by_score` makes one of scores.")
    if sorted(found.order) != list(range(len(documents))):
        _broken(
            f"the order {where} is not one of the {len(documents)} documents",
            "It has the position of each document exactly once, from 0.",
        )
    if found.scores is not None:
        if len(found.scores) != len(documents):
            _broken(f"there are {len(found.scores)} scores {where}", "Give one for each document, or None.")
        if not all(map(math.isfinite, found.scores)):
            _broken(f"scores {where} are not finite", "Give every document a number.")
        if list(found.scores) != sorted(found.scores, reverse=True):
            _broken(f"the scores {where} rise", "Scores are in the new order, best first: `by_score` does that.")
    return found


def _check_same_again(
    reranker: Reranker, queries: Mapping[str, str], documents: Sequence[Document], first: Mapping[str, Reranked]
) -> None:
    advice = "Fix seeds and batches, or set `deterministic = False`."
    with reranker.open() as opened, ThreadPoolExecutor(2) as pool:
        at_once = dict(
            zip(queries, pool.map(lambda text: opened.rerank(text, documents), queries.values()), strict=True)
        )
    with reranker.open() as opened:
        for query, text in reversed(list(queries.items())):
            if opened.rerank(text, documents) != first[query]:
                _broken(f"the query {show_id(query)!r} gets another order when it is asked again", advice)
            if at_once[query] != first[query]:
                _broken(f"the query {show_id(query)!r} gets another order when two threads ask", advice)
