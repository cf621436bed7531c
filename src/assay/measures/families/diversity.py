"""Measures for queries with several intents: `rel` is the lowest grade that makes a document relevant to a subtopic.

They take a `JudgedTopics`. A document gains for each subtopic it is relevant to, and less for a subtopic that the
ranking has covered before. Only subtopics with a relevant document count. All values agree with ndeval, the program of
TREC's web tracks, to the last bit (tests/golden/test_pyndeval.py), and continue beyond its 20 ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from assay.measures.arithmetic import log, powers, ratio
from assay.measures.core import TABLE_CUTOFF, Parameter, PerQuery, measure, number_between
from assay.tables import Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt

    from assay.topics import JudgedTopics, TopicMatrix

Worth = Callable[[Floats, Integers], Floats]  # discounts gains by rank

ALPHA = Parameter(
    "how much less a subtopic gains each time it is covered again: 0 no less, 1 only its first document counts",
    number_between(0, 1),
)

BETA = Parameter("the probability that the user continues to the next document", number_between(0, 1, open_ends=True))

_CLARKE_2008 = "Clarke et al. 2008, Novelty and diversity in information retrieval evaluation"
_CLARKE_2009 = "Clarke, Kolla and Vechtomova 2009, An effectiveness measure for ambiguous and underspecified queries"
_CHAPELLE = "Chapelle et al. 2011, Intent-based diversification of web search results: metrics and algorithms"
_AGRAWAL = "Agrawal et al. 2009, Diversifying search results"
_ZHAI = "Zhai, Cohen and Lafferty 2003, Beyond independent relevance"


class Gains(Struct, frozen=True):
    """The gains of documents at their ranks, query after query."""

    query: Integers
    rank: Integers  # from 1, ascending within a query
    gain: Floats
    queries: int  # how many

    def total(self, worth: Worth, cutoff: int | None) -> Floats:
        """The sum of the discounted gains from the first rank to the cutoff, per query."""
        parts = worth(self.gain, self.rank)
        if cutoff is not None:
            parts = parts * (self.rank <= cutoff)
        return added_up(self.query, parts, self.queries)


def added_up(place: Integers, values: Floats, size: int) -> Floats:
    """The sum of the values at each place, added from left to right."""
    return np.asarray(np.bincount(place, weights=values, minlength=size), np.float64)


def over_log_rank(gain: Floats, rank: Integers) -> Floats:
    """gain / log2(rank + 1), rounded as in ndeval."""
    table = math.log(2.0) / log(np.arange(2.0, rank.max(initial=0) + 2))
    return np.asarray(gain * table[rank - 1])


def over_rank(gain: Floats, rank: Integers) -> Floats:
    """gain / rank."""
    return np.asarray(gain / rank)


def novel_gains(topics: JudgedTopics, rel: float, alpha: float) -> Gains:
    """The gains of the retrieved documents: (1 - alpha) ** (times covered before) for each subtopic."""
    ranking, found = topics.ranking, topics.found(rel)
    gain = added_up(found.hit, powers(1.0 - alpha, found.nth), len(ranking.hit_rank))
    return Gains(ranking.hit_query, ranking.hit_rank, gain, len(topics))


def best_gains(matrix: TopicMatrix, rel: float, alpha: float, depth: int | None) -> Gains:
    """The gains of a nearly best ranking, to at least this depth; cached for several runs.

    Finding the best ranking is NP-hard. Like ndeval, this takes the document with the highest gain next, and of tied
    documents the highest id; a run can beat it.
    """
    steps = None if depth is None else next(size for size in _DEPTHS if size >= depth)
    return matrix.remember(("best gains", rel, alpha, steps), lambda: _greedy(matrix, rel, alpha, steps))


_DEPTHS = [20 * 2**n for n in range(64)]  # few, so cutoffs share one ranking


class _Candidates(Struct, frozen=True, eq=False, dict=True):
    """Candidates for the next rank of the best ranking: by query, and within it in tie-breaking order."""

    query: Integers
    cell_doc: Integers  # a cell for each subtopic the document is relevant to; index into `query`, ascending
    cell_subtopic: Integers

    @cached_property
    def first(self) -> Integers:
        """The first candidate of each query that still has some."""
        return np.flatnonzero(np.diff(self.query, prepend=-1))

    @cached_property
    def group(self) -> Integers:
        """For each document, the index of its query among those that still have candidates."""
        return np.repeat(np.arange(len(self.first)), np.diff(self.first, append=len(self.query)))

    @cached_property
    def cell_start(self) -> Integers:
        """Document i has the cells cell_start[i]:cell_start[i + 1]."""
        return np.searchsorted(self.cell_doc, np.arange(len(self.query) + 1))

    def gains(self, of_subtopic: Floats) -> Floats:
        """The gain of each document, added up in the order of the subtopics."""
        return added_up(self.cell_doc, of_subtopic[self.cell_subtopic], len(self.query))

    def only(self, kept: npt.NDArray[np.bool_]) -> _Candidates:
        """Some of the candidates."""
        cells = kept[self.cell_doc]
        place = np.cumsum(kept) - 1
        return _Candidates(self.query[kept], place[self.cell_doc[cells]], self.cell_subtopic[cells])


def _candidates(matrix: TopicMatrix, rel: float) -> _Candidates:
    """All relevant documents, by query and descending id."""
    relevant = matrix.cell_rel >= rel
    cell_doc, cell_subtopic = matrix.cell_doc[relevant], matrix.cell_subtopic[relevant]
    docs = matrix.by_falling_id(cell_doc[np.diff(cell_doc, prepend=-1) > 0])
    place = np.empty(len(matrix.doc), np.int64)
    place[docs] = np.arange(len(docs))
    by_place = np.argsort(place[cell_doc], kind="stable")
    return _Candidates(matrix.doc_query[docs], place[cell_doc][by_place], cell_subtopic[by_place])


def _greedy(matrix: TopicMatrix, rel: float, alpha: float, steps: int | None) -> Gains:
    """Take the document with the highest gain, for all queries at once, until no gain or no step is left."""
    from assay.topics import members

    candidates = matrix.remember(("candidates", rel), lambda: _candidates(matrix, rel))
    of_subtopic = np.ones(len(matrix.subtopics))
    spent = np.zeros(len(candidates.query), bool)
    taken: list[tuple[Integers, Floats]] = []  # for each rank: queries and their gains
    while len(candidates.query) and len(taken) != steps:
        gain = np.where(spent, 0.0, candidates.gains(of_subtopic))
        most = np.maximum.reduceat(gain, candidates.first)
        best = np.flatnonzero((gain == most[candidates.group]) & (gain > 0))
        best = best[np.diff(candidates.query[best], prepend=-1) > 0]  # the first of tied documents
        taken.append((candidates.query[best], gain[best]))
        _, cells = members(candidates.cell_start, best)
        of_subtopic[candidates.cell_subtopic[cells]] *= 1.0 - alpha
        spent |= (most == 0)[candidates.group]
        spent[best] = True
        if spent.sum() * 2 >= len(spent):
            candidates, spent = candidates.only(~spent), spent[~spent]
    return _in_query_order(taken, len(matrix.doc_start) - 1)


def _in_query_order(taken: list[tuple[Integers, Floats]], queries: int) -> Gains:
    """Gains that were found rank by rank, sorted by query."""
    query = np.concatenate([np.zeros(0, np.int64), *(query for query, _ in taken)])
    gain = np.concatenate([np.zeros(0), *(gain for _, gain in taken)])
    rank = np.repeat(np.arange(1, len(taken) + 1), [len(query) for query, _ in taken])
    order = np.argsort(query, kind="stable")
    return Gains(query[order], rank[order], gain[order], queries)


def top_worth(topics: JudgedTopics, worth: Worth, cutoff: int, rel: float, alpha: float) -> Floats:
    """The discounted gain of a ranking in which every document is relevant to every subtopic.

    1 at cutoff 1, where ndeval does not divide (tests/golden/test_pyndeval.py).
    """
    if cutoff == 1:
        return np.ones(len(topics))
    sizes, size_of_query = np.unique(topics.num_subtopics(rel), return_inverse=True)
    gain = np.full((len(sizes), cutoff), 1.0 - alpha)
    gain[:, 0] = sizes
    parts = worth(np.multiply.accumulate(gain, axis=1), np.arange(1, cutoff + 1))
    return np.asarray(np.add.accumulate(parts, axis=1)[:, -1][size_of_query])


def share_of_top(topics: JudgedTopics, worth: Worth, cutoff: int, rel: float, alpha: float) -> Floats:
    """The discounted gain, divided by the highest possible in any collection."""
    found = novel_gains(topics, rel, alpha).total(worth, cutoff)
    return ratio(found, top_worth(topics, worth, cutoff, rel, alpha))


def share_of_best(topics: JudgedTopics, worth: Worth, cutoff: int | None, rel: float, alpha: float) -> Floats:
    """The discounted gain, divided by that of the best ranking of this collection."""
    found = novel_gains(topics, rel, alpha).total(worth, cutoff)
    best = best_gains(topics.matrix, rel, alpha, cutoff).total(worth, cutoff)[topics.place]
    if cutoff is not None:  # dividing both changes only the last bit, to match ndeval
        top = top_worth(topics, worth, cutoff, rel, alpha)
        found, best = ratio(found, top), ratio(best, top)
    return ratio(found, best)


@measure(
    "alpha_DCG",
    aliases={"α_DCG": {}},
    needs="topics",
    bounds=None,
    parameters={"alpha": ALPHA, "cutoff": TABLE_CUTOFF},
    paper=_CLARKE_2008,
    elsewhere={"ir_measures": "alpha_DCG@k", "ndeval": "alpha-DCG@k"},
)
def alpha_DCG(topics: JudgedTopics, *, cutoff: int, rel: float = 1, alpha: float = 0.5) -> PerQuery:
    """Discounted gain over subtopics, with less gain for a subtopic already covered.

    Formula: sum of gain / log2(rank + 1) over the first k, divided by that sum for documents that are all relevant to
    every subtopic. A document gains (1 - alpha)**n for each of its subtopics, n being how often it was covered before.

    Edges: Only subtopics with a relevant document count. The divisor is the highest possible value for this number of
    subtopics in any collection and is rarely reached; alpha_nDCG divides by what this collection allows. 0 if no
    document is relevant. As in ndeval, there is no division at cutoff 1: the value is the number of subtopics of the
    first document.

    Misleads: Even the best ranking stays far below 1 if few documents cover several subtopics, so values of different
    queries are not comparable.

    Example: gains 2 and 0.5 at ranks 2 and 3, at most 3, 1.5, 0.75 and 0.375: alpha_DCG@4 = 1.5119 / 4.4829 = 0.3373.
    """
    return share_of_top(topics, over_log_rank, cutoff, rel, alpha)


@measure(
    "alpha_nDCG",
    aliases={"α_nDCG": {}},
    needs="topics",
    bounds=None,
    parameters={"alpha": ALPHA, "cutoff": TABLE_CUTOFF},
    paper=_CLARKE_2008,
    elsewhere={"ir_measures": "alpha_nDCG@k", "ndeval": "alpha-nDCG@k"},
)
def alpha_nDCG(topics: JudgedTopics, *, cutoff: int | None = None, rel: float = 1, alpha: float = 0.5) -> PerQuery:
    """alpha_DCG, divided by that of the best ranking found.

    Formula: sum of gain / log2(rank + 1), divided by that sum for the best ranking. A document gains (1 - alpha)**n for
    each of its subtopics, n being how often the ranking covered it before.

    Edges: The best ranking is built greedily from all relevant documents, with ties broken by the highest id, as in
    ndeval: finding the optimal one is NP-hard. A run can therefore get slightly more than 1. 0 if no document is
    relevant.

    Answers: Does the page cover the meanings of the query without repeating itself?

    Misleads: The ideal ranking is built greedily, so a run can exceed 1.

    Pair with: StRecall@k.

    Example: gains 2, 0.5, 0.5 and 1 at ranks 2, 3, 5 and 6, at best 2, 1, 0.5, 0.5 and 0.5: alpha_nDCG =
    2.0615 / 3.2897 = 0.6267.
    """
    return share_of_best(topics, over_log_rank, cutoff, rel, alpha)


@measure(
    "ERR_IA",
    needs="topics",
    bounds=None,
    parameters={"alpha": ALPHA, "cutoff": TABLE_CUTOFF},
    paper=_CHAPELLE,
    elsewhere={"ir_measures": "ERR_IA@k", "ndeval": "ERR-IA@k"},
)
def ERR_IA(topics: JudgedTopics, *, cutoff: int, rel: float = 1, alpha: float = 0.5) -> PerQuery:
    """Expected reciprocal rank of the document that satisfies the user, averaged over the subtopics.

    Formula: sum of gain / rank over the first k, divided by that sum for documents that are all relevant to every
    subtopic. A document gains (1 - alpha)**n for each of its subtopics, n being how often it was covered before; alpha
    is the probability that a relevant document satisfies.

    Edges: Only subtopics with a relevant document count, all equally. Unlike in ERR, the grade of a relevant document
    makes no difference. 0 if no document is relevant. As in ndeval, there is no division at cutoff 1: the value is the
    number of subtopics of the first document.

    Misleads: The first few documents decide the value, and even the best ranking stays below 1 if few documents cover
    several subtopics.

    Example: gains 2 and 0.5 at ranks 2 and 3, at most 3, 1.5, 0.75 and 0.375: ERR_IA@4 = 1.1667 / 4.0938 = 0.2850.
    """
    return share_of_top(topics, over_rank, cutoff, rel, alpha)


@measure(
    "nERR_IA",
    needs="topics",
    bounds=None,
    parameters={"alpha": ALPHA, "cutoff": TABLE_CUTOFF},
    paper=_CHAPELLE,
    elsewhere={"ir_measures": "nERR_IA@k", "ndeval": "nERR-IA@k"},
)
def nERR_IA(topics: JudgedTopics, *, cutoff: int | None = None, rel: float = 1, alpha: float = 0.5) -> PerQuery:
    """ERR_IA, divided by that of the best ranking found.

    Formula: sum of gain / rank, divided by that sum for the best ranking. A document gains (1 - alpha)**n for each of
    its subtopics, n being how often the ranking covered it before.

    Edges: The best ranking is built greedily, as for alpha_nDCG, so a run can get slightly more than 1. 0 if no document
    is relevant.

    Misleads: The first few documents decide the value, and each subtopic counts the same, however few people mean it.

    Example: gains 2, 0.5, 0.5 and 1 at ranks 2, 3, 5 and 6, at best 2, 1, 0.5, 0.5 and 0.5: nERR_IA =
    1.4333 / 2.8917 = 0.4957.
    """
    return share_of_best(topics, over_rank, cutoff, rel, alpha)


@measure(
    "NRBP",
    needs="topics",
    parameters={"alpha": ALPHA, "beta": BETA},
    paper=_CLARKE_2009,
    elsewhere={"ir_measures": "NRBP", "ndeval": "NRBP"},
)
def NRBP(topics: JudgedTopics, *, rel: float = 1, alpha: float = 0.5, beta: float = 0.5) -> PerQuery:
    """Novelty- and rank-biased precision: RBP over subtopics, with less gain for a subtopic already covered.

    Formula: (1 - (1 - alpha) * beta) / subtopics * sum of gain * beta**(rank - 1). A document gains (1 - alpha)**n for
    each of its subtopics, n being how often the ranking covered it before; beta is the probability that the user
    continues.

    Edges: 1 only if all documents are relevant to every subtopic. Only subtopics with a relevant document count. 0 if
    there is none.

    Misleads: Values depend on alpha and beta, and each subtopic counts the same, however few people mean it.

    Example: gains 2, 0.5, 0.5 and 1 at ranks 2, 3, 5 and 6: NRBP = 0.75 / 3 * (2/2 + 0.5/4 + 0.5/16 + 1/32) = 0.2969.
    """
    return rank_biased(novel_gains(topics, rel, alpha), topics.num_subtopics(rel), alpha, beta)


@measure(
    "nNRBP",
    needs="topics",
    bounds=None,
    parameters={"alpha": ALPHA, "beta": BETA},
    paper=_CLARKE_2009,
    elsewhere={"ir_measures": "nNRBP", "ndeval": "nNRBP"},
)
def nNRBP(topics: JudgedTopics, *, rel: float = 1, alpha: float = 0.5, beta: float = 0.5) -> PerQuery:
    """NRBP, divided by that of the best ranking found.

    Formula: sum of gain * beta**(rank - 1), divided by that sum for the best ranking. A document gains (1 - alpha)**n
    for each of its subtopics, n being how often the ranking covered it before.

    Edges: The best ranking is built greedily, as for alpha_nDCG, so a run can get slightly more than 1. 0 if no document
    is relevant (ndeval returns NaN).

    Misleads: Values depend on alpha and beta, and each subtopic counts the same, however few people mean it.

    Example: gains 2, 0.5, 0.5 and 1 at ranks 2, 3, 5 and 6, at best 2, 1, 0.5, 0.5 and 0.5: nNRBP = 1.1875 / 2.7188 =
    0.4368.
    """
    matrix = topics.matrix
    found = rank_biased(novel_gains(topics, rel, alpha), topics.num_subtopics(rel), alpha, beta)
    best = rank_biased(best_gains(matrix, rel, alpha, None), matrix.num_subtopics(rel), alpha, beta)
    return ratio(found, best[topics.place])


def rank_biased(gains: Gains, subtopics: Integers, alpha: float, beta: float) -> Floats:
    """Gains weighted by the probability that the user reaches their rank; 1 if every document had every subtopic."""
    total = gains.total(lambda gain, rank: gain * powers(beta, rank), None)
    return total * ratio(np.array(1.0 - (1.0 - alpha) * beta), subtopics)


@measure(
    "AP_IA",
    aliases={"MAP_IA": {}},
    needs="topics",
    paper=_AGRAWAL,
    elsewhere={"ir_measures": "AP_IA", "ndeval": "MAP-IA"},
)
def AP_IA(topics: JudgedTopics, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Average precision for each subtopic, averaged over the subtopics.

    Formula: mean over the subtopics of AP with the documents relevant to that subtopic.

    Edges: Only subtopics with a relevant document count, all equally. It ignores novelty: a ranking that covers one
    subtopic well and another not at all can beat one that covers both. 0 if no document is relevant.

    Misleads: A ranking that repeats one subtopic can have a higher value than one that covers them all.

    Example: AP is (1/2 + 2/3) / 2 for subtopic 1, (1/2 + 2/5) / 2 for 2 and (1/6) / 2 for 3: AP_IA = 0.3722.
    """
    matrix, found = topics.matrix, topics.found(rel)
    rank = topics.ranking.hit_rank[found.hit]
    precision = found.nth / rank
    if cutoff is not None:
        precision = precision * (rank <= cutoff)
    average = ratio(added_up(found.subtopic, precision, len(matrix.subtopics)), matrix.num_rel(rel))
    total = added_up(matrix.subtopic_query, average, len(matrix.subtopic_start) - 1)
    return ratio(total[topics.place], topics.num_subtopics(rel))


