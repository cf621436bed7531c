"""Measures that model a user who reads down a ranking and may stop at each document (C/W/L).

Such a measure is a mean of the gains, weighted by how likely the user is to look at each rank: gain per document looked
at. It follows from the chance to go on to the next rank, which may depend on the rank, on the gain there and on the gain
so far (Moffat et al. 2017, Incorporating user expectations and behavior into the measurement of search effectiveness).
Only documents that gain something are looked at here; what the ranks between them weigh is a sum in closed form or from
a table. tests/golden/test_cwl_eval.py compares with cwl_eval, which goes through all ranks one by one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from assay.errors import MeasureError, ParameterError
from assay.judged import JudgedRanking
from assay.measures.arithmetic import discount, powers, ratio, running
from assay.measures.core import PARAMETERS, Parameter, PerQuery, boolean, measure, number_between
from assay.measures.families.graded import Number, one_later
from assay.tables import Booleans, Floats, Integers

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_RANKS = 1_000_000  # tables of weights have an entry for each rank


def _ranks(value: Any) -> int:
    ranks = int(PARAMETERS["cutoff"].check(value))
    if ranks > _MOST_RANKS:
        raise ValueError(f"a whole number from 1 to {_MOST_RANKS}")
    return ranks


def _from_zero(value: Any) -> Any:
    grade = PARAMETERS["rel"].check(value)
    if grade < 0:
        raise ValueError("a number from 0")  # a negative grade says that nobody judged
    return grade


PERSISTENCE = Parameter("the chance that the user goes on to the next document", number_between(0, 1, open_ends=True))
GOAL = Parameter("the gain that the user hopes for: 1 is one document of the highest grade", number_between(0.01, 1e6))
RESIDUAL = Parameter(
    "give instead how much higher the value would be if all unjudged documents, retrieved or beyond the end, had the "
    "highest grade",
    boolean,
)
GAINS = {
    "min_rel": Parameter("the grade that gains nothing; lower ones neither", _from_zero),
    "max_rel": Parameter(
        "the grade that gains 1; higher ones too; by default the highest grade of the qrels", PARAMETERS["rel"].check
    ),
    "residual": RESIDUAL,
}
CUTOFF = Parameter(PARAMETERS["cutoff"].meaning, _ranks)
DEPTH = Parameter("the rank at which every user stops; cwl_eval's is 1000", _ranks)

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
        "depth": Parameter("the rank at which every user stops; cwl_eval's is 1000, by default there is none", _ranks),
        "residual": RESIDUAL,
    },
    paper=_MOFFAT,
    elsewhere={
        "ir_measures": "RBP(p=0.8)",
        "cwl_eval": "RBPCWLMetric(0.8)",
        "trec_eval 10": "rbp.p=0.9",
        "ranx": "rbp.80 (raw grades)",
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
) -> PerQuery:
    """Gain per document looked at, by a user who goes on to the next one with chance p.

    Formula: (1 - p) * sum of gain * p**(rank - 1); the gain is the grade over the highest grade of the qrels, or, with
    `rel`, 1 for grades of at least rel. Unjudged documents gain nothing: RBPResidual says how much that may hide.

    Edges: The user of this model never has to stop; with `depth` the sum ends there and is divided by 1 - p**depth, as
    cwl_eval does at 1000. residual=True is RBPResidual, whose user goes on for ever as well; with `depth` or a cutoff
    only ranks up to there can hide anything.

    Answers: How much does each look at a document gain, for a user of some patience?

    Misleads: Values depend on p, and rarely reach 1.

    Pair with: RBPResidual, which says what unjudged documents may hide.

    Example: gains 1, 2/3, 1/3 and 2/3 at ranks 2, 3, 5 and 6: RBP = 0.2 * (0.8 + 2/3 * 0.64 + 1/3 * 0.4096 + 2/3 *
    0.32768) = 0.3163.
    """
    ends = [end for end in (cutoff, depth) if end is not None]
    counted = (judged.hit_rel >= 0).astype(np.float64) if residual else gain_share(judged, rel)
    weight = counted * powers(p, judged.hit_rank)
    shown = (1.0 - p) * judged.total(weight if not ends else weight * (judged.hit_rank <= min(ends)))
    value = np.maximum((1.0 - p ** min(ends) if ends else 1.0) - shown, 0.0) if residual else shown
    return value if depth is None else value / (1.0 - p**depth)


def gain_share(judged: JudgedRanking, rel: float | None) -> Floats:
    """The gain of each hit between 0 and 1."""
    if rel is not None:
        return (judged.hit_rel >= rel).astype(np.float64)
    return ratio(np.maximum(judged.hit_rel, 0.0), np.full(len(judged.hit_rel), judged.top_grade))


@measure(
    "RBPResidual",
    trec={"rbp_resid": "p"},
    parameters={"p": PERSISTENCE},
    rewards=False,
    judged_only=False,
    paper=_MOFFAT,
    elsewhere={"cwl_eval": "-r", "trec_eval 10": "rbp_resid (0 where all retrieved documents are judged)"},
)
def RBPResidual(judged: JudgedRanking, *, p: float = 0.8) -> PerQuery:
    """How much higher RBP could be if every unjudged document, retrieved or beyond the end, were perfectly relevant.

    Formula: (1 - p) * sum of p**(rank - 1) over unjudged documents, + p**(documents retrieved) for what was not shown.

    Edges: The true RBP lies between RBP and RBP + RBPResidual. 1 for a query that the run lacks.

    Example: the document at rank 1 and all after rank 6: RBPResidual = 0.2 * 1 + 0.8**6 = 0.4621.
    """
    known = (1.0 - p) * judged.total((judged.hit_rel >= 0) * powers(p, judged.hit_rank))
    return 1.0 - known


# Gains, and the documents on the user's way.


def scaled_gain(judged: JudgedRanking, min_rel: float, max_rel: float | None) -> Floats:
    """The gain of each hit between 0 and 1: where its grade stands between the lowest and the highest."""
    if max_rel is not None and max_rel <= min_rel:
        raise MeasureError(f"max_rel={max_rel:g} is not higher than min_rel={min_rel:g}; then nothing gains anything.")
    top = judged.top_grade if max_rel is None else max_rel
    if top <= min_rel:  # qrels without a document that gains anything
        return np.zeros(len(judged.hit_rel))
    return (np.clip(np.maximum(judged.hit_rel, 0.0), min_rel, top) - min_rel) / (top - min_rel)


class Way(Struct, frozen=True, eq=False, dict=True):
    """The documents that change something for a user on the way down, in rank order, and the rank where it ends."""

    query: Integers
    rank: Integers
    value: Floats  # what changes: the gain, or what it lacks of 1
    queries: int  # how many
    end: int

    @cached_property
    def start(self) -> Integers:
        """The documents of query i are start[i]:start[i + 1]."""
        return np.searchsorted(self.query, np.arange(self.queries + 1))

    @cached_property
    def first(self) -> Integers:
        """For each query, the rank of its first document; the end if it has none."""
        return np.where(np.diff(self.start) > 0, np.append(self.rank, self.end)[self.start[:-1]], self.end)

    @cached_property
    def next(self) -> Integers:
        """For each document, the rank of the next one of its query; the end after the last."""
        following = np.append(self.rank[1:], self.end)[: len(self.rank)]
        following[self.start[1:][np.diff(self.start) > 0] - 1] = self.end
        return following

    def so_far(self, operation: np.ufunc, values: Floats) -> Floats:
        """Sum or product of the values of the query's documents, this one included."""
        return running(operation, values, self.start)

    def before(self, values: npt.NDArray[Number], first: float) -> npt.NDArray[Number]:
        """For each document, the value of the one before it, and `first` at the query's first."""
        return one_later(values, self.start, first)

    def total(self, values: npt.NDArray[Any]) -> Floats:
        """Sum of the documents' values per query, from the first rank to the last."""
        return np.asarray(np.bincount(self.query, weights=values, minlength=self.queries), np.float64)


