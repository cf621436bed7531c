"""The decision of a gate for the terminal, as JSON, as annotations of GitHub, as JUnit XML and as Markdown. Decides nothing."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape as xml_escape
from xml.sax.saxutils import quoteattr

from assay.comparison.power import POWER
from assay.errors import show_id
from assay.gate.baselines import Side
from assay.gate.deciding import STATUSES, Decision, Status
from assay.gate.gating import Gate
from assay.records.words import number_of
from assay.report import markdown
from assay.report.github import annotation
from assay.report.terminal import printed, terminal_width

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = "assay/gate/1"
HEAD = ("rule", "baseline", "candidate", "difference", "bounds", "queries", "decision")
TEXTS = {"rule", "decision"}

_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}
_GITHUB_LEVELS = {"pass": "notice", "fail": "error", "inconclusive": "warning"}
_VERBS = {
    "pass": ("passes", "pass"),
    "fail": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
}
_INDENT = len("inconclusive") + 2
_LONGEST = 10_000  # characters of a sentence; ids in it were cut before
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# The terminal


def render_text(gate: Gate) -> str:
    """The decision, a table of the rules, why each came out so, and what makes it doubtful."""
    from rich.text import Text

    width = terminal_width()
    parts = [printed(Text(headline(gate), style=_STYLES[gate.status]), width)]
    if gate.decisions:
        parts += ["\n", printed(_table(gate), width), "\n"]
    for reason in _reasons(gate):
        words = f"{reason.name}: {_sentence(reason.words)}"
        parts.append(_hanging(reason.status, _STYLES[reason.status], words, width))
    if gate.cautions:
        parts.append("\n")
    parts += [_hanging("warning", "yellow", _shown(caution.words), width) for caution in gate.cautions]
    notes = ("\n".join(textwrap.wrap(_shown(note), width)) + "\n" for note in notes_of(gate))
    return "".join([*parts, "\n", *notes])


def _hanging(label: str, style: str, words: str, width: int) -> str:
    """A label in a column of its own, and the words beside it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=0)
    table.add_column(width=_INDENT, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(label, style=style), Text(words))
    return printed(table, width)


def _table(gate: Gate) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    several = len({decision.queries for decision in gate.decisions}) > 1  # else the number stands in the first line
    shown = [name for name in HEAD if several or name != "queries"]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in shown:
        table.add_column(
            Text(name), justify="left" if name in TEXTS else "right", no_wrap=name != "rule", overflow="fold"
        )
    for decision in gate.decisions:
        cells = dict(zip(HEAD, _cells(decision), strict=True))
        table.add_row(*(Text(cells[name], style=_STYLES.get(cells[name], "")) for name in shown))
    return table


# JSON


