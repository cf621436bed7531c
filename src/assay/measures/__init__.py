"""Measures: the registry, the grammar of their names, and the functions by family. Knows no files and no runs.

from assay.measures import parse_measure, nDCG
parse_measure("ndcg_cut_10") == nDCG @ 10
"""

from assay.measures.binary import (
    AP,
    GMAP,
    RR,
    YAAP,
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
from assay.measures.core import Definition, Measure, definition_of, definitions, measure
from assay.measures.counts import NumNonrelRet, NumQ, NumRel, NumRet
from assay.measures.graded import CG, DCG, ERR, G, RnDCG, iDCG, nDCG, nDCG_rel
from assay.measures.grammar import Request, parse_measure, parse_measures
from assay.measures.partial import Bpref, GMBpref, Hole, Judged, Unjudged, infAP
from assay.measures.sets import SetAP, SetF, SetP, SetR, Utility
from assay.measures.utility import RBP, RBPResidual

__all__ = [
    "AP",
    "CG",
    "DCG",
    "ERR",
    "GMAP",
    "RBP",
    "RR",
    "YAAP",
    "Bpref",
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
    "Success",
    "Unjudged",
    "Utility",
    "binG",
    "definition_of",
    "definitions",
    "iDCG",
    "infAP",
    "measure",
    "nDCG",
    "nDCG_rel",
    "parse_measure",
    "parse_measures",
]
