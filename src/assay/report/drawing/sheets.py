"""A few tables and notes, as HTML for a notebook, as Markdown and as LaTeX. The template `sheet.html` makes a page of the same value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import show_id
from assay.report.drawing import latex, markdown
from assay.words import number_of

MOST_ROWS = 20  # of a table in a notebook
MOST_REMARKS, MOST_NOTES = 4, 12
LONGEST = 2000  # characters of any text
_SHORT = 40  # characters of a cell that fits on one line of a paper


class Strong(Struct, frozen=True):
    """A cell that stands out."""

    words: str


Cell: TypeAlias = str | Strong


class SheetTable(Struct, frozen=True):
    """A table with its title and texts; they are as given, and every renderer escapes them. Texts may stand alone."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    numbers: frozenset[int] = frozenset()  # columns aligned to the right
    title: str = ""
    texts: tuple[str, ...] = ()  # above the table
    note: str = ""  # below the table, such as which rows are not here


class Sheet(Struct, frozen=True):
    """What a result says, from the most important to the conditions."""

    kind: str  # "Evaluation"
    title: str
    tables: tuple[SheetTable, ...]
    remarks: tuple[str, ...] = ()  # what changes how the tables are read
    notes: tuple[str, ...] = ()  # conditions; a notebook shows them on request

    def shortened(self) -> Sheet:
        """The sheet with the first remarks and notes; how many more there are is said."""
        return replace(
            self, remarks=_first(self.remarks, MOST_REMARKS, "remark"), notes=_first(self.notes, MOST_NOTES, "note")
        )


def _first(texts: Sequence[str], most: int, what: str) -> tuple[str, ...]:
    more = len(texts) - most
    return (*texts[:most], *([f"{number_of(more, f'more {what}')}."] if more > 0 else []))


def sheet_as_html(sheet: Sheet) -> str:
    """HTML without colours and style sheets of its own, so that it looks like the notebook, light or dark."""
    parts = [f"<p><strong>{_shown(sheet.title)}</strong></p>"] if sheet.title else []
    for table in sheet.tables:
        parts += _table_as_html(table)
    parts += [f"<p>{_shown(remark)}</p>" for remark in sheet.remarks]
    if sheet.notes:
        notes = "".join(f"<li>{_shown(note)}</li>" for note in sheet.notes)
        parts.append(f"<details><summary>Notes</summary><ul>{notes}</ul></details>")
    return f"<div>{''.join(parts)}</div>"


def _table_as_html(table: SheetTable) -> Iterator[str]:
    if table.title:
        yield f"<p>{_shown(table.title)}</p>"
    yield from (f"<p>{_shown(text)}</p>" for text in table.texts)
    head = "".join(_cell(name, "th", number, table) for number, name in enumerate(table.head))
    rows = "".join(
        f"<tr>{''.join(_cell(cell, 'td', number, table) for number, cell in enumerate(row))}</tr>" for row in table.rows
    )
    if table.head:
        yield f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    if table.note:
        yield f"<p>{_shown(table.note)}</p>"


def _cell(cell: Cell, element: str, number: int, table: SheetTable) -> str:
    """One cell; each says how it is aligned, since notebooks align all of them to the right."""
    words = f"<strong>{_shown(cell.words)}</strong>" if isinstance(cell, Strong) else _shown(cell)
    side = "right" if number in table.numbers else "left"
    return f'<{element} style="text-align: {side}"><bdi>{words}</bdi></{element}>'


def _shown(text: str) -> str:
    return escape(show_id(text, LONGEST))


def sheet_as_markdown(sheet: Sheet) -> str:
    """The same as Markdown."""
    parts = [f"# {markdown.plain(sheet.title)}"] if sheet.title else []
    for table in sheet.tables:
        parts += [f"## {markdown.plain(table.title)}"] if table.title else []
        parts += map(markdown.plain, table.texts)
        rows = [[_marked(cell) for cell in row] for row in table.rows]
        head = [markdown.plain(name) for name in table.head]
        parts += [markdown.table(head, rows, table.numbers)] if head else []
        parts += [markdown.plain(table.note)] if table.note else []
    parts += map(markdown.plain, sheet.remarks)
    parts += [markdown.bullets(map(markdown.plain, sheet.notes))] if sheet.notes else []
    return "\n\n".join(parts) + "\n"


def _marked(cell: Cell) -> str:
    return f"**{markdown.plain(cell.words)}**" if isinstance(cell, Strong) else markdown.plain(cell)


def sheet_as_latex(sheet: Sheet) -> str:
    """The tables for a paper; the texts are comments."""
    tables = (
        _comments((table.title, *table.texts, table.note)) + (_tabular(table) if table.head else "")
        for table in sheet.tables
    )
    return "\n".join(filter(None, (_comments((sheet.title, *sheet.remarks, *sheet.notes)), *tables)))


def _comments(texts: Iterable[str]) -> str:
    return "".join(f"% {show_id(text, LONGEST)}\n" for text in texts if text)


def _tabular(table: SheetTable) -> str:
    columns = zip(*table.rows, strict=True)
    long = [any(len(_words(cell)) > _SHORT for cell in column) for column in columns] or [False] * len(table.head)
    share = f"p{{{0.75 / max(sum(long), 1):.2f}\\linewidth}}"
    kinds = ["r" if number in table.numbers else share if long[number] else "l" for number in range(len(table.head))]
    rows = [" & ".join(_as_latex(cell) for cell in row) + r" \\" for row in (table.head, *table.rows)]
    begin, end = rf"\begin{{tabular}}{{{''.join(kinds)}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule", end]) + "\n"


def _as_latex(cell: Cell) -> str:
    words = latex.escape(show_id(_words(cell), LONGEST))
    return rf"\textbf{{{words}}}" if isinstance(cell, Strong) else words


def _words(cell: Cell) -> str:
    return cell.words if isinstance(cell, Strong) else cell


def sheet_as_page(sheet: Sheet) -> str:
    """The same as a page of its own."""
    from assay.report.drawing.charts import Drawings
    from assay.report.drawing.page import render_page

    return render_page("sheet.html", Drawings(), sheet=sheet)


def numbered(head: Sequence[str], names: Iterable[str]) -> frozenset[int]:
    """The columns with these names."""
    wanted = set(names)
    return frozenset(number for number, name in enumerate(head) if name in wanted)