def way_of(judged: JudgedRanking, value: Floats, chosen: Booleans, end: int) -> Way:
    """The chosen hits as far as the end."""
    rows = np.flatnonzero(chosen & (judged.hit_rank <= end))
    return Way(judged.hit_query[rows], judged.hit_rank[rows], value[rows], len(judged), end)


def gains_met(judged: JudgedRanking, gain: Floats, end: int) -> Way:
    """The documents that gain something."""
    return way_of(judged, gain, gain > 0, end)


def gains_lacking(judged: JudgedRanking, gain: Floats, end: int) -> Way:
    """If all unjudged documents gained 1: the judged ones that do not, and what each of them lacks."""
    return way_of(judged, 1.0 - gain, (judged.hit_rel >= 0) & (gain < 1), end)


# Users whose chance to look at a rank depends on nothing else.


def fixed_weights(judged: JudgedRanking, weight: Floats, gain: Floats, residual: bool) -> Floats:
    """The mean of the gains by the weights of their ranks; weight[0], before the first rank, is 0."""
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
    parameters=GAINS | {"cutoff": CUTOFF},
    same_as={"dcg": _only_log2},
    paper="Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques",
    elsewhere={"ir_measures": "SDCG(max_rel=3)@k", "cwl_eval": "NDCGCWLMetric(k)"},
)
def SDCG(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0, max_rel: float | None = None, residual: bool = False
) -> PerQuery:
    """Scaled DCG: discounted gain over that of k documents of the highest grade, whether there are so many or not.

    Formula: sum of gain / log2(rank + 1) over the first k, divided by the sum of 1 / log2(rank + 1); the gain is
    (grade - min_rel) / (max_rel - min_rel).

    Edges: Unlike nDCG it does not depend on what else was judged, so the residual says what unjudged documents may hide.
    A query with few or poor relevant documents stays below 1. cwl_eval looks at 1000 ranks, however high the cutoff.

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
    """Gain per document looked at, by a user who is the surer to go on the further down, and the more is hoped for.

    Formula: mean of the gains, rank i weighing 1 / (i + 2T - 1)**2; the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: Unjudged documents gain nothing; residual=True says how much that may hide. What was found does not make the
    user stop: for that see INST.

    Example: gains 1, 2/3, 1/3 and 2/3 at ranks 2, 3, 5 and 6, all weights adding up to 0.6439:
    INSQ = (1/9 + 2/3/16 + 1/3/36 + 2/3/49) / 0.6439 = 0.2728.
    """
    return fixed_weights(judged, inverse_squares(T, depth), scaled_gain(judged, min_rel, max_rel), residual)


def inverse_squares(goal: float, depth: int) -> Floats:
    """The weights of the ranks for a user with a goal, were it not for what is found; 0 before the first rank."""
    return np.concatenate(([0.0], 1.0 / np.square(np.arange(1, depth + 1) + 2.0 * goal - 1.0)))


# A user who stops when enough is found.

_NEARLY = 1.0 - 1e-9  # ten gains of 0.1 add up to 0.9999999999999999 and still make 1


@measure(
    "BPM",
    parameters=GAINS | {"T": GOAL, "cutoff": CUTOFF},
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
    """Bejeweled player model: gain per document, by a user who stops once T was gained or after k documents.

    Formula: gain so far over rank, at the first rank where the gain so far reaches T, or at rank k; the gain of a
    document is (grade - min_rel) / (max_rel - min_rel).

    Edges: A better document further up may end the search at a worse rate: with T = 1 the gains 0, 0, 0.5, 1 give 1.5/4,
    but 0, 0, 1, 0.5 give 1/3. So the residual, which is cwl_eval's, may be below 0. cwl_eval adds the gains with
    rounding errors and goes on where T is missed by one; it also looks at 1000 ranks, however high the cutoff.

    Example: the document at rank 2 is all that the user wants: BPM@4 = 1 / 2 = 0.5.
    """
    gain = scaled_gain(judged, min_rel, max_rel)
    value = _until_satisfied(gains_met(judged, gain, cutoff), T)
    return _until_satisfied_at_best(gains_lacking(judged, gain, cutoff), T) - value if residual else value


def _until_satisfied(met: Way, goal: float) -> Floats:
    gained = met.so_far(np.add, met.value)
    wants_more = met.before(gained, 0.0) < goal * _NEARLY
    last = wants_more & (gained >= goal * _NEARLY)  # one document of each query, or none
    stop: Integers = np.full(met.queries, met.end)
    stop[met.query[last]] = met.rank[last]
    return met.total(met.value * wants_more) / stop


def _until_satisfied_at_best(lacking: Way, goal: float) -> Floats:
    """The same if all other documents gain 1: after n ranks the user has n less what was lacking."""
    lacked = lacking.so_far(np.add, lacking.value)
    wanted = np.maximum(np.ceil(goal * _NEARLY + lacked).astype(np.int64), lacking.rank)
    at_once = int(np.ceil(goal * _NEARLY))
    stop = np.where(at_once < lacking.first, min(at_once, lacking.end), lacking.end)
    np.minimum.at(stop, lacking.query, np.where(wanted < lacking.next, wanted, lacking.end))
    return 1.0 - lacking.total(lacking.value * (lacking.rank <= stop[lacking.query])) / stop


# Users who go on the less, the more they found so far.


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
    """Gain per document looked at, by a user who goes on the more likely the more of the hoped for gain is missing.

    Formula: mean of the gains by weights that start with 1 and change from rank i to the next by the factor
    ((n - 1) / n)**2, n = i + 2T - gain of the first i documents; the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: Unjudged documents gain nothing; residual=True says how much that may hide: cwl_eval's difference between all
    of them gaining 1 and none. T under 0.5 is refused: the chance to go on would rise with the gain.

    Answers: How much does each look gain, for a user who wants T good documents and goes on while they lack?

    Misleads: Unjudged documents make the user go on, and the value falls.

    Pair with: INST(residual=True), which says what unjudged documents may hide.

    Example: weights 1, 4/9, 0.1975, 0.0968, 0.0573 and 0.0367 of the first ranks, 1.9739 of all:
    INST = (4/9 * 1 + 0.1975 * 2/3 + 0.0573 * 1/3 + 0.0367 * 2/3) / 1.9739 = 0.3139.
    """
    gain = scaled_gain(judged, min_rel, max_rel)
    value = _until_content(gains_met(judged, gain, depth), T)
    if not residual:
        return value
    return np.maximum(_until_content_at_best(gains_lacking(judged, gain, depth), T) - value, 0.0)


def _until_content(met: Way, goal: float) -> Floats:
    """Between two documents with a gain the factors telescope: rank i weighs scale / (i - 1 + missing)**2."""
    missing = 2.0 * goal - met.so_far(np.add, met.value)
    missing_before = met.before(missing, 2.0 * goal)
    factor = (met.rank - 1.0 + missing) / (met.rank - 1.0 + missing_before)
    scale = (2.0 * goal) ** 2 * met.so_far(np.multiply, factor * factor)
    weight = met.before(scale, (2.0 * goal) ** 2) / np.square(met.rank - 1.0 + missing_before)
    up_to_first = (2.0 * goal) ** 2 * sum_of_inverse_squares(np.full(met.queries, 2.0 * goal), met.first)
    up_to_next = scale * sum_of_inverse_squares(met.rank + missing, met.next - met.rank)
    return met.total(weight * met.value) / (up_to_first + met.total(up_to_next))


def _until_content_at_best(lacking: Way, goal: float) -> Floats:
    """The same if all other documents gain 1: between those that gain less, the chance to go on stays as it is."""
    n = 2.0 * goal + lacking.so_far(np.add, lacking.value)
    chance = np.square(1.0 - 1.0 / n)
    steps = lacking.rank - lacking.before(lacking.rank, 0) - 1
    passed = lacking.before(chance, (1.0 - 0.5 / goal) ** 2) ** steps
    scale = lacking.so_far(np.multiply, passed * chance)  # what the rank after the document weighs
    weight = lacking.before(scale, 1.0) * passed
    up_to_first = _sum_of_chances(np.full(lacking.queries, 2.0 * goal), lacking.first)
    up_to_next = scale * _sum_of_chances(n, lacking.next - lacking.rank)
    return 1.0 - lacking.total(weight * lacking.value) / (up_to_first + lacking.total(up_to_next))


def _sum_of_chances(n: Floats, terms: Integers) -> Floats:
    """1 + q + q**2 + ..., so many terms, for the chance q = ((n - 1) / n)**2 to go on."""
    with np.errstate(divide="ignore"):  # n = 1: nobody goes on
        rest = np.expm1(terms * (2.0 * np.log1p(-1.0 / n)), where=terms > 0, out=np.zeros(len(n)))
    return np.asarray(-rest * n * n / (2.0 * n - 1.0))


# Bernoulli numbers B2 to B12.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
_DIRECT = 15  # from here on the series is exact to 1e-15


def sum_of_inverse_squares(first: Floats, terms: Integers) -> Floats:
    """1 / first**2 + 1 / (first + 1)**2 + ..., so many terms, for first > 0.

    Small numbers are added one by one, the others by the formula of Euler and Maclaurin.

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
    """What the sum of 1 / n**2 from x on is more than the integral."""
    square = 1.0 / (x * x)
    series = np.zeros(len(x))
    for number in reversed(_BERNOULLI):
        series = (series + number) * square
    return 0.5 * square + series / x


