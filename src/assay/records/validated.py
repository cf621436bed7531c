"""Validation findings for the files of an evaluation, as records."""

from __future__ import annotations

from assay.evaluation import Evaluation
from assay.formats.readings import Readings
from assay.records.building import as_text
from assay.records.model import Example, FindingRecord
from assay.validation.findings import Finding
from assay.validation.validating import validate_beside


def findings_beside(
    evaluation: Evaluation, qrels: str, run: str, readings: Readings = Readings()
) -> tuple[FindingRecord, ...]:
    """The findings for the files of an evaluation, most severe first."""
    return tuple(map(as_record, validate_beside(evaluation, qrels, run, readings)))


def as_record(finding: Finding) -> FindingRecord:
    """A finding as a record."""
    return FindingRecord(
        code=finding.code,
        severity=finding.severity,
        title=finding.title,
        message=as_text(finding.message),
        fix=finding.fix,
        file=as_text(finding.file),
        line=finding.line,
        query=finding.query,
        count=finding.count,
        examples=tuple(Example(text=as_text(e.text), line=e.line, query=e.query) for e in finding.examples),
    )
