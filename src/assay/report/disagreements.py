"""One measure under every named convention, as text, JSON and Markdown."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from assay.disagreements import ConventionRow
from assay.report.drawing.markdown import escape
from assay.report.drawing.terminal import Detail, terminal_width, wrapped_lines

SCHEMA = "assay/conventions/1"
_COLUMN = 12  # characters of a column of values


def conventions_as_text(rows: Sequence[ConventionRow], detail: Detail = Detail(verbose=True)) -> str:
    """The values of several measures side by side; of a single one, and of all if `detail` is verbose, the reasons too."""
    several = len({row.measure for row in rows}) > 1
    return _values(rows, detail) if several and not detail.verbose else _reasoned(rows)


def _values(rows: Sequence[ConventionRow], detail: Detail) -> str:
    """A row per convention and a column per measure: as many columns as fit, in several tables if need be."""
    by_place = {(row.convention, row.measure): row for row in rows}
    conventions, measures = (list(dict.fromkeys(names)) for names in zip(*by_place, strict=True))
    names = max(map(len, conventions))
    at_once = max((terminal_width() - names) // _COLUMN, 1)
    lines = []
    for start in range(0, len(measures), at_once):
        shown = measures[start : start + at_once]
        lines += [" " * names + "".join(f"{measure:>{_COLUMN}}" for measure in shown)]
        lines += ["─" * len(lines[-1])]
        for convention in conventions:
            values = (_value(by_place[convention, measure].value) for measure in shown)
            lines.append(f"{convention:<{names}}" + "".join(f"{value:>{_COLUMN}}" for value in values))
        lines.append("")
    if not detail.quiet:
        lines.append(f"For the reasons, use {detail.hint}, or -m with one measure.")
    return "\n".join(lines) + "\n"


def _reasoned(rows: Sequence[ConventionRow]) -> str:
    """A block per measure: convention, value, difference from ours, and the reasons for it.

    A row with the value and reasons of an earlier one only names it. Tools without the measure share the last line.
    """
    lines: list[str] = []
    names = max((len(row.convention) for row in rows), default=0)
    width = terminal_width() - 2
    for measure, group in groupby(rows, key=lambda row: row.measure):
        members = list(group)
        lines += [f"{measure:<{names}}{'value':>8}{'difference':>12}  reason", "─" * min(width, names + 50)]
        shown: dict[str, str] = {}  # value and reasons -> the first convention with them
        for row in members:
            if not row.lacking:
                values, text = f"{_value(row.value):>8}{_signed(row.difference):>12}", "; ".join(_reasons(row))
                first = shown.setdefault(values + text, row.convention)
                text = f"as {first}" if text and first != row.convention else text
                lines += _wrapped(f"{row.convention:<{names}}{values}  ", text, width)
        if lacking := [row.convention for row in members if row.lacking]:
            lines += _wrapped(f"No {measure} in ", ", ".join(lacking), width)
        lines.append("")
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(head: str, text: str, width: int) -> list[str]:
    """The text beside the head; words are not broken at hyphens, so names of tools stay whole."""
    first, *others = wrapped_lines(text, width - len(head), hyphens=False) or [""]
    return [head + first, *(" " * len(head) + line for line in others)]


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
