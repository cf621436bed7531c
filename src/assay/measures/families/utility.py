"""Measures that model a user who reads down a ranking and can stop at each document (C/W/L).

Such a measure is the expected gain per document viewed: the mean of the gains, weighted by the probability that the
user views each rank. This follows from the probability of continuing to the next rank, which can depend on the rank, the
gain there and the gain so far (Moffat et al. 2017, Incorporating user expectations and behavior into the measurement of
search effectiveness). The code visits only documents with a gain; the weights of the ranks between them are summed in
closed form or from a table. tests/golden/test_cwl_eval.py compares it with cwl_eval, which visits every rank.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from assay.errors import MeasureError, ParameterError
from assay.judged import JudgedRanking
from assay.measures.arithmetic import discount, powers, ratio, running
from assay.measures.core import (
    PARAMETERS,
    TABLE_CUTOFF,
    Parameter,
    PerQuery,
    boolean,
    measure,
    number_between,
    ranks_of_table,
)
from assay.measures.families.graded import Number, one_later
from assay.tables import Booleans, Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt


def _from_zero(value: Any) -> Any:
    grade = PARAMETERS["rel"].check(value)
    if grade < 0:
        raise ValueError("a number from 0")  # negative grades mean unjudged
    return grade


PERSISTENCE = Parameter(
    "the probability that the user continues to the next document", number_between(0, 1, open_ends=True)
)
GOAL = Parameter("the gain that the user wants: 1 is one document of the highest grade", number_between(0.01, 1e6))
RESIDUAL = boolean(
    "return instead how much higher the value would be if all unjudged documents, retrieved or beyond the end, had the "
    "highest grade"
)
GAINS = {
    "min_rel": Parameter("the highest grade that gains 0", _from_zero),
    "max_rel": Parameter(
        "the lowest grade that gains 1; by default the highest grade in the qrels", PARAMETERS["rel"].check
    ),
    "residual": RESIDUAL,
}
DEPTH = Parameter("the rank at which every user stops; 1000 in cwl_eval", ranks_of_table)

_MOFFAT = "Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness"
_INSQ = "Moffat, Scholer and Thomas 2012, Models and metrics: IR evaluation as a user process"
_INST = "Moffat, Bailey, Scholer and Thomas 2015, INST: an adaptive metric for information retrieval evaluation"
_BPM = "Zhang et al. 2017, Evaluating web search with a bejeweled player model"
_NERR = (
    "Azzopardi, Mackenzie and Moffat 2021, ERR is not C/W/L: exploring the relationship between expected reciprocal "
    "rank and other metrics"
)


@measure(
    "RBP",
    trec={"rbp": "p"},
    parameters={
        "p": PERSISTENCE,
        "depth": Parameter("the rank at which every user stops; none by default, 1000 in cwl_eval", ranks_of_table),
        "residual": RESIDUAL,
        "raw": boolean("the gain is the grade itself, as in ranx; values can be above 1"),
    },
    paper=_MOFFAT,
    elsewhere={
        "ir_measures": "RBP(p=0.8)",
        "cwl_eval": "RBPCWLMetric(0.8)",
        "trec_eval 10": "rbp.p=0.9",
        "ranx": "rbp.80 (raw grades)",
    },
    cautions={
        "rbp": "{name} is {measure}: grades are divided by the highest grade of the qrels. ranx does not divide them, and "
        "the number in its rbp.95 and rbp@95 is p."
    },
)
def RBP(
    judged: JudgedRanking,
    *,
    p: float = 0.8,
    cutoff: int | None = None,
    rel: float | None = None,
    depth: int | None = None,
    residual: bool = False,
    raw: bool = False,
) -> PerQuery:
    """Gain per document viewed, for a user who continues to the next document with probability p.

    Formula: (1 - p) * sum of gain * p**(rank - 1); the gain is the grade divided by the highest grade in the qrels, or,
    with `rel`, 1 for grades of at least rel. Unjudged documents gain nothing: RBPResidual is the possible error.

    Edges: By default the ranking has no end; with `depth` the sum ends there and is divided by 1 - p**depth, as in
    cwl_eval at 1000. residual=True is RBPResidual, also without an end; with `depth` or a cutoff, only ranks up to there
    count. With raw=True the grade is not divided, as in ranx.

    Answers: How much does a user of a given patience gain per document viewed?

    Misleads: Values depend on p, and rarely reach 1.

    Pair with: RBPResidual, the possible error from unjudged documents.

    Example: gains 1, 2/3, 1/3 and 2/3 at ranks 2, 3, 5 and 6: RBP = 0.2 * (0.8 + 2/3 * 0.64 + 1/3 * 0.4096 + 2/3 *
    0.32768) = 0.3163.
    """
    ends = [end for end in (cutoff, depth) if end is not None]
    counted = (judged.hit_rel >= 0).astype(np.float64) if residual else gain_share(judged, rel, raw=raw)
    weight = counted * powers(p, judged.hit_rank)
    shown = (1.0 - p) * judged.total(weight if not ends else weight * (judged.hit_rank <= min(ends)))
    value = np.maximum((1.0 - p ** min(ends) if ends else 1.0) - shown, 0.0) if residual else shown
    return value if depth is None else value / (1.0 - p**depth)


def gain_share(judged: JudgedRanking, rel: float | None, *, raw: bool = False) -> Floats:
    """The gain of each hit between 0 and 1, or with `raw` its grade."""
    if rel is not None:
        return (judged.hit_rel >= rel).astype(np.float64)
    if raw:
        return np.maximum(judged.hit_rel, 0.0)
    return ratio(np.maximum(judged.hit_rel, 0.0), np.full(len(judged.hit_rel), judged.top_grade))


@measure(
    "RBPResidual",
    trec={"rbp_resid": "p"},
    parameters={"p": PERSISTENCE},
    rewards=False,
    judged_only=False,
    paper=_MOFFAT,
    elsewhere={"cwl_eval": "the option -r", "trec_eval 10": "rbp_resid (0 where all retrieved documents are judged)"},
)
def RBPResidual(judged: JudgedRanking, *, p: float = 0.8) -> PerQuery:
    """How much higher RBP could be if every unjudged document, retrieved or beyond the end, were perfectly relevant.

    Formula: (1 - p) * sum of p**(rank - 1) over unjudged documents, + p**(documents retrieved) for those not retrieved.

    Edges: The true RBP is between RBP and RBP + RBPResidual. 1 for a query that the run lacks.

    Misleads: It is a bound, not the error to expect: unjudged documents are rarely all perfectly relevant.

    Example: the document at rank 1 and all after rank 6: RBPResidual = 0.2 * 1 + 0.8**6 = 0.4621.
    """
    known = (1.0 - p) * judged.total((judged.hit_rel >= 0) * powers(p, judged.hit_rank))
    return 1.0 - known


# Gains, and the documents on the user's path.


def scaled_gain(judged: JudgedRanking, min_rel: float, max_rel: float | None) -> Floats:
    """The gain of each hit between 0 and 1: its grade scaled between min_rel and max_rel."""
    if max_rel is not None and max_rel <= min_rel:
        raise MeasureError(f"max_rel={max_rel:g} is not higher than min_rel={min_rel:g}, so no document has a gain.")
    top = judged.top_grade if max_rel is None else max_rel
    if top <= min_rel:  # no judged document has a gain
        return np.zeros(len(judged.hit_rel))
    return (np.clip(np.maximum(judged.hit_rel, 0.0), min_rel, top) - min_rel) / (top - min_rel)


class Way(Struct, frozen=True, eq=False, dict=True):
    """The documents that affect a user on the way down the ranking, in rank order, and the last rank."""

    query: Integers
    rank: Integers
    value: Floats  # the gain, or 1 - gain
    queries: int  # how many
    end: int

    @cached_property
    def start(self) -> Integers:
        """The documents of query i are start[i]:start[i + 1]."""
        return np.searchsorted(self.query, np.arange(self.queries + 1))

    @cached_property
    def first(self) -> Integers:
        """For each query, the rank of its first document, or the end."""
        return np.where(np.diff(self.start) > 0, np.append(self.rank, self.end)[self.start[:-1]], self.end)

    @cached_property
    def next(self) -> Integers:
        """For each document, the rank of the next one of its query, or the end."""
        following = np.append(self.rank[1:], self.end)[: len(self.rank)]
        following[self.start[1:][np.diff(self.start) > 0] - 1] = self.end
        return following

    def so_far(self, operation: np.ufunc, values: Floats) -> Floats:
        """Running sum or product of the values within each query, including this document."""
        return running(operation, values, self.start)

    def before(self, values: npt.NDArray[Number], first: float) -> npt.NDArray[Number]:
        """For each document, the value of the one before it, or `first` for the first of a query."""
        return one_later(values, self.start, first)

    def total(self, values: npt.NDArray[Any]) -> Floats:
        """Sum of the documents' values per query, from the first rank to the last."""
        return np.asarray(np.bincount(self.query, weights=values, minlength=self.queries), np.float64)


