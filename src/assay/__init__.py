"""Assay measures how good a search system is, says how sure one can be of it, and shows where it goes wrong.

import assay
result = assay.evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP", "RR@10"])
result.mean()["nDCG@10"]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay._version import __version__
from assay.errors import AssayError
from assay.evaluation import Evaluation, Evaluator, concat, evaluate
from assay.formats import parse_qrels, parse_run, read_qrels, read_run
from assay.judged import JudgedRanking, judge
from assay.measures import Measure, measure, parse_measure
from assay.rules import Rules
from assay.tables import Qrels, Run

if TYPE_CHECKING:
    from assay.checking import CheckReport, check_measure
    from assay.conventions import compare_conventions
    from assay.scoring import score, score_many

# Imported when they are first used: `import assay` is to cost little more than NumPy.
_LATER = {
    "CheckReport": "assay.checking",
    "check_measure": "assay.checking",
    "compare_conventions": "assay.conventions",
    "score": "assay.scoring",
    "score_many": "assay.scoring",
}


def __getattr__(name: str) -> Any:
    if name == "compat":
        return import_module("assay.compat")
    if name not in _LATER:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "AssayError",
    "CheckReport",
    "Evaluation",
    "Evaluator",
    "JudgedRanking",
    "Measure",
    "Qrels",
    "Rules",
    "Run",
    "__version__",
    "check_measure",
    "compare_conventions",
    "concat",
    "evaluate",
    "judge",
    "measure",
    "parse_measure",
    "parse_qrels",
    "parse_run",
    "read_qrels",
    "read_run",
    "score",
    "score_many",
]
