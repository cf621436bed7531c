"""Render a leaderboard for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.comparison.leaderboard import Leaderboard
from assay.report.drawing.terminal import Detail, Drawn, drawn_anomalies, printed, terminal_width, wrapped
from assay.report.leaderboard import words
from assay.report.leaderboard.words import Column

if TYPE_CHECKING:
    from rich.table import Table

BEST = "bold green"  # of a column, as in `assay evaluate`
TOP = 20  # systems, unless told otherwise
_NAME = 16  # characters of a system's name before it wraps
_BETWEEN = 3  # spaces between columns
_FIXED = 6  # columns that are always shown


def render_text(board: Leaderboard, top: int | None = None, detail: Detail = Detail()) -> str:
    """The table, then what its columns mean and what is unusual; in full if `detail` is verbose."""
    width = terminal_width()
    shown = TOP if top is None else top
    columns, left_out = _fitting(words.columns_of(board, shown), width)
    parts = [printed(_table(columns), width)]
    if not detail.quiet:
        parts += _remarks(board, shown, left_out, detail, width)
    return Drawn("".join(parts))


def _remarks(board: Leaderboard, top: int, left_out: Sequence[str], detail: Detail, width: int) -> Iterator[str]:
    if hidden := words.left_to_show(board, top):
        yield wrapped(f"{hidden}; --top {len(board.standings)} shows all.", width)
    if left_out:
        yield wrapped(f"Left out: {', '.join(left_out)}. Widen the terminal, or use --format json.", width)
    if detail.verbose:
        yield wrapped(words.method_of(board), width)
    else:
        yield wrapped(f"{words.brief_of(board).removesuffix('.')}{detail.more()}.", width)
    yield drawn_anomalies(list(words.notes_of(board)), width)
    if detail.verbose:
        yield from (wrapped(text, width) for text in (words.sizes_of(board), words.conventions_of(board)) if text)


def _fitting(columns: Sequence[Column], width: int) -> tuple[list[Column], list[str]]:
    """The columns that fit, and the names of the others: columns are dropped whole, the last ones first."""
    kept = list(columns)
    while len(kept) > _FIXED and sum(map(_needed, kept)) > width + _BETWEEN:
        kept.pop()
    return kept, [column.name for column in columns[len(kept) :]]


def _needed(column: Column) -> int:
    """Terminal columns that a column takes; names of systems may wrap."""
    widest = max(len(column.name), *map(len, column.cells))
    return (min(widest, _NAME) if column.name == words.NAME else widest) + _BETWEEN


def _table(columns: Sequence[Column]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        is_name = place == 1
        table.add_column(
            Text(column.name), justify="left" if is_name else "right", overflow="fold", no_wrap=not is_name
        )
    cells = [
        [Text(cell, style=BEST if place in column.best else "") for place, cell in enumerate(column.cells)]
        for column in columns
    ]
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    return table