# Users who stop at a document with a chance that is its gain.


def cascade(judged: JudgedRanking, weight: Floats, gain: Floats, residual: bool) -> Floats:
    """The mean of the gains by the weights of their ranks times the chance not to have stopped before."""
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
    """The way if all unjudged documents gain 1: everybody stops at the first of them."""
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
    parameters=GAINS | {"cutoff": CUTOFF},
    paper=_NERR,
    elsewhere={"ir_measures": "NERR8(max_rel=3)@k", "cwl_eval": "NERReq8CWLMetric(k)"},
)
def NERR8(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0, max_rel: float | None = None, residual: bool = False
) -> PerQuery:
    """Nearly ERR, equation 8: gain per document, by a user who stops at a document as likely as it gains, or at rank k.

    Formula: mean of the gains over the first k, rank i weighing the product of 1 - gain over the ranks before; the gain
    is (grade - min_rel) / (max_rel - min_rel).

    Edges: Unlike ERR the value is a mean of gains, so values of different queries share one scale; a document of the
    highest grade ends the search. Unjudged documents gain nothing; residual=True says how much that may hide.

    Example: weights 1, 1, 0 and 0, for the document at rank 2 gains 1: NERR8@4 = (0 + 1) / 2 = 0.5.
    """
    return cascade(judged, _none_before(np.ones(cutoff)), scaled_gain(judged, min_rel, max_rel), residual)


