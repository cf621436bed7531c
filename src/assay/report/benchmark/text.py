"""A benchmark report for the terminal: measures down, modes across, the best of each row in bold. Computes nothing."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport
from assay.report.benchmark.words import Cell, absences, aims, benchmark_table, choices, heading, legend, remarks
from assay.report.drawing.terminal import printed, terminal_width

if TYPE_CHECKING:
    from rich.text import Text

_LONGEST = 2000  # characters per sentence


def render_text(report: BenchmarkReport) -> str:
    """The table for the terminal, followed by the recommended mode."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    width = terminal_width()
    shown = benchmark_table(report)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("measure")
    for mode in shown.modes:
        table.add_column(Text(mode), justify="right")
    table.add_column("best mode")
    for row in shown.rows:
        table.add_row(Text(row.name), *(_rich(cell, shown.marked) for cell in row.cells), Text(row.best))
    table.add_section()
    for row in shown.times:
        table.add_row(Text(row.name), *(_rich(cell, shown.marked) for cell in row.cells), Text(row.best))
    lines = [*choices(report), *aims(report), *absences(report), "", *legend(report), *remarks(report)]
    words = "".join("\n".join(textwrap.wrap(show_id(line, _LONGEST), width)) + "\n" for line in lines)
    return printed(Text(heading(report), style="bold"), width) + "\n" + printed(table, width) + "\n" + words


def _rich(cell: Cell, marked: bool) -> Text:
    from rich.text import Text

    text = Text(cell.value, style="bold" if cell.best else "")
    if marked:
        text.append(f" {cell.mark or ' '}", style={"better": "green", "worse": "red"}.get(cell.verdict, ""))
    return text
