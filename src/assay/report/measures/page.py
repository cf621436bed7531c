"""The value of a measure's page: its explanation, an example that can be changed, and what each result does for it."""

from __future__ import annotations

from msgspec import Struct

from assay.errors import MeasureError
from assay.measures import Definition, definitions
from assay.measures.explain import Page, example_in_words, page
from assay.report.interactive.addresses import EVALUATOR, MEASURES, measure_address
from assay.report.interactive.again import SINGLE, Again, again, again_by_topics
from assay.report.interactive.cards import Card, cards_of
from assay.report.interactive.fields import Field, Grades
from assay.report.interactive.figures import Figure, figure, signed
from assay.report.measures.state import MeasureState, fields_of, written
from assay.report.measures.texts import FAMILIES, by_family
from assay.worked import GradedList, Line, TopicList, topic_values, values, worked, worth

MEASURE_SCHEMA, MEASURES_SCHEMA = "assay/measure-page/1", "assay/measures-page/1"
DEEPEST = 50


class Parameter(Struct, frozen=True):
    """A parameter of the measure, as an input."""

    field: str
    name: str
    text: str  # the value
    default: str
    meaning: str
    choices: tuple[tuple[str, str], ...]  # known values, with the words for each
    open: bool  # takes other values, too


class Link(Struct, frozen=True):
    """Another measure."""

    name: str
    address: str


class MeasurePage(Struct, frozen=True):
    """The page, ready to be printed."""

    schema: str
    address: str
    explained: Page
    family: str
    by_topics: bool
    measures: dict[str, float]
    figure: Figure
    parameters: tuple[Parameter, ...]
    path: str  # of the page, without its state
    cards: tuple[Card, ...]
    adds: tuple[str, ...]  # what each result adds to the value; empty for measures by subtopic
    missed: str
    lines: tuple[Line, ...]
    again: Again
    evaluator: str  # the same list there
    previous: Link | None
    following: Link | None
    announcement: str


class Entry(Struct, frozen=True):
    """A measure in the list of all."""

    name: str
    summary: str
    names: str  # other names, here and in other tools
    value: str  # for the example
    label: str
    address: str


class Family(Struct, frozen=True):
    """A family of measures."""

    name: str
    entries: tuple[Entry, ...]


class MeasuresPage(Struct, frozen=True):
    """The list of all measures."""

    schema: str
    address: str
    count: int
    example: str  # the list of all examples
    families: tuple[Family, ...]
    again: Again


_LISTED = Again(
    "assay measures list",
    "import assay\n\nfor definition in assay.measures.definitions():\n    print(definition.name, definition.summary)",
)


def list_page() -> MeasuresPage:
    """All measures, family by family."""
    pages = [page(definition) for definition in definitions()]
    families = tuple(Family(name, tuple(_entry(each) for each in members)) for name, members in by_family(pages))
    return MeasuresPage(MEASURES_SCHEMA, MEASURES, len(pages), example_in_words(), families, _LISTED)


def _entry(explained: Page) -> Entry:
    label, value = explained.example_value
    names = [name for _, listed in explained.names for name in listed.split(", ")]
    others = dict.fromkeys(name for name in names if name.partition("@")[0] != explained.name)
    address = measure_address(explained.name)
    return Entry(explained.name, explained.summary, ", ".join(others), f"{value:.4f}", label, address)


def page_of(definition: Definition, state: MeasureState, before: MeasureState | None = None) -> MeasurePage:
    """The page of a measure with this example; `before` is the state whose value it shows the difference to."""
    measure, ranked = state.measure, state.ranked
    value = _value(state)
    explained = page(definition)
    found = figure(str(measure), str(measure), value, _value_before(before))
    lines = worked(measure, ranked) if isinstance(ranked, GradedList) else ()
    return MeasurePage(
        schema=MEASURE_SCHEMA,
        address=state.address,
        explained=explained,
        family=FAMILIES.get(explained.family, explained.family),
        by_topics=state.by_topics,
        measures={str(measure): value},
        figure=found,
        parameters=_parameters(definition, state),
        path=measure_address(definition.name),
        cards=_cards(state),
        adds=_adds(state),
        missed=state.missed_as_text,
        lines=lines,
        again=_again(ranked, str(measure)),
        evaluator=_evaluator(ranked),
        **_neighbours(definition),
        announcement=f"{found.name} {found.shown}, {found.change_shown}" if found.change_shown else "",
    )


def _value(state: MeasureState) -> float:
    measure, ranked = state.measure, state.ranked
    found = topic_values([ranked], [measure]) if isinstance(ranked, TopicList) else values([ranked], [measure])
    for problem in found.problems.values():
        raise MeasureError(problem)
    return float(found.table[0, 0])


def _value_before(before: MeasureState | None) -> float | None:
    try:
        return None if before is None else _value(before)
    except MeasureError:
        return None


def _cards(state: MeasureState) -> tuple[Card, ...]:
    ranked = state.ranked
    if isinstance(ranked, GradedList):
        return cards_of(ranked.grades)
    texts = ("" if covers is None else "".join(covers) or "0" for covers in ranked.covers)
    return tuple(Card(rank, text) for rank, text in enumerate(texts, 1))


def _adds(state: MeasureState) -> tuple[str, ...]:
    ranked = state.ranked
    if isinstance(ranked, TopicList) or not len(ranked):
        return ()
    return tuple(signed(add).lstrip("+") for add in worth(ranked, [state.measure], DEEPEST)[:, 0].tolist())


def _again(ranked: GradedList | TopicList, measure: str) -> Again:
    return again({SINGLE: ranked}, [measure]) if isinstance(ranked, GradedList) else again_by_topics(ranked, [measure])


def _parameters(definition: Definition, state: MeasureState) -> tuple[Parameter, ...]:
    return tuple(
        _parameter(definition, name, field, state)
        for field in fields_of(definition)
        if (name := field.name.removeprefix("p.")) != field.name
    )


def _parameter(definition: Definition, name: str, field: Field, state: MeasureState) -> Parameter:
    known = definition.parameter(name)
    choices = tuple((written(choice), _CHOSEN.get(choice, str(choice))) for choice in known.choices)
    is_open = known.open or not choices
    text = state.values[field.name] if is_open else written(state.measure.param(name))
    return Parameter(field.name, name, text, str(field.default), field.meaning, choices, is_open)


_CHOSEN = {True: "yes", False: "no"}


def _evaluator(ranked: GradedList | TopicList) -> str:
    if isinstance(ranked, TopicList):
        return EVALUATOR
    missed = f"&missed={Grades().write(ranked.missed)[0]}" if ranked.missed else ""
    return f"{EVALUATOR}?grades={Grades().write(ranked.grades)[0]}{missed}"


def _neighbours(definition: Definition) -> dict[str, Link | None]:
    names = [each.name for each in definitions()]
    place = names.index(definition.name)
    before = names[place - 1] if place else None
    after = names[place + 1] if place + 1 < len(names) else None
    return {
        key: None if name is None else Link(name, measure_address(name))
        for key, name in (("previous", before), ("following", after))
    }
