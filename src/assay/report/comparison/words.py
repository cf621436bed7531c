"""Cells, significance marks and notes shared by all output formats. Escapes nothing and computes no test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from assay.comparison.agreement import MeasureAgreement, RunAgreement
from assay.comparison.comparing import Comparison
from assay.comparison.intervals import DRAWS
from assay.comparison.moves import Move, Moves, Place
from assay.comparison.paired import Significance
from assay.comparison.pairs import PairResult, Study, higher_is_better, of_t_tests
from assay.comparison.segments import Interaction, Reversal, SegmentComparison
from assay.describing import (
    agreement_in_words,
    anomalies_in_words,
    conventions_in_words,
    coverage_in_words,
    weight_doubts_in_words,
    weights_in_words,
)
from assay.errors import show_id
from assay.words import number_of, plural, sentence, show_p

HEAD = (
    "measure",
    "baseline",
    "system",
    "mean",
    "difference",
    "change",
    "interval",
    "p",
    "corrected",
    "d_z",
    "w/t/l",
    "verdict",
)
NAMES = {"measure", "baseline", "system", "verdict", "segment", "best"}
TONES = {"better": "good", "worse": "bad"}
DASH = "-"
MOST_BOOTSTRAPPED = 25  # comparisons; for the intervals of more, fewer than ten resamples lie beyond each end
INTERVALS = {
    "none": "are each for one comparison and not corrected for their number",
    "holm": "are Bonferroni's, so all of one family hold together; Holm may find a difference whose interval contains 0",
    "bonferroni": "are Bonferroni's, so all of one family hold together",
    "sidak": "are Sidak's, so all of one family hold together",
    "benjamini-hochberg": "are as wide as the correction asks: of those of significant differences, few are expected to miss",
    "benjamini-yekutieli": "are as wide as the correction asks: of those of significant differences, few are expected to miss",
    "tukey": "are Tukey's own, so those of all pairs hold together",
}  # beside p values, by their correction
MOST_LINES = 12  # of each kind, with one line per pair and measure
COLUMNS = (
    "w/t/l: queries won, tied and lost. d_z: mean difference over the standard deviation of the differences (Cohen)."
)
RUNS_ALIKE = (
    "Means over queries, first 100 documents: rank-biased overlap (1 = identical rankings; the first ten ranks carry 86% "
    "of the weight) and Kendall's tau over the documents that both runs have there."
)
MEASURES_ALIKE = (
    "Same winner: of the queries where both measures show a difference, how many have the same winner by both. "
    "Kendall's tau compares the two orders of the systems; it needs at least three systems."
)


def interval_name(study: Study) -> str:
    """What intervals are called: those of alpha 0.05 are 95% intervals."""
    return f"{100 * study.confidence:g}% interval"


def head_with(names: Sequence[str], study: Study) -> tuple[str, ...]:
    """Column names with the confidence of the interval."""
    return tuple(interval_name(study) if name == "interval" else name for name in names)


def head_of(comparison: Comparison) -> list[str]:
    """Column names of the table of pairs."""
    names = list(head_with(HEAD, comparison.study))
    return names if comparison.study.margin is None else [*names[:-1], "p equivalent", names[-1]]


def cells_of(pair: PairResult, comparison: Comparison) -> list[str]:
    """The cells of one pair, in the order of `head_of`."""
    equal = [] if comparison.study.margin is None else [p_of(pair.p_equivalence_corrected)]
    return [
        pair.measure,
        show_id(pair.baseline),
        show_id(pair.system),
        value_of(pair.system_mean),
        signed(pair.difference),
        share_of(pair.relative),
        interval_of(pair.interval_corrected),
        p_of(pair.p),
        p_of(pair.p_corrected),
        DASH if pair.effect_size is None else f"{pair.effect_size:+.2f}",
        f"{pair.wins}/{pair.ties}/{pair.losses}",
        *equal,
        verdict_of(pair),
    ]


WEIGHTED_HEAD = ("measure", "baseline", "system", "mean", "difference", "interval", "p", "corrected", "verdict")


def weighted_cells_of(pair: PairResult) -> list[str]:
    """The cells of a pair's weighted difference, in the order of `WEIGHTED_HEAD`; empty without weights."""
    found = pair.weighted
    if found is None:
        return []
    return [
        pair.measure,
        show_id(pair.baseline),
        show_id(pair.system),
        value_of(found.system_mean),
        signed(found.difference),
        interval_of(found.interval_corrected),
        p_of(found.p),
        p_of(found.p_corrected),
        _short(found.verdict),
    ]


