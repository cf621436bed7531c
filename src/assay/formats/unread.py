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
from assay.formats.names import Kind
from assay.formats.reading import (
    AUTO,
    InputFormat,
    QrelsLike,
    RunLike,
    as_qrels,
    as_run,
    find_format,
    frame_table,
    is_frame,
    later,
    read_run,
    run_from_dict,
    run_from_table,
)
from assay.formats.sources import STDIN, Content, Origin, Source, stem
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments, read_plain_judgments
from assay.marking import OpenedRun, UnreadRun, ranking_from_kernel
from assay.native.index import Interleaved, Layout, RankingRules
from assay.rules import Duplicates
from assay.tables import Run

judged_table: Callable[..., JudgedRanking | None] = later("frames.judged_table")


def open_run(value: RunLike, *, input_format: str = AUTO, name: str | None = None, unnamed: str = "run") -> OpenedRun:
    """Open a run from any value that `as_run` takes; it becomes a table only if the kernel is not available.

    `unnamed` is the name of a run that is not a file.
    """
    if isinstance(value, (Run, UnreadRun)):
        return value if name is None else value.table.named(name)
    if isinstance(value, (str, os.PathLike)):
        if native.enabled():
            return FileRun(value, input_format, name)
        return read_run(value, input_format=input_format, name=name)
    name = name or unnamed
    if native.enabled() and isinstance(value, Mapping):
        return DictRun(value, name)
    if native.enabled() and is_frame(value):
        return FrameRun(value, name)
    return as_run(value, name=name)


def read_judgments(
    value: QrelsLike,
    *,
    duplicates: Duplicates = "error",
    input_format: str = AUTO,
    grades: Mapping[str, float] | None = None,
    whole_grades: bool = False,
) -> Judgments:
    """Judgments from any value that `as_qrels` takes; `whole_grades` truncates grades to whole numbers."""
    if native.enabled() and isinstance(value, (str, os.PathLike)) and not grades:
        origin = Origin(value)
        with origin.open() as content:
            judgments = _plain_judgments(content, input_format, whole_grades)
            if judgments is not None:
                return judgments
        with origin.open() as content:
            qrels = find_format(content, input_format, "qrels").read_qrels(content, {})
    else:
        qrels = as_qrels(value, input_format=input_format, grades=grades)
    return index_judgments(qrels.whole_grades() if whole_grades else qrels, duplicates)


def _plain_judgments(content: Content, input_format: str, whole_grades: bool) -> Judgments | None:
    layout = _layout(find_format(content, input_format, "qrels"), content, "qrels")
    if layout is None:
        return None
    return read_plain_judgments(content.read_some, replace(layout, whole_values=whole_grades), content.name)


def _layout(found: InputFormat, content: Content, kind: Kind) -> Layout | None:
    return None if found.layout is None else found.layout(content, kind)


class FileRun(UnreadRun):
    """A run in a file, a pipe or standard input."""

    def __init__(self, source: Source, input_format: str, name: str | None) -> None:
        self._origin, self._format = Origin(source), input_format
        given = "stdin" if source == STDIN else stem(self._origin.path)
        self.name = given if name is None else name
        self.source = "<stdin>" if source == STDIN else self._origin.path

    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        """The run judged by the kernel; reads it twice if its queries are interleaved."""
        try:
            return self._judged(judgments, rules, threads, gathered=False)
        except Interleaved:
            return self._judged(judgments, rules, threads, gathered=True)

    def read(self) -> Run:
        """The run as a table."""
        with self._origin.open() as content:
            return find_format(content, self._format, "run").read_run(content).named(self.name)

    def _judged(
        self, judgments: Judgments, rules: RankingRules, threads: int, *, gathered: bool
    ) -> JudgedRanking | None:
        with self._origin.open() as content:
            found = find_format(content, self._format, "run")
            if found.table is not None:
                return judged_table(found.table(content, "run"), content.name, judgments, rules)
            layout = _layout(found, content, "run")
            if layout is None or judgments.index is None or (rules.needs_ranks and layout.rank < 0):
                return None
            if layout.value >= 0 and not rules.needs_ranks:
                layout = replace(layout, rank=-1)  # in a run with scores, the rank column may contain anything
            if content.file is None:
                hits = judgments.index.hits_in_text(content.read_some, layout, rules, gathered=gathered)
            else:
                descriptor, size = content.file.descriptor, content.file.size
                hits = judgments.index.hits_in_file(descriptor, size, layout, rules, threads, gathered=gathered)
            return ranking_from_kernel(judgments, hits)


class DictRun(UnreadRun):
    """A run as {query: {document: score}}."""

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

    def __init__(self, frame: Any, name: str) -> None:
        self._frame, self.name = frame, name

    @cached_property
    def _arrow(self) -> Any:
        return frame_table(self._frame, "run")

    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        """The run judged by the kernel, without copying columns."""
        return judged_table(self._arrow, self.source, judgments, rules)

    def read(self) -> Run:
        """The run as a table."""
        return run_from_table(self._arrow, self.source, self.name)
