"""What changed between two runs of the same queries, without judgments; with them, what it cost. Prints nothing.

`docs/diffing.md` defines each number. Only the first documents of each ranking are looked at, down to the largest cutoff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.asking import QueriesLike, query_texts
from assay.comparison.agreement import PERSISTENCE, rank_biased_overlaps
from assay.comparison.intervals import (
    CONFIDENCE,
    DRAWS,
    Interval,
    bca_intervals,
    mean_interval,
    percentile_intervals,
)
from assay.comparison.moves import Place
from assay.comparison.paired import check_draws
from assay.comparison.pairs import IntervalKind, SystemScores, higher_is_better
from assay.errors import AssayError, QuerySetError, show_id
from assay.evaluation import Evaluator, Unmatched, checked_threads
from assay.formats.reading import QrelsLike, RunLike
from assay.formats.readings import ColumnNames, Reading, as_queries
from assay.formats.unread import open_run
from assay.heads import Heads, checked_depth, ranks_in, recalls_of
from assay.judgments import Judgments
from assay.marking import OpenedRun, heads_of, likeliest_pair, rewriting_of
from assay.measures import Measure
from assay.measures.arithmetic import within
from assay.native.sums import exact_sum
from assay.secrets import Secrets
from assay.tables import Booleans, Floats, Integers

CUTOFFS = (10, 100)
MEASURES = ("nDCG@10",)


class DiffSettings(Struct, frozen=True):
    """How two runs are compared."""

    cutoffs: tuple[int, ...] = CUTOFFS  # ascending; documents that entered and left are those of the first
    persistence: float = PERSISTENCE  # p of rank-biased overlap
    interval: IntervalKind = "t"
    draws: int = DRAWS  # resamples of a bootstrap interval
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.cutoffs:
            raise AssayError("diffing needs at least one cutoff, such as 10.")
        for cutoff in self.cutoffs:
            checked_depth(cutoff)
        if not isinstance(self.persistence, (int, float)) or not 0 < self.persistence < 1:
            raise AssayError(
                f"persistence cannot be {self.persistence!r}; it takes a number between 0 and 1, such as 0.9."
            )
        if self.interval not in get_args(IntervalKind):
            raise AssayError(f"interval cannot be {self.interval!r}; it takes {', '.join(get_args(IntervalKind))}.")
        check_draws(self.draws, self.seed, usual=DRAWS)

    @property
    def depth(self) -> int:
        """The number of documents that are looked at."""
        return self.cutoffs[-1]


class Spread(Struct, frozen=True):
    """A number of each query, over the queries that have it."""

    mean: float
    interval: Interval | None  # of the mean, 95%; None for fewer than two queries
    median: float
    p5: float  # 5th percentile
    p95: float
    queries: int


class CutoffDiff(Struct, frozen=True):
    """How far the first `cutoff` documents differ, over the queries of both runs."""

    cutoff: int
    overlap: Spread  # share of the documents that both have
    moved: Spread  # share of the ranks that hold another document
    rank_change: Spread | None  # of the documents that both have; None if no query has one
    unchanged: int  # queries with the same documents in the same order
    reordered: int  # queries with the same documents in another order
    entered: int  # documents of all queries
    left: int


class ScoreChange(Struct, frozen=True):
    """Scores of the documents that both runs have in their first documents."""

    documents: int
    different: int  # how many have another score
    largest: float  # the largest difference


class RecallChange(Struct, frozen=True):
    """The share of the first documents of an exact run that each run has among its own first documents."""

    cutoff: int
    first: Spread
    second: Spread
    lost: Spread  # first - second


class Loss(Struct, frozen=True):
    """What the change cost by a measure, over the judged queries."""

    measure: str
    first: float  # mean
    second: float
    lost: Spread  # first - second
    fell: int  # queries whose value is lower in the second run
    rose: int


class Unjudged(Struct, frozen=True):
    """How many of the documents that entered and left have no judgment, in the judged queries. They count as not relevant."""

    entered: int
    entered_unjudged: int
    left: int
    left_unjudged: int


class QueryDiff(Struct, frozen=True):
    """How one query changed. Tuples have a value for each cutoff, `lost` one for each measure."""

    query: str
    overlap: tuple[float, ...]
    moved: tuple[float, ...]
    rank_change: tuple[float | None, ...]  # None without a document in common
    rbo: float
    entered: tuple[Place, ...]  # in the first documents of the smallest cutoff; best first
    left: tuple[Place, ...]
    lost: tuple[float | None, ...] = ()  # None if the query is not judged

    @property
    def changed(self) -> bool:
        """Whether a rank down to the largest cutoff holds another document."""
        return self.moved[-1] > 0


class RunDiff(Struct, frozen=True, eq=False):
    """What changed between two runs: the numbers over all queries, and each query, worst first."""

    first: str  # names of the runs
    second: str
    settings: DiffSettings
    only_first: tuple[str, ...]  # queries that only one run has; they are in no number
    only_second: tuple[str, ...]
    cutoffs: tuple[CutoffDiff, ...]
    rbo: Spread
    scores: ScoreChange
    queries: tuple[QueryDiff, ...]  # of both runs, worst first
    exact: str | None = None
    recalls: tuple[RecallChange, ...] = ()
    losses: tuple[Loss, ...] = ()
    unjudged: Unjudged | None = None
    strangers: tuple[str, str] | None = None  # a document of each run, if they have none in common

    @property
    def identical(self) -> bool:
        """Whether all queries have the same documents at the same ranks, down to the largest cutoff."""
        same_queries = not self.only_first and not self.only_second
        return same_queries and self.cutoffs[-1].unchanged == len(self.queries)

    def per_query(self) -> dict[str, QueryDiff]:
        """The queries of both runs by id, worst first."""
        return {each.query: each for each in self.queries}


def diff_runs(
    first: RunLike,
    second: RunLike,
    *,
    cutoffs: Iterable[int] = CUTOFFS,
    exact: RunLike | None = None,
    qrels: QrelsLike | None = None,
    measures: Iterable[str | Measure] = MEASURES,
    persistence: float = PERSISTENCE,
    interval: IntervalKind = "t",
    draws: int = DRAWS,
    seed: int = 1,
    unmatched: Unmatched = "error",
    columns: ColumnNames | None = None,
    queries: QueriesLike | None = None,
    threads: int | None = None,
) -> RunDiff:
    """Find what changed between two runs, such as those of an index before and after an upgrade.

    Runs are anything that `evaluate` takes. `cutoffs` are the numbers of documents to look at. `exact` is a run of exact
    search: the result then has the recall of both runs against it. With `qrels`, it has what the change cost by the
    `measures`. Documents are ranked by the default rules: by score, then by id.

    >>> before = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 1.0}}
    >>> found = diff_runs(before, {"q1": {"a": 3.0, "c": 2.0, "x": 1.0}, "q2": {"d": 1.0}}, cutoffs=[2])
    >>> found.cutoffs[0].unchanged, found.cutoffs[0].overlap.mean, found.queries[0].query
    (1, 0.75, 'q1')
    >>> [(place.doc, place.after) for place in found.queries[0].entered]
    [('c', 2)]
    """
    settings = DiffSettings(_ascending(cutoffs), persistence, interval, draws, seed)
    reading = Reading(columns=columns or {}, queries=as_queries(query_texts(queries) if queries is not None else {}))
    reading = reading.shared()
    evaluator = None
    if qrels is not None:
        evaluator = Evaluator(qrels, measures, reading=reading, unmatched=unmatched, threads=threads)
    found = diff_opened(
        open_run(first, reading, unnamed="A"),
        open_run(second, reading, unnamed="B"),
        settings,
        exact=None if exact is None else open_run(exact, reading, unnamed="exact"),
        evaluator=evaluator,
        threads=threads,
    )
    reading.refuse_unused()
    return found


def _ascending(cutoffs: Iterable[int]) -> tuple[int, ...]:
    if not isinstance(cutoffs, Iterable):
        raise AssayError(f"cutoffs cannot be {cutoffs!r}; it takes numbers of documents, such as [10, 100].")
    return tuple(sorted({checked_depth(cutoff) for cutoff in cutoffs}))


def diff_opened(
    first: OpenedRun,
    second: OpenedRun,
    settings: DiffSettings = DiffSettings(),
    *,
    exact: OpenedRun | None = None,
    evaluator: Evaluator | None = None,
    threads: int | None = None,
) -> RunDiff:
    """Find what changed between two runs that are open, with a prepared evaluator."""
    threads = checked_threads(threads)
    if evaluator is not None:
        _refuse_what_is_no_mean(evaluator)
    names = names_of(first, second)
    one, other = (heads_of(run, settings.depth, threads=threads) for run in (first, second))
    _refuse_no_query_in_common(one, other, names)
    pair = _paired(one, other)
    losses, lost = _losses(first, second, names, evaluator, settings)
    grades = None if evaluator is None else _Grades(evaluator.judgments)
    entered, left = _changed_places(pair, settings.cutoffs[0], grades)
    table = _query_table(pair, settings)
    worse = -1 if losses and not higher_is_better(losses[0].measure) else 1
    queries = _queries(pair, table, entered, left, lost, worse)
    return RunDiff(
        *names,
        settings,
        only_first=tuple(query for query in one.queries if query not in other.place),
        only_second=tuple(query for query in other.queries if query not in one.place),
        cutoffs=tuple(_cutoff_diff(pair, table, place, settings) for place in range(len(settings.cutoffs))),
        rbo=spread(table.rbo, settings),
        scores=_score_change(pair),
        queries=queries,
        exact=None if exact is None else exact.name,
        recalls=()
        if exact is None
        else _recalls(one, other, heads_of(exact, settings.depth, threads=threads), settings),
        losses=losses,
        unjudged=None if grades is None else _unjudged(queries, grades),
        strangers=None if len(pair.rank) or not len(one.score) or not len(other.score) else _strangers(one, other),
    )


def names_of(first: OpenedRun, second: OpenedRun) -> tuple[str, str]:
    """The names of two runs. Runs are often called the same in two folders, so equal names become paths.

    >>> from assay.tables import Run
    >>> run = Run.from_columns([], [], [], name="bm25", source="old/bm25.run")
    >>> names_of(run, Run.from_columns([], [], [], name="bm25", source="new/bm25.run"))
    ('old/bm25.run', 'new/bm25.run')
    """
    if first.name != second.name:
        return first.name, second.name
    one, other = (Secrets().hide(run.source) for run in (first, second))
    return (one, other) if one != other else (f"{first.name} (A)", f"{second.name} (B)")


_SHARE, _CHANGE_OF_SHARE, _COUNT, _ANY = (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf), (-np.inf, np.inf)


def spread(values: Floats, settings: DiffSettings, bounds: Interval = _SHARE) -> Spread:
    """A number of each query in one value; NaN is left out, and the interval is cut off at the bounds of the number."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Spread(np.nan, None, np.nan, np.nan, np.nan, 0)
    p5, median, p95 = (float(value) for value in np.percentile(known, [5, 50, 95]))
    interval = within(_interval(known, settings), bounds)
    return Spread(exact_sum(known) / len(known), interval, median, p5, p95, len(known))


