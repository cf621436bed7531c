"""Measures explained: as text for the terminal, as Markdown for the docs, and as a page with an example to change."""

from assay.report.measures.texts import FAMILIES, guide_as_markdown, list_as_markdown, list_as_text, page_as_text

__all__ = ["FAMILIES", "guide_as_markdown", "list_as_markdown", "list_as_text", "page_as_text"]
