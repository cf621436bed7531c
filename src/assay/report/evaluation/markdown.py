"""The table as Markdown, for issues, pull requests and READMEs."""

from __future__ import annotations

from assay.errors import show_id
from assay.report.drawing.markdown import escape
from assay.report.evaluation.table import ResultTable, Row, four_decimals


def render_markdown(table: ResultTable) -> str:
    """A table with the best of each column in bold, and the notes below."""
    names = table.row_names
    head = [*names, *map(escape, table.labels)]
    rule = [*("---" for _ in names), *("---:" for _ in table.labels)]
    rows = [head, rule, *(_cells(row, table) for row in table.all_rows())]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"{escape(note)}  " for note in table.notes())]) + "\n"


def _cells(row: Row, table: ResultTable) -> list[str]:
    names = [escape(show_id(name)) for name in table.names_of(row)]
    values = [four_decimals(value, request) for value, request in zip(row.values, table.requests, strict=True)]
    return names + [f"**{value}**" if best else value for value, best in zip(values, row.best, strict=True)]
