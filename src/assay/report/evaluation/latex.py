"""The table as LaTeX, for a paper (needs the package booktabs)."""

from __future__ import annotations

from assay.report.drawing.latex import escape
from assay.report.drawing.words import show_name
from assay.report.evaluation.table import ResultTable, Row


def render_latex(table: ResultTable) -> str:
    """A tabular with the best of each column in bold; the notes are comments above it."""
    names = [name.capitalize() for name in table.row_names]
    lines = [
        *(f"% {note}" for note in table.notes()),
        rf"\begin{{tabular}}{{{'l' * len(names)}{'r' * len(table.labels)}}}",
        r"\toprule",
        _line([*names, *map(escape, table.labels)]),
        r"\midrule",
        *(_line(_cells(row, table)) for row in table.for_people()),
        r"\bottomrule",
        r"\end{tabular}",
        *(_weighted(table) if table.weighted else ()),
    ]
    return "\n".join(lines) + "\n"


def _weighted(table: ResultTable) -> list[str]:
    """A second tabular with plain and weighted means."""
    head = table.weighted_head
    columns = "".join("l" if name in {"run", "measure"} else "r" for name in head)
    return [
        "",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line([escape(name.capitalize()) for name in head]),
        r"\midrule",
        *(_line(list(map(escape, cells))) for cells in table.weighted_cells()),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _cells(row: Row, table: ResultTable) -> list[str]:
    names = [escape(show_name(name)) for name in table.names_of(row)]
    values = [table.shown(value, request) for value, request in zip(row.values, table.requests, strict=True)]
    return names + [rf"\textbf{{{value}}}" if best else value for value, best in zip(values, row.best, strict=True)]


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
