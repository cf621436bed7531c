"""Segments of queries: how the systems do on each kind of query, and whether the difference is the same on all of them.

Reads no files. A segment with few queries is shown but not tested: what such a test finds is mostly chance. Nor are segments
that the compared values have formed themselves, such as difficulty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.corrections import DEFAULT, corrected_p
from assay.comparison.families import TUKEY
from assay.comparison.intervals import Interval, mean_interval
from assay.comparison.paired import TIE
from assay.comparison.pairs import (
    AHEAD,
    SIGNIFICANT,
    PairResult,
    Study,
    SystemScores,
    chosen_pairs,
    higher_is_better,
    measure_called,
    of_t_tests,
    pair_results,
    tests_of,
)
from assay.errors import AssayError, show_id
from assay.measures.arithmetic import within
from assay.tables import Floats, in_byte_order

MINIMUM = 10  # queries that a segment needs to be tested
PARTS = 3  # ranges that numbers are split into
MOST_LABELS = 12  # a column with more different numbers is split into ranges


class Segmentation(Struct, frozen=True):
    """An assignment of queries to segments. A query may be in none."""

    name: str
    segment_of: Mapping[str, str]  # query -> segment
    segments: tuple[str, ...]  # in display order
    caution: str = ""  # printed wherever the segments are shown
    by_outcome: bool = False  # formed by the values that are compared, so no test is valid within them

    @classmethod
    def from_labels(cls, name: str, labels: Mapping[str, str]) -> Segmentation:
        """From a column of labels; more than twelve different numbers are split into ranges.

        >>> Segmentation.from_labels("intent", {"q1": "buy", "q2": "know", "q3": "buy"}).segments
        ('buy', 'know')
        """
        given = {query: label for query, label in labels.items() if label}
        numbers = _numbers(given)
        if numbers is not None and len(set(numbers.values())) > MOST_LABELS:
            return cls.from_numbers(name, numbers)
        distinct = in_byte_order(set(given.values()))
        if numbers is not None:
            distinct.sort(key=float)
        return cls(name, given, tuple(distinct))

    @classmethod
    def from_numbers(
        cls,
        name: str,
        numbers: Mapping[str, float],
        words: Sequence[str] = (),
        caution: str = "",
        by_outcome: bool = False,
    ) -> Segmentation:
        """Ranges of numbers with about the same number of queries; equal numbers are never split.

        >>> Segmentation.from_numbers("length", {"a": 1, "b": 2, "c": 5, "d": 9, "e": 9, "f": 20}).segments
        ('1 to 2', '5 to 9', '20')
        """
        if not numbers:
            return cls(name, {}, (), caution, by_outcome)
        values = np.array(list(numbers.values()), np.float64)
        ends = np.unique(values)
        if len(ends) > PARTS:  # a value belongs to the first range whose end is not below it
            ends = np.unique(np.sort(values)[[-(-len(values) * part // PARTS) - 1 for part in range(1, PARTS + 1)]])
        part = np.searchsorted(ends, values)
        labels = _ranges([values[part == number] for number in range(len(ends))])
        if len(words) == len(labels):
            labels = [f"{word} ({label})" for word, label in zip(words, labels, strict=True)]
        segment_of = {query: labels[at] for query, at in zip(numbers, part, strict=True)}
        return cls(name, segment_of, tuple(labels), caution, by_outcome)


def by_length(texts: Mapping[str, str]) -> Segmentation:
    """Queries by their number of words."""
    return Segmentation.from_numbers(
        "query length", {query: len(text.split()) for query, text in texts.items() if text.strip()}
    )


def by_relevant(counts: Mapping[str, int]) -> Segmentation:
    """Queries by their number of relevant documents."""
    return Segmentation.from_numbers("relevant documents", counts)


def by_difficulty(scores: SystemScores, baseline: str) -> Segmentation:
    """Queries by how well the baseline does on them, by the first measure; nothing is tested within them."""
    column = scores.column(0, scores.systems.index(baseline))
    known = {
        query: value for query, value in zip(scores.queries, column.tolist(), strict=True) if not math.isnan(value)
    }
    return Segmentation.from_numbers(
        f"difficulty for {baseline}",
        known,
        ("hard", "middling", "easy"),
        "Not tested: difficulty is the baseline's own value, which is partly luck, so an equally good system looks better on the baseline's hard queries and worse on its easy ones (regression to the mean).",
        by_outcome=True,
    )


class SystemMean(Struct, frozen=True):
    """The mean of one system over the queries of a segment."""

    measure: str
    system: str
    mean: float
    interval: Interval | None


class SegmentResult(Struct, frozen=True):
    """One segment. If it is not tested, its pairs have p 1 and the verdict "not tested"."""

    name: str
    queries: int
    tested: bool
    means: tuple[SystemMean, ...]
    pairs: tuple[PairResult, ...]

    def best(self, measure: str) -> tuple[str, ...]:
        """The systems with the highest mean, several if tied; empty if higher is not better."""
        if not higher_is_better(measure):
            return ()
        means = {mean.system: mean.mean for mean in self.means if mean.measure == measure and not math.isnan(mean.mean)}
        return tuple(system for system, mean in means.items() if mean == max(means.values()))


class Interaction(Struct, frozen=True):
    """The test whether the difference between two systems is the same in all segments."""

    measure: str
    baseline: str
    system: str
    statistic: float
    p: float
    p_corrected: float


class Reversal(Struct, frozen=True):
    """A segment where the difference is significant and has the opposite sign to that over all queries of the segments.

    The difference over all of them is the mean over the segments, weighted by their queries, so it cannot contradict them all.
    """

    measure: str
    baseline: str
    system: str
    difference: float  # over all queries of the segments
    segment: str
    within: float  # the difference in this segment
    p_corrected: float  # of the difference in this segment


class SegmentComparison(Struct, frozen=True):
    """The systems compared in every segment of one segmentation."""

    segmentation: Segmentation
    segments: tuple[SegmentResult, ...]
    interactions: tuple[Interaction, ...]
    reversals: tuple[Reversal, ...]
    minimum: int
    correction: str
    unsegmented: int  # queries that are in no segment

    @property
    def family(self) -> int:
        """The number of comparisons by the first measure that p values are corrected for; other measures are apart."""
        return next((segment.pairs[0].family for segment in self.segments if segment.tested), 0)


def compare_segments(
    scores: SystemScores, study: Study, segmentation: Segmentation, *, minimum: int = MINIMUM
) -> SegmentComparison:
    """Repeat the study in every segment; p values are corrected over all segments and pairs together.

    The first measure is a family of its own, and the others are a second one.
    """
    if minimum < 2:
        raise AssayError(f"minimum cannot be {minimum!r}; a segment needs at least two queries to be tested.")
    members = {
        name: np.array([segmentation.segment_of.get(query) == name for query in scores.queries], np.bool_)
        for name in segmentation.segments
    }
    counts = {name: int(chosen.sum()) for name, chosen in members.items()}
    if not members:
        raise AssayError(f"segments by {show_id(segmentation.name)!r} have no labels; leave them out.")
    if not any(counts.values()):
        raise AssayError(
            f"no query of the runs is in a segment of {show_id(segmentation.name)!r}; does the file use the same query ids?"
        )
    parts = {name: scores.select(chosen) for name, chosen in members.items() if counts[name]}
    tested = [] if segmentation.by_outcome else [name for name in parts if counts[name] >= minimum]
    correction = TUKEY if study.test == TUKEY else study.correction or DEFAULT
    within = dict(zip(tested, _tested([parts[name] for name in tested], study, correction), strict=True))
    segments = tuple(
        SegmentResult(
            name,
            counts[name],
            name in within,
            _means(part, None if segmentation.by_outcome else study.confidence),
            within.get(name) or _untested(part, study, segmentation),
        )
        for name, part in parts.items()
    )
    return SegmentComparison(
        segmentation,
        segments,
        _interactions(scores, study, [members[name] for name in tested], of_t_tests(correction)),
        tuple(_reversals(scores, study, members, segments)),
        minimum,
        correction,
        len(scores.queries) - sum(counts.values()),
    )


def _means(scores: SystemScores, confidence: float | None) -> tuple[SystemMean, ...]:
    """The means of a segment, with intervals of this confidence or none."""
    found = []
    for number, measure in enumerate(scores.measures):
        known_measure = measure_called(measure)
        bounds = None if known_measure is None else known_measure.definition.bounds
        for column, system in enumerate(scores.systems):
            values = scores.column(number, column)
            known = values[~np.isnan(values)]
            mean = float(known.mean()) if len(known) else math.nan
            interval = None if confidence is None else within(mean_interval(known, confidence), bounds)
            found.append(SystemMean(measure, system, mean, interval))
    return tuple(found)


def _tested(parts: Sequence[SystemScores], study: Study, correction: str) -> list[tuple[PairResult, ...]]:
    return pair_results(parts, [tests_of(part, study, None) for part in parts], study, correction)


def _differences(scores: SystemScores, study: Study) -> tuple[PairResult, ...]:
    """The differences only, with the fastest test."""
    (pairs,) = _tested([scores], replace(study, test="t", correction=None, draws=None), "none")
    return pairs


def _untested(scores: SystemScores, study: Study, segmentation: Segmentation) -> tuple[PairResult, ...]:
    """The differences of a segment that is not tested, with intervals unless the values formed it."""
    none = {"interval": None, "interval_corrected": None, "detectable": None, "needed": None}
    return tuple(
        replace(
            pair,
            p=1.0,
            p_corrected=1.0,
            p_equivalence=None,
            p_equivalence_corrected=None,
            verdict="not tested",
            **(none if segmentation.by_outcome else {}),
        )
        for pair in _differences(scores, study)
    )


def _interactions(
    scores: SystemScores, study: Study, members: Sequence[np.ndarray], correction: str
) -> tuple[Interaction, ...]:
    if len(members) < 2:
        return ()
    keys, found = [], []
    for number, measure in enumerate(scores.measures):
        for baseline, system in chosen_pairs(scores, study):
            difference = scores.column(number, system) - scores.column(number, baseline)
            known = ~np.isnan(difference)
            keys.append((measure, scores.systems[baseline], scores.systems[system]))
            size = np.nanmax(np.abs(scores.values[number][:, [baseline, system]]), initial=0)
            found.append(differing_means([difference[chosen & known] for chosen in members], float(size)))
    p = np.array([p for _, p in found])
    first = np.array([measure == scores.measures[0] for measure, *_ in keys])
    corrected = np.empty(len(p))
    for family in (first, ~first):
        corrected[family] = corrected_p(p[family], correction)
    return tuple(
        Interaction(*key, statistic, p, better)
        for key, (statistic, p), better in zip(keys, found, corrected.tolist(), strict=True)
    )


def differing_means(groups: Sequence[Floats], size: float = 0.0) -> tuple[float, float]:
    """Whether groups have different means: statistic and p of Brown and Forsythe's test (1974).

    Variances may differ, and one may be 0, as happens when two systems agree on all queries of a segment; Welch's test
    cannot be computed then. Degrees of freedom after Mehrotra (1997). Without any spread p is 1. Spread within the
    rounding of values of this `size`, from which the differences were taken, does not count.

    >>> differing_means([np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3])])
    (0.0, 1.0)
    """
    from scipy.special import fdtrc

    kept = [group for group in groups if len(group) > 1]
    sizes = np.array([len(group) for group in kept], np.float64)
    total = sizes.sum()
    rounding = TIE * max([size, *(float(np.abs(group).max()) for group in kept)])
    variances = np.array([0.0 if np.ptp(group) <= rounding else group.var(ddof=1) for group in kept])
    shares = (1 - sizes / total) * variances
    if len(kept) < 2 or not shares.sum() > 0:
        return 0.0, 1.0
    means = np.array([group.mean() for group in kept])
    middle = (sizes * means).sum() / total
    statistic = float((sizes * (means - middle) ** 2).sum() / shares.sum())
    weighted = (sizes / total * variances).sum()
    numerator = shares.sum() ** 2 / ((variances**2).sum() + weighted**2 - 2 * (sizes / total * variances**2).sum())
    denominator = shares.sum() ** 2 / (shares**2 / (sizes - 1)).sum()
    return statistic, float(fdtrc(numerator, denominator, statistic))


def _reversals(
    scores: SystemScores, study: Study, members: Mapping[str, np.ndarray], segments: Sequence[SegmentResult]
) -> Iterator[Reversal]:
    """Segments that contradict the difference over all of them by more than chance."""
    inside = np.any(list(members.values()), axis=0)
    for number, pair in enumerate(_differences(scores.select(inside), study)):
        for segment in segments:
            within = segment.pairs[number]
            sure = within.difference > 0 if within.verdict in AHEAD else within.difference < 0
            if within.verdict in SIGNIFICANT and sure and _opposed(within.difference, pair.difference):
                yield Reversal(
                    pair.measure,
                    pair.baseline,
                    pair.system,
                    pair.difference,
                    segment.name,
                    within.difference,
                    within.p_corrected,
                )


def _opposed(first: float, second: float) -> bool:
    return min(first, second) < 0 < max(first, second)


def _numbers(labels: Mapping[str, str]) -> dict[str, float] | None:
    """The labels as numbers; None unless all of them are."""
    try:
        found = {query: float(label) for query, label in labels.items()}
    except ValueError:
        return None
    return found if all(map(math.isfinite, found.values())) else None


def _ranges(parts: Sequence[Floats]) -> list[str]:
    """The ends of each part, with enough digits to distinguish all ends."""
    ends = [(float(values.min()), float(values.max())) for values in parts]
    different = {end for both in ends for end in both}
    digits = next(
        digits for digits in range(3, 18) if len({_number(end, digits) for end in different}) == len(different)
    )
    shown = [dict.fromkeys(_number(end, digits) for end in both) for both in ends]
    return [" to ".join(both) for both in shown]


def _number(value: float, digits: int) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.{digits}g}"
