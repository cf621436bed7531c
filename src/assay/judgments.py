"""Judgments, indexed once and reused for many runs. Does not read files or rank documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.arrays import Remembers, count_per_segment, starts
from assay.errors import DuplicateError, show_id
from assay.native import index as kernel
from assay.native.index import Index, Layout
from assay.rules import Duplicates
from assay.tables import Floats, Ids, Integers, Qrels, Run, as_ids


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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the documents; the kernel's index is rebuilt in the other process."""
        return Judgments, (self.queries, self.rel, self.pool, self.top_grade, self.source, self.docs)

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


def index_judgments(qrels: Qrels, duplicates: Duplicates = "error") -> Judgments:
    """Index judgments: sorted by query, with the grades of each query best first."""
    order = np.argsort(qrels.query, kind="stable")
    repeated = _repeated(qrels, order)
    if len(repeated):
        order = _without_repeats(qrels, order, repeated, duplicates)
    query, rel = qrels.query[order], qrels.rel[order]
    start = np.searchsorted(query, np.arange(len(qrels.queries) + 1))
    pool = Pool(rel[np.lexsort((-rel, query))], start)
    return Judgments(qrels.queries, rel, pool, float(rel.max(initial=0)), qrels.source, qrels.doc[order])


def read_plain_judgments(read: Callable[[int], bytes], layout: Layout, source: str) -> Judgments | None:
    """Judgments from a stream of text, or None if the kernel cannot read it."""
    found = kernel.read_judgments(read, layout)
    if found is None:
        return None
    kept, queries, start, rel, pool = found
    return Judgments(queries, rel, Pool(pool, start), float(pool.max(initial=0)), source, kept_index=kept)


def _repeated(qrels: Qrels, order: Integers) -> Integers:
    """Positions in `order`, ascending, that repeat an earlier query and document."""
    code: dict[str, int] = {}
    codes = np.fromiter((code.setdefault(doc, len(code)) for doc in qrels.doc), np.int64, len(qrels))
    key = (qrels.query * len(code) + codes)[order]
    by_key = np.argsort(key, kind="stable")
    return np.sort(by_key[1:][np.diff(key[by_key]) == 0])


def _without_repeats(qrels: Qrels, order: Integers, repeated: Integers, duplicates: Duplicates) -> Integers:
    """`order` with one judgment per query and document."""
    if duplicates == "error":
        raise duplicate_error(qrels, np.sort(order[repeated]), "judged", "the higher grade")
    kept: dict[tuple[int, str], int] = {}  # in order of first occurrence
    for row in order.tolist():
        pair = (int(qrels.query[row]), str(qrels.doc[row]))
        first = kept.setdefault(pair, row)
        if duplicates == "best" and qrels.rel[row] > qrels.rel[first]:
            kept[pair] = row
    return np.array(list(kept.values()), np.int64)


def duplicate_error(table: Qrels | Run, rows: Integers, verb: str, better: str, of: str = "") -> DuplicateError:
    """The error for rows that repeat a query and document; `of` names what else they have in common."""
    pairs = [(table.queries[table.query[row]], str(table.doc[row])) for row in rows.tolist()]
    query, doc = pairs[0]
    return DuplicateError(
        f"document {show_id(doc)} is {verb} more than once for query {show_id(query)}{of} "
        f"({len(pairs)} duplicate row{'s' if len(pairs) > 1 else ''} in total). Remove the duplicates, keep the first "
        f"(`duplicates='first'`), or keep {better} (`duplicates='best'`).",
        pairs=pairs,
        source=table.source,
        line=None if table.lines is None else int(table.lines[int(rows[0])]),
    )
