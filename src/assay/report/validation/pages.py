"""The page about a rule, for the terminal and the docs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.report.validation.text import wrapped
from assay.validation.registry import Rule

_KINDS = {"run": "runs", "qrels": "judgments", "collection": "collections"}


def rule_as_text(rule: Rule) -> str:
    """The page about a rule for the terminal."""
    head = [f"{rule.code}  {rule.title} ({rule.severity})", ""]
    return "\n".join([*head, *_paragraphs(rule.page[1:]), "", *wrapped(rule.fix, "What to do: ")]) + "\n"


def rule_as_markdown(rule: Rule) -> str:
    """The page about a rule for the docs."""
    sections = _sections(rule.page[2:])
    parts = [
        f"# {rule.code}: {rule.title}",
        f"A {rule.severity} about {_KINDS[rule.kind]}.",
    ]
    parts += [f"**{name}.** {text}" for name, text in sections]
    parts.append(f"**What to do.** {rule.fix}")
    return "\n\n".join(parts) + "\n"


def rules_as_text(rules: Sequence[Rule]) -> str:
    """One line per rule."""
    return "\n".join(line for rule in rules for line in wrapped(rule.title, f"{rule.code}  {rule.severity:<8} ")) + "\n"


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    for name, text in _sections(lines):
        yield from wrapped(text, f"{name}: ")


def _sections(lines: Iterable[str]) -> list[tuple[str, str]]:
    """The sections Why and Example, each as one paragraph."""
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, rest = line.partition(": ")
        if colon and name in {"Why", "Example"}:
            found.append((name, rest))
        elif line.strip() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found
