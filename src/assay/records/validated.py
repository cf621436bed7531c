"""Validation findings for the files of an evaluation, as records."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from assay.evaluation import Evaluation
from assay.formats.readings import Readings
from assay.records.building import as_text
from assay.records.model import Example, FindingRecord
from assay.validation.findings import Finding
from assay.validation.validating import judgments_beside, validate_beside


def findings_with(
    qrels: str, readings: Readings = Readings()
) -> Callable[[Evaluation, str], tuple[FindingRecord, ...]]:
    """A function that gives the findings for an evaluation with these judgments and its run, most severe first.

    The judgments are validated once, when they are first needed.
    """
    of_qrels = cache(lambda: judgments_beside(qrels, readings))
    return lambda evaluation, run: tuple(map(as_record, validate_beside(evaluation, of_qrels(), run, readings)))


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
