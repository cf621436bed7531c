"""Runs ranked once and scored under any labels: with unjudged documents as relevant, or with judgments removed.

A *pair* is a query and a document that was judged for it or that a run has near the top. Reads no files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.arrays import starts
from assay.evaluation import Evaluator, Plan, combined, places_of, values_under
from assay.judged import JudgedRanking
from assay.judgments import Judgments, Pool, index_judgments
from assay.marking import judge
from assay.rules import Rules
from assay.tables import Booleans, Floats, Ids, Integers, Qrels, Run


class Pairs(Struct, frozen=True):
    """All pairs, by query."""

    query: Integers  # index into the judged queries, ascending
    doc: Ids
    grade: Floats  # as judged; NaN if unjudged


class LabelledRuns(Struct, frozen=True, eq=False, dict=True):
    """Rankings of several runs over the same pairs."""

    systems: tuple[str, ...]
    queries: tuple[str, ...]
    pairs: Pairs
    plans: tuple[Plan, ...]  # one for each measure
    labels: tuple[str, ...]  # names of the measures
    top_grade: float
    rankings: tuple[tuple[JudgedRanking, ...], ...]  # for each run, by form of ranking

    @classmethod
    def of(cls, evaluator: Evaluator, runs: Sequence[Run], depth: int) -> LabelledRuns:
        """The runs under the evaluator's rules and measures, except measures that need more than a ranking.

        Unjudged documents in the first `depth` of a run can be given labels.
        """
        kept = [number for number, plan in enumerate(evaluator.plans) if plan.measure.definition.needs == "ranking"]
        pairs, rankings = _ranked_pairs(evaluator.judgments, runs, [form.rules for form in evaluator.forms], depth)
        return cls(
            systems=tuple(run.name for run in runs),
            queries=evaluator.judgments.queries,
            pairs=pairs,
            plans=tuple(evaluator.plans[number] for number in kept),
            labels=tuple(evaluator.requests[number].label for number in kept),
            top_grade=evaluator.judgments.top_grade,
            rankings=rankings,
        )

    @cached_property
    def rank(self) -> Integers:
        """The rank of each pair in each run, 0 if not retrieved: (runs, pairs)."""
        found = np.zeros((len(self.systems), len(self.pairs.query)), np.int64)
        for number, (first, *_) in enumerate(self.rankings):
            found[number, first.hit_judgment] = first.hit_rank
        return found

    @cached_property
    def retrieved(self) -> Integers:
        """The number of documents retrieved: (runs, queries)."""
        found = np.zeros((len(self.systems), len(self.queries)), np.int64)
        for number, (first, *_) in enumerate(self.rankings):
            found[number, places_of(first.queries, self.queries)] = first.retrieved
        return found

    @property
    def judged(self) -> Booleans:
        """Which pairs are judged, with any grade."""
        return ~np.isnan(self.pairs.grade)

    @property
    def only_relevant(self) -> bool:
        """Whether all judged documents are relevant, so that only relevant ones were listed (`ONLY_RELEVANT`)."""
        return bool((self.pairs.grade[self.judged] > 0).all())

    def within(self, depth: int) -> Booleans:
        """Which pairs are in the first `depth` of each run: (runs, pairs)."""
        return (self.rank > 0) & (self.rank <= depth)

    def holes(self, depth: int) -> Booleans:
        """Which unjudged pairs are in the first `depth` of any run."""
        return ~self.judged & self.within(depth).any(axis=0)

    def count(self, chosen: Booleans) -> Integers:
        """The number of chosen pairs of each query."""
        return np.bincount(self.pairs.query[chosen], minlength=len(self.queries))

    @cached_property
    def usual(self) -> Floats:
        """The values under the given judgments: (runs, queries, measures)."""
        return self._values(self.pairs.grade, range(len(self.rankings)), range(len(self.plans)))

    def values(
        self, grade: Floats, *, runs: Sequence[int] | None = None, columns: Sequence[int] | None = None
    ) -> Floats:
        """The values if pairs had these grades, NaN meaning unjudged: (runs, queries, measures).

        Means under different labels are over the same queries: one without a value under the given judgments has none
        here either, and one that loses all its relevant documents counts as 0.
        """
        numbers = range(len(self.rankings)) if runs is None else runs
        chosen = range(len(self.plans)) if columns is None else columns
        counts = ~np.isnan(self.usual[np.ix_(numbers, range(len(self.queries)), chosen)])
        return np.where(counts, np.nan_to_num(self._values(grade, numbers, chosen)), np.nan)

    def _values(self, grade: Floats, numbers: Sequence[int], chosen: Sequence[int]) -> Floats:
        pool = self._pool(grade)
        found = np.full((len(numbers), len(self.queries), len(chosen)), np.nan)
        for place, number in enumerate(numbers):
            rankings: dict[int, JudgedRanking] = {}
            for column, measure in enumerate(chosen):
                plan = self.plans[measure]
                if plan.form not in rankings:
                    rankings[plan.form] = self._labelled(self.rankings[number][plan.form], grade, pool)
                ranking = rankings[plan.form]
                rows = places_of(ranking.queries, self.queries)
                found[place, rows, column] = values_under(plan.measure, ranking, plan.rules)
        return found

    def _labelled(self, ranking: JudgedRanking, grade: Floats, pool: Pool) -> JudgedRanking:
        """The ranking with other labels."""
        rows = places_of(ranking.queries, self.queries)
        labelled = _only(ranking, ~np.isnan(grade))
        pool = pool if isinstance(rows, slice) else pool.select(rows)
        return replace(labelled, hit_rel=grade[labelled.hit_judgment], grades=None, pool=pool)

    def _pool(self, grade: Floats) -> Pool:
        known = ~np.isnan(grade)
        query, rel = self.pairs.query[known], grade[known]
        return Pool(rel[np.lexsort((-rel, query))], starts(np.bincount(query, minlength=len(self.queries))))

    def means(self, values: Floats, columns: Sequence[int] | None = None) -> Floats:
        """The mean of each run and measure, combined as the measure requires: (runs, measures)."""
        chosen = range(len(self.plans)) if columns is None else columns
        measures = [self.plans[column].measure for column in chosen]
        return np.array([[combined(m, table[:, i]) for i, m in enumerate(measures)] for table in values])


def _only(ranking: JudgedRanking, known: Booleans) -> JudgedRanking:
    """The ranking without unlabelled hits."""
    kept = known[ranking.hit_judgment]
    return ranking if kept.all() else ranking.keep(kept)


def _ranked_pairs(
    judgments: Judgments, runs: Sequence[Run], rules: Sequence[Rules], depth: int
) -> tuple[Pairs, tuple[tuple[JudgedRanking, ...], ...]]:
    """The pairs that can have a label, and each run ranked over them under each of the rules."""
    pairs, complete = _all_pairs(judgments, runs)
    rankings = [[judge(complete, run, rule) for rule in rules] for run in runs]
    kept = ~np.isnan(pairs.grade)
    for ranking in (ranking for row in rankings for ranking in row):
        kept[ranking.hit_judgment[ranking.hit_rank <= depth]] = True
    place = np.cumsum(kept) - 1

    def moved(ranking: JudgedRanking) -> JudgedRanking:
        fewer = _only(ranking, kept)
        return replace(fewer, top_grade=judgments.top_grade, hit_judgment=place[fewer.hit_judgment])

    found = tuple(tuple(map(moved, row)) for row in rankings)
    return Pairs(pairs.query[kept], pairs.doc[kept], pairs.grade[kept]), found


def _all_pairs(judgments: Judgments, runs: Sequence[Run]) -> tuple[Pairs, Judgments]:
    """Judged pairs and those only in runs, and all of them as judgments, so that all get a rank."""
    queries, docs = [judgments.pool.query], [judgments.docs]
    for run in runs:
        place = np.fromiter((judgments.place.get(query, -1) for query in run.queries), np.int64, len(run.queries))
        query = place[run.query] if len(run) else np.zeros(0, np.int64)
        inside = np.flatnonzero(query >= 0)
        found = judgments.lookup.find(query[inside], judgments.lookup.codes(run.doc[inside]))
        unjudged = inside[found < 0]
        queries.append(query[unjudged])
        docs.append(run.doc[unjudged])
    query, doc = np.concatenate(queries), np.concatenate(docs)
    first = _first_of_each(query, doc)
    query, doc = query[first], doc[first]
    grade = np.full(len(query), np.nan)
    grade[: len(judgments.rel)] = judgments.rel
    order = np.argsort(query, kind="stable")  # the order of indexed judgments
    complete = index_judgments(Qrels(judgments.queries, query, doc, np.nan_to_num(grade), source=judgments.source))
    return Pairs(query[order], doc[order], grade[order]), complete


def _first_of_each(query: Integers, doc: Ids) -> Integers:
    """The rows with the first occurrence of each query and document."""
    code: dict[str, int] = {}
    codes = np.fromiter((code.setdefault(text, len(code)) for text in doc), np.int64, len(doc))
    first = np.unique(query * max(len(code), 1) + codes, return_index=True)[1]
    return np.sort(first)
