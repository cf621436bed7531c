"""Reranking by a language model that grades one document at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from msgspec.structs import replace

from assay.inputs.documents import Document
from assay.llm.answers import Answer, Token
from assay.retrieval.base import reranker
from assay.retrieval.prompted import Interview, Prompted
from assay.retrieval.reranking import Reranked, Work, by_score

GRADES = (0, 1, 2, 3)
_ALTERNATIVES = 20  # the most that servers give
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w-]|[.,]\d)", re.ASCII)


@reranker("a grade for each document, asked of a language model", extra="llm")
class Pointwise(Prompted, frozen=True):
    """The grade from 0 to 3 that is expected from the model's probabilities, or else the one that it says.

    `model` is a GGUF file or the name of one, or with `endpoint` a model of that server.
    """

    name: ClassVar[str] = "llm-pointwise"
    slots: ClassVar[tuple[str, ...]] = ("query", "passage")
    own_prompt: ClassVar[str] = "pointwise.txt"

    answer_tokens: int = 4
    max_characters: int = 2000

    @contextmanager
    def open(self) -> Iterator[OpenPointwise]:
        """Load the model, or connect to the server."""
        with self.opened() as interview:
            yield OpenPointwise(interview)


class OpenPointwise:
    """Grades documents. Several threads may ask at once."""

    def __init__(self, interview: Interview) -> None:
        self._interview = interview
        self.keep_account = interview.keep_account

    def rerank(self, query: str, documents: Sequence[Document]) -> Reranked:
        """The documents by their grades; those with equal grades keep their order."""
        grades, work, kept_seconds = [], Work(documents=len(documents)), 0.0
        for document in documents:
            passage = self._interview.passage(document.whole)
            reply = self._interview.ask(query, {"passage": passage}, _ALTERNATIVES)
            grade = grade_of(reply.answer)
            grades.append(GRADES[0] if grade is None else grade)
            work += replace(reply.work, windows=1, repaired=int(grade is None))
            kept_seconds += reply.kept_seconds
        cost = self._interview.prices.cost(work.tokens_in, work.tokens_out)
        return replace(by_score(grades, replace(work, cost=cost)), kept_seconds=kept_seconds)


def grade_of(answer: Answer) -> float | None:
    """The expected grade if there are probabilities of grades, else the grade in the text; None if there is neither.

    >>> grade_of(Answer("Grade: 2", 0, 0)), grade_of(Answer("excellent", 0, 0))
    (2.0, None)
    """
    expected = expected_grade(answer.tokens)
    return parsed_grade(answer.said) if expected is None else expected


def expected_grade(tokens: Sequence[Token]) -> float | None:
    """The mean of the grades, weighted with their probabilities where the model says the grade.

    That is the first token that is a grade, or else the first of the answer. Probabilities of other tokens are left out.

    >>> expected_grade([Token("2", (("2", math.log(0.5)), ("3", math.log(0.25)), ("The", math.log(0.25))))])
    2.333333333333333
    """
    place = next((token for token in tokens if _as_grade(token.text) is not None), tokens[0] if tokens else None)
    if place is None:
        return None
    known = [(_as_grade(text), logarithm) for text, logarithm in place.alternatives]
    found = [(grade, logarithm) for grade, logarithm in known if grade is not None and logarithm > -math.inf]
    if not found:
        return None
    highest = max(logarithm for _, logarithm in found)  # so that the sum is not 0
    weights = [(grade, math.exp(logarithm - highest)) for grade, logarithm in found]
    total = math.fsum(weight for _, weight in weights)
    return math.fsum(grade * (weight / total) for grade, weight in weights)


def parsed_grade(text: str) -> float | None:
    """The first number in a text, if it is a grade.

    >>> parsed_grade("2"), parsed_grade("I'd say 3 of 3."), parsed_grade("7 of 10"), parsed_grade("2.5")
    (2.0, 3.0, None, None)
    """
    found = _NUMBER.search(text)
    return None if found is None else _as_grade(found[0])


def _as_grade(text: str) -> float | None:
    bare = text.strip(" \t\n\u0120\u2581")  # blanks as tokenizers write them
    return float(bare) if bare in map(str, GRADES) else None
