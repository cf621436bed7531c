"""Assay measures how good a search system is, says how sure one can be of it, and shows where it goes wrong.

import assay
result = assay.evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP", "RR@10"])
result.mean()["nDCG@10"]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay._version import __version__

if TYPE_CHECKING:
    from assay.checking import CheckReport, check_measure
    from assay.comparison.comparing import Comparison, compare
    from assay.diagnosis.diagnosing import diagnose
    from assay.diagnosis.model import Diagnosis
    from assay.disagreements import compare_conventions
    from assay.errors import AssayError
    from assay.evaluation import Evaluation, Evaluator, concat, evaluate
    from assay.formats import parse_qrels, parse_run, read_qrels, read_run
    from assay.formats.writing import write_qrels, write_run
    from assay.fusion import collapse, fuse
    from assay.judged import JudgedRanking
    from assay.marking import judge
    from assay.measures import Measure, measure, parse_measure
    from assay.rules import Rules
    from assay.scoring import score, score_many
    from assay.tables import Qrels, Run
    from assay.validation.findings import Finding, Validation
    from assay.validation.validating import validate_qrels, validate_run

# Imported when they are first used: whoever wants one thing pays for that, and `assay --version` not even for NumPy.
_PLACES = {
    "AssayError": "assay.errors",
    "CheckReport": "assay.checking",
    "Comparison": "assay.comparison.comparing",
    "Diagnosis": "assay.diagnosis.model",
    "Evaluation": "assay.evaluation",
    "Evaluator": "assay.evaluation",
    "Finding": "assay.validation.findings",
    "JudgedRanking": "assay.judged",
    "Measure": "assay.measures",
    "Qrels": "assay.tables",
    "Rules": "assay.rules",
    "Run": "assay.tables",
    "Validation": "assay.validation.findings",
    "check_measure": "assay.checking",
    "collapse": "assay.fusion",
    "compare": "assay.comparison.comparing",
    "compare_conventions": "assay.disagreements",
    "concat": "assay.evaluation",
    "diagnose": "assay.diagnosis.diagnosing",
    "evaluate": "assay.evaluation",
    "fuse": "assay.fusion",
    "judge": "assay.marking",
    "measure": "assay.measures",
    "parse_measure": "assay.measures",
    "parse_qrels": "assay.formats",
    "parse_run": "assay.formats",
    "read_qrels": "assay.formats",
    "read_run": "assay.formats",
    "score": "assay.scoring",
    "score_many": "assay.scoring",
    "validate_qrels": "assay.validation.validating",
    "validate_run": "assay.validation.validating",
    "write_qrels": "assay.formats",
    "write_run": "assay.formats",
}
_MODULES = ("compat", "errors", "evaluation", "formats", "judged", "measures", "native", "tables", "topics")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"assay.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_PLACES})


__all__ = [
    "AssayError",
    "CheckReport",
    "Comparison",
    "Diagnosis",
    "Evaluation",
    "Evaluator",
    "Finding",
    "JudgedRanking",
    "Measure",
    "Qrels",
    "Rules",
    "Run",
    "Validation",
    "__version__",
    "check_measure",
    "collapse",
    "compare",
    "compare_conventions",
    "concat",
    "diagnose",
    "evaluate",
    "fuse",
    "judge",
    "measure",
    "parse_measure",
    "parse_qrels",
    "parse_run",
    "read_qrels",
    "read_run",
    "score",
    "score_many",
    "validate_qrels",
    "validate_run",
    "write_qrels",
    "write_run",
]
