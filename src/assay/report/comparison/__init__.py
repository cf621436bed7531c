"""A comparison for the terminal, as JSON, Markdown, LaTeX and as a page. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.comparison.comparing import Comparison
from assay.report.comparison.documents import render_json, render_latex, render_markdown
from assay.report.comparison.text import render_text

Renderer = Callable[[Comparison], str]


def render_html(comparison: Comparison) -> str:
    """One page that opens offline, with charts."""
    from assay.report.comparison.page import render_page  # Jinja is loaded only for a page

    return render_page(comparison)


RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "markdown": render_markdown,
    "latex": render_latex,
    "html": render_html,
}
