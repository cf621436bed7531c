"""What stands in the calculators, as fields of the page's address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from assay.measures.guide import QUESTIONS
from assay.report.interactive.fields import (
    Field,
    FieldError,
    Given,
    Grades,
    OneOf,
    Ranks,
    Refused,
    Texts,
    Whole,
    address_of,
    check_number,
    read_fields,
)
from assay.words import number_of, plural

PATH = "/"
MOST_ROWS = 20
MOST_LETTERS = 200
RELEVANT, OTHER = "R", "N"
NO_RESULT = "-"  # a ranking without results: nothing at all is no ranking


class Letters(Struct, frozen=True):
    """Rankings as letters, with commas between them: R for a relevant result, N for another."""

    def read(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The rankings."""
        lists = tuple(self._letters(part) for text in texts for part in text.split(",")) if any(texts) else ()
        check_number(lists, MOST_ROWS, "list")
        for place, letters in enumerate(lists, 1):
            if set(letters) - {RELEVANT, OTHER}:
                words = f"write {RELEVANT} for a relevant result and {OTHER} for another, without anything else."
                raise Refused(words, place)
            if len(letters) > MOST_LETTERS:
                raise Refused(f"use at most {MOST_LETTERS} results; there are {len(letters):,}.", place)
        return lists

    def write(self, value: tuple[str, ...]) -> list[str]:
        """The rankings, with commas."""
        return [",".join(letters or NO_RESULT for letters in value)]

    @staticmethod
    def _letters(text: str) -> str:
        stripped = text.strip().upper()
        return "" if stripped == NO_RESULT else stripped

    @property
    def schema(self) -> dict[str, object]:
        """A JSON string."""
        return {"type": "string", "pattern": "^([RN]{1,40}|-)(,([RN]{1,40}|-)){0,19}$"}


class LearnState(Struct, frozen=True):
    """What stands in the calculators. The defaults are the examples that the page opens with."""

    hits: int = 5
    retrieved: int = 8
    relevant: int = 10
    query: tuple[str, ...] = ("Python error handling", "Machine learning basics", "REST API design")
    ranks: tuple[int | None, ...] = (1, 3, 2)  # of the first relevant document; None: not found
    at: int = 10
    lists: tuple[str, ...] = ("RNRNR",)
    totals: tuple[int, ...] = (4,)  # relevant documents of each list, found or not
    depth: int = 100
    grades: tuple[float | None, ...] = (3.0, 2.0, 0.0, 1.0, 2.0)
    missed: tuple[float, ...] = ()
    k: int = 5
    looking: str = "several"
    judged: str = "complete"
    kind: str = "graded"
    seen: int = 10

    @property
    def address(self) -> str:
        """The address of the page in this state."""
        return address_of(PATH, FIELDS, asdict(self))


_CHOICES = {question.key: OneOf(tuple(answer.key for answer in question.answers)) for question in QUESTIONS}
_START = LearnState()
FIELDS = (
    Field("hits", "relevant documents that were retrieved", Whole(0, 1000), _START.hits),
    Field("retrieved", "documents that were retrieved", Whole(0, 1000), _START.retrieved),
    Field("relevant", "relevant documents in the collection", Whole(0, 1000), _START.relevant),
    Field(
        "query", "name of a query of the MRR calculator; repeat it for more", Texts(MOST_ROWS, "query"), _START.query
    ),
    Field(
        "ranks",
        "rank of the first relevant document for each query; 0 if none was found",
        Ranks(missing=True, most=MOST_ROWS, noun="query"),
        _START.ranks,
    ),
    Field("at", "cutoff of MRR@k and hit rate", Whole(1, 1000), _START.at),
    Field("lists", "rankings of the MAP calculator: R relevant, N not", Letters(), _START.lists),
    Field(
        "totals",
        "relevant documents for each of these rankings, found or not",
        Ranks(most=MOST_ROWS, noun="list"),
        _START.totals,
    ),
    Field("depth", "cutoff of MAP@k", Whole(1, 1000), _START.depth),
    Field("grades", "grades of the results of the nDCG calculator, best result first", Grades(most=100), _START.grades),
    Field("missed", "grades of judged documents that are not in that list", Grades(False, most=100), _START.missed),
    Field("k", "cutoff of nDCG", Whole(1, 1000), _START.k),
    Field("looking", QUESTIONS[0].text, _CHOICES["looking"], _START.looking),
    Field("kind", QUESTIONS[1].text, _CHOICES["grades"], _START.kind),
    Field("judged", QUESTIONS[2].text, _CHOICES["judged"], _START.judged),
    Field("seen", "how many results people see", Whole(1, 1000), _START.seen),
)


def state_of(given: Given) -> LearnState:
    """The state that an address stands for."""
    values: Mapping[str, object] = read_fields(FIELDS, given)
    state = LearnState(**values)  # type: ignore[arg-type]
    for count, words, fix in ((state.retrieved, "retrieved", "Retrieved"), (state.relevant, "relevant", "Relevant")):
        if state.hits > count:
            number = number_of(count, "document")
            problem = f"{number_of(state.hits, 'document')} cannot be both retrieved and relevant if only {number} {{is|are}} {words}."
            raise FieldError("hits", f"{plural(problem, count)} Lower Both, or raise {fix}.")
    return state
