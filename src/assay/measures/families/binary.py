"""Measures of binary relevance: `rel` is the lowest grade that counts as relevant."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.arrays import changes
from assay.judged import JudgedRanking
from assay.measures.arithmetic import highest, log, log2_of_integers, ratio
from assay.measures.bundles import RECALLS
from assay.measures.core import Parameter, PerQuery, boolean, measure, number_between, one_of
from assay.tables import Floats, Integers

FILLED = boolean("whether a ranking shorter than k is divided by k; if not, by its own length (OpenSearch)")


@measure(
    "P",
    aliases={"Precision": {}},
    trec={"P": "cutoff"},
    parameters={"filled": FILLED},
    elsewhere={"ir_measures": "P@k", "ranx": "precision@k", "BEIR": "P@k", "MTEB": "precision_at_k"},
)
def P(judged: JudgedRanking, *, cutoff: int, rel: float = 1, filled: bool = True) -> PerQuery:
    """Share of the first k documents that are relevant.

    Formula: relevant documents among the first k, divided by k.

    Edges: A ranking shorter than k is still divided by k, as if filled up with documents that are not relevant;
    filled=False divides by its length. Unjudged documents count as not relevant. With fewer than k relevant documents, the highest value is below 1.

    Answers: How many of the results that people see are good?

    Misleads: With fewer than k relevant documents, even a perfect ranking stays below 1; the order within the first k
    does not matter.

    Pair with: R@k for what was missed, nDCG@k for the order.

    Example: documents 2 and 3 of the first 4 are relevant: P@4 = 2 / 4 = 0.5.
    """
    found = judged.num_found(rel, cutoff)
    return found / cutoff if filled else ratio(found, np.minimum(judged.retrieved, cutoff))


AMONG = one_of(
    "the relevant documents to find: all that are 'judged', or the 'retrieved' ones alone (torchmetrics)",
    "judged",
    "retrieved",
)


@measure(
    "R",
    aliases={"Recall": {}, "ContextRecall": {}},
    trec={"recall": "cutoff"},
    parameters={"among": AMONG},
    elsewhere={
        "ir_measures": "R@k",
        "ranx": "recall@k",
        "BEIR": "Recall@k",
        "MTEB": "recall_at_k",
        "RAGAS": "context_recall@k (by document ids)",
    },
    cautions={
        "context_recall": "{name} is {measure}: the share of the relevant documents that are found, as in RAGAS by ids. "
        "RAGAS by a language model counts the statements of the reference answer that the context supports."
    },
)
def R(judged: JudgedRanking, *, cutoff: int, rel: float = 1, among: str = "judged") -> PerQuery:
    """Share of the relevant documents that are among the first k.

    Formula: relevant documents among the first k, divided by all relevant documents of the query.

    Edges: 0 if the query has no relevant document. With more than k relevant documents, the highest value is below 1:
    see R_cap. among='retrieved' is the recall of tools that know only the retrieved documents: it cannot see misses.

    Answers: How many of the relevant documents were found?

    Misleads: Relevant documents without a judgment do not count as missed, so incomplete judgments make it look
    better; it ignores the order.

    Pair with: P@k or nDCG@k for the quality of the results, Judged@k for the judgments.

    Example: 2 of the 5 relevant documents are among the first 4: R@4 = 2 / 5 = 0.4.
    """
    return ratio(judged.num_found(rel, cutoff), num_to_find(judged, rel, among))


def num_to_find(judged: JudgedRanking, rel: float, among: str) -> Integers:
    """The number of relevant documents of each query, among all judged ones or those retrieved."""
    return judged.num_rel(rel) if among == "judged" else judged.num_retrieved(rel)


@measure(
    "R_cap",
    aliases={"RelP": {}},
    trec={"relative_P": "cutoff"},
    elsewhere={"BEIR": "R_cap@k"},
    paper="Thakur et al. 2021, BEIR: a heterogeneous benchmark for zero-shot evaluation of information retrieval models",
)
def R_cap(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    """Recall at k, relative to the highest recall that k documents allow (capped recall, relative precision).

    Formula: relevant documents among the first k, divided by the smaller of k and the number of relevant documents.

    Edges: 0 if the query has no relevant document.

    Answers: How many of the relevant documents that fit on the page were found?

    Misleads: It is precision for queries with at least k relevant documents and recall for the others.

    Pair with: R@k.

    Example: 2 of the at most 4 relevant documents in the first 4: R_cap@4 = 2 / 4 = 0.5.
    """
    return ratio(judged.num_found(rel, cutoff), np.minimum(judged.num_rel(rel), cutoff))


BETA = Parameter("the weight of recall relative to precision: 1 equal, 2 twice as much", number_between(0, 1e6))


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

    Misleads: One number hides which of the two is bad, and precision at a fixed k limits it.

    Pair with: P@k and R@k.

    Example: P@4 = 0.5 and R@4 = 0.4: F@4 = 2 * 0.5 * 0.4 / (0.5 + 0.4) = 0.4444.
    """
    found = judged.num_found(rel, cutoff)
    return harmonic_mean(found / cutoff, ratio(found, judged.num_rel(rel)), beta**2)


