"""A table for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from assay.report.drawing.terminal import Detail, Drawn, drawn_anomalies, printed, terminal_width, wrapped
from assay.report.drawing.words import show_name
from assay.report.evaluation.table import ResultTable, Row
from assay.words import number_of

# Rich strips spaces from the end of a cell. This character cannot occur in an id, where it would be escaped.
_PAD = "\ue000"
_STATUS_STYLES = {"pass": "green", "warn": "yellow", "fail": "bold red", "unknown": "dim"}
_NAME = 24  # columns of a name that has to wrap
_BETWEEN = 3  # spaces between columns

Cells = list[list[Text]]


def render_text(table: ResultTable, detail: Detail = Detail()) -> str:
    """The table, one line on the conventions, and what is unusual; in full if `detail` is verbose."""
    width = terminal_width()
    parts = [*_tables(_grid(table), table, width)]
    if table.weighted:
        rows = [table.weighted_head, *table.weighted_cells()]
        parts += ["\n", *_side_by_side([list(map(Text, row)) for row in rows], 1 + table.several, width)]
    if not detail.quiet:
        parts += _remarks(table, detail, width)
    return Drawn("".join(parts))


def _remarks(table: ResultTable, detail: Detail, width: int) -> Iterator[str]:
    if table.left_out:
        yield f"{len(table.rows):,} of {number_of(table.left_out + len(table.rows), 'run')}.\n"
    if not detail.verbose:
        yield wrapped(f"{table.conventions()}{detail.more()}", width)
    yield drawn_anomalies(list(table.anomalies()), width)
    if detail.verbose:
        yield from (printed(Text(note, overflow="fold", style="dim"), width) for note in table.notes())


def _tables(cells: Cells, table: ResultTable, width: int) -> Iterator[str]:
    """Runs as rows and measures as columns; transposed if only that fits, else in several parts."""
    if _needed(cells) <= width:
        yield _drawn(cells, len(table.row_names), width)
        return
    turned = [list(column) for column in zip(*cells, strict=True)]
    if not table.per_query and _needed(turned) <= width:
        turned[0][0] = Text("measure")
        yield _drawn(turned, 1, width)
    else:
        yield from _side_by_side(cells, len(table.row_names), width)


def _side_by_side(cells: Cells, names: int, width: int) -> Iterator[str]:
    """The columns in as many parts as the width needs, each with the names of its rows, which wrap."""
    columns = list(zip(*cells, strict=True))
    room = width - sum(min(_width(column), _NAME) + _BETWEEN for column in columns[:names]) + _BETWEEN
    parts: list[list[tuple[Text, ...]]] = [[]]
    for column in columns[names:]:
        if parts[-1] and sum(_width(each) + _BETWEEN for each in (*parts[-1], column)) > room:
            parts.append([])
        parts[-1].append(column)
    for place, part in enumerate(parts):
        rows = [list(row) for row in zip(*columns[:names], *part, strict=True)]
        yield ("\n" if place else "") + _drawn(rows, names, width, longest=_NAME)


def _grid(table: ResultTable) -> Cells:
    head = [*map(Text, table.row_names), *map(Text, table.labels)]
    queries = [_cells(row, table) for row in table.queries_for_people()]
    return [head, *queries, *(_cells(row, table, total=True) for row in table.rows)]


def _cells(row: Row, table: ResultTable, *, total: bool = False) -> list[Text]:
    values = [
        Text(table.shown(value, request), style="bold green" if best else "")
        for value, best, request in zip(row.values, row.best, table.requests, strict=True)
    ]
    statuses = [table.status_of(row.run, label) if total else "" for label in table.labels]
    return [*(Text(show_name(name)) for name in table.names_of(row)), *_with_statuses(values, statuses, table)]


def _with_statuses(values: list[Text], statuses: list[str], table: ResultTable) -> list[Text]:
    """Each value with its status, padded to the longest one to keep the digits aligned."""
    width = max((len(status) for status in table.statuses()), default=0)
    if not width:
        return values
    return [
        Text.assemble(value, _PAD, (status.ljust(width, _PAD), _STATUS_STYLES.get(status, "")))
        for value, status in zip(values, statuses, strict=True)
    ]


def _width(column: Sequence[Text]) -> int:
    return max(cell_len(cell.plain) for cell in column)


def _needed(cells: Cells) -> int:
    """The width of the table."""
    return sum(_width(column) + _BETWEEN for column in zip(*cells, strict=True)) - _BETWEEN


def _drawn(cells: Cells, names: int, width: int, longest: int | None = None) -> str:
    """A table whose first columns are names, which wrap if they are longer."""
    drawing = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, name in enumerate(cells[0]):
        number = index >= names
        drawing.add_column(
            name,
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=number,
            max_width=None if number else longest,
        )
    for row in cells[1:]:
        drawing.add_row(*row)
    lines = printed(drawing, max(width, _needed(cells))).replace(_PAD, " ").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)
