"""Wording shared by all reports."""

from __future__ import annotations

import math
from datetime import datetime

from assay.errors import show_id
from assay.records.model import FindingRecord

Facts = tuple[tuple[str, str], ...]  # name and value, in display order
NONE = "–"  # for a missing value
MARKS = {"better": "▲", "worse": "▼"}  # a significant difference
TONES = {"better": "good", "worse": "bad"}  # of a verdict


def show_moment(created: str) -> str:
    """A date as '15 November 2026, 22:55 UTC'; other text is unchanged."""
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return show_id(created)
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".rstrip()


def where(finding: FindingRecord) -> str:
    """'runs/bm25.txt:1041, query q7': the place of a finding's first example."""
    place = show_id(finding.file, 120) + (f":{finding.line}" if finding.line is not None else "")
    return place + (f", query {show_id(finding.query)}" if finding.query is not None else "")


def from_to(interval: tuple[float, float] | None) -> str:
    """The interval of a difference, on pages.

    >>> from_to((-0.01, 0.025))
    '-0.0100 to +0.0250'
    """
    return NONE if interval is None else f"{interval[0]:+.4f} to {interval[1]:+.4f}"


def signed(value: float | None) -> str:
    """A difference with its sign and four decimals, on pages."""
    return NONE if value is None or math.isnan(value) else f"{value:+.4f}"


def unsigned(value: float | None) -> str:
    """A value with four decimals, on pages."""
    return NONE if value is None or math.isnan(value) else f"{value:.4f}"
