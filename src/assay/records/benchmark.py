"""The record of a benchmark, as a plain value. Computes nothing, reads and writes nothing.

The same recipe and collection always give the same record, even after interruptions, except for `created`,
`experiment`, `timing` and `choice.latency`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import field

from assay.comparison.pairs import label_of
from assay.errors import show_id
from assay.measures import Measure
from assay.records.model import Digest, FindingRecord, Record, Status, TargetResult
from assay.showing import Charted
from assay.words import number_of

BENCHMARK_SCHEMA: Final = "assay/benchmark/1"
BENCHMARK_FILE: Final = "BenchmarkReport.json"

StageVerdict = Literal["", "helped", "hurt", "mixed", "no significant difference", "order from repair"]


class CollectionRecord(Record, frozen=True, kw_only=True):
    """The collection that was searched, identified by content."""

    name: str
    split: str
    documents: int
    queries: int  # queries searched: those with a text and a judgment
    judged: int  # queries with a judgment
    judgments: int
    files: tuple[Digest, ...]  # corpus, queries and judgments


class RecallRecord(Record, frozen=True, kw_only=True):
    """How many of the best documents of exact search approximate search finds, as shares of one."""

    depth: int
    queries: int  # a sample, if there are many
    mean: float
    p5: float  # 5th percentile over the queries: 95 % of them find at least this share


class WorkRecord(Record, frozen=True, kw_only=True):
    """What a reranker did for all queries together."""

    documents: int  # read by the reranker
    requests: int  # questions to a language model, including those answered from the cache
    tokens_in: int
    tokens_out: int
    cost: float  # in the currency of the recipe's prices
    windows: int  # orders that were asked for
    repaired: int  # of them, those whose answer had to be repaired


class ModeResult(Record, frozen=True, kw_only=True):
    """One search mode and its results."""

    name: str
    kind: str  # lexical, vector, hybrid, cross-encoder, ...
    settings: dict[str, Any]  # everything that affects the result
    metrics: dict[str, float | None]  # measure -> mean over the queries
    intervals: dict[str, tuple[float, float] | None]  # of the means
    queries: int  # queries with at least one document
    documents: int  # rows of the run
    run: Digest  # run file, relative to the folder of the report
    report: str  # folder of its evaluation report, relative to this one
    complete: bool  # false if something makes its figures unreliable
    inputs: tuple[str, ...] = ()  # modes whose runs it takes
    deterministic: bool = True  # false if it may give another run the next time
    work: WorkRecord | None = None  # null for a mode that reranks nothing
    exact_recall: tuple[RecallRecord, ...] = ()  # by depth; empty unless the search is approximate
    order_from_repair: bool = False  # most of its orders had to be repaired, so its figures say nothing about it
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
    interval: tuple[float, float] | None  # of the difference, as wide as the corrected p asks; null without spread
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
    comparisons: int  # by the first measure, that its p values were corrected for; other measures are corrected apart
    seed: int
    pairs: tuple[PairRecord, ...]
    notes: tuple[str, ...]


class Ceiling(Record, frozen=True, kw_only=True):
    """How far a reranker could have come with the documents it was given, and how far it came."""

    measure: str
    value: float  # of the best order of these documents
    before: float  # of the order it was given
    share: float | None  # of the way from there to the ceiling; negative if it went back; null without a way to go


class RelevantRecord(Record, frozen=True, kw_only=True):
    """How many relevant documents there are, over all queries, and how many of them are left at a stage."""

    judged: int  # in the judgments
    depth: int  # documents per query that a reranker is given, or that a retriever may hand on
    candidates: int  # relevant ones among them
    top_ten: int  # relevant ones in its first ten


class PerQuery(Record, frozen=True, kw_only=True):
    """What a reranker takes for one query, on average."""

    documents: float
    tokens_in: float
    tokens_out: float
    cost: float  # in the currency of the recipe's prices


class MovedQuery(Record, frozen=True, kw_only=True):
    """A query that a stage made much better or much worse."""

    query: str
    text: str
    before: float  # value of the stage before
    after: float


class StageRecord(Record, frozen=True, kw_only=True):
    """A mode that stands on others, or that others stand on, and what it adds to the stage before it."""

    name: str
    kind: str
    role: str  # retriever, fusion, reranker or run
    inputs: tuple[str, ...]  # modes it stands on
    metrics: dict[str, float | None]  # measure -> mean; the same measures at each stage
    matters: tuple[str, ...]  # measures that matter at this stage, the one that decides first
    differences: tuple[PairRecord, ...]  # from the stage before: the best of its inputs by that measure
    ceiling: Ceiling | None  # null for a mode that reranks nothing
    relevant: RelevantRecord
    labels: dict[str, float]  # label -> share of the documents in the first ten; best label first, "unjudged" last
    per_query: PerQuery | None  # null for a mode that reranks nothing
    rescued: tuple[MovedQuery, ...]  # largest gain first
    ruined: tuple[MovedQuery, ...]  # largest loss first
    order_from_repair: bool
    verdict: StageVerdict  # empty for a mode that stands on nothing
    words: str  # what it adds, as a sentence; without the time it takes
    work: WorkRecord | None = None  # null for a mode that reranks nothing


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

    milliseconds: (
        float  # median time of a single query, with index and model already open, and of the modes it stands on
    )
    p95: float  # 95th percentile, in milliseconds
    passes: tuple[float, ...]  # median of each pass; all the same if `once`
    own: float  # median time of the mode itself, without the modes it stands on
    queries: int  # queries timed in each pass
    index_seconds: float | None  # null for a mode without an index of its own
    search_seconds: float  # all queries, including opening the index and the model
    once: bool = False  # each query was timed once, as the run was made
    unknown: tuple[str, ...] = ()  # modes it stands on whose times are not known, such as run files


class BenchmarkReport(Charted, Record, frozen=True, kw_only=True):
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
    stages: tuple[StageRecord, ...] = ()  # each after those it stands on; empty if no mode stands on another
    timing: dict[str, ModeTiming]  # by mode; also of stages that are not among the modes
    targets: str | None  # name of the target profile
    conventions: str  # the rules of the evaluation in words
    findings: tuple[FindingRecord, ...]  # about the collection
    notes: tuple[str, ...]  # caveats for reading the figures

    def __getitem__(self, measure: str | Measure) -> dict[str, float | None]:
        """The mean of each mode by a measure, under any of its names."""
        label = label_of(measure, self.measures)
        return {mode.name: mode.metrics.get(label) for mode in self.modes}

    def __iter__(self) -> Iterator[ModeResult]:
        return iter(self.modes)

    def __repr__(self) -> str:
        modes, queries = number_of(len(self.modes), "mode"), number_of(self.collection.queries, "query")
        best = ", ".join(map(show_id, self.best.get(self.choice.measure, ())[:3]))
        by = f"; best by {show_id(self.choice.measure)}: {best}" if best else ""
        return f"<BenchmarkReport of {show_id(self.collection.name)!r}: {modes}, {queries}{by}>"