def way_of(judged: JudgedRanking, value: Floats, chosen: Booleans, end: int) -> Way:
    """The chosen hits up to the end."""
    rows = np.flatnonzero(chosen & (judged.hit_rank <= end))
    return Way(judged.hit_query[rows], judged.hit_rank[rows], value[rows], len(judged), end)


def gains_met(judged: JudgedRanking, gain: Floats, end: int) -> Way:
    """The documents with a gain."""
    return way_of(judged, gain, gain > 0, end)


def gains_lacking(judged: JudgedRanking, gain: Floats, end: int) -> Way:
    """If all unjudged documents gained 1: the judged ones that gain less, each with 1 - gain."""
    return way_of(judged, 1.0 - gain, (judged.hit_rel >= 0) & (gain < 1), end)


# Users whose probability of viewing a rank depends only on the rank.


def fixed_weights(judged: JudgedRanking, weight: Floats, gain: Floats, residual: bool) -> Floats:
    """The mean of the gains, weighted by rank; weight[0], before the first rank, is 0."""
    counted = (judged.hit_rel >= 0).astype(np.float64) if residual else gain
    met = gains_met(judged, counted, len(weight) - 1)
    share = met.total(met.value * weight[met.rank]) / float(np.cumsum(weight)[-1])
    return np.maximum(1.0 - share, 0.0) if residual else share


