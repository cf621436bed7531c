"""Tables for the terminal whose columns wrap, or are dropped whole, until they fit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.report.drawing.terminal import printed

GAP = 2  # spaces between columns


class Column(Struct, frozen=True):
    """A column of a table, as text."""

    name: str
    cells: tuple[str, ...]
    left: bool = False  # words are on the left, numbers on the right
    least: int | None = (
        None  # the narrowest width at which cells may wrap; None: never, since part of a number is wrong
    )
    styles: tuple[str, ...] = ()  # of the cells; empty for none
    rank: int = 0  # 0: is never dropped; otherwise the highest goes first

    @property
    def width(self) -> int:
        """What it needs without wrapping."""
        return max(map(len, (self.name, *self.cells)))

    @property
    def narrowest(self) -> int:
        """What it needs at least. A name over numbers wraps between words."""
        cells = max(map(len, self.cells), default=0)
        if self.least is not None:
            return min(self.width, max(self.least, 0 if self.left else cells))
        return max(cells, *map(len, self.name.split()))


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit at their narrowest."""
    kept = list(columns)
    while sum(column.narrowest + GAP for column in kept) - GAP > width and any(column.rank for column in kept):
        kept.remove(max(kept, key=lambda column: column.rank))
    return kept


def drawn(columns: Sequence[Column], width: int) -> str:
    """The table; columns that can wrap are narrowed until it fits."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    widths = narrowed(columns, width)
    for column, room in zip(columns, widths, strict=True):
        table.add_column(Text(column.name), justify="left" if column.left else "right", overflow="fold", width=room)
    for row in range(len(columns[0].cells)):
        table.add_row(*(Text(each.cells[row], style=each.styles[row] if each.styles else "") for each in columns))
    return printed(table, max(width, sum(widths) + GAP * len(widths)))


def narrowed(columns: Sequence[Column], width: int) -> list[int]:
    """The widths of the columns: the widest that can wrap gives way first."""
    widths = [column.width for column in columns]
    room = width - GAP * (len(columns) - 1)
    while sum(widths) > room:
        most = max(range(len(columns)), key=lambda at: widths[at] - columns[at].narrowest)
        if widths[most] == columns[most].narrowest:
            break
        widths[most] -= 1
    return widths
