"""Bytes, dicts and data frames into the tables Qrels and Run, and those into files. Knows no measure, forms no ranking.

The format is recognised from the content; whatever cannot be read for sure is refused with file, line and value.
Importing this package loads NumPy and the standard library only.

    sources    files, standard input, text; decompression          text      chunks of whole lines
    detect     which format it is                                  numbers   strict numbers, grade maps
    trec       columns with blanks between (TREC, BEIR, MS MARCO)  names     what columns are called
    delimited  CSV, TSV        json  JSON, JSON Lines              columns   named columns into tables
    frames     Parquet, Arrow, data frames      dicts  dicts of dicts        problems  bad rows, gathered
    writing    all formats, the other way       writers, sheets  how         holding   ids that a format can hold
    info       what is in a file                documents, queries  texts, one by one, from records in any format
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.formats.numbers import parse_grades
from assay.formats.reading import (
    INPUT_FORMATS,
    as_qrels,
    as_run,
    parse_qrels,
    parse_run,
    read_qrels,
    read_run,
)

if TYPE_CHECKING:
    from assay.formats.writing import OUTPUT_FORMATS, write_qrels, write_run

_WRITING = ("OUTPUT_FORMATS", "write_qrels", "write_run")


def __getattr__(name: str) -> Any:
    """Whoever only reads need not wait for the writers."""
    if name not in _WRITING:
        raise AttributeError(f"module 'assay.formats' has no attribute {name!r}")
    return getattr(import_module("assay.formats.writing"), name)


__all__ = [
    "INPUT_FORMATS",
    "OUTPUT_FORMATS",
    "as_qrels",
    "as_run",
    "parse_grades",
    "parse_qrels",
    "parse_run",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]