def _only_log2(value: Any) -> dict[str, Any]:
    if value != "log2":
        raise ParameterError(f"SDCG: dcg cannot be {value!r}; it takes 'log2'.")
    return {}


@measure(
    "SDCG",
    parameters=GAINS | {"cutoff": TABLE_CUTOFF},
    same_as={"dcg": _only_log2},
    paper="Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques",
    elsewhere={"ir_measures": "SDCG(max_rel=3)@k", "cwl_eval": "NDCGCWLMetric(k)"},
)
def SDCG(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0, max_rel: float | None = None, residual: bool = False
) -> PerQuery:
    """Scaled DCG: discounted gain, divided by that of k documents of the highest grade, even if there are fewer.

    Formula: sum of gain / log2(rank + 1) over the first k, divided by the sum of 1 / log2(rank + 1); the gain is
    (grade - min_rel) / (max_rel - min_rel).

    Edges: Unlike nDCG, it does not depend on other judged documents, so the residual is the possible error from unjudged
    documents. It stays below 1 if the query has few highly relevant documents. cwl_eval uses at most 1000 ranks.

    Misleads: Queries with few highly relevant documents cannot reach 1, so a low value may be due to the queries and
    not to the run.

    Example: gains 1 and 2/3 at ranks 2 and 3, of at most 2.5616: SDCG@4 = (1/log2(3) + 2/3/log2(4)) / 2.5616 = 0.3764.
    """
    weight = np.concatenate(([0.0], 1.0 / discount(np.arange(1, cutoff + 1))))
    return fixed_weights(judged, weight, scaled_gain(judged, min_rel, max_rel), residual)