def harmonic_mean(precision: Floats, recall: Floats, beta2: float) -> Floats:
    """Weighted harmonic mean of precision and recall; 0 where both are 0."""
    return ratio((beta2 + 1.0) * precision * recall, beta2 * precision + recall)


NORM = one_of("what the sum is divided by: 'rel', or 'cutoff' for min(relevant, k)", "rel", "cutoff")


@measure(
    "AP",
    aliases={"MAP": {}},
    trec={"map": None, "map_cut": "cutoff"},
    parameters={"norm": NORM},
    elsewhere={"ir_measures": "AP@k", "ranx": "map@k", "BEIR": "MAP@k", "MTEB": "map_at_k"},
    paper="Buckley and Voorhees 2000, Evaluating evaluation measure stability",
)
def AP(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1, norm: str = "rel") -> PerQuery:
    """Average precision: the precision at each relevant document, averaged over all relevant documents.

    Formula: sum of P@rank over the relevant documents found, divided by the number of relevant documents of the query.

    Edges: A relevant document that is not found adds 0. 0 if the query has no relevant document. AP@k uses the first k
    documents but still divides by all relevant ones (trec_eval's map_cut): a perfect ranking of 150 relevant documents
    has AP@100 = 0.6667. norm='cutoff' divides by min(relevant, k) and gives 1.

    Answers: How good is the whole ranking, with binary relevance?

    Misleads: A missing judgment near the top costs a lot; with few relevant documents, values jump between extremes.

    Pair with: nDCG@k if there are grades, GMAP for the hard queries.

    Example: relevant at ranks 2, 3, 5 and 6, one of 5 not found: AP = (1/2 + 2/3 + 3/5 + 4/6) / 5 = 0.4867.
    """
    sums = sum_of_precisions(judged, cutoff, rel)
    relevant = judged.num_rel(rel)
    return ratio(sums, np.minimum(relevant, cutoff) if norm == "cutoff" and cutoff else relevant)


