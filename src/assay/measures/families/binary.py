"""Measures that see a document as relevant or not: `rel` is the lowest grade that counts as relevant."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.arrays import changes
from assay.judged import JudgedRanking
from assay.measures.arithmetic import highest, log, log2_of_integers, ratio
from assay.measures.bundles import RECALLS
from assay.measures.core import Parameter, PerQuery, measure, number_between, one_of
from assay.tables import Floats, Integers


@measure(
    "P",
    aliases={"Precision": {}},
    trec={"P": "cutoff"},
    elsewhere={"ir_measures": "P@k", "ranx": "precision@k", "BEIR": "P@k"},
)
def P(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Share of the first k documents that are relevant.

    Formula: relevant documents among the first k, divided by k.

    Edges: A ranking shorter than k is divided by k all the same, as if filled up with documents that are not relevant.
    Unjudged documents count as not relevant. With fewer than k relevant documents the top value stays below 1.

    Answers: How many of the results that people see are any good?

    Misleads: With fewer relevant documents than k even a perfect ranking stays below 1; the order within the k does
    not matter.

    Pair with: R@k for what was missed, nDCG@k for the order.

    Example: documents 2 and 3 of the first 4 are relevant: P@4 = 2 / 4 = 0.5.
    """
    return judged.num_found(rel, cutoff) / cutoff


