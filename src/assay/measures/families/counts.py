"""Counts of queries and documents. They are summed over queries, not averaged."""

from __future__ import annotations

import numpy as np

from assay.judged import JudgedRanking
from assay.measures.core import PerQuery, measure


@measure("NumQ", trec={"num_q": None}, total="sum", bounds=None, judged_only=False, rewards=False,
         elsewhere={"ir_measures": "NumQ"})  # fmt: skip
def NumQ(judged: JudgedRanking) -> PerQuery:
    """Number of queries that the other measures are averaged over.

    Formula: 1 for each query.

    Edges: A query without a relevant document counts, too.

    Misleads: It says nothing about quality. If two evaluations differ here, their means are over different queries.

    Example: NumQ = 1.
    """
    return np.ones(len(judged))


@measure("NumRet", aliases={"NumRelRet": {"rel": 1}}, trec={"num_ret": None, "num_rel_ret": "rel"}, total="sum",
         bounds=None, judged_only=False, rewards=False, elsewhere={"ir_measures": "NumRet, NumRet(rel=1)"})  # fmt: skip
def NumRet(judged: JudgedRanking, *, rel: float | None = None) -> PerQuery:
    """Number of documents retrieved; with `rel`, of relevant documents retrieved (NumRelRet).

    Formula: documents retrieved, or those with a grade of at least rel.

    Edges: Unjudged documents count, unless `rel` is given. 0 for a query that the run lacks.

    Misleads: More is not better: a deeper run retrieves more, relevant or not.

    Example: 6 documents were retrieved, 4 of them relevant (NumRelRet = 4): NumRet = 6.
    """
    found = judged.retrieved if rel is None else judged.num_found(rel)
    return found.astype(np.float64)


@measure("NumRel", trec={"num_rel": None}, total="sum", bounds=None, judged_only=False, rewards=False,
         elsewhere={"ir_measures": "NumRel"})  # fmt: skip
def NumRel(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Number of relevant documents, retrieved or not.

    Formula: judged documents with a grade of at least rel.

    Edges: The same for every run. 0 if the query has no relevant document.

    Misleads: It depends on how many documents were judged, not only on how many are relevant.

    Example: grades 3, 2, 1, 2 and the 1 that was not retrieved: NumRel = 5.
    """
    return judged.num_rel(rel).astype(np.float64)


@measure("NumNonrelRet", trec={"num_nonrel_judged_ret": None}, total="sum", bounds=None, judged_only=False,
         rewards=False)  # fmt: skip
def NumNonrelRet(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Number of retrieved documents that were judged not relevant.

    Formula: retrieved documents with a grade from 0 to below rel.

    Edges: Unjudged documents and those with negative grades do not count.

    Misleads: A run whose documents were never judged has 0.

    Example: the document of grade 0: NumNonrelRet = 1.
    """
    return judged.count((judged.hit_rel >= 0) & (judged.hit_rel < rel)).astype(np.float64)
