"""Findings of a validation for the terminal, as JSON, as annotations of GitHub, and as SARIF; the page of a rule."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from assay._version import __version__
from assay.errors import show_id, some_of
from assay.report.github import annotation
from assay.validation.findings import SEVERITIES, Example, Finding, Validation
from assay.validation.fixing import Repair, Repairs
from assay.validation.registry import Rule, all_rules

SCHEMA = "assay/validation/1"
COLLECTIONS_SCHEMA = "assay/collections/1"
WIDTH = 100
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_INDENT = " " * 9
_SINGULAR = {"lines": "line", "rows": "row", "documents": "document", "queries": "query", "judgments": "judgment"}
_PARTS = ("documents", "queries", "judgments")
_KINDS = {"run": "runs", "qrels": "judgments", "collection": "collections"}
_GITHUB_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render_text(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """A page for the terminal: the verdict, each finding with its first examples and what to do, and the queries."""
    lines = [f"{show_id(validation.file, 200)}: {_verdict(validation, strict)}", _looked_at(validation)]
    for finding in validation.findings:
        lines += ["", *_finding_lines(finding, validation.file)]
    if validation.coverage:
        lines += ["", *_coverage_lines(validation)]
    if repairs is not None:
        lines += ["", *_repair_lines(repairs)]
    if after is not None:
        lines.append(f"It is now {_verdict(after, strict)}. What has two readings was left as it is.")
    return "\n".join(lines) + "\n"


def render_json(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """One object; the schema stands in docs/schemas/validation-1.json."""
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
    if after is not None:
        document["left"] = {"valid": after.holds(strict=strict), "codes": after.codes()}
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def render_github(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """One workflow command for each example, which GitHub shows beside the line."""
    lines = []
    for finding in validation.findings:
        for example in finding.examples or (Example(),):
            place = {"file": finding.file} | ({} if example.line is None else {"line": str(example.line)})
            place["title"] = f"{finding.code} {finding.title}"
            words = f"{finding.message}. {_place_words(example)}{finding.fix}"
            lines.append(annotation(_GITHUB_LEVELS[finding.severity], words, **place))
    return "".join(f"{line}\n" for line in lines)


def render_sarif(
    validation: Validation, *, strict: bool = False, repairs: Repairs | None = None, after: Validation | None = None
) -> str:
    """SARIF 2.1.0, which code scanning tools read."""
    used = {finding.code for finding in validation.findings}
    driver = {
        "name": "assay",
        "version": __version__,
        "rules": [_sarif_rule(rule) for rule in all_rules() if rule.code in used],
    }
    results = [_sarif_result(finding) for finding in validation.findings]
    document = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=2) + "\n"


Renderer = Callable[..., str]
RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "github": render_github,
    "sarif": render_sarif,
}


# The terminal


def _verdict(validation: Validation, strict: bool) -> str:
    found = ", ".join(f"{validation.count(s)} {s}{'' if validation.count(s) == 1 else 's'}" for s in SEVERITIES)
    if not validation.findings:
        return "valid, nothing to say"
    return f"{'valid' if validation.holds(strict=strict) else 'not valid'} ({found})"


def _looked_at(validation: Validation) -> str:
    form, split = validation.facts.get("format"), validation.facts.get("split")
    facts = [f"{validation.kind} in {form}" if form else f"{validation.kind}, split {show_id(str(split))}"]
    facts += [_number(validation.facts[name], name) for name in _SINGULAR if validation.facts.get(name)]
    return ", ".join(facts)


def _number(count: int | str, name: str) -> str:
    return f"{count:,} {_SINGULAR[name] if count == 1 else name}"


def _finding_lines(finding: Finding, file: str) -> Iterator[str]:
    """The lines of a finding; it names its file where it is about one in a folder."""
    of = "" if finding.file == file else f"{show_id(os.path.relpath(finding.file, file), 200)}: "
    yield from _wrapped(f"{of}{finding.message} [{finding.code}]", f"{finding.severity:<9}")
    for example in finding.examples:
        yield from _wrapped(_place_words(example).rstrip(), _INDENT + "- ")
    more = finding.count - len(finding.examples)
    if finding.examples and more > 0:
        yield f"{_INDENT}  and {more:,} more"
    yield from _wrapped(finding.fix, _INDENT)


def _place_words(example: Example) -> str:
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
        yield f"{where:<{width + 2}}{count:>9,}  {some_of([*first, ''] if count > len(first) else first, len(first))}"


def _repair_lines(repairs: Repairs) -> Iterator[str]:
    total = sum(repair.count for repair in repairs.made)
    if not repairs.made:
        yield f"{show_id(repairs.output, 200)}: nothing was repaired."
        return
    yield f"{show_id(repairs.output, 200)}: {total:,} {'repair' if total == 1 else 'repairs'}"
    for repair in repairs.made:
        where = f"line {repair.lines[0]}" if len(repair.lines) == 1 else f"lines {', '.join(map(str, repair.lines))}"
        more = f" and {repair.count - len(repair.lines):,} more" if repair.count > len(repair.lines) else ""
        yield from _wrapped(f"{repair.what} ({where}{more})" if repair.lines else repair.what, "  - ")


def _wrapped(text: str, first: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False
    ) or [first]


# JSON


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
        "examples": [asdict(example) for example in finding.examples],
    }


def _repair_object(repair: Repair) -> dict[str, Any]:
    return {"what": repair.what, "count": repair.count, "lines": list(repair.lines)}


def _text(name: str) -> str:
    """A name that any JSON reader takes: bytes that are not UTF-8 are shown escaped."""
    return name if name.isprintable() else show_id(name, 10_000)


# SARIF


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": "\n".join(rule.page)},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": rule.severity},
    }


def _sarif_result(finding: Finding) -> dict[str, Any]:
    def location(example: Example) -> dict[str, Any]:
        place: dict[str, Any] = {"artifactLocation": {"uri": _text(finding.file)}}
        if example.line is not None:
            place["region"] = {"startLine": example.line}
        return {"physicalLocation": place, "message": {"text": _place_words(example).strip() or finding.message}}

    places = finding.examples or (Example(),)
    return {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": f"{finding.message}. {finding.fix}"},
        "locations": [location(example) for example in places],
    }


# Lists of collections


def collections_as_text(collections: Mapping[str, Validation]) -> str:
    """A line for each collection: its name and what is in it."""
    width = max(map(len, collections), default=0)
    return "".join(
        f"{name:<{width}}  {', '.join(_number(found.facts[part], part) for part in _PARTS)}\n"
        for name, found in collections.items()
    )


def collections_as_json(collections: Mapping[str, Validation]) -> str:
    """One object; the schema stands in docs/schemas/collections-1.json."""
    listed = [
        {"name": name, "split": found.facts["split"], **{part: found.facts[part] for part in _PARTS}}
        for name, found in collections.items()
    ]
    return json.dumps({"schema": COLLECTIONS_SCHEMA, "collections": listed}, indent=2) + "\n"


COLLECTION_RENDERERS: dict[str, Callable[[Mapping[str, Validation]], str]] = {
    "table": collections_as_text,
    "json": collections_as_json,
}


# Pages about rules


def rule_as_text(rule: Rule) -> str:
    """The page of a rule for the terminal."""
    head = [f"{rule.code}  {rule.title} ({rule.severity})", ""]
    return "\n".join([*head, *_paragraphs(rule.page[1:]), "", *_wrapped(rule.fix, "What to do: ")]) + "\n"


def rule_as_markdown(rule: Rule) -> str:
    """The page of a rule for the docs."""
    sections = _sections(rule.page[2:])
    parts = [
        f"# {rule.code}: {rule.title}",
        f"A {rule.severity} about {_KINDS[rule.kind]}.",
    ]
    parts += [f"**{name}.** {text}" for name, text in sections]
    parts.append(f"**What to do.** {rule.fix}")
    return "\n\n".join(parts) + "\n"


def rules_as_text(rules: Sequence[Rule]) -> str:
    """A line for each rule."""
    return "".join(f"{rule.code}  {rule.severity:<8} {rule.title}\n" for rule in rules)


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    for name, text in _sections(lines):
        yield from _wrapped(text, f"{name}: ")


def _sections(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Why and Example, each as one paragraph."""
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, rest = line.partition(": ")
        if colon and name in {"Why", "Example"}:
            found.append((name, rest))
        elif line.strip() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found
