"""The results of validating a file, as plain values. Does no checking and no printing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, get_args

from msgspec import Struct, field

from assay.errors import LookupNameError, show_id
from assay.showing import Shown
from assay.words import number_of

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # most severe first
SHOWN = 5  # examples per finding


class FindingExample(Struct, frozen=True):
    """One place that a finding is about."""

    text: str = ""  # what is there, safe to print
    line: int | None = None
    query: str | None = None


class Finding(Struct, frozen=True):
    """All places in a file that break the same rule."""

    code: str
    severity: Severity
    title: str
    message: str
    fix: str
    file: str
    count: int
    examples: tuple[FindingExample, ...] = ()
    policy: str = ""  # what repairs it: the value of --policy, if there is one
    explains: tuple[str, ...] = ()  # codes that are not listed because this is their cause

    @property
    def line(self) -> int | None:
        """The line of the first example."""
        return self.examples[0].line if self.examples else None

    @property
    def query(self) -> str | None:
        """The query of the first example."""
        return self.examples[0].query if self.examples else None


class Validation(Shown, Struct, frozen=True):
    """The findings about one file, most severe first."""

    file: str
    kind: str  # run or qrels
    findings: tuple[Finding, ...]
    facts: dict[str, int | str] = field(default_factory=dict)  # format and counts: lines, rows, queries
    coverage: tuple[tuple[str, int, tuple[str, ...]], ...] = ()  # files that share queries, how many, the first ones

    def __repr__(self) -> str:
        return f"<Validation of {show_id(self.file)!r}: {self.verdict}>"

    def __getitem__(self, code: str) -> Finding:
        """The finding with this code."""
        for finding in self.findings:
            if finding.code == code.upper():
                return finding
        raise LookupNameError("finding", code, self.codes())

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def verdict(self) -> str:
        """Whether the file is valid, and the number of findings, in words."""
        found = [number_of(self.count(severity), severity) for severity in SEVERITIES if self.count(severity)]
        return f"{'valid' if self.valid else 'not valid'}, {', '.join(found) or 'no findings'}"

    @property
    def valid(self) -> bool:
        """Whether there is no error."""
        return not self.count("error")

    def holds(self, *, strict: bool = False) -> bool:
        """Whether there is no error and, if strict, no warning."""
        return self.valid and not (strict and self.count("warning"))

    def count(self, severity: Severity) -> int:
        """How many findings have this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings by severity."""
        return {f"{severity}s": self.count(severity) for severity in SEVERITIES}

    def codes(self) -> list[str]:
        """The codes of all findings."""
        return [finding.code for finding in self.findings]


class Tally:
    """A count and the first examples: a million bad lines take no more memory than five."""

    __slots__ = ("count", "examples")

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[FindingExample] = []

    def add(self, example: FindingExample, count: int = 1) -> None:
        """Add one place, or several with one example."""
        self.count += count
        if len(self.examples) < SHOWN:
            self.examples.append(example)

    def extend(self, examples: Iterable[FindingExample]) -> None:
        """Add one place per example."""
        for example in examples:
            self.add(example)
