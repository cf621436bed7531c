"""The record of a benchmark, as a plain value. Computes nothing, reads and writes nothing.

The same recipe and collection always give the same record, even after interruptions, except for `created`,
`experiment`, `timing` and `choice.latency`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import field

from assay.records.model import Digest, FindingRecord, Record, Status, TargetResult

BENCHMARK_SCHEMA: Final = "assay/benchmark/1"
BENCHMARK_FILE: Final = "BenchmarkReport.json"


class CollectionRecord(Record, frozen=True, kw_only=True):
    """The collection that was searched, identified by content."""

    name: str
    split: str
    documents: int
    queries: int  # queries searched: those with a text and a judgment
    judged: int  # queries with a judgment
    judgments: int
    files: tuple[Digest, ...]  # corpus, queries and judgments


class ModeResult(Record, frozen=True, kw_only=True):
    """One search mode and its results."""

    name: str
    kind: str  # lexical, bm25s, vector, approximate, hybrid
    settings: dict[str, Any]  # everything that affects the result
    metrics: dict[str, float | None]  # measure -> mean over the queries
    intervals: dict[str, tuple[float, float] | None]  # of the means
    queries: int  # queries with at least one document
    documents: int  # rows of the run
    run: Digest  # run file, relative to the folder of the report
    report: str  # folder of its evaluation report, relative to this one
    complete: bool  # false if something makes its figures unreliable
    status: Status | None = None  # overall status of its targets; null without targets
    # By measure; empty without targets, or if all of them are uplifts over this mode.
    targets: dict[str, TargetResult] = field(default_factory=dict)


class MissingMode(Record, frozen=True, kw_only=True):
    """A mode without results: it could not run, or found no documents."""

    name: str
    kind: str
    reason: str
    remedy: str  # how to fix it


class PairRecord(Record, frozen=True, kw_only=True):
    """A mode compared with the baseline by one measure."""

    measure: str
    baseline: str
    system: str
    baseline_mean: float | None
    system_mean: float | None
    difference: float | None  # system - baseline
    interval: tuple[float, float] | None  # of the difference
    p: float | None
    p_corrected: float | None
    effect_size: float | None  # the difference in its own standard deviations (Cohen's d_z)
    wins: int
    ties: int
    losses: int
    queries: int
    verdict: str  # better, worse, or no significant difference


class ComparisonRecord(Record, frozen=True, kw_only=True):
    """Every mode compared with the baseline, the first mode."""

    baseline: str
    test: str
    correction: str
    alpha: float
    comparisons: int  # number of comparisons that p values were corrected for
    seed: int
    pairs: tuple[PairRecord, ...]
    notes: tuple[str, ...]


class BestMode(Record, frozen=True, kw_only=True):
    """The mode with the highest mean, and how certain that is."""

    mode: str
    value: float
    not_worse: tuple[str, ...]  # other modes that are not significantly worse; empty if all of them are
    measures_won: dict[str, int]  # mode -> number of measures by which it is the best; ties count for each mode
    words: str
    equal: tuple[str, ...] = ()  # other modes with the same mean; `mode` is the one listed first


class SegmentChoice(Record, frozen=True, kw_only=True):
    """The best mode for one kind of query."""

    segmentation: str  # property that queries are grouped by
    segment: str
    queries: int
    means: dict[str, float | None]  # by mode
    best: tuple[str, ...]  # the best mode, or several that are tied
    few: bool  # too few queries for a reliable choice
    caution: str = ""  # why the choice is weak evidence


class LatencyChoice(Record, frozen=True, kw_only=True):
    """The best of the modes that are fast enough."""

    limit: float  # milliseconds per query
    mode: str | None  # null if no mode is fast enough
    too_slow: tuple[str, ...]
    words: str


class Choice(Record, frozen=True, kw_only=True):
    """Which mode to use."""

    measure: str  # measure that decides: the first one
    overall: BestMode | None  # null if no query has a value, or a higher value is not better
    segments: tuple[SegmentChoice, ...] = ()
    latency: LatencyChoice | None = None  # based on `timing`; null without a limit


class ModeTiming(Record, frozen=True, kw_only=True):
    """The speed of a mode on this machine."""

    milliseconds: float  # median time of a single query, with index and model already open
    p95: float  # 95th percentile, in milliseconds
    passes: tuple[float, ...]  # median of each pass
    queries: int  # queries timed in each pass
    index_seconds: float | None  # null for a mode without an index of its own
    search_seconds: float  # all queries, including opening the index and the model


class BenchmarkReport(Record, frozen=True, kw_only=True):
    """Several search modes on one collection, evaluated and compared."""

    schema: Literal["assay/benchmark/1"] = BENCHMARK_SCHEMA
    experiment: str  # id of its manifest
    created: str  # ISO 8601, UTC
    collection: CollectionRecord
    measures: tuple[str, ...]  # as requested; the first one decides
    best: dict[str, tuple[str, ...]]  # measure -> the best mode, or several that are tied
    depth: int  # documents per query
    modes: tuple[ModeResult, ...]
    missing: tuple[MissingMode, ...]  # modes without results
    comparison: ComparisonRecord | None  # null with a single mode
    choice: Choice
    timing: dict[str, ModeTiming]  # by mode
    targets: str | None  # name of the target profile
    conventions: str  # the rules of the evaluation in words
    findings: tuple[FindingRecord, ...]  # about the collection
    notes: tuple[str, ...]  # caveats for reading the figures
