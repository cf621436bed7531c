"""The calculators: what stands in them, the values that the library gives, and how they are worked out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.evaluation import combined
from assay.measures import parse_measure
from assay.report.drawing.charts import Chart
from assay.report.interactive.again import SINGLE, Again, again
from assay.report.interactive.figures import Figure, figure, shown
from assay.report.learning.charts import DEEPEST, parts_chart
from assay.report.learning.presets import PRESETS
from assay.report.learning.state import RELEVANT, LearnState
from assay.words import number_of, plural
from assay.worked import GradedList, Line, by_cutoff, counted, first_relevant, mean_of, values, worked


class ShownPreset(Struct, frozen=True):
    """An example, as a link."""

    title: str
    address: str
    words: str
    in_print: str
    current: bool  # stands in the calculator


class Calculator(Struct, frozen=True):
    """One calculator with its values."""

    key: str
    title: str
    question: str  # that its measures answer
    sentence: str  # the answer
    measures: dict[str, float]  # by the library's name
    figures: tuple[Figure, ...]
    lines: tuple[Line, ...]  # how they are worked out
    presets: tuple[ShownPreset, ...]
    again: Again
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()


class RankRow(Struct, frozen=True):
    """A query and the rank of its first relevant document."""

    name: str
    rank: int | None
    value: float
    shown: str


class Place(Struct, frozen=True):
    """A rank of a list of relevant and other results."""

    rank: int
    relevant: bool
    precision: str


class LetterRow(Struct, frozen=True):
    """A list of relevant and other results."""

    letters: str
    found: int  # relevant results in it
    total: int  # relevant documents, found or not
    places: tuple[Place, ...]
    value: float
    shown: str


class Part(Struct, frozen=True):
    """What a rank adds to DCG, and would add in the best order, for one gain."""

    part: str
    ideal: str


class GradeRow(Struct, frozen=True):
    """A rank of the nDCG calculator."""

    rank: int
    grade: str
    counts: bool  # is within the cutoff
    parts: tuple[Part, ...]  # one for each gain


Measured = tuple[tuple[str, str, float], ...]  # name for people, name for the library, value

SHORTEST = 30  # a longer list is not printed rank by rank


def counts_calculator(state: LearnState, before: LearnState | None) -> Calculator:
    """Precision, recall and F1 from three counts."""
    measured = _counts(state)
    missed = state.relevant - state.hits
    sentence = (
        f"{state.hits:,} of the {number_of(state.retrieved, 'result')} {plural('{is|are}', state.hits)} relevant, and "
        f"{missed:,} of the {number_of(state.relevant, 'relevant document')} {plural('{was|were}', missed)} missed."
    )
    return Calculator(
        key="precision",
        title="Precision and recall",
        question="How much of what was found is good, and how much of what is good was found?",
        sentence=sentence,
        measures=_by_measure(measured),
        figures=_figures(measured, None if before is None else _counts(before)),
        lines=_named(_lines(["SetF"], _counted(state)), measured),  # with those of precision and recall
        presets=_presets("precision", state),
        again=again({SINGLE: _counted(state)}, list(_by_measure(measured))),
        notes=(
            "Precision divides by the number of retrieved documents. P@k divides by k, even if fewer were retrieved: the two "
            "differ for short lists.",
        ),
    )


def _counts(state: LearnState) -> Measured:
    return _measured({"Precision": "SetP", "Recall": "SetR", "F1": "SetF"}, [_counted(state)])


def _counted(state: LearnState) -> GradedList:
    return counted(state.hits, state.retrieved, state.relevant)


def rank_rows(state: LearnState) -> tuple[RankRow, ...]:
    """The queries of the MRR calculator."""
    table = values([first_relevant(rank) for rank in state.ranks], [parse_measure("RR")]).table
    return tuple(
        RankRow(name, rank, value, shown(value))
        for name, rank, value in zip(_names(state), state.ranks, table[:, 0].tolist(), strict=True)
    )


def rank_calculator(state: LearnState, before: LearnState | None) -> Calculator:
    """MRR and the hit rate from the ranks of the first relevant documents."""
    lists, measured = _rank_lists(state), _ranks(state)
    within = sum(rank is not None and rank <= state.at for rank in state.ranks)
    sentence = (
        f"{within:,} of {number_of(len(lists), 'query')} {plural('{has|have}', within)} a relevant result among the first "
        f"{state.at:,}."
        if lists
        else "Add a query."
    )
    return Calculator(
        key="mrr",
        title="Reciprocal rank and hit rate",
        question="How early does the first good result come, and how often is there one?",
        sentence=sentence,
        measures=_by_measure(measured),
        figures=_figures(measured, None if before is None else _ranks(before)),
        lines=_named([mean_of(parse_measure(name), lists, "query") for name in _by_measure(measured)], measured)
        if lists
        else (),
        presets=_presets("mrr", state),
        again=again(_numbered(lists), list(_by_measure(measured))),
        notes=(
            "A query without a relevant result counts as 0; leaving it out would hide failures. trec_eval calls the hit "
            f"rate success.{state.at}.",
        ),
    )


def _ranks(state: LearnState) -> Measured:
    named = {"MRR": "RR", f"MRR@{state.at}": f"RR@{state.at}", f"Hit rate@{state.at}": f"Success@{state.at}"}
    return _measured(named, _rank_lists(state))


def _rank_lists(state: LearnState) -> list[GradedList]:
    return [first_relevant(rank) for rank in state.ranks]


def _names(state: LearnState) -> list[str]:
    """A name for each row; empty ones at the end are not in the address."""
    return [*state.query, *[""] * len(state.ranks)][: len(state.ranks)]


def letter_rows(state: LearnState) -> tuple[LetterRow, ...]:
    """The lists of the MAP calculator."""
    lists = _letter_lists(state)
    table = values(lists, [parse_measure("AP")]).table
    rows = []
    for letters, ranked, value in zip(state.lists, lists, table[:, 0].tolist(), strict=True):
        found = letters.count(RELEVANT)
        total = found + len(ranked.missed)
        rows.append(LetterRow(letters, found, total, _places(letters, ranked), value, shown(value)))
    return tuple(rows)


def _places(letters: str, ranked: GradedList) -> tuple[Place, ...]:
    if not letters or len(letters) > SHORTEST:
        return ()
    precision = by_cutoff(ranked, [parse_measure("P@1")], range(1, len(letters) + 1))[:, 0].tolist()
    return tuple(
        Place(rank, letter == RELEVANT, shown(value))
        for rank, (letter, value) in enumerate(zip(letters, precision, strict=True), 1)
    )


def _letter_lists(state: LearnState) -> list[GradedList]:
    """The lists; a total below what a list itself has is raised to that."""
    totals = [*state.totals, *([0] * len(state.lists))]
    return [
        GradedList(
            tuple(float(letter == RELEVANT) for letter in letters),
            (1.0,) * max(total - letters.count(RELEVANT), 0),
        )
        for letters, total in zip(state.lists, totals, strict=False)
    ]


NEW_ROW = LetterRow("RN", 1, 1, (), 1.0, shown(1.0))  # what a new list starts with; its places follow at once


def letter_calculator(state: LearnState, before: LearnState | None) -> Calculator:
    """MAP from lists of relevant and other results."""
    lists, measured = _letter_lists(state), _letters(state)
    lines = _lines(["AP"], lists[0]) if len(lists) == 1 else ()
    return Calculator(
        key="map",
        title="Average precision",
        question="How early do all the good results come?",
        sentence=_letters_sentence(state, lists),
        measures=_by_measure(measured),
        figures=_figures(measured, None if before is None else _letters(before)),
        lines=(*lines, *([mean_of(parse_measure("AP"), lists)] if len(lists) > 1 else [])),
        presets=_presets("map", state),
        again=again(_numbered(lists), list(_by_measure(measured))),
        notes=(
            "The precision at each relevant result, averaged over all relevant documents. MAP is the mean over the lists.",
        ),
    )


def _letters_sentence(state: LearnState, lists: Sequence[GradedList]) -> str:
    if not lists:
        return "Add a list."
    missed = sum(len(ranked.missed) for ranked in lists)
    relevant = sum(letters.count(RELEVANT) for letters in state.lists) + missed
    found = f"{missed:,} of them {plural('{was|were}', missed)} not found and {plural('{adds|add}', missed)} 0."
    words = [
        f"{number_of(len(lists), 'list')} with {number_of(relevant, 'relevant document')}"
        + (f"; {found}" if missed else ", all found." if relevant else ".")
    ]
    for number, (letters, total) in enumerate(zip(state.lists, state.totals, strict=False), 1):
        count = letters.count(RELEVANT)
        if total < count:
            words.append(
                f"List {number} itself has {number_of(count, 'relevant result')}, so {count:,} {plural('{is|are}', count)} counted instead of {total:,}."
            )
    return " ".join(words)


def _letters(state: LearnState) -> Measured:
    k = state.depth
    named = {"MAP": "AP", f"MAP@{k}": f"AP@{k}", f"MAP@{k} over min(relevant, {k})": f"AP(norm='cutoff')@{k}"}
    return _measured(named, _letter_lists(state))


GAINS = {"exp": "2^grade - 1", "linear": "the grade"}


def grade_rows(state: LearnState) -> tuple[GradeRow, ...]:
    """What each rank adds to DCG, for both gains."""
    by_gain = [_parts(state, gain) for gain in GAINS]
    return tuple(
        GradeRow(
            rank=rank,
            grade="unjudged" if grade is None else f"{grade:g}",
            counts=rank <= state.k,
            parts=tuple(Part(shown(parts[rank - 1]), shown(ideal[rank - 1])) for parts, ideal in by_gain),
        )
        for rank, grade in enumerate(state.grades[:DEEPEST], 1)
    )


def _parts(state: LearnState, gain: str) -> tuple[list[float], list[float]]:
    """What each rank within the cutoff adds to DCG, and to that of the best order."""
    depth = min(max(len(state.grades), 1), DEEPEST)
    measures = [parse_measure(f"{name}(gain='{gain}')@1") for name in ("DCG", "iDCG")]
    sums = by_cutoff(_graded(state), measures, range(1, depth + 1)).T.tolist()
    parts, ideal = ([after - so_far for so_far, after in zip([0.0, *total], total, strict=False)] for total in sums)
    return [_within(parts, state.k), _within(ideal, state.k)]  # type: ignore[return-value]


def _within(parts: list[float], cutoff: int) -> list[float]:
    return [part if rank <= cutoff else 0.0 for rank, part in enumerate(parts, 1)]


def _graded(state: LearnState) -> GradedList:
    return GradedList(state.grades, state.missed)


def grade_calculator(state: LearnState, before: LearnState | None) -> Calculator:
    """NDCG with both gains."""
    measured = _grades(state)
    exp, linear = (value for name, _, value in measured if name.startswith("nDCG"))
    charts = [
        parts_chart(f"parts-{gain}", f"What each rank adds, with {name} as gain", *_parts(state, gain))
        for gain, name in GAINS.items()
    ]
    return Calculator(
        key="ndcg",
        title="nDCG",
        question="Are the best results first?",
        sentence=f"nDCG@{state.k} is {shown(exp)} with the gain 2^grade - 1, and {shown(linear)} with the grade as gain.",
        measures=_by_measure(measured),
        figures=_figures(measured, None if before is None else _grades(before)),
        lines=_lines([measure for name, measure, _ in measured if name.startswith("nDCG")], _graded(state)),
        presets=_presets("ndcg", state),
        again=again({SINGLE: _graded(state)}, list(_by_measure(measured))),
        charts=tuple(charts),
        notes=(
            "The two gains give different numbers, so say which one you report. trec_eval, pytrec_eval and BEIR use the grade "
            "itself; most texts on learning to rank use 2^grade - 1.",
        ),
    )


def _grades(state: LearnState) -> Measured:
    named = {
        f"{name}, {gain}": str(parse_measure(f"{measure}(gain='{gain}')@{state.k}"))
        for gain in GAINS
        for name, measure in (("DCG", "DCG"), ("Ideal DCG", "iDCG"), ("nDCG", "nDCG"))
    }
    return _measured({**named, "CG": f"CG@{state.k}"}, [_graded(state)])


def _measured(named: Mapping[str, str], lists: Sequence[GradedList]) -> Measured:
    """The means over the lists; nan if there is none."""
    measures = [parse_measure(name) for name in named.values()]
    columns = values(lists, measures).table.T if lists else [None] * len(measures)
    return tuple(
        (name, str(measure), math.nan if column is None else combined(measure, column))
        for name, measure, column in zip(named, measures, columns, strict=True)
    )


def _by_measure(measured: Measured) -> dict[str, float]:
    return {measure: value for _, measure, value in measured}


def _figures(now: Measured, before: Measured | None) -> tuple[Figure, ...]:
    """The values with their differences to those before, also where the cutoff has changed."""
    old = [None] * len(now) if before is None else [value for *_, value in before]
    return tuple(figure(*each, then) for each, then in zip(now, old, strict=True))


def _lines(measures: Iterable[str], ranked: GradedList) -> tuple[Line, ...]:
    return tuple(line for name in measures for line in worked(parse_measure(name), ranked))


def _named(lines: Iterable[Line], measured: Measured) -> tuple[Line, ...]:
    """The lines under the names that people know."""
    names = {measure: name for name, measure, _ in measured}
    return tuple(replace(line, name=names.get(line.name, line.name)) for line in lines)


def _numbered(lists: Sequence[GradedList]) -> dict[str, GradedList]:
    return {f"q{number}": ranked for number, ranked in enumerate(lists, 1)}


def _presets(calculator: str, state: LearnState) -> tuple[ShownPreset, ...]:
    found = []
    for preset in PRESETS:
        if preset.calculator == calculator:
            there = replace(state, **preset.fields)
            found.append(ShownPreset(preset.title, there.address, preset.words, preset.in_print, there == state))
    return tuple(found)
