"""What validation has to say about a file, as values. Finds nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from msgspec import Struct, field

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # the gravest first
SHOWN = 5  # examples of one finding


class FindingExample(Struct, frozen=True):
    """One place where a finding holds."""

    text: str = ""  # what stands there, fit to be shown
    line: int | None = None
    query: str | None = None


class Finding(Struct, frozen=True):
    """All places of a file where one rule is broken, as one."""

    code: str
    severity: Severity
    title: str
    message: str
    fix: str
    file: str
    count: int
    examples: tuple[FindingExample, ...] = ()

    @property
    def line(self) -> int | None:
        """The first line concerned."""
        return self.examples[0].line if self.examples else None

    @property
    def query(self) -> str | None:
        """The first query concerned."""
        return self.examples[0].query if self.examples else None


class Validation(Struct, frozen=True):
    """The findings about one file, the gravest first."""

    file: str
    kind: str  # run or qrels
    findings: tuple[Finding, ...]
    facts: dict[str, int | str] = field(default_factory=dict)  # what was looked at: lines, queries, format
    coverage: tuple[tuple[str, int, tuple[str, ...]], ...] = ()  # which files a query is in, how many, the first ones

    @property
    def valid(self) -> bool:
        """Whether there is no error."""
        return not self.count("error")

    def holds(self, *, strict: bool = False) -> bool:
        """Whether there is no error and, if strict, no warning."""
        return self.valid and not (strict and self.count("warning"))

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        return {f"{severity}s": self.count(severity) for severity in SEVERITIES}

    def codes(self) -> list[str]:
        """The codes of all findings."""
        return [finding.code for finding in self.findings]


class Tally:
    """How often something was seen, and where first: a million bad lines take no more memory than five."""

    __slots__ = ("count", "examples")

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[FindingExample] = []

    def add(self, example: FindingExample, count: int = 1) -> None:
        """One more place, or as many as are said."""
        self.count += count
        if len(self.examples) < SHOWN:
            self.examples.append(example)

    def extend(self, examples: Iterable[FindingExample]) -> None:
        """More places."""
        for example in examples:
            self.add(example)
