"""Ranked lists given by the grades of their results, and their values for any measure.

Neither the lists nor their judgments have ids: a list becomes a `JudgedRanking` directly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from assay.arrays import starts
from assay.errors import AssayError, InputError, ParameterError
from assay.judged import JudgedRanking
from assay.judgments import Pool
from assay.measures import Definition, Measure, definitions
from assay.measures.explain import EXAMPLE_SETTING
from assay.tables import Floats, Integers, Qrels, Run, as_ids
from assay.topics import JudgedTopics, judge_topics

Grade: TypeAlias = float | None  # None: not judged
Covers: TypeAlias = tuple[str, ...] | None  # subtopics that a result is relevant to; None: not judged


class GradedList(Struct, frozen=True):
    """A ranked list given by the grades of its results, best first, and the grades of the judged documents it misses.

    >>> str(GradedList((3, None, 0), missed=(1,)).grades)
    '(3, None, 0)'
    """

    grades: tuple[Grade, ...]
    missed: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.grades)


class TopicList(Struct, frozen=True):
    """A ranked list given by the subtopics that each result is relevant to, and those of the judged documents it misses.

    A result without subtopics, (), is judged not relevant.
    """

    covers: tuple[Covers, ...]
    missed: tuple[tuple[str, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.covers)


class Values(Struct, frozen=True, eq=False):
    """The values of lists for measures; NaN where a measure cannot be computed."""

    table: Floats  # (lists, measures)
    problems: dict[Measure, str]  # why a measure cannot be computed, for the first list with this problem


def values(lists: Sequence[GradedList], measures: Sequence[Measure]) -> Values:
    """The values of each list on its own: those that `assay.score` gives for such a ranking and judgments.

    The lists do not affect one another: each has its own scale of grades.

    >>> from assay.measures import parse_measures
    >>> measures = [request.measure for request in parse_measures(["P@2", "RR"])]
    >>> values([GradedList((0, 1)), GradedList((None,))], measures).table.tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    if not lists:
        return Values(np.zeros((0, len(measures))), {})
    ranking = judged(lists)
    mixed = len(np.unique(_top_grades(ranking))) > 1
    return _values(_Batch(np.arange(len(lists)), _Unscaled(**asdict(ranking)) if mixed else ranking), measures)


def topic_values(lists: Sequence[TopicList], measures: Sequence[Measure]) -> Values:
    """The values of lists given by subtopics, also for measures that do not use subtopics.

    >>> from assay.measures import parse_measure
    >>> topic_values([TopicList((("1",), ("1",)), missed=(("2",),))], [parse_measure("StRecall@2")]).table.tolist()
    [[0.5]]
    """
    if not lists:
        return Values(np.zeros((0, len(measures))), {})
    return _values(_Batch(np.arange(len(lists)), judged_topics(lists)), measures)


# From lists to rankings


def judged(lists: Sequence[GradedList]) -> JudgedRanking:
    """The lists as a ranking with one query for each, in their order; the highest grade is that of all lists.

    >>> judged([GradedList((3, None, 0)), GradedList((), missed=(1,))]).hit_rank.tolist()
    [1, 3]
    """
    length = np.fromiter(map(len, lists), np.int64, len(lists))
    query = np.repeat(np.arange(len(lists)), length)
    rank = np.arange(1, len(query) + 1) - starts(length)[query]
    grade = np.array(list(chain.from_iterable(ranked.grades for ranked in lists)), np.float64)
    unjudged = np.isnan(grade)
    if unjudged.any():  # NumPy reads None as nan, which is not a grade
        _refuse_unless(unjudged.sum() == sum(ranked.grades.count(None) for ranked in lists), grade)
        query, rank, grade = query[~unjudged], rank[~unjudged], grade[~unjudged]
    number_missed = np.fromiter((len(ranked.missed) for ranked in lists), np.int64, len(lists))
    missed = np.array(list(chain.from_iterable(ranked.missed for ranked in lists)), np.float64)
    all_grades = np.concatenate((grade, missed))
    _refuse_unless(bool(np.isfinite(all_grades).all()), all_grades)
    return JudgedRanking(
        queries=query_names(len(lists)),
        retrieved=length,
        hit_query=query,
        hit_rank=rank,
        hit_rel=grade,
        hit_tie_first=rank,
        hit_tie_last=rank,
        hit_judgment=np.arange(len(query)) + starts(number_missed)[query],
        pool=_pool(np.concatenate((query, np.repeat(np.arange(len(lists)), number_missed))), all_grades, len(lists)),
        top_grade=float(all_grades.max(initial=0)),
        stray_query=_NONE,
        stray_rank=_NONE,
    )


_NONE = np.zeros(0, np.int64)  # no document is judged only for another query


def _refuse_unless(known: bool, grades: Floats) -> None:
    if not known:
        grade = grades[~np.isfinite(grades)][0]
        raise InputError(f"grade {grade:g} is not a finite number; use None for a result that was not judged.")


def query_names(count: int) -> tuple[str, ...]:
    """Names of queries with the same order as numbers and as text."""
    digits = len(str(max(count - 1, 0)))
    return tuple([f"{number:0{digits}}" for number in range(count)])


def _pool(query: Integers, grade: Floats, queries: int) -> Pool:
    return Pool(grade[np.lexsort((-grade, query))], starts(np.bincount(query, minlength=queries)))


