"""Render a benchmark report in every output format. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.report.benchmark.documents import render_json, render_table_markdown
from assay.report.benchmark.text import render_text

RENDERERS: dict[str, Callable[..., str]] = {
    "table": render_text,
    "json": render_json,
    "markdown": render_table_markdown,
}
