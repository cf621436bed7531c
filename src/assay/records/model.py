"""The records that are kept of an evaluation, as values. Computes nothing, reads and writes nothing.

Each record has a JSON Schema of its version in docs/schemas. Numbers that are not defined are None, since JSON has no NaN.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

REPORT_SCHEMA = "assay/evaluation-report/1"
MANIFEST_SCHEMA = "assay/experiment-manifest/1"

Severity = Literal["error", "warning", "note"]
Status = Literal["pass", "warn", "fail", "unknown"]  # worst first when several are taken together: fail, warn, unknown


class Record(Struct, frozen=True):
    """A value with named fields; fields that a later version adds are ignored when an old program reads it."""


class Identity(Record, kw_only=True):
    """A file by its content."""

    name: str  # what it is called: a run's name, a file's stem
    path: str  # as it was given, without secrets
    sha256: str  # of the bytes in the file, compressed or not
    size: int  # bytes
    lines: int | None  # of text after decompression; None for formats without lines
    queries: int


class TargetResult(Record, kw_only=True):
    """What was aimed at, and whether it was reached."""

    status: Status
    goal: float | None  # what the mean is held against, in the measure's own unit; None if it is not known
    words: str  # "0.3812 of 0.3500 (good)", "no baseline called 'bm25'"
    baseline: str | None = None  # the run that an uplift is over
    levels: dict[str, float] = {}  # name of level -> value: good, strong
    reached: str | None = None  # the highest level that was reached


class MeasureResult(Record, kw_only=True):
    """One measure over all queries."""

    name: str  # as the user wrote it
    canonical: str
    mean: float | None
    interval: tuple[float, float] | None  # of the mean; None with fewer than two queries or a sum
    confidence: float
    queries: int  # that the mean is over
    undefined: int  # queries that it leaves out
    total: str  # how queries are combined: mean, sum, geometric
    tie_bounds: tuple[float, float] | None = None  # lowest and highest mean under any order of equal scores
    target: TargetResult | None = None


class Example(Record, kw_only=True):
    """One place where a finding holds."""

    text: str  # what stands there, fit to be shown
    line: int | None = None
    query: str | None = None


class FindingRecord(Record, kw_only=True):
    """Something that validation has to say about a file."""

    code: str
    severity: Severity
    title: str
    message: str
    fix: str
    file: str
    line: int | None = None  # of the first example
    query: str | None = None
    count: int = 1
    examples: tuple[Example, ...] = ()


class Curves(Record, kw_only=True):
    """What charts show besides the values of queries."""

    precision_at_recall: tuple[float, ...]  # interpolated, at recall 0.0, 0.1 ... 1.0
    cutoffs: tuple[int, ...]  # 1 to 100, or to the depth of the run
    at_cutoff: dict[str, tuple[float, ...]]  # measure without cutoff (nDCG, P, R, Success) -> mean at each cutoff
    first_relevant: dict[str, int]  # "1", "2", "3", "4-10", "11-100", "101-1000", "later", "never" -> queries


class EvaluationReport(Record, kw_only=True):
    """One run against one set of judgments."""

    schema: str = REPORT_SCHEMA
    experiment: str  # id of the manifest that belongs to it
    created: str  # ISO 8601, UTC
    run: Identity
    tag: str
    qrels: Identity
    like: str
    rules: dict[str, Any]
    conventions: str  # the rules in words
    measures: tuple[MeasureResult, ...]
    targets: str | None  # name of the profile
    status: Status | None  # of all targets together; None without targets
    coverage: dict[str, Any]
    coverage_words: str
    complete: bool  # whether every judged query was answered and nothing is in the way of trusting the figures
    incomplete_because: tuple[str, ...]
    findings: tuple[FindingRecord, ...]
    curves: Curves
    queries: dict[str, tuple[float | None, ...]]  # query -> values in the order of `measures`
    seconds: float  # reading, judging and computing


class Digest(Record, kw_only=True):
    """A file that went in or came out."""

    path: str
    sha256: str
    size: int


class ExperimentManifest(Record, kw_only=True):
    """What was done, with what, on what: enough to do it again."""

    schema: str = MANIFEST_SCHEMA
    experiment: str
    created: str
    command: tuple[str, ...]  # without secrets
    assay_version: str
    path_in_use: str  # native kernel, or NumPy and why
    python: str
    platform: str
    packages: dict[str, str]  # name -> version of what the numbers depend on
    dataset: str | None
    model: str | None
    parameters: dict[str, str]  # --set NAME=VALUE
    index_snapshots: dict[str, str]  # --set index.NAME=VALUE
    config_hash: str  # sha256 of measures, rules, convention, targets and parameters in canonical JSON
    runs: tuple[str, ...]
    inputs: tuple[Digest, ...]
    outputs: tuple[Digest, ...]
    metadata: dict[str, Any] = field(default_factory=dict)  # run -> ir_metadata of its header
    notes: tuple[str, ...] = ()
