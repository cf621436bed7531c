"""Read qrels and runs in columns separated by spaces or tabs: TREC, BEIR and MS MARCO files.

The caller gives the expected columns; a header, if the dialect allows one, overrides them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from msgspec.structs import replace

from assay.errors import InputError, show_id
from assay.formats.dialects import ASSAY, TREC_EVAL_9, TREC_EVAL_10, Dialect
from assay.formats.lines import TREC_QRELS, TREC_RUN, ColumnOrder, PlainRows, Rows, read_rows, read_run_rows
from assay.formats.names import WORDS
from assay.formats.numbers import (
    GRADE,
    RANK,
    SCORE,
    WHOLE_GRADE,
    Refusal,
    floats,
    grade,
    number,
    ranks,
    whole_grade,
)
from assay.formats.problems import Problem, Problems
from assay.formats.readings import Reading
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import NO_DATA, decoded, decoded_column
from assay.limits import refuse_endless
from assay.tables import Floats, Integers, Qrels, Run, as_ids

__all__ = ["ASSAY", "TREC_EVAL_9", "TREC_EVAL_10", "Dialect", "read_trec_qrels", "read_trec_run"]


def read_trec_qrels(source: Source, dialect: Dialect = ASSAY) -> Qrels:
    """Read TREC qrels with four columns: query iteration document grade."""
    with open_source(source) as content:
        return qrels_from_text(content, TREC_QRELS, dialect)


def read_trec_run(source: Source, dialect: Dialect = ASSAY) -> Run:
    """Read a TREC run with six columns: query Q0 document rank score tag."""
    with open_source(source) as content:
        return run_from_text(content, TREC_RUN, dialect)


def qrels_from_text(
    content: Content, layout: ColumnOrder, dialect: Dialect = ASSAY, reading: Reading = Reading()
) -> Qrels:
    """Qrels from text with these columns, or those of its header."""
    problems, columns = Problems(content.name), _Columns(content.name)
    read_grades = _GradeReader(dialect, reading)
    for rows in read_rows(content, "qrels", layout, dialect, problems, reading):
        values = read_grades(rows, problems)
        if problems.count == 0:  # after a problem, only count bad rows
            columns.add(rows, values)
    problems.refuse()
    columns.refuse_nothing(content.name)
    queries, query = columns.queries.in_byte_order()
    doc, iteration = as_ids(columns.doc), as_ids(columns.iteration) if columns.iteration else None
    return Qrels(queries, query, doc, np.concatenate(columns.value), iteration, content.name, columns.lines())


def run_from_text(content: Content, layout: ColumnOrder, dialect: Dialect = ASSAY, reading: Reading = Reading()) -> Run:
    """A run from text with these columns, or those of its header.

    A run without scores is ranked by its rank column: score = -rank. In a run with scores, the rank column may contain
    anything, as in trec_eval; it is kept if all ranks are whole numbers.
    """
    problems, columns = Problems(content.name), _Columns(content.name)
    rank: list[Integers | None] = []
    for rows in read_run_rows(content, layout, dialect, problems, reading):
        if isinstance(rows, PlainRows):
            rank.append(rows.columns.rank if "rank" in rows.layout else None)
            if problems.count == 0:
                columns.add_plain(rows)
            continue
        if "score" in rows.layout:
            column = ranks(rows.column("rank")) if "rank" in rows.layout else None
            values = _scores(rows, problems)
        else:
            column = _needed_ranks(rows, problems)
            values = -column.astype(np.float64)
        rank.append(column)
        if problems.count == 0:
            columns.add(rows, values)
    problems.refuse()
    columns.refuse_nothing(content.name)
    queries, query = columns.queries.in_byte_order()
    doc, score = as_ids(columns.doc), np.concatenate(columns.value)
    if "score" not in layout:
        _refuse_scores_as_ranks(queries, query, -score, content.name)
    return Run(
        queries=queries,
        query=query,
        doc=doc,
        score=score,
        rank=_whole_column(rank),
        name=content.stem,
        tag=decoded(columns.tag),
        source=content.name,
        lines=columns.lines(),
        tags=tuple(map(decoded, columns.tags)),
    )


def run_of_pieces(pieces: Sequence[PlainRows], content: Content) -> Run:
    """The rows of some chunks as a run of their own."""
    columns = _Columns(content.name)
    for piece in pieces:
        columns.add_plain(piece)
    queries, query = columns.queries.in_byte_order()
    return Run(
        queries=queries,
        query=query,
        doc=as_ids(columns.doc),
        score=np.concatenate([piece.columns.score for piece in pieces]),
        rank=np.concatenate([piece.columns.rank for piece in pieces]) if "rank" in pieces[0].layout else None,
        name=content.stem,
        tag=decoded(columns.tag),
        source=content.name,
        tags=tuple(map(decoded, columns.tags)),
    )


class _Columns:
    """What has been read so far."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.queries = _Codes()
        self.doc: list[str] = []
        self.value: list[Floats] = []
        self.iteration: list[str] = []
        self.tag = b""  # of the last line, as reported by trec_eval
        self.tags: dict[bytes, None] = {}
        self._iterations: dict[bytes, str] = {}
        self._lines: list[Sequence[int]] = []

    def add(self, rows: Rows, value: Floats) -> None:
        self._lines.append(rows.line_numbers())
        self.queries.add(rows.column("query"))
        docs = rows.column("doc")
        self.doc += decoded_column(docs)
        refuse_endless(len(self.doc), len(self.queries), docs, self._source)
        self.value.append(value)
        if "iteration" in rows.layout:
            self.iteration += _shared(rows.column("iteration"), self._iterations)
        if "tag" in rows.layout:
            tags = rows.column("tag")
            self.tag = tags[-1]
            self.tags.update(dict.fromkeys(tags))

    def add_plain(self, rows: PlainRows) -> None:
        found = rows.columns
        if not found.docs:  # a piece of comments or empty lines
            return
        self._lines.append(rows.line_numbers())
        self.queries.add_groups(found.queries, found.query_rows)
        self.doc += found.docs
        refuse_endless(len(self.doc), len(self.queries), found.docs, self._source)
        self.value.append(found.score)
        if "tag" in rows.layout:
            self.tag = found.tags[-1]
            self.tags.update(dict.fromkeys(found.tags))

    def lines(self) -> Sequence[int]:
        """The line number of each row; a range if every line is a row."""
        first, last = self._lines[0][0], self._lines[-1][-1]
        if last - first + 1 == len(self.doc):
            return range(first, last + 1)
        return [line for lines in self._lines for line in lines]

    def refuse_nothing(self, source: str) -> None:
        if not self.doc:
            raise InputError(NO_DATA, source=source)


