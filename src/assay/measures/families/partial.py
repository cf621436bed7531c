"""Measures for incomplete judgments, and measures of how complete judgments are."""

from __future__ import annotations

import numpy as np

from assay.errors import MeasureError, some_of
from assay.judged import JudgedRanking
from assay.measures.arithmetic import ratio
from assay.measures.core import PerQuery, measure, one_of
from assay.tables import Booleans, Floats
from assay.words import plural

_BUCKLEY = "Buckley and Voorhees 2004, Retrieval evaluation with incomplete information"
EPSILON = 0.00001  # avoids a division by 0 if no document before was judged; trec_eval's value

EDGES = one_of(
    "whose edge cases: 'trec_eval', or 'ranx', where negative grades are not relevant and a query needs a document "
    "judged not relevant",
    "trec_eval",
    "ranx",
)


@measure("Bpref", aliases={"BPref": {}}, trec={"bpref": None}, judged_only=False, paper=_BUCKLEY,
         parameters={"edges": EDGES}, elsewhere={"ir_measures": "Bpref", "ranx": "bpref"})  # fmt: skip
def Bpref(judged: JudgedRanking, *, rel: float = 1, edges: str = "trec_eval") -> PerQuery:
    """How rarely documents judged not relevant rank above relevant ones; unjudged documents are ignored.

    Formula: mean over the relevant documents of 1 - (documents judged not relevant before it) / min(R, N), with at most
    R of them counted; R is the number of judged relevant documents and N the number judged not relevant.

    Edges: A relevant document that is not found adds 0. Documents with negative grades are in neither count. If nothing
    is judged not relevant, it is the share of the relevant documents that were found; ranx divides 0 by 0, there and
    where nothing is relevant, and edges='ranx' refuses both.

    Answers: Do relevant documents come before those judged not relevant?

    Misleads: It ignores unjudged documents, so any number of them before the relevant ones costs nothing.

    Pair with: AP, Judged@k.

    Example: no non-relevant document before two of them, one of at most 1 before the others: Bpref =
    (1 + 1 + 0 + 0) / 5 = 0.4.
    """
    if edges == "trec_eval":
        return _bpref(judged, rel)
    relevant = judged.num_rel(rel)
    _refuse_in_ranx(judged, (judged.num_found(rel) > 0) & (relevant == judged.num_rel(-np.inf)), "judged not relevant")
    _refuse_in_ranx(judged, relevant == 0, "judged relevant")  # it stops there: queries after it get 0 as well
    return _bpref(judged, rel, lowest=-np.inf)


def _refuse_in_ranx(judged: JudgedRanking, undefined: Booleans, what: str) -> None:
    if undefined.any():
        queries = [judged.queries[place] for place in np.flatnonzero(undefined).tolist()]
        raise MeasureError(
            f"ranx gives no number for Bpref: {len(queries)} of {len(judged)} queries {plural('{has|have}', len(queries))} no "
            f"document {what} ({some_of(queries)}), and it divides 0 by 0. Judge such documents, or use another "
            "measure or convention."
        )


def _bpref(judged: JudgedRanking, rel: float, lowest: float = 0) -> Floats:
    hit = judged.relevant(rel)
    relevant = judged.num_rel(rel)
    not_relevant = judged.num_rel(lowest) - relevant
    useless_before = judged.so_far((judged.hit_rel >= lowest) & ~hit)
    most = np.minimum(useless_before, relevant[judged.hit_query])
    lost = ratio(most, np.minimum(not_relevant, relevant)[judged.hit_query])
    return ratio(judged.total(hit * (1.0 - lost)), relevant)