def render_json(gate: Gate) -> str:
    """One object; the schema stands in docs/schemas/gate-1.json."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "status": gate.status,
        "exit_code": gate.exit_code,
        "alpha": gate.alpha,
        "power": POWER,
        "qrels": _shown(gate.qrels),
        "conventions": gate.conventions,
        "baseline": _side_object(gate.baseline),
        "candidate": _side_object(gate.candidate),
        "rules": [_decision_object(decision) for decision in gate.decisions],
        "profile": None if gate.profile is None else _shown(gate.profile),
        "targets": [{**asdict(target), "words": _shown(target.words)} for target in gate.targets],
        "warnings": [{"kind": caution.kind, "words": _shown(caution.words)} for caution in gate.cautions],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _side_object(side: Side) -> dict[str, Any]:
    return {
        "name": _shown(side.name),
        "kind": side.kind,
        "path": _shown(side.path),
        "queries": len(side.queries),
        "created": side.created,
        "assay_version": side.version,
    }


def _decision_object(decision: Decision) -> dict[str, Any]:
    rule = decision.rule
    own = {name: value for name, value in asdict(decision).items() if name != "rule"}
    return {
        "rule": _shown(str(rule)),
        "measure": _shown(rule.label),
        "canonical": str(rule.measure),
        "direction": "at least" if rule.at_least else "at most",
        "relative": rule.margin if rule.relative else None,
        **own,
    }


# GitHub


def render_github(gate: Gate) -> str:
    """A workflow command for each rule, target and doubt, which GitHub shows beside the run: error, warning or notice."""
    lines = [_annotation(_GITHUB_LEVELS[gate.status], "assay gate", headline(gate))]
    lines += [
        _annotation(
            "warning" if reason.warns else _GITHUB_LEVELS[reason.status],
            f"{reason.name}: {reason.status}",
            _sentence(reason.words),
        )
        for reason in _reasons(gate, full=True)
    ]
    lines += [_annotation("warning", "assay gate", _shown(caution.words)) for caution in gate.cautions]
    return "".join(f"{line}\n" for line in lines)


def _annotation(level: str, title: str, words: str) -> str:
    return annotation(level, words, title=title)


# JUnit


def render_junit(gate: Gate) -> str:
    """A test suite with a case for each rule and target, as most CI servers read it.

    What fails is a failure; what cannot be decided is an error, so that no server shows it green while the command ends
    with 3.
    """
    cases = list(_reasons(gate, full=True))
    failures, errors = (sum(case.status == wanted for case in cases) for wanted in ("fail", "inconclusive"))
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="assay gate" {counts}>',
        f'  <testsuite name="assay gate" {counts}>',
        *(f"    {line}" for line in _junit_properties(gate)),
        *(f"    {_junit_case(case)}" for case in cases),
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
    return ["\n".join(_shown(caution.words) for caution in gate.cautions)] if gate.cautions else []


def _junit_case(case: Reason) -> str:
    head = f'<testcase classname="assay.gate" name={_attribute(case.name)}>'
    if case.status == "pass":
        return f"{head}<system-out>{_xml(case.words)}</system-out></testcase>"
    element = "failure" if case.status == "fail" else "error"
    kind, message = _attribute(case.status), _attribute(case.words)
    return f"{head}<{element} type={kind} message={message}>{_xml(case.words)}</{element}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", _shown(text)))


def _xml(text: str) -> str:
    return xml_escape(_NOT_XML.sub("?", text))


# Markdown


def render_markdown(gate: Gate) -> str:
    """A summary ready for a pull request."""
    rule = ["---" if name in TEXTS else "---:" for name in HEAD]
    rows = [list(map(markdown.escape, _cells(decision))) for decision in gate.decisions]
    table = ["| " + " | ".join(row) + " |" for row in [list(HEAD), rule, *rows]] if rows else []
    reasons = [
        f"- **{r.status}** {markdown.escape(r.name)}: {markdown.escape(_sentence(r.words))}" for r in _reasons(gate)
    ]
    doubts = [f"- **warning** {markdown.escape(_shown(caution.words))}" for caution in gate.cautions]
    notes = [f"{markdown.escape(_shown(note))}  " for note in notes_of(gate)]
    blocks = [[f"**{markdown.escape(headline(gate))}**"], table, [*reasons, *doubts], notes]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


Renderer = Callable[[Gate], str]
RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "github": render_github,
    "junit": render_junit,
    "markdown": render_markdown,
}


# Words


def headline(gate: Gate) -> str:
    """The decision in one line, such as 'Gate: fail (1 fails, 2 pass): hybrid against keyword, 50 queries'."""
    found = gate.statuses()
    counts = [(found.count(status), status) for status in STATUSES if status in found]
    words = ", ".join(f"{count} {_VERBS[status][count > 1]}" for count, status in counts)
    numbers = {decision.queries for decision in gate.decisions}
    over = f", {number_of(numbers.pop(), 'query')}" if len(numbers) == 1 else ""
    return f"Gate: {gate.status} ({words}): {show_id(gate.candidate.name)} against {show_id(gate.baseline.name)}{over}"


def notes_of(gate: Gate) -> Iterator[str]:
    """What was done, in words."""
    if gate.decisions:
        percent = f"{100 * (1 - gate.alpha):g}%"
        yield (
            f"Difference = candidate - baseline, query by query. Bounds are one-sided at {percent} (t), each on its own; all "
            f"rules must pass."
        )
    yield gate.conventions


class Reason(NamedTuple):
    """A rule or target, and why it came out so."""

    status: Status
    name: str
    words: str
    warns: bool = False  # it passes, with a warning


def _reasons(gate: Gate, *, full: bool = False) -> Iterator[Reason]:
    """All rules and targets; with `full`, the figures of a rule stand in its words."""
    for decision in gate.decisions:
        figures = _figures(decision) if full else ""
        yield Reason(decision.status, _shown(str(decision.rule)), figures + decision.words)
    for target in gate.targets:
        warns = target.target_status == "warn"
        words = _shown(target.words) + (", within a tenth of the goal: a warning" if warns else "")
        yield Reason(target.status, _shown(f"target {target.measure}"), words, warns)


def _figures(decision: Decision) -> str:
    if decision.difference is None:
        return ""
    return f"difference {decision.difference:+.4f} ({decision.baseline_mean:.4f} to {decision.candidate_mean:.4f}), "


def _cells(decision: Decision) -> list[str]:
    bounds = "-" if decision.lower is None else f"{decision.lower:+.4f} {decision.upper:+.4f}"
    return [
        _shown(str(decision.rule)),
        _number(decision.baseline_mean, ".4f"),
        _number(decision.candidate_mean, ".4f"),
        _number(decision.difference, "+.4f"),
        bounds,
        f"{decision.queries:,}",
        decision.status,
    ]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _sentence(words: str) -> str:
    return words if words.endswith(("?", ".")) else f"{words}."


def _shown(text: str) -> str:
    return show_id(text, _LONGEST)
