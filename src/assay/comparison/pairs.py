"""The result for a pair of systems: difference, interval, corrected test and verdict. Reads no files, prints nothing.

Difference is always system - baseline, and systems are paired by query id.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from assay.comparison.corrections import DEFAULT
from assay.comparison.equivalence import equivalence
from assay.comparison.families import TUKEY, Family, families_of
from assay.comparison.intervals import (
    Interval,
    around,
    bca_intervals,
    mean_intervals,
    percentile_intervals,
    t_quantile,
)
from assay.comparison.paired import Alternative, Paired, PairedOptions, Significance
from assay.comparison.power import detectable_difference, queries_needed
from assay.comparison.ranks import wins_and_losses
from assay.comparison.significance import definition_of, significance_of
from assay.errors import AssayError, LookupNameError, MeasureError, did_you_mean, show_id
from assay.evaluation import Evaluation
from assay.measures import Measure, parse_measure
from assay.progress import Tell, told
from assay.tables import Booleans, Floats
from assay.words import number_of

IntervalKind = Literal["t", "percentile", "bca"]
Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "no significant difference", "not tested"]
TOO_FEW = "comparing needs at least two systems."
LARGEST = 1e150  # its square does not overflow
AHEAD: tuple[Verdict, ...] = ("better", "higher")
SIGNIFICANT: tuple[Verdict, ...] = (*AHEAD, "worse", "lower")


class SystemScores(Struct, frozen=True, eq=False):
    """The value of each system on each query, by one or more measures; NaN if missing."""

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats  # (measures, queries, systems)

    def __post_init__(self) -> None:
        shape = (len(self.measures), len(self.queries), len(self.systems))
        if self.values.shape != shape:
            raise AssayError(
                f"scores must have the shape {shape} (measures, queries, systems), not {self.values.shape}."
            )
        largest = float(np.nanmax(np.abs(self.values), initial=0))
        if largest > LARGEST:
            raise AssayError(f"values up to {largest:g} are too large to compare; scale them first.")
        for name in self.systems:
            if self.systems.count(name) > 1:
                raise AssayError(f"two systems are called {show_id(name)!r}; rename one of them.")

    @classmethod
    def from_evaluations(cls, evaluations: Sequence[Evaluation]) -> SystemScores:
        """Evaluations of several runs side by side; NaN where a run lacks a query."""
        if not evaluations:  # one alone is allowed; it cannot be compared
            raise AssayError(TOO_FEW)
        first = evaluations[0]
        labels = tuple(request.label for request in first.requests)
        if any(tuple(request.label for request in other.requests) != labels for other in evaluations):
            raise AssayError("the runs were evaluated with different measures; evaluate all with the same.")
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
        """The mean of each system over their common queries; NaN without any."""
        table = self.values[measure]
        common = table[~np.isnan(table).any(axis=1)]
        return np.array([math.fsum(column) / len(column) if len(column) else math.nan for column in common.T])

    def select(self, chosen: Booleans) -> SystemScores:
        """The same systems on the chosen queries."""
        queries = tuple(query for query, kept in zip(self.queries, chosen.tolist(), strict=True) if kept)
        return SystemScores(self.systems, queries, self.measures, self.values[:, chosen, :])


def measure_called(label: str) -> Measure | None:
    """The measure with this name; None for a column of a table of values."""
    try:
        return parse_measure(label)
    except MeasureError:
        return None


def label_of(measure: str | Measure, labels: Sequence[str]) -> str:
    """The measure among those of a result, which may be under another of its names.

    >>> label_of("MRR@10", ("AP", "RR@10"))
    'RR@10'
    """
    if isinstance(measure, str) and measure in labels:
        return measure
    wanted = measure_called(measure) if isinstance(measure, str) else measure
    found = next((label for label in labels if wanted is not None and measure_called(label) == wanted), None)
    if found is None:
        raise LookupNameError("measure", measure, labels)
    return found


def higher_is_better(label: str) -> bool:
    """Whether higher values are better: true of nDCG, not of Unjudged or NumRet."""
    measure = measure_called(label)
    return measure is None or measure.definition.rewards


class Study(Struct, frozen=True):
    """The options of a comparison."""

    baselines: tuple[str, ...] = ()  # compared with every other system; empty: the first system
    all_pairs: bool = False
    test: str = "t"
    correction: str | None = None  # None: Holm for more than one comparison
    alpha: float = 0.05
    alternative: Alternative = "two-sided"
    draws: int | None = None
    seed: int = 1
    minimum: float = 0.0  # differences up to this count as ties
    interval: IntervalKind = "t"
    simultaneous: bool = False  # widen the intervals so that all of them hold together, even if p is not corrected
    margin: float | None = None  # of the equivalence test
    plan: float | None = None  # difference to plan the number of queries for

    def __post_init__(self) -> None:
        if not isinstance(self.baselines, tuple):
            raise AssayError(f"baselines cannot be {self.baselines!r}; it takes a tuple of names, such as ('bm25',).")
        if not 0 < self.alpha < 1:
            raise AssayError(f"alpha cannot be {self.alpha!r}; it takes a number between 0 and 1, such as 0.05.")
        if self.interval not in get_args(IntervalKind):
            raise AssayError(f"interval cannot be {self.interval!r}; it takes {', '.join(get_args(IntervalKind))}.")
        for name in ("margin", "plan"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise AssayError(f"{name} cannot be {value!r}; it takes a number greater than 0, such as 0.01.")
        definition_of(self.test)
        if self.test == TUKEY and self.correction not in (None, "none", TUKEY):
            raise AssayError(
                f"tukey corrects its p values itself; correct for the number of pairs once, without correction={self.correction!r}."
            )

    @property
    def confidence(self) -> float:
        """Of each interval, before it is widened for the number of comparisons."""
        return 1 - self.alpha

    @property
    def options(self) -> PairedOptions:
        """The options of the test."""
        return PairedOptions(self.alternative, self.draws, self.seed, self.minimum)


class WeightedPair(Struct, frozen=True, gc=False):
    """A system against a baseline, by the weighted means of one measure."""

    baseline_mean: float
    system_mean: float
    difference: float
    interval: tuple[float, float] | None  # of the difference; None if its width cannot be estimated
    error: float | None  # standard error; 0 if every query of the log is in the sample
    degrees: float | None  # of freedom
    p: float
    p_corrected: float
    effective: float  # effective sample size
    verdict: Verdict
    interval_corrected: tuple[float, float] | None = None  # the one beside the corrected p


class PairResult(Struct, frozen=True, gc=False):
    """A system against a baseline, by one measure."""

    measure: str
    baseline: str
    system: str
    baseline_mean: float
    system_mean: float
    difference: float
    relative: float | None  # to the baseline; None if that is 0
    interval: Interval | None  # of the difference, for this comparison alone; None without spread
    interval_corrected: Interval | None  # the one beside the corrected p; the same if p is not corrected
    p: float
    p_corrected: float
    family: int  # number of comparisons that p was corrected for
    effect_size: float | None  # Cohen's d_z
    wins: int
    ties: int
    losses: int
    queries: int
    detectable: (
        float | None
    )  # smallest difference these queries can detect with 80 % power, after correction; None if none
    needed: int | None  # queries needed to detect the planned difference
    p_equivalence: float | None
    p_equivalence_corrected: float | None
    verdict: Verdict
    constant: bool  # the two differ by the same amount on every query, or on none
    weighted: WeightedPair | None = None  # None without weights of queries


def tests_of(scores: SystemScores, study: Study, tell: Tell | None) -> tuple[Significance, ...]:
    """The study's test of all pairs, one result per measure."""
    pairs = [(system, baseline) for baseline, system in chosen_pairs(scores, study)]
    return tuple(
        significance_of(values, pairs, study.test, study.options)
        for values in told(scores.values, tell, f"Testing {number_of(len(pairs), 'pair')}", len(scores.measures))
    )


