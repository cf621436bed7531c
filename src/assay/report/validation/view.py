"""What a validation looks like in a notebook, a data frame and files."""

from __future__ import annotations

from collections.abc import Iterator

from assay.errors import show_id
from assay.report.drawing.delimited import Columns, columns_as_csv
from assay.report.drawing.sheets import (
    Cell,
    Sheet,
    SheetTable,
    Strong,
    sheet_as_latex,
    sheet_as_markdown,
    sheet_as_page,
)
from assay.report.drawing.views import View
from assay.report.validation import RENDERERS
from assay.report.validation.text import explained, place_in_words
from assay.validation.findings import Finding, Validation

FIELDS = ("code", "severity", "title", "message", "fix", "file", "line", "query", "count")
HEAD = ("severity", "finding", "first places", "what to do", "code")


def _columns(validation: Validation) -> Columns:
    """A row per finding."""
    return {name: [getattr(finding, name) for finding in validation.findings] for name in FIELDS}


def _sheet(validation: Validation) -> Sheet:
    """The verdict and the findings."""
    rows = tuple(_row(finding) for finding in validation.findings)
    tables = (SheetTable(HEAD, rows),) if rows else ()
    facts = ", ".join(f"{name} {_fact(value)}" for name, value in validation.facts.items())
    title = f"{show_id(validation.file, 200)}: {validation.verdict}"
    return Sheet("Validation", title, tables, notes=(f"{validation.kind}: {facts}",) if facts else ())


def _fact(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else show_id(value)


def _row(finding: Finding) -> tuple[Cell, ...]:
    severity = finding.severity if finding.severity == "note" else Strong(finding.severity)
    what_to_do = f"{explained(finding)} {finding.fix}".strip()
    return (severity, finding.message, "; ".join(_places(finding)), what_to_do, finding.code)


def _places(finding: Finding) -> Iterator[str]:
    yield from filter(None, (place_in_words(example).strip() for example in finding.examples))
    more = finding.count - len(finding.examples)
    if finding.examples and more > 0:
        yield f"{more:,} more"


VIEW: View[Validation] = View(
    noun="a validation",
    text=RENDERERS["table"],
    brief=_sheet,
    columns=_columns,
    formats={
        ".csv": lambda validation: columns_as_csv(_columns(validation)),
        ".json": RENDERERS["json"],
        ".md": lambda validation: sheet_as_markdown(_sheet(validation)),
        ".tex": lambda validation: sheet_as_latex(_sheet(validation)),
        ".html": lambda validation: sheet_as_page(_sheet(validation)),
    },
)
