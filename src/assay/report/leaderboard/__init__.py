"""Render a leaderboard as text, JSON, CSV, TSV, Markdown, LaTeX or HTML. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.comparison.leaderboard import Leaderboard
from assay.report.leaderboard.documents import render_csv, render_json, render_latex, render_markdown, render_tsv
from assay.report.leaderboard.text import render_text

Renderer = Callable[[Leaderboard, int | None], str]  # how many systems to show: None for all, or 20 on a terminal


def render_html(board: Leaderboard, top: int | None = None) -> str:
    """A self-contained HTML page with charts."""
    from assay.report.leaderboard.page import render_page  # imports Jinja only when needed

    return render_page(board)


RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "csv": render_csv,
    "tsv": render_tsv,
    "markdown": render_markdown,
    "latex": render_latex,
    "html": render_html,
}
