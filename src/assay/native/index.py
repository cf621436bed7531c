"""The kernel's index of judgments, and its functions with Python types.

The functions return None for input that the kernel does not handle. NumPy then does the work and reports errors, so all
messages come from one place. Call them only if `native.enabled()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.native import enabled, kernel
from assay.tables import Floats, Ids, Integers

KernelHits: TypeAlias = Any  # a result of module.cpp, for `marking.ranking_from_kernel`

KernelHeads: TypeAlias = "tuple[Index, tuple[str, ...], Integers, Floats, Integers]"  # for `heads.heads_from_kernel`

_NUMBERS = (float, int, bool, *(np.dtype(letter).type for letter in "dfeglqihbQLIHB"))


class Layout(Struct, frozen=True):
    """The index of each column, -1 for none, and the dialect. Must match lines.hpp."""

    query: int
    doc: int
    value: int
    rank: int = -1
    tag: int = -1
    width: int = 0
    or_more: bool = False
    blank_lines: bool = True
    comments: bool = True
    stray_returns: bool = False
    keep_mark: bool = False
    whole_values: bool = False
    header: bool = False
    tabs_only: bool = False


class RankingRules(Struct, frozen=True):
    """The rules that affect ranks. Must match ranking.hpp."""

    ties: int
    duplicates: int
    by_rank_column: bool
    ties_by_rank_column: bool
    float32: bool
    drop_self_match: bool

    @property
    def needs_ranks(self) -> bool:
        """Whether the rank column is used."""
        return self.by_rank_column or self.ties_by_rank_column


class Interleaved(Exception):
    """The queries of a run are interleaved: open it again and gather it in memory."""


class Index:
    """The kernel's index of judgments, shared by many runs and threads."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._dicts: Any = None  # created for the first dict

    def documents(self) -> list[str]:
        """The judged documents, in the order of the judgments."""
        documents: list[str] = kernel.documents(self._handle)
        return documents

    def documents_at(self, numbers: Integers) -> list[str]:
        """Some of the judged documents, by their numbers in the order of the judgments."""
        documents: list[str] = kernel.documents_at(self._handle, np.ascontiguousarray(numbers))
        return documents

    def places_in(self, other: Index) -> Integers:
        """For each document, which document of the same query it is in the other index, from 1; 0 if it is not there."""
        return np.frombuffer(kernel.places_in(self._handle, other._handle), np.int64)

    def hits_in_file(
        self, file: int, size: int, layout: Layout, rules: RankingRules, threads: int, *, gathered: bool = False
    ) -> KernelHits:
        """A run in an open file."""
        return kernel.join_file(self._handle, file, size, astuple(layout), astuple(rules), threads, gathered)

    def hits_in_text(
        self, read: Callable[[int], bytes], layout: Layout, rules: RankingRules, *, gathered: bool = False
    ) -> KernelHits:
        """A run in a stream: `read(size)` returns at most `size` bytes, and none only at the end."""
        return kernel.join_text(self._handle, read, astuple(layout), astuple(rules), gathered)

    def hits_in_rows(
        self, place: Integers, doc: Ids, score: Floats, rank: Integers | None, rules: RankingRules
    ) -> KernelHits:
        """Rows in memory; `place` is the index of each row's judged query, or -1."""
        return kernel.join_table(self._handle, place, doc, score, rank, astuple(rules))

    def hits_in_arrow(self, stream: Any, layout: Layout, rules: RankingRules) -> KernelHits:
        """A capsule with an Arrow C stream."""
        return kernel.join_arrow(self._handle, stream, astuple(layout), astuple(rules))

    def hits_in_dict(
        self, run: dict[str, dict[str, float]], docs: list[str], place: dict[str, int], rules: RankingRules
    ) -> KernelHits:
        """A dict of dicts; `docs` are the judged documents and `place` the judged queries, the same for all runs."""
        if self._dicts is None:
            self._dicts = kernel.dict_index(self._handle, docs, place, _NUMBERS)
        return kernel.join_dict(self._dicts, run, astuple(rules))


def read_judgments(
    read: Callable[[int], bytes], layout: Layout
) -> tuple[Index, tuple[str, ...], Integers, Floats, Floats] | None:
    """Read judgments from a text stream: index, queries, start of each query, grades, and grades best first."""
    found = kernel.read_judgments(read, astuple(layout))
    if found is None:
        return None
    handle, queries, start, rel, pool = found
    return Index(handle), queries, np.frombuffer(start, np.int64), np.frombuffer(rel), np.frombuffer(pool)


class RunColumns(Struct, frozen=True, eq=False):
    """Rows of a run, column by column."""

    docs: list[Any]  # of text, or of bytes
    queries: list[bytes]  # of consecutive rows,
    query_rows: Integers  # and how many rows each of them has
    tags: list[bytes]  # the same; empty if the layout has no such column
    tag_rows: Integers
    score: Floats
    rank: Integers  # 0 if the layout has no such column

    def __len__(self) -> int:
        return len(self.docs)


def read_columns(text: bytes, layout: Layout, *, as_text: bool = True) -> RunColumns | None:
    """All rows of a piece of a run, which has whole lines; documents as text or as bytes."""
    found = kernel.read_columns(text, astuple(layout), as_text)
    if found is None:
        return None
    docs, queries, query_rows, tags, tag_rows, score, rank = found
    query_rows, tag_rows, rank = (np.frombuffer(column, np.int64) for column in (query_rows, tag_rows, rank))
    return RunColumns(docs, queries, query_rows, tags, tag_rows, np.frombuffer(score), rank)


def index_judgments(queries: tuple[str, ...], start: Integers, docs: Sequence[str]) -> Index | None:
    """Index the judged documents; query i has docs[start[i]:start[i + 1]]."""
    handle = kernel.index_judgments(queries, start, docs) if enabled() else None
    return None if handle is None else Index(handle)


def heads_of_file(
    file: int, size: int, layout: Layout, rules: RankingRules, depth: int, threads: int, *, gathered: bool = False
) -> KernelHeads | None:
    """The first documents of each query of a run in an open file."""
    return _heads(kernel.head_file(file, size, astuple(layout), astuple(rules), depth, threads, gathered))


def heads_of_text(
    read: Callable[[int], bytes], layout: Layout, rules: RankingRules, depth: int, *, gathered: bool = False
) -> KernelHeads | None:
    """The same for a run in a stream, as in `Index.hits_in_text`."""
    return _heads(kernel.head_text(read, astuple(layout), astuple(rules), depth, gathered))


def _heads(found: Any) -> KernelHeads | None:
    if found is None:
        return None
    if found is False:
        raise Interleaved
    handle, queries, start, score, retrieved = found
    columns = np.frombuffer(start, np.int64), np.frombuffer(score), np.frombuffer(retrieved, np.int64)
    return Index(handle), queries, *columns
