"""The table as Markdown, for issues, pull requests and READMEs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.report.drawing.markdown import escape
from assay.report.drawing.words import show_name
from assay.report.evaluation.table import ResultTable, Row


def render_markdown(table: ResultTable) -> str:
    """A table with the best of each column in bold, and the notes below."""
    names = table.row_names
    head = [*names, *map(escape, table.labels)]
    rule = [*("---" for _ in names), *("---:" for _ in table.labels)]
    rows = [head, rule, *(_cells(row, table) for row in table.for_people())]
    lines = _lines(rows)
    if table.weighted:
        head = list(map(escape, table.weighted_head))
        rule = [":---:" if "interval" in name else "---" if name in {"run", "measure"} else "---:" for name in head]
        lines += ["", *_lines([head, rule, *(list(map(escape, cells)) for cells in table.weighted_cells())])]
    return "\n".join([*lines, "", *(f"{escape(note)}  " for note in table.notes())]) + "\n"


def _lines(rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in rows]


def _cells(row: Row, table: ResultTable) -> list[str]:
    names = [escape(show_name(name)) for name in table.names_of(row)]
    values = [table.shown(value, request) for value, request in zip(row.values, table.requests, strict=True)]
    return names + [f"**{value}**" if best else value for value, best in zip(values, row.best, strict=True)]