def _interval(values: Floats, settings: DiffSettings) -> Interval | None:
    if settings.interval == "t":
        return mean_interval(values)
    intervals = percentile_intervals if settings.interval == "percentile" else bca_intervals
    return intervals(values[:, None], CONFIDENCE, draws=settings.draws, seed=settings.seed)[0]


# Both runs side by side


class _Pair(Struct, frozen=True, eq=False):
    """The heads of two runs and the documents that both have. Queries are those of both runs, in byte order."""

    one: Heads
    other: Heads
    queries: tuple[str, ...]
    lengths: tuple[Integers, Integers]  # per query, in each run
    query: Integers  # of each document that both have: its query, ...
    rank: Integers  # ... its rank in the first run ...
    other_rank: Integers  # ... and in the second
    score_change: Floats
    ranks_there: tuple[Integers, Integers]  # for each row of a head: the rank in the other, or 0
    places: tuple[Integers, Integers]  # for each query of a head: which of `queries` it is, or -1


def _paired(one: Heads, other: Heads) -> _Pair:
    queries = tuple(query for query in one.queries if query in other.place)
    rows = [np.array([heads.place[query] for query in queries], np.int64) for heads in (one, other)]
    places = tuple(_places(len(heads.queries), own) for heads, own in zip((one, other), rows, strict=True))
    there = ranks_in(one, other), ranks_in(other, one)
    shared = np.flatnonzero(there[0])
    query = places[0][one.query[shared]]
    other_rank = there[0][shared]
    twin = other.start[rows[1][query]] + other_rank - 1
    return _Pair(
        one,
        other,
        queries,
        (one.lengths[rows[0]], other.lengths[rows[1]]),
        query,
        one.rank[shared],
        other_rank,
        other.score[twin] - one.score[shared],
        there,
        (places[0], places[1]),
    )


