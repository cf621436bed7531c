"""The first documents of each query of a run, best first, and which of them another run has. Reads no files.

A head is enough for everything that looks at the top of rankings, and takes a tenth of the memory of the run or less. The
kernel makes it straight from the text of a run; NumPy makes the same from a table.
"""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np
from msgspec import Struct

from assay import native
from assay.arrays import starts
from assay.errors import AssayError
from assay.native.index import Index, KernelHeads, index_judgments
from assay.ranking import rank_rows
from assay.rules import Rules
from assay.tables import Floats, Ids, Integers, Run, as_ids

DEEPEST = 2**31 - 1  # of a head


class Heads(Struct, frozen=True, eq=False, dict=True):
    """The first documents of each query, one row per document, by query in byte order and best first.

    Whichever of Python and the kernel read the documents keeps them; the other gets them on demand.
    """

    depth: int  # the most documents of a query
    queries: tuple[str, ...]
    start: Integers  # query i has the rows start[i]:start[i + 1]
    score: Floats
    retrieved: Integers  # per query: how many documents the run has for it
    kept_docs: Ids | None = None
    kept_index: Index | None = None

    @cached_property
    def docs(self) -> Ids:
        """The documents."""
        if self.kept_docs is not None:
            return self.kept_docs
        return as_ids([] if self.kept_index is None else self.kept_index.documents())

    @cached_property
    def index(self) -> Index | None:
        """The kernel's index of the documents, if the kernel is available."""
        return self.kept_index or index_judgments(self.queries, self.start, list(self.docs))

    @cached_property
    def place(self) -> dict[str, int]:
        """The index of each query in `queries`."""
        return {query: place for place, query in enumerate(self.queries)}

    @property
    def lengths(self) -> Integers:
        """The number of documents of each query."""
        return np.diff(self.start)

    @cached_property
    def query(self) -> Integers:
        """For each row, the index of its query."""
        return np.repeat(np.arange(len(self.queries)), self.lengths)

    @cached_property
    def rank(self) -> Integers:
        """For each row, its rank, from 1."""
        return np.arange(1, len(self.score) + 1) - self.start[self.query]

    def documents_at(self, rows: Integers) -> list[str]:
        """The documents of some rows; only these become text."""
        if self.kept_docs is None and self.kept_index is not None and "docs" not in self.__dict__:
            return self.kept_index.documents_at(rows)
        return list(self.docs[rows])


def heads_from_kernel(found: KernelHeads, depth: int) -> Heads:
    """The kernel's result as heads."""
    index, queries, start, score, retrieved = found
    return Heads(depth, queries, start, score, retrieved, kept_index=index)


def heads_of_table(run: Run, depth: int, rules: Rules = Rules()) -> Heads:
    """The first documents of each query under the rules.

    >>> run = Run.from_columns(["q", "q", "q", "p"], ["a", "b", "c", "a"], [1.0, 1.0, 2.0, 0.5])
    >>> heads = heads_of_table(run, 2)
    >>> heads.queries, heads.start.tolist(), heads.docs.tolist(), heads.retrieved.tolist()
    (('p', 'q'), [0, 1, 3], ['a', 'c', 'b'], [1, 3])
    """
    rows = rank_rows(run, run.query, rules)
    near = np.flatnonzero(rows.rank[rows.tie_first] <= depth)  # ties across the end are settled next
    rank = rows.ranks(near)
    kept = np.flatnonzero(rank <= depth)
    kept = kept[np.lexsort((rank[kept], rows.query[near[kept]]))]
    chosen = near[kept]
    retrieved = np.bincount(rows.query, minlength=len(run.queries))
    start = starts(np.minimum(retrieved, depth))
    return Heads(depth, run.queries, start, rows.score[chosen], retrieved, kept_docs=rows.doc[chosen])


def checked_depth(depth: int) -> int:
    """A depth, if it is one."""
    if type(depth) is not int or not 1 <= depth <= DEEPEST:
        raise AssayError(f"a depth cannot be {depth!r}; it takes a whole number of documents, from 1 to {DEEPEST:,}.")
    return depth


def ranks_in(heads: Heads, other: Heads) -> Integers:
    """For each document of `heads`, its rank for the same query in `other`; 0 if it is not there.

    >>> one = heads_of_table(Run.from_columns(["q", "q", "p"], ["a", "b", "a"], [2.0, 1.0, 1.0]), 10)
    >>> ranks_in(one, heads_of_table(Run.from_columns(["q", "q"], ["b", "c"], [2.0, 1.0]), 10)).tolist()
    [0, 0, 1]
    """
    if native.enabled() and heads.index is not None and other.index is not None:
        return heads.index.places_in(other.index)
    ranks = np.zeros(len(heads.score), np.int64)
    docs, others = heads.docs.tolist(), other.docs.tolist()
    for query, (first, end) in zip(heads.queries, _segments(heads), strict=True):
        at = other.place.get(query)
        if at is not None:
            known = others[other.start[at] : other.start[at + 1]]
            place = dict(zip(known, range(1, len(known) + 1), strict=True))
            ranks[first:end] = [place.get(doc, 0) for doc in docs[first:end]]
    return ranks


def _segments(heads: Heads) -> list[tuple[int, int]]:
    ends = heads.start.tolist()
    return list(itertools.pairwise(ends))


class Recall(Struct, frozen=True):
    """How many of the best documents of exact search approximate search finds, as shares of one."""

    depth: int
    queries: int
    mean: float
    p5: float  # 5th percentile over the queries: 95 % of them find at least this share


def recalls_of(found: Heads, exact: Heads, depth: int) -> Floats:
    """For each query of exact search that found something: the share of its first documents that `found` has among its own.

    A query that `found` lacks has recall 0.
    """
    rank, other = exact.rank, ranks_in(exact, found)
    wanted = np.minimum(exact.lengths, depth)
    hit = (rank <= depth) & (other > 0) & (other <= depth)
    count = np.bincount(exact.query[hit], minlength=len(exact.queries))
    some = wanted > 0
    return count[some] / wanted[some]


def recall_of(approximate: Run, exact: Run, depth: int) -> Recall | None:
    """The share of the best documents of exact search that approximate search found; None if exact search found none.

    >>> exact = Run.from_columns(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    >>> recall_of(Run.from_columns(["q"] * 2, ["a", "c"], [3.0, 1.0]), exact, depth=2)
    Recall(depth=2, queries=1, mean=0.5, p5=0.5)
    """
    return summed_recall(recalls_of(heads_of_table(approximate, depth), heads_of_table(exact, depth), depth), depth)


def summed_recall(shares: Floats, depth: int) -> Recall | None:
    """The recall of each query as one value; None if there is no query."""
    if not len(shares):
        return None
    return Recall(depth, len(shares), float(np.mean(shares)), float(np.percentile(shares, 5)))