def pair_results(
    parts: Sequence[SystemScores], tests: Sequence[Sequence[Significance]], study: Study, correction: str
) -> list[tuple[PairResult, ...]]:
    """The pairs of the study in each part, by every measure; p values are corrected over all parts together.

    The first measure is a family of its own (`families`).
    """
    if not parts:
        return []
    families, with_equal = families_of(tests), families_of(tests, equal_counts=True)
    p = np.array([[test.p for test in of_part] for of_part in tests])  # (parts, measures, pairs)
    equal = np.array([[_p_equal(test.tested, study) for test in of_part] for of_part in tests])
    corrected = _corrected(p, families, correction, len(parts))
    equal_corrected = _corrected(equal, with_equal, of_t_tests(correction), len(parts))
    widened = "bonferroni" if study.simultaneous and correction == "none" else correction
    levels = [family.level(p.ravel(), widened, study.alpha, len(parts)) for family in families]

    def answers(part: int, measure: int) -> Iterator[_Answer]:
        place, test = (part, measure), tests[part][measure]
        of = (test.statistic, test.untested, *(each[place] for each in (p, corrected, equal, equal_corrected)))
        return map(_Answer, *(each.tolist() for each in of))

    return [
        tuple(
            pair
            for measure, test in enumerate(tests[at])
            for pair in _pairs_of(
                part,
                study,
                measure,
                test,
                answers(at, measure),
                Correction(correction, levels[measure > 0], 1 if correction == "none" else families[measure > 0].size),
            )
        )
        for at, part in enumerate(parts)
    ]