def _places(size: int, rows: Integers) -> Integers:
    places = np.full(size, -1)
    places[rows] = np.arange(len(rows))
    return places


class _Table(Struct, frozen=True, eq=False):
    """The numbers of each query: columns by cutoff."""

    overlap: Floats  # (queries, cutoffs)
    moved: Floats
    rank_change: Floats  # NaN without a document in common
    rbo: Floats


def _query_table(pair: _Pair, settings: DiffSettings) -> _Table:
    longest = np.maximum(*pair.lengths)
    deeper = np.maximum(pair.rank, pair.other_rank)
    width = int(longest.max(initial=1))
    shared = _counted(pair.query, deeper, len(pair.queries), width)
    still = pair.rank == pair.other_rank
    same = _counted(pair.query[still], pair.rank[still], len(pair.queries), width)
    change = np.abs(pair.rank - pair.other_rank).astype(np.float64)
    columns: dict[str, list[Floats]] = {"overlap": [], "moved": [], "rank_change": []}
    for cutoff in settings.cutoffs:
        depth = min(cutoff, width)
        size = np.minimum(cutoff, longest)
        near = deeper <= cutoff
        total = np.bincount(pair.query[near], change[near], len(pair.queries))
        columns["overlap"].append(_share(shared[:, depth - 1], size, empty=1.0))
        columns["moved"].append(_share(size - same[:, depth - 1], size, empty=0.0))
        columns["rank_change"].append(_share(total, shared[:, depth - 1], empty=np.nan))
    rbo = rank_biased_overlaps(shared, *pair.lengths, settings.persistence)
    overlap, moved, rank_change = (np.stack(column, axis=1) for column in columns.values())
    return _Table(overlap, moved, rank_change, rbo)


