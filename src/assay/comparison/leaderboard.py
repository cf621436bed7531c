"""Systems ranked by their means over one or more collections, with how sure the ranks are. Prints nothing.

The first measure ranks the systems; the others are only shown. All systems are compared on the same queries, and each
collection counts equally.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from msgspec import Struct

from assay.asking import Runs, open_several, several_runs
from assay.comparison.comparing import FEW_QUERIES, notes_on_totals
from assay.comparison.intervals import CONFIDENCE, Interval, t_quantile
from assay.comparison.paired import check_draws
from assay.comparison.pairs import SystemScores, higher_is_better, label_of, measure_called
from assay.comparison.rank_intervals import rank_counts, rank_intervals, ranks_of
from assay.comparison.tiers import estimate, significantly_different, tiers_of
from assay.errors import AssayError, InputError, show_id, some_of
from assay.evaluation import DEFAULT_MEASURES, Evaluation, Evaluator, Unmatched
from assay.formats.reading import QrelsLike
from assay.formats.readings import ColumnNames, Reading
from assay.inputs.scores import ScoresLike, as_scores
from assay.measures import Measure
from assay.measures.arithmetic import within
from assay.native.sums import exact_sum
from assay.rules import Rules
from assay.showing import Charted
from assay.tables import Booleans, Floats
from assay.words import number_of, plural

Resample = Literal["queries", "collections"]
Incomplete = Literal["error", "leave-out"]
# Judgments and runs by the name of their collection.
Collections: TypeAlias = Mapping[str, tuple[QrelsLike, Runs]]
DRAWS = 2_000
FEWEST_FOR_RANKS = 25  # queries: with fewer, rank intervals hold the true rank less often than they say
FEWEST_COLLECTIONS = 5  # that can be resampled: fewer have hardly any different resamples


class Method(Struct, frozen=True):
    """How a leaderboard estimates ranks and tiers."""

    draws: int = DRAWS
    seed: int = 1
    alpha: float = 0.05  # of the tiers
    resample: Resample = "queries"

    def __post_init__(self) -> None:
        check_draws(self.draws, self.seed, usual=DRAWS)
        if not 0 < self.alpha < 1:
            raise AssayError(f"alpha cannot be {self.alpha!r}; it takes a number between 0 and 1, such as 0.05.")
        if self.resample not in get_args(Resample):
            raise AssayError(f"resample cannot be {self.resample!r}; it takes {', '.join(get_args(Resample))}.")


class CollectionSize(Struct, frozen=True):
    """A collection and the number of queries that all systems have in it, by the first measure."""

    name: str  # empty for a single one
    queries: int


class LeftOut(Struct, frozen=True):
    """A system that is not ranked, and the collections that it lacks."""

    system: str
    lacks: tuple[str, ...]


class Standing(Struct, frozen=True, kw_only=True):
    """One system of a leaderboard."""

    rank: int  # systems with equal means share the best of their ranks
    system: str
    mean: float  # by the first measure
    interval: Interval | None  # 95%, of the mean, within the bounds of the measure; None for fewer than two queries
    rank_interval: tuple[int, int]  # 95%
    tier: int
    means: dict[str, float]  # by each measure
    by_collection: dict[str, dict[str, float]]  # means within each collection; empty for a single one without a name


class Leaderboard(Charted, Struct, frozen=True, eq=False):
    """Systems from the best to the worst by the first measure."""

    measures: tuple[str, ...]
    collections: tuple[CollectionSize, ...]
    standings: tuple[Standing, ...]
    left_out: tuple[LeftOut, ...]
    method: Method
    rules: Rules | None  # None for a table of values
    like: str | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        first = ", ".join(f"{each.rank}. {each.system!r} {each.mean:.4f}" for each in self.standings[:3])
        return f"<Leaderboard of {number_of(len(self.standings), 'system')} by {self.measures[0]}: {first}>"

    def __getitem__(self, measure: str | Measure) -> dict[str, float]:
        """The mean of each system by a measure, under any of its names; systems from the best to the worst."""
        label = label_of(measure, self.measures)
        return {each.system: each.means[label] for each in self.standings}

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.standings)

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the systems in each tier, best first."""
        tiers: dict[int, list[str]] = {}
        for each in self.standings:
            tiers.setdefault(each.tier, []).append(each.system)
        return tuple(tuple(tiers[number]) for number in sorted(tiers))


