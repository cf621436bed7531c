"""Measures: the registry, the grammar of their names, and the functions by family. Knows no files and no runs.

from assay.measures import parse_measure, nDCG
parse_measure("ndcg_cut_10") == nDCG @ 10
"""

from typing import TYPE_CHECKING, Any

from assay.measures.binary import (
    AP,
    GMAP,
    RR,
    YAAP,
    Accuracy,
    F,
    IPrec,
    IPrecAvg,
    P,
    R,
    R_cap,
    Rprec,
    RprecMult,
    Success,
    binG,
)
from assay.measures.core import Definition, Measure, definition_of, definitions, load_families, measure
from assay.measures.graded import CG, DCG, ERR, G, RnDCG, iDCG, nDCG, nDCG_rel, nERR
from assay.measures.grammar import Request, parse_measure, parse_measures

if TYPE_CHECKING:
    from assay.measures.counts import NumNonrelRet, NumQ, NumRel, NumRet
    from assay.measures.diversity import AP_IA, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
    from assay.measures.overlap import Compat
    from assay.measures.partial import Bpref, GMBpref, Hole, Judged, Unjudged, infAP
    from assay.measures.sets import SetAP, SetF, SetP, SetR, Utility
    from assay.measures.utility import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11, RBP, SDCG, RBPResidual


def __getattr__(name: str) -> Any:
    """The measures of the other files, which are imported when one of them is asked for."""
    if name in __all__:
        load_families()
        return Measure(name)
    raise AttributeError(f"module 'assay.measures' has no attribute {name!r}")


__all__ = [
    "AP",
    "AP_IA",
    "BPM",
    "CG",
    "DCG",
    "ERR",
    "ERR_IA",
    "GMAP",
    "INSQ",
    "INST",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "P_IA",
    "RBP",
    "RR",
    "SDCG",
    "YAAP",
    "Accuracy",
    "Bpref",
    "Compat",
    "Definition",
    "F",
    "G",
    "GMBpref",
    "Hole",
    "IPrec",
    "IPrecAvg",
    "Judged",
    "Measure",
    "NumNonrelRet",
    "NumQ",
    "NumRel",
    "NumRet",
    "P",
    "R",
    "RBPResidual",
    "R_cap",
    "Request",
    "RnDCG",
    "Rprec",
    "RprecMult",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "StRecall",
    "Success",
    "Unjudged",
    "Utility",
    "alpha_DCG",
    "alpha_nDCG",
    "binG",
    "definition_of",
    "definitions",
    "iDCG",
    "infAP",
    "measure",
    "nDCG",
    "nDCG_rel",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "parse_measure",
    "parse_measures",
]
