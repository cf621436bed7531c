"""Render a comparison as text, JSON, CSV, Markdown, LaTeX or HTML. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.comparison.comparing import Comparison
from assay.report.comparison.delimited import render_csv
from assay.report.comparison.documents import render_json, render_latex, render_markdown
from assay.report.comparison.text import render_text

Renderer = Callable[..., str]


def render_html(comparison: Comparison) -> str:
    """A self-contained HTML page with charts."""
    from assay.report.comparison.page import render_page  # imports Jinja only when needed

    return render_page(comparison)


RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "csv": render_csv,
    "markdown": render_markdown,
    "latex": render_latex,
    "html": render_html,
}
