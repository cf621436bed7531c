"""The records of an evaluation, as plain values. Computes nothing, reads and writes nothing.

The JSON Schema of each record's version is in docs/schemas. Undefined numbers are None, since JSON has no NaN.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct, field

REPORT_SCHEMA: Final = "assay/evaluation-report/1"
MANIFEST_SCHEMA: Final = "assay/experiment-manifest/1"

Severity = Literal["error", "warning", "note"]
Status = Literal["pass", "warn", "fail", "unknown"]  # the overall status is the worst: fail, warn, unknown, pass


class Record(Struct, frozen=True):
    """A value with named fields. Unknown fields, added by a later version, are ignored when it is read."""


class Identity(Record, frozen=True, kw_only=True):
    """Judgments or a run, identified by content."""

    name: str  # name of the run, or stem of the file
    path: str  # as given, without secrets; "-" for standard input, "" for a value in memory
    sha256: str | None  # of the file's bytes, before decompression; null if it did not come from a file
    size: int | None  # bytes
    lines: int | None  # after decompression; null for formats without lines
    queries: int


class TargetResult(Record, frozen=True, kw_only=True):
    """The target of a measure, and whether it was reached."""

    status: Status
    goal: float | None  # lowest value that passes, in the measure's own unit; null if unknown
    words: str  # "0.3812 of 0.3500 (good)", "no baseline called 'bm25'"
    baseline: str | None = None  # run that an uplift is measured against
    levels: dict[str, float] = {}  # level, such as good or strong -> value in the measure's own unit
    reached: str | None = None  # highest level reached
    typical: tuple[float, float] | None = None  # range of a typical baseline; for orientation only


class WeightedResult(Record, frozen=True, kw_only=True):
    """The weighted mean of one measure."""

    mean: float | None
    interval: tuple[float, float] | None  # null if its width cannot be estimated
    error: float | None  # standard error; null likewise
    degrees: float | None  # of freedom; null if the error is 0 or unknown
    queries: int  # queries in the mean
    effective: float  # effective sample size: as many queries with equal weights would say as much


class MeasureResult(Record, frozen=True, kw_only=True):
    """One measure over all queries."""

    name: str  # as the user wrote it
    canonical: str
    mean: float | None
    interval: tuple[float, float] | None  # of the mean; null for a sum, or with fewer than two queries
    confidence: float
    queries: int  # queries in the mean
    undefined: int  # queries left out of the mean because the measure is undefined
    total: str  # how queries are combined: mean, sum, geometric
    tie_bounds: tuple[float, float] | None = None  # lowest and highest mean under any order of tied documents
    target: TargetResult | None = None
    weighted: WeightedResult | None = None  # null without weights of queries, or for a sum or geometric mean


class Example(Record, frozen=True, kw_only=True):
    """One place where a finding occurs."""

    text: str  # content of that place, ready to display
    line: int | None = None
    query: str | None = None


class FindingRecord(Record, frozen=True, kw_only=True):
    """A validation finding about a file."""

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
    """Data for charts, besides the values of queries."""

    precision_at_recall: tuple[float | None, ...]  # interpolated, at recall 0.0, 0.1 ... 1.0
    cutoffs: tuple[int, ...]  # 1 to 100, or to the depth of the run if less
    at_cutoff: dict[
        str, tuple[float | None, ...]
    ]  # measure without cutoff (nDCG, P, R, Success) -> mean at each cutoff
    first_relevant: dict[str, int]  # "1", "2", "3", "4-10", "11-100", "101-1000", "later", "never" -> queries


class EvaluationReport(Record, frozen=True, kw_only=True):
    """The evaluation of one run with one set of judgments."""

    schema: Literal["assay/evaluation-report/1"] = REPORT_SCHEMA
    experiment: str  # id of its manifest
    created: str  # ISO 8601, UTC
    run: Identity
    tag: str
    qrels: Identity
    like: str
    rules: dict[str, Any]
    conventions: str  # the rules in words
    measures: tuple[MeasureResult, ...]
    targets: str | None  # name of the target profile
    status: Status | None  # overall status of the targets; null without targets
    coverage: dict[str, Any]
    coverage_words: str
    complete: bool  # false if a judged query is missing or something else makes the figures unreliable
    incomplete_because: tuple[str, ...]
    findings: tuple[FindingRecord, ...]
    curves: Curves  # empty if not computed
    queries: dict[str, tuple[float | None, ...]]  # query -> values in the order of `measures`
    seconds: float  # time to read, judge and compute
    weights: tuple[str, ...] = ()  # how the weighted means come about, in words; empty without weights of queries


class Digest(Record, frozen=True, kw_only=True):
    """An input or output file."""

    path: str
    sha256: str
    size: int


class Target(Record, frozen=True, kw_only=True):
    """The target of one measure."""

    measure: str  # as written in the profile
    levels: dict[str, float]  # level -> value, or with `over` the uplift over the baseline
    over: str | None = None  # run that an uplift is measured against
    typical: tuple[float, float] | None = None  # range of a typical baseline
    note: str = ""


class Targets(Record, frozen=True, kw_only=True):
    """A target profile."""

    name: str
    measures: tuple[Target, ...]
    description: str = ""


class Baseline(Record, frozen=True, kw_only=True):
    """The baseline of uplifts: one of the runs, or an earlier report."""

    name: str
    means: dict[str, float | None]  # canonical measure -> mean
    path: str | None = None  # of the report; null for one of the runs


class Config(Record, frozen=True, kw_only=True):
    """Every choice that affects the numbers, apart from the files themselves."""

    measures: tuple[str, ...]  # as requested
    like: str  # convention that was followed
    rules: dict[str, Any]  # rules set by the user; the others follow the convention
    qrels_format: str = "auto"
    run_format: str = "auto"
    grades: dict[str, float] = {}  # letter -> grade
    columns: dict[str, tuple[str, ...]] = {}  # role, such as doc or run.doc -> names of its columns
    targets: Targets | None = None
    baseline: Baseline | None = None


class ExperimentManifest(Record, frozen=True, kw_only=True):
    """Inputs, versions and settings of an experiment: enough to repeat it."""

    schema: Literal["assay/experiment-manifest/1"] = MANIFEST_SCHEMA
    experiment: str
    created: str
    command: tuple[str, ...]  # without secrets
    assay_version: str
    path_in_use: str  # native kernel, or NumPy and the reason
    python: str
    platform: str
    packages: dict[str, str]  # name -> version of the packages that affect the numbers
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
    qrels_metadata: dict[str, Any] | None = None  # likewise of the judgments
    notes: tuple[str, ...] = ()
    queries: str | None = None  # path of the file that gave queries their ids; its digest is among the inputs
    query_weights: str | None = None  # path of the file with the weights of queries; likewise
