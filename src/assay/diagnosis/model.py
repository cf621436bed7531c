"""The result types of a diagnosis. Finds nothing and prints nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from assay.errors import AssayError, LookupNameError
from assay.showing import Shown
from assay.words import number_of

Severity: TypeAlias = Literal["problem", "warning", "note", "fine"]
Area: TypeAlias = Literal["labels", "position", "queries", "gaming"]
Kind: TypeAlias = Literal["text", "count", "value", "signed", "share", "p", "interval", "shares", "passage"]
Cell: TypeAlias = str | int | float | tuple[float, float] | None
SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # most severe first
AREAS: tuple[Area, ...] = get_args(Area)


class Evidence(Struct, frozen=True):
    """One figure that a finding is based on, with its uncertainty."""

    what: str
    value: float | None
    interval: tuple[float, float] | None = None  # 95 %
    p: float | None = None
    p_corrected: float | None = None
    test: str = ""  # how p was computed, with draws and seed
    n: int | None = None
    unit: str = "queries"  # of n


class Column(Struct, frozen=True):
    """A column of a table: its name and kind of values."""

    name: str
    kind: Kind = "text"


class Table(Struct, frozen=True):
    """A table of figures."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    shown: int = 12  # rows on a page; JSON has all

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dicts by column.

        >>> Table("", (Column("run"), Column("P@5", "value")), (("bm25", 0.4),)).records()
        [{'run': 'bm25', 'P@5': 0.4}]
        """
        return [dict(zip((column.name for column in self.columns), row, strict=True)) for row in self.rows]


class DiagnosisFinding(Struct, frozen=True):
    """One finding: what was measured, how certain it is, and what to do."""

    code: str
    area: Area
    severity: Severity  # fine: checked, nothing wrong
    title: str
    measured: str
    sure: str
    advice: str  # empty if nothing needs to be done
    evidence: tuple[Evidence, ...] = ()
    tables: tuple[Table, ...] = ()


class NotLooked(Struct, frozen=True):
    """A check that was not possible, and what it needs."""

    code: str
    area: Area
    title: str
    reason: str


class Settings(Struct, frozen=True):
    """The options of a diagnosis, printed with it."""

    k: int = 10  # number of top documents to check
    pool_depth: int = 100  # depth to which a run counts as having found a document
    alpha: float = 0.05  # significance level of each finding
    draws: int = 2000  # permutations and resamples
    seed: int = 1

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("pool_depth", 1), ("draws", 1), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise AssayError(f"{name} cannot be {value!r}; it takes a whole number, {least} or more.")
        if not 0 < self.alpha < 1:
            raise AssayError(f"alpha cannot be {self.alpha!r}; it takes a number between 0 and 1, such as 0.05.")


class Diagnosis(Shown, Struct, frozen=True):
    """All findings, most severe first, and the checks that were not possible."""

    systems: tuple[str, ...]
    baseline: str
    measures: tuple[str, ...]
    queries: int
    judgments: int
    settings: Settings
    findings: tuple[DiagnosisFinding, ...]
    not_looked_at: tuple[NotLooked, ...]

    def __repr__(self) -> str:
        counted = [number_of(self.count(severity), severity) for severity in SEVERITIES if severity != "fine"]
        found = ", ".join([*counted, f"{self.count('fine')} fine", f"{len(self.not_looked_at)} not checked"])
        return f"<Diagnosis of {number_of(len(self.systems), 'run')} over {number_of(self.queries, 'query')}: {found}>"

    def __getitem__(self, code: str) -> DiagnosisFinding:
        """The finding with this code."""
        for finding in self.findings:
            if finding.code == code.upper():
                return finding
        raise LookupNameError("finding", code, self.codes())

    def __iter__(self) -> Iterator[DiagnosisFinding]:
        return iter(self.findings)

    def count(self, severity: Severity) -> int:
        """The number of findings of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings of each severity."""
        return {severity: self.count(severity) for severity in SEVERITIES}

    def codes(self, *severities: Severity) -> list[str]:
        """The codes of all findings, or only of some severities."""
        return [finding.code for finding in self.findings if not severities or finding.severity in severities]
