"""Render the decision of a gate. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.report.gate.documents import render_github, render_json, render_junit, render_markdown
from assay.report.gate.text import render_text

RENDERERS: dict[str, Callable[..., str]] = {
    "table": render_text,
    "json": render_json,
    "github": render_github,
    "junit": render_junit,
    "markdown": render_markdown,
}
