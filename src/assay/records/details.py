"""What pages show of single queries: the first documents of each ranking, and the best relevant ones that they lack.

These are no part of the record: they come from the same files, are limited in number, and `assay verify` does without them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.evaluation import Evaluation, Evaluator, Ranked, least_relevant
from assay.heads import Heads
from assay.judgments import Judgments
from assay.marking import heads_of
from assay.records.building import written_ids
from assay.records.curves import main_form
from assay.tables import Integers
from assay.words import natural_key

FIRST = 10  # documents of a ranking
LACKING = 10  # relevant documents that are not among them
EXTREMES = 100  # queries with the lowest values, and as many with the highest


class ShownDocument(Struct, frozen=True, gc=False):
    """A document of one query."""

    doc: str
    rank: int | None  # None: not retrieved
    rel: float | None  # grade; None: unjudged


class QueryDetail(Struct, frozen=True, gc=False):
    """The documents of one query."""

    retrieved: int
    relevant: int  # judged documents that are
    among_first: int  # of these
    unretrieved: int  # likewise
    first: tuple[ShownDocument, ...]  # by rank
    lacking: tuple[ShownDocument, ...]  # relevant, but not among the first; the highest grade first


class Details(Struct, frozen=True):
    """What a page shows besides the report; queries are written as in the report."""

    texts: Mapping[str, str]  # of queries; none if they are not known
    queries: Mapping[str, QueryDetail]  # all, or those with the lowest and the highest values
    relevant_from: float  # the lowest grade of relevant documents; just above 0 if every grade above 0 is relevant


NO_DETAILS = Details({}, {}, 0.0)


def details_of(evaluator: Evaluator, ranked: Ranked, evaluation: Evaluation, texts: Mapping[str, str]) -> Details:
    """The details of one run, from the same ranking as its curves."""
    written = written_ids(evaluation.queries)
    at = _main_column(evaluation)
    rel = least_relevant(None if at is None else evaluator.plans[at].measure)
    documents = _Documents(evaluator, ranked, rel)
    return Details(
        {name: texts[query] for name, query in zip(written, evaluation.queries, strict=True) if texts.get(query)},
        {written[place]: documents.of(evaluation.queries[place]) for place in _chosen(evaluation, at, written)},
        rel,
    )


def main_measure(totals: Sequence[str], valued: Sequence[bool]) -> int | None:
    """The index of the first measure with values that is not a sum; else of the first with values.

    >>> main_measure(["sum", "mean", "mean"], [True, False, True]), main_measure(["sum", "mean"], [True, False])
    (2, 0)
    """
    found = [at for at, known in enumerate(valued) if known]
    return next((at for at in found if totals[at] != "sum"), found[0] if found else None)


def _main_column(evaluation: Evaluation) -> int | None:
    totals = [request.measure.definition.total for request in evaluation.requests]
    return main_measure(totals, [not np.isnan(column).all() for column in evaluation.values.T])


def _chosen(evaluation: Evaluation, at: int | None, written: Sequence[str]) -> list[int]:
    """The places of the queries with details: all, or those at both ends by one measure, equal ones in natural order."""
    places = list(range(len(written)))
    if at is None or len(places) <= 2 * EXTREMES:
        return places[: 2 * EXTREMES]
    value = evaluation.values[:, at].tolist()
    ordered = sorted((place for place in places if not math.isnan(value[place])), key=lambda n: natural_key(written[n]))
    lowest = sorted(ordered, key=value.__getitem__)[:EXTREMES]
    highest = sorted(ordered, key=lambda place: -value[place])[:EXTREMES]
    return list(dict.fromkeys([*lowest, *highest]))


class _Documents:
    """Looks up the documents of one query after another."""

    def __init__(self, evaluator: Evaluator, ranked: Ranked, rel: float) -> None:
        ranking, form = main_form(evaluator, ranked)
        # Only queries without judgments can have duplicates here, since others were refused: nothing is lost.
        rules = replace(form.rules, duplicates="first") if form.rules.duplicates == "error" else form.rules
        self._rel = rel
        self._heads: Heads = heads_of(ranked.run, FIRST, rules, threads=evaluator.threads)
        topics = evaluator.topics if form.topics else None
        self._judgments: Judgments = evaluator.judgments if topics is None else topics.judgments
        self._rank = np.zeros(len(self._judgments.rel), np.int64)  # of each judged document; 0: not retrieved
        self._rank[ranking.hit_judgment] = ranking.hit_rank
        self._retrieved = dict(zip(ranking.queries, ranking.retrieved.tolist(), strict=True))

    def of(self, query: str) -> QueryDetail:
        judgments = self._judgments
        at = judgments.place[query]
        rows = np.arange(judgments.pool.start[at], judgments.pool.start[at + 1])
        rank, rel = self._rank[rows], judgments.rel[rows]
        near = (rank > 0) & (rank <= FIRST)
        relevant = rel >= self._rel
        return QueryDetail(
            retrieved=self._retrieved.get(query, 0),
            relevant=int(relevant.sum()),
            among_first=int((relevant & near).sum()),
            unretrieved=int((relevant & (rank == 0)).sum()),
            first=self._first(query, dict(zip(rank[near].tolist(), rel[near].tolist(), strict=True))),
            lacking=self._lacking(rows[relevant & ~near]),
        )

    def _first(self, query: str, grades: Mapping[int, float]) -> tuple[ShownDocument, ...]:
        heads = self._heads
        at = heads.place.get(query)
        docs = [] if at is None else heads.documents_at(np.arange(heads.start[at], heads.start[at + 1]))
        return tuple(ShownDocument(doc, rank, grades.get(rank)) for rank, doc in enumerate(docs, 1))

    def _lacking(self, rows: Integers) -> tuple[ShownDocument, ...]:
        """The best of some judged documents: by grade, then by rank, those that were not retrieved last."""
        rank, rel = self._rank[rows], self._judgments.rel[rows]
        order = np.lexsort((np.where(rank > 0, rank, np.iinfo(np.int64).max), -rel))[:LACKING]
        docs = self._judgments.doc_list
        return tuple(
            ShownDocument(docs[rows[place]], int(rank[place]) or None, float(rel[place])) for place in order.tolist()
        )
