"""Which measure to use: three questions about a search, and the measures for each answer."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Answer(Struct, frozen=True):
    """One answer to a question, and the measures it calls for."""

    key: str
    text: str
    measures: Mapping[str, str]  # measure -> why; {k} is the number of results that people see


class Question(Struct, frozen=True):
    """A question with its answers."""

    key: str
    text: str
    answers: tuple[Answer, ...]


QUESTIONS: tuple[Question, ...] = (
    Question(
        "looking",
        "What are people looking for?",
        (
            Answer(
                "one",
                "one good answer",
                {"RR@{k}": "how early the first good answer comes", "Success@{k}": "how often there is a good answer"},
            ),
            Answer(
                "several",
                "a page of good results",
                {"nDCG@{k}": "whether the best results come first", "P@{k}": "how many results on the page are good"},
            ),
            Answer(
                "everything",
                "everything there is",
                {
                    "R@1000": "how many of the relevant documents are found",
                    "AP": "how early all of the relevant documents come",
                    "Rprec": "how many are found at the rank where a perfect ranking would end",
                },
            ),
            Answer(
                "context",
                "passages for a language model",
                {
                    "R@{k}": "how many of the needed passages the model gets",
                    "nDCG@{k}": "whether the best passages come first",
                },
            ),
        ),
    ),
    Question(
        "grades",
        "How were documents judged?",
        (
            Answer("binary", "relevant or not", {"AP": "precision at every relevant document, in one number"}),
            Answer("graded", "in grades", {"nDCG@{k}": "better documents count more"}),
        ),
    ),
    Question(
        "judged",
        "How complete are the judgments?",
        (
            Answer("complete", "nearly all results were judged", {}),
            Answer(
                "sparse",
                "many results were never judged",
                {
                    "Judged@{k}": "how many of the results are judged; with few, the other measures say little",
                    "Bpref": "how judged documents are ordered; it ignores the unjudged ones",
                },
            ),
        ),
    ),
)


class Proposal(Struct, frozen=True):
    """A suggested measure, and why."""

    measure: str
    why: str


def propose(answers: dict[str, str], seen: int = 10) -> list[Proposal]:
    """The measures for these answers (question -> answer), for people who see `seen` results.

    >>> [proposal.measure for proposal in propose({"looking": "one", "grades": "binary", "judged": "complete"})]
    ['RR@10', 'Success@10', 'AP']
    """
    found: dict[str, str] = {}
    for question in QUESTIONS:
        answer = next(answer for answer in question.answers if answer.key == answers[question.key])
        for measure, why in answer.measures.items():
            found.setdefault(measure.format(k=seen), why)
    return [Proposal(measure, why) for measure, why in found.items()]
