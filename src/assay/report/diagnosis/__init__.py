"""Render a diagnosis. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.report.diagnosis.documents import render_json, render_markdown
from assay.report.diagnosis.text import render_text

RENDERERS: dict[str, Callable[..., str]] = {
    "table": render_text,
    "json": render_json,
    "markdown": render_markdown,
}
