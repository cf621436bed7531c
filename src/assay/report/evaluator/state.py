"""What is evaluated: one or two lists of graded results and a few settings, as fields of the page's address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from assay.report.interactive.addresses import EVALUATOR
from assay.report.interactive.fields import (
    MOST_RESULTS,
    Field,
    Given,
    Grades,
    Number,
    OneOf,
    Text,
    Texts,
    Whole,
    address_of,
    read_fields,
)
from assay.worked import GradedList

MOST_RELEVANT = 10_000
Item = TypeVar("Item")


class EvaluatorState(Struct, frozen=True):
    """The lists and the settings. The defaults are the example that the page opens with."""

    grades: tuple[float | None, ...] = (3.0, 2.0, 0.0, 1.0, 2.0)
    name: tuple[str, ...] = ()
    other: tuple[float | None, ...] = ()
    other_name: tuple[str, ...] = ()
    k: int = 5
    relevant: int | None = None
    missed: tuple[float, ...] = ()
    gain: str = "linear"
    rel: float = 1.0
    move: int | None = None
    title: str = ""

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        return address_of(EVALUATOR, FIELDS, asdict(self))

    @property
    def lists(self) -> tuple[GradedList, ...]:
        """The lists, judged against the same documents.

        These are the documents of the smallest collection that holds both lists: of each grade, as many as the list that
        has more of them. Relevant documents beyond these have the lowest relevant grade.
        """
        both = [self.grades, self.other] if self.other else [self.grades]
        counts = [Counter(grade for grade in grades if grade is not None) for grades in both]
        needed = counts[0] if len(counts) == 1 else counts[0] | counts[1]
        known = sum(number for grade, number in needed.items() if grade >= self.rel)
        known += sum(grade >= self.rel for grade in self.missed)
        filled = (self.rel,) * max((self.relevant or 0) - known, 0)
        return tuple(
            GradedList(grades, (*self.missed, *sorted((needed - own).elements(), reverse=True), *filled))
            for grades, own in zip(both, counts, strict=True)
        )

    def moved(self, start: int, end: int) -> EvaluatorState:
        """The first list with the result at one rank moved to another."""
        return replace(self, grades=_moved(self.grades, start, end), name=_moved_names(self, start, end), move=None)


def _moved(items: tuple[Item, ...], start: int, end: int) -> tuple[Item, ...]:
    rest = [*items[: start - 1], *items[start:]]
    return (*rest[: end - 1], items[start - 1], *rest[end - 1 :])


def _moved_names(state: EvaluatorState, start: int, end: int) -> tuple[str, ...]:
    names = _moved((*state.name, *[""] * (len(state.grades) - len(state.name)))[: len(state.grades)], start, end)
    named = max((place for place, name in enumerate(names, 1) if name), default=0)
    return names[:named]


_START = EvaluatorState()
FIELDS = (
    Field(
        "grades",
        "grades of the results, best result first, with commas between them; u is an unjudged result",
        Grades(),
        _START.grades,
        "3,2,0,1,2",
    ),
    Field("name", "names of the results in the same order; repeat it for each", Texts(), _START.name),
    Field("other", "grades of a second list for the same query, to compare with", Grades(), _START.other, "2,3,1,0,2"),
    Field("other_name", "names of the results of the second list", Texts(), _START.other_name),
    Field("k", "cutoff: how many results count for the measures at k", Whole(1, MOST_RESULTS), _START.k, "5"),
    Field(
        "relevant",
        "relevant documents in the collection, found or not; those beyond the lists have the lowest relevant grade",
        Whole(0, MOST_RELEVANT, optional=True),
        _START.relevant,
        "10",
    ),
    Field("missed", "grades of judged documents that are in no list", Grades(unjudged=False), _START.missed, "2,1"),
    Field("gain", "gain of a grade: the grade itself, or 2^grade - 1", OneOf(("linear", "exp")), _START.gain, "exp"),
    Field("rel", "lowest grade that counts as relevant", Number(0.001, 60), _START.rel, "1"),
    Field(
        "move", "rank of the result whose move is shown for every measure", Whole(2, MOST_RESULTS, True), _START.move
    ),
    Field("title", "what the list is, such as a query", Text(), _START.title),
)


def state_of(given: Given) -> EvaluatorState:
    """The state that an address stands for."""
    values: Mapping[str, object] = read_fields(FIELDS, given)
    return EvaluatorState(**values)  # type: ignore[arg-type]