def _counted(query: Integers, depth: Integers, queries: int, width: int) -> Integers:
    """(queries, width): how many of the documents of each query stand within each depth, from 1."""
    counts = np.bincount(query * width + depth - 1, minlength=queries * width).reshape(queries, width)
    return np.cumsum(counts, axis=1, out=counts)


def _share(part: Any, whole: Any, *, empty: float) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(len(whole), empty), where=whole > 0)
    return share


def _cutoff_diff(pair: _Pair, table: _Table, place: int, settings: DiffSettings) -> CutoffDiff:
    cutoff = settings.cutoffs[place]
    moved, overlap, change = table.moved[:, place], table.overlap[:, place], table.rank_change[:, place]
    within = int(np.count_nonzero(np.maximum(pair.rank, pair.other_rank) <= cutoff))
    first, second = (int(np.minimum(lengths, cutoff).sum()) for lengths in pair.lengths)
    return CutoffDiff(
        cutoff,
        spread(overlap, settings),
        spread(moved, settings),
        None if np.isnan(change).all() else spread(change, settings, _COUNT),
        unchanged=int(np.count_nonzero(moved == 0)),
        reordered=int(np.count_nonzero((moved > 0) & (overlap == 1))),
        entered=second - within,
        left=first - within,
    )


def _score_change(pair: _Pair) -> ScoreChange:
    change = np.abs(pair.score_change)
    return ScoreChange(len(change), int(np.count_nonzero(change)), float(change.max(initial=0)))


