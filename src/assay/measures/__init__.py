"""Measures: the registry, the grammar of their names, and the functions by family. Knows no files and no runs.

from assay.measures import parse_measure, nDCG
parse_measure("ndcg_cut_10") == nDCG @ 10
"""

from typing import Any

from assay.measures.core import Definition, Measure, definition_of, definitions, exported, measure
from assay.measures.families import binary, graded  # what most evaluations ask for
from assay.measures.grammar import Request, parse_measure, parse_measures

_TOOLS = (
    "Definition",
    "Measure",
    "Request",
    "definition_of",
    "definitions",
    "measure",
    "parse_measure",
    "parse_measures",
)


def __getattr__(name: str) -> Any:
    """Every measure of the families, by its name; `make docs` lists them in __init__.pyi for editors."""
    if name == "__all__":
        return sorted([*_TOOLS, *exported()])
    if not name.startswith("_") and name in exported():
        return Measure(name)
    raise AttributeError(f"module 'assay.measures' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *exported()})
