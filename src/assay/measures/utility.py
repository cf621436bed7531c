"""Measures that model a user who reads down a ranking and may stop at each document (C/W/L)."""

from __future__ import annotations

import numpy as np

from assay.judged import JudgedRanking
from assay.measures.arithmetic import powers, ratio
from assay.measures.core import Parameter, PerQuery, measure, number_between
from assay.tables import Floats

PERSISTENCE = Parameter("the chance that the user goes on to the next document", number_between(0, 1, open_ends=True))
_MOFFAT = "Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness"


@measure(
    "RBP",
    trec={"rbp": "p"},
    parameters={"p": PERSISTENCE},
    paper=_MOFFAT,
    elsewhere={"ir_measures": "RBP(p=0.8)", "trec_eval 10": "rbp.p=0.9", "ranx": "rbp.80 (raw grades)"},
)
def RBP(judged: JudgedRanking, *, p: float = 0.8, cutoff: int | None = None, rel: float | None = None) -> PerQuery:
    """Gain per document looked at, by a user who goes on to the next one with chance p.

    Formula: (1 - p) * sum of gain * p**(rank - 1); the gain is the grade over the highest grade of the qrels, or, with
    `rel`, 1 for grades of at least rel. Unjudged documents gain nothing: RBPResidual says how much that may hide.

    Example: gains 1, 2/3, 1/3 and 2/3 at ranks 2, 3, 5 and 6: RBP = 0.2 * (0.8 + 2/3 * 0.64 + 1/3 * 0.4096 + 2/3 *
    0.32768) = 0.3163.
    """
    weight = gain_share(judged, rel) * powers(p, judged.hit_rank)
    return (1.0 - p) * judged.total(weight if cutoff is None else weight * (judged.hit_rank <= cutoff))


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
