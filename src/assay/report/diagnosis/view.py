"""What a diagnosis looks like in a notebook, a data frame and files."""

from __future__ import annotations

from collections.abc import Iterator

from assay.diagnosis.model import Diagnosis, DiagnosisFinding
from assay.report.diagnosis import RENDERERS
from assay.report.diagnosis.text import GIVES_WAY
from assay.report.diagnosis.words import cells_of, headline, not_looked_at, notes_of
from assay.report.drawing.delimited import Columns, columns_as_csv
from assay.report.drawing.sheets import Sheet, SheetTable, Strong, sheet_as_latex, sheet_as_page
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
    """All findings, each with its figures, and the checks that were not possible."""
    findings = SheetTable(("severity", "finding", "code"), tuple(map(_row, diagnosis)))
    details = [part for finding in diagnosis for part in _details(finding)]
    missing = tuple(not_looked_at(diagnosis))
    unchecked = [SheetTable((), (), title="Not checked", texts=missing)] if missing else []
    return Sheet("Diagnosis", headline(diagnosis), (findings, *details, *unchecked), notes=tuple(notes_of(diagnosis)))


def _row(finding: DiagnosisFinding) -> tuple[str | Strong, ...]:
    severity = finding.severity if finding.severity == "fine" else Strong(finding.severity)
    return (severity, finding.title, finding.code)


def _details(finding: DiagnosisFinding) -> Iterator[SheetTable]:
    """What a finding says, then its tables."""
    advice = [f"What to do: {finding.advice}"] if finding.advice else []
    texts = (finding.measured, f"Confidence: {finding.sure}", *advice)
    yield SheetTable((), (), title=f"{finding.code}: {finding.title}", texts=texts)
    for table in finding.tables:
        numbers = frozenset(number for number, column in enumerate(table.columns) if column.kind not in GIVES_WAY)
        rows = tuple(tuple(cells_of(table, row)) for row in table.rows)
        head = tuple(column.name for column in table.columns)
        yield SheetTable(head, rows, numbers, texts=(table.title,) if table.title else (), note=table.note)


VIEW: View[Diagnosis] = View(
    noun="a diagnosis",
    text=RENDERERS["table"],
    brief=_brief,
    columns=_columns,
    formats={
        ".csv": lambda diagnosis: columns_as_csv(_columns(diagnosis)),
        ".json": RENDERERS["json"],
        ".md": RENDERERS["markdown"],
        ".tex": lambda diagnosis: sheet_as_latex(_brief(diagnosis)),
        ".html": lambda diagnosis: sheet_as_page(_whole(diagnosis)),
    },
)