def by_baseline(pairs: Sequence[PairResult]) -> dict[tuple[str, str], list[PairResult]]:
    """Pairs grouped by measure and baseline."""
    found: dict[tuple[str, str], list[PairResult]] = {}
    for pair in pairs:
        found.setdefault((pair.measure, pair.baseline), []).append(pair)
    return found


def verdict_of(pair: PairResult) -> str:
    """The verdict, short enough for a column."""
    return _short(pair.verdict)


def _short(verdict: str) -> str:
    return "not signif." if verdict.startswith("no ") else verdict


def value_of(value: float | None) -> str:
    """Four decimals."""
    return DASH if value is None or math.isnan(value) else f"{value:.4f}"


def signed(value: float | None) -> str:
    """Four decimals with a sign."""
    return DASH if value is None or math.isnan(value) else f"{value:+.4f}"


def share_of(value: float | None) -> str:
    """Percent with a sign."""
    return DASH if value is None or math.isnan(value) else f"{value:+.1%}"


def interval_of(interval: tuple[float, float] | None) -> str:
    """Both ends of an interval."""
    return DASH if interval is None else f"{interval[0]:+.4f} {interval[1]:+.4f}"


def p_of(value: float | None) -> str:
    """A p value."""
    return DASH if value is None else show_p(value)


# All systems in one table


class Mark(Struct, frozen=True):
    """The mean of a system by one measure, and the baselines it differs from significantly."""

    mean: str
    best: bool
    better: str  # letters of the baselines it is better than
    worse: str


def letters_of(comparison: Comparison) -> dict[str, str]:
    """A letter for each baseline: a, b, ... z, aa, ab."""
    baselines = dict.fromkeys(pair.baseline for pair in comparison.pairs)
    if comparison.study.all_pairs:
        baselines = dict.fromkeys(comparison.scores.systems)
    return {name: _letter(number) for number, name in enumerate(baselines)}