@measure(
    "INSQ",
    parameters=GAINS | {"T": GOAL, "depth": DEPTH},
    paper=_INSQ,
    elsewhere={"ir_measures": "INSQ(max_rel=3)", "cwl_eval": "INSQCWLMetric(T)"},
)
def INSQ(
    judged: JudgedRanking,
    *,
    T: float = 1.0,  # noqa: N803
    min_rel: float = 0,
    max_rel: float | None = None,
    depth: int = 1000,
    residual: bool = False,
) -> PerQuery:
    """Gain per document viewed, for a user who is more likely to continue further down and with a higher goal T.

    Formula: mean of the gains with weight 1 / (i + 2T - 1)**2 at rank i; the gain is (grade - min_rel) / (max_rel -
    min_rel).

    Edges: Unjudged documents gain nothing; residual=True returns the possible error. The user does not stop because of
    what was found; see INST for that.

    Misleads: Values depend on T and on the assumed scale of grades.

    Example: gains 1, 2/3, 1/3 and 2/3 at ranks 2, 3, 5 and 6, all weights adding up to 0.6439:
    INSQ = (1/9 + 2/3/16 + 1/3/36 + 2/3/49) / 0.6439 = 0.2728.
    """
    return fixed_weights(judged, inverse_squares(T, depth), scaled_gain(judged, min_rel, max_rel), residual)


def inverse_squares(goal: float, depth: int) -> Floats:
    """The weights of the ranks for a user with a goal, regardless of what is found; 0 before the first rank."""
    return np.concatenate(([0.0], 1.0 / np.square(np.arange(1, depth + 1) + 2.0 * goal - 1.0)))


# A user who stops after finding enough.

_NEARLY = 1.0 - 1e-9  # ten gains of 0.1 add up to 0.9999999999999999 and should count as 1


@measure(
    "BPM",
    parameters=GAINS | {"T": GOAL, "cutoff": TABLE_CUTOFF},
    paper=_BPM,
    elsewhere={"ir_measures": "BPM(max_rel=3)@k", "cwl_eval": "BPMCWLMetric(T, k)"},
)
def BPM(
    judged: JudgedRanking,
    *,
    cutoff: int,
    T: float = 1.0,  # noqa: N803
    min_rel: float = 0,
    max_rel: float | None = None,
    residual: bool = False,
) -> PerQuery:
    """Bejeweled player model: gain per document, for a user who stops after gaining T or after k documents.

    Formula: gain so far / rank, at the first rank where the gain so far reaches T, or at rank k; the gain of a document
    is (grade - min_rel) / (max_rel - min_rel).

    Edges: A better document further up can end the search at a lower rate: with T = 1 the gains 0, 0, 0.5, 1 give 1.5/4,
    but 0, 0, 1, 0.5 give 1/3. The residual, defined as in cwl_eval, can therefore be negative. cwl_eval continues if a
    rounding error keeps the sum of gains just below T, and uses at most 1000 ranks.

    Misleads: A better document further up can lower the value, because the user stops sooner.

    Example: the document at rank 2 is all the user wants: BPM@4 = 1 / 2 = 0.5.
    """
    gain = scaled_gain(judged, min_rel, max_rel)
    value = until_satisfied(gains_met(judged, gain, cutoff), T * _NEARLY)
    return _until_satisfied_at_best(gains_lacking(judged, gain, cutoff), T) - value if residual else value


def until_satisfied(met: Way, goal: float) -> Floats:
    """The gain per rank, up to the first rank where the gain so far reaches the goal, or the end."""
    gained = met.so_far(np.add, met.value)
    wants_more = met.before(gained, 0.0) < goal
    last = wants_more & (gained >= goal)  # one document of each query, or none
    stop: Integers = np.full(met.queries, met.end)
    stop[met.query[last]] = met.rank[last]
    return met.total(met.value * wants_more) / stop