def judged_topics(lists: Sequence[TopicList]) -> JudgedTopics:
    """The lists as rankings judged by subtopic, one query for each."""
    names = query_names(len(lists))
    judgments = [
        (place, f"{number:06}", subtopic, float(bool(covers)))
        for place, ranked in enumerate(lists)
        for number, covers in enumerate((*ranked.covers, *ranked.missed))
        if covers is not None
        for subtopic in dict.fromkeys(covers or _NOT_RELEVANT)
    ]
    results = [(place, f"{number:06}", -number) for place, ranked in enumerate(lists) for number in range(len(ranked))]
    query, docs, subtopics, grades = zip(*judgments, strict=True) if judgments else ((),) * 4
    qrels = Qrels(names, np.array(query, np.int64), as_ids(docs), np.array(grades, np.float64), as_ids(subtopics))
    query, docs, scores = zip(*results, strict=True) if results else ((),) * 3
    run = Run(names, np.array(query, np.int64), as_ids(docs), np.array(scores, np.float64))
    return judge_topics(qrels, run, strays=True)


_NOT_RELEVANT = ("0",)  # a document without subtopics has grade 0 for this one: only relevant documents make a subtopic


# From rankings to values


class _AnotherScale(AssayError):
    """A measure needs the highest grade, which is not the same for all lists."""


class _Unscaled(JudgedRanking, frozen=True, eq=False):
    """Rankings with different highest grades: measures that ask for it are evaluated for each grade separately."""

    @property  # type: ignore[misc]  # a field of other rankings
    def top_grade(self) -> float:
        raise _AnotherScale


class _Batch(Struct, frozen=True, eq=False, dict=True):
    """Some of the lists, evaluated together."""

    place: Integers
    ranking: JudgedRanking | JudgedTopics

    @cached_property
    def parts(self) -> list[_Batch]:
        """The lists of each highest grade, or if they already share it, each list."""
        ranking = self.ranking
        if not isinstance(ranking, _Unscaled):
            return [_Batch(self.place[[n]], ranking.select(np.array([n]))) for n in range(len(ranking))]
        top = _top_grades(ranking)
        chosen = [(np.flatnonzero(top == grade), float(grade)) for grade in np.unique(top)]
        return [_Batch(self.place[some], _scaled(ranking.select(some), grade)) for some, grade in chosen]


def _scaled(ranking: JudgedRanking, top_grade: float) -> JudgedRanking:
    return JudgedRanking(**asdict(ranking) | {"top_grade": top_grade})


def _top_grades(ranking: JudgedRanking) -> Floats:
    """The highest grade of each query, at least 0."""
    top, pool = np.zeros(len(ranking)), ranking.pool
    filled = np.diff(pool.start) > 0
    top[filled] = np.maximum(pool.grade[pool.start[:-1][filled]], 0.0)
    return top


def _values(batch: _Batch, measures: Sequence[Measure]) -> Values:
    table = np.full((len(batch.place), len(measures)), np.nan)
    problems = {}
    for column, measure in enumerate(measures):
        refused: dict[int, str] = {}
        for place, found in _found(batch, measure):
            if isinstance(found, str):
                refused[int(place[0])] = found
            else:
                table[place, column] = found
        if refused:
            problems[measure] = refused[min(refused)]
    return Values(table, problems)


def _found(batch: _Batch, measure: Measure) -> Iterator[tuple[Integers, Floats | str]]:
    """Places with their values; a place alone with its problem."""
    try:
        found: Floats | str = measure.values(batch.ranking)
    except AssayError as error:
        if len(batch.place) > 1:
            yield from chain.from_iterable(_found(part, measure) for part in batch.parts)
            return
        found = str(error)
    yield batch.place, found


# Measures


KNOWN_BEST = ("P", "R", "F", "RR", "Success", "AP", "nDCG", "DCG", "ERR", "RBP")  # shown first
COUNTS_LISTS = {"NumQ"}  # 1 for any list


def measures_for(cutoff: int, gain: str | Mapping[float, float] = "linear", rel: float = 1) -> list[Measure]:
    """Every measure of a single list, with these parameters where it takes them; those that people know best first.

    Where a measure can do without the cutoff or the lowest relevant grade, it is there with and without. Measures by
    subtopic are left out, and so are those that only differ from others over many queries, such as GMAP.

    >>> [str(measure) for measure in measures_for(5)[:7]]
    ['P@5', 'R@5', 'F@5', 'RR@5', 'RR', 'Success@5', 'AP@5']
    >>> [str(measure) for measure in measures_for(5, gain="exp", rel=2)[:3]]
    ['P(rel=2)@5', 'R(rel=2)@5', 'F(rel=2)@5']
    """
    given = {"cutoff": cutoff, "gain": gain, "rel": rel}
    Measure("P")(cutoff=cutoff, rel=rel), Measure("DCG")(gain=gain)  # raise an error for values that no measure takes
    place = {name: number for number, name in enumerate(KNOWN_BEST)}
    known = sorted(definitions(), key=lambda definition: place.get(definition.name, len(place)))
    return [measure for definition in known for measure in _with(definition, given)]


def _with(definition: Definition, given: Mapping[str, Any]) -> list[Measure]:
    """The measure with the given parameters that it takes, and without those that it does not need."""
    if definition.needs == "topics" or definition.total == "geometric" or definition.name in COUNTS_LISTS:
        return []
    example = {name: EXAMPLE_SETTING[name] for name in definition.required if name in EXAMPLE_SETTING}
    setting = example | {name: value for name, value in given.items() if name in definition.takes}
    without = [
        (value, None) if definition.defaults.get(name, ...) is None else (value,) for name, value in setting.items()
    ]
    try:
        return [
            Measure(definition.name)(**dict(zip(setting, some, strict=True))).complete() for some in product(*without)
        ]
    except ParameterError:  # a plug-in with a parameter of its own that has no default, or other limits for these
        return []
