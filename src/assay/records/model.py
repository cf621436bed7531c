"""The records that are kept of an evaluation, as values. Computes nothing, reads and writes nothing.

Each record has a JSON Schema of its version in docs/schemas. Numbers that are not defined are None, since JSON has no NaN.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct, field

REPORT_SCHEMA: Final = "assay/evaluation-report/1"
MANIFEST_SCHEMA: Final = "assay/experiment-manifest/1"

Severity = Literal["error", "warning", "note"]
Status = Literal["pass", "warn", "fail", "unknown"]  # worst first when several are taken together: fail, warn, unknown


class Record(Struct, frozen=True):
    """A value with named fields; fields that a later version adds are ignored when an old program reads it."""


class Identity(Record, frozen=True, kw_only=True):
    """Judgments or a run by their content."""

    name: str  # what it is called: a run's name, a file's stem
    path: str  # as it was given, without secrets; "-" for standard input, "" for a value in memory
    sha256: str | None  # of the bytes in the file, compressed or not; None where there is no file to read again
    size: int | None  # bytes
    lines: int | None  # of text after decompression; None for formats without lines
    queries: int


class TargetResult(Record, frozen=True, kw_only=True):
    """What was aimed at, and whether it was reached."""

    status: Status
    goal: float | None  # what the mean is held against, in the measure's own unit; None if it is not known
    words: str  # "0.3812 of 0.3500 (good)", "no baseline called 'bm25'"
    baseline: str | None = None  # the run that an uplift is over
    levels: dict[str, float] = {}  # name of level -> value in the measure's own unit: good, strong
    reached: str | None = None  # the highest level that was reached
    typical: tuple[float, float] | None = None  # what a usual baseline has, from and to; for comparison only


class MeasureResult(Record, frozen=True, kw_only=True):
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


class Example(Record, frozen=True, kw_only=True):
    """One place where a finding holds."""

    text: str  # what stands there, fit to be shown
    line: int | None = None
    query: str | None = None


class FindingRecord(Record, frozen=True, kw_only=True):
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


class Curves(Record, frozen=True, kw_only=True):
    """What charts show besides the values of queries."""

    precision_at_recall: tuple[float | None, ...]  # interpolated, at recall 0.0, 0.1 ... 1.0
    cutoffs: tuple[int, ...]  # 1 to 100, or to the depth of the run
    at_cutoff: dict[
        str, tuple[float | None, ...]
    ]  # measure without cutoff (nDCG, P, R, Success) -> mean at each cutoff
    first_relevant: dict[str, int]  # "1", "2", "3", "4-10", "11-100", "101-1000", "later", "never" -> queries


class EvaluationReport(Record, frozen=True, kw_only=True):
    """One run against one set of judgments."""

    schema: Literal["assay/evaluation-report/1"] = REPORT_SCHEMA
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
    curves: Curves  # empty where none were computed
    queries: dict[str, tuple[float | None, ...]]  # query -> values in the order of `measures`
    seconds: float  # reading, judging and computing


class Digest(Record, frozen=True, kw_only=True):
    """A file that went in or came out."""

    path: str
    sha256: str
    size: int


class Target(Record, frozen=True, kw_only=True):
    """What is aimed at for one measure."""

    measure: str  # as the profile writes it
    levels: dict[str, float]  # name of level -> value, or what is added to the baseline's value where `over` is given
    over: str | None = None  # the run that an uplift is over
    typical: tuple[float, float] | None = None  # what a usual baseline has, from and to
    note: str = ""


class Targets(Record, frozen=True, kw_only=True):
    """A profile: what is aimed at, measure by measure."""

    name: str
    measures: tuple[Target, ...]
    description: str = ""


class Baseline(Record, frozen=True, kw_only=True):
    """What uplifts are over: one of the runs, or an earlier report."""

    name: str
    means: dict[str, float | None]  # measure in its canonical form -> mean
    path: str | None = None  # of the report; None for one of the runs


class Config(Record, frozen=True, kw_only=True):
    """Every choice that the numbers depend on, besides the files themselves."""

    measures: tuple[str, ...]  # as they were asked for
    like: str  # the convention that was followed
    rules: dict[str, Any]  # those that were chosen; the others are the convention's
    qrels_format: str = "auto"
    run_format: str = "auto"
    grades: dict[str, float] = {}  # letters and their values
    targets: Targets | None = None
    baseline: Baseline | None = None


class ExperimentManifest(Record, frozen=True, kw_only=True):
    """What was done, with what, on what: enough to do it again."""

    schema: Literal["assay/experiment-manifest/1"] = MANIFEST_SCHEMA
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
    config: Config
    config_hash: str  # sha256 of config, dataset, model, parameters and index snapshots in canonical JSON
    runs: tuple[str, ...]
    inputs: tuple[Digest, ...]
    outputs: tuple[Digest, ...]
    metadata: dict[str, Any] = field(
        default_factory=dict
    )  # run -> ir_metadata of its header, or {"raw": ..., "why": ...}
    notes: tuple[str, ...] = ()
