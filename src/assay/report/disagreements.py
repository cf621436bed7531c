"""One measure under every named convention, as text, JSON and Markdown."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.disagreements import ConventionRow
from assay.report.drawing.markdown import escape

SCHEMA = "assay/conventions/1"
_WIDTH = 118


def conventions_as_text(rows: Sequence[ConventionRow]) -> str:
    """A block per measure: convention, value, difference from ours, and the reasons for it."""
    lines: list[str] = []
    for measure, members in groupby(rows, key=lambda row: row.measure):
        lines += [f"{measure:<14}{'value':>9}{'difference':>12}  reason", "─" * 64]
        for row in members:
            head = f"{row.convention:<14}{_value(row.value):>9}{_signed(row.difference):>12}  "
            lines += textwrap.wrap(
                head + "; ".join(_reasons(row)), _WIDTH, subsequent_indent=" " * len(head), drop_whitespace=False
            ) or [head]
        lines.append("")
    return "\n".join(line.rstrip() for line in lines)


def conventions_as_markdown(rows: Sequence[ConventionRow]) -> str:
    """One table for all measures."""
    lines = [
        "| measure | convention | value | difference | reason |",
        "| --- | --- | ---: | ---: | --- |",
    ]
    for row in rows:
        cells = [row.measure, row.convention, _value(row.value), _signed(row.difference), "; ".join(_reasons(row))]
        lines.append("| " + " | ".join(escape(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def conventions_as_json(rows: Sequence[ConventionRow]) -> str:
    """All rows with their reasons and effects."""
    found = [
        {
            "measure": row.measure,
            "convention": row.convention,
            "value": _known(row.value),
            "difference": _known(row.difference),
            "reasons": [{"text": reason.text, "effect": reason.effect} for reason in row.reasons],
            "note": row.note,
        }
        for row in rows
    ]
    return json.dumps({"schema": SCHEMA, "rows": found}, indent=2) + "\n"


def _known(value: float | None) -> float | None:
    """None for NaN, too: JSON has no NaN."""
    return None if value is None or math.isnan(value) else value


def _value(value: float | None) -> str:
    return "-" if _known(value) is None else f"{value:.4f}"


def _signed(difference: float | None) -> str:
    if difference is None or math.isnan(difference):
        return ""
    return "=" if difference == 0 else f"{difference:+.4f}"


def _reasons(row: ConventionRow) -> Iterator[str]:
    if row.note:
        yield row.note
        return
    shown = [reason for reason in row.reasons if abs(reason.effect) >= 0.00005] or row.reasons
    several = len(shown) > 1
    for reason in shown:
        yield f"{reason.text} ({reason.effect:+.4f})" if several else reason.text


CONVENTION_RENDERERS = {
    "table": conventions_as_text,
    "json": conventions_as_json,
    "markdown": conventions_as_markdown,
}