def leaderboard(
    qrels: QrelsLike,
    runs: Runs,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    draws: int = DRAWS,
    seed: int = 1,
    alpha: float = 0.05,
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    unmatched: Unmatched = "error",
    columns: ColumnNames | None = None,
) -> Leaderboard:
    """Rank runs by the first measure, with an interval for each rank, and group them into tiers.

    `runs` is a dict by name or a list, with anything that `evaluate` takes. A rank interval is the middle 95% of the
    system's ranks in `draws` resamples of the queries. A tier is the best system not placed yet and all that are not
    significantly worse at `alpha`, corrected over all pairs of systems (docs/leaderboard.md).

    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    >>> good = {"q1": {"a": 2.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0}}
    >>> poor = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q3": {"c": 1.0}}
    >>> found = leaderboard(qrels, {"poor": poor, "good": good}, ["RR"])
    >>> [(each.rank, each.system, each.rank_interval) for each in found.standings]
    [(1, 'good', (1, 1)), (2, 'poor', (1, 2))]
    """
    method = Method(draws, seed, alpha)
    reading = Reading(columns=columns or {}).shared()
    evaluations = _evaluated(qrels, runs, measures, rules, like, unmatched, reading)
    reading.refuse_unused()
    return leaderboard_of({"": evaluations}, method)


def leaderboard_collections(
    collections: Collections,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    resample: Resample = "queries",
    incomplete: Incomplete = "error",
    draws: int = DRAWS,
    seed: int = 1,
    alpha: float = 0.05,
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    unmatched: Unmatched = "error",
    columns: ColumnNames | None = None,
) -> Leaderboard:
    """Rank systems over several collections: {name: (qrels, runs)}, where runs with the same name are one system.

    A system's mean is the mean of its means, so each collection counts equally. `resample="collections"` resamples
    collections instead of the queries within them, to know how ranks would change with other collections of this kind;
    it takes at least 5. A system without a run in a collection is an error; `incomplete="leave-out"` leaves it out.

    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> good, poor = {"q1": ["a"], "q2": ["b"]}, {"q1": ["x", "a"], "q2": ["x", "b"]}
    >>> runs = {"good": good, "poor": poor}
    >>> found = leaderboard_collections({"web": (qrels, runs), "news": (qrels, runs)}, ["RR"])
    >>> [(each.system, each.mean) for each in found.standings]
    [('good', 1.0), ('poor', 0.5)]
    """
    method = Method(draws, seed, alpha, resample)
    reading = Reading(columns=columns or {}).shared()
    asked = list(measures)
    evaluations = {}
    for name, (qrels, runs) in collections.items():
        try:
            evaluations[name] = _evaluated(qrels, runs, asked, rules, like, unmatched, reading)
        except AssayError as error:
            raise in_collection(name, error) from error
    reading.refuse_unused()
    return leaderboard_of(evaluations, method, incomplete=incomplete)


def in_collection(name: str, error: AssayError) -> InputError:
    """The error with the collection where it happened."""
    return InputError(f"collection {show_id(name)}: {error}")


def leaderboard_scores(
    scores: ScoresLike | SystemScores, *, draws: int = DRAWS, seed: int = 1, alpha: float = 0.05
) -> Leaderboard:
    """Rank systems by a table of values, one for each system and query, from any tool; higher values are better.

    `scores` is a table as `compare_scores` takes it. A query that a system lacks is left out for all of them.

    >>> bm25, hybrid = {"1": 0.4, "2": 0.3, "3": 0.5, "4": 0.2}, {"1": 0.9, "2": 0.5, "3": 0.8, "4": 0.6}
    >>> found = leaderboard_scores({"bm25": bm25, "hybrid": hybrid})
    >>> found, found.tiers
    (<Leaderboard of 2 systems by score: 1. 'hybrid' 0.7000, 2. 'bm25' 0.3500>, (('hybrid',), ('bm25',)))
    """
    if not isinstance(scores, SystemScores):
        table = as_scores(scores)
        scores = SystemScores(table.systems, table.queries, ("score",), table.values[None])
    return _ranked({"": scores}, Method(draws, seed, alpha))


