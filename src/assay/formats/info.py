"""Summarise a file of qrels or a run, to see whether it is the right one. Does not check it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from assay.arrays import changes
from assay.formats.pieces import NotPlainError, can_reread, whole_queries
from assay.formats.reading import FORMATS, format_name
from assay.formats.readings import Reading
from assay.formats.sources import STDIN, Content, Source, open_source
from assay.judges import Agreement, merge_judges
from assay.tables import Floats, Integers, Qrels, Run

FIRST_ROWS = 5
FIRST_NAMES = 10

Row: TypeAlias = dict[str, str | int | float | None]


class FileInfo(Struct, frozen=True):
    """Properties of a file."""

    path: str
    format: str
    compression: str | None
    size: int | None  # in bytes, compressed; None for a pipe


class Spread(Struct, frozen=True):
    """The minimum, median and maximum of a count over all queries."""

    least: int
    median: float
    most: int


class Names(Struct, frozen=True):
    """The number of distinct names, and the first few in input order."""

    count: int
    first: tuple[str, ...]


class Span(Struct, frozen=True):
    """The lowest and highest of some numbers."""

    lowest: float
    highest: float


class GradeCount(Struct, frozen=True):
    """The number of judgments with a grade."""

    grade: float
    judgments: int


class RunInfo(Struct, frozen=True):
    """Summary of a run."""

    file: FileInfo
    queries: int
    rows: int
    documents: int  # distinct
    documents_per_query: Spread
    tags: Names
    scores: Span
    scores_are_ranks: bool  # each score is the negative rank, as for a file without scores
    ranks: Span | None  # None if there is no rank column, or it is not numeric
    tied_queries: int  # queries with ties
    queries_apart: int  # queries whose rows are not consecutive
    first_apart: str | None
    first_rows: tuple[Row, ...]


class QrelsInfo(Struct, frozen=True):
    """Summary of qrels. A document is relevant if its grade is above 0."""

    file: FileInfo
    queries: int
    judgments: int
    documents: int  # distinct
    judgments_per_query: Spread
    grades: tuple[GradeCount, ...]  # ascending
    relevant_per_query: Spread
    queries_without_relevant: int
    agreement: Agreement | None  # of the judges; None if no document has several judgments for a query
    iterations: Names | None  # column 2: iterations or subtopics; None if there is no such column
    queries_apart: int  # queries whose rows are not consecutive
    first_apart: str | None
    first_rows: tuple[Row, ...]


def run_info(source: Source, reading: Reading = Reading()) -> RunInfo:
    """Summarise a run in a file, compressed or not, or on standard input ('-').

    A plain run whose queries are together is read piece by piece, so that memory grows only with its document ids.
    """
    if can_reread(source, reading):
        with suppress(NotPlainError), open_source(source) as content:
            file = _file_info(source, content, format_name(content, reading, "run"))
            return _run_info(file, whole_queries(content, file.format, reading))
    with open_source(source) as content:
        file = _file_info(source, content, format_name(content, reading, "run"))
        return _run_info(file, [FORMATS[file.format].read_run(content, reading)])


def _run_info(file: FileInfo, pieces: Iterable[Run]) -> RunInfo:
    """The summary of a run that comes in pieces of whole queries."""
    documents: set[str] = set()
    parts: list[_Part] = []
    for run in pieces:
        documents.update(run.doc)
        parts.append(_part(run))
    sizes = np.concatenate([part.sizes for part in parts])
    apart = [query for part in parts for query in part.apart]
    ranks = [part.ranks for part in parts if part.ranks is not None]
    return RunInfo(
        file=file,
        queries=len(sizes),
        rows=int(sizes.sum()),
        documents=len(documents),
        documents_per_query=_spread(sizes),
        tags=_names(tag for part in parts for tag in part.tags),
        scores=_joined(part.scores for part in parts),
        scores_are_ranks=all(part.has_only_ranks for part in parts),
        ranks=_joined(ranks) if ranks else None,
        tied_queries=sum(part.tied_queries for part in parts),
        queries_apart=len(apart),
        first_apart=next(iter(apart), None),
        first_rows=tuple(row for part in parts for row in part.first_rows)[:FIRST_ROWS],
    )


class _Part(Struct, frozen=True):
    """What a piece of a run adds to its summary."""

    sizes: Integers  # rows of each query
    tags: tuple[str, ...]
    scores: Span
    has_only_ranks: bool
    ranks: Span | None
    tied_queries: int
    apart: list[str]
    first_rows: list[Row]


def _part(run: Run) -> _Part:
    return _Part(
        sizes=np.bincount(run.query),
        tags=run.tags,
        scores=_span(run.score),
        has_only_ranks=run.has_only_ranks,
        ranks=None if run.rank is None else Span(int(run.rank.min()), int(run.rank.max())),
        tied_queries=_tied_queries(run),
        apart=_queries_apart(run),
        first_rows=[_run_row(run, row) for row in range(min(FIRST_ROWS, len(run)))],
    )


def qrels_info(source: Source, reading: Reading = Reading()) -> QrelsInfo:
    """Summarise qrels in a file, compressed or not, or on standard input ('-')."""
    with open_source(source) as content:
        file = _file_info(source, content, format_name(content, reading, "qrels"))
        qrels = FORMATS[file.format].read_qrels(content, reading)
    values, counts = np.unique(qrels.rel, return_counts=True)
    relevant = np.bincount(qrels.query[qrels.rel > 0], minlength=len(qrels.queries))
    apart = _queries_apart(qrels)
    return QrelsInfo(
        file=file,
        queries=len(qrels.queries),
        judgments=len(qrels),
        documents=len(set(qrels.doc)),
        judgments_per_query=_spread(np.bincount(qrels.query)),
        grades=tuple(map(GradeCount, values.tolist(), counts.tolist())),
        relevant_per_query=_spread(relevant),
        queries_without_relevant=int(np.count_nonzero(relevant == 0)),
        agreement=merge_judges(qrels, "first").agreement,
        iterations=None if qrels.iteration is None else _names(qrels.iteration),
        queries_apart=len(apart),
        first_apart=next(iter(apart), None),
        first_rows=tuple(_qrels_row(qrels, row) for row in range(min(FIRST_ROWS, len(qrels)))),
    )


def _file_info(source: Source, content: Content, name: str) -> FileInfo:
    size = os.path.getsize(source) if source != STDIN and os.path.isfile(source) else None
    return FileInfo(content.name, name, content.compression, size)


def _spread(counts: Integers) -> Spread:
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _names(names: Iterable[str]) -> Names:
    distinct = dict.fromkeys(names)
    return Names(len(distinct), tuple(islice(distinct, FIRST_NAMES)))


def _span(values: Floats) -> Span:
    return Span(float(values.min()) + 0.0, float(values.max()) + 0.0)  # 0, also where -0 is as low or as high


def _joined(spans: Iterable[Span]) -> Span:
    lowest, highest = zip(*((span.lowest, span.highest) for span in spans), strict=True)
    return Span(min(lowest), max(highest))


def _tied_queries(run: Run) -> int:
    query, score = run.query, run.score
    if not _falls(query, score):
        order = np.lexsort((score, query))
        query, score = query[order], score[order]
    equal = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    return int(np.count_nonzero(np.bincount(query[1:][equal])))


def _falls(query: Integers, score: Floats) -> bool:
    """Whether the rows of each query are together, with scores that fall: equal ones are then neighbours."""
    same = query[1:] == query[:-1]
    together = int(np.count_nonzero(~same)) + 1 == int(np.count_nonzero(np.bincount(query)))
    return together and bool((score[1:][same] <= score[:-1][same]).all())


def _queries_apart(table: Qrels | Run) -> list[str]:
    """The queries whose rows are not consecutive, in file order."""
    begun = table.query[changes(table.query)]
    apart = np.bincount(begun) > 1
    return [table.queries[code] for code in dict.fromkeys(begun[apart[begun]].tolist())]


def _run_row(run: Run, row: int) -> Row:
    rank = None if run.rank is None else int(run.rank[row])
    return {
        "query": run.queries[run.query[row]],
        "document": str(run.doc[row]),
        "rank": rank,
        "score": float(run.score[row]),
    }


def _qrels_row(qrels: Qrels, row: int) -> Row:
    return {
        "query": qrels.queries[qrels.query[row]],
        "iteration": None if qrels.iteration is None else str(qrels.iteration[row]),
        "document": str(qrels.doc[row]),
        "grade": float(qrels.rel[row]),
    }
