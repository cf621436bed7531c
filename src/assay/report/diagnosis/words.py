"""Texts and cells shared by all output formats of a diagnosis. Escapes nothing and computes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from assay.diagnosis.model import Cell, Column, Diagnosis, Kind, Table
from assay.errors import show_id
from assay.words import noun_for, number_of, show_p

_LONGEST = 200  # characters of a cell


def headline(diagnosis: Diagnosis) -> str:
    """The inputs, and the number of findings by severity."""
    runs, queries = len(diagnosis.systems), diagnosis.queries
    found = [
        f"{count} {noun_for(count, severity)}" for severity, count in diagnosis.counts.items() if severity != "fine"
    ]
    fine, missing = diagnosis.count("fine"), len(diagnosis.not_looked_at)
    return (
        f"{runs} {noun_for(runs, 'run')}, {number_of(queries, 'query')}, "
        f"{number_of(diagnosis.judgments, 'judgment')}: {', '.join(found)}; "
        f"{fine} fine, {missing} not checked."
    )


def notes_of(diagnosis: Diagnosis) -> Iterator[str]:
    """Notes that apply to all findings."""
    settings = diagnosis.settings
    yield (
        f"Measures: {', '.join(diagnosis.measures)}; baseline: {show_id(diagnosis.baseline)}; first {settings.k} "
        f"documents, pool depth "
        f"{settings.pool_depth}; alpha {settings.alpha:g} for each finding separately; seed {settings.seed}."
    )
    yield "`assay explain CODE` describes how a finding is measured and what its limits are."


def not_looked_at(diagnosis: Diagnosis) -> Iterator[str]:
    """One line per check that was not possible, grouped by reason."""
    reasons = list(dict.fromkeys(missing.reason for missing in diagnosis.not_looked_at))
    for missing in sorted(diagnosis.not_looked_at, key=lambda missing: reasons.index(missing.reason)):
        end = "" if missing.reason.endswith("?") else "."
        yield f"{missing.title[0].lower()}{missing.title[1:]} [{missing.code}]: {missing.reason}{end}"


def cells_of(table: Table, row: Iterable[Cell]) -> list[str]:
    """The cells of a row as text."""
    return [_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)]


def _cell(column: Column, cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "-"
    if isinstance(cell, str):
        return show_id(cell, _LONGEST)
    return _FORMS[column.kind](cell)


_FORMS: dict[Kind, Callable[[Any], str]] = {
    "text": str,
    "passage": str,
    "count": lambda value: f"{value:,}",
    "value": lambda value: f"{value:.4f}",
    "signed": lambda value: f"{value:+.4f}",
    "share": lambda value: f"{value:.1%}",
    "p": show_p,
    "interval": lambda ends: f"{ends[0]:+.4f} {ends[1]:+.4f}",
    "shares": lambda ends: f"{ends[0]:.1%} {ends[1]:.1%}",
}
