"""A table for the terminal."""

from __future__ import annotations

import io
import shutil
import sys

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.errors import show_id
from assay.report.model import ResultTable, Row, four_decimals

BEST = "*"
_FALLBACK_WIDTH = 120  # when the output is no terminal


def render_text(table: ResultTable) -> str:
    """Runs down, measures across; turned around where that would not fit."""
    width = shutil.get_terminal_size((_FALLBACK_WIDTH, 0)).columns if sys.stdout.isatty() else _FALLBACK_WIDTH
    cells = _grid(table)
    turned = _needed(cells) > width and not table.per_query
    if turned:
        cells = [list(column) for column in zip(*cells, strict=True)]
        cells[0][0] = Text("measure")
    parts = [_drawn(cells, width)]
    if any(any(row.best) for row in table.rows):
        parts.append(f"{BEST} best of its {'row' if turned else 'column'}\n")
    parts += [_wrapped(note, width) for note in table.notes()]
    return "".join(parts)


def _grid(table: ResultTable) -> list[list[Text]]:
    head = [*map(Text, table.row_names), *map(Text, table.labels)]
    return [head, *(_cells(row, table) for row in table.all_rows())]


def _cells(row: Row, table: ResultTable) -> list[Text]:
    names = [Text(show_id(name)) for name in table.names_of(row)]
    values = [
        _value(four_decimals(value, request), best, table.several)
        for value, best, request in zip(row.values, row.best, table.requests, strict=True)
    ]
    return names + values


def _value(text: str, best: bool, several: bool) -> Text:
    if not several:
        return Text(text)
    return Text(text + BEST, style="bold green") if best else Text(text + " ")


def _needed(cells: list[list[Text]]) -> int:
    return sum(max(cell_len(cell.plain) for cell in column) + 2 for column in zip(*cells, strict=True)) + 2


def _drawn(cells: list[list[Text]], width: int) -> str:
    drawing = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    numeric = {index for index, cell in enumerate(cells[0]) if cell.plain not in ("run", "query", "measure")}
    for index, name in enumerate(cells[0]):
        drawing.add_column(
            name, justify="right" if index in numeric else "left", overflow="fold", no_wrap=index in numeric
        )
    for row in cells[1:]:
        drawing.add_row(*row)
    return _printed(drawing, max(width, _needed(cells)))


def _printed(what: Table | Text, width: int) -> str:
    out = io.StringIO()
    colours = sys.stdout.isatty()
    console = Console(
        file=out, width=width, force_terminal=colours, no_color=None if colours else True, highlight=False
    )
    console.print(what)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _wrapped(note: str, width: int) -> str:
    return _printed(Text(note, overflow="fold", style="dim"), width)
