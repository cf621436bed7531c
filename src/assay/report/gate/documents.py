"""A gate's decision as JSON, GitHub annotations, JUnit XML and Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape as xml_escape
from xml.sax.saxutils import quoteattr

from msgspec import to_builtins

from assay.comparison.power import POWER
from assay.gate.baselines import Side
from assay.gate.deciding import Decision
from assay.gate.gating import Gate
from assay.gate.ledger import Attempt
from assay.report.drawing import markdown
from assay.report.drawing.github import annotation
from assay.report.gate.words import (
    HEAD,
    TEXTS,
    RuleReason,
    attempt_of,
    cells_of,
    headline,
    notes_of,
    queries_to_judge,
    reasons_of,
    sentence,
    shown,
)

SCHEMA = "assay/gate/1"
_GITHUB_LEVELS = {"pass": "notice", "fail": "error", "inconclusive": "warning", "unchanged": "notice"}
_LEVEL_IF_INCONCLUSIVE = {None: "warning", "warn": "warning", "pass": "notice", "fail": "error"}
_JUNIT_IF_INCONCLUSIVE = {None: "error", "warn": "skipped", "pass": "skipped", "fail": "failure"}
_OF_WEIGHTS = ("plain_difference", "effective")  # only with weights
_OF_UNLABELLED = ("unlabelled", "touched", "judged", "to_judge")  # only with unlabelled queries
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_json(gate: Gate) -> str:
    """One object; the schema is docs/schemas/gate-1.json."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "status": gate.status,
        "exit_code": gate.exit_code,
        "alpha": gate.alpha,
        "power": POWER,
        "population": gate.population,
        "qrels": shown(gate.qrels),
        "conventions": gate.conventions,
        "baseline": _side_object(gate.baseline),
        "candidate": _side_object(gate.candidate),
        **({} if gate.anchor is None else {"anchor": _side_object(gate.anchor)}),
        **({} if gate.attempt is None else {"attempt": _attempt_object(gate.attempt)}),
        "rules": [_decision_object(decision) for decision in gate.decisions],
        "profile": None if gate.profile is None else shown(gate.profile),
        "targets": [{**to_builtins(target), "words": shown(target.words)} for target in gate.targets],
        **({"weights": list(map(shown, gate.weights))} if gate.weights else {}),
        "warnings": [{"kind": caution.kind, "words": shown(caution.words)} for caution in gate.cautions],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _side_object(side: Side) -> dict[str, Any]:
    return {
        "name": shown(side.name),
        "kind": side.kind,
        "path": shown(side.path),
        "queries": len(side.queries),
        "created": side.created,
        "assay_version": side.version,
    }


def _attempt_object(attempt: Attempt) -> dict[str, Any]:
    return {"change": shown(attempt.change), "number": attempt.attempt, "evidence": attempt.evidence}


def _decision_object(decision: Decision) -> dict[str, Any]:
    rule = decision.rule
    left_out = {"rule", *_OF_WEIGHTS, *_OF_UNLABELLED}
    own = {name: value for name, value in to_builtins(decision).items() if name not in left_out}
    if decision.effective is not None:
        own |= {name: getattr(decision, name) for name in _OF_WEIGHTS}
    if decision.unlabelled is not None:
        own |= {name: getattr(decision, name) for name in _OF_UNLABELLED}
        own["to_judge"] = list(map(shown, decision.to_judge))
    return {
        "rule": shown(str(rule)),
        "measure": shown(rule.label),
        "canonical": str(rule.measure),
        "direction": "at least" if rule.at_least else "at most",
        "relative": rule.margin if rule.relative else None,
        **own,
    }


