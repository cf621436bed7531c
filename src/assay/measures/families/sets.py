"""Measures of the retrieved set, ignoring its order."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.errors import ParameterError
from assay.judged import JudgedRanking
from assay.measures.arithmetic import ratio
from assay.measures.core import Parameter, PerQuery, boolean, measure, number_between
from assay.measures.families.binary import BETA, harmonic_mean


@measure(
    "SetP",
    aliases={"SetRelP": {"relative": True}},
    trec={"set_P": None, "set_relative_P": None},
    parameters={"relative": boolean("divide by the highest value possible for a set of this size")},
    elsewhere={"ir_measures": "SetP"},
)
def SetP(judged: JudgedRanking, *, rel: float = 1, relative: bool = False) -> PerQuery:
    """Share of all retrieved documents that are relevant.

    Formula: relevant documents retrieved, divided by documents retrieved (relative=True: divided by the smaller of
    documents retrieved and relevant documents).

    Edges: Unjudged documents count as not relevant. 0 if nothing was retrieved.

    Answers: How many of the retrieved documents are relevant?

    Misleads: Every non-relevant document lowers it, so it penalises long rankings.

    Pair with: SetR.

    Example: 4 of the 6 retrieved documents are relevant: SetP = 4 / 6 = 0.6667.
    """
    found = judged.num_found(rel)
    return ratio(found, np.minimum(judged.retrieved, judged.num_rel(rel)) if relative else judged.retrieved)


@measure("SetR", trec={"set_recall": None}, elsewhere={"ir_measures": "SetR"})
def SetR(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Share of the relevant documents that were retrieved at any rank.

    Formula: relevant documents retrieved, divided by relevant documents.

    Edges: 0 if the query has no relevant document.

    Answers: How many of the relevant documents were found at any rank?

    Misleads: Retrieving everything gives 1.

    Pair with: SetP, R@k.

    Example: 4 of the 5 relevant documents were retrieved: SetR = 4 / 5 = 0.8.
    """
    return ratio(judged.num_found(rel), judged.num_rel(rel))


@measure(
    "SetF",
    trec={"set_F": "beta2"},
    parameters={
        "beta": BETA,
        "beta2": Parameter("beta squared, as in trec_eval's set_F.x and ir_measures", number_between(0, 1e12)),
    },
    elsewhere={"ir_measures": "SetF (its beta is our beta2)"},
    paper="van Rijsbergen 1979, Information Retrieval, chapter 7",
)
def SetF(judged: JudgedRanking, *, beta: float = 1.0, rel: float = 1, beta2: float | None = None) -> PerQuery:
    """Weighted harmonic mean of the precision and recall of all retrieved documents.

    Formula: (1 + beta**2) * P * R / (beta**2 * P + R) with SetP and SetR.

    Edges: 0 if nothing relevant was retrieved.

    Answers: How good is the retrieved set as a whole?

    Misleads: The order does not matter, and the length of the ranking matters a lot.

    Pair with: AP.

    Example: SetF = 2 * 0.6667 * 0.8 / (0.6667 + 0.8) = 0.7273.
    """
    if beta != 1 and beta2 is not None:
        raise ParameterError("SetF is given both beta and beta2; keep one.")
    found = judged.num_found(rel)
    precision, recall = ratio(found, judged.retrieved), ratio(found, judged.num_rel(rel))
    return harmonic_mean(precision, recall, beta**2 if beta2 is None else beta2)


@measure("SetAP", trec={"set_map": None}, elsewhere={"ir_measures": "SetAP"})
def SetAP(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Precision times recall of the retrieved set.

    Formula: (relevant documents retrieved)**2 / (documents retrieved * relevant documents).

    Edges: 0 if nothing was retrieved or the query has no relevant document.

    Misleads: Every further document that is not relevant lowers it, so a run of a fixed depth is punished for its
    depth. The order makes no difference.

    Example: SetAP = 4 * 4 / (6 * 5) = 0.5333.
    """
    found = judged.num_found(rel).astype(np.float64)
    return ratio(found * found, judged.retrieved.astype(np.float64) * judged.num_rel(rel))


def _four_weights(value: Any) -> tuple[float, ...]:
    try:
        a, b, c, d = (float(weight) for weight in value)
    except (TypeError, ValueError):
        raise ValueError("four numbers such as (1, -1, 0, 0)") from None
    return a, b, c, d


@measure(
    "Utility",
    trec={"utility": "weights"},
    bounds=None,
    parameters={
        "weights": Parameter("values of: relevant found, other found, relevant missed, other not found", _four_weights),
        "docs": Parameter("number of documents in the collection (trec_eval -N)", number_between(0, 1e15)),
    },
    paper="Hull 1998, The TREC-7 filtering track: description and analysis",
)
def Utility(
    judged: JudgedRanking,
    *,
    weights: tuple[float, ...] = (1.0, -1.0, 0.0, 0.0),
    docs: float = 0,
    rel: float = 1,
) -> PerQuery:
    """Value of the retrieved set, with a weight for each kind of document, found or missed.

    Formula: a * relevant found + b * other found + c * relevant missed + d * other not found.

    Edges: The default weights are 1, -1, 0, 0. The last term needs the size of the collection.

    Misleads: The weights decide which run is better, and queries with many documents dominate the mean.

    Example: 4 relevant and 2 other documents were retrieved: Utility = 4 - 2 = 2.
    """
    found, relevant, retrieved = judged.num_found(rel), judged.num_rel(rel), judged.retrieved
    a, b, c, d = weights
    rest = docs + found - retrieved - relevant
    return np.asarray(a * found + b * (retrieved - found) + c * (relevant - found) + d * rest, dtype=np.float64)
