"""The rules: one function with a code each. A new rule is a new function; lists, pages and tests are made from them.

What a function is given depends on where a rule is looked at:

    text    a chunk of whole lines, as bytes             -> examples
    line    one line that is not like the others          -> what is wrong with it, or None
    value   a text that should be a number and is not     -> what it is, or None
    query   all rows of one query                         -> examples
    file    what is known at the end                      -> examples, or a finding in its own words (`Said`)

Those about collections are given other things: see `collection_rules`.

The docstring is the page that `assay explain` prints: what was found; "Why" it matters; an "Example".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from assay.errors import InputError, did_you_mean, show_id, some_of
from assay.validation.findings import SHOWN, FindingExample, Severity
from assay.validation.matching import Match
from assay.words import plural

Kind: TypeAlias = Literal["run", "qrels", "collection"]
Scope: TypeAlias = Literal["text", "line", "value", "query", "document", "file"]
PREFIXES: dict[str, Kind] = {"RUN": "run", "QRL": "qrels", "COL": "collection"}


class Said(Struct, frozen=True):
    """A finding in its own words, where a rule has more to say than how often."""

    message: str
    count: int = 1
    examples: tuple[FindingExample, ...] = ()
    severity: Severity | None = None  # where it depends on what was found


class Rule(Struct, frozen=True):
    """One rule."""

    code: str
    scope: Scope
    severity: Severity
    message: str  # with {count} and a noun: "{count} lines have ..."
    fix: str
    check: Callable[..., Any]

    @property
    def kind(self) -> Kind:
        """What it is about."""
        return PREFIXES[self.code[:3]]

    @property
    def title(self) -> str:
        """What is wrong, in a few words: the first line of the page."""
        return self.page[0].rstrip(".")

    @property
    def page(self) -> list[str]:
        """The lines of the docstring."""
        return (inspect.getdoc(self.check) or "").splitlines()

    def said(self, count: int) -> str:
        """The message about so many places."""
        return plural(self.message, count)


RULES: dict[str, Rule] = {}


def rule(
    codes: str, scope: Scope, severity: Severity, message: str, *, fix: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the rule of this code, or of two: the same for runs and for judgments."""

    def register(check: Callable[..., Any]) -> Callable[..., Any]:
        for code in codes.split():
            if code in RULES:
                raise ValueError(f"there are two rules with the code {code}")
            RULES[code] = Rule(code, scope, severity, message, fix, check)
        return check

    return register


def rules_of(kind: Kind, scope: Scope) -> list[Rule]:
    """The rules for files of a kind that are looked at in the same place, by code: what is left over comes last."""
    return [rule for rule in all_rules() if rule.kind == kind and rule.scope == scope]


def find_rule(code: str) -> Rule:
    """The rule of this code."""
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
    """Import the modules that hold rules."""
    from assay.validation import collection_rules, qrels_rules, run_rules, text_rules  # noqa: F401


def lacking(wanted: Iterable[str], there: frozenset[str], words: str) -> Iterator[Said]:
    """Those of some ids that are not there."""
    missing = sorted(set(wanted) - there)
    if missing:
        shown = tuple(FindingExample("", None, show_id(query)) for query in missing[:SHOWN])
        yield Said(f"{plural('{count} ' + words, len(missing))}: {some_of(missing)}", len(missing), shown)


def alike(matches: Sequence[Match], words: str, both: str = "'{}' here, '{}' there") -> Iterator[Said]:
    """Ids that are nearly the same, if there are any."""
    if matches:
        shown = tuple(
            FindingExample(f"{both.format(show_id(m.ours), show_id(m.theirs))}: {m.differ_by}", None, show_id(m.ours))
            for m in matches[:SHOWN]
        )
        yield Said(plural("{count} " + words, len(matches)), len(matches), shown)