def _until_satisfied_at_best(lacking: Way, goal: float) -> Floats:
    """Like `until_satisfied`, if all other documents gain 1: after n ranks the user has n minus what was lacking."""
    lacked = lacking.so_far(np.add, lacking.value)
    wanted = np.maximum(np.ceil(goal * _NEARLY + lacked).astype(np.int64), lacking.rank)
    at_once = int(np.ceil(goal * _NEARLY))
    stop = np.where(at_once < lacking.first, min(at_once, lacking.end), lacking.end)
    np.minimum.at(stop, lacking.query, np.where(wanted < lacking.next, wanted, lacking.end))
    return 1.0 - lacking.total(lacking.value * (lacking.rank <= stop[lacking.query])) / stop


# Users who are less likely to continue the more they have found.


@measure(
    "INST",
    parameters=GAINS | {"T": Parameter(GOAL.meaning, number_between(0.5, 1e6)), "depth": DEPTH},
    paper=_INST,
    elsewhere={"ir_measures": "INST(max_rel=3)", "cwl_eval": "INSTCWLMetric(T)"},
)
def INST(
    judged: JudgedRanking,
    *,
    T: float = 1.0,  # noqa: N803
    min_rel: float = 0,
    max_rel: float | None = None,
    depth: int = 1000,
    residual: bool = False,
) -> PerQuery:
    """Gain per document viewed, for a user who is more likely to continue the more of the wanted gain is missing.

    Formula: mean of the gains, with weights that start at 1 and change from rank i to the next by the factor
    ((n - 1) / n)**2, n = i + 2T - gain of the first i documents; the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: Unjudged documents gain nothing; residual=True returns the possible error, as in cwl_eval: the difference
    between all of them gaining 1 and none. T must be at least 0.5: below, a higher gain would make users continue.

    Answers: How much does a user who wants T good documents gain per document viewed?

    Misleads: Unjudged documents make the user continue, which lowers the value.

    Pair with: INST(residual=True), the possible error from unjudged documents.

    Example: weights 1, 4/9, 0.1975, 0.0968, 0.0573 and 0.0367 of the first ranks, 1.9739 of all:
    INST = (4/9 * 1 + 0.1975 * 2/3 + 0.0573 * 1/3 + 0.0367 * 2/3) / 1.9739 = 0.3139.
    """
    gain = scaled_gain(judged, min_rel, max_rel)
    value = _until_content(gains_met(judged, gain, depth), T)
    if not residual:
        return value
    return np.maximum(_until_content_at_best(gains_lacking(judged, gain, depth), T) - value, 0.0)


def _until_content(met: Way, goal: float) -> Floats:
    """Between two documents with a gain, the factors telescope: rank i has weight scale / (i - 1 + missing)**2."""
    missing = 2.0 * goal - met.so_far(np.add, met.value)
    missing_before = met.before(missing, 2.0 * goal)
    factor = (met.rank - 1.0 + missing) / (met.rank - 1.0 + missing_before)
    scale = (2.0 * goal) ** 2 * met.so_far(np.multiply, factor * factor)
    weight = met.before(scale, (2.0 * goal) ** 2) / np.square(met.rank - 1.0 + missing_before)
    up_to_first = (2.0 * goal) ** 2 * sum_of_inverse_squares(np.full(met.queries, 2.0 * goal), met.first)
    up_to_next = scale * sum_of_inverse_squares(met.rank + missing, met.next - met.rank)
    return met.total(weight * met.value) / (up_to_first + met.total(up_to_next))


def _until_content_at_best(lacking: Way, goal: float) -> Floats:
    """Like `_until_content`, if all other documents gain 1: they do not change the probability of continuing."""
    n = 2.0 * goal + lacking.so_far(np.add, lacking.value)
    chance = np.square(1.0 - 1.0 / n)
    steps = lacking.rank - lacking.before(lacking.rank, 0) - 1
    passed = lacking.before(chance, (1.0 - 0.5 / goal) ** 2) ** steps
    scale = lacking.so_far(np.multiply, passed * chance)  # weight of the rank after the document
    weight = lacking.before(scale, 1.0) * passed
    up_to_first = _sum_of_chances(np.full(lacking.queries, 2.0 * goal), lacking.first)
    up_to_next = scale * _sum_of_chances(n, lacking.next - lacking.rank)
    return 1.0 - lacking.total(weight * lacking.value) / (up_to_first + lacking.total(up_to_next))


