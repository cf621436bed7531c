"""What is evaluated: one or two lists of graded results and a few settings, as fields of the page's address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from assay.report.interactive.matching import same_documents
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
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the results of each list; empty ones for those that have none."""
        first = _as_long(self.name, self.grades)
        return (first, _as_long(self.other_name, self.other)) if self.other else (first,)

    @property
    def lists(self) -> tuple[GradedList, ...]:
        """The lists, judged against the same documents: those of the smallest collection that holds both.

        Relevant documents beyond these have the lowest relevant grade.
        """
        both = [self.grades, self.other] if self.other else [self.grades]
        same = same_documents(both, self.names) if self.other else {}
        only = (
            [grade for place, grade in enumerate(self.grades) if place not in same.values()],
            [grade for place, grade in enumerate(self.other) if place not in same],
        )
        known = [*self.grades, *only[1], *self.missed]
        relevant = sum(grade is not None and grade >= self.rel for grade in known)
        filled = (self.rel,) * max((self.relevant or 0) - relevant, 0)
        return tuple(
            GradedList(grades, (*self.missed, *_falling(elsewhere), *filled))
            for grades, elsewhere in zip(both, (only[1], only[0]), strict=False)
        )

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Names that both lists have, with different grades."""
        if not self.other:
            return ()
        first, second = (
            {(name, grade) for name, grade in zip(names, grades, strict=True) if name}
            for names, grades in zip(self.names, (self.grades, self.other), strict=True)
        )
        shared = {name for name, _ in first} & {name for name, _ in second}
        return tuple(name for name in dict.fromkeys(self.name) if name in shared and not _agree(name, first, second))

    def moved(self, start: int, end: int) -> EvaluatorState:
        """The first list with the result at one rank moved to another."""
        return replace(self, grades=_moved(self.grades, start, end), name=_moved_names(self, start, end), move=None)


def _as_long(names: tuple[str, ...], grades: tuple[float | None, ...]) -> tuple[str, ...]:
    return (*names, *[""] * (len(grades) - len(names)))[: len(grades)]


def _falling(grades: Iterable[float | None]) -> list[float]:
    """The grades that there are, highest first."""
    return sorted((grade for grade in grades if grade is not None), reverse=True)


def _agree(name: str, *lists: set[tuple[str, float | None]]) -> bool:
    """Whether lists give the documents of a name the same grades."""
    return len({frozenset(grade for each, grade in named if each == name) for named in lists}) == 1


def _moved(items: tuple[Item, ...], start: int, end: int) -> tuple[Item, ...]:
    rest = [*items[: start - 1], *items[start:]]
    return (*rest[: end - 1], items[start - 1], *rest[end - 1 :])


def _moved_names(state: EvaluatorState, start: int, end: int) -> tuple[str, ...]:
    names = _moved(state.names[0], start, end)
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
