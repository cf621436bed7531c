"""The value of the page: the calculators, and which measure to use when."""

from __future__ import annotations

from msgspec import Struct

from assay.measures import definitions
from assay.measures.explain import page as explained
from assay.measures.guide import QUESTIONS, propose
from assay.report.interactive.addresses import measure_address
from assay.report.interactive.again import names_of
from assay.report.interactive.cards import Card, cards_of
from assay.report.interactive.fields import Grades
from assay.report.interactive.figures import Figure
from assay.report.learning.calculators import (
    GAINS,
    NEW_ROW,
    Calculator,
    GradeRow,
    LetterRow,
    RankRow,
    counts_calculator,
    grade_calculator,
    grade_rows,
    letter_calculator,
    letter_rows,
    rank_calculator,
    rank_rows,
)
from assay.report.learning.state import LearnState
from assay.words import number_of, plural

SCHEMA = "assay/learn/1"
MOST_DOTS = 200
# The measures that most people need: the everyday name, and where each is on the page.
ASKED = {
    "RR": ("MRR", "mrr"),
    "Success": ("Hit rate", "mrr"),
    "nDCG": ("nDCG", "ndcg"),
    "P": ("Precision", "precision"),
    "R": ("Recall", "precision"),
    "F": ("F1", "precision"),
    "AP": ("MAP", "map"),
}


class Wanted(Struct, frozen=True):
    """A question, and the measure that answers it."""

    question: str
    measure: str
    address: str  # of the calculator


class GuideRow(Struct, frozen=True):
    """What a measure answers, when it misleads, and what to report with it."""

    measure: str
    summary: str
    answers: str
    misleads: str
    pair: str
    address: str


class Asked(Struct, frozen=True):
    """A question about a search, with its answers and the one that is chosen."""

    field: str
    text: str
    options: tuple[tuple[str, str], ...]  # key, words
    value: str


class Proposed(Struct, frozen=True):
    """A measure for these answers, and why."""

    measure: str
    why: str
    address: str


class Dots(Struct, frozen=True):
    """Documents as dots: hits, false positives and misses."""

    groups: tuple[tuple[str, int], ...]  # kind and number of dots
    legend: tuple[str, ...]  # of each kind
    words: str


class LearnPage(Struct, frozen=True):
    """The page, ready to be printed."""

    schema: str
    address: str
    state: LearnState
    wanted: tuple[Wanted, ...]
    dots: Dots
    precision: Calculator
    mrr: Calculator
    map: Calculator
    ndcg: Calculator
    rank_rows: tuple[RankRow, ...]
    letter_rows: tuple[LetterRow, ...]
    new_row: LetterRow  # that a new list starts with
    cards: tuple[Card, ...]
    missed: str
    gains: tuple[tuple[str, tuple[Figure, ...]], ...]  # the figures of each gain
    grade_rows: tuple[GradeRow, ...]
    asked: tuple[Asked, ...]
    proposed: tuple[Proposed, ...]
    command: str  # that evaluates the proposed measures
    python: str
    guide: tuple[GuideRow, ...]
    announcement: str  # what has changed, for a screen reader


def page_of(state: LearnState, before: LearnState | None = None) -> LearnPage:
    """The page in a state; `before` is the state whose values it shows differences to."""
    calculators = (
        counts_calculator(state, before),
        rank_calculator(state, before),
        letter_calculator(state, before),
        grade_calculator(state, before),
    )
    precision, mrr, average, ndcg = calculators
    guide = _guide()
    proposed = _proposed(state)
    return LearnPage(
        schema=SCHEMA,
        address=state.address,
        state=state,
        wanted=_wanted(guide),
        dots=_dots(state),
        precision=precision,
        mrr=mrr,
        map=average,
        ndcg=ndcg,
        rank_rows=rank_rows(state),
        letter_rows=letter_rows(state),
        new_row=NEW_ROW,
        cards=cards_of(state.grades),
        missed=Grades().write(state.missed)[0],
        gains=_gains(ndcg),
        grade_rows=grade_rows(state),
        asked=_asked(state),
        proposed=proposed,
        command="assay evaluate qrels.txt my.run " + " ".join(f"-m {each.measure}" for each in proposed),
        python=f'import assay\n\nassay.evaluate("qrels.txt", "my.run", {names_of(each.measure for each in proposed)}).mean()',
        guide=guide,
        announcement=_announcement(calculators),
    )


def _guide() -> tuple[GuideRow, ...]:
    pages = (explained(definition) for definition in definitions())
    return tuple(
        GuideRow(page.name, page.summary, page.answers, page.misleads, page.pair, measure_address(page.name))
        for page in pages
        if page.answers
    )


def _wanted(guide: tuple[GuideRow, ...]) -> tuple[Wanted, ...]:
    by_name = {row.measure: row for row in guide}
    return tuple(Wanted(by_name[key].answers, name, f"#{place}") for key, (name, place) in ASKED.items())


def _dots(state: LearnState) -> Dots:
    hits, wrong, missed = state.hits, state.retrieved - state.hits, state.relevant - state.hits
    each = -(-(hits + wrong + missed) // MOST_DOTS) or 1
    groups = (("hit", hits), ("false", wrong), ("miss", missed))
    legend = (
        number_of(hits, "hit"),
        number_of(wrong, "false positive"),
        f"{missed:,} {plural('{miss|misses}', missed)}",
    )
    words = ", ".join(legend)
    if each > 1:
        words += f"; a dot stands for up to {each:,} documents"
    return Dots(tuple((kind, -(-count // each)) for kind, count in groups), legend, words)


def _gains(ndcg: Calculator) -> tuple[tuple[str, tuple[Figure, ...]], ...]:
    """The three figures of each gain."""
    size = len(ndcg.figures) // len(GAINS)
    return tuple((name, ndcg.figures[place * size : (place + 1) * size]) for place, name in enumerate(GAINS.values()))


def _asked(state: LearnState) -> tuple[Asked, ...]:
    return tuple(
        Asked(field, question.text, tuple((each.key, each.text) for each in question.answers), getattr(state, field))
        for field, question in zip(_ANSWERS, QUESTIONS, strict=True)
    )


_ANSWERS = ("looking", "kind", "judged")  # the fields of the three questions


def _proposed(state: LearnState) -> tuple[Proposed, ...]:
    answers = {question.key: getattr(state, field) for field, question in zip(_ANSWERS, QUESTIONS, strict=True)}
    return tuple(
        Proposed(each.measure, each.why, measure_address(each.measure)) for each in propose(answers, state.seen)
    )


def _announcement(calculators: tuple[Calculator, ...]) -> str:
    """The figures that have changed: the last one of each calculator, or the first that has."""
    changed = [figure for calculator in calculators for figure in calculator.figures if figure.change_shown]
    return "; ".join(f"{figure.name} {figure.shown}, {figure.change_shown}" for figure in changed[-4:])
