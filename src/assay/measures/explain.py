"""A page about a measure, built from the registry: summary, formula, edge cases, parameters, names and an example.

The docs and `assay measures explain` print the same value.
"""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from assay.measures.core import Definition, Measure
from assay.tables import Qrels, Run
from assay.topics import JudgedTopics, judge_topics

# The ranking of all examples. None: an unjudged document. "e" is relevant and was not retrieved.
EXAMPLE_RANKING: tuple[tuple[str, int | None], ...] = (("x", None), ("a", 3), ("b", 2), ("c", 0), ("d", 1), ("f", 2))
EXAMPLE_NOT_RETRIEVED = (("e", 1),)
EXAMPLE_SUBTOPICS = {"a": "12", "b": "1", "c": "1", "d": "2", "f": "3", "e": "3"}  # for which they were judged
EXAMPLE_SETTING: dict[str, float] = {"cutoff": 4, "recall": 0.4, "multiple": 1.2}


class Page(Struct, frozen=True):
    """The explanation of one measure."""

    name: str
    summary: str
    formula: str
    edges: str
    answers: str  # the question it answers
    misleads: str  # when not to trust it
    pair: str  # what to report with it
    parameters: tuple[tuple[str, str, str], ...]  # name, default, meaning
    range: str
    combined: str
    names: tuple[tuple[str, str], ...]  # tool, its name for it
    paper: str
    example: str  # the arithmetic in words
    example_value: tuple[str, float]
    family: str


def page(definition: Definition) -> Page:
    """The page of one measure."""
    sections = _sections(definition.text)
    measure = example_measure(definition)
    return Page(
        name=definition.name,
        summary=definition.summary,
        formula=sections.get("Formula", ""),
        edges=sections.get("Edges", ""),
        answers=sections.get("Answers", ""),
        misleads=sections.get("Misleads", ""),
        pair=sections.get("Pair with", ""),
        parameters=tuple(_parameter_rows(definition)),
        range="any number" if definition.bounds is None else "{:g} to {:g}".format(*definition.bounds),
        combined=_COMBINED[definition.total],
        names=tuple(_names(definition)),
        paper=definition.paper,
        example=sections.get("Example", ""),
        example_value=(str(measure), float(measure.values(example_judged())[0])),
        family=definition.family,
    )


_COMBINED = {
    "mean": "the mean over queries",
    "sum": "the sum over queries",
    "geometric": "the geometric mean over queries",
}


def example_measure(definition: Definition) -> Measure:
    """The measure of the example, with its required parameters filled in."""
    given = {name: EXAMPLE_SETTING[name] for name in definition.required}
    return Measure(definition.name)(**given)


@cache
def example_judged() -> JudgedTopics:
    """The ranking of the examples, judged."""
    judged = [
        (doc, grade, subtopic)
        for doc, grade in (*EXAMPLE_RANKING, *EXAMPLE_NOT_RETRIEVED)
        if grade is not None
        for subtopic in EXAMPLE_SUBTOPICS[doc]
    ]
    docs, grades, subtopics = zip(*judged, strict=True)
    qrels = Qrels.from_columns(["q"] * len(judged), docs, grades, iteration=subtopics)
    ranked = [doc for doc, _ in EXAMPLE_RANKING]
    run = Run.from_columns(["q"] * len(ranked), ranked, list(range(len(ranked), 0, -1)))
    return judge_topics(qrels, run, strays=True)


def example_in_words(*, topics: bool = False) -> str:
    """The ranking of the examples in words; `topics` adds the subtopics, which only diversity measures use."""
    grades = ", ".join("unjudged" if grade is None else str(grade) for _, grade in EXAMPLE_RANKING)
    missed = ", ".join(str(grade) for _, grade in EXAMPLE_NOT_RETRIEVED)
    words = f"a ranking with the grades {grades}; one more document, of grade {missed}, was not retrieved"
    subtopics = "; the documents at ranks 2 to 6 are relevant to subtopics 1 and 2, 1, none, 2 and 3, the one not retrieved to 3"
    return words + subtopics if topics else words


def _sections(text: str) -> dict[str, str]:
    """The paragraphs of a docstring after the first, by their headings: Formula, Edges, Example."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n")[1:])
    return {heading: rest for heading, _, rest in (paragraph.partition(": ") for paragraph in paragraphs)}


def _parameter_rows(definition: Definition) -> list[tuple[str, str, str]]:
    defaults = definition.defaults
    return [
        (name, repr(defaults[name]) if name in defaults else "required", definition.parameter(name).meaning)
        for name in definition.takes
    ]


def _names(definition: Definition) -> list[tuple[str, str]]:
    rows = []
    if definition.aliases:
        rows.append(("here also", ", ".join(definition.aliases)))
    if definition.trec:
        rows.append(("trec_eval", ", ".join(name for name in definition.trec)))
    return rows + list(definition.elsewhere.items())
