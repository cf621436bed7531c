"""Render the difference between two runs for the terminal: the answer, the figures, the worst queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from assay.comparison.diffing import QueryDiff, RunDiff
from assay.comparison.moves import Place
from assay.errors import show_id
from assay.report.difference import words
from assay.report.drawing.terminal import Detail, Drawn, printed, terminal_width, wrapped
from assay.words import sentence

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

DOCUMENTS = 3  # of a query: the best that entered, and the best that left
_ID = 60  # characters of an id
_BETWEEN = 3  # spaces between columns


def render_text(diff: RunDiff, shown: int, detail: Detail = Detail(verbose=True)) -> str:
    """The answer first; if verbose, documents that entered and left stand under their query, and the method at the end."""
    width = terminal_width()
    parts = [*_paragraphs(words.answer_of(diff), width)]
    if words.worth_figures(diff):
        parts += ["\n", _figures(diff, width)]
    queries = words.changed_queries(diff)[:shown]
    if queries:
        parts += [
            "\n",
            *([_title(words.CHANGED, width)] if detail.verbose else []),
            _queries(diff, queries, width, documents=detail.verbose),
        ]
    if not detail.verbose:
        total = len(words.changed_queries(diff))
        some = f"{len(queries)} of {total:,} changed queries are shown, worst first" if total > len(queries) > 0 else ""
        hint = f"documents and method: {detail.hint}" if detail.hint and total else ""
        more = "; ".join(filter(None, (some, hint)))
        return Drawn("".join([*parts, *([wrapped(f"{sentence(more)}.", width)] if more else [])]))
    notes = [words.not_shown(diff, shown) if shown else "", *words.counts_of(diff), *words.notes_of(diff)]
    return Drawn("".join([*parts, "\n" * words.worth_figures(diff), *_paragraphs(filter(None, notes), width)]))


def _figures(diff: RunDiff, width: int) -> str:
    table = _table(words.FIGURES_HEAD)
    for figure in words.figures_of(diff):
        table.add_row(*map(_plain, figure.cells))
    return printed(table, width)


def _queries(diff: RunDiff, queries: Sequence[QueryDiff], width: int, *, documents: bool) -> str:
    """Columns that do not fit are dropped whole; below each query, its documents."""
    head = words.query_head(diff)
    rows = [words.query_cells(query) for query in queries]
    kept = _fitting(head, rows, width)
    widths = [max(len(head[at]), *(len(row[at]) for row in rows)) for at in kept]
    widths[0] = min(widths[0], max(20, width - sum(widths[1:]) - _BETWEEN * len(widths)))
    lines = [_line([head[at] for at in kept], widths), "─" * min(width, sum(widths) + _BETWEEN * (len(widths) - 1))]
    for query, row in zip(queries, rows, strict=True):
        lines.append(_line([row[at] for at in kept], widths))
        lines += [line[:width] for line in _documents(query, diff)] if documents else []
    return "\n".join(lines) + "\n"


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that fit: the query, and as many others as there is room for, from the left."""
    kept, used = [0], max(20, min(30, max(len(row[0]) for row in rows)))
    for at in range(1, len(head)):
        used += _BETWEEN + max(len(head[at]), *(len(row[at]) for row in rows))
        if used > width:
            break
        kept.append(at)
    return kept


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    first = show_id(name, widths[0]).ljust(widths[0])
    return (" " * _BETWEEN).join([first, *(cell.rjust(size) for cell, size in zip(numbers, widths[1:], strict=True))])


def _documents(query: QueryDiff, diff: RunDiff) -> Iterator[str]:
    for kind, places in (("entered", query.entered), ("left", query.left)):
        for place in places[:DOCUMENTS]:
            yield _document(kind, place, diff)
        if len(places) > DOCUMENTS:
            yield f"    {kind:<8} {len(places) - DOCUMENTS} more"


def _document(kind: str, place: Place, diff: RunDiff) -> str:
    ranks = words.place_of(place, diff.settings.depth)
    grade = f"{words.grade_of(place, diff):<10}" if diff.unjudged is not None else ""
    return f"    {kind:<8} {ranks:>11}  {grade}{show_id(place.doc, _ID)}"


def _table(head: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, name in enumerate(head):
        table.add_column(Text(name), justify="right" if place else "left", overflow="fold", no_wrap=place > 0)
    return table


def _plain(cell: str) -> Text:
    """A cell without Rich markup."""
    from rich.text import Text

    return Text(cell)


def _title(title: str, width: int) -> str:
    from rich.text import Text

    return printed(Text(title, style="bold"), width)


def _paragraphs(texts: Iterable[str], width: int) -> Iterator[str]:
    yield from (wrapped(text, width) for text in texts)
