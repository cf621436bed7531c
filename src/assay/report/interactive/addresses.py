"""The addresses of pages."""

from __future__ import annotations

from urllib.parse import quote

LEARN, EVALUATOR, MEASURES = "/", "/evaluator", "/measures"


def measure_address(name: str) -> str:
    """The page of a measure, given by any of its names with or without a cutoff.

    >>> measure_address("nDCG@10"), measure_address("AP")
    ('/measures/nDCG', '/measures/AP')
    """
    stem = name.partition("@")[0].partition("(")[0]
    return f"{MEASURES}/{quote(stem)}"
