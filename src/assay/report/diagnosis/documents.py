"""A diagnosis as JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from assay.diagnosis.model import Diagnosis, DiagnosisFinding, Table
from assay.report.diagnosis.text import GIVES_WAY
from assay.report.diagnosis.words import cells_of, headline, not_looked_at, notes_of
from assay.report.drawing import markdown
from assay.report.drawing.json import json_text

SCHEMA = "assay/diagnosis/1"


def render_json(diagnosis: Diagnosis) -> str:
    """One object; the schema is docs/schemas/diagnosis-1.json."""
    document = {
        "schema": SCHEMA,
        **to_builtins(diagnosis),
        "counts": diagnosis.counts,
        "findings": [_finding_object(finding) for finding in diagnosis],
    }
    return json_text(document)


def _finding_object(finding: DiagnosisFinding) -> dict[str, Any]:
    tables = [
        {
            "title": table.title,
            "columns": [to_builtins(column) for column in table.columns],
            "rows": table.records(),
            "note": table.note,
        }
        for table in finding.tables
    ]
    return {**to_builtins(finding), "tables": tables}


def render_markdown(diagnosis: Diagnosis) -> str:
    """A page for an issue or a pull request."""
    return "\n".join(_markdown_lines(diagnosis)) + "\n"


def _markdown_lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield "# Diagnosis"
    yield ""
    yield markdown.escape(headline(diagnosis))
    for finding in diagnosis:
        if finding.severity == "fine":
            continue
        yield ""
        yield f"## {finding.severity.capitalize()}: {markdown.escape(finding.title)} ({finding.code})"
        yield ""
        yield markdown.escape(finding.measured)
        yield ""
        yield f"**Confidence.** {markdown.escape(finding.sure)}"
        if finding.advice:
            yield ""
            yield f"**What to do.** {markdown.escape(finding.advice)}"
        for table in finding.tables:
            yield from _markdown_table(table)
    fine = [finding for finding in diagnosis if finding.severity == "fine"]
    yield from _markdown_list("Checked, nothing found", [f"{f.measured} ({f.code})" for f in fine])
    yield from _markdown_list("Not checked", list(not_looked_at(diagnosis)))
    yield ""
    yield from (f"{markdown.escape(note)}  " for note in notes_of(diagnosis))


def _markdown_list(head: str, items: list[str]) -> Iterator[str]:
    if items:
        yield from ("", f"## {head}", "")
        yield from (f"- {markdown.escape(item)}" for item in items)


def _markdown_table(table: Table) -> Iterator[str]:
    yield ""
    if table.title:
        yield from (f"{markdown.escape(table.title)}:", "")
    head = [markdown.escape(column.name) for column in table.columns]
    rule = ["---" if column.kind in GIVES_WAY else "---:" for column in table.columns]
    rows = [list(map(markdown.escape, cells_of(table, row))) for row in table.rows[: table.shown]]
    yield from ("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
    more = len(table.rows) - table.shown
    if more > 0:
        yield from ("", f"{more:,} more rows; `--format json` has all.")
    if table.note:
        yield from ("", markdown.escape(table.note))
