"""Render evaluations in every format. Computes no measure and reads no file.

`tabulate` turns evaluations into a `ResultTable`; each renderer turns that one value into text.
"""

from __future__ import annotations

from collections.abc import Callable

from assay.report.drawing.terminal import Detail
from assay.report.evaluation.delimited import render_csv, render_tsv
from assay.report.evaluation.json import render_json
from assay.report.evaluation.latex import render_latex
from assay.report.evaluation.markdown import render_markdown
from assay.report.evaluation.table import ResultTable, tabulate
from assay.report.evaluation.trec import render_trec

Renderer = Callable[[ResultTable], str]


def render_text(table: ResultTable, detail: Detail = Detail()) -> str:
    """A table for the terminal; rich is loaded only if one is drawn."""
    from assay.report.evaluation import text

    return text.render_text(table, detail)


RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "csv": render_csv,
    "tsv": render_tsv,
    "markdown": render_markdown,
    "latex": render_latex,
    "trec": render_trec,
}
ROUNDED = ("table", "markdown", "latex")  # formats that round values; the others are exact, trec has four decimals

__all__ = ["RENDERERS", "ROUNDED", "Renderer", "ResultTable", "render_text", "tabulate"]
