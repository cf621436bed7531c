"""Read bytes, dicts and data frames into the tables Qrels and Run, and write tables to files. Does not rank documents.

The format is detected from the content; ambiguous input is an error with file, line and value. Importing this package
loads only NumPy and the standard library.

    sources    files, standard input, text; decompression          text      chunks of whole lines
    detect     format detection                                    numbers   strict numbers, grade maps
    trec       columns separated by spaces (TREC, BEIR, MS MARCO)  names     column names
    delimited  CSV, TSV        json  JSON, JSON Lines              columns   named columns to tables
    frames     Parquet, Arrow, data frames      dicts  dicts of dicts        problems  collected bad rows
    shapes     lists, pairs, hits, rows, open files and objects of other tools
    writing    writes all formats               writers, sheets  details     holding   ids that a format can store
    info       summary of a file                unread  input that the kernel reads
    answers    JSON of search engines, Quepid   lists   the documents of each query    queries   ids for texts and positions
    quepid     CSV exports                      ranklib   RankLib and LTR exports
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
    """Import the writers on demand."""
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
