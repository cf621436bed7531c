"""Judgments by subtopic, and rankings judged by them. Does not read files or compute measures.

A query may have several intents. Diversity qrels judge a document for each of these subtopics, given in column 2 of the
file. So a judgment has the key (query, subtopic, document), and a document has one grade per subtopic it was judged for.
Documents are ranked by `marking.judge`, as for all measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.arrays import Remembers, starts
from assay.errors import show_id, some_of
from assay.judged import Arrangement, JudgedRanking
from assay.judges import merge_judges
from assay.judgments import Judgments, index_judgments
from assay.marking import judge
from assay.rules import Judges, Rules
from assay.tables import Floats, Ids, Integers, Qrels, Run, as_bytes


class TopicMatrix(Remembers, frozen=True, eq=False):
    """Grades of all judged documents by subtopic: a sparse matrix with one row per document.

    What depends only on it, such as the ideal ranking, is computed once for many runs.
    """

    cell_start: Integers  # document i has the cells cell_start[i]:cell_start[i + 1]; documents as in `Judgments`
    cell_subtopic: Integers  # index into `subtopics`, ascending within a document
    cell_rel: Floats  # grade
    doc: Ids
    doc_start: Integers  # query i has the documents doc_start[i]:doc_start[i + 1]
    subtopics: tuple[str, ...]  # ids, query by query
    subtopic_start: Integers  # query i has the subtopics subtopic_start[i]:subtopic_start[i + 1]

    @cached_property
    def cell_doc(self) -> Integers:
        """For each cell, its document."""
        return np.repeat(np.arange(len(self.doc)), np.diff(self.cell_start))

    @cached_property
    def doc_query(self) -> Integers:
        """For each document, the index of its query."""
        return np.repeat(np.arange(len(self.doc_start) - 1), np.diff(self.doc_start))

    @cached_property
    def subtopic_query(self) -> Integers:
        """For each subtopic, the index of its query."""
        return np.repeat(np.arange(len(self.subtopic_start) - 1), np.diff(self.subtopic_start))

    def by_falling_id(self, docs: Integers) -> Integers:
        """These documents sorted by query, and within a query by descending id in byte order."""
        ids = self.doc[docs].tolist()
        try:
            "".join(ids).encode()
        except UnicodeEncodeError:  # invalid UTF-8: only then do code points and bytes sort differently
            ids = [as_bytes(doc) for doc in ids]
        highest_first = docs[sorted(range(len(docs)), key=ids.__getitem__, reverse=True)]
        return np.asarray(highest_first[np.argsort(self.doc_query[highest_first], kind="stable")])

    def num_rel(self, rel: float) -> Integers:
        """The number of relevant documents of each subtopic."""
        return self.remember(
            ("num_rel", rel),
            lambda: np.bincount(self.cell_subtopic[self.cell_rel >= rel], minlength=len(self.subtopics)),
        )

    def num_subtopics(self, rel: float) -> Integers:
        """The number of subtopics of each query with a relevant document."""
        return self.remember(
            ("num_subtopics", rel),
            lambda: np.bincount(self.subtopic_query[self.num_rel(rel) > 0], minlength=len(self.subtopic_start) - 1),
        )

    def select(self, chosen: Integers) -> TopicMatrix:
        """The documents and subtopics of some of the queries, given by ascending index."""
        _, docs = members(self.doc_start, chosen)
        _, cells = members(self.cell_start, docs)
        _, subtopics = members(self.subtopic_start, chosen)
        place = np.zeros(len(self.subtopics), np.int64)
        place[subtopics] = np.arange(len(subtopics))
        return TopicMatrix(
            cell_start=starts(np.diff(self.cell_start)[docs]),
            cell_subtopic=place[self.cell_subtopic[cells]],
            cell_rel=self.cell_rel[cells],
            doc=self.doc[docs],
            doc_start=starts(np.diff(self.doc_start)[chosen]),
            subtopics=tuple(self.subtopics[number] for number in subtopics.tolist()),
            subtopic_start=starts(np.diff(self.subtopic_start)[chosen]),
        )


class TopicJudgments(Struct, frozen=True, eq=False):
    """Diversity qrels, indexed once and reused for many runs."""

    judgments: Judgments  # of distinct documents; the grade is the highest over all subtopics
    matrix: TopicMatrix

    def select(self, queries: Iterable[str]) -> TopicJudgments:
        """The judgments of some of the queries."""
        judgments = self.judgments.select(queries)
        chosen = np.array([self.judgments.place[query] for query in judgments.queries], np.int64)
        return TopicJudgments(judgments, self.matrix.select(chosen))


class Found(Struct, frozen=True, eq=False):
    """The relevant documents of a ranking, in rank order, once per subtopic they are relevant to."""

    hit: Integers  # index into the hits of the ranking, ascending
    subtopic: Integers  # index into the subtopics of the matrix, ascending within a hit
    nth: Integers  # position among the relevant documents of its subtopic, from 1


class JudgedTopics(Remembers, frozen=True, eq=False):
    """Rankings as diversity measures see them: judged documents in rank order, with their grades by subtopic."""

    ranking: JudgedRanking
    matrix: TopicMatrix  # of all judged queries; `ranking.hit_judgment` is the row of a hit
    place: Integers  # index of each query of the ranking among the queries of the matrix

    def __len__(self) -> int:
        return len(self.ranking)

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, in byte order."""
        return self.ranking.queries

    def num_subtopics(self, rel: float) -> Integers:
        """The number of subtopics of each query with a relevant document, retrieved or not."""
        return self.matrix.num_subtopics(rel)[self.place]

    def found(self, rel: float) -> Found:
        """The relevant documents by subtopic, cached for all measures."""
        return self.remember(("found", rel), lambda: _find(self.matrix, self.ranking.hit_judgment, rel))

    def only_judged(self) -> JudgedTopics:
        """The rankings without documents that are unjudged for every subtopic; the others move up."""
        return replace(self, ranking=self.ranking.only_judged())

    def reordered(self, arrangement: Arrangement, worth: Floats | None = None) -> JudgedTopics:
        """The rankings with ties in one of the orders that give the lowest or highest values."""
        return replace(self, ranking=self.ranking.reordered(arrangement, worth))

    def select(self, chosen: Integers) -> JudgedTopics:
        """The rankings of some of the queries, given by ascending index."""
        return replace(self, ranking=self.ranking.select(chosen), place=self.place[chosen])