class _Codes:
    """Query ids as numbers, in input order; each id is kept once."""

    def __init__(self) -> None:
        self._code: dict[bytes, int] = {}
        self._codes: list[Integers] = []

    def __len__(self) -> int:
        return len(self._code)

    def add(self, tokens: list[bytes]) -> None:
        groups = [(token, len(list(same))) for token, same in groupby(tokens)]  # rows of a query are often consecutive
        self.add_groups([token for token, _ in groups], np.array([length for _, length in groups], np.int64))

    def add_groups(self, tokens: list[bytes], lengths: Integers) -> None:
        codes = [self._code.setdefault(token, len(self._code)) for token in tokens]
        self._codes.append(np.repeat(np.array(codes, np.int64), lengths))

    def in_byte_order(self) -> tuple[tuple[str, ...], Integers]:
        """The distinct ids in byte order, and the index of each row's id among them."""
        ids = sorted(self._code)
        place = np.empty(len(ids), np.int64)
        place[[self._code[token] for token in ids]] = np.arange(len(ids))
        return tuple(map(decoded, ids)), place[np.concatenate(self._codes)]


class _GradeReader:
    """Parse the grades of a chunk; each distinct grade is parsed once."""

    def __init__(self, dialect: Dialect, reading: Reading) -> None:
        self._grades = reading.grades
        self._whole = dialect.whole_grades
        self._known: dict[bytes, float | None] = {}

    def __call__(self, rows: Rows, problems: Problems) -> Floats:
        tokens = rows.column("rel")
        distinct = dict.fromkeys(tokens)
        self._known.update((token, self._value(decoded(token))) for token in distinct if token not in self._known)
        refused = {token for token in distinct if self._known[token] is None}
        if refused:
            bad = [row for row, token in enumerate(tokens) if token in refused]
            _report(bad, rows, "rel", WHOLE_GRADE if self._whole else GRADE, problems)
        return np.array(list(map(self._known.__getitem__, tokens)), np.float64)

    def _value(self, text: str) -> float | None:
        return whole_grade(text) if self._whole else grade(text, self._grades)


