"""A benchmark report for the terminal: measures down, modes across, the best of each row in bold. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport
from assay.report.benchmark.stages import (
    StageCell,
    moved_sentences,
    stage_legend,
    stage_sentences,
    stage_table,
    verdict_on_stages,
)
from assay.report.benchmark.words import (
    Cell,
    absences,
    aims,
    benchmark_table,
    choices,
    heading,
    legend,
    legend_of_marks,
    remarks,
)
from assay.report.drawing.terminal import Detail, Drawn, drawn_anomalies, printed, terminal_width, wrapped

if TYPE_CHECKING:
    from rich.text import Text

MOST_REMARKS = 2  # shown without -v
_LONGEST = 2000  # characters per sentence
_STYLES = {"better": "green", "worse": "red"}


class _Column(Struct, frozen=True):
    """A column of a table, ready to print."""

    name: str
    cells: tuple[Text, ...]
    left: bool = False  # names are on the left, numbers on the right

    @property
    def width(self) -> int:
        return max(len(self.name), *(cell.cell_len for cell in self.cells))


def render_text(report: BenchmarkReport, detail: Detail = Detail()) -> str:
    """The table for the terminal, followed by the recommended mode; all remarks if verbose."""
    from rich.text import Text

    width = terminal_width()
    parts = [
        printed(Text(heading(report), style="bold"), width),
        *_results(report, width),
        _wrapped([*choices(report), *aims(report), *absences(report)], width),
        *(_stages(report, width) if report.stages else ()),
        "".join(_remarks(report, detail, width)),
    ]
    return Drawn("\n".join(parts))


def _remarks(report: BenchmarkReport, detail: Detail, width: int) -> Iterator[str]:
    if detail.verbose:
        yield _wrapped([*legend(report), *remarks(report)], width)
        return
    marks = list(legend_of_marks(report))
    yield _wrapped(marks or ([f"Conventions and remarks: {detail.hint}."] if detail.hint else []), width)
    found = [
        show_id(text, _LONGEST) for text in (*report.notes, *(report.comparison.notes if report.comparison else ()))
    ]
    yield drawn_anomalies(found[:MOST_REMARKS], width)
    if len(found) > MOST_REMARKS:
        yield wrapped(f"... and {len(found) - MOST_REMARKS} more{detail.more('all with')}.", width)


def _results(report: BenchmarkReport, width: int) -> Iterator[str]:
    from rich.text import Text

    shown = benchmark_table(report)
    rows = (*shown.rows, *shown.times)
    modes = [
        _Column(mode, tuple(_marked(row.cells[number], shown.marked) for row in rows))
        for number, mode in enumerate(shown.modes)
    ]
    best = _Column("best mode", tuple(Text(row.best) for row in rows), left=True)
    names = [row.name for row in rows]
    return _tables("measure", names, [[mode] for mode in modes] + [[best]], width, gap=3, section=len(shown.rows))


def _stages(report: BenchmarkReport, width: int) -> Iterator[str]:
    """The stage table and what it says."""
    from rich.text import Text

    shown = stage_table(report)
    groups = [
        [_Column(column.name, tuple(map(_stage_cell, column.cells)), column.words) for column in group]
        for group in shown.groups
    ]
    yield printed(Text("Stages", style="bold"), width)
    yield from _tables("stage", shown.stages, groups, width, gap=2)
    yield _wrapped([*verdict_on_stages(report), *stage_sentences(report), *moved_sentences(report)], width)
    yield _wrapped(stage_legend(report), width)


def _tables(
    head: str, names: Sequence[str], groups: Sequence[Sequence[_Column]], width: int, *, gap: int, section: int = 0
) -> Iterator[str]:
    """A table in as many parts as the width needs, each with the names of its rows; a line after the row `section`."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    for columns in _fitting(groups, width - max(map(len, (head, *names))), gap):
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, gap - 2))
        table.add_column(head)
        for column in columns:
            table.add_column(Text(column.name), justify="left" if column.left else "right")
        for number, name in enumerate(names):
            if number == section:
                table.add_section()
            table.add_row(Text(name), *(column.cells[number] for column in columns))
        yield printed(table, width)


def _fitting(groups: Sequence[Sequence[_Column]], room: int, gap: int) -> Iterator[Sequence[_Column]]:
    """The columns in parts that fit; a group is divided only if it has to be."""

    def fits(columns: Sequence[_Column]) -> bool:
        return sum(gap + column.width for column in columns) <= room

    part: list[_Column] = []
    for group in groups:
        whole = fits([*part, *group])
        if part and not whole and fits(group):
            yield part
            part = []
        for column in group:
            if part and not fits([*part, column]):
                yield part
                part = []
            part.append(column)
    yield part


def _marked(cell: Cell, marked: bool) -> Text:
    from rich.text import Text

    text = Text(cell.value, style="bold" if cell.best else "")
    if marked:
        text.append(f" {cell.mark or ' '}", style=_STYLES.get(cell.verdict, ""))
    return text


def _stage_cell(cell: StageCell) -> Text:
    from rich.text import Text

    text = Text(cell.value, style="bold" if cell.matters else "")
    return text.append(cell.signs, style=_STYLES.get(cell.verdict, ""))


def _wrapped(lines: Iterable[str], width: int) -> str:
    return "".join(wrapped(show_id(line, _LONGEST), width) for line in lines)
