"""Input for `evaluate` that is read by the kernel instead of becoming a table, if possible.

`open_run` and `read_judgments` take the same values as `as_run` and `as_qrels`, which return tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from assay import native
from assay.formats.dialects import Dialect
from assay.formats.lines import TREC_RUN, plain_layout
from assay.formats.names import Kind
from assay.formats.reading import (
    InputFormat,
    QrelsLike,
    RunLike,
    as_qrels,
    as_run,
    find_format,
    frame_table,
    is_frame,
    later,
    qrels_from_content,
    refuse_no_columns,
    run_from_content,
    run_from_dict,
    run_from_table,
    run_from_text,
)
from assay.formats.readings import Reading
from assay.formats.sources import STDIN, Content, Origin, Source, stem
from assay.heads import Heads, heads_from_kernel
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments, read_plain_judgments
from assay.limits import LIMITS, limit
from assay.marking import OpenedRun, UnreadRun, ranking_from_kernel
from assay.native.index import Index, Interleaved, Layout, RankingRules, heads_of_file, heads_of_text
from assay.rules import Judges
from assay.tables import Run

judged_table: Callable[..., JudgedRanking | None] = later("frames.judged_table")
own_name: Callable[[Any], str] = later("shapes.own_name")


def open_run(
    value: RunLike, reading: Reading = Reading(), *, name: str | None = None, unnamed: str = "run"
) -> OpenedRun:
    """Open a run from any value that `as_run` takes; it becomes a table only if the kernel is not available.

    `unnamed` is the name of a run that is not a file.
    """
    if isinstance(value, (Run, UnreadRun)):
        return value if name is None else value.table.named(name)
    if isinstance(value, (str, os.PathLike)):
        return FileRun(value, reading, name) if native.enabled() else as_run(value, reading, name=name)
    if native.enabled() and isinstance(value, Mapping):
        refuse_no_columns("run", reading)
        return DictRun(value, name or unnamed)
    if native.enabled() and is_frame(value):
        return FrameRun(value, reading, name or unnamed)
    if not isinstance(value, Mapping) and not is_frame(value):
        name = name or own_name(value)
    return as_run(value, reading, name=name or unnamed)


def read_judgments(
    value: QrelsLike,
    reading: Reading = Reading(),
    *,
    judges: Judges = "error",
    whole_grades: bool = False,
) -> Judgments:
    """Judgments from any value that `as_qrels` takes; `whole_grades` truncates grades to whole numbers."""
    if native.enabled() and isinstance(value, (str, os.PathLike)) and not reading.grades:
        origin = Origin(value)
        with origin.open() as content:
            judgments = _plain_judgments(content, reading, whole_grades)
            if judgments is not None:
                return judgments
        with origin.open() as content:
            qrels = qrels_from_content(content, reading)
    else:
        qrels = as_qrels(value, reading)
    return index_judgments(qrels, judges, whole_grades=whole_grades)


def _plain_judgments(content: Content, reading: Reading, whole_grades: bool) -> Judgments | None:
    layout = _layout(find_format(content, reading, "qrels"), content, "qrels", reading)
    if layout is None:
        return None
    return read_plain_judgments(content.read_some, replace(layout, whole_values=whole_grades), content.name)


def _layout(found: InputFormat, content: Content, kind: Kind, reading: Reading) -> Layout | None:
    return None if found.layout is None else _with_usual_lines(found.layout(content, kind, reading))


def _with_usual_lines(layout: Layout | None) -> Layout | None:
    """The layout for the kernel, which does not know a lower limit for lines than the usual one."""
    return None if limit("line") < LIMITS["line"].usual else layout


class FileRun(UnreadRun):
    """A run in a file, a pipe or standard input."""

    def __init__(self, source: Source, reading: Reading, name: str | None) -> None:
        self._origin, self._reading = Origin(source), reading
        given = "stdin" if source == STDIN else stem(self._origin.path)
        self.name = given if name is None else name
        self.source = "<stdin>" if source == STDIN else self._origin.path

    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        """The run judged by the kernel; reads it twice if its queries are interleaved."""
        try:
            return self._judged(judgments, rules, threads, gathered=False)
        except Interleaved:
            return self._judged(judgments, rules, threads, gathered=True)

    def heads(self, depth: int, rules: RankingRules, threads: int) -> Heads | None:
        """The first documents of each query, by the kernel; reads the run twice if its queries are interleaved."""
        try:
            return self._heads(depth, rules, threads, gathered=False)
        except Interleaved:
            return self._heads(depth, rules, threads, gathered=True)

    def read(self) -> Run:
        """The run as a table."""
        with self._origin.open() as content:
            return run_from_content(content, self._reading, self.name)

    def _heads(self, depth: int, rules: RankingRules, threads: int, *, gathered: bool) -> Heads | None:
        with self._origin.open() as content:
            layout = _layout(find_format(content, self._reading, "run"), content, "run", self._reading)
            if layout is None:
                return None
            layout = _needed(layout, rules)
            if content.file is None:
                found = heads_of_text(content.read_some, layout, rules, depth, gathered=gathered)
            else:
                descriptor, size = content.file.descriptor, content.file.size
                found = heads_of_file(descriptor, size, layout, rules, depth, threads, gathered=gathered)
            return None if found is None else heads_from_kernel(found, depth)

    def _judged(
        self, judgments: Judgments, rules: RankingRules, threads: int, *, gathered: bool
    ) -> JudgedRanking | None:
        with self._origin.open() as content:
            found = find_format(content, self._reading, "run")
            if found.table is not None:
                table = found.table(content, "run", self._reading)
                return judged_table(table, content.name, judgments, rules, self._reading)
            layout = _layout(found, content, "run", self._reading)
            if layout is None or judgments.index is None or (rules.needs_ranks and layout.rank < 0):
                return None
            return _judged_text(content, layout, judgments, judgments.index, rules, threads, gathered=gathered)


def _needed(layout: Layout, rules: RankingRules) -> Layout:
    """The layout without a rank column that is not used: in a run with scores, it may contain anything."""
    return replace(layout, rank=-1) if layout.value >= 0 and not rules.needs_ranks else layout


def _judged_text(
    content: Content,
    layout: Layout,
    judgments: Judgments,
    index: Index,
    rules: RankingRules,
    threads: int,
    *,
    gathered: bool,
) -> JudgedRanking | None:
    layout = _needed(layout, rules)
    if content.file is None:
        hits = index.hits_in_text(content.read_some, layout, rules, gathered=gathered)
    else:
        descriptor, size = content.file.descriptor, content.file.size
        hits = index.hits_in_file(descriptor, size, layout, rules, threads, gathered=gathered)
    return ranking_from_kernel(judgments, hits)


class TrecRun(FileRun):
    """A run as a version of trec_eval reads it: six columns, whatever is in them."""

    def __init__(self, source: Source, dialect: Dialect) -> None:
        super().__init__(source, Reading("trec"), None)
        self._dialect = dialect

    def read(self) -> Run:
        """The run as a table."""
        with self._origin.open() as content:
            return run_from_text(content, TREC_RUN, self._dialect)

    def _judged(
        self, judgments: Judgments, rules: RankingRules, threads: int, *, gathered: bool
    ) -> JudgedRanking | None:
        with self._origin.open() as content:
            layout = _with_usual_lines(plain_layout(content, "run", TREC_RUN, self._dialect))
            if layout is None or judgments.index is None:
                return None
            return _judged_text(content, layout, judgments, judgments.index, rules, threads, gathered=gathered)


class DictRun(UnreadRun):
    """A run as a dict by query; the kernel reads {query: {document: score}}."""

    source = "run"

    def __init__(self, scores: Mapping[Any, Any], name: str) -> None:
        self.scores, self.name = scores, name

    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        """The run judged by the kernel, with the hashes that Python has already computed."""
        if judgments.index is None or type(self.scores) is not dict:
            return None
        return ranking_from_kernel(
            judgments, judgments.index.hits_in_dict(self.scores, judgments.doc_list, judgments.place, rules)
        )

    def read(self) -> Run:
        """The run as a table."""
        return run_from_dict(self.scores, self.name)


class FrameRun(UnreadRun):
    """A run in a data frame."""

    source = "run"

    def __init__(self, frame: Any, reading: Reading, name: str) -> None:
        self._frame, self._reading, self.name = frame, reading, name

    @cached_property
    def _arrow(self) -> Any:
        return frame_table(self._frame, "run", self._reading)

    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        """The run judged by the kernel, without copying columns."""
        return judged_table(self._arrow, self.source, judgments, rules, self._reading)

    def read(self) -> Run:
        """The run as a table."""
        return run_from_table(self._arrow, self.source, self.name, self._reading)
