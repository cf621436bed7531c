"""The table as LaTeX, for a paper (needs the package booktabs)."""

from __future__ import annotations

from assay.errors import show_id
from assay.report.drawing.latex import escape
from assay.report.evaluation.table import ResultTable, Row, four_decimals


def render_latex(table: ResultTable) -> str:
    """A tabular with the best of each column in bold; the notes are comments above it."""
    names = [name.capitalize() for name in table.row_names]
    lines = [
        *(f"% {note}" for note in table.notes()),
        rf"\begin{{tabular}}{{{'l' * len(names)}{'r' * len(table.labels)}}}",
        r"\toprule",
        _line([*names, *map(escape, table.labels)]),
        r"\midrule",
        *(_line(_cells(row, table)) for row in table.all_rows()),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Row, table: ResultTable) -> list[str]:
    names = [escape(show_id(name)) for name in table.names_of(row)]
    values = [four_decimals(value, request) for value, request in zip(row.values, table.requests, strict=True)]
    return names + [rf"\textbf{{{value}}}" if best else value for value, best in zip(values, row.best, strict=True)]


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