@measure(
    "R",
    aliases={"Recall": {}},
    trec={"recall": "cutoff"},
    elsewhere={"ir_measures": "R@k", "ranx": "recall@k", "BEIR": "Recall@k"},
)
def R(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Share of the relevant documents that are among the first k.

    Formula: relevant documents among the first k, divided by all relevant documents of the query.

    Edges: 0 if the query has no relevant document. With more than k relevant documents the top value stays below 1: see
    R_cap.

    Answers: How much of what there is was found?

    Misleads: Unjudged relevant documents are not missed, so incomplete labels make it look better; it does not see
    the order.

    Pair with: P@k or nDCG@k for what had to be read, Judged@k for the labels.

    Example: 2 of the 5 relevant documents are among the first 4: R@4 = 2 / 5 = 0.4.
    """
    return ratio(judged.num_found(rel, cutoff), judged.num_rel(rel))


@measure(
    "R_cap",
    aliases={"RelP": {}},
    trec={"relative_P": "cutoff"},
    elsewhere={"BEIR": "R_cap@k"},
    paper="Thakur et al. 2021, BEIR: a heterogeneous benchmark for zero-shot evaluation of information retrieval models",
)
def R_cap(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Recall at k over what k documents could have found at best (capped recall, relative precision).

    Formula: relevant documents among the first k, divided by k or by the number of relevant documents, the smaller one.

    Edges: 0 if the query has no relevant document.

    Answers: How much of what could be shown was found?

    Misleads: It is precision for queries with many relevant documents and recall for the others.

    Pair with: R@k.

    Example: 2 of the 4 that the first 4 could hold: R_cap@4 = 2 / 4 = 0.5.
    """
    return ratio(judged.num_found(rel, cutoff), np.minimum(judged.num_rel(rel), cutoff))


BETA = Parameter("how much more recall weighs than precision: 1 evenly, 2 recall twice", number_between(0, 1e6))


@measure(
    "F",
    aliases={"F1": {"beta": 1}},
    parameters={"beta": BETA},
    elsewhere={"ranx": "f1@k"},
    paper="van Rijsbergen 1979, Information Retrieval, chapter 7",
)
def F(judged: JudgedRanking, *, cutoff: int, beta: float = 1.0, rel: float = 1) -> PerQuery:
    """Weighted harmonic mean of precision and recall at k.

    Formula: (1 + beta**2) * P * R / (beta**2 * P + R), with P and R at k.

    Edges: 0 if no relevant document is among the first k.

    Answers: Are precision and recall both good?

    Misleads: One figure hides which of the two is bad, and precision at a fixed k caps it.

    Pair with: P@k and R@k themselves.

    Example: P@4 = 0.5 and R@4 = 0.4: F@4 = 2 * 0.5 * 0.4 / (0.5 + 0.4) = 0.4444.
    """
    found = judged.num_found(rel, cutoff)
    return harmonic_mean(found / cutoff, ratio(found, judged.num_rel(rel)), beta**2)


def harmonic_mean(precision: Floats, recall: Floats, beta2: float) -> Floats:
    """Precision and recall in one, recall weighing beta2; 0 where both are."""
    return ratio((beta2 + 1.0) * precision * recall, beta2 * precision + recall)


NORM = Parameter("what the sum is divided by: 'rel', or 'cutoff' for min(relevant, k)", one_of("rel", "cutoff"))


@measure(
    "AP",
    aliases={"MAP": {}},
    trec={"map": None, "map_cut": "cutoff"},
    parameters={"norm": NORM},
    elsewhere={"ir_measures": "AP@k", "ranx": "map@k", "BEIR": "MAP@k"},
    paper="Buckley and Voorhees 2000, Evaluating evaluation measure stability",
)
def AP(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1, norm: str = "rel") -> PerQuery:
    """Average precision: the precision at each relevant document, averaged over all relevant documents.

    Formula: sum of P@rank over the relevant documents found, divided by the number of relevant documents of the query.

    Edges: A relevant document that is not found adds 0. 0 if the query has no relevant document. AP@k looks at the
    first k documents and still divides by all relevant ones (trec_eval's map_cut), so that a perfect ranking of 150
    relevant documents has AP@100 = 0.6667; norm='cutoff' divides by min(relevant, k) and gives 1.

    Answers: How good is the whole ranking, for relevant or not?

    Misleads: A missing judgment far up costs a lot; queries with few relevant documents swing between extremes.

    Pair with: nDCG@k where grades exist, GMAP for the hard queries.

    Example: relevant at ranks 2, 3, 5 and 6, one of 5 not found: AP = (1/2 + 2/3 + 3/5 + 4/6) / 5 = 0.4867.
    """
    sums = sum_of_precisions(judged, cutoff, rel)
    relevant = judged.num_rel(rel)
    return ratio(sums, np.minimum(relevant, cutoff) if norm == "cutoff" and cutoff else relevant)


def sum_of_precisions(judged: JudgedRanking, cutoff: int | None, rel: float) -> Floats:
    """Precision at each relevant document found, summed per query."""
    found, so_far = relevant_in_order(judged, rel, cutoff)
    return judged.total(so_far / judged.hit_rank[found], found)


def relevant_in_order(judged: JudgedRanking, rel: float, cutoff: int | None) -> tuple[Integers, Integers]:
    """The relevant hits, and of each which of its query's it is: the first, the second."""
    found = judged.relevant_hits(rel, cutoff)
    query = judged.hit_query[found]
    return found, np.arange(1, len(found) + 1) - np.searchsorted(query, np.arange(len(judged)))[query]


@measure(
    "GMAP",
    trec={"gm_map": None},
    total="geometric",
    paper="Robertson 2006, On GMAP and other transformations",
)
def GMAP(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Average precision whose values are combined by the geometric mean, so that hard queries weigh more.

    Formula: for a query the same as AP; over queries exp of the mean of ln(max(AP, 0.00001)).

    Edges: The floor keeps one query of value 0 from making the whole mean 0.

    Answers: Does it fail on the hard queries?

    Misleads: A value near 0 for one query moves it a lot, whatever the reason.

    Pair with: AP.

    Example: one query, so it is its AP: GMAP = 0.4867.
    """
    return ratio(sum_of_precisions(judged, None, rel), judged.num_rel(rel))


@measure(
    "YAAP",
    aliases={"yaap": {}},
    trec={"yaap": None},
    bounds=None,
    paper="Robertson 2012, On smoothing average precision",
)
def YAAP(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Yet another average precision: AP smoothed and turned into log odds, which average better than AP.

    Formula: ln((1 + s) / (1 + number of relevant documents - s)), s the sum of P@rank over relevant documents found.

    Edges: 0 if the query has no relevant document; negative where less than half of the possible is reached.

    Example: s = 1/2 + 2/3 + 3/5 + 4/6 = 2.4333: YAAP = ln(3.4333 / 3.5667) = -0.0381.
    """
    sums = sum_of_precisions(judged, None, rel)
    return log((1.0 + sums) / (1.0 + judged.num_rel(rel) - sums))


@measure(
    "RR",
    aliases={"MRR": {}},
    trec={"recip_rank": None},
    elsewhere={"ir_measures": "RR@k", "ranx": "mrr@k", "MS MARCO": "MRR@10"},
    paper="Voorhees 1999, The TREC-8 question answering track report",
)
def RR(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """One over the rank of the first relevant document.

    Formula: 1 / rank of the first relevant document.

    Edges: 0 if no relevant document is found, or none among the first k: with the first hit at rank 12, RR is 0.0833
    and RR@10 is 0. trec_eval's recip_rank knows no cutoff and ignores one without a word.

    Answers: How early does the first good answer come?

    Misleads: It sees one document: everything after the first hit is ignored, and it jumps from 1 to 1/2.

    Pair with: Success@k for how often there is an answer at all, nDCG@k for the rest of the page.

    Example: the first relevant document is at rank 2: RR = 1 / 2 = 0.5.
    """
    hit = judged.relevant_hits(rel, cutoff)
    first = hit[changes(judged.hit_query[hit])]
    values = np.zeros(len(judged))
    values[judged.hit_query[first]] = 1 / judged.hit_rank[first]
    return values


@measure(
    "Rprec",
    aliases={"RPrec": {}},
    trec={"Rprec": None},
    elsewhere={"ir_measures": "Rprec", "ranx": "r-precision"},
    paper="Buckley and Voorhees 2005, Retrieval system evaluation (chapter 3 of TREC: experiment and evaluation)",
)
def Rprec(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Precision after as many documents as the query has relevant ones.

    Formula: relevant documents among the first R, divided by R, the number of relevant documents of the query.

    Edges: This is where precision equals recall. 0 if the query has no relevant document.

    Answers: How good is the ranking where precision meets recall?

    Misleads: The point differs from query to query, so it cannot be pictured as a page.

    Pair with: AP.

    Example: 5 documents are relevant, 3 of them are among the first 5: Rprec = 3 / 5 = 0.6.
    """
    relevant = judged.num_rel(rel)
    return ratio(judged.count(judged.relevant(rel) & (judged.hit_rank <= relevant[judged.hit_query])), relevant)


@measure(
    "RprecMult",
    trec={"Rprec_mult": "multiple"},
    at="multiple",
    parameters={"multiple": Parameter("the multiple of R at which precision is taken", number_between(0, 1e6))},
)
def RprecMult(judged: JudgedRanking, *, multiple: float, rel: float = 1) -> PerQuery:
    """Precision after a multiple of R documents, R being the number of relevant documents of the query.

    Formula: relevant documents among the first m*R, divided by m*R (rounded up beyond a tenth).

    Edges: Low multiples show whether a system is made for precision, high ones whether for recall.

    Example: 1.2 * 5 = 6 documents hold 4 relevant ones: RprecMult@1.2 = 4 / 6 = 0.6667.
    """
    cutoff = np.maximum(rounded_up(multiple, judged.num_rel(rel)), 0)
    return ratio(judged.count(judged.relevant(rel) & (judged.hit_rank <= cutoff[judged.hit_query])), cutoff)


@measure(
    "Success",
    aliases={"Hit": {}, "HitRate": {}, "Hits": {}},
    trec={"success": "cutoff"},
    elsewhere={"ir_measures": "Success@k", "ranx": "hit_rate@k"},
)
def Success(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if a relevant document is among the first k, else 0 (hit rate).

    Formula: 1 where at least one of the first k documents is relevant. Its mean is the share of queries answered.

    Edges: 0 if the query has no relevant document.

    Answers: How often is there a good result at all?

    Misleads: One hit is enough: it cannot tell a good page from a lucky one, and is soon near 1.

    Pair with: RR@k for how early, R@k for how much.

    Example: a relevant document is among the first 4: Success@4 = 1.
    """
    return (judged.num_found(rel, cutoff) > 0).astype(np.float64)


ROUNDING = Parameter(
    "how recall * R becomes a number of documents: 'up' beyond a tenth (trec_eval 9), 'nearest' (trec_eval 10)",
    one_of("up", "nearest"),
)


@measure(
    "IPrec",
    trec={"iprec_at_recall": "recall"},
    at="recall",
    parameters={"recall": Parameter("the recall level", number_between(0, 1)), "rounding": ROUNDING},
    elsewhere={"ir_measures": "IPrec@recall"},
    paper="Manning, Raghavan and Schütze 2008, Introduction to information retrieval, section 8.4",
)
def IPrec(judged: JudgedRanking, *, recall: float, rel: float = 1, rounding: str = "up") -> PerQuery:
    """Interpolated precision: the best precision reached at this recall or beyond.

    Formula: the highest P@rank over all ranks by which recall * R relevant documents have been found.

    Edges: 0 if the ranking never gets there. At recall 0 it is the best precision anywhere in the ranking.

    Answers: What precision can be had at this recall?

    Misleads: It is the best precision further down, not the one reached there.

    Pair with: AP.

    Example: recall 0.4 takes 2 relevant documents; from rank 3 on the best precision is IPrec@0.4 = 2 / 3 = 0.6667.
    """
    return interpolated_precision(judged, ROUNDINGS[rounding](recall, judged.num_rel(rel)), rel)


def _recalls(value: Any) -> tuple[float, ...]:
    try:
        levels = tuple(float(level) for level in value)
    except (TypeError, ValueError):
        levels = ()
    if not levels or not all(0 <= level <= 1 for level in levels):
        raise ValueError("recall levels from 0 to 1 such as (0.25, 0.5, 0.75)")
    return levels


@measure(
    "IPrecAvg",
    aliases={"11pt": {}},
    trec={"11pt_avg": "recalls"},
    parameters={"recalls": Parameter("the recall levels averaged over", _recalls), "rounding": ROUNDING},
    paper="Manning, Raghavan and Schütze 2008, Introduction to information retrieval, section 8.4",
)
def IPrecAvg(
    judged: JudgedRanking, *, recalls: tuple[float, ...] = RECALLS, rel: float = 1, rounding: str = "up"
) -> PerQuery:
    """Interpolated precision averaged over recall levels, by default the eleven from 0.0 to 1.0 (11pt_avg).

    Formula: mean of IPrec at the recall levels.

    Edges: An old relative of AP: both estimate the area under the precision-recall curve.

    Example: 2/3 at the nine levels from 0.0 to 0.8, 0 at 0.9 and 1.0: IPrecAvg = 9 * 0.6667 / 11 = 0.5455.
    """
    relevant = judged.num_rel(rel)
    sums = np.zeros(len(judged))
    for recall in reversed(recalls):  # from the last level to the first, as trec_eval adds
        sums += interpolated_precision(judged, ROUNDINGS[rounding](recall, relevant), rel)
    return sums / len(recalls)


def interpolated_precision(judged: JudgedRanking, needed: Integers, rel: float) -> Floats:
    """The best precision at any rank by which so many relevant documents have been found."""
    hit = judged.relevant(rel)
    found = judged.so_far(hit)
    return highest(hit * found / judged.hit_rank * (found >= needed[judged.hit_query]), judged.hit_start)


def rounded_up(share: float, number: Integers) -> Integers:
    """share * number, rounded up from a tenth on: trec_eval 9's way to make a share a number of documents."""
    return np.asarray(np.minimum(share * number + 0.9, 2.0**62), np.int64)


def rounded(share: float, number: Integers) -> Integers:
    """share * number, halves rounded up: trec_eval 10's way."""
    product = share * number
    whole = np.floor(product)
    return np.asarray(np.minimum(whole + (product - whole >= 0.5), 2.0**62), np.int64)


ROUNDINGS = {"up": rounded_up, "nearest": rounded}


@measure("binG", trec={"binG": None})
def binG(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Gain of each relevant document, discounted by how many documents before it were not relevant.

    Formula: mean over the relevant documents of 1 / log2(2 + documents before it that are not relevant).

    Edges: A relevant document that is not found adds 0. An experiment of trec_eval's author between AP and nDCG.

    Example: 1, 1, 2 and 2 useless documents come before: binG = (1/log2(3) + 1/log2(3) + 1/log2(4) + 1/log2(4)) / 5 =
    0.4524.
    """
    hits, so_far = relevant_in_order(judged, rel, None)
    useless_before = judged.hit_rank[hits] - so_far
    return ratio(judged.total(1 / log2_of_integers(2 + useless_before), hits), judged.num_rel(rel))


@measure("Accuracy", elsewhere={"ir_measures": "Accuracy@k"})
def Accuracy(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Chance that a relevant document stands before one that is not, both taken from what was retrieved.

    Formula: pairs of a relevant document and one further down that is not relevant, divided by all pairs of a relevant
    and a not relevant document; among the retrieved documents, or the first k of them.

    Edges: Relevant documents that were not retrieved do not count, and one that moves up to rank k may lower the value:
    it serves to watch a model in training, not to compare systems. Unjudged documents count as not relevant. 1 if only
    relevant documents were retrieved; 0 if none was, where ir_measures leaves the query out. BEIR's Accuracy@k is
    Success@k.

    Example: 1, 1, 2 and 2 of the 2 useless documents stand before the 4 relevant ones: Accuracy = 1 - 6 / (2 * 4) =
    0.25.
    """
    hits, so_far = relevant_in_order(judged, rel, cutoff)
    retrieved = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    found = judged.num_found(rel, cutoff)
    useless_before = judged.total(judged.hit_rank[hits] - so_far, hits)
    return np.where(found > 0, 1.0 - ratio(useless_before, found * (retrieved - found)), 0.0)
