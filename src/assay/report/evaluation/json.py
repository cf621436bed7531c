"""The table as JSON; the schema is docs/schemas/evaluation-1.json."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from assay.report.evaluation.table import ResultTable, Row

if TYPE_CHECKING:
    from assay.records.targets import TargetOutcome
    from assay.weighting.estimating import WeightedMean

SCHEMA = "assay/evaluation/1"


def render_json(table: ResultTable) -> str:
    """One object: rules, measures, and for each run its means, coverage and, if requested, queries."""
    by_run: dict[str, dict[str, Any]] = {row.run: {} for row in table.rows}
    for row in table.query_rows:
        by_run[row.run][row.query] = _values(row, table)
    document = {
        "schema": SCHEMA,
        "like": table.like,
        "rules": to_builtins(table.rules),
        "measures": [{"name": request.label, "canonical": str(request.measure)} for request in table.requests],
        "runs": [_run(row, table, by_run[row.run]) for row in table.rows],
    }
    if table.weighted:
        document["weight_notes"] = list(table.weight_notes)
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _run(row: Row, table: ResultTable, queries: dict[str, Any]) -> dict[str, Any]:
    coverage = {**to_builtins(table.coverage[row.run]), "unjudged": len(table.coverage[row.run].unjudged)}
    run = {"name": row.run, "tag": table.tags[row.run], "mean": _values(row, table), "coverage": coverage}
    if table.tie_bounds[row.run]:
        run["tie_bounds"] = {label: list(ends) for label, ends in table.tie_bounds[row.run].items()}
    if table.weighted:
        weighted = [each for each in table.weighted if each.run == row.run]
        run["intervals"] = {each.request.label: each.interval for each in weighted}
        run["weighted"] = {each.request.label: _weighted(each.weighted) for each in weighted}
    if row.run in table.targets:
        run["targets"] = _targets(table.targets[row.run])
    return run | ({"queries": queries} if table.per_query else {})


def _weighted(found: WeightedMean) -> dict[str, Any]:
    return {**to_builtins(found), "mean": None if math.isnan(found.mean) else found.mean}


def _targets(outcome: TargetOutcome) -> dict[str, Any]:
    fields = ("status", "goal", "words", "baseline", "reached")
    return {
        "profile": outcome.profile,
        "status": outcome.status,
        "measures": {
            label: {name: getattr(result, name) for name in fields} for label, result in outcome.results.items()
        },
    }


def _values(row: Row, table: ResultTable) -> dict[str, float | None]:
    """Values by name; null for NaN, which JSON does not have."""
    return {name: None if math.isnan(value) else value for name, value in zip(table.labels, row.values, strict=True)}
