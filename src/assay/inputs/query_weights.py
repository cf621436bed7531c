r"""Read the weights of queries, from a file, a dict or a data frame.

>>> from assay.formats.sources import open_text
>>> with open_text("query\tweight\nq1\t2.5\nq2\t1\n", "weights") as content:
...     weights_from_text(content).weight.tolist()
[2.5, 1.0]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.columns import as_id
from assay.formats.numbers import no_number, number, real
from assay.formats.reading import ArrowData, DataFrame, frame_columns, is_frame
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import NO_DATA, whole_text
from assay.inputs.fields import Flaw, folded, is_table, json_lines, scan_records
from assay.inputs.query_logs import COUNT_NAMES
from assay.inputs.scores import table_rows
from assay.weighting.weights import QueryWeights

# A file, {query: weight}, or a data frame with the columns query and weight, and optionally probability and stratum.
QueryWeightsLike: TypeAlias = QueryWeights | Source | Mapping[Any, Any] | ArrowData | DataFrame

# The first that is there is used, so a weight counts before a count. `query` comes last: it may be the text.
NAMES = {
    "query": ("query_id", "qid", "topic_id", "_id", "id", "topic", "query"),
    "weight": ("weight", "weights", "w", *COUNT_NAMES),
    "probability": ("probability", "inclusion_probability", "prob"),
    "stratum": ("stratum", "strata"),
}
FORM = "a header `query<TAB>weight`, or with the columns query, weight, probability and stratum"


def as_query_weights(value: QueryWeightsLike) -> QueryWeights:
    """Weights from a path, {query: weight} or a data frame.

    >>> as_query_weights({"q1": 2, "q2": 1}).queries
    ('q1', 'q2')
    """
    if isinstance(value, QueryWeights):
        return value
    if isinstance(value, (str, os.PathLike)):
        return read_query_weights(value)
    if isinstance(value, Mapping):
        rows = (_Row(None, {"query": query, "weight": weight}) for query, weight in value.items())
        return _from_rows(rows, ["query", "weight"], "query weights")
    if is_frame(value):
        columns: dict[str, list[Any]] = frame_columns(value)
        rows = (_Row(None, dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))
        return _from_rows(rows, list(columns), "query weights")
    raise InputError(
        f"cannot read a value of type {type(value).__name__} as weights: pass a path, a dict {{query: weight}}, or a data "
        "frame with the columns query and weight."
    )


def read_query_weights(source: Source) -> QueryWeights:
    """Read weights from TSV, CSV, JSON Lines or Parquet; without a header, a query and its weight on each line."""
    with open_source(source) as content:
        return weights_from_text(content)


def weights_from_text(content: Content) -> QueryWeights:
    """The weights of a content."""
    if is_table(content):
        records = scan_records(content)
        first = next(records, None)
        if first is None or isinstance(first, Flaw):
            raise InputError(NO_DATA, source=content.name)
        every = (_Row(None, one.fields) for one in (first, *records) if not isinstance(one, Flaw))
        return _from_rows(every, list(first.fields), content.name)
    text = _without_comments(whole_text(content))
    if not text.strip():
        raise InputError(NO_DATA, source=content.name)
    if text.lstrip().startswith("{"):
        objects = list(_objects(text, content.name))
        return _from_rows(objects, list(dict.fromkeys(name for row in objects for name in row.cells)), content.name)
    names, rows = _table(text, content.name)
    return _from_rows(rows, names, content.name)


class _Row(Struct, frozen=True):
    line: int | None
    cells: Mapping[str, Any]


def _without_comments(text: str) -> str:
    """The text with the comment lines at its top blanked, so that the other lines keep their numbers."""
    lines = text.split("\n")
    end = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "\n" * end + "\n".join(lines[end:])


def _objects(text: str, source: str) -> Iterator[_Row]:
    for line, value in json_lines(text, source):
        if not isinstance(value, dict):
            raise InputError("expected an object with a query and a weight", source=source, line=line)
        yield _Row(line, value)


def _table(text: str, source: str) -> tuple[list[str], Iterator[_Row]]:
    """Column names and rows; without a header, the columns are query and weight."""
    split = table_rows(text, source)
    names = split[0][1]
    if len(names) == 2 and _column("weight", names) is None:
        names = ["query", "weight"]
    else:
        del split[0]

    def rows() -> Iterator[_Row]:
        for line, cells in split:
            if len(cells) != len(names):
                raise InputError(
                    f"the line has {len(cells)} columns, the first one has {len(names)}", source=source, line=line
                )
            yield _Row(line, dict(zip(names, cells, strict=True)))

    return names, rows()


def _column(role: str, names: Sequence[str]) -> str | None:
    """The column of a role."""
    by_fold = {folded(name): name for name in reversed(names)}
    return next((by_fold[folded(name)] for name in NAMES[role] if folded(name) in by_fold), None)


def _from_rows(rows: Iterable[_Row], names: Sequence[str], source: str) -> QueryWeights:
    columns = {role: _column(role, names) for role in NAMES}
    for role in ("query", "weight"):
        if columns[role] is None:
            there = ", ".join(map(show_id, names)) or "none"
            raise InputError(f"no {role} column; the columns are {there}. Expected {FORM}.", source=source)
    found = list(rows)
    numbers = {
        role: np.array([_number(row, role, columns, source) for row in found], np.float64)
        for role in ("weight", "probability")
        if columns[role] is not None
    }
    strata = columns["stratum"]
    return QueryWeights(
        queries=tuple(_query(row, columns["query"] or "", source) for row in found),
        weight=numbers["weight"],
        probability=numbers.get("probability"),
        strata=None if strata is None else tuple(str(row.cells.get(strata) or "") for row in found),
        source=source,
        lines=None if any(row.line is None for row in found) else [row.line or 0 for row in found],
    )


def _query(row: _Row, column: str, source: str) -> str:
    query = as_id(row.cells.get(column))
    if query is None or not query:
        what = "the query id is missing" if query in {None, ""} else f"{show_id(repr(query))} is not a query id"
        raise InputError(what, source=source, line=row.line)
    return query


def _number(row: _Row, role: str, columns: Mapping[str, str | None], source: str) -> float:
    given = row.cells.get(columns[role] or "")
    value = number(given.strip()) if isinstance(given, str) else real(given)
    if value is None:
        query = show_id(str(row.cells.get(columns["query"] or "")))
        raise InputError(
            f"the {role} of query {query} {no_number(given)}; it takes a number greater than 0. Fix or remove it.",
            source=source,
            line=row.line,
        )
    return value