def leaderboard_of(
    evaluations: Mapping[str, Sequence[Evaluation]], method: Method, *, incomplete: Incomplete = "error"
) -> Leaderboard:
    """Rank evaluated runs, given by the name of their collection."""
    if not evaluations:
        raise AssayError("there are no collections to rank systems over.")
    kept, left_out = _complete(evaluations, incomplete)
    scores = {name: SystemScores.from_evaluations(found) for name, found in kept.items()}
    first = next(iter(kept.values()))[0]
    return _ranked(scores, method, left_out, first.rules, first.like, tuple(_notes_on_coverage(kept)))


def _evaluated(
    qrels: QrelsLike,
    runs: Runs,
    measures: Iterable[str | Measure],
    rules: Rules | Mapping[str, Any],
    like: str,
    unmatched: Unmatched,
    reading: Reading,
) -> list[Evaluation]:
    evaluator = Evaluator(qrels, measures, rules, like=like, reading=reading, unmatched=unmatched)
    return [evaluator.evaluate(run) for run in open_several(several_runs(runs), evaluator.judgments.queries, reading)]


def _complete(
    evaluations: Mapping[str, Sequence[Evaluation]], incomplete: Incomplete
) -> tuple[dict[str, list[Evaluation]], tuple[LeftOut, ...]]:
    """The systems that all collections have, in the same order, and those left out."""
    if incomplete not in get_args(Incomplete):
        raise AssayError(f"incomplete cannot be {incomplete!r}; it takes {', '.join(get_args(Incomplete))}.")
    by_name = {name: {each.run: each for each in found} for name, found in evaluations.items()}
    systems = list(dict.fromkeys(system for found in by_name.values() for system in found))
    lacks = {system: tuple(name for name, found in by_name.items() if system not in found) for system in systems}
    left_out = tuple(LeftOut(system, names) for system, names in lacks.items() if names)
    if left_out and incomplete == "error":
        first, *others = left_out
        more = f", and {plural('{count} {other system lacks|other systems lack}', len(others))} one" if others else ""
        raise InputError(
            f"{show_id(first.system)!r} has no run in {_named(first.lacks)}{more}. A mean over fewer collections is not "
            "comparable: add the runs, or leave such systems out with `incomplete='leave-out'`."
        )
    kept = [system for system in systems if not lacks[system]]
    if not systems:
        raise InputError("a leaderboard needs runs: give at least two.")
    if not kept:
        raise InputError(f"no system has a run in all of {_named(tuple(by_name))}.")
    return {name: [found[system] for system in kept] for name, found in by_name.items()}, left_out


def _named(collections: Sequence[str]) -> str:
    return ("collection " if len(collections) == 1 else "collections ") + some_of(collections)


def _ranked(
    scores: Mapping[str, SystemScores],
    method: Method,
    left_out: tuple[LeftOut, ...] = (),
    rules: Rules | None = None,
    like: str | None = None,
    notes: tuple[str, ...] = (),
) -> Leaderboard:
    """The leaderboard of the same systems in each collection."""
    first = next(iter(scores.values()))
    _check(first, method, len(scores))
    tables = [_common(name, found) for name, found in scores.items()]
    means = np.array([[_means(table) for table in of_measures] for of_measures in tables])
    overall = means.mean(axis=0)  # (measures, systems)
    samples = [of_measures[0] for of_measures in tables] if method.resample == "queries" else [means[:, 0]]
    counts = rank_counts(samples, method.draws, method.seed)
    ranks = ranks_of(overall[0][:, None])[:, 0]
    ends = rank_intervals(counts).tolist()
    if min(map(len, samples)) == 1:  # resamples of one query are all the same, which says nothing of others
        ends = [[1, len(ends)]] * len(ends)
    tiers = tiers_of(overall[0], significantly_different(samples, method.alpha))
    intervals = _intervals(samples, first.measures[0])
    standings = [
        Standing(
            rank=int(ranks[at]),
            system=first.systems[at],
            mean=float(overall[0, at]),
            interval=intervals[at],
            rank_interval=(min(ends[at][0], int(ranks[at])), max(ends[at][1], int(ranks[at]))),
            tier=int(tiers[at]),
            means=dict(zip(first.measures, overall[:, at].tolist(), strict=True)),
            by_collection={
                name: dict(zip(first.measures, of_measures[:, at].tolist(), strict=True))
                for name, of_measures in zip(scores, means, strict=True)
                if name
            },
        )
        for at in np.argsort(ranks, kind="stable").tolist()
    ]
    return Leaderboard(
        measures=first.measures,
        collections=tuple(CollectionSize(name, len(of[0])) for name, of in zip(scores, tables, strict=True)),
        standings=tuple(standings),
        left_out=left_out,
        method=method,
        rules=rules,
        like=like,
        notes=(*notes, *_notes(scores, tables, method)),
    )