def _find(matrix: TopicMatrix, row: Integers, rel: float) -> Found:
    """The relevant cells of these matrix rows, numbered within each subtopic."""
    hit, cell = members(matrix.cell_start, row)
    relevant = matrix.cell_rel[cell] >= rel
    hit, subtopic = hit[relevant], matrix.cell_subtopic[cell[relevant]]
    by_subtopic = np.argsort(subtopic, kind="stable")
    in_order = subtopic[by_subtopic]
    nth = np.empty(len(subtopic), np.int64)
    nth[by_subtopic] = np.arange(len(subtopic)) - np.searchsorted(in_order, in_order) + 1
    return Found(hit, subtopic, nth)


def members(start: Integers, chosen: Integers) -> tuple[Integers, Integers]:
    """The members of the chosen segments: for each, the position of its segment in `chosen`, and its index.

    >>> [column.tolist() for column in members(np.array([0, 2, 3, 6]), np.array([2, 0]))]
    [[0, 0, 0, 1, 1], [3, 4, 5, 0, 1]]
    """
    size = np.diff(start)[chosen]
    first = starts(size)
    place = np.repeat(np.arange(len(chosen)), size)
    return place, np.arange(first[-1]) + (start[chosen] - first[:-1])[place]


def index_topics(qrels: Qrels, judges: Judges = "error", *, whole_grades: bool = False) -> TopicJudgments:
    """Index judgments by query, document and subtopic. Without subtopics, each query has one.

    `judges` says which grade counts if a document is judged several times for a subtopic.

    >>> qrels = Qrels.from_columns(["q", "q", "q"], ["a", "a", "b"], [1, 3, 0], iteration=["1", "2", "1"])
    >>> index_topics(qrels).judgments.rel.tolist()
    [3.0, 0.0]
    """
    merged = merge_judges(qrels, judges, by_subtopic=True)
    qrels = merged.qrels.whole_grades() if whole_grades else merged.qrels
    judgments = replace(index_judgments(qrels, "best"), agreement=merged.agreement)
    names, code = _encode_subtopics(qrels)
    row = judgments.lookup.find(qrels.query, judgments.lookup.codes(qrels.doc))
    key = row * len(names) + code
    order = np.argsort(key, kind="stable")
    query_subtopic = qrels.query * len(names) + code
    distinct = np.unique(query_subtopic)
    matrix = TopicMatrix(
        cell_start=np.searchsorted(row[order], np.arange(len(judgments.docs) + 1)),
        cell_subtopic=np.searchsorted(distinct, query_subtopic[order]),
        cell_rel=qrels.rel[order],
        doc=judgments.docs,
        doc_start=judgments.pool.start,
        subtopics=tuple(names[number] for number in (distinct % max(len(names), 1)).tolist()),
        subtopic_start=np.searchsorted(distinct, np.arange(len(qrels.queries) + 1) * len(names)),
    )
    return TopicJudgments(judgments, matrix)


