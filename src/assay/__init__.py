"""Assay measures how good a search system is, says how sure you can be of it, and shows where it goes wrong.

import assay
result = assay.evaluate("qrels.txt", "run.txt", ["nDCG@10", "AP", "RR@10"])
result.mean()["nDCG@10"]
"""

from importlib import import_module

from assay._version import __version__

# The public names and where they live. Each is imported when it is first used, so `assay --version` does not even load
# NumPy. `make docs` writes them into __init__.pyi, where editors and type checkers look.
_EXPORTS = {
    "assay.checking": ("CheckReport", "check_measure"),
    "assay.comparison.comparing": ("Comparison", "compare", "compare_scores"),
    "assay.comparison.diffing": ("RunDiff", "diff_runs"),
    "assay.comparison.leaderboard": (
        "Leaderboard",
        "leaderboard",
        "leaderboard_collections",
        "leaderboard_scores",
    ),
    "assay.comparison.pairs": ("Study",),
    "assay.diagnosis.diagnosing": ("diagnose",),
    "assay.diagnosis.model": ("Diagnosis",),
    "assay.disagreements": ("compare_conventions",),
    "assay.errors": ("AssayError",),
    "assay.evaluation": ("Evaluation", "Evaluations", "Evaluator", "concat", "evaluate", "evaluate_runs"),
    "assay.fetching.fetching": ("Fetched", "fetch"),
    "assay.formats": ("parse_qrels", "parse_run", "read_qrels", "read_run"),
    "assay.formats.readings": ("Reading",),
    "assay.formats.writing": ("write_qrels", "write_run"),
    "assay.fusion": ("collapse", "fuse"),
    "assay.inputs.queries": ("read_queries",),
    "assay.inputs.query_logs": ("read_query_log",),
    "assay.judged": ("JudgedRanking",),
    "assay.judges": ("merge_judges",),
    "assay.marking": ("judge",),
    "assay.measures": ("Measure", "measure", "parse_measure"),
    "assay.reproducing": ("reproduce",),
    "assay.rules": ("Rules",),
    "assay.scoring": ("score", "score_many"),
    "assay.tables": ("Qrels", "Run"),
    "assay.validation.findings": ("Finding", "Validation"),
    "assay.validation.fixing": ("fix_qrels", "fix_run"),
    "assay.validation.validating": ("validate_qrels", "validate_run"),
    "assay.weighting.estimating": ("WeightedMean",),
    "assay.weighting.sampling": ("sample_queries",),
}
_MODULES = ("compat", "errors", "evaluation", "formats", "judged", "measures", "native", "tables", "topics")
_PLACES = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> object:  # `typing` would take half of the time until the door can catch an interruption
    if name in _MODULES:
        return import_module(f"assay.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_PLACES})


__all__ = ["__version__", *sorted(_PLACES)]  # noqa: PLE0604  (they are names)
