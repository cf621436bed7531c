"""Measures of graded relevance: a document's grade determines its gain."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct

from assay.errors import MeasureError
from assay.judged import JudgedRanking
from assay.judgments import Pool
from assay.measures.arithmetic import discount, log2, ratio, running
from assay.measures.core import Parameter, PerQuery, measure, number_between, one_of
from assay.tables import Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt

Number = TypeVar("Number", np.float64, np.int64)
Gain = Any  # "linear", "exp", "binary" or ((grade, gain), ...)

_DCG = {"log2": "linear", "exp-log2": "exp"}


def _from_dcg(value: Any) -> dict[str, Any]:
    return {"gain": _DCG.get(value, value)}


# ir_measures' names for these two conventions.
SAME_AS: dict[str, Callable[[Any], dict[str, Any]]] = {"dcg": _from_dcg, "gains": lambda value: {"gain": value}}


def gain_of(grade: Floats, gain: Gain) -> Floats:
    """The gains of grades. Negative grades gain nothing, unless a map says otherwise."""
    if gain == "linear":
        return np.maximum(grade, 0.0)
    if gain == "exp":
        if grade.max(initial=0) > 60:
            raise MeasureError(
                f"grade {grade.max():g} is too high for gain='exp', which supports grades up to 60; use gain='linear'."
            )
        return np.exp2(np.maximum(grade, 0.0)) - 1.0
    if gain == "binary":
        return (grade >= 1).astype(np.float64)
    worth = np.maximum(grade, 0.0)
    for level, value in gain:
        worth[grade == level] = value
    return worth


class Ideal(Struct, frozen=True, eq=False, dict=True):
    """The best possible ranking of each query: its gains above 0, best first."""

    query: Integers
    place: Integers  # from 1
    gain: Floats
    queries: int  # how many

    @cached_property
    def start(self) -> Integers:
        """The places of query i are start[i]:start[i + 1]."""
        return np.searchsorted(self.query, np.arange(self.queries + 1))

    @property
    def size(self) -> Integers:
        """How many places each query has."""
        return np.diff(self.start)

    def dcg(self, cutoff: Integers | int | None = None) -> Floats:
        """Discounted gain of the first places, per query."""
        worth = self.gain / discount(self.place)
        if cutoff is not None:
            worth = worth * (self.place <= (cutoff if isinstance(cutoff, int) else cutoff[self.query]))
        return np.asarray(np.bincount(self.query, weights=worth, minlength=self.queries), np.float64)


def ideal_ranking(pool: Pool, gain: Gain) -> Ideal:
    """All judged documents with a positive gain, best first."""
    return pool.remember(("ideal", gain), lambda: _ideal(pool, gain))


def _ideal(pool: Pool, gain: Gain) -> Ideal:
    worth = gain_of(pool.grade, gain)
    if not isinstance(gain, str):  # a map can change the order of grades
        worth = worth[np.lexsort((-worth, pool.query))]
    counts = np.flatnonzero(worth > 0)
    query = np.searchsorted(pool.start, counts, side="right") - 1
    return Ideal(query, counts - pool.start[query] + 1, worth[counts], len(pool))


def discounted_gain(judged: JudgedRanking, gain: Gain, cutoff: Integers | int | None = None) -> Floats:
    """Gain over discount, summed from the first rank down to the cutoff, per query."""
    if isinstance(cutoff, int) and cutoff < judged.deepest:
        hits = judged.within(cutoff)
        return judged.total(gain_of(judged.hit_rel[hits], gain) / discount(judged.hit_rank[hits]), hits)
    worth = judged.remember(("discounted", gain), lambda: gain_of(judged.hit_rel, gain) / discount(judged.hit_rank))
    if isinstance(cutoff, int):
        return judged.total(worth)
    if cutoff is not None:
        worth = worth * (judged.hit_rank <= cutoff[judged.hit_query])
    return judged.total(worth)


_SHORT = 16  # longest pool that is added up place by place


def ideal_dcg(judged: JudgedRanking, gain: Gain, cutoff: int | None = None) -> Floats:
    """Discounted gain of the best possible ranking; cached for several runs."""
    pool = judged.pool
    by_place = isinstance(gain, str) and pool.longest <= _SHORT
    compute = _ideal_dcg_by_place if by_place else _ideal_dcg
    return pool.remember(("ideal dcg", gain, cutoff), lambda: compute(pool, gain, cutoff))


def ideal_dcg_of(judged: JudgedRanking, gain: Gain, cutoff: int | None, ideal: str) -> Floats:
    """Discounted gain of the best order of all judged documents, or of those that were retrieved."""
    if ideal == "judged":
        return ideal_dcg(judged, gain, cutoff)
    worth = gain_of(judged.hit_rel, gain)
    worth = worth[np.lexsort((-worth, judged.hit_query))]
    place = np.arange(1, len(worth) + 1) - judged.hit_start[:-1][judged.hit_query]
    return judged.total(worth / discount(place) * (True if cutoff is None else place <= cutoff))


def _ideal_dcg(pool: Pool, gain: Gain, cutoff: int | None) -> Floats:
    return ideal_ranking(pool, gain).dcg(cutoff)


def _ideal_dcg_by_place(pool: Pool, gain: Gain, cutoff: int | None) -> Floats:
    """Like `_ideal_dcg`, adding one place of all queries at a time: faster for many queries with short pools."""
    total = np.zeros(len(pool))
    size = np.diff(pool.start)
    for place in range(pool.longest if cutoff is None else min(cutoff, pool.longest)):
        with_place = np.flatnonzero(size > place)
        worth = gain_of(pool.grade[pool.start[with_place] + place], gain)
        total[with_place] += worth / math.log2(place + 2)
    return total


_JARVELIN = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques"


@measure("CG", bounds=None, same_as=SAME_AS, paper=_JARVELIN, elsewhere={"Quepid": "CG@k"})
def CG(judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear") -> PerQuery:
    """Cumulated gain: the sum of the gains of the first k documents.

    Formula: sum of the gains. The order within the first k does not matter. Unjudged documents gain nothing.

    Edges: Negative grades gain nothing. 0 if no document has a gain.

    Misleads: It does not see the order within the first k, and values of different queries are not comparable.

    Example: 0 + 3 + 2 + 0 + 1 + 2: CG = 8.
    """
    worth = gain_of(judged.hit_rel, gain)
    return judged.total(worth if cutoff is None else worth * (judged.hit_rank <= cutoff))


@measure(
    "DCG",
    aliases={"DCG_burges": {"gain": "exp"}},
    trec={"dcg": "gain"},
    bounds=None,
    same_as=SAME_AS,
    paper=_JARVELIN,
    elsewhere={"ranx": "dcg@k (linear), dcg_burges@k (exp)"},
)
def DCG(judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear") -> PerQuery:
    """Discounted cumulated gain: documents further down gain less.

    Formula: sum of gain / log2(rank + 1). Not normalised: values of different queries are not comparable.

    Edges: Unjudged documents and those with negative grades gain nothing. 0 if no document has a gain.

    Answers: How much gain does the page have in total?

    Misleads: Values of different queries are not comparable, so their mean says little.

    Pair with: nDCG.

    Example: 3/log2(3) + 2/log2(4) + 1/log2(6) + 2/log2(7): DCG = 3.9921.
    """
    return discounted_gain(judged, gain, cutoff)


@measure(
    "iDCG", trec={"ideal_dcg": "gain"}, bounds=None, same_as=SAME_AS, rewards=False, judged_only=False, paper=_JARVELIN
)
def iDCG(judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear") -> PerQuery:
    """DCG of the best possible ranking of all judged documents: the divisor of nDCG.

    Formula: DCG of the judged documents, best first. Says nothing about the run.

    Edges: It is also cut at k. 0 if no judged document has a gain.

    Misleads: It describes the judgments, not the run.

    Example: 3/log2(2) + 2/log2(3) + 2/log2(4) + 1/log2(5) + 1/log2(6): iDCG = 6.0794.
    """
    return ideal_dcg(judged, gain, cutoff)


IDEAL = one_of(
    "the documents of the ideal ranking: all that are 'judged', or the 'retrieved' ones alone (torchmetrics)",
    "judged",
    "retrieved",
)


@measure(
    "nDCG",
    aliases={"NDCG": {}, "nDCG_burges": {"gain": "exp"}},
    parameters={"ideal": IDEAL},
    trec={"ndcg": "gain", "ndcg_cut": "cutoff"},
    same_as=SAME_AS,
    elsewhere={
        "ir_measures": "nDCG@k",
        "ranx": "ndcg@k (linear), ndcg_burges@k (exp)",
        "BEIR": "NDCG@k",
        "MTEB": "ndcg_at_k",
    },
    paper=f"{_JARVELIN}; gain='exp': Burges et al. 2005, Learning to rank using gradient descent",
)
def nDCG(judged: JudgedRanking, *, cutoff: int | None = None, gain: Gain = "linear", ideal: str = "judged") -> PerQuery:
    """Discounted gain of the ranking, divided by that of the best possible ranking.

    Formula: DCG / iDCG; DCG is the sum of gain / log2(rank + 1), iDCG the same for all judged documents, best first.

    Edges: The ideal ranking contains all judged documents, retrieved or not, and is also cut at k. Unjudged documents
    and those with negative grades gain nothing. 0 if no document has a gain. gain='exp' (2^grade - 1) rewards high
    grades more; the two gains give different numbers, so say which one you used. ideal='retrieved' is the nDCG of tools
    that know only the retrieved documents: it cannot see misses.

    Answers: Are the best documents at the top?

    Misleads: The two gains give different numbers; with few judged documents, the ideal is easy to reach.

    Pair with: R@k for coverage, Judged@k for the judgments.

    Example: nDCG = DCG / iDCG = 3.9921 / 6.0794 = 0.6567.
    """
    return ratio(discounted_gain(judged, gain, cutoff), ideal_dcg_of(judged, gain, cutoff, ideal))


@measure("nDCG_rel", trec={"ndcg_rel": "gain"}, same_as=SAME_AS, bounds=None)
def nDCG_rel(judged: JudgedRanking, *, gain: Gain = "linear") -> PerQuery:
    """nDCG averaged over the ranks of the relevant documents.

    Formula: mean over all documents with a gain of nDCG at their rank; for one not found, DCG / iDCG of the whole
    ranking.

    Edges: An experiment by trec_eval's author: nDCG at a single cutoff depends on the choice of the cutoff.

    Misleads: The ranks that count depend on the run, so values are not comparable with nDCG at a cutoff.

    Example: nDCG at ranks 2, 3, 5 and 6, and of the whole ranking for the one not found: nDCG_rel = 0.5693.
    """
    return ndcg_at_relevant(judged, gain_of(judged.hit_rel, gain), ideal_ranking(judged.pool, gain))


def ndcg_at_relevant(judged: JudgedRanking, gain: Floats, ideal: Ideal) -> Floats:
    """nDCG averaged over the documents with a gain."""
    dcg_at_hit = running(np.add, gain / discount(judged.hit_rank), judged.hit_start)
    ideal_at_place = running(np.add, ideal.gain / discount(ideal.place), ideal.start)
    found = (gain > 0) & (ideal.size > 0)[judged.hit_query]
    last = np.minimum(judged.hit_rank, ideal.size[judged.hit_query])[found] - 1
    parts = np.zeros(len(gain))
    parts[found] = dcg_at_hit[found] / ideal_at_place[ideal.start[:-1][judged.hit_query][found] + last]
    not_found = ideal.size - judged.count(found)
    rest = ratio(not_found * judged.total(gain / discount(judged.hit_rank)), ideal.dcg())
    return ratio(np.maximum(judged.total(parts) + rest, 0.0), ideal.size)


@measure("RnDCG", trec={"Rndcg": "gain"}, same_as=SAME_AS, bounds=None)
def RnDCG(judged: JudgedRanking, *, gain: Gain = "linear", rel: float = 1) -> PerQuery:
    """nDCG averaged over the ranks where the gain of the ideal ranking changes.

    Formula: mean of nDCG@n for each n after which the ideal gain falls, and of nDCG of the
    whole ranking if it continues beyond the next document.

    Edges: With 5 documents of grade 3, 3 of grade 2 and 10 of grade 1, these ranks are 5, 8, 18 and the end. 0 if the
    query has no relevant document.

    Misleads: The ranks that count differ from query to query, so it does not describe a page of k results.

    Example: the ideal gains 3, 2, 2, 1, 1 change after 1, 3 and 5 documents: RnDCG = (0 + 0.5498 + 0.5394) / 3 =
    0.3631.
    """
    values = ndcg_at_level_ends(judged, gain_of(judged.hit_rel, gain), ideal_ranking(judged.pool, gain))
    return np.where(judged.num_rel(rel) > 0, values, 0.0)


def ndcg_at_level_ends(judged: JudgedRanking, gain: Floats, ideal: Ideal) -> Floats:
    """nDCG averaged over the places where the ideal gain changes, and the end of the ranking if that is further down."""
    same = (ideal.query[1:] == ideal.query[:-1]) & (ideal.gain[1:] == ideal.gain[:-1])
    is_end = np.append(~same, True)[: len(ideal.query)]  # the last place of its gain
    end_query, end_place = ideal.query[is_end], ideal.place[is_end]
    nth = np.arange(len(end_query)) - np.searchsorted(end_query, end_query)
    worth = gain / discount(judged.hit_rank)
    sums, points = np.zeros(len(judged)), np.zeros(len(judged))
    for n in range(int(nth.max(initial=-1)) + 1):  # as many rounds as there are levels of gain
        place = np.zeros(len(judged), np.int64)
        place[end_query[nth == n]] = end_place[nth == n]
        within = worth * (judged.hit_rank <= place[judged.hit_query])
        sums += ratio(judged.total(within), ideal.dcg(place))
        points += place > 0
    goes_further = (ideal.size > 0) & (judged.retrieved > ideal.size + 1)
    sums += np.where(goes_further, ratio(judged.total(worth), ideal.dcg()), 0.0)
    return ratio(sums, points + goes_further)


@measure("G", trec={"G": "gain"}, same_as=SAME_AS)
def G(judged: JudgedRanking, *, gain: Gain = "linear") -> PerQuery:
    """Gain of each document, discounted by the gain that the documents before it missed.

    Formula: sum of gain / log2(2 + ideal gain so far - gain so far), divided by the sum of all gains. Each rank is
    expected to gain at least 1. An experiment by trec_eval's author, between AP and nDCG.

    Edges: Unjudged documents and those with negative grades gain nothing. 0 if no document has a gain.

    Misleads: It is known only from trec_eval, so there are few published values to compare with.

    Example: gained 3, 2, 1 and 2 with 2, 2, 3 and 2 missed so far:
    G = (3/log2(4) + 2/log2(4) + 1/log2(5) + 2/log2(4)) / 9 = 0.4367.
    """
    return normalised_gain(judged, gain_of(judged.hit_rel, gain), ideal_ranking(judged.pool, gain))


def normalised_gain(judged: JudgedRanking, gain: Floats, ideal: Ideal) -> Floats:
    """Gain over the logarithm of the gain missed so far, normalised by the ideal gain."""
    above_one = np.concatenate(([0.0], np.cumsum(np.maximum(ideal.gain, 1.0) - 1.0)))
    first = ideal.start[:-1][judged.hit_query]
    passed = np.minimum(judged.hit_rank, ideal.size[judged.hit_query])
    expected = judged.hit_rank + (above_one[first + passed] - above_one[first])
    gained = np.concatenate(([0.0], np.cumsum(gain)))
    so_far = gained[1:] - gained[judged.hit_start[:-1]][judged.hit_query]
    counts = gain != 0
    parts = np.zeros(len(gain))
    # Never below 2, but for gains such as 2^60 - 1, where the sums are rounded.
    parts[counts] = gain[counts] / log2(np.maximum(2.0 + expected[counts] - so_far[counts], 2.0))
    return ratio(judged.total(parts), np.bincount(ideal.query, weights=ideal.gain, minlength=len(judged)))


TOP_GRADE = Parameter("the highest possible grade; by default the highest in the qrels", number_between(1, 60))


@measure(
    "ERR",
    aliases={"ExpectedReciprocalRank": {}},
    parameters={"top": TOP_GRADE},
    paper="Chapelle et al. 2009, Expected reciprocal rank for graded relevance",
    elsewhere={"ir_measures": "ERR@k (top=4, as gdeval)", "Elasticsearch": "expected_reciprocal_rank"},
    cautions={
        "expected_reciprocal_rank": "{name} is {measure}, with the highest grade of the qrels. Elasticsearch stops at k=10 "
        "by default and takes the highest grade as maximum_relevance: write ERR(top=3)@10 for maximum_relevance 3."
    },
)
def ERR(judged: JudgedRanking, *, cutoff: int | None = None, top: float | None = None) -> PerQuery:
    """Expected reciprocal rank of the document that satisfies a user who reads from the top.

    Formula: sum over ranks of 1/rank * probability of being satisfied here * probability of not being satisfied before;
    a document of grade g satisfies with probability (2**g - 1) / 2**top.

    Edges: The value depends on the highest grade: by default the highest in the whole qrels, while gdeval uses 4.

    Answers: How soon is a user satisfied who stops at the first good document?

    Misleads: Documents of the highest grade dominate the value, and it depends on the assumed scale of grades.

    Pair with: nDCG@k.

    Example: probabilities 7/8, 3/8, 1/8 and 3/8 at ranks 2, 3, 5 and 6: ERR = 0.4594.
    """
    return _err(judged, cutoff, _top_grade(judged, top))


def _top_grade(judged: JudgedRanking, top: float | None) -> float:
    highest = judged.top_grade if top is None else top
    if judged.top_grade > min(highest, 60):
        limit = "the limit of 60" if top is None else f"top={top:g}"
        raise MeasureError(f"ERR: grade {judged.top_grade:g} is higher than {limit}.")
    return highest


def _err(judged: JudgedRanking, cutoff: int | None, top: float) -> Floats:
    gain = gain_of(judged.hit_rel, "exp")
    return judged.total(_expected_reciprocal(gain / 2.0**top, judged.hit_rank, judged.hit_start, cutoff))


def _expected_reciprocal(chance: Floats, rank: Integers, start: Integers, cutoff: int | None) -> Floats:
    """1/rank times the probability of being satisfied by this document and by none before it."""
    before = one_later(running(np.multiply, 1.0 - chance, start), start, 1.0)
    parts = chance * before / rank
    return parts if cutoff is None else parts * (rank <= cutoff)


def one_later(values: npt.NDArray[Number], start: Integers, first: float) -> npt.NDArray[Number]:
    """The values shifted by one place, with `first` at the start of each segment start[i]:start[i + 1].

    >>> one_later(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 3]), 0.0).tolist()
    [0.0, 1.0, 0.0]
    """
    later = np.concatenate((values[:1], values[:-1]))
    later[start[:-1][np.diff(start) > 0]] = first
    return later


@measure(
    "nERR",
    parameters={"top": TOP_GRADE},
    paper="Clarke et al. 2011, A comparative analysis of cascade measures for novelty and diversity",
)
def nERR(judged: JudgedRanking, *, cutoff: int | None = None, top: float | None = None) -> PerQuery:
    """Expected reciprocal rank, divided by that of the best possible ranking.

    Formula: ERR / ERR of all judged documents, best first, both cut at k.

    Edges: The ideal ranking contains all judged documents, retrieved or not. 0 if no document has a grade above 0.
    `top` as for ERR.

    Misleads: Documents of the highest grade dominate the value, and it depends on the assumed scale of grades.

    Example: ERR of the ideal grades 3, 2, 2, 1, 1 is 0.9108: nERR = 0.4594 / 0.9108 = 0.5043.
    """
    pool, highest = judged.pool, _top_grade(judged, top)
    ideal = pool.remember(("ideal err", cutoff, highest), lambda: _ideal_err(pool, cutoff, highest))
    return ratio(_err(judged, cutoff, highest), ideal)


def _ideal_err(pool: Pool, cutoff: int | None, top: float) -> Floats:
    ideal = ideal_ranking(pool, "exp")
    parts = _expected_reciprocal(ideal.gain / 2.0**top, ideal.place, ideal.start, cutoff)
    return np.asarray(np.bincount(ideal.query, weights=parts, minlength=len(pool)), np.float64)
