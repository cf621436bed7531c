"""Render a diagnosis for the terminal. Computes nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.diagnosis.model import Column, Diagnosis, DiagnosisFinding, Kind, Table
from assay.report.diagnosis.words import cells_of, headline, not_looked_at, notes_of
from assay.report.drawing.terminal import Detail, Drawn, printed, styled, terminal_width, wrapped

if TYPE_CHECKING:
    from rich.table import Table as DrawnTable

_INDENT = " " * 9
_STYLES = {"problem": "bold red", "warning": "bold yellow", "note": "bold", "fine": "green"}
_GAP = 2  # spaces between columns
GIVES_WAY: dict[Kind, int] = {"text": 12, "passage": 16}  # narrowest width of columns that can wrap or be cut


def render_text(diagnosis: Diagnosis, detail: Detail = Detail()) -> str:
    """The findings, most severe first; with all that was measured, what is fine and what was not checked if verbose."""
    width = terminal_width()
    if not detail.verbose:
        return Drawn("".join(_in_brief(diagnosis, detail, width)))
    parts = [wrapped(headline(diagnosis), width)]
    parts += ["\n" + "".join(_finding_lines(finding, width)) for finding in diagnosis if finding.severity != "fine"]
    fine = [f"{finding.measured} [{finding.code}]" for finding in diagnosis if finding.severity == "fine"]
    parts += _listed("Checked, nothing found:", fine, width)
    parts += _listed("Not checked:", list(not_looked_at(diagnosis)), width)
    parts += ["\n", *(wrapped(note, width) for note in notes_of(diagnosis))]
    return Drawn("".join(parts))


def _in_brief(diagnosis: Diagnosis, detail: Detail, width: int) -> Iterator[str]:
    """A line for each finding; for problems and warnings also what was measured."""
    yield wrapped(headline(diagnosis), width)
    found = [finding for finding in diagnosis if finding.severity != "fine"]
    for finding in found:
        head = wrapped(f"{finding.severity:<9}{finding.title} [{finding.code}]", width, "", _INDENT)
        yield styled(head, _STYLES[finding.severity])
        if finding.severity != "note":
            yield wrapped(finding.measured, width, _INDENT)
    if found and detail.hint:
        yield wrapped(f"What was measured, how sure that is and what to do: {detail.hint}.", width)


def _listed(head: str, items: list[str], width: int) -> list[str]:
    return [f"\n{head}\n", *(wrapped(item, width, "- ") for item in items)] if items else []


def _finding_lines(finding: DiagnosisFinding, width: int) -> Iterator[str]:
    from rich.text import Text

    head = wrapped(f"{finding.severity:<9}{finding.title} [{finding.code}]", width, "", _INDENT)
    yield printed(Text(head.rstrip("\n"), style=_STYLES[finding.severity]), width)
    for text in (
        finding.measured,
        f"Confidence: {finding.sure}",
        f"What to do: {finding.advice}" if finding.advice else "",
    ):
        if text:
            yield wrapped(text, width, _INDENT)
    for table in finding.tables:
        yield "\n"
        if table.title:
            yield wrapped(f"{table.title}:", width, "  ")
        yield from _table_lines(table, width)
        more = len(table.rows) - table.shown
        if more > 0:
            yield f"  {more:,} more rows; --format json has all.\n"
        if table.note:
            yield wrapped(table.note, width, "  ")


def _table_lines(table: Table, width: int) -> Iterator[str]:
    """The table or, if it does not fit, a list with the column name before each cell."""
    rows = [cells_of(table, row) for row in table.rows[: table.shown]]
    widths = _widths(table.columns, rows, width - 2)
    if widths is not None:
        yield textwrap.indent(printed(_drawn(table.columns, rows, widths), width - 2), "  ")
        return
    for row in rows:
        cells = zip(table.columns, row, strict=True)
        yield wrapped("; ".join(f"{column.name} {cell}" for column, cell in cells), width, "  - ")


def _widths(columns: Sequence[Column], rows: list[list[str]], width: int) -> list[int] | None:
    """The column widths; None if they do not fit. Headers, ids and texts can shrink, figures cannot."""
    from rich.cells import cell_len

    widths, narrowest = [], []
    for number, column in enumerate(columns):
        longest = max((cell_len(row[number]) for row in rows), default=0)
        widths.append(max(longest, cell_len(column.name)))
        word = max(map(cell_len, column.name.split()))
        narrowest.append(max(word, min(longest, GIVES_WAY.get(column.kind, longest))))
    room = width - _GAP * (len(columns) - 1)
    if sum(narrowest) > room:
        return None
    while sum(widths) > room:
        most = max(range(len(columns)), key=lambda number: widths[number] - narrowest[number])
        widths[most] -= 1
    return widths


def _drawn(columns: Sequence[Column], rows: list[list[str]], widths: list[int]) -> DrawnTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as DrawnTable
    from rich.text import Text

    drawn = DrawnTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for column, width in zip(columns, widths, strict=True):
        passage = column.kind == "passage"
        drawn.add_column(
            Text(column.name, no_wrap=False),
            justify="left" if column.kind in GIVES_WAY else "right",
            overflow="ellipsis" if passage else "fold",
            no_wrap=passage,
            width=width,
        )
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn
