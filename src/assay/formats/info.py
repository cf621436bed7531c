"""What is in a file of qrels or a run, in numbers: enough to know whether it is the right one. Judges nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from assay.arrays import changes
from assay.formats.numbers import checked_grades
from assay.formats.reading import AUTO, FORMATS, format_name
from assay.formats.sources import STDIN, Content, Source, open_source
from assay.tables import Floats, Integers, Qrels, Run

FIRST_ROWS = 5
FIRST_NAMES = 10

Row: TypeAlias = dict[str, str | int | float | None]


class FileInfo(Struct, frozen=True):
    """A file as it lies there."""

    path: str
    format: str
    compression: str | None
    size: int | None  # in bytes, compressed; None where it is no file but a pipe


class Spread(Struct, frozen=True):
    """How many something has: the least, the median and the most over all queries."""

    least: int
    median: float
    most: int


class Names(Struct, frozen=True):
    """Distinct names: how many there are, and the first few in the order they come in."""

    count: int
    first: tuple[str, ...]


class Span(Struct, frozen=True):
    """From the lowest number to the highest."""

    lowest: float
    highest: float


class GradeCount(Struct, frozen=True):
    """How often a grade was given."""

    grade: float
    judgments: int


class RunInfo(Struct, frozen=True):
    """What is in a run."""

    file: FileInfo
    queries: int
    rows: int
    documents: int  # distinct ones
    documents_per_query: Spread
    tags: Names
    scores: Span
    scores_are_ranks: bool  # each score is its rank with a minus sign, as where the file has no scores
    ranks: Span | None  # None where there is no rank column, or one that is no numbers
    tied_queries: int  # queries in which documents have equal scores
    queries_apart: int  # queries whose rows do not stand together
    first_apart: str | None
    first_rows: tuple[Row, ...]


class QrelsInfo(Struct, frozen=True):
    """What is in qrels. A document is relevant if its grade is above 0."""

    file: FileInfo
    queries: int
    judgments: int
    documents: int  # distinct ones
    judgments_per_query: Spread
    grades: tuple[GradeCount, ...]  # from the lowest
    relevant_per_query: Spread
    queries_without_relevant: int
    iterations: Names | None  # column 2: iterations or subtopics; None where there is no such column
    queries_apart: int  # queries whose rows do not stand together
    first_apart: str | None
    first_rows: tuple[Row, ...]


def run_info(source: Source, *, input_format: str = AUTO) -> RunInfo:
    """What is in a run, from a file, compressed or not, or from standard input ('-')."""
    with open_source(source) as content:
        file = _file_info(source, content, format_name(content, input_format, "run"))
        run = FORMATS[file.format].read_run(content)
    apart = _queries_apart(run)
    return RunInfo(
        file=file,
        queries=len(run.queries),
        rows=len(run),
        documents=len(set(run.doc)),
        documents_per_query=_spread(np.bincount(run.query)),
        tags=_names(run.tags),
        scores=_span(run.score),
        scores_are_ranks=run.rank is not None and np.array_equal(run.score, -run.rank),
        ranks=None if run.rank is None else Span(int(run.rank.min()), int(run.rank.max())),
        tied_queries=_tied_queries(run),
        queries_apart=len(apart),
        first_apart=next(iter(apart), None),
        first_rows=tuple(_run_row(run, row) for row in range(min(FIRST_ROWS, len(run)))),
    )


def qrels_info(source: Source, *, input_format: str = AUTO, grades: Mapping[str, float] | None = None) -> QrelsInfo:
    """What is in qrels, from a file, compressed or not, or from standard input ('-'); `grades` as in `read_qrels`."""
    with open_source(source) as content:
        file = _file_info(source, content, format_name(content, input_format, "qrels"))
        qrels = FORMATS[file.format].read_qrels(content, checked_grades(grades))
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
    return Span(float(values.min()), float(values.max()))


def _tied_queries(run: Run) -> int:
    order = np.lexsort((run.score, run.query))
    equal = ~changes(run.query[order]) & ~changes(run.score[order])
    return len(np.unique(run.query[order][equal]))


def _queries_apart(table: Qrels | Run) -> list[str]:
    """The queries whose rows do not stand together, in the order of the file."""
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
