"""Random judgments and rankings, small enough to check by hand and odd enough to find mistakes."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from assay import Qrels, Run

GRADES = st.integers(-2, 4)
SCORES = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0])  # few, so that ties are common
DOCS = [f"d{number}" for number in range(12)] + ["D1", "é", "d#2", "zz"]
# Made once: strategies that are made anew for each example take longer than drawing from them.
SOME_DOCS = st.lists(st.sampled_from(DOCS), min_size=1, max_size=10, unique=True)
MORE_DOCS = st.lists(st.sampled_from(DOCS), min_size=1, max_size=12, unique=True)
REAL_GRADES = st.integers(0, 4)


@dataclass(frozen=True)
class Case:
    """Judgments and scores by query."""

    grades: dict[str, dict[str, int]]
    scores: dict[str, dict[str, float]]

    @property
    def qrels(self) -> Qrels:
        return qrels_of(self.grades)

    @property
    def run(self) -> Run:
        return run_of(self.scores)


def qrels_of(grades: dict[str, dict[str, int]]) -> Qrels:
    rows = [(query, doc, grade) for query, docs in grades.items() for doc, grade in docs.items()]
    return Qrels.from_columns([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def run_of(scores: dict[str, dict[str, float]]) -> Run:
    rows = [(query, doc, score) for query, docs in scores.items() for doc, score in docs.items()]
    return Run.from_columns([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def ranking(docs: list[str]) -> dict[str, float]:
    """Scores that put the documents in this order."""
    return {doc: float(len(docs) - place) for place, doc in enumerate(docs)}


@st.composite
def judged_docs(draw, grades=GRADES):
    """Grades of some documents, at least one of them judged for real."""
    docs = draw(SOME_DOCS)
    table = {doc: draw(grades) for doc in docs}
    if max(table.values()) < 0:
        table[docs[0]] = draw(REAL_GRADES)
    return table


@st.composite
def retrieved_docs(draw, scores=SCORES):
    docs = draw(MORE_DOCS)
    return {doc: draw(scores) for doc in docs}


@st.composite
def cases(draw, grades=GRADES, scores=SCORES, max_queries=4):
    """Several queries; some judged and not answered, some answered and not judged, at least one both."""
    queries = [f"q{number}" for number in range(draw(st.integers(1, max_queries)))]
    some_judged, some_retrieved = judged_docs(grades), retrieved_docs(scores)
    judged = {query: draw(some_judged) for query in queries}
    answered = {query: draw(some_retrieved) for query in queries if query == "q0" or draw(st.booleans())}
    if draw(st.booleans()):
        answered["unjudged"] = draw(some_retrieved)
    return Case(judged, answered)
