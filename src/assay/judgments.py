"""Judgments, indexed once and reused for many runs. Does not read files or rank documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.arrays import Remembers, count_per_segment, starts
from assay.judges import Agreement, merge_judges
from assay.native import index as kernel
from assay.native.index import Index, Layout
from assay.rules import Judges
from assay.tables import Floats, Ids, Integers, Qrels, as_ids


class Pool(Remembers, frozen=True, eq=False):
    """Grades of all judged documents, query by query, best first. Caches what is computed from it."""

    grade: Floats
    start: Integers  # query i has grade[start[i]:start[i + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def query(self) -> Integers:
        """For each grade, the index of its query."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def longest(self) -> int:
        """The largest number of judged documents of any query."""
        return int(np.diff(self.start).max(initial=0))

    def at_least(self, grade: float) -> Integers:
        """The number of documents of each query with at least this grade."""
        return self.remember(("at_least", grade), lambda: count_per_segment(self.grade >= grade, self.start))

    def select(self, chosen: Integers) -> Pool:
        """The pool of some of the queries."""
        return Pool(self.grade[self.rows_of(chosen)], starts(np.diff(self.start)[chosen]))

    def rows_of(self, chosen: Integers) -> Integers:
        """The rows of some of the queries."""
        size = np.diff(self.start)[chosen]
        start = starts(size)
        return np.repeat(self.start[:-1][chosen] - start[:-1], size) + np.arange(start[-1])


class Judgments(Struct, frozen=True, eq=False, dict=True):
    """Judgments sorted by query in byte order; within a query, in input order.

    Whichever of Python and the kernel read the documents keeps them; the other gets them on demand.
    """

    queries: tuple[str, ...]
    rel: Floats
    pool: Pool  # its `start` also divides the judgments by query
    top_grade: float
    source: str
    kept_docs: Ids | None = None
    kept_index: Index | None = None
    agreement: Agreement | None = None  # of the judges, if documents had several judgments; also that of all queries

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the documents; the kernel's index is rebuilt in the other process."""
        columns = (self.queries, self.rel, self.pool, self.top_grade, self.source, self.docs)
        return Judgments, (*columns, None, self.agreement)

    @cached_property
    def docs(self) -> Ids:
        """The judged documents."""
        if self.kept_docs is not None:
            return self.kept_docs
        return as_ids([] if self.kept_index is None else self.kept_index.documents())

    @cached_property
    def doc_list(self) -> list[str]:
        """The judged documents as a list."""
        return list(self.docs)

    @cached_property
    def index(self) -> Index | None:
        """The kernel's index, if the kernel is available."""
        return self.kept_index or kernel.index_judgments(self.queries, self.pool.start, self.doc_list)

    @cached_property
    def place(self) -> dict[str, int]:
        """The index of each query in `queries`."""
        return {query: place for place, query in enumerate(self.queries)}

    @cached_property
    def lookup(self) -> Lookup:
        """Finds judgments by query and document."""
        return Lookup(self.pool.query, self.docs)

    def select(self, queries: Iterable[str]) -> Judgments:
        """The judgments of some of the queries; `top_grade` is still that of all judgments."""
        chosen = np.array(sorted({self.place[query] for query in queries}), np.int64)
        rows = self.pool.rows_of(chosen)
        names = tuple(self.queries[index] for index in chosen)
        pool = self.pool.select(chosen)
        return replace(self, queries=names, rel=self.rel[rows], pool=pool, kept_docs=self.docs[rows], kept_index=None)


class Lookup:
    """Vectorised lookup of judgments by query and document."""

    def __init__(self, query: Integers, docs: Ids) -> None:
        self._code: dict[str, int] = {}
        codes = np.fromiter((self._code.setdefault(doc, len(self._code)) for doc in docs), np.int64, len(docs))
        key = query * len(self._code) + codes
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]

    def codes(self, docs: Ids) -> Integers:
        """A number for each document, -1 if it is unjudged."""
        return np.fromiter((self._code.get(doc, -1) for doc in docs), np.int64, len(docs))

    def find(self, query: Integers, code: Integers) -> Integers:
        """The index of the judgment of each query and document, or -1."""
        if not len(self._key):
            return np.full(len(code), -1)
        key = query * len(self._code) + code
        place = np.minimum(np.searchsorted(self._key, key), len(self._key) - 1)
        return np.where((code >= 0) & (self._key[place] == key), self._order[place], -1)


def index_judgments(qrels: Qrels, judges: Judges = "error", *, whole_grades: bool = False) -> Judgments:
    """Index judgments: sorted by query, with the grades of each query best first.

    `whole_grades` truncates grades to whole numbers, after the grades of several judges have become one.
    """
    agreement = None
    if _has_repeats(qrels):
        merged = merge_judges(qrels, judges)
        qrels, agreement = merged.qrels, merged.agreement
    qrels = qrels.whole_grades() if whole_grades else qrels
    order = np.argsort(qrels.query, kind="stable")
    query, rel = qrels.query[order], qrels.rel[order]
    start = np.searchsorted(query, np.arange(len(qrels.queries) + 1))
    pool = Pool(rel[np.lexsort((-rel, query))], start)
    top_grade = float(rel.max(initial=0))
    return Judgments(qrels.queries, rel, pool, top_grade, qrels.source, qrels.doc[order], agreement=agreement)


def read_plain_judgments(read: Callable[[int], bytes], layout: Layout, source: str) -> Judgments | None:
    """Judgments from a stream of text, or None if the kernel cannot read it."""
    found = kernel.read_judgments(read, layout)
    if found is None:
        return None
    kept, queries, start, rel, pool = found
    return Judgments(queries, rel, Pool(pool, start), float(pool.max(initial=0)), source, kept_index=kept)


def _has_repeats(qrels: Qrels) -> bool:
    """Whether a document is judged more than once for a query."""
    code: dict[str, int] = {}
    codes = np.fromiter((code.setdefault(doc, len(code)) for doc in qrels.doc), np.int64, len(qrels))
    key = np.sort(qrels.query * len(code) + codes, kind="stable")
    return bool((key[1:] == key[:-1]).any())