def _check(scores: SystemScores, method: Method, collections: int) -> None:
    """Refuse what cannot be ranked."""
    if len(scores.systems) < 2:
        raise AssayError("a leaderboard needs at least two systems.")
    if not higher_is_better(scores.measures[0]):
        raise AssayError(
            f"{scores.measures[0]} cannot rank systems, since a higher value is not better; put another measure first."
        )
    if method.resample == "collections" and collections < FEWEST_COLLECTIONS:
        raise AssayError(
            f"resampling collections takes at least {FEWEST_COLLECTIONS} of them, and there {plural('{is|are}', collections)} "
            f"{collections}; use `resample='queries'`."
        )


def _common(name: str, scores: SystemScores) -> list[Floats]:
    """For each measure, the values of the queries that all systems have: (queries, systems)."""
    tables = []
    for label, table in zip(scores.measures, scores.values, strict=True):
        common = table[_has_all(table)]
        if not len(common):
            place = f" in collection {show_id(name)}" if name else ""
            raise InputError(
                f"no query{place} has a value of {label} for every system, so their means cannot be compared."
            )
        tables.append(common)
    return tables


def _has_all(table: Floats) -> Booleans:
    """The queries that every system has a value for."""
    return np.asarray(~np.isnan(table).any(axis=1), np.bool_)


def _means(table: Floats) -> list[float]:
    """The mean of each system, exactly rounded as in an evaluation."""
    return [exact_sum(np.ascontiguousarray(column)) / len(column) for column in table.T]


def _intervals(samples: Sequence[Floats], label: str) -> list[Interval | None]:
    """The t interval of each system's mean; None if a sample has fewer than two rows."""
    measure = measure_called(label)
    bounds = None if measure is None else measure.definition.bounds
    found = estimate(samples)
    intervals: list[Interval | None] = []
    for mean, error, degrees in zip(found.mean.tolist(), found.error.tolist(), found.degrees.tolist(), strict=True):
        if math.isnan(error):
            intervals.append(None)
        else:
            half = t_quantile(degrees, (1 + CONFIDENCE) / 2) * error if error > 0 else 0.0
            intervals.append(within((mean - half, mean + half), bounds))
    return intervals


def _notes(scores: Mapping[str, SystemScores], tables: Sequence[Sequence[Floats]], method: Method) -> Iterator[str]:
    """Caveats that depend on the values."""
    first = next(iter(scores.values()))
    for (name, found), of_measures in zip(scores.items(), tables, strict=True):
        place = f"{show_id(name)}: " if name else ""
        with_one = "with" if name else "With"
        known = int((~np.isnan(found.values[0]).all(axis=1)).sum())
        if lost := known - len(of_measures[0]):
            said = plural(
                "{count} {query is|queries are} left out for all systems, since one or more have no value", lost
            )
            yield f"{place}{said}."
        if method.resample == "queries" and len(of_measures[0]) < 2:
            yield f"{place}{with_one} a single query no mean has an interval, and no difference can be significant."
    queries = sum(len(of_measures[0]) for of_measures in tables)
    if method.resample == "queries" and queries < FEW_QUERIES and queries > len(tables):
        narrow = ", and rank intervals are too narrow" if queries < FEWEST_FOR_RANKS else ""
        yield f"With {queries} queries (fewer than {FEW_QUERIES}) only large differences can be significant{narrow}."
    yield from notes_on_totals(first)


def _notes_on_coverage(evaluations: Mapping[str, Sequence[Evaluation]]) -> Iterator[str]:
    """Systems that lack judged queries, which lowers their means."""
    for name, found in evaluations.items():
        lacking = {each.run: len(each.coverage.missing) for each in found if each.coverage.missing}
        if lacking:
            place = f"{show_id(name)}: " if name else ""
            worst = sorted(lacking, key=lambda run: -lacking[run])
            named = some_of([f"{show_id(run)} {lacking[run]:,}" for run in worst])
            counts = " and count as 0" if found[0].rules.queries == "judged" else ""
            lack = plural("{count} {system lacks|systems lack}", len(lacking))
            yield f"{place}{lack} judged queries, which are missing from {plural('{its run|their runs}', len(lacking))}{counts} ({named})."
