"""Which measure when: three questions about a search, and the measures that answer them. Data and one function."""

from __future__ import annotations

from msgspec import Struct


class Answer(Struct, frozen=True):
    """One answer to a question, and the measures that it asks for."""

    key: str
    text: str
    measures: tuple[str, ...]  # {k} stands for the number of results that people see
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
                "how early the first good answer comes, and how often",
            ),
            Answer(
                "several", "a page of good results", ("nDCG@{k}", "P@{k}"), "how good the page is, best results first"
            ),
            Answer(
                "everything",
                "everything there is",
                ("R@1000", "AP", "Rprec"),
                "how much is found, and how far one must read",
            ),
            Answer(
                "context",
                "passages for a language model",
                ("R@{k}", "nDCG@{k}"),
                "whether the passages are there at all",
            ),
        ),
    ),
    Question(
        "grades",
        "How were documents judged?",
        (
            Answer("binary", "relevant or not", ("AP",), "precision at every relevant document, in one figure"),
            Answer("graded", "by degrees", ("nDCG@{k}",), "better documents weigh more"),
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
                "how many results have a judgment, and a measure that does not punish those without",
            ),
        ),
    ),
)


class Proposal(Struct, frozen=True):
    """A measure that is proposed, and why."""

    measure: str
    why: str


def propose(answers: dict[str, str], seen: int = 10) -> list[Proposal]:
    """The measures for these answers (question -> answer), for people who see so many results.

    >>> [proposal.measure for proposal in propose({"looking": "one", "grades": "binary", "judged": "complete"})]
    ['RR@10', 'Success@10', 'AP']
    """
    found: dict[str, str] = {}
    for question in QUESTIONS:
        answer = next(answer for answer in question.answers if answer.key == answers[question.key])
        for measure in answer.measures:
            found.setdefault(measure.format(k=seen), answer.why)
    return [Proposal(measure, why) for measure, why in found.items()]
