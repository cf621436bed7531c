"""Findings of a validation for the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator

from assay.errors import show_id, some_of
from assay.report.drawing import terminal
from assay.validation.findings import SEVERITIES, Finding, FindingExample, Validation
from assay.validation.fixing import Applied, Repairs
from assay.validation.mending import Repair
from assay.words import noun_for, number_of

_INDENT = " " * 9
NOUNS = {"lines": "line", "rows": "row", "documents": "document", "queries": "query", "judgments": "judgment"}


def render_text(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """The verdict, each finding with its first examples and fix, then the query coverage and the repairs."""
    lines = wrapped(f"{show_id(validation.file, 200)}: {_verdict(validation, strict)}", "")
    lines += wrapped(_looked_at(validation), "")
    for finding in validation.findings:
        lines += ["", *_finding_lines(finding, validation.file)]
    if validation.coverage:
        lines += ["", *_coverage_lines(validation)]
    if repairs is not None:
        lines += ["", *_repair_lines(repairs)]
    if after is not None:
        lines += wrapped(f"The repaired copy is {_verdict(after, strict)}. Anything ambiguous was left unchanged.", "")
    return "\n".join(lines) + "\n"


def _verdict(validation: Validation, strict: bool) -> str:
    found = ", ".join(f"{validation.count(s)} {noun_for(validation.count(s), s)}" for s in SEVERITIES)
    if not validation.findings:
        return "valid, no findings"
    return f"{'valid' if validation.holds(strict=strict) else 'not valid'} ({found})"


def _looked_at(validation: Validation) -> str:
    form, split = validation.facts.get("format"), validation.facts.get("split")
    facts = [f"{validation.kind} ({form})" if form else f"{validation.kind}, split {show_id(str(split))}"]
    facts += [
        number_of(int(validation.facts[name]), noun) for name, noun in NOUNS.items() if validation.facts.get(name)
    ]
    return ", ".join(facts)


def _finding_lines(finding: Finding, file: str) -> Iterator[str]:
    """The lines of a finding, with its file if that differs from the one validated (a collection is a folder)."""
    of = "" if finding.file == file else f"{show_id(os.path.relpath(finding.file, file), 200)}: "
    yield from wrapped(f"{of}{finding.message} [{finding.code}]", f"{finding.severity:<9}")
    for example in finding.examples:
        yield from wrapped(place_in_words(example).rstrip(), _INDENT + "- ")
    more = finding.count - len(finding.examples)
    if finding.examples and more > 0:
        yield f"{_INDENT}  and {more:,} more"
    if finding.explains:
        yield from wrapped(explained(finding), _INDENT)
    yield from wrapped(finding.fix, _INDENT)


def explained(finding: Finding) -> str:
    """What a finding explains, in words; empty if it is nothing."""
    if not finding.explains:
        return ""
    return f"This explains {number_of(len(finding.explains), 'more finding')}: {', '.join(finding.explains)}."


def place_in_words(example: FindingExample) -> str:
    """Where an example is, and what is there."""
    places = [] if example.line is None else [f"line {example.line}"]
    places += [] if example.query is None else [f"query {example.query}"]
    where = ", ".join(places)
    return (
        f"{where}: {example.text} "
        if where and example.text
        else f"{where or example.text} "
        if where or example.text
        else ""
    )


def _coverage_lines(validation: Validation) -> Iterator[str]:
    width = max(len(where) for where, _, _ in validation.coverage)
    yield f"{'queries in':<{width + 2}}{'count':>9}  first"
    for where, count, first in validation.coverage:
        named = some_of([*first, ""] if count > len(first) else first, len(first))
        yield from wrapped(named, f"{where:<{width + 2}}{count:>9,}  ")


def _repair_lines(repairs: Repairs) -> Iterator[str]:
    total = sum(repair.count for repair in (*repairs.made, *(each.repair for each in repairs.policies)))
    if not repairs.made and not repairs.policies:
        yield from wrapped(f"{show_id(repairs.output, 200)}: nothing to repair.", "")
        return
    yield from wrapped(f"{show_id(repairs.output, 200)}: {number_of(total, 'repair')}", "")
    for repair in repairs.made:
        yield from wrapped(_repair_in_words(repair), "  - ")
    for each in repairs.policies:
        label = show_id(each.policy, 200)
        yield from wrapped(f"{label}: {_repair_in_words(each.repair)}{_effect_in_words(each)}", "  - ")


def _repair_in_words(repair: Repair) -> str:
    if not repair.count:
        return f"{repair.what} (no line)"
    where = f"line {repair.lines[0]}" if len(repair.lines) == 1 else f"lines {', '.join(map(str, repair.lines))}"
    more = f" and {repair.count - len(repair.lines):,} more" if repair.count > len(repair.lines) else ""
    return f"{repair.what} ({where}{more})"


def _effect_in_words(applied: Applied) -> str:
    """What a policy did to the first measure; empty without judgments."""
    if applied.measure is None:
        return ""
    if applied.after is None:
        return f"; the run {'still cannot' if applied.before is None else 'can no longer'} be scored"
    if applied.before is None:
        return f"; {applied.measure} is {applied.after:.4f}; before, the run could not be scored"
    if applied.before == applied.after:
        return f"; {applied.measure} stays at {applied.after:.4f}"
    return f"; {applied.measure} changes from {applied.before:.4f} to {applied.after:.4f}"


def wrapped(text: str, first: str) -> list[str]:
    """The lines of a text on the terminal, with a label on the first."""
    return terminal.wrapped(text, terminal.terminal_width(), first).splitlines()
