"""Findings of a validation as JSON, GitHub annotations and SARIF."""

from __future__ import annotations

import json
from typing import Any

from msgspec import to_builtins

from assay._version import __version__
from assay.errors import show_id
from assay.report.drawing.github import annotation
from assay.report.validation.text import explained, place_in_words
from assay.validation.findings import Finding, FindingExample, Validation
from assay.validation.fixing import Applied, Repairs
from assay.validation.mending import Repair
from assay.validation.registry import Rule, all_rules

SCHEMA = "assay/validation/1"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render_json(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """One JSON object; its schema is docs/schemas/validation-1.json."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "valid": validation.holds(strict=strict),
        "strict": strict,
        "file": _text(validation.file),
        "kind": validation.kind,
        **validation.facts,
        "counts": validation.counts,
        "findings": [_finding_object(finding) for finding in validation.findings],
        "query_sets": [
            {"in": where, "count": count, "first": list(map(_text, first))}
            for where, count, first in validation.coverage
        ],
    }
    if repairs is not None:
        document["repairs"] = [_repair_object(repair) for repair in repairs.made]
        document["policies"] = [_applied_object(each) for each in repairs.policies]
    if after is not None:
        document["left"] = {"valid": after.holds(strict=strict), "codes": after.codes()}
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _finding_object(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "title": finding.title,
        "file": _text(finding.file),
        "line": finding.line,
        "query": finding.query,
        "message": finding.message,
        "fix": finding.fix,
        "count": finding.count,
        "examples": [to_builtins(example) for example in finding.examples],
        "policy": _text(finding.policy) or None,
        "explains": list(finding.explains),
    }


def _repair_object(repair: Repair) -> dict[str, Any]:
    return {"what": repair.what, "count": repair.count, "lines": list(repair.lines)}


def _applied_object(applied: Applied) -> dict[str, Any]:
    effect = {"measure": applied.measure, "before": applied.before, "after": applied.after}
    return {"policy": _text(applied.policy), **_repair_object(applied.repair), **effect}


def _text(name: str) -> str:
    """A name that any JSON reader accepts: bytes that are not UTF-8 are escaped."""
    return name if name.isprintable() else show_id(name, 10_000)


def render_github(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """One workflow command per example, which GitHub shows next to the line."""
    lines = []
    for finding in validation.findings:
        for example in finding.examples or (FindingExample(),):
            place = {"file": finding.file} | ({} if example.line is None else {"line": str(example.line)})
            place["title"] = f"{finding.code} {finding.title}"
            words = f"{finding.message}. {place_in_words(example)}{_what_to_do(finding)}"
            lines.append(annotation(_GITHUB_LEVELS[finding.severity], words, **place))
    return "".join(f"{line}\n" for line in lines)


def _what_to_do(finding: Finding) -> str:
    return f"{explained(finding)} {finding.fix}".lstrip()


def render_sarif(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """SARIF 2.1.0, for code scanning tools."""
    used = {finding.code for finding in validation.findings}
    driver = {
        "name": "assay",
        "version": __version__,
        "rules": [_sarif_rule(rule) for rule in all_rules() if rule.code in used],
    }
    results = [_sarif_result(finding) for finding in validation.findings]
    document = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=2) + "\n"


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": "\n".join(rule.page)},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity},
    }


def _sarif_result(finding: Finding) -> dict[str, Any]:
    def location(example: FindingExample) -> dict[str, Any]:
        place: dict[str, Any] = {"artifactLocation": {"uri": _text(finding.file)}}
        if example.line is not None:
            place["region"] = {"startLine": example.line}
        return {"physicalLocation": place, "message": {"text": place_in_words(example).strip() or finding.message}}

    places = finding.examples or (FindingExample(),)
    return {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": f"{finding.message}. {_what_to_do(finding)}"},
        "locations": [location(example) for example in places],
    }