@measure("ContextPrecision", elsewhere={"RAGAS": "context_precision@k"})
def ContextPrecision(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Average precision over the relevant documents found: how far up they are, whatever was missed.

    Formula: sum of P@rank over the relevant documents found, divided by their number (RAGAS' context precision, with
    judgments instead of a language model).

    Edges: 0 if no relevant document is found. One more relevant document at the end of the ranking can lower the value.

    Answers: Do the relevant passages come before the others in the context?

    Misleads: It cannot see misses: one relevant document at rank 1 and nine not found give 1.

    Pair with: R@k for what was missed, AP for both in one number.

    Example: relevant at ranks 2, 3, 5 and 6: ContextPrecision = (1/2 + 2/3 + 3/5 + 4/6) / 4 = 0.6083.
    """
    return ratio(sum_of_precisions(judged, cutoff, rel), judged.num_found(rel, cutoff))


def sum_of_precisions(judged: JudgedRanking, cutoff: int | None, rel: float) -> Floats:
    """Precision at each relevant document found, summed per query."""
    found, so_far = relevant_in_order(judged, rel, cutoff)
    return judged.total(so_far / judged.hit_rank[found], found)


def relevant_in_order(judged: JudgedRanking, rel: float, cutoff: int | None) -> tuple[Integers, Integers]:
    """The relevant hits, each with its number among the relevant hits of its query, from 1."""
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
    """Average precision with the geometric mean over queries, which gives hard queries more weight.

    Formula: the same as AP for a query; over queries, exp of the mean of ln(max(AP, 0.00001)).

    Edges: The lower limit prevents a single query of value 0 from making the whole mean 0.

    Answers: Does the system fail on hard queries?

    Misleads: A single query near 0 changes it a lot, regardless of the reason.

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
    """Yet another average precision: AP smoothed and converted to log odds, which average better than AP.

    Formula: ln((1 + s) / (1 + number of relevant documents - s)), s being the sum of P@rank over relevant documents
    found.

    Edges: 0 if the query has no relevant document; negative if s is less than half of the highest possible sum.

    Misleads: Queries with many relevant documents can reach higher values, so they weigh more in the mean.

    Example: s = 1/2 + 2/3 + 3/5 + 4/6 = 2.4333: YAAP = ln(3.4333 / 3.5667) = -0.0381.
    """
    sums = sum_of_precisions(judged, None, rel)
    return log((1.0 + sums) / (1.0 + judged.num_rel(rel) - sums))


@measure(
    "RR",
    aliases={"MRR": {}},
    trec={"recip_rank": None},
    elsewhere={"ir_measures": "RR@k", "ranx": "mrr@k", "BEIR": "MRR@k", "MTEB": "mrr_at_k", "MS MARCO": "MRR@10"},
    paper="Voorhees 1999, The TREC-8 question answering track report",
)
def RR(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """One over the rank of the first relevant document.

    Formula: 1 / rank of the first relevant document.

    Edges: 0 if no relevant document is found, or none among the first k: with the first relevant document at rank 12,
    RR is 0.0833 and RR@10 is 0. trec_eval's recip_rank has no cutoff and silently ignores one.

    Answers: How early does the first good answer come?

    Misleads: It depends on one document: it ignores everything after the first relevant one, and jumps from 1 to 1/2.

    Pair with: Success@k for how often there is an answer, nDCG@k for the rest of the page.

    Example: the first relevant document is at rank 2: RR = 1 / 2 = 0.5.
    """
    hit = judged.relevant_hits(rel, cutoff)
    first = hit[changes(judged.hit_query[hit])]
    values = np.zeros(len(judged))
    values[judged.hit_query[first]] = 1 / judged.hit_rank[first]
    return values


@measure(
    "Rprec",
    aliases={"RPrec": {}, "RPrecision": {}},
    trec={"Rprec": None},
    elsewhere={"ir_measures": "Rprec", "ranx": "r-precision"},
    paper="Buckley and Voorhees 2005, Retrieval system evaluation (chapter 3 of TREC: experiment and evaluation)",
)
def Rprec(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Precision at rank R, where R is the number of relevant documents of the query.

    Formula: relevant documents among the first R, divided by R, the number of relevant documents of the query.

    Edges: At this rank precision equals recall. 0 if the query has no relevant document.

    Answers: How good is the ranking at the point where precision equals recall?

    Misleads: The rank differs from query to query, so it does not correspond to a page of results.

    Pair with: AP.

    Example: 5 documents are relevant, 3 of them are among the first 5: Rprec = 3 / 5 = 0.6.
    """
    relevant = judged.num_rel(rel)
    return ratio(judged.count(judged.relevant(rel) & (judged.hit_rank <= relevant[judged.hit_query])), relevant)


@measure(
    "RprecMult",
    trec={"Rprec_mult": "multiple"},
    at="multiple",
    parameters={"multiple": Parameter("the multiple of R at which precision is computed", number_between(0, 1e6))},
)
def RprecMult(judged: JudgedRanking, *, multiple: float, rel: float = 1) -> PerQuery:
    """Precision at a multiple of R, where R is the number of relevant documents of the query.

    Formula: relevant documents among the first m*R, divided by m*R (rounded up if the fraction is above 0.1).

    Edges: Low multiples show how well a system does at precision, high ones how well it does at recall.

    Misleads: The multiple decides what is measured, and the order within these ranks makes no difference.

    Example: the first 1.2 * 5 = 6 documents include 4 relevant ones: RprecMult@1.2 = 4 / 6 = 0.6667.
    """
    cutoff = np.maximum(rounded_up(multiple, judged.num_rel(rel)), 0)
    return ratio(judged.count(judged.relevant(rel) & (judged.hit_rank <= cutoff[judged.hit_query])), cutoff)


@measure(
    "Success",
    aliases={"Hit": {}, "HitRate": {}, "Hits": {}},
    trec={"success": "cutoff"},
    elsewhere={"ir_measures": "Success@k", "ranx": "hit_rate@k"},
    cautions={
        "hits": "{name} is {measure}: 1 if there is a relevant document, else 0. ranx's hits counts the relevant "
        "documents among the first k, which is k times P@k."
    },
)
def Success(judged: JudgedRanking, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if a relevant document is among the first k, else 0 (hit rate).

    Formula: 1 if at least one of the first k documents is relevant. The mean is the share of queries with an answer.

    Edges: 0 if the query has no relevant document.

    Answers: How often is there any good result?

    Misleads: One relevant document is enough: it cannot tell a good page from a lucky one, and quickly approaches 1.

    Pair with: RR@k for how early, R@k for how many.

    Example: a relevant document is among the first 4: Success@4 = 1.
    """
    return (judged.num_found(rel, cutoff) > 0).astype(np.float64)


ROUNDING = one_of(
    "how recall * R is rounded to documents: 'up' if the fraction is above 0.1 (trec_eval 9), 'nearest' (trec_eval 10)",
    "up",
    "nearest",
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
    """Interpolated precision: the best precision at this recall or higher.

    Formula: the highest P@rank over all ranks at which recall * R relevant documents have been found.

    Edges: 0 if the ranking never reaches this recall. At recall 0 it is the best precision anywhere in the ranking.

    Answers: What precision is possible at this recall?

    Misleads: It is the best precision at this recall or higher, not the precision at this recall.

    Pair with: AP.

    Example: recall 0.4 needs 2 relevant documents; from rank 3 on, the best precision is IPrec@0.4 = 2 / 3 = 0.6667.
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
    parameters={"recalls": Parameter("the recall levels to average over", _recalls), "rounding": ROUNDING},
    paper="Manning, Raghavan and Schütze 2008, Introduction to information retrieval, section 8.4",
)
def IPrecAvg(
    judged: JudgedRanking, *, recalls: tuple[float, ...] = RECALLS, rel: float = 1, rounding: str = "up"
) -> PerQuery:
    """Interpolated precision averaged over recall levels; by default the eleven from 0.0 to 1.0 (11pt_avg).

    Formula: mean of IPrec at the recall levels.

    Edges: An older relative of AP: both estimate the area under the precision-recall curve.

    Misleads: It takes the best precision at this recall or higher, which flatters queries with few relevant
    documents.

    Example: 2/3 at the nine levels from 0.0 to 0.8, 0 at 0.9 and 1.0: IPrecAvg = 9 * 0.6667 / 11 = 0.5455.
    """
    relevant = judged.num_rel(rel)
    sums = np.zeros(len(judged))
    for recall in reversed(recalls):  # from the last level to the first, as trec_eval adds
        sums += interpolated_precision(judged, ROUNDINGS[rounding](recall, relevant), rel)
    return sums / len(recalls)


def interpolated_precision(judged: JudgedRanking, needed: Integers, rel: float) -> Floats:
    """The best precision at any rank where `needed` relevant documents have been found."""
    hit = judged.relevant(rel)
    found = judged.so_far(hit)
    return highest(hit * found / judged.hit_rank * (found >= needed[judged.hit_query]), judged.hit_start)


def rounded_up(share: float, number: Integers) -> Integers:
    """share * number, rounded up if the fraction is at least 0.1, as in trec_eval 9."""
    return np.asarray(np.minimum(share * number + 0.9, 2.0**62), np.int64)


def rounded(share: float, number: Integers) -> Integers:
    """share * number, with halves rounded up, as in trec_eval 10."""
    product = share * number
    whole = np.floor(product)
    return np.asarray(np.minimum(whole + (product - whole >= 0.5), 2.0**62), np.int64)


ROUNDINGS = {"up": rounded_up, "nearest": rounded}


@measure("binG", trec={"binG": None})
def binG(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Gain of each relevant document, discounted by the number of non-relevant documents before it.

    Formula: mean over the relevant documents of 1 / log2(2 + non-relevant documents before it).

    Edges: A relevant document that is not found adds 0. An experiment by trec_eval's author, between AP and nDCG.

    Misleads: It is known only from trec_eval, so there are few published values to compare with.

    Example: 1, 1, 2 and 2 non-relevant documents come before: binG =
    (1/log2(3) + 1/log2(3) + 1/log2(4) + 1/log2(4)) / 5 = 0.4524.
    """
    hits, so_far = relevant_in_order(judged, rel, None)
    useless_before = judged.hit_rank[hits] - so_far
    return ratio(judged.total(1 / log2_of_integers(2 + useless_before), hits), judged.num_rel(rel))


@measure(
    "Accuracy",
    elsewhere={"ir_measures": "Accuracy@k"},
    cautions={
        "accuracy": "{name} is {measure}: the share of pairs in the right order, as in ir_measures. Accuracy in BEIR and "
        "sentence-transformers is Success."
    },
)
def Accuracy(judged: JudgedRanking, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Probability that a retrieved relevant document ranks above a retrieved non-relevant one.

    Formula: pairs of a relevant document and a non-relevant one below it, divided by all pairs of a relevant and a
    non-relevant document; among the retrieved documents, or the first k of them.

    Edges: Relevant documents that were not retrieved do not count, and a relevant document that moves up to rank k can
    lower the value: use it to monitor training, not to compare systems. Unjudged documents count as not relevant. 1 if
    only relevant documents were retrieved; 0 if none was (ir_measures leaves such a query out). BEIR's Accuracy@k is
    Success@k.

    Misleads: It cannot see misses: a run that finds one relevant document and nothing else has 1.

    Example: 1, 1, 2 and 2 of the 2 non-relevant documents are above the 4 relevant ones: Accuracy = 1 - 6 / (2 * 4) =
    0.25.
    """
    hits, so_far = relevant_in_order(judged, rel, cutoff)
    retrieved = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    found = judged.num_found(rel, cutoff)
    useless_before = judged.total(judged.hit_rank[hits] - so_far, hits)
    return np.where(found > 0, 1.0 - ratio(useless_before, found * (retrieved - found)), 0.0)