def _sum_of_chances(n: Floats, terms: Integers) -> Floats:
    """The first terms of 1 + q + q**2 + ..., where q = ((n - 1) / n)**2 is the probability of continuing."""
    with np.errstate(divide="ignore"):  # n = 1: nobody continues
        rest = np.expm1(terms * (2.0 * np.log1p(-1.0 / n)), where=terms > 0, out=np.zeros(len(n)))
    return np.asarray(-rest * n * n / (2.0 * n - 1.0))


# Bernoulli numbers B2 to B12.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
_DIRECT = 15  # from here the series is accurate to 1e-15


def sum_of_inverse_squares(first: Floats, terms: Integers) -> Floats:
    """The first terms of 1 / first**2 + 1 / (first + 1)**2 + ..., for first > 0.

    Small numbers are added one by one, the others with the Euler-Maclaurin formula.

    >>> sum_of_inverse_squares(np.array([1.0]), np.array([3])).tolist() == [1 + 1 / 4 + 1 / 9]
    True
    """
    low, high = first.copy(), first + terms
    total = np.zeros(len(first))
    rows = np.arange(len(first))
    while len(rows := rows[(low[rows] < _DIRECT) & (low[rows] < high[rows] - 0.5)]):
        total[rows] += 1.0 / (low[rows] * low[rows])
        low[rows] += 1.0
    return total + (high - low) / (low * high) + (_correction(low) - _correction(high))


def _correction(x: Floats) -> Floats:
    """The sum of 1 / n**2 from x on, minus the integral."""
    square = 1.0 / (x * x)
    series = np.zeros(len(x))
    for number in reversed(_BERNOULLI):
        series = (series + number) * square
    return 0.5 * square + series / x


# Users who stop at a document with a probability equal to its gain.


def cascade(judged: JudgedRanking, weight: Floats, gain: Floats, residual: bool) -> Floats:
    """The mean of the gains, weighted by rank and by the probability of not having stopped before."""
    met = gains_met(judged, gain, len(weight) - 1)
    value = _until_stopped(met, weight)
    if not residual:
        return value
    return np.maximum(_until_stopped(_up_to_first_unjudged(judged, met), weight) - value, 0.0)


def _until_stopped(met: Way, weight: Floats) -> Floats:
    up_to = np.cumsum(weight)
    going_on = met.so_far(np.multiply, 1.0 - met.value)
    arriving = met.before(going_on, 1.0)
    looked_at = up_to[met.first] + met.total(going_on * (up_to[met.next] - up_to[met.rank]))
    return met.total(arriving * weight[met.rank] * met.value) / looked_at


def _up_to_first_unjudged(judged: JudgedRanking, met: Way) -> Way:
    """The path if all unjudged documents gain 1: everybody stops at the first of them."""
    known = judged.hit_rel >= 0
    stop = judged.count(known & (judged.so_far(known) == judged.hit_rank)) + 1
    kept = met.rank < stop[met.query]
    stops = np.flatnonzero(stop <= met.end)
    query = np.concatenate((met.query[kept], stops))
    order = np.argsort(query, kind="stable")
    return Way(
        query[order],
        np.concatenate((met.rank[kept], stop[stops]))[order],
        np.concatenate((met.value[kept], np.ones(len(stops))))[order],
        met.queries,
        met.end,
    )


@measure(
    "NERR8",
    parameters=GAINS | {"cutoff": TABLE_CUTOFF},
    paper=_NERR,
    elsewhere={"ir_measures": "NERR8(max_rel=3)@k", "cwl_eval": "NERReq8CWLMetric(k)"},
)
def NERR8(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0, max_rel: float | None = None, residual: bool = False
) -> PerQuery:
    """Nearly ERR, equation 8: gain per document, for a user who stops with the gain as probability, or at rank k.

    Formula: mean of the gains over the first k; the weight of a rank is the product of 1 - gain over the ranks before;
    the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: Unlike ERR, the value is a mean of gains, so all queries share one scale; a document of the highest grade ends
    the search. Unjudged documents gain nothing; residual=True returns the possible error.

    Misleads: Nothing counts below a document of the highest grade, and values depend on the assumed scale of grades.

    Example: weights 1, 1, 0 and 0, because the document at rank 2 gains 1: NERR8@4 = (0 + 1) / 2 = 0.5.
    """
    return cascade(judged, _none_before(np.ones(cutoff)), scaled_gain(judged, min_rel, max_rel), residual)