class Correction(Struct, frozen=True):
    """How a pair is corrected for the others of its family."""

    name: str
    level: float  # of the interval beside the corrected p
    family: int  # comparisons that count


def _corrected(p: Floats, families: Sequence[Family], correction: str, parts: int) -> Floats:
    """The p values of all parts, measures and pairs, corrected within their families; NaN stays NaN."""
    corrected = np.ones(p.size)
    for family in families:
        corrected[family.members] = family.corrected(p.ravel(), correction, parts)
    found: Floats = np.where(np.isnan(p), np.nan, corrected.reshape(p.shape))
    return found


def of_t_tests(correction: str) -> str:
    """The correction of the t tests beside another test: Tukey's is for its own p values only."""
    return DEFAULT if correction == TUKEY else correction


class _Answer(Struct, frozen=True, gc=False):
    """The test results of one pair; those for equivalence are NaN without a margin."""

    statistic: float
    untested: bool
    p: float
    corrected: float
    equal: float
    equal_corrected: float


class _Sizes(Struct, frozen=True, gc=False):
    """How much one pair differs, before any test."""

    baseline_mean: float
    system_mean: float
    difference: float
    interval: Interval | None
    interval_corrected: Interval | None
    deviation: float  # 0 without spread
    d_z: float | None
    wins: int
    losses: int
    queries: int


def _p_equal(tested: Paired, study: Study) -> list[float]:
    """The equivalence p of each pair; NaN without a margin."""
    if study.margin is None:
        return [math.nan] * len(tested.pairs)
    values = tested.values
    return [equivalence(values[:, first], values[:, second], study.margin).p for first, second in tested.pairs]


def chosen_pairs(scores: SystemScores, study: Study) -> list[tuple[int, int]]:
    """The columns of baseline and system of each pair."""
    count = len(scores.systems)
    if count < 2:
        raise AssayError(TOO_FEW)
    if study.all_pairs:
        return [(first, second) for first in range(count) for second in range(first + 1, count)]
    for name in study.baselines:
        if name not in scores.systems:
            hint = did_you_mean(name, scores.systems) or f"; there are {', '.join(map(show_id, scores.systems))}."
            raise AssayError(f"no system called {show_id(name)!r} for the baseline{hint}")
    baselines = [scores.systems.index(name) for name in dict.fromkeys(study.baselines or scores.systems[:1])]
    others = [system for system in range(count) if system not in baselines]
    pairs = [(baseline, system) for baseline in baselines for system in others]
    if not pairs:
        raise AssayError("every system is a baseline, so there is nothing to compare; name fewer baselines.")
    return pairs


def _pairs_of(
    scores: SystemScores,
    study: Study,
    measure: int,
    test: Significance,
    answers: Iterable[_Answer],
    corrected: Correction,
) -> Iterator[PairResult]:
    """The pairs by one measure."""
    label = scores.measures[measure]
    rewards = higher_is_better(label)
    sizes = _sizes_of(test, study, corrected)
    alpha = _planning_level(study, corrected, len(scores.systems))
    for (system, baseline), size, answer in zip(test.pairs, sizes, answers, strict=True):
        shown = size.deviation > 0
        possible = definition_of(study.test).smallest_p(size.queries, study.alternative) < alpha
        yield PairResult(
            measure=label,
            baseline=scores.systems[baseline],
            system=scores.systems[system],
            baseline_mean=size.baseline_mean,
            system_mean=size.system_mean,
            difference=size.difference,
            relative=size.difference / abs(size.baseline_mean) if size.baseline_mean else None,
            interval=size.interval,
            interval_corrected=size.interval_corrected,
            p=answer.p,
            p_corrected=answer.corrected,
            family=corrected.family,
            effect_size=size.d_z,
            wins=size.wins,
            ties=size.queries - size.wins - size.losses,
            losses=size.losses,
            queries=size.queries,
            detectable=detectable_difference(size.deviation, size.queries, alpha=alpha) if shown and possible else None,
            needed=_needed(study.plan, size.deviation, alpha) if shown else None,
            p_equivalence=None if study.margin is None else answer.equal,
            p_equivalence_corrected=None if study.margin is None else answer.equal_corrected,
            verdict=_verdict(answer, size.difference, study, rewards),
            constant=not shown,
        )