def _strangers(one: Heads, other: Heads) -> tuple[str, str]:
    """The first document of each run."""
    row = np.zeros(1, np.int64)
    return one.documents_at(row)[0], other.documents_at(row)[0]


def _refuse_no_query_in_common(one: Heads, other: Heads, names: tuple[str, str]) -> None:
    if not one.place.keys().isdisjoint(other.place):
        return
    for heads, name in zip((one, other), names, strict=True):
        if not heads.queries:
            raise QuerySetError(f"run {show_id(name)!r} has no queries; there is nothing to compare.")
    ours, theirs = likeliest_pair(other.queries, one.queries)
    found = rewriting_of(ours, theirs)
    fix = "Check that both runs answer the same queries." if found is None else f"They differ in {found}."
    raise QuerySetError(
        f"no query is in both runs: {show_id(names[0])!r} has {show_id(ours)!r}, {show_id(names[1])!r} has "
        f"{show_id(theirs)!r}. {fix}"
    )


# Documents that entered and left


class _Grades:
    """The grades of documents, by query; dicts are made for the queries that are asked for."""

    def __init__(self, judgments: Judgments) -> None:
        self._judgments = judgments
        self._known: dict[str, dict[str, float]] = {}

    def judged(self, query: str) -> bool:
        """Whether the query has judgments."""
        return query in self._judgments.place

    def of(self, query: str) -> Mapping[str, float]:
        """The grade of each judged document of a query."""
        if query not in self._known:
            self._known[query] = self._read(query)
        return self._known[query]

    def _read(self, query: str) -> dict[str, float]:
        at = self._judgments.place.get(query)
        if at is None:
            return {}
        start = self._judgments.pool.start
        rows = slice(int(start[at]), int(start[at + 1]))
        return dict(zip(self._judgments.doc_list[rows], self._judgments.rel[rows].tolist(), strict=True))


ByQuery = dict[int, list[Place]]  # index of a query -> its documents, best first


def _changed_places(pair: _Pair, cutoff: int, grades: _Grades | None) -> tuple[ByQuery, ByQuery]:
    """The documents that entered the first `cutoff`, and those that left."""

    def outside(heads: Heads, ranks_there: Integers, places: Integers) -> tuple[Integers, Integers]:
        gone = (heads.rank <= cutoff) & ((ranks_there == 0) | (ranks_there > cutoff)) & (places[heads.query] >= 0)
        rows = np.flatnonzero(gone)
        return rows, places[heads.query[rows]]

    def places_of(number: int, make: Callable[[str, int, int | None, float | None], Place]) -> ByQuery:
        heads = (pair.one, pair.other)[number]
        rows, queries = outside(heads, pair.ranks_there[number], pair.places[number])
        found: ByQuery = {}
        ranks, there = heads.rank[rows].tolist(), pair.ranks_there[number][rows].tolist()
        for doc, query, rank, other in zip(heads.documents_at(rows), queries.tolist(), ranks, there, strict=True):
            rel = None if grades is None else grades.of(pair.queries[query]).get(doc)
            found.setdefault(query, []).append(make(doc, rank, other or None, rel))
        return found

    entered = places_of(1, lambda doc, rank, other, rel: Place(doc, other, rank, rel))
    return entered, places_of(0, Place)