def _scores(rows: Rows, problems: Problems) -> Floats:
    tokens = rows.column("score")
    scores = floats(tokens)
    if scores is not None:
        return scores
    bad = [row for row, token in enumerate(tokens) if number(token) is None]
    _report(bad, rows, "score", SCORE, problems)
    return np.empty(0)


def _needed_ranks(rows: Rows, problems: Problems) -> Integers:
    tokens = rows.column("rank")
    values = ranks(tokens)
    if values is not None and values.min() >= 1:
        return values
    bad = [row for row, token in enumerate(tokens) if (alone := ranks([token])) is None or alone[0] < 1]
    _report(bad, rows, "rank", RANK, problems)
    return np.empty(0, np.int64)


def _refuse_scores_as_ranks(queries: tuple[str, ...], query: Integers, rank: Floats, source: str) -> None:
    """Raise an error for whole scores in the rank column: ranks start at 1 and do not repeat."""
    order = np.lexsort((rank, query))
    same_query = np.append(False, query[order][1:] == query[order][:-1])
    repeats = same_query & np.append(False, rank[order][1:] == rank[order][:-1])
    wrong = np.where(same_query, repeats, rank[order] != 1)
    for row in order[wrong][:1].tolist():
        raise InputError(
            f"the third column is read as the rank, but the ranks of query {show_id(queries[query[row]])} repeat or do "
            "not start at 1. If these are scores, use `read_run(input_format='beir')`, or add a header line: query_id doc_id score.",
            source=source,
        )


def _whole_column(parts: list[Integers | None]) -> Integers | None:
    whole = [part for part in parts if part is not None]
    return np.concatenate(whole) if len(whole) == len(parts) else None


def _shared(tokens: list[bytes], known: dict[bytes, str]) -> list[str]:
    """Decoded texts; equal texts share one object."""
    for token in dict.fromkeys(tokens):
        known.setdefault(token, decoded(token))
    return list(map(known.__getitem__, tokens))


def _report(bad: list[int], rows: Rows, role: str, refusal: Refusal, problems: Problems) -> None:
    lines = rows.line_numbers()
    if bad == [0] and refusal in (RANK, GRADE):
        refusal = replace(refusal, advice=_perhaps_a_header(rows) or refusal.advice)
    found = (
        Problem(
            f"{refusal.word} {refusal.why(rows.text(role, row))} "
            f"(query {show_id(rows.text('query', row))}, document {show_id(rows.text('doc', row))})",
            refusal.advice,
            lines[row],
        )
        for row in bad
    )
    problems.extend(found, len(bad))


def _perhaps_a_header(rows: Rows) -> str:
    """Advice if only the first row is bad and has no number at all."""
    names = list(map(decoded, rows.tokens[: rows.width]))
    if len(rows.tokens) == rows.width or any(number(name) is not None for name in names):
        return ""
    roles = {
        role: show_id(name) for role, name in zip(rows.layout, names, strict=False) if role in WORDS or role == "rank"
    }
    return f"If this line is a header, say what its columns are, such as `columns={roles}`."