def _sizes_of(test: Significance, study: Study, corrected: Correction) -> Iterator[_Sizes]:
    """How much each pair of columns differs; all pairs at once, since there may be many."""
    paired = test.tested
    pairs = paired.pairs
    found = paired.moments
    means, size = np.full((3, len(pairs)), np.nan), np.zeros(len(pairs))
    won = np.zeros((2, len(pairs)), np.int64)
    for block in paired.blocks():
        if block.columns.shape[1] == 0:
            continue
        mean, largest = block.columns.mean(axis=1), np.abs(block.columns).max(axis=1)
        means[:, block.numbers] = mean[block.second], mean[block.first], block.differences.mean(axis=1)
        size[block.numbers] = np.maximum(largest[block.first], largest[block.second])
        won[:, block.numbers] = wins_and_losses(block.differences, study.minimum)
    some = found.spread(size)
    deviation = np.where(some, found.deviation, 0.0)
    d_z = (
        each if there else None
        for each, there in zip((found.mean / np.where(some, deviation, 1)).tolist(), some.tolist(), strict=True)
    )
    widened = _intervals(test, study, corrected.level, some)
    both = study.simultaneous or corrected.level == study.alpha
    single = widened if both else _intervals(test, study, study.alpha, some)
    return map(_Sizes, *means.tolist(), single, widened, deviation.tolist(), d_z, *won.tolist(), found.count.tolist())


def _intervals(test: Significance, study: Study, level: float, spread: Booleans) -> list[Interval | None]:
    """The interval of each difference, by the test itself if it has one; None for a pair without spread."""
    paired = test.tested
    if study.interval != "t":
        intervals = percentile_intervals if study.interval == "percentile" else bca_intervals
        found = [intervals(each[:, None], 1 - level, seed=study.seed)[0] for each in paired.differences()]
    elif test.ranges is not None:
        reach = _reach_of_ranges(test.ranges, level)
        found = [*around(paired.moments.mean, reach)] if math.isfinite(reach) else [None] * len(test)
    elif test.pooled is not None:
        half = t_quantile(test.pooled.degrees, 1 - level / 2) * test.pooled.error
        found = [*around(paired.moments.mean, half)]
    else:
        found = mean_intervals(paired.moments, 1 - level)
    return [each if there else None for each, there in zip(found, spread.tolist(), strict=True)]


def _reach_of_ranges(ranges: Floats, level: float) -> float:
    """How far an interval reaches that has 0 outside if p is below the level; infinite if there are too few draws."""
    draws = len(ranges)
    above = math.ceil(level * (draws + 1)) - 2  # (above + 1) / (draws + 1) is the largest p below the level
    return math.inf if above < 0 else float(ranges[draws - 1 - above])


def _planning_level(study: Study, corrected: Correction, systems: int) -> float:
    """The level of one t test in its family, for power; as Bonferroni leaves it, whatever the correction."""
    family = math.comb(systems, 2) if corrected.name == TUKEY else corrected.family
    return study.alpha if corrected.name == "none" else study.alpha / max(1, family)


def _needed(plan: float | None, deviation: float, alpha: float) -> int | None:
    """Queries needed for the planned difference; None if impossibly many."""
    if plan is None:
        return None
    try:
        return queries_needed(plan, deviation, alpha=alpha)
    except AssayError:
        return None


def _verdict(answer: _Answer, difference: float, study: Study, rewards: bool) -> Verdict:
    """The verdict from corrected p values. A difference within the margin is "equivalent" even if it is significant.

    The direction is that of the statistic: tests of signs and ranks may favour the system with the lower mean.
    """
    if answer.untested:
        return "not tested"
    if answer.equal_corrected < study.alpha:
        return "equivalent"
    if not answer.corrected < study.alpha:
        return "no significant difference"
    ahead = (difference if math.isnan(answer.statistic) else answer.statistic) > 0
    if rewards:
        return "better" if ahead else "worse"
    return "higher" if ahead else "lower"