def doubt_about_subtopics(matrix: TopicMatrix) -> str:
    """Why column 2 of the qrels hardly holds subtopics; empty if it may hold them.

    Diversity qrels judge documents for several subtopics, and some queries have more subtopics than others. Rounds or
    iterations (0.5, 1 in TREC-COVID) give a document one value per query, and most queries have all of the values.

    >>> qrels = Qrels.from_columns(["q", "r"], ["a", "b"], [1, 1], iteration=["Q0", "Q0"])
    >>> doubt_about_subtopics(index_topics(qrels).matrix)
    "the qrels have no subtopics: column 2 is 'Q0' in every row"
    """
    queries = Counter(matrix.subtopics)
    if len(queries) == 1:
        return f"the qrels have no subtopics: column 2 is '{show_id(matrix.subtopics[0])}' in every row"
    judged = len(matrix.subtopic_start) - 1
    if judged < 2 or (np.diff(matrix.cell_start) > 1).any() or 2 * min(queries.values(), default=0) < judged:
        return ""
    return (
        f"column 2 of the qrels looks like rounds, not subtopics: no document has two values there, and most queries "
        f"have all of them ({some_of(sorted(queries))})"
    )


def _encode_subtopics(qrels: Qrels) -> tuple[list[str], Integers]:
    """The distinct subtopic ids, and the index of each judgment's subtopic among them.

    Short ids first, then byte order: this puts whole numbers in the order in which ndeval sums their gains.
    """
    if qrels.iteration is None:
        return ["0"], np.zeros(len(qrels), np.int64)
    names = sorted(set(qrels.iteration), key=lambda name: (len(name), as_bytes(name)))
    place = {name: number for number, name in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, qrels.iteration), np.int64, len(qrels))


def judge_topics(
    qrels: Qrels | TopicJudgments, run: Run, rules: Rules = Rules(), *, strays: bool = False
) -> JudgedTopics:
    """Rank the documents of a run by the rules and mark the judged ones with their grades by subtopic.

    >>> qrels = Qrels.from_columns(["q", "q"], ["b", "b"], [1, 1], iteration=["1", "2"])
    >>> topics = judge_topics(qrels, Run.from_columns(["q", "q"], ["a", "b"], [2.0, 1.0]))
    >>> topics.ranking.hit_rank.tolist(), topics.found(rel=1).subtopic.tolist()
    ([2], [0, 1])
    """
    topics = qrels if isinstance(qrels, TopicJudgments) else index_topics(qrels, rules.judges)
    return by_topics(topics, judge(topics.judgments, run, rules, strays=strays))


def by_topics(topics: TopicJudgments, ranking: JudgedRanking) -> JudgedTopics:
    """A ranking for these judgments, with grades by subtopic."""
    place = np.fromiter(map(topics.judgments.place.__getitem__, ranking.queries), np.int64, len(ranking))
    return JudgedTopics(ranking, topics.matrix, place)
