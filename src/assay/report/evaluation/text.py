"""A table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from assay.errors import show_id
from assay.report.drawing.terminal import Drawn, printed, terminal_width
from assay.report.evaluation.table import ResultTable, Row, four_decimals

BEST = "*"
# Rich strips spaces from the end of a cell. This character cannot occur in an id, where it would be escaped.
_PAD = "\ue000"
_STATUS_STYLES = {"pass": "green", "warn": "yellow", "fail": "bold red", "unknown": "dim"}


def render_text(table: ResultTable) -> str:
    """Runs as rows and measures as columns; transposed if that does not fit."""
    width = terminal_width()
    cells = _grid(table)
    turned = _needed(cells) > width and not table.per_query
    if turned:
        cells = [list(column) for column in zip(*cells, strict=True)]
        cells[0][0] = Text("measure")
    parts = [_drawn(cells, width)]
    if any(any(row.best) for row in table.rows):
        parts.append(f"{BEST} best of its {'row' if turned else 'column'}\n")
    if table.weighted:
        rows = [table.weighted_head, *table.weighted_cells()]
        parts += ["\n", _drawn([list(map(Text, row)) for row in rows], width)]
    parts += [_wrapped(note, width) for note in table.notes()]
    return Drawn("".join(parts))


def _grid(table: ResultTable) -> list[list[Text]]:
    head = [*map(Text, table.row_names), *map(Text, table.labels)]
    rows = [*_all_cells(table.query_rows, table), *_all_cells(table.rows, table, means=True)]
    return [head, *rows]


def _all_cells(rows: Sequence[Row], table: ResultTable, *, means: bool = False) -> Iterator[list[Text]]:
    for row in rows:
        pairs = zip(row.values, row.best, table.requests, strict=True)
        values = [_value(four_decimals(value, request), best, table.several) for value, best, request in pairs]
        statuses = [table.status_of(row.run, label) if means else "" for label in table.labels]
        yield [*(Text(show_id(name)) for name in table.names_of(row)), *_with_statuses(values, statuses, table)]


def _with_statuses(values: list[Text], statuses: list[str], table: ResultTable) -> list[Text]:
    """Each value with its status, padded to the longest one to keep the digits aligned."""
    width = max((len(status) for status in table.statuses()), default=0)
    if not width:
        return values
    return [
        Text.assemble(value, _PAD, (status.ljust(width, _PAD), _STATUS_STYLES.get(status, "")))
        for value, status in zip(values, statuses, strict=True)
    ]


def _value(text: str, best: bool, several: bool) -> Text:
    if not several:
        return Text(text)
    return Text(text + BEST, style="bold green") if best else Text(text + " ")


def _needed(cells: list[list[Text]]) -> int:
    """The width of the table, with three spaces between columns."""
    return sum(max(cell_len(cell.plain) for cell in column) + 3 for column in zip(*cells, strict=True)) - 3


def _drawn(cells: list[list[Text]], width: int) -> str:
    drawing = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    numeric = {index for index, cell in enumerate(cells[0]) if cell.plain not in ("run", "query", "measure")}
    for index, name in enumerate(cells[0]):
        drawing.add_column(
            name, justify="right" if index in numeric else "left", overflow="fold", no_wrap=index in numeric
        )
    for row in cells[1:]:
        drawing.add_row(*row)
    lines = printed(drawing, max(width, _needed(cells))).replace(_PAD, " ").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _wrapped(note: str, width: int) -> str:
    return printed(Text(note, overflow="fold", style="dim"), width)
