"""Which measure to use: three questions about a search, and the measures for each answer."""

from __future__ import annotations

from msgspec import Struct


class Answer(Struct, frozen=True):
    """One answer to a question, and the measures it calls for."""

    key: str
    text: str
    measures: tuple[str, ...]  # {k} is the number of results that people see
    why: str


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
                ("RR@{k}", "Success@{k}"),
                "how early the first good answer comes, and how often there is one",
            ),
            Answer(
                "several", "a page of good results", ("nDCG@{k}", "P@{k}"), "how good the page is, best results first"
            ),
            Answer(
                "everything",
                "everything there is",
                ("R@1000", "AP", "Rprec"),
                "how much is found, and how far people must read",
            ),
            Answer(
                "context",
                "passages for a language model",
                ("R@{k}", "nDCG@{k}"),
                "whether the needed passages are retrieved",
            ),
        ),
    ),
    Question(
        "grades",
        "How were documents judged?",
        (
            Answer("binary", "relevant or not", ("AP",), "precision at every relevant document, in one number"),
            Answer("graded", "in grades", ("nDCG@{k}",), "better documents count more"),
        ),
    ),
    Question(
        "judged",
        "How complete are the judgments?",
        (
            Answer("complete", "nearly all results were judged", (), ""),
            Answer(
                "sparse",
                "many results were never judged",
                ("Judged@{k}", "Bpref"),
                "how many results are judged, and a measure that ignores the unjudged ones",
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
        for measure in answer.measures:
            found.setdefault(measure.format(k=seen), answer.why)
    return [Proposal(measure, why) for measure, why in found.items()]
