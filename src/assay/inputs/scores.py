"""Read tables of scores from any tool: one row per query, one column per system, as CSV, TSV or with semicolons."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.numbers import number
from assay.formats.sources import Source, open_source
from assay.formats.text import NO_DATA, whole_text
from assay.tables import Floats

_MISSING = {"", "nan", "na", "null", "none", "-"}


class ScoreTable(Struct, frozen=True):
    """The score of each system on each query; NaN if missing."""

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats  # (queries, systems)


def read_scores(source: Source) -> ScoreTable:
    """Read a table with the systems in the first line and the queries in the first column."""
    with open_source(source) as content:
        text, name = whole_text(content), content.name
    if not text.strip():
        raise InputError(NO_DATA, source=name)
    first = next(line for line in text.split("\n") if line.strip())
    rows = list(delimited_rows(text, max(",\t;", key=first.count), name))
    (top, head), data = rows[0], rows[1:]
    systems = tuple(head[1:])
    if not systems:
        raise InputError(
            "the first line must name the query and then the systems, but has one column", source=name, line=top
        )
    if "" in systems:
        raise InputError(f"system {systems.index('') + 1} has no name", source=name, line=top)
    repeated = next((system for system in systems if systems.count(system) > 1), None)
    if repeated is not None:
        raise InputError(f"two systems are called {show_id(repeated)!r}", source=name, line=top)
    queries: dict[str, int] = {}
    values = np.full((len(data), len(systems)), np.nan)
    for place, (line, row) in enumerate(data):
        if len(row) != len(head):
            raise InputError(f"line has {len(row)} columns, the first line has {len(head)}", source=name, line=line)
        query = row[0]
        if not query:
            raise InputError("the query id is empty", source=name, line=line)
        if query in queries:
            raise InputError(f"query {show_id(query)} appears twice", source=name, line=line)
        queries[query] = place
        values[place] = [_value(cell, systems[column], name, line) for column, cell in enumerate(row[1:])]
    if not queries:
        raise InputError("the table has a header but no queries", source=name)
    return ScoreTable(tuple(queries), systems, values)


def delimited_rows(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table with the line on which each ends; cells are stripped, empty rows skipped.

    Cells may be quoted, except in TSV, where quotes are ordinary characters.
    """
    reader = csv.reader(
        io.StringIO(text.replace("\r\n", "\n")),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
        skipinitialspace=True,
        strict=True,
    )
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"cannot read the table: {error}", source=source, line=reader.line_num) from None


def _value(text: str, system: str, source: str, line: int) -> float:
    if text.casefold() in _MISSING:
        return float("nan")
    value = number(text)
    if value is None:
        raise InputError(f"'{show_id(text)}' of system {show_id(system)} is not a number", source=source, line=line)
    return value
