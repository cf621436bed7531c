"""Words and numbers as every report shows them."""

from __future__ import annotations

from assay.errors import show_id
from assay.records.model import FindingRecord

Facts = tuple[tuple[str, str], ...]  # name and value, in the order to be shown
NONE = "–"  # where there is no value


def count_of(count: int, noun: str) -> str:
    """'1 query', '6,980 queries'."""
    plural = "queries" if noun == "query" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def where(finding: FindingRecord) -> str:
    """'runs/bm25.txt:1041, query q7': the place of a finding's first example."""
    place = show_id(finding.file, 120) + (f":{finding.line}" if finding.line is not None else "")
    return place + (f", query {show_id(finding.query)}" if finding.query is not None else "")
