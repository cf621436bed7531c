"""The record that is kept of a benchmark, as a value. Computes nothing, reads and writes nothing.

All of it but `created`, `experiment`, `timing` and `choice.latency` is the same whenever, and however often interrupted,
the same recipe is run over the same collection.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import field

from assay.records.model import Digest, FindingRecord, Record, Status, TargetResult

BENCHMARK_SCHEMA: Final = "assay/benchmark/1"
BENCHMARK_FILE: Final = "BenchmarkReport.json"


class CollectionRecord(Record, frozen=True, kw_only=True):
    """What was searched, by its content."""

    name: str
    split: str
    documents: int
    queries: int  # that were searched: those with a text and a judgment
    judged: int  # queries with a judgment
    judgments: int
    files: tuple[Digest, ...]  # corpus, queries and judgments


class ModeResult(Record, frozen=True, kw_only=True):
    """One way to search, and what came of it."""

    name: str
    kind: str  # lexical, bm25s, vector, approximate, hybrid
    settings: dict[str, Any]  # all that decides the result
    metrics: dict[str, float | None]  # measure -> mean over the queries
    intervals: dict[str, tuple[float, float] | None]  # of the means
    queries: int  # with at least one document
    documents: int  # rows of the run
    run: Digest  # the run file, from the folder of the report
    report: str  # folder of its evaluation report, from the folder of this one
    complete: bool  # whether nothing stands in the way of trusting its figures
    status: Status | None = None  # of its targets together; None without targets
    # By measure; empty without targets, and where all of them are uplifts over this mode.
    targets: dict[str, TargetResult] = field(default_factory=dict)


class MissingMode(Record, frozen=True, kw_only=True):
    """A mode without figures: it could not run, or found nothing at all."""

    name: str
    kind: str
    reason: str
    remedy: str  # what to do about it


class PairRecord(Record, frozen=True, kw_only=True):
    """A mode against the first one, by one measure."""

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
    """Every mode against the first one."""

    baseline: str
    test: str
    correction: str
    alpha: float
    comparisons: int  # over which p values were corrected
    seed: int
    pairs: tuple[PairRecord, ...]
    notes: tuple[str, ...]


class BestMode(Record, frozen=True, kw_only=True):
    """The mode with the highest mean, and how sure that is."""

    mode: str
    value: float
    not_worse: tuple[str, ...]  # other modes that were not shown to be worse; empty: it is the best beyond chance
    measures_won: dict[str, int]  # mode -> measures by which it is the best; shared places count for each
    words: str
    equal: tuple[str, ...] = ()  # other modes with the very same mean; `mode` is the one that was named first


class SegmentChoice(Record, frozen=True, kw_only=True):
    """The best mode for one kind of query."""

    segmentation: str  # what queries are sorted by
    segment: str
    queries: int
    means: dict[str, float | None]  # by mode
    best: tuple[str, ...]  # one, or several that are equal
    few: bool  # so few queries that the choice is mostly chance
    caution: str = ""  # why it says little by itself


class LatencyChoice(Record, frozen=True, kw_only=True):
    """The best of the modes that are fast enough."""

    limit: float  # milliseconds per query
    mode: str | None  # None: none is fast enough
    too_slow: tuple[str, ...]
    words: str


class Choice(Record, frozen=True, kw_only=True):
    """Which mode to use."""

    measure: str  # that decides: the first one
    overall: BestMode | None  # None where no query has a value, or a higher value is not better
    segments: tuple[SegmentChoice, ...] = ()
    latency: LatencyChoice | None = None  # None without a limit; rests on `timing`


class ModeTiming(Record, frozen=True, kw_only=True):
    """How long a mode takes, on this machine."""

    milliseconds: float  # that a query takes, asked alone with index and model open: the median of all that were timed
    p95: float  # 95 of 100 took at most so many milliseconds
    passes: tuple[float, ...]  # the median of each pass
    queries: int  # that were timed, in each pass
    index_seconds: float | None  # None for what has no index of its own
    search_seconds: float  # all queries together, opening the index and the model included


class BenchmarkReport(Record, frozen=True, kw_only=True):
    """Several ways to search one collection, evaluated and compared."""

    schema: Literal["assay/benchmark/1"] = BENCHMARK_SCHEMA
    experiment: str  # id of the manifest that belongs to it
    created: str  # ISO 8601, UTC
    collection: CollectionRecord
    measures: tuple[str, ...]  # as they were asked for; the first one decides
    best: dict[str, tuple[str, ...]]  # measure -> the best mode, or several that are equal
    depth: int  # documents per query
    modes: tuple[ModeResult, ...]
    missing: tuple[MissingMode, ...]  # modes without figures
    comparison: ComparisonRecord | None  # None with one mode
    choice: Choice
    timing: dict[str, ModeTiming]  # by mode
    targets: str | None  # name of the profile
    conventions: str  # the rules of the evaluation in words
    findings: tuple[FindingRecord, ...]  # about the collection
    notes: tuple[str, ...]  # what must be said beside the figures
