"""Findings of a validation in every output format."""

from __future__ import annotations

from collections.abc import Callable

from assay.report.validation.documents import render_github, render_json, render_sarif
from assay.report.validation.text import render_text

RENDERERS: dict[str, Callable[..., str]] = {
    "table": render_text,
    "json": render_json,
    "github": render_github,
    "sarif": render_sarif,
}
