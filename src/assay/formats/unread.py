"""Input that is not made into tables: the kernel reads it, or the readers of this package do when it cannot.

`open_run` and `read_judgments` are to `evaluate` what `as_run` and `as_qrels` are to whoever wants tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from assay import native
from assay.formats.names import Kind
from assay.formats.reading import (
    AUTO,
    InputFormat,
    as_qrels,
    as_run,
    find_format,
    frame_table,
    is_frame,
    later,
    run_from_dict,
    run_from_table,
)
from assay.formats.sources import STDIN, Content, Origin, Source, stem
from assay.frozen import replace
from assay.joining import UnreadRun
from assay.judgments import Judgments, index_judgments, judgments_of
from assay.native import joins
from assay.rules import Duplicates
from assay.tables import Run

join_table: Callable[..., joins.Joined | None] = later("frames.join_table")


def open_run(value: Any, *, input_format: str = AUTO, name: str | None = None) -> Run | UnreadRun:
    """A run from whatever `as_run` takes, as a table only if the kernel is not there."""
    if isinstance(value, Run) or not native.enabled():
        return as_run(value, input_format=input_format, name=name)
    if isinstance(value, Mapping):
        return DictRun(value, name or "run")
    if isinstance(value, (str, os.PathLike)):
        return FileRun(value, input_format, name)
    if is_frame(value):
        return FrameRun(value, name or "run")
    return as_run(value, name=name)


def read_judgments(
    value: Any,
    *,
    duplicates: Duplicates = "error",
    input_format: str = AUTO,
    grades: Mapping[str, float] | None = None,
    whole_grades: bool = False,
) -> Judgments:
    """Judgments from whatever `as_qrels` takes; `whole_grades` cuts grades to whole numbers."""
    if native.enabled() and isinstance(value, (str, os.PathLike)) and not grades:
        origin = Origin(value)
        with origin.open() as content:
            plain = _plain_judgments(content, input_format, whole_grades)
            if plain is not None:
                return judgments_of(plain, content.name)
        with origin.open() as content:
            qrels = find_format(content, input_format, "qrels").read_qrels(content, {})
    else:
        qrels = as_qrels(value, input_format=input_format, grades=grades)
    return index_judgments(qrels.whole_grades() if whole_grades else qrels, duplicates)


def _plain_judgments(content: Content, input_format: str, whole_grades: bool) -> joins.PlainJudgments | None:
    layout = _layout(find_format(content, input_format, "qrels"), content, "qrels")
    return (
        None if layout is None else joins.read_judgments(content.read_some, replace(layout, whole_values=whole_grades))
    )


def _layout(found: InputFormat, content: Content, kind: Kind) -> joins.Layout | None:
    return None if found.layout is None else found.layout(content, kind)


class FileRun(UnreadRun):
    """A run in a file, or in what standard input or a pipe gives."""

    def __init__(self, source: Source, input_format: str, name: str | None) -> None:
        self._origin, self._format = Origin(source), input_format
        given = "stdin" if source == STDIN else stem(self._origin.path)
        self.name = given if name is None else name
        self.source = "<stdin>" if source == STDIN else self._origin.path

    def joined(self, judgments: Judgments, rules: joins.RankingRules, threads: int) -> joins.Joined | None:
        """The run joined with the judgments; a run whose queries are not together is read a second time."""
        for gathered in (False, True):
            with self._origin.open() as content:
                try:
                    return self._joined(content, judgments, rules, threads, gathered=gathered)
                except joins.Interleaved:
                    continue
        return None

    def read(self) -> Run:
        """The run as a table."""
        with self._origin.open() as content:
            return find_format(content, self._format, "run").read_run(content).named(self.name)

    def _joined(
        self, content: Content, judgments: Judgments, rules: joins.RankingRules, threads: int, *, gathered: bool
    ) -> joins.Joined | None:
        found = find_format(content, self._format, "run")
        if found.table is not None:
            return join_table(found.table(content, "run"), content.name, judgments, rules)
        layout = _layout(found, content, "run")
        if layout is None or judgments.index is None or (rules.needs_ranks and layout.rank < 0):
            return None
        if layout.value >= 0 and not rules.needs_ranks:
            layout = replace(layout, rank=-1)  # beside scores the rank column may hold anything
        if content.file is None:
            return judgments.index.join_text(content.read_some, layout, rules, gathered=gathered)
        file = content.file
        return judgments.index.join_file(file.descriptor, file.size, layout, rules, threads, gathered=gathered)


class DictRun(UnreadRun):
    """A run as {query: {document: score}}."""

    source = "run"

    def __init__(self, value: Mapping[Any, Any], name: str) -> None:
        self._value, self.name = value, name

    def joined(self, judgments: Judgments, rules: joins.RankingRules, threads: int) -> joins.Joined | None:
        """The run joined with the judgments: documents are looked up by hashes that Python knows already."""
        if judgments.index is None or type(self._value) is not dict:
            return None
        return judgments.index.join_dict(self._value, judgments.doc_list, judgments.place, rules)

    def read(self) -> Run:
        """The run as a table."""
        return run_from_dict(self._value, self.name)


class FrameRun(UnreadRun):
    """A run in a data frame."""

    source = "run"

    def __init__(self, frame: Any, name: str) -> None:
        self._frame, self.name = frame, name

    @cached_property
    def _arrow(self) -> Any:
        return frame_table(self._frame, "run")

    def joined(self, judgments: Judgments, rules: joins.RankingRules, threads: int) -> joins.Joined | None:
        """The run joined with the judgments, from the columns as they are."""
        return join_table(self._arrow, self.source, judgments, rules)

    def read(self) -> Run:
        """The run as a table."""
        return run_from_table(self._arrow, self.source, self.name)