def render_github(gate: Gate) -> str:
    """A workflow command for each rule, target and caution; GitHub shows it as an error, warning or notice."""
    levels = {**_GITHUB_LEVELS, "inconclusive": _LEVEL_IF_INCONCLUSIVE[gate.inconclusive]}
    if gate.population == "strict":
        levels["unchanged"] = levels["inconclusive"]
    lines = [_annotation(levels[gate.status], "assay gate", headline(gate))]
    lines += [
        _annotation(
            "warning" if reason.warns else levels[reason.status],
            f"{reason.name}: {reason.status}",
            sentence(reason.words),
        )
        for reason in reasons_of(gate, full=True)
    ]
    lines += [_annotation("notice", f"assay gate, {label}", words) for label, words in _asides(gate)]
    lines += [_annotation("warning", "assay gate", shown(caution.words)) for caution in gate.warnings]
    return "".join(f"{line}\n" for line in lines)


def _asides(gate: Gate) -> list[tuple[str, str]]:
    """What to do next, and which attempt it is, each with a label."""
    found = [("judge next", queries_to_judge(gate, full=True)), ("ledger", attempt_of(gate))]
    return [(label, words) for label, words in found if words]


def _annotation(level: str, title: str, words: str) -> str:
    return annotation(level, words, title=title)


def render_junit(gate: Gate) -> str:
    """A JUnit test suite with a case for each rule and target.

    An inconclusive rule is an error, not a pass, because the command exits with 3; skipped if it may pass.
    """
    cases = list(reasons_of(gate, full=True))
    open_ = _JUNIT_IF_INCONCLUSIVE[gate.inconclusive]
    elements = {
        "pass": "",
        "fail": "failure",
        "inconclusive": open_,
        "unchanged": open_ if gate.population == "strict" else "",
    }
    found = [elements[case.status] for case in cases]
    failures, errors, skipped = (found.count(element) for element in ("failure", "error", "skipped"))
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="assay gate" {counts}>',
        f'  <testsuite name="assay gate" {counts}>',
        *(f"    {line}" for line in _junit_properties(gate)),
        *(f"    {_junit_case(case, elements[case.status])}" for case in cases),
        f"    <system-out>{_xml(headline(gate))}</system-out>",
        *(f"    <system-err>{_xml(line)}</system-err>" for line in _all_doubts(gate)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _junit_properties(gate: Gate) -> Iterator[str]:
    yield "<properties>"
    for name, value in (("baseline", gate.baseline.name), ("candidate", gate.candidate.name), ("qrels", gate.qrels)):
        yield f"  <property name={_attribute(name)} value={_attribute(value)}/>"
    yield "</properties>"


def _all_doubts(gate: Gate) -> list[str]:
    return ["\n".join(shown(caution.words) for caution in gate.warnings)] if gate.warnings else []


def _junit_case(case: RuleReason, element: str) -> str:
    head = f'<testcase classname="assay.gate" name={_attribute(case.name)}>'
    if not element:
        return f"{head}<system-out>{_xml(case.words)}</system-out></testcase>"
    kind, message = _attribute(case.status), _attribute(case.words)
    if element == "skipped":  # which has no type
        return f"{head}<skipped message={message}/></testcase>"
    return f"{head}<{element} type={kind} message={message}>{_xml(case.words)}</{element}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", shown(text)))


def _xml(text: str) -> str:
    return xml_escape(_NOT_XML.sub("?", text))


def render_markdown(gate: Gate) -> str:
    """A summary for a pull request."""
    rule = ["---" if name in TEXTS else "---:" for name in HEAD]
    rows = [list(map(markdown.escape, cells_of(decision))) for decision in gate.decisions]
    table = ["| " + " | ".join(row) + " |" for row in [list(HEAD), rule, *rows]] if rows else []
    reasons = [
        f"- **{r.status}** {markdown.escape(r.name)}: {markdown.escape(sentence(r.words))}" for r in reasons_of(gate)
    ]
    doubts = [f"- **warning** {markdown.escape(shown(caution.words))}" for caution in gate.warnings]
    doubts += [f"- **{label}** {markdown.escape(words)}" for label, words in _asides(gate)]
    notes = [f"{markdown.escape(shown(note))}  " for note in notes_of(gate)]
    blocks = [[f"**{markdown.escape(headline(gate))}**"], table, [*reasons, *doubts], notes]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