@measure(
    "NERR9",
    parameters=GAINS | {"cutoff": CUTOFF},
    paper=_NERR,
    elsewhere={"ir_measures": "NERR9(max_rel=3)@k", "cwl_eval": "NERReq9CWLMetric(k)"},
)
def NERR9(
    judged: JudgedRanking, *, cutoff: int, min_rel: float = 0, max_rel: float | None = None, residual: bool = False
) -> PerQuery:
    """Nearly ERR, equation 9: as NERR8, and the user goes on from rank i with chance i / (i + 1) only.

    Formula: mean of the gains over the first k, rank i weighing 1/i times the product of 1 - gain over the ranks before;
    the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: See NERR8. The numerator is ERR with these gains as chances.

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
    """Nearly ERR, equation 10: as NERR8 without end, and the user goes on with chance p at most, as in RBP.

    Formula: mean of the gains, rank i weighing p**(i - 1) times the product of 1 - gain over the ranks before; the gain
    is (grade - min_rel) / (max_rel - min_rel).

    Edges: See NERR8.

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
    """Nearly ERR, equation 11: as NERR8 without end, and the user is the surer to go on the further down, as in INSQ.

    Formula: mean of the gains, rank i weighing 1 / (i + 2T - 1)**2 times the product of 1 - gain over the ranks before;
    the gain is (grade - min_rel) / (max_rel - min_rel).

    Edges: See NERR8.

    Example: weights 1/4, 1/9 and then 0: NERR11 = 1/9 * 1 / (1/4 + 1/9) = 0.3077.
    """
    return cascade(judged, inverse_squares(T, depth), scaled_gain(judged, min_rel, max_rel), residual)


def _none_before(weight: Floats) -> Floats:
    """The weights with a 0 for the place before the first rank."""
    return np.concatenate(([0.0], weight))
