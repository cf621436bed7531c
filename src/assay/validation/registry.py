"""The registry of rules: one function per code. Lists, pages and tests are generated from it.

The scope of a rule decides what its function gets and returns:

    text    a chunk of whole lines, as bytes       -> examples
    line    one line that is not a row              -> what is wrong with it, or None
    value   text that should be a number but is not -> what it is, or None
    query   all rows of one query                   -> examples
    file    the facts about the whole file          -> findings with their own messages (`Said`)

Rules about collections differ: see `collection_rules`.

The docstring is the page that `assay explain` prints: a title, why it matters ("Why:") and an "Example:".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from assay.errors import InputError, did_you_mean, show_id, some_of
from assay.validation.causes import Remedy
from assay.validation.findings import SHOWN, FindingExample, Severity
from assay.validation.matching import Match
from assay.words import plural

Kind: TypeAlias = Literal["run", "qrels", "collection"]
Scope: TypeAlias = Literal["text", "line", "value", "query", "document", "file"]
PREFIXES: dict[str, Kind] = {"RUN": "run", "QRL": "qrels", "COL": "collection"}


class Said(Struct, frozen=True):
    """What a rule found in a file as a whole."""

    message: str = ""  # if it is not that of the rule
    count: int = 1
    examples: tuple[FindingExample, ...] = ()
    severity: Severity | None = None  # if it depends on what was found
    detail: str = ""  # to add to the message
    cause: str = ""  # to start the message with
    fix: str = ""  # if it is not that of the rule
    policy: str = ""
    explains: tuple[str, ...] = ()  # codes that need not be listed: this is their cause


class Rule(Struct, frozen=True):
    """A rule: what it checks, and what its findings say."""

    code: str
    scope: Scope
    severity: Severity
    message: str  # a template for `plural`: "{count} {line has|lines have} ..."
    fix: str
    check: Callable[..., Any]
    least: int = 1  # rows of a query: on fewer it has nothing to say

    @property
    def kind(self) -> Kind:
        """The kind of file it checks."""
        return PREFIXES[self.code[:3]]

    @property
    def title(self) -> str:
        """What is wrong in a few words: the first line of the page."""
        return self.page[0].rstrip(".")

    @property
    def page(self) -> list[str]:
        """The lines of the docstring."""
        return (inspect.getdoc(self.check) or "").splitlines()

    def said(self, count: int) -> str:
        """The message about this many places."""
        return plural(self.message, count)

    def message_of(self, said: Said) -> str:
        """The message of what it found: its own or the rule's, after the cause and with the detail."""
        return (f"{said.cause}: " if said.cause else "") + (said.message or self.said(said.count)) + said.detail


RULES: dict[str, Rule] = {}


def rule(
    codes: str, scope: Scope, severity: Severity, message: str, *, fix: str, least: int = 1
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the rule with this code, or with two: one for runs, one for judgments."""

    def register(check: Callable[..., Any]) -> Callable[..., Any]:
        for code in codes.split():
            if code in RULES:
                raise ValueError(f"two rules have the code {code}")
            RULES[code] = Rule(code, scope, severity, message, fix, check, least)
        return check

    return register


def rules_of(kind: Kind, scope: Scope) -> list[Rule]:
    """The rules for a kind of file and a scope, by code, so catch-all rules come last."""
    return [rule for rule in all_rules() if rule.kind == kind and rule.scope == scope]


def find_rule(code: str) -> Rule:
    """The rule with this code."""
    load_rules()
    known = RULES.get(code.strip().upper())
    if known is None:
        hint = did_you_mean(code.upper(), RULES) or "; `assay explain` lists them."
        raise InputError(f"no rule has the code {code!r}{hint}")
    return known


def all_rules() -> list[Rule]:
    """All rules, by code."""
    load_rules()
    return [RULES[code] for code in sorted(RULES, key=lambda code: (list(PREFIXES).index(code[:3]), code))]


def load_rules() -> None:
    """Import the modules that define rules."""
    from assay.validation import collection_rules, qrels_rules, run_rules, text_rules  # noqa: F401


def lacking(missing: Iterable[str]) -> Iterator[Said]:
    """A finding about ids that are missing, if any are."""
    missing = sorted(missing)
    if missing:
        shown = tuple(FindingExample("", None, show_id(query)) for query in missing[:SHOWN])
        yield Said(count=len(missing), examples=shown, detail=f": {some_of(missing)}")


def alike(matches: Sequence[Match], remedy: Remedy, fix: str, explains: Iterable[str]) -> Said:
    """What is said about ids that are nearly identical for one reason."""
    return Said(
        count=len(matches),
        examples=examples_of(matches),
        cause=remedy.what,
        fix=fix,
        policy=remedy.of_ours,
        explains=tuple(explains),
    )


def examples_of(
    matches: Sequence[Match], both: str = "'{}' here, '{}' in the other file"
) -> tuple[FindingExample, ...]:
    """The first matches as examples."""
    return tuple(
        FindingExample(f"{both.format(show_id(m.ours), show_id(m.theirs))} ({m.differ_by})", None, show_id(m.ours))
        for m in matches[:SHOWN]
    )
