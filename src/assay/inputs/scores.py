"""Read tables of scores from any tool: files with one row per query and one column per system, dicts, data frames."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import InputError, show_id, some_of
from assay.formats.columns import as_id
from assay.formats.numbers import no_numeric_type, number, real
from assay.formats.reading import ArrowData, DataFrame, frame_columns, is_frame
from assay.formats.sources import Source, open_source
from assay.formats.text import NO_DATA, whole_text
from assay.tables import Floats

_MISSING = {"", "nan", "na", "null", "none", "-"}


class ScoreTable(Struct, frozen=True):
    """The score of each system on each query; NaN if missing."""

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats  # (queries, systems)


# A file, {system: {query: value}}, or a data frame with the queries and then a column for each system.
ScoresLike: TypeAlias = ScoreTable | Source | Mapping[str, Mapping[Any, Any]] | ArrowData | DataFrame


def as_scores(value: ScoresLike) -> ScoreTable:
    """A table of scores from a path, {system: {query: value}} or a data frame; None and NaN are missing values.

    >>> as_scores({"bm25": {"q1": 0.5, "q2": 0.25}, "new": {"q1": 0.75}}).values.tolist()
    [[0.5, 0.75], [0.25, nan]]
    """
    if isinstance(value, ScoreTable):
        return value
    if isinstance(value, (str, os.PathLike)):
        return read_scores(value)
    if isinstance(value, Mapping):
        return _from_dict(value)
    if is_frame(value):
        return _from_frame(value)
    raise InputError(
        f"cannot read a value of type {type(value).__name__} as a table of scores: pass a path, a dict "
        "{system: {query: value}}, or a data frame with the queries in the first column and a column for each system."
    )


def _from_dict(value: Mapping[Any, Any]) -> ScoreTable:
    by_system: dict[str, dict[str, Any]] = {}
    for system, values in value.items():
        if not isinstance(values, Mapping):
            raise InputError(
                f"the value of system {show_id(str(system))} has the type {type(values).__name__}; expected "
                "{query: value}.",
                source="scores",
            )
        by_system[str(system)] = dict(zip(_query_ids(list(values)), values.values(), strict=True))
    queries = list(dict.fromkeys(query for values in by_system.values() for query in values))
    place = {query: row for row, query in enumerate(queries)}
    table = _new_table(queries, tuple(by_system))
    for column, (system, values) in enumerate(by_system.items()):
        rows = [place[query] for query in values]
        table.values[rows, column] = _numbers(list(values.values()), list(values), system)
    return table


def _from_frame(frame: Any) -> ScoreTable:
    columns: dict[str, list[Any]] = frame_columns(frame)
    if len(columns) < 2:
        raise InputError(
            "expected the queries in the first column and then a column for each system; the columns are "
            f"{some_of(list(columns)) or 'none'}.",
            source="scores",
        )
    (_, first), *others = columns.items()
    queries = _query_ids(first)
    table = _new_table(queries, tuple(name for name, _ in others))
    for place, (system, values) in enumerate(others):
        table.values[:, place] = _numbers(values, queries, system)
    return table


def _new_table(queries: Sequence[str], systems: tuple[str, ...]) -> ScoreTable:
    if not queries:
        raise InputError("the table has no queries", source="scores")
    return ScoreTable(tuple(queries), systems, np.full((len(queries), len(systems)), np.nan))


def _query_ids(given: Sequence[Any]) -> list[str]:
    seen: set[str] = set()
    for value in given:
        query = as_id(value)
        if query is None:
            raise InputError(
                f"{show_id(repr(value))} ({type(value).__name__}) is not a query id; ids must be text or whole numbers.",
                source="scores",
            )
        if query in seen:
            raise InputError(f"query {show_id(query)} appears twice", source="scores")
        seen.add(query)
    return list(map(str, map(as_id, given)))


def _numbers(values: Sequence[Any], queries: Sequence[str], system: str) -> list[float]:
    """The values of a system; NaN for those that are missing."""
    found = [math.nan if value is None or value != value else real(value) for value in values]  # noqa: PLR0124  (NaN)
    if None in found:
        place = found.index(None)
        raise InputError(
            f"{no_numeric_type(values[place])} (system {show_id(system)}, query {show_id(queries[place])})",
            source="scores",
        )
    return [value for value in found if value is not None]


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

    Cells may be quoted, except in TSV, where quotes are ordinary characters. Without any row, there is an error.
    """
    empty = True
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
                empty = False
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"cannot read the table: {error}", source=source, line=reader.line_num) from None
    if empty:  # only delimiters
        raise InputError(NO_DATA, source=source)


def table_rows(text: str, source: str) -> list[tuple[int, list[str]]]:
    r"""The rows of a table and their lines; its first line shows whether tabs, commas, semicolons or blanks divide it.

    >>> table_rows("q1 buy\nq2 know\n", "segments")
    [(1, ['q1', 'buy']), (2, ['q2', 'know'])]
    """
    first = next(line for line in text.split("\n") if line.strip())
    separator = "\t" if "\t" in first else max(",;", key=first.count)
    if separator in first:
        return list(delimited_rows(text, separator, source))
    return [(number, line.split()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _value(text: str, system: str, source: str, line: int) -> float:
    if text.casefold() in _MISSING:
        return float("nan")
    value = number(text)
    if value is None:
        raise InputError(f"'{show_id(text)}' of system {show_id(system)} is not a number", source=source, line=line)
    return value