def _letter(number: int) -> str:
    return ("" if number < 26 else _letter(number // 26 - 1)) + chr(ord("a") + number % 26)


def marks_of(comparison: Comparison) -> list[tuple[str, list[Mark]]]:
    """Rows are systems, columns are measures. With all pairs, a difference is marked on both systems."""
    letters = letters_of(comparison)
    better: dict[tuple[str, str], list[str]] = {}
    worse: dict[tuple[str, str], list[str]] = {}
    for pair in comparison.pairs:
        if pair.verdict not in TONES:
            continue
        ahead, behind = (better, worse) if pair.verdict == "better" else (worse, better)
        ahead.setdefault((pair.system, pair.measure), []).append(letters[pair.baseline])
        if comparison.study.all_pairs:
            behind.setdefault((pair.baseline, pair.measure), []).append(letters[pair.system])
    best = {measure: comparison.best(measure) for measure in comparison.scores.measures}
    rows = []
    for column, system in enumerate(comparison.scores.systems):
        cells = []
        for number, measure in enumerate(comparison.scores.measures):
            values = comparison.scores.column(number, column)
            known = values[~np.isnan(values)]
            cells.append(
                Mark(
                    value_of(float(known.mean()) if len(known) else None),
                    best[measure] == (system,),
                    ",".join(better.get((system, measure), [])),
                    ",".join(worse.get((system, measure), [])),
                )
            )
        rows.append((system, cells))
    return rows


def meaning_of_marks(comparison: Comparison) -> str:
    """The legend for the letters in the table of all systems."""
    named = letters_in_words(comparison)
    return f"A letter means significantly better than that system; after a minus, significantly worse: {named}."


def letters_in_words(comparison: Comparison) -> str:
    """Which system each letter stands for."""
    return ", ".join(f"{letter} = {show_id(name)}" for name, letter in letters_of(comparison).items())


# In brief


def method_in_brief(comparison: Comparison) -> str:
    """The test and the correction in a few words."""
    study, correction = comparison.study, comparison.correction
    widened = "bonferroni" if correction == "holm" or (study.simultaneous and correction == "none") else correction
    if correction == "none":
        corrected = "p not corrected" + (f", intervals by {widened}" if study.simultaneous else "")
    elif correction == widened:
        corrected = f"p and intervals corrected by {correction}"
    else:
        corrected = f"p corrected by {correction}, intervals by {widened}"
    apart = f", {show_id(comparison.scores.measures[0])} by itself" if _apart(comparison) else ""
    return (
        f"Test: {study.test}, {study.alternative}{_drawn(comparison.tests)}; {corrected}{apart}; alpha {study.alpha:g}"
    )


def _apart(comparison: Comparison) -> bool:
    """Whether the first measure is corrected apart from others."""
    return len(comparison.scores.measures) > 1 and comparison.correction not in ("none", "tukey")


def _correction(comparison: Comparison) -> str:
    """How p values are corrected, and over how many comparisons."""
    if comparison.correction == "none":
        return "not corrected"
    if comparison.correction == "tukey":
        return "corrected by the test itself, for all pairs of systems by one measure"
    first, *others = comparison.families
    corrected = f"corrected by {comparison.correction} over {number_of(first, 'comparison')}"
    if not others:
        return corrected
    return f"{corrected} by {show_id(comparison.scores.measures[0])}, and over {others[0]:,} by the other measures"


def power_in_brief(comparison: Comparison) -> Iterator[str]:
    """What the queries could have shown, if a difference is not significant; and what a plan takes."""
    yield from could_have_shown(comparison.pairs)
    yield from _planned(comparison)


def could_have_shown(pairs: Sequence[PairResult]) -> Iterator[str]:
    """What the queries could have shown of the differences that are not significant."""
    smallest = [pair.detectable for pair in pairs if pair.verdict.startswith("no ") and pair.detectable is not None]
    if smallest:
        yield (
            f"Not significant is not equal: these queries could have shown a difference of {_range(smallest, '.4f')} "
            "(80% power)."
        )


def anomalies_of(comparison: Comparison) -> Iterator[str]:
    """What changes how the answer is read: one sentence for all runs that have the same."""
    yield from _too_extreme(comparison)
    yield from comparison.notes
    if comparison.query_weights is not None:
        yield from weight_doubts_in_words(comparison.query_weights, comparison.scores.queries, _judged(comparison))
    if comparison.evaluations:
        first = comparison.evaluations[0]
        if first.doubt:
            yield sentence(first.doubt)
        coverage = {evaluation.run: evaluation.coverage for evaluation in comparison.evaluations}
        yield from anomalies_in_words(coverage, first.rules, first.requests)


# Notes


def notes_of(comparison: Comparison) -> Iterator[str]:
    """The method, the caveats and the coverage of each run, one sentence or two each."""
    yield from remarks_of(comparison)
    yield from (f"{run}: {coverage}" for run, coverage in coverages_of(comparison))


def remarks_of(comparison: Comparison) -> Iterator[str]:
    """The method and the caveats, one sentence or two each."""
    study = comparison.study
    drawn, correction = _drawn(comparison.tests), _correction(comparison)
    yield (
        f"Difference = system - baseline. Test: {study.test}, {study.alternative}{drawn}; p {correction}; alpha "
        f"{study.alpha:g}."
    )
    yield from overall(comparison)
    yield COLUMNS
    yield f"The {interval_name(study)}s ({study.interval}) {_hold(study, comparison.correction)}."
    yield from _too_extreme(comparison)
    if study.margin is not None:
        yield (
            f"Equivalent: two one-sided t tests show that the difference is less than {study.margin:g} in either direction; "
            f"their p values are {_of_t_tests(comparison.correction)}."
        )
    smallest = [pair.detectable for pair in comparison.pairs if pair.detectable is not None]
    if smallest:
        yield (
            "Smallest difference these queries can detect with 80% power (two-sided t test"
            f"{'' if comparison.correction == 'none' else ', after correction'}): {_range(smallest, '.4f')}."
        )
    yield from _planned(comparison)
    yield from comparison.notes
    yield from _weights(comparison, _of_t_tests(comparison.correction))
    yield from _conditions(comparison)


def _too_extreme(comparison: Comparison) -> Iterator[str]:
    """What resampled intervals cannot do."""
    study, family = comparison.study, max(comparison.families)
    widened = study.simultaneous or comparison.correction != "none"
    if widened and study.interval != "t" and family > MOST_BOOTSTRAPPED:
        yield (
            f"Corrected intervals of {family:,} comparisons need more extreme quantiles than {DRAWS:,} resamples "
            f"can estimate well; use --interval t."
        )


def _planned(comparison: Comparison) -> Iterator[str]:
    needed = [pair.needed for pair in comparison.pairs if pair.needed is not None]
    if needed:
        yield (
            f"Detecting a difference of {comparison.study.plan:g} with 80% power takes {_range(needed, ',')} queries."
        )


def _range(values: Sequence[float], form: str) -> str:
    """The lowest and the highest value, or the only one."""
    return " to ".join(dict.fromkeys((f"{min(values):{form}}", f"{max(values):{form}}")))


def _weights(comparison: Comparison, correction: str) -> Iterator[str]:
    """How the weighted differences come about."""
    weights = comparison.query_weights
    if weights is None:
        return
    yield from weights_in_words(weights, comparison.scores.queries, _judged(comparison))
    yield (
        "Weighted differences are tested by t, with the standard error of the weighted mean; their p values are "
        f"{correction}{'' if correction.startswith('not') else ' as a family of their own'}."
    )
    if any(pair.weighted is not None and pair.weighted.error == 0 and not pair.constant for pair in comparison.pairs):
        yield "Every query of the log is in the sample: the weighted differences are exact for this log, not for others."
    if comparison.segments:
        yield "Segments are not weighted."


def _judged(comparison: Comparison) -> list[str]:
    """Judged queries that a run lacks."""
    return [query for evaluation in comparison.evaluations for query in evaluation.coverage.missing]


def overall(comparison: Comparison) -> Iterator[str]:
    """The result of a test of all systems at once."""
    for measure, test in zip(comparison.scores.measures, comparison.tests, strict=True):
        if test.overall is not None:
            degrees = ", ".join(f"{each:,}" for each in test.overall.degrees)
            found = "significant" if test.overall.p < comparison.study.alpha else "no significant"
            yield (
                f"{measure}: {found} difference between the systems (F({degrees}) = {test.overall.statistic:.2f}, p "
                f"{p_of(test.overall.p)})."
            )


def _drawn(tests: Sequence[Significance]) -> str:
    """How p values were computed, if by random draws or by exact counting."""
    drawn = [test for test in tests if test.seed is not None]
    if drawn:
        return f", {max(int(test.draws.max()) for test in drawn):,} draws, seed {drawn[0].seed}"
    return ", exact" if all(test.exact.all() for test in tests) else ""


def _hold(study: Study, correction: str) -> str:
    """How far intervals can be read together."""
    return INTERVALS["bonferroni" if study.simultaneous and correction == "none" else correction]


def _of_t_tests(correction: str) -> str:
    """How the p values of t tests beside the test are corrected."""
    by = of_t_tests(correction)
    return "not corrected" if by == "none" else f"corrected by {by}"


def _conditions(comparison: Comparison) -> Iterator[str]:
    """The rules for all runs."""
    if comparison.evaluations:
        first = comparison.evaluations[0]
        yield conventions_in_words(first.rules, first.like)
        if first.coverage.agreement is not None:
            yield f"Judges: {agreement_in_words(first.coverage.agreement)}"
        if first.doubt:
            yield sentence(first.doubt)


def coverages_of(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Each run and its coverage in words."""
    for evaluation in comparison.evaluations:
        yield show_id(evaluation.run), coverage_in_words(evaluation.coverage, evaluation.rules, evaluation.requests)


# Segments


def title_of(segments: SegmentComparison) -> str:
    """The heading of a segmentation."""
    return f"Segments by {show_id(segments.segmentation.name)}"


def interaction_of(found: Interaction, alpha: float) -> str:
    """Whether the difference varies between segments."""
    depends = (
        "differs significantly between segments"
        if found.p_corrected < alpha
        else "no significant difference between segments"
    )
    return (
        f"{found.measure}, {show_id(found.system)} - {show_id(found.baseline)}: {depends} "
        f"(F {found.statistic:.2f}, p {p_of(found.p)}, corrected {p_of(found.p_corrected)})."
    )


def reversal_of(found: Reversal) -> str:
    """A segment that contradicts the difference over all of them."""
    more, less = ("better", "worse") if higher_is_better(found.measure) else ("higher", "lower")
    within = more if found.within > 0 else less
    over = "higher" if found.difference > 0 else "lower"
    return (
        f"By {show_id(found.measure)} {show_id(found.system)} is significantly {within} than {show_id(found.baseline)} on "
        f"{show_id(found.segment)} ({signed(found.within)}, corrected p {p_of(found.p_corrected)}), though its mean over all "
        f"segments is {over} ({signed(found.difference)})."
    )


SEGMENT_HEAD = (
    *("measure", "segment", "queries", "baseline", "mean", "system", "mean", "difference", "interval"),
    *("corrected", "verdict", "best"),
)


def segment_rows(segments: SegmentComparison, comparison: Comparison) -> Iterator[list[str]]:
    """Every pair in every segment, by measure, in the order of `SEGMENT_HEAD`."""
    for measure in comparison.scores.measures:
        for segment in segments.segments:
            for pair in segment.pairs:
                if pair.measure == measure:
                    yield [
                        measure,
                        show_id(segment.name),
                        f"{segment.queries:,}",
                        show_id(pair.baseline),
                        value_of(pair.baseline_mean),
                        show_id(pair.system),
                        value_of(pair.system_mean),
                        signed(pair.difference),
                        interval_of(pair.interval_corrected),
                        p_of(pair.p_corrected) if segment.tested else DASH,
                        verdict_of(pair),
                        ", ".join(map(show_id, segment.best(measure))),
                    ]


def segment_notes(segments: SegmentComparison, study: Study) -> Iterator[str]:
    """Method and caveats of a segmentation."""
    yield from _first([reversal_of(found) for found in segments.reversals], "reversed segments")
    yield from _first([interaction_of(found, study.alpha) for found in segments.interactions], "tests between segments")
    if segments.correction == "none" and segments.family:
        yield f"p not corrected; the intervals {_hold(study, 'none')}."
    elif segments.family:
        yield (
            f"p corrected by {segments.correction} over {number_of(segments.family, 'comparison')} (segments x pairs; the first "
            f"measure apart from others); the intervals {_hold(study, segments.correction)}."
        )
    if not segments.segmentation.by_outcome and any(not segment.tested for segment in segments.segments):
        yield f"Segments with fewer than {segments.minimum} queries are not tested."
    if segments.unsegmented:
        yield plural("{count} {query is|queries are} in no segment.", segments.unsegmented)
    if segments.segmentation.caution:
        yield segments.segmentation.caution


def _first(lines: Sequence[str], what: str) -> Iterator[str]:
    """The first lines, and how many there are."""
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"Showing {MOST_LINES} of {len(lines):,} {what}; --format json has all."


# Agreement


class AgreementTable(Struct, frozen=True):
    """A table of agreement and its legend."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    meaning: str


def agreement_of(comparison: Comparison) -> list[AgreementTable]:
    """Agreement between runs (if requested) and between measures (if there are several)."""
    tables = [
        AgreementTable(
            "Agreement between runs",
            ("system", "system", "top 10 in common", "RBO 0.9", "Kendall's tau", "queries"),
            tuple(map(_runs_alike, comparison.runs_alike)),
            RUNS_ALIKE,
        ),
        AgreementTable(
            "Agreement between measures",
            ("measure", "measure", "same winner", "Kendall's tau of systems"),
            tuple(
                (pair.first, pair.second, _same_winner(pair), value_of(pair.tau)) for pair in comparison.measures_alike
            ),
            MEASURES_ALIKE,
        ),
    ]
    return [table for table in tables if table.rows]


def _runs_alike(pair: RunAgreement) -> tuple[str, ...]:
    names = show_id(pair.first), show_id(pair.second)
    return (*names, f"{pair.overlap:.0%}", value_of(pair.rbo), value_of(pair.tau), f"{pair.queries:,}")


def _same_winner(pair: MeasureAgreement) -> str:
    """How often two measures have the same winner."""
    return DASH if pair.same_winner is None else f"{pair.same_winner:.0%} of {pair.queries:,}"


# Queries that moved


def shown_moves(comparison: Comparison) -> list[Moves]:
    """The first pairs and measures with moved queries; only the first measure unless documents were requested."""
    return _with_moves(comparison)[:MOST_LINES]


def moves_left(comparison: Comparison) -> str:
    """A note if some are not shown."""
    count = len(_with_moves(comparison))
    return f"Showing {MOST_LINES} of {count:,} pairs and measures; --format json has all." if count > MOST_LINES else ""


def _with_moves(comparison: Comparison) -> list[Moves]:
    moved = [pair for pair in comparison.moves if pair.up or pair.down]
    return (
        moved
        if has_documents(comparison)
        else [pair for pair in moved if pair.measure == comparison.scores.measures[0]]
    )


def has_documents(comparison: Comparison) -> bool:
    """Whether the documents of the queries that moved were asked for."""
    return any(move.depth for pair in comparison.moves for move in (*pair.up, *pair.down))


def move_of(move: Move) -> str:
    """A query and how far it moved."""
    return f"{show_id(move.query)} {signed(move.difference)} ({value_of(move.before)} to {value_of(move.after)})"


def place_of(place: Place) -> str:
    """A document's ranks in both systems."""
    before = DASH if place.before is None else str(place.before)
    after = DASH if place.after is None else str(place.after)
    return f"{before} → {after}"


def grade_of(place: Place) -> str:
    """The grade, or "unjudged"."""
    return "unjudged" if place.rel is None else f"grade {place.rel:g}"


def changes_of(move: Move) -> Mapping[str, tuple[Place, ...]]:
    """Document changes by kind; relevant documents first, then by rank."""

    def ordered(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple(sorted(places, key=lambda place: (-max(place.rel or 0.0, 0.0), place.after or place.before or 0)))

    kinds = {"entered": move.entered, "left": move.left, "moved": move.moved}
    return {kind: ordered(places) for kind, places in kinds.items() if places}