@measure("P_IA", needs="topics", paper=_AGRAWAL, elsewhere={"ir_measures": "P_IA@k", "ndeval": "P-IA@k"})
def P_IA(topics: JudgedTopics, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Share of the first k documents that are relevant to a subtopic, averaged over the subtopics.

    Formula: mean over the subtopics of P@k with the documents relevant to that subtopic.

    Edges: Only subtopics with a relevant document count. A ranking shorter than k is still divided by k. 0 if no
    document is relevant.

    Misleads: It does not reward variety: four documents on one subtopic add as much as one document on each of four.

    Example: 2, 1 and 0 of the first 4 are relevant to subtopics 1, 2 and 3: P_IA@4 = (2/4 + 1/4 + 0/4) / 3 = 0.25.
    """
    return ratio(_count(topics, rel, cutoff), cutoff * topics.num_subtopics(rel))


@measure(
    "StRecall",
    aliases={"strec": {}},
    needs="topics",
    paper=_ZHAI,
    elsewhere={"ir_measures": "StRecall@k", "ndeval": "strec@k"},
)
def StRecall(topics: JudgedTopics, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Share of the subtopics that the first k documents cover.

    Formula: subtopics with a relevant document among the first k, divided by all subtopics with a relevant document.

    Edges: A document can cover several subtopics. 0 if no document is relevant.

    Answers: How many meanings of the query does the page cover?

    Misleads: It ignores order and redundancy.

    Pair with: alpha_nDCG@k.

    Example: the documents at ranks 2 and 6 cover subtopics 1, 2 and 3, which are all: StRecall = 3 / 3 = 1.
    """
    return ratio(_count(topics, rel, cutoff, only_first=True), topics.num_subtopics(rel))


def _count(topics: JudgedTopics, rel: float, cutoff: int | None, *, only_first: bool = False) -> Integers:
    """How often the first k documents cover a subtopic, per query; `only_first` counts each subtopic once."""
    ranking, found = topics.ranking, topics.found(rel)
    hit = found.hit[found.nth == 1] if only_first else found.hit
    if cutoff is not None:
        hit = hit[ranking.hit_rank[hit] <= cutoff]
    return np.bincount(ranking.hit_query[hit], minlength=len(topics))
