"""Read the files that only a diagnosis needs: positions shown to assessors, and samples of real queries."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.errors import InputError, show_id
from assay.formats.sources import Source, open_source
from assay.formats.text import NO_DATA, whole_text
from assay.inputs.documents import Document, read_documents
from assay.inputs.fields import json_lines
from assay.inputs.query_logs import COUNT_NAMES, QUERY_NAMES

# Columns of query, document and position, by the number of columns: a TREC run, or just the three.
PLACES = {3: (0, 1, 2), 4: (0, 2, 3), 5: (0, 2, 3), 6: (0, 2, 3)}


def read_presented(source: Source) -> dict[str, dict[str, int]]:
    """The position at which each document was shown: query -> document -> position, from 1.

    Three columns (query, document, position) separated by tabs, commas or spaces, or a TREC run, whose rank column is
    used. A header line is skipped.
    """
    text, name = _text(source)
    found: dict[str, dict[str, int]] = {}
    for line, row in _rows(text):
        places = PLACES.get(len(row))
        if places is None:
            raise InputError(f"expected query, document and position, not {len(row)} columns", source=name, line=line)
        query, doc, position = (row[place] for place in places)
        if not position.isdecimal():
            if not found and line == 1:
                continue
            raise InputError(f"position '{show_id(position)}' is not a whole number", source=name, line=line)
        if int(position) < 1 or int(position) > 2**31:
            raise InputError(
                f"position {show_id(position)} is out of range; positions start at 1", source=name, line=line
            )
        shown = found.setdefault(query, {})
        if doc in shown:
            raise InputError(
                f"document {show_id(doc)} occurs twice for query {show_id(query)}; keep the first position",
                source=name,
                line=line,
            )
        shown[doc] = int(position)
    if not found:
        raise InputError(NO_DATA, source=name)
    return found


def read_production(source: Source) -> dict[str, int]:
    """A sample of real queries: text -> how often it was asked.

    One query per line, repeated as often as it was asked; or query and count separated by a tab; or a table (CSV, TSV)
    whose header names a column query or text, and optionally one count; or JSON Lines with these fields.
    """
    text, name = _text(source)
    found: dict[str, int] = {}
    for line, query, count in _asked(text, name):
        if not query.strip():
            continue
        try:
            times = int(count)
        except ValueError:
            times = 0
        if times < 1:
            raise InputError(f"count '{show_id(count)}' is not a whole number, 1 or more", source=name, line=line)
        found[query.strip()] = found.get(query.strip(), 0) + times
    if not found:
        raise InputError(NO_DATA, source=name)
    return found


def texts_of(corpus: Any, wanted: Iterable[str]) -> dict[str, str]:
    """The texts of the wanted documents, from a file, a mapping of id to text, or an iterable of documents."""
    ids = set(wanted)
    if isinstance(corpus, Mapping):
        return {doc: str(corpus[doc]) for doc in ids if doc in corpus}
    documents: Iterable[Document] = read_documents(corpus) if isinstance(corpus, (str, os.PathLike)) else corpus
    return {document.id: document.whole for document in documents if document.id in ids}


def _text(source: Source) -> tuple[str, str]:
    with open_source(source) as content:
        return whole_text(content), content.name


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and columns; the first line determines the separator: tab, comma or spaces."""
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    separator = "\t" if "\t" in first else "," if "," in first else None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, [cell.strip() for cell in line.split(separator)]


def _asked(text: str, source: str) -> Iterator[tuple[int, str, str]]:
    """Line number, text and count of each query."""
    if text.lstrip().startswith("{"):
        yield from _asked_records(text, source)
        return
    lines = text.split("\n")
    first = lines[0].casefold()
    delimiter = "\t" if "\t" in first else "," if "," in first else None
    names = [cell.strip().strip('"') for cell in first.split(delimiter)] if delimiter else [first.strip()]
    column = next((names.index(name) for name in QUERY_NAMES if name in names), None)
    if column is not None and (delimiter is not None or names[0] in QUERY_NAMES):
        count = next((names.index(name) for name in COUNT_NAMES if name in names), None)
        yield from _asked_table(text, source, delimiter or "\t", column, count)
        return
    counted = all(line.rstrip("\r").rpartition("\t")[2].strip().isdecimal() for line in lines if line.strip())
    for number, line in enumerate(lines, 1):
        query, tab, count_text = line.rstrip("\r").rpartition("\t")
        yield (number, query, count_text.strip()) if tab and counted else (number, line.rstrip("\r"), "1")


def _asked_table(
    text: str, source: str, delimiter: str, column: int, count: int | None
) -> Iterator[tuple[int, str, str]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    next(reader)
    for row in reader:
        if any(cell.strip() for cell in row):
            if len(row) <= max(column, count or 0):
                raise InputError(f"fewer columns ({len(row)}) than the first line", source=source, line=reader.line_num)
            yield reader.line_num, row[column], "1" if count is None else row[count].strip()


def _asked_records(text: str, source: str) -> Iterator[tuple[int, str, str]]:
    for number, record in json_lines(text, source):
        if not isinstance(record, dict):
            raise InputError("expected an object with a query and optionally a count", source=source, line=number)
        query = next((record[name] for name in QUERY_NAMES if name in record), None)
        if query is None:
            raise InputError(f"no query text; expected a field {', '.join(QUERY_NAMES)}", source=source, line=number)
        yield number, str(query), str(next((record[name] for name in COUNT_NAMES if name in record), 1))
