"""Random diversity judgments and rankings, small enough to check by hand and odd enough to find mistakes."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from assay import Qrels, Run
from strategies import SCORES, run_of

DOCS = [f"d{number}" for number in range(22)] + ["D1", "é", "d#2", "zz"]
SUBTOPICS = ["1", "2", "3", "5", "8", "10", "12"]
ALPHAS = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0])
BETAS = st.sampled_from([0.2, 0.5, 0.8, 0.95])

Grades = dict[str, dict[str, dict[str, int]]]  # query -> subtopic -> document -> grade


@dataclass(frozen=True)
class TopicCase:
    """Judgments by query and subtopic, and scores by query."""

    grades: Grades
    scores: dict[str, dict[str, float]]

    @property
    def qrels(self) -> Qrels:
        return topic_qrels(self.grades)

    @property
    def run(self) -> Run:
        return run_of(self.scores)


def topic_rows(grades: Grades) -> list[tuple[str, str, str, int]]:
    """Query, subtopic, document and grade of each judgment, subtopics in the order of their numbers."""
    rows = [(q, s, doc, grade) for q, by in grades.items() for s, docs in by.items() for doc, grade in docs.items()]
    return sorted(rows, key=lambda row: int(row[1]))


def topic_qrels(grades: Grades) -> Qrels:
    query, subtopic, doc, grade = zip(*topic_rows(grades), strict=True)
    return Qrels.from_columns(query, doc, grade, iteration=subtopic)


SOME_SUBTOPICS = st.lists(st.sampled_from(SUBTOPICS), min_size=1, unique=True)


@st.composite
def judged_subtopics(draw, docs=DOCS):
    """Grades of some documents for some subtopics."""
    subtopics = draw(SOME_SUBTOPICS)
    some = st.dictionaries(st.sampled_from(docs), st.integers(0, 2), min_size=1, max_size=10)
    return {subtopic: draw(some) for subtopic in subtopics}


@st.composite
def topic_cases(draw, scores=SCORES, max_queries=3):
    """Several queries; some judged and not answered, some answered and not judged, at least one both."""
    retrieved = st.dictionaries(st.sampled_from(DOCS), scores, min_size=1)
    queries = [f"q{number}" for number in range(draw(st.integers(1, max_queries)))]
    some_judged = judged_subtopics()
    judged = {query: draw(some_judged) for query in queries}
    answered = {query: draw(retrieved) for query in queries if query == "q0" or draw(st.booleans())}
    if draw(st.booleans()):
        answered["unjudged"] = draw(retrieved)
    return TopicCase(judged, answered)