def _unjudged(queries: Sequence[QueryDiff], grades: _Grades) -> Unjudged:
    judged = [query for query in queries if grades.judged(query.query)]
    entered = [place.rel is None for query in judged for place in query.entered]
    left = [place.rel is None for query in judged for place in query.left]
    return Unjudged(len(entered), sum(entered), len(left), sum(left))


# Queries


def _queries(
    pair: _Pair,
    table: _Table,
    entered: ByQuery,
    left: ByQuery,
    lost: Mapping[str, tuple[float, ...]],
    worse: int,
) -> tuple[QueryDiff, ...]:
    """Worst first: by what was lost by the first measure, then by overlap at the smallest cutoff, then by RBO.

    `worse` is -1 if more of the measure is worse.
    """
    nothing = (np.nan,) * len(next(iter(lost.values()), ()))
    first_lost = np.array([(lost.get(query, nothing) or (0.0,))[0] for query in pair.queries])
    order = np.lexsort((table.rbo, table.overlap[:, 0], -worse * np.nan_to_num(first_lost)))
    rows = zip(
        order.tolist(),
        table.overlap[order].tolist(),
        table.moved[order].tolist(),
        table.rank_change[order].tolist(),
        table.rbo[order].tolist(),
        strict=True,
    )
    return tuple(
        QueryDiff(
            pair.queries[at],
            tuple(overlap),
            tuple(moved),
            _known(change),
            rbo,
            tuple(entered.get(at, ())),
            tuple(left.get(at, ())),
            _known(lost.get(pair.queries[at], nothing)),
        )
        for at, overlap, moved, change, rbo in rows
    )


def _known(values: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(None if value != value else value for value in values)  # noqa: PLR0124  (NaN is unlike itself)


# An exact run, and judgments


def _recalls(one: Heads, other: Heads, exact: Heads, settings: DiffSettings) -> tuple[RecallChange, ...]:
    if one.place.keys().isdisjoint(exact.place) and other.place.keys().isdisjoint(exact.place):
        raise QuerySetError(
            "the exact run has no query in common with either run. Check that it answers the same queries."
        )
    found = []
    for cutoff in settings.cutoffs:
        first, second = recalls_of(one, exact, cutoff), recalls_of(other, exact, cutoff)
        found.append(
            RecallChange(
                cutoff,
                spread(first, settings),
                spread(second, settings),
                spread(first - second, settings, _CHANGE_OF_SHARE),
            )
        )
    return tuple(found)


def _refuse_what_is_no_mean(evaluator: Evaluator) -> None:
    for request in evaluator.requests:
        definition = request.measure.definition
        if definition.total != "mean":
            raise AssayError(
                f"{show_id(request.label)} is {definition.over_queries}, but what was lost is a mean over queries; use a "
                "measure such as AP."
            )


def _losses(
    first: OpenedRun, second: OpenedRun, names: tuple[str, str], evaluator: Evaluator | None, settings: DiffSettings
) -> tuple[tuple[Loss, ...], dict[str, tuple[float, ...]]]:
    """What each measure lost over all judged queries, and what each query lost by each measure."""
    if evaluator is None:
        return (), {}
    evaluations = [replace(evaluator.evaluate(run), run=name) for run, name in zip((first, second), names, strict=True)]
    scores = SystemScores.from_evaluations(evaluations)
    lost = scores.values[:, :, 0] - scores.values[:, :, 1]
    losses = []
    for number, measure in enumerate(scores.measures):
        known = ~np.isnan(lost[number])
        before, after = (_mean(scores.column(number, side), known) for side in (0, 1))
        fell, rose = (int(np.count_nonzero(sign * lost[number][known] > 0)) for sign in (1, -1))
        losses.append(Loss(measure, before, after, spread(lost[number], settings, _ANY), fell, rose))
    return tuple(losses), dict(zip(scores.queries, map(tuple, lost.T.tolist()), strict=True))


def _mean(values: Floats, chosen: Booleans) -> float:
    return exact_sum(values[chosen]) / int(chosen.sum()) if chosen.any() else np.nan