@measure(
    "NERR9",
    parameters=GAINS | {"cutoff": TABLE_CUTOFF},
    paper=_NERR,
    elsewhere={"ir_measures": "NERR9(max_rel=3)@k", "cwl_eval": "NERReq9CWLMetric(k)"},
)
def NERR9(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0, max_rel: float | None = None, residual: bool = False
) -> PerQuery:
    """Nearly ERR, equation 9: like NERR8, but the user continues from rank i with probability at most i / (i + 1).

    Formula: mean of the gains over the first k; the weight of rank i is 1/i times the product of 1 - gain over the ranks
    before; the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: See NERR8. The numerator is ERR with these gains as probabilities.

    Misleads: Nothing counts below a document of the highest grade, and values depend on the assumed scale of grades.

    Example: weights 1, 1/2, 0 and 0: NERR9@4 = 1/2 * 1 / (1 + 1/2) = 0.3333.
    """
    weight = _none_before(1.0 / np.arange(1, cutoff + 1))
    return cascade(judged, weight, scaled_gain(judged, min_rel, max_rel), residual)


@measure(
    "NERR10",
    parameters=GAINS | {"p": PERSISTENCE, "depth": DEPTH},
    paper=_NERR,
    elsewhere={"ir_measures": "NERR10(max_rel=3)", "cwl_eval": "NERReq10CWLMetric(p)"},
)
def NERR10(
    judged: JudgedRanking,
    *,
    p: float = 0.9,
    min_rel: float = 0,
    max_rel: float | None = None,
    depth: int = 1000,
    residual: bool = False,
) -> PerQuery:
    """Nearly ERR, equation 10: like NERR8 without a cutoff, but continuing with probability at most p, as in RBP.

    Formula: mean of the gains; the weight of rank i is p**(i - 1) times the product of 1 - gain over the ranks before;
    the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: See NERR8.

    Misleads: Nothing counts below a document of the highest grade, and values depend on p and on the assumed scale of
    grades.

    Example: weights 1, 0.9 and then 0: NERR10 = 0.9 * 1 / (1 + 0.9) = 0.4737.
    """
    weight = _none_before(powers(p, np.arange(1, depth + 1)))
    return cascade(judged, weight, scaled_gain(judged, min_rel, max_rel), residual)


@measure(
    "NERR11",
    parameters=GAINS | {"T": GOAL, "depth": DEPTH},
    paper=_NERR,
    elsewhere={"ir_measures": "NERR11(max_rel=3)", "cwl_eval": "NERReq11CWLMetric(T)"},
)
def NERR11(
    judged: JudgedRanking,
    *,
    T: float = 1.0,  # noqa: N803
    min_rel: float = 0,
    max_rel: float | None = None,
    depth: int = 1000,
    residual: bool = False,
) -> PerQuery:
    """Nearly ERR, equation 11: like NERR8 without a cutoff, but more likely to continue further down, as in INSQ.

    Formula: mean of the gains; the weight of rank i is 1 / (i + 2T - 1)**2 times the product of 1 - gain over the ranks
    before; the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: See NERR8.

    Misleads: Nothing counts below a document of the highest grade, and values depend on T and on the assumed scale of
    grades.

    Example: weights 1/4, 1/9 and then 0: NERR11 = 1/9 * 1 / (1/4 + 1/9) = 0.3077.
    """
    return cascade(judged, inverse_squares(T, depth), scaled_gain(judged, min_rel, max_rel), residual)


def _none_before(weight: Floats) -> Floats:
    """The weights, with a 0 for the place before the first rank."""
    return np.concatenate(([0.0], weight))
