"""Tables of pages: columns, rows and what a reader can do with them. The macro `table` in parts.html prints one.

Without scripts a table is plain and whole. `report.js` adds sorting to every table, and to long ones a search field and
pages, from what the table itself says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.errors import show_id
from assay.report.drawing.words import TONES

LONGEST = 2000  # characters of a text
LONG = 28  # characters of a row's name from which it may take several lines
MOST_QUERIES = 10_000  # in a page


class Cell(Struct, frozen=True):
    """A cell with more than words."""

    words: str
    tone: str = ""  # its classes: good or bad for a colour, wide for a text
    bold: bool = False
    sort: float | None = None  # what it is sorted by if its words start with no number that says it
    link: str = ""  # address
    marks: tuple[tuple[str, str], ...] = ()  # raised words after it, each with its tone


class Column(Struct, frozen=True):
    """A column and its heading."""

    name: str
    number: bool = True  # right-aligned, and sorted by its number
    left: bool = False  # of numbers: words follow them, so that they are aligned on the left
    bar: bool = False  # each value from 0 has a bar behind it
    hint: str = ""  # more about it, on hover


Cells = tuple[str | Cell, ...]


class Table(Struct, frozen=True):
    """A table. The first cell of each row names it."""

    columns: tuple[Column, ...]
    rows: tuple[Cells, ...]
    nouns: str = "rows"  # what the rows are, in the plural: "systems", "queries"
    fixed: int = 1  # columns from the left that stay where they are when the others scroll
    order: tuple[int, str] | None = None  # the column by which the rows are sorted, and "ascending" or "descending"
    kinds: tuple[str, ...] = ()  # for each row, the choices of `choices` that show it, with spaces between them
    choices: tuple[tuple[str, str], ...] = ()  # our own: a kind and its words, such as ("zero", "at 0")
    opens: tuple[
        str, ...
    ] = ()  # for each row, what it opens: the `data-of` of other parts of the page, or a key of `data`
    left_out: str = ""  # which rows are not in the table, and where they are


def columns_of(names: Sequence[str], texts: Sequence[str] = ()) -> tuple[Column, ...]:
    """Columns with these names; the first and those among `texts` hold text, the others numbers.

    >>> [column.number for column in columns_of(["Query", "AP", "Best system"], ["Best system"])]
    [False, True, False]
    """
    return tuple(Column(name, number=place > 0 and name not in texts) for place, name in enumerate(names))


def verdict_cell(verdict: str) -> str | Cell:
    """A verdict, short enough for a column, in its colour."""
    if verdict.startswith("no "):
        return "not significant"
    return Cell(verdict, TONES[verdict]) if verdict in TONES else verdict


def number_class(column: Column) -> str:
    """The class of cells with numbers; none for texts."""
    return "" if not column.number else "number left" if column.left else "number"


def rows_of(table: Table) -> str:
    """The rows as markup, with every text escaped. A page may have thousands: Python is much faster here than a template."""
    from markupsafe import Markup

    looks = [
        " ".join(filter(None, (number_class(column), "fixed" if place < table.fixed else "")))
        for place, column in enumerate(table.columns)
    ]
    return Markup(
        "\n".join(f"<tr{_facts(table, at)}>{''.join(_cells(row, looks))}</tr>" for at, row in enumerate(table.rows))
    )


def _facts(table: Table, at: int) -> str:
    """What the script needs to know of a row."""
    kinds = f' data-kinds="{_escaped(table.kinds[at])}"' if table.kinds else ""
    opens = f' data-opens="{_escaped(table.opens[at])}"' if table.opens and table.opens[at] else ""
    return kinds + opens


def _cells(row: Cells, looks: Sequence[str]) -> Iterator[str]:
    for place, (cell, look) in enumerate(zip(row, looks, strict=True)):
        tag, scope = ("td", "") if place else ("th", ' scope="row"')
        whole = Cell(cell) if isinstance(cell, str) else cell
        long = "long" if not place and len(whole.words) > LONG else ""
        classes = " ".join(filter(None, (look, long, whole.tone)))
        kind = f' class="{classes}"' if classes else ""
        sort = "" if whole.sort is None else f' data-sort="{whole.sort!r}"'
        yield f"<{tag}{scope}{kind}{sort}>{_words(whole, 'number' in look)}</{tag}>"


def _words(cell: Cell, number: bool) -> str:
    words = _escaped(cell.words) if number else f"<bdi>{_escaped(cell.words)}</bdi>"
    if cell.bold:
        words = f"<strong>{words}</strong>"
    if cell.link:
        words = f'<a href="{_escaped(cell.link)}">{words}</a>'
    return words + "".join(f'<sup class="{_escaped(tone)}">{_escaped(mark)}</sup>' for mark, tone in cell.marks)


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(show_id(text, LONGEST)))
