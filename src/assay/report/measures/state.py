"""The example of a measure's page, as fields of its address: graded results, or results by subtopic, and the parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from assay.errors import ParameterError, show_id
from assay.measures import Definition, Measure
from assay.measures.explain import EXAMPLE_NOT_RETRIEVED, EXAMPLE_RANKING, EXAMPLE_SETTING, EXAMPLE_SUBTOPICS
from assay.report.interactive.addresses import measure_address
from assay.report.interactive.fields import (
    UNJUDGED,
    Field,
    FieldError,
    Given,
    Grades,
    Refused,
    Text,
    address_of,
    check_number,
    read_fields,
)
from assay.worked import GradedList, TopicList

MOST_LISTED = 100  # results of an example
_LITERAL = 80  # characters of a parameter

Covers = tuple[tuple[str, ...] | None, ...]


class Subtopics(Struct, frozen=True):
    """The subtopics of each result, with commas between results: 12,1,0,u are 1 and 2, 1, none, and an unjudged result."""

    unjudged: bool = True

    def read(self, texts: Sequence[str]) -> Covers:
        """The subtopics of each result; None for an unjudged one."""
        parts = [part.strip() for text in texts for part in text.split(",")]
        parts = [] if parts == [""] else parts
        check_number(parts, MOST_LISTED, "result")
        return tuple(self._covers(part, place) for place, part in enumerate(parts, 1))

    def _covers(self, text: str, place: int) -> tuple[str, ...] | None:
        if text in (UNJUDGED, "") and self.unjudged:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            also = f", or {UNJUDGED} for an unjudged result" if self.unjudged else ""
            words = f"{show_id(text, 40)!r} is not a set of subtopics: use digits, such as 12; 0 for none{also}."
            raise Refused(words, place)
        return tuple(sorted(set(text) - {"0"}))

    def write(self, value: Covers) -> list[str]:
        """The subtopics, with commas between results."""
        return [",".join(UNJUDGED if covers is None else "".join(covers) or "0" for covers in value)]

    @property
    def schema(self) -> dict[str, object]:
        """A JSON string."""
        one = "([0-9]{1,9}|u)" if self.unjudged else "[0-9]{1,9}"
        return {"type": "string", "pattern": f"^({one}(,{one}){{0,20}})?$"}


class MeasureState(Struct, frozen=True):
    """The example of one measure."""

    name: str
    values: dict[str, Any]  # by field

    @property
    def by_topics(self) -> bool:
        """Whether the results are given by subtopics."""
        return "covers" in self.values

    @property
    def measure(self) -> Measure:
        """The measure with the parameters of the example."""
        definition = Measure(self.name).definition
        given = {name: text for name in definition.takes if (text := self.values[f"p.{name}"])}
        return Measure(self.name)(
            **{name: _parameter(self.name, name, text) for name, text in given.items()}
        ).complete()

    @property
    def ranked(self) -> GradedList | TopicList:
        """The results of the example."""
        if self.by_topics:
            return TopicList(self.values["covers"], self.values["missed"])
        return GradedList(self.values["grades"], self.values["missed"])

    @property
    def missed_as_text(self) -> str:
        """The judged documents that are not in the list, as the field has them."""
        kind = Subtopics(unjudged=False) if self.by_topics else Grades(unjudged=False)
        return kind.write(self.values["missed"])[0]

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        return address_of(measure_address(self.name), fields_of(Measure(self.name).definition), self.values)


def fields_of(definition: Definition) -> tuple[Field, ...]:
    """The fields of a measure's page: the example, and each parameter under its name with p. before it."""
    parameters = tuple(
        Field(f"p.{name}", definition.parameter(name).meaning, Text(_LITERAL), _default(definition, name))
        for name in definition.takes
    )
    return (*(_topic_fields() if definition.needs == "topics" else _grade_fields()), *parameters)


def _grade_fields() -> tuple[Field, ...]:
    grades = tuple(None if grade is None else float(grade) for _, grade in EXAMPLE_RANKING)
    missed = tuple(float(grade) for _, grade in EXAMPLE_NOT_RETRIEVED)
    return (
        Field(
            "grades", "grades of the results, best result first; u is an unjudged one", Grades(most=MOST_LISTED), grades
        ),
        Field("missed", "grades of judged documents that are not in the list", Grades(False, most=MOST_LISTED), missed),
    )


def _topic_fields() -> tuple[Field, ...]:
    covers = tuple(
        None if grade is None else tuple(EXAMPLE_SUBTOPICS[doc]) if grade > 0 else () for doc, grade in EXAMPLE_RANKING
    )
    missed = tuple(tuple(EXAMPLE_SUBTOPICS[doc]) for doc, _ in EXAMPLE_NOT_RETRIEVED)
    return (
        Field(
            "covers",
            "subtopics of each result, best result first: 12,1,0,u; 0 is none, u unjudged",
            Subtopics(),
            covers,
        ),
        Field("missed", "subtopics of judged documents that are not in the list", Subtopics(unjudged=False), missed),
    )


def _default(definition: Definition, name: str) -> str:
    value = definition.defaults.get(name, EXAMPLE_SETTING.get(name))
    return written(value)


def written(value: Any) -> str:
    """A value of a parameter as its field has it; empty for None."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _parameter(measure: str, name: str, text: str) -> Any:
    """The value of a parameter; one that the measure does not take is refused here, where its field is known."""
    try:
        value = _literal(name, text)
        Measure(measure)(**{name: value})
    except ParameterError as error:
        raise FieldError(f"p.{name}", str(error).removeprefix(f"{measure}: ")) from None
    return value


def _literal(name: str, text: str) -> Any:
    """A parameter as it is written in a measure's name; words need no quotation marks."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if text.strip().isidentifier():
            return text.strip()
        words = (
            f"{name} cannot be {show_id(text)!r}: write a number, a word, True, False or a map such as {{1: 3, 2: 9}}."
        )
        raise ParameterError(words) from None


def state_of(definition: Definition, given: Given) -> MeasureState:
    """The state that an address stands for."""
    values: Mapping[str, Any] = read_fields(fields_of(definition), given)
    return MeasureState(definition.name, dict(values))
