"""Render the difference between two runs as text, JSON, Markdown or HTML. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.comparison.diffing import RunDiff
from assay.report.difference.documents import render_json, render_markdown
from assay.report.difference.text import render_text

Renderer = Callable[[RunDiff, int], str]  # the difference, and how many queries to show


def render_html(diff: RunDiff, shown: int) -> str:
    """A self-contained HTML page with charts."""
    from assay.report.difference.page import render_page  # imports Jinja only when needed

    return render_page(diff, shown)


RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "markdown": render_markdown,
    "html": render_html,
}
