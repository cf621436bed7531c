"""Rankings in the sparse form that measures use. Does not read files or compute measures.

A measure only needs the rank and grade of documents that are both retrieved and judged ("hits"), the number of retrieved
documents, and the grades of all judged documents ("pool"). `marking.judge` creates this form, `JudgedRanking`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec.structs import replace

from assay.arrays import Remembers, changes, count_per_segment, running_count
from assay.judgments import Pool
from assay.tables import Booleans, Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt


class JudgedRanking(Remembers, frozen=True, eq=False):
    """Rankings as measures see them: documents that are both retrieved and judged, in rank order."""

    queries: tuple[str, ...]  # in byte order
    retrieved: Integers  # number of retrieved documents per query
    hit_query: Integers  # index into `queries`, ascending
    hit_rank: Integers  # from 1
    hit_rel: Floats  # grade; negative: pooled but not judged
    hit_tie_first: Integers  # first rank of the documents with the same score ...
    hit_tie_last: Integers  # ... and last
    hit_judgment: Integers  # index of the hit's judgment in `Judgments`
    pool: Pool
    top_grade: float  # highest grade of the whole qrels, even after a split into parts
    grades: Floats | None = None  # of `Judgments`, where the rules change the grade of some hits
    stray_query: Integers | None = None  # documents judged only for other queries, on request
    stray_rank: Integers | None = None
    missing: tuple[str, ...] = ()  # judged queries missing from the run
    unjudged: tuple[str, ...] = ()  # queries of the run without judgments, in byte order
    tag: str = ""  # of the run

    def __post_init__(self) -> None:
        ties = (self.hit_tie_first, self.hit_tie_last)
        for column in (self.retrieved, self.hit_rank, self.hit_rel, *ties, self.pool.grade):
            column.setflags(write=False)  # all measures share the ranking

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def hit_start(self) -> Integers:
        """The hits of query i are hit_start[i]:hit_start[i + 1]."""
        return np.searchsorted(self.hit_query, np.arange(len(self) + 1))

    @cached_property
    def deepest(self) -> int:
        """The deepest rank of any hit."""
        return int(self.hit_rank.max(initial=0))

    def within(self, cutoff: int) -> Integers:
        """Indices of the hits within the first `cutoff` ranks, shared by measures."""
        return self.remember(("within", cutoff), lambda: np.flatnonzero(self.hit_rank <= cutoff))

    def num_within(self, cutoff: int) -> int:
        """The number of hits of all queries within the first `cutoff` ranks."""
        return len(self.within(cutoff)) if cutoff < self.deepest else len(self.hit_rank)

    def relevant(self, rel: float, cutoff: int | None = None) -> Booleans:
        """Which hits are relevant, within the first `cutoff` ranks."""
        mask = self.remember(("relevant", rel), lambda: self.hit_rel >= rel)
        return mask if cutoff is None or cutoff >= self.deepest else mask & (self.hit_rank <= cutoff)

    def relevant_hits(self, rel: float, cutoff: int | None = None) -> Integers:
        """Indices of the relevant hits within the first `cutoff` ranks."""
        if cutoff is None or cutoff >= self.deepest:
            return self.remember(("relevant hits", rel), lambda: np.flatnonzero(self.hit_rel >= rel))
        hits = self.within(cutoff)
        return hits[self.hit_rel[hits] >= rel]

    def num_found(self, rel: float, cutoff: int | None = None) -> Integers:
        """The number of relevant documents retrieved for each query within the first `cutoff` ranks."""
        return np.bincount(self.hit_query[self.relevant_hits(rel, cutoff)], minlength=len(self))

    def num_retrieved(self, rel: float) -> Integers:
        """The number of relevant documents retrieved for each query, by the grades that they were given."""
        grade = self.hit_rel if self.grades is None else self.grades[self.hit_judgment]
        return np.bincount(self.hit_query[grade >= rel], minlength=len(self))

    def num_rel(self, rel: float) -> Integers:
        """The number of relevant documents of each query, retrieved or not."""
        return self.pool.at_least(rel)

    def count(self, mask: Booleans) -> Integers:
        """The number of marked hits of each query."""
        return count_per_segment(mask, self.hit_start)

    def total(self, values: npt.NDArray[Any], hits: Integers | None = None) -> Floats:
        """Sum of the values of the hits per query, in rank order; `hits` restricts it to some hits.

        Left to right: pairwise sums change the last printed digit against trec_eval (tests/golden/test_rounding.py).
        np.bincount adds in that order; np.sum and np.add.reduceat do not.
        """
        query = self.hit_query if hits is None else self.hit_query[hits]
        return np.asarray(np.bincount(query, weights=values, minlength=len(self)), np.float64)

    def so_far(self, mask: Booleans) -> Integers:
        """For each hit, the number of marked hits of its query up to and including it."""
        counted = running_count(mask)
        return counted[1:] - counted[self.hit_start[:-1]][self.hit_query]

    @cached_property
    def hit_group(self) -> Integers:
        """The tie group of each hit, numbered across all queries."""
        return np.cumsum(changes(self.hit_query) | changes(self.hit_tie_first)) - 1

    def keep(self, hits: Booleans) -> JudgedRanking:
        """The rankings with only the marked hits; ranks do not change."""
        return replace(
            self,
            hit_query=self.hit_query[hits],
            hit_rank=self.hit_rank[hits],
            hit_rel=self.hit_rel[hits],
            hit_tie_first=self.hit_tie_first[hits],
            hit_tie_last=self.hit_tie_last[hits],
            hit_judgment=self.hit_judgment[hits],
        )

    def cut(self, depth: int) -> JudgedRanking:
        """The first `depth` documents of each ranking."""
        strays = None if self.stray_rank is None else self.stray_rank <= depth
        return replace(
            self.keep(self.hit_rank <= depth),
            retrieved=np.minimum(self.retrieved, depth),
            stray_query=_some(self.stray_query, strays),
            stray_rank=_some(self.stray_rank, strays),
        )

    def only_judged(self) -> JudgedRanking:
        """The rankings without unjudged documents; the others move up (trec_eval -J)."""
        judged = self.hit_rel >= 0
        rank, group = self.so_far(judged)[judged], self.hit_group[judged]
        return replace(
            self.keep(judged),
            retrieved=self.count(judged),
            hit_rank=rank,
            hit_tie_first=rank[np.searchsorted(group, group)],
            hit_tie_last=rank[np.searchsorted(group, group, side="right") - 1],
        )

    def reordered(self, arrangement: Arrangement, worth: Floats | None = None) -> JudgedRanking:
        """The rankings with ties in one of the orders that give the lowest or highest values.

        `worth` is the value of each hit, by default its grade.
        """
        place, at_top = ARRANGEMENTS[arrangement](self.hit_rel if worth is None else worth)
        order = np.lexsort((place, ~at_top, self.hit_group))
        group, top = self.hit_group[order], at_top[order]
        nth = np.arange(len(order)) - np.searchsorted(group, group)
        size = np.bincount(self.hit_group)[group]
        rank = np.where(top, self.hit_tie_first[order] + nth, self.hit_tie_last[order] - (size - 1 - nth))
        return replace(
            self,
            hit_rank=rank,
            hit_rel=self.hit_rel[order],
            hit_judgment=self.hit_judgment[order],
        )

    def select(self, chosen: Integers) -> JudgedRanking:
        """The rankings of some of the queries, given by ascending index."""
        place = np.full(len(self), -1)
        place[chosen] = np.arange(len(chosen))
        moved = place[self.hit_query]
        stray = None if self.stray_query is None else place[self.stray_query]
        strays = None if stray is None else stray >= 0
        return replace(
            self.keep(moved >= 0),
            queries=tuple(self.queries[index] for index in chosen),
            retrieved=self.retrieved[chosen],
            hit_query=moved[moved >= 0],
            pool=self.pool.select(chosen),
            stray_query=_some(stray, strays),
            stray_rank=_some(self.stray_rank, strays),
        )

    def only_answered(self) -> JudgedRanking:
        """The rankings of queries that are in the run."""
        if not self.missing:
            return self
        missing = set(self.missing)
        return self.select(
            np.array([place for place, query in enumerate(self.queries) if query not in missing], np.int64)
        )


def _some(column: Integers | None, chosen: Booleans | None) -> Integers | None:
    return None if column is None or chosen is None else column[chosen]


Arrangement = Literal["best", "worst", "judged-first", "judged-last"]

# For each arrangement of ties: the order of the hits, and which hits come before unjudged documents.
ARRANGEMENTS: dict[Arrangement, Callable[[Floats], tuple[Floats, Booleans]]] = {
    "best": lambda rel: (-rel, rel > 0),
    "worst": lambda rel: (rel, rel <= 0),
    "judged-first": lambda rel: (-rel, np.ones(len(rel), bool)),
    "judged-last": lambda rel: (rel, np.zeros(len(rel), bool)),
}
