"""Wording shared by all reports."""

from __future__ import annotations

from assay.errors import show_id
from assay.records.model import FindingRecord

Facts = tuple[tuple[str, str], ...]  # name and value, in display order
NONE = "–"  # for a missing value


def where(finding: FindingRecord) -> str:
    """'runs/bm25.txt:1041, query q7': the place of a finding's first example."""
    place = show_id(finding.file, 120) + (f":{finding.line}" if finding.line is not None else "")
    return place + (f", query {show_id(finding.query)}" if finding.query is not None else "")
