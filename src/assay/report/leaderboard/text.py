"""Render a leaderboard for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.comparison.leaderboard import Leaderboard
from assay.report.drawing.terminal import Drawn, printed, terminal_width
from assay.report.leaderboard import words
from assay.report.leaderboard.words import Column

if TYPE_CHECKING:
    from rich.table import Table

TOP = 20  # systems, unless told otherwise
_NAME = 16  # characters of a system's name before it wraps
_BETWEEN = 3  # spaces between columns
_FIXED = 6  # columns that are always shown


def render_text(board: Leaderboard, top: int | None = None) -> str:
    """The table, then what its columns mean and what is unusual."""
    width = terminal_width()
    shown = TOP if top is None else top
    columns, left_out = _fitting(words.columns_of(board, shown), width)
    lines = [words.brief_of(board), *(f"! {note}" for note in words.notes_of(board))]
    if hidden := words.left_to_show(board, shown):
        lines.insert(0, f"{hidden}; --top {len(board.standings)} shows all.")
    if left_out:
        lines.append(f"Left out: {', '.join(left_out)}. Widen the terminal, or use --format json.")
    return Drawn(printed(_table(columns), width) + "".join(_paragraph(line, width) for line in lines))


def _paragraph(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width)) + "\n"


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
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table
