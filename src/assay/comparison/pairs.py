"""What is compared and what comes out for a pair of systems: differences with intervals, corrected tests, a verdict.

Reads no files and prints nothing. Difference = system - baseline, always, and systems are paired by query id.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from assay.comparison.corrections import corrected_p
from assay.comparison.effects import effect
from assay.comparison.equivalence import equivalence
from assay.comparison.intervals import CONFIDENCE, Interval, bca_intervals, mean_interval, percentile_intervals
from assay.comparison.paired import Alternative, PairedOptions, Significance, difference_moments
from assay.comparison.power import detectable_difference, queries_needed
from assay.comparison.significance import definition_of, significance_of
from assay.errors import AssayError, MeasureError, did_you_mean, show_id
from assay.evaluation import Evaluation
from assay.measures import Measure, parse_measure
from assay.tables import Booleans, Floats

IntervalKind = Literal["t", "percentile", "bca"]
Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "no evidence of a difference", "not tested"]
TOO_FEW = "comparing takes two systems or more."
LARGEST = 1e150  # its square is still a number
SIGNIFICANT: tuple[Verdict, ...] = ("better", "worse", "higher", "lower")


class SystemScores(Struct, frozen=True, eq=False):
    """What each system gets on each query, for one or more measures; not a number where it has no value."""

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats  # (measures, queries, systems)

    def __post_init__(self) -> None:
        shape = (len(self.measures), len(self.queries), len(self.systems))
        if self.values.shape != shape:
            raise AssayError(f"scores of {shape} measures, queries and systems have the shape {self.values.shape}.")
        largest = float(np.nanmax(np.abs(self.values), initial=0))
        if largest > LARGEST:
            raise AssayError(f"values up to {largest:g} are too large to be compared; scale them first.")
        for name in self.systems:
            if self.systems.count(name) > 1:
                raise AssayError(f"two systems are called {show_id(name)!r}; name them apart.")

    @classmethod
    def from_evaluations(cls, evaluations: Sequence[Evaluation]) -> SystemScores:
        """The evaluations of several runs side by side; a query that one of them lacks has no value there."""
        if not evaluations:  # one alone can be looked at, if not compared
            raise AssayError(TOO_FEW)
        first = evaluations[0]
        labels = tuple(request.label for request in first.requests)
        if any(tuple(request.label for request in other.requests) != labels for other in evaluations):
            raise AssayError("the runs were evaluated with different measures.")
        queries = tuple(dict.fromkeys(query for other in evaluations for query in other.queries))
        place = {query: number for number, query in enumerate(queries)}
        values = np.full((len(labels), len(queries), len(evaluations)), np.nan)
        for column, other in enumerate(evaluations):
            values[:, [place[query] for query in other.queries], column] = other.values.T
        return cls(tuple(other.run for other in evaluations), queries, labels, values)

    def column(self, measure: int, system: int) -> Floats:
        """The values of one system."""
        return self.values[measure, :, system]

    def common_means(self, measure: int) -> Floats:
        """The mean of each system over the queries that all of them have; not a number where there is none."""
        table = self.values[measure]
        common = table[~np.isnan(table).any(axis=1)]
        return np.array([math.fsum(column) / len(column) if len(column) else math.nan for column in common.T])

    def select(self, chosen: Booleans) -> SystemScores:
        """The same systems on some of the queries."""
        queries = tuple(query for query, kept in zip(self.queries, chosen.tolist(), strict=True) if kept)
        return SystemScores(self.systems, queries, self.measures, self.values[:, chosen, :])


def measure_called(label: str) -> Measure | None:
    """The measure of this name; None for a column of a table, of which no more is known than its name."""
    try:
        return parse_measure(label)
    except MeasureError:
        return None


def higher_is_better(label: str) -> bool:
    """Whether more of a measure is better, as of nDCG; of Unjudged or NumRet it is not."""
    measure = measure_called(label)
    return measure is None or measure.definition.rewards


class Study(Struct, frozen=True):
    """What is asked of a comparison."""

    baselines: tuple[str, ...] = ()  # none: the first system; every other system is compared with each
    all_pairs: bool = False
    test: str = "t"
    correction: str | None = None  # None: Holm's beyond one comparison
    alpha: float = 0.05
    alternative: Alternative = "two-sided"
    draws: int | None = None
    seed: int = 1
    minimum: float = 0.0  # differences up to this are ties
    interval: IntervalKind = "t"
    simultaneous: bool = False  # intervals so wide that all of them hold together
    margin: float | None = None  # differences up to this do not matter
    plan: float | None = None  # a difference that somebody wants to be able to show

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise AssayError(f"alpha cannot be {self.alpha!r}; it takes a number between 0 and 1, such as 0.05.")
        if self.interval not in get_args(IntervalKind):
            raise AssayError(f"interval cannot be {self.interval!r}; it takes {', '.join(get_args(IntervalKind))}.")
        for name in ("margin", "plan"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise AssayError(f"{name} cannot be {value!r}; it takes a number over 0, such as 0.01.")
        definition_of(self.test)

    @property
    def options(self) -> PairedOptions:
        """The part that the tests need."""
        return PairedOptions(self.alternative, self.draws, self.seed, self.minimum)


class PairResult(Struct, frozen=True):
    """A system against a baseline, by one measure."""

    measure: str
    baseline: str
    system: str
    baseline_mean: float
    system_mean: float
    difference: float
    relative: float | None  # to the baseline; None where that is 0
    interval: Interval | None  # of the difference
    p: float
    p_corrected: float
    effect_size: float | None  # Cohen's d_z
    wins: int
    ties: int
    losses: int
    queries: int
    detectable: float | None  # the smallest difference that these queries show with 80 % power
    needed: int | None  # queries that the planned difference needs
    p_equivalence: float | None
    p_equivalence_corrected: float | None
    verdict: Verdict
    constant: bool  # the two differ by the same amount on every query: no test can say anything


def tests_of(scores: SystemScores, study: Study) -> tuple[Significance, ...]:
    """What the test of the study says of its pairs, measure by measure."""
    pairs = [(system, baseline) for baseline, system in chosen_pairs(scores, study)]
    return tuple(
        significance_of(scores.values[number], pairs, study.test, study.options)
        for number in range(len(scores.measures))
    )


def pair_results(
    parts: Sequence[SystemScores], tests: Sequence[Sequence[Significance]], study: Study, correction: str
) -> list[tuple[PairResult, ...]]:
    """The pairs of the study in each part, by every measure; p values are corrected over all parts together."""
    if not parts:
        return []
    pairs = chosen_pairs(parts[0], study)
    p = np.array([[test.p for test in of_part] for of_part in tests])  # (parts, measures, pairs)
    equal = np.array(
        [[_p_equal(part, study, measure, pairs) for measure in range(len(part.measures))] for part in parts]
    )
    corrected, equal_corrected = corrected_p(p, correction), corrected_p(equal, correction)

    def answer(part: int, measure: int, pair: int) -> _Answer:
        place = part, measure, pair
        statistic = float(tests[part][measure].statistic[pair])
        return _Answer(statistic, *(float(each[place]) for each in (p, corrected, equal, equal_corrected)))

    return [
        tuple(
            _pair(part, study, measure, pair, answer(at, measure, number), family=p.size)
            for measure in range(len(part.measures))
            for number, pair in enumerate(pairs)
        )
        for at, part in enumerate(parts)
    ]


class _Answer(Struct, frozen=True):
    """What the tests say of one pair; equivalence is not a number where nobody asked for it."""

    statistic: float
    p: float
    corrected: float
    equal: float
    equal_corrected: float


def _p_equal(scores: SystemScores, study: Study, measure: int, pairs: Sequence[tuple[int, int]]) -> list[float]:
    """How sure it is that the two of each pair are equivalent; not a number without a margin."""
    if study.margin is None:
        return [math.nan] * len(pairs)
    return [
        equivalence(scores.column(measure, system), scores.column(measure, baseline), study.margin).p
        for baseline, system in pairs
    ]


def chosen_pairs(scores: SystemScores, study: Study) -> list[tuple[int, int]]:
    """Columns of baseline and system."""
    count = len(scores.systems)
    if count < 2:
        raise AssayError(TOO_FEW)
    if study.all_pairs:
        return [(first, second) for first in range(count) for second in range(first + 1, count)]
    for name in study.baselines:
        if name not in scores.systems:
            hint = did_you_mean(name, scores.systems) or f"; there are {', '.join(map(show_id, scores.systems))}."
            raise AssayError(f"no system called {show_id(name)!r} to be the baseline{hint}")
    baselines = [scores.systems.index(name) for name in dict.fromkeys(study.baselines or scores.systems[:1])]
    others = [system for system in range(count) if system not in baselines]
    pairs = [(baseline, system) for baseline in baselines for system in others]
    if not pairs:
        raise AssayError("every system is a baseline: nothing is left to compare with them.")
    return pairs


def _pair(
    scores: SystemScores, study: Study, measure: int, pair: tuple[int, int], answer: _Answer, family: int
) -> PairResult:
    baseline, system = pair
    first, second = scores.column(measure, system), scores.column(measure, baseline)
    both = ~np.isnan(first) & ~np.isnan(second)
    known, found = difference_moments(first, second)
    size = effect(first, second, study.minimum)
    means = [float(column[both].mean()) if both.any() else math.nan for column in (second, first)]
    difference = float(known.mean()) if len(known) else math.nan
    shown = found is not None and found.deviation > 0
    deviation = found.deviation if found is not None and shown else 0.0
    label = scores.measures[measure]
    return PairResult(
        measure=label,
        baseline=scores.systems[baseline],
        system=scores.systems[system],
        baseline_mean=means[0],
        system_mean=means[1],
        difference=difference,
        relative=difference / abs(means[0]) if means[0] else None,
        interval=_interval(known, study, family),
        p=answer.p,
        p_corrected=answer.corrected,
        effect_size=size.d_z,
        wins=size.wins,
        ties=size.ties,
        losses=size.losses,
        queries=len(known),
        detectable=detectable_difference(deviation, len(known), alpha=study.alpha) if shown else None,
        needed=_needed(study, deviation) if shown else None,
        p_equivalence=None if study.margin is None else answer.equal,
        p_equivalence_corrected=None if study.margin is None else answer.equal_corrected,
        verdict=_verdict(label, answer, study) if shown else _verdict_without_spread(difference, study),
        constant=not shown,
    )


def _interval(difference: Floats, study: Study, family: int) -> Interval | None:
    confidence = 1 - (1 - CONFIDENCE) / family if study.simultaneous else CONFIDENCE
    if study.interval == "t":
        return mean_interval(difference, confidence)
    intervals = percentile_intervals if study.interval == "percentile" else bca_intervals
    return intervals(difference[:, None], confidence, seed=study.seed)[0]


def _needed(study: Study, deviation: float) -> int | None:
    """Queries that the planned difference needs; None where that are more than anybody has."""
    if study.plan is None:
        return None
    try:
        return queries_needed(study.plan, deviation, alpha=study.alpha)
    except AssayError:
        return None


def _verdict(measure: str, answer: _Answer, study: Study) -> Verdict:
    """In words, from corrected p values: a difference within the margin does not matter, however sure it is.

    Its direction is that of the statistic: tests of signs and ranks may find the one with the lower mean to be better.
    """
    if answer.equal_corrected < study.alpha:
        return "equivalent"
    if not answer.corrected < study.alpha:
        return "no evidence of a difference"
    if higher_is_better(measure):
        return "better" if answer.statistic > 0 else "worse"
    return "higher" if answer.statistic > 0 else "lower"


def _verdict_without_spread(difference: float, study: Study) -> Verdict:
    """Where the two differ by the same amount on every query no test can say anything; a margin still can."""
    within = study.margin is not None and abs(difference) < study.margin
    return "equivalent" if within else "no evidence of a difference"