@measure("GMBpref", trec={"gm_bpref": None}, total="geometric", judged_only=False, paper=_BUCKLEY)
def GMBpref(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Bpref with the geometric mean over queries, which gives hard queries more weight.

    Formula: the same as Bpref for a query; over queries, exp of the mean of ln(max(Bpref, 0.00001)).

    Edges: A query below 0.00001 counts as 0.00001; otherwise a single 0 would make the whole mean 0.

    Misleads: A single query near 0 changes it a lot, regardless of the reason.

    Example: one query, so it is its Bpref: GMBpref = 0.4.
    """
    return _bpref(judged, rel)


@measure(
    "infAP",
    aliases={"InfAP": {}},
    trec={"infAP": None},
    judged_only=False,
    paper="Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect judgments",
    elsewhere={"ir_measures": "infAP"},
)
def infAP(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Average precision estimated when only a random sample of the pool was judged.

    Formula: like AP, with the precision at a relevant document estimated from the judged documents before it.

    Edges: A negative grade marks a document that was pooled but not judged; documents outside the qrels count as not
    relevant.

    Answers: What would AP be if the whole pool had been judged?

    Misleads: The estimate is valid only if the judgments are a random sample of the pool.

    Pair with: AP.

    Example: the whole pool was judged here, so it is AP except for the smoothing: infAP = 0.4867.
    """
    hit = judged.relevant(rel)
    relevant_before = judged.so_far(hit) - 1
    useless_before = judged.so_far((judged.hit_rel >= 0) & ~hit)
    unjudged_before = judged.so_far(judged.hit_rel < 0)
    before = judged.hit_rank - 1.0
    pooled = ratio(relevant_before + useless_before + unjudged_before, before)
    share = (relevant_before + EPSILON) / (relevant_before + useless_before + 2 * EPSILON)
    expected = 1.0 / (before + 1.0) + (before / (before + 1.0)) * pooled * share
    return ratio(judged.total(hit * np.where(before == 0, 1.0, expected)), judged.num_rel(rel))


@measure(
    "Judged",
    judged_only=False,
    rewards=False,
    elsewhere={"ir_measures": "Judged@k", "pyserini": "judged@k"},
)
def Judged(judged: JudgedRanking, *, cutoff: int | None = None) -> PerQuery:
    """Share of the first k documents that are judged for the query, with any grade.

    Formula: judged documents among the first k, divided by k, or by the length of a shorter ranking.

    Edges: A low value means that the other numbers are based on few judgments. 0 if nothing was retrieved.

    Answers: Can the other numbers be trusted?

    Misleads: It says nothing about quality: a system that contributed to the pool looks good.

    Pair with: any measure, at the same k.

    Example: 5 of the 6 documents retrieved are judged, 3 of the first 4 (Judged@4 = 0.75): Judged = 5 / 6 = 0.8333.
    """
    if cutoff is None:
        return ratio(np.diff(judged.hit_start), judged.retrieved)
    return ratio(judged.count(judged.hit_rank <= cutoff), np.minimum(judged.retrieved, cutoff))


@measure("Unjudged", trec={"unj": "cutoff"}, judged_only=False, rewards=False, elsewhere={"trec_eval 10": "unj_k"})
def Unjudged(judged: JudgedRanking, *, cutoff: int) -> PerQuery:
    """Share of the first k ranks with an unjudged document.

    Formula: documents among the first k without a judgment, or with a negative grade, divided by k.

    Edges: A ranking shorter than k is still divided by k, so Judged and Unjudged add up to 1 only if k documents were
    retrieved.

    Misleads: It says nothing about quality: a run with only judged documents can consist of bad ones.

    Example: 1 of the first 4 documents is not judged: Unjudged@4 = 1 / 4 = 0.25.
    """
    known = judged.count((judged.hit_rel >= 0) & (judged.hit_rank <= cutoff))
    return (np.minimum(judged.retrieved, cutoff) - known) / cutoff


@measure("Hole", needs="strays", judged_only=False, rewards=False, elsewhere={"BEIR": "Hole@k"})
def Hole(judged: JudgedRanking, *, cutoff: int) -> PerQuery:
    """Share of the first k ranks with a document that is not judged for any query.

    Formula: documents among the first k that appear nowhere in the qrels, divided by k (BEIR's hole rate).

    Edges: Unlike Unjudged, it does not count documents that are judged only for another query.

    Misleads: It leaves out documents that are judged for another query only, although nobody knows whether they are
    relevant here.

    Example: 1 of the first 4 documents is not judged for any query: Hole@4 = 1 / 4 = 0.25.
    """
    if judged.stray_query is None or judged.stray_rank is None:
        raise MeasureError("Hole needs a ranking judged with strays=True: judge(qrels, run, rules, strays=True).")
    strays = np.bincount(judged.stray_query[judged.stray_rank <= cutoff], minlength=len(judged))
    return (np.minimum(judged.retrieved, cutoff) - judged.count(judged.hit_rank <= cutoff) - strays) / cutoff
