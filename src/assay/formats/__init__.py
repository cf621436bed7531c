"""Bytes, dicts and data frames into the tables Qrels and Run. Knows no measure and forms no ranking.

The format is recognised from the content; whatever cannot be read for sure is refused with file, line and value.
Importing this package loads NumPy and the standard library only.

    sources    files, standard input, text; decompression          text      chunks of whole lines
    detect     which format it is                                  numbers   strict numbers, grade maps
    trec       columns with blanks between (TREC, BEIR, MS MARCO)  names     what columns are called
    delimited  CSV, TSV        json  JSON, JSON Lines              columns   named columns into tables
    frames     Parquet, Arrow, data frames      dicts  dicts of dicts        problems  bad rows, gathered
"""

from __future__ import annotations

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

__all__ = [
    "INPUT_FORMATS",
    "as_qrels",
    "as_run",
    "parse_grades",
    "parse_qrels",
    "parse_run",
    "read_qrels",
    "read_run",
]
