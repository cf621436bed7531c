"""The table as LaTeX, ready for a paper (uses the package booktabs)."""

from __future__ import annotations

from assay.errors import show_id
from assay.report.model import ResultTable, Row, four_decimals

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{character: f"\\{character}" for character in "&%$#_"},
        **{character: f"{{{character}}}" for character in "[]*"},  # after the end of a row they would belong to it
    }
)


def render_latex(table: ResultTable) -> str:
    """A tabular with the best of each column in bold; the notes stand above it as comments."""
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


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> escape("a_b"), escape("[a]")
    ('a\\_b', '{[}a{]}')
    """
    return text.translate(_ESCAPES)
