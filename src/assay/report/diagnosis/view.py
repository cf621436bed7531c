"""What a diagnosis looks like in a notebook, a data frame and files."""

from __future__ import annotations

from assay.diagnosis.model import Diagnosis, DiagnosisFinding, Table
from assay.report.diagnosis import RENDERERS
from assay.report.diagnosis.text import GIVES_WAY
from assay.report.diagnosis.words import cells_of, headline, not_looked_at, notes_of
from assay.report.drawing.delimited import Columns, columns_as_csv
from assay.report.drawing.sheets import Sheet, SheetTable, Strong, sheet_as_page
from assay.report.drawing.views import View

FIELDS = ("code", "area", "severity", "title", "measured", "sure", "advice")


def _columns(diagnosis: Diagnosis) -> Columns:
    """A row per finding."""
    return {name: [getattr(finding, name) for finding in diagnosis] for name in FIELDS}


def _brief(diagnosis: Diagnosis) -> Sheet:
    """The findings that need attention."""
    rows = tuple(
        (Strong(finding.severity), finding.title, finding.measured, finding.advice, finding.code)
        for finding in diagnosis
        if finding.severity != "fine"
    )
    head = ("severity", "finding", "measured", "what to do", "code")
    tables = (SheetTable(head, rows),) if rows else ()
    return Sheet("Diagnosis", headline(diagnosis), tables, notes=tuple(notes_of(diagnosis)))


def _whole(diagnosis: Diagnosis) -> Sheet:
    """All findings with their figures, and the checks that were not possible."""
    head = ("severity", "finding", "measured", "confidence", "what to do", "code")
    findings = tuple(_row(finding) for finding in diagnosis)
    figures = [_figures(table, finding) for finding in diagnosis for table in finding.tables]
    missing = tuple((words,) for words in not_looked_at(diagnosis))
    unchecked = [SheetTable(("check",), missing, title="Not checked")] if missing else []
    tables = (SheetTable(head, findings), *figures, *unchecked)
    return Sheet("Diagnosis", headline(diagnosis), tables, notes=tuple(notes_of(diagnosis)))


def _row(finding: DiagnosisFinding) -> tuple[str | Strong, ...]:
    severity = finding.severity if finding.severity == "fine" else Strong(finding.severity)
    return (severity, finding.title, finding.measured, finding.sure, finding.advice, finding.code)


def _figures(table: Table, finding: DiagnosisFinding) -> SheetTable:
    title = f"{finding.code}: {table.title or finding.title}"
    numbers = frozenset(number for number, column in enumerate(table.columns) if column.kind not in GIVES_WAY)
    rows = tuple(tuple(cells_of(table, row)) for row in table.rows)
    return SheetTable(tuple(column.name for column in table.columns), rows, numbers, title, table.note)


VIEW: View[Diagnosis] = View(
    noun="a diagnosis",
    text=RENDERERS["table"],
    brief=_brief,
    columns=_columns,
    formats={
        ".csv": lambda diagnosis: columns_as_csv(_columns(diagnosis)),
        ".json": RENDERERS["json"],
        ".md": RENDERERS["markdown"],
        ".html": lambda diagnosis: sheet_as_page(_whole(diagnosis)),
    },
)
