"""The kernel's functions in Python's types.

They give None where the input is not plain: then the NumPy path does the work, and says what is wrong if something is. So
there is one place for messages, and plain input pays nothing for them. Call them only where `native.enabled()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.frozen import frozen, values_of
from assay.native import enabled, kernel
from assay.tables import Booleans, Floats, Ids, Integers

_NUMBERS = (float, int, bool, *(np.dtype(letter).type for letter in "dfeglqihbQLIHB"))


@frozen
class Layout:
    """Which column holds what, -1 for none, and what the dialect takes for granted. As in lines.hpp."""

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


@frozen
class RankingRules:
    """The rules that decide about ranks. As in ranking.hpp."""

    ties: int
    duplicates: int
    by_rank_column: bool
    ties_by_rank_column: bool
    float32: bool
    drop_self_match: bool

    @property
    def needs_ranks(self) -> bool:
        """Whether the rank column is looked at."""
        return self.by_rank_column or self.ties_by_rank_column


@frozen
class Joined:
    """A run joined with judgments."""

    retrieved: Integers  # per judged query
    answered: Booleans  # per judged query: whether the run has it
    query: Integers  # and from here on per hit, in rank order
    rank: Integers
    tie_first: Integers
    tie_last: Integers
    judgment: Integers
    unjudged: list[str]  # queries of the run without judgments, in byte order
    tag: str


class Interleaved(Exception):
    """Queries of a run are not together: open it again, and let it be gathered in memory."""


@frozen
class PlainJudgments:
    """Judgments as the kernel read them."""

    kept: Index
    queries: tuple[str, ...]
    start: Integers
    rel: Floats
    pool: Floats


class Index:
    """Judgments as the kernel keeps them, for many runs and threads."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._dicts: Any = None  # made when the first dict comes

    def documents(self) -> list[str]:
        """The judged documents, in the order of the judgments."""
        documents: list[str] = kernel.documents(self._handle)
        return documents

    def join_file(
        self, file: int, size: int, layout: Layout, rules: RankingRules, threads: int, *, gathered: bool = False
    ) -> Joined | None:
        """A run in an open file."""
        return _joined(
            kernel.join_file(self._handle, file, size, values_of(layout), values_of(rules), threads, gathered)
        )

    def join_text(
        self, read: Callable[[int], bytes], layout: Layout, rules: RankingRules, *, gathered: bool = False
    ) -> Joined | None:
        """A run in a stream: `read` gives at most as many bytes as it is asked for, and none at the end."""
        return _joined(kernel.join_text(self._handle, read, values_of(layout), values_of(rules), gathered))

    def join_table(
        self, place: Integers, doc: Ids, score: Floats, rank: Integers | None, rules: RankingRules
    ) -> Joined | None:
        """Rows in memory; `place` says for each which judged query it belongs to, or -1."""
        return _joined(kernel.join_table(self._handle, place, doc, score, rank, values_of(rules)))

    def join_arrow(self, stream: Any, layout: Layout, rules: RankingRules) -> Joined | None:
        """A stream of the Arrow C data interface, in its capsule."""
        return _joined(kernel.join_arrow(self._handle, stream, values_of(layout), values_of(rules)))

    def join_dict(
        self, run: dict[str, dict[str, float]], docs: list[str], place: dict[str, int], rules: RankingRules
    ) -> Joined | None:
        """A dict of dicts; `docs` are the judged documents, `place` tells the judged queries: the same for all runs."""
        if self._dicts is None:
            self._dicts = kernel.dict_index(self._handle, docs, place, _NUMBERS)
        return _joined(kernel.join_dict(self._dicts, run, values_of(rules)))


def read_judgments(read: Callable[[int], bytes], layout: Layout) -> PlainJudgments | None:
    """Judgments from a stream of text."""
    found = kernel.read_judgments(read, values_of(layout))
    if found is None:
        return None
    handle, queries, start, rel, pool = found
    return PlainJudgments(
        Index(handle), queries, np.frombuffer(start, np.int64), np.frombuffer(rel), np.frombuffer(pool)
    )


def index_judgments(queries: tuple[str, ...], start: Integers, docs: Sequence[str]) -> Index | None:
    """The documents that were judged for each query; query i has docs[start[i]:start[i + 1]]."""
    handle = kernel.index_judgments(queries, start, docs) if enabled() else None
    return None if handle is None else Index(handle)


def _joined(found: Any) -> Joined | None:
    if found is None:
        return None
    if found is False:
        raise Interleaved
    retrieved, answered, *hits, unjudged, tag = found
    query, rank, tie_first, tie_last, judgment = (np.frombuffer(column, np.int64) for column in hits)
    return Joined(
        retrieved=np.frombuffer(retrieved, np.int64),
        answered=np.frombuffer(answered, np.bool_),
        query=query,
        rank=rank,
        tie_first=tie_first,
        tie_last=tie_last,
        judgment=judgment,
        unjudged=unjudged,
        tag=tag,
    )
