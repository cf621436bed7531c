"""Read queries: JSONL (BEIR's _id and text), TSV, CSV, Parquet, TREC topics, or one id per line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import BYTE_ORDER_MARK, NO_DATA, decoded, whole_text
from assay.inputs.fields import Columns, Fields, Flaw, Names, RawRecord, is_table, scan_records

_ID_NAMES = ("_id", "id", "qid", "query_id", "topic_id", "number", "query-id")
_TEXT_NAMES = ("text", "query", "title", "question")
NAMES: Names = {"id": _ID_NAMES, "text": _TEXT_NAMES}
_TOPIC = re.compile(r"<top(?:ic)?\b(?P<attributes>[^>]*)>(?P<body>.*?)</top(?:ic)?>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"""(?:number|id|num)\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
_NUM = re.compile(r"<num>\s*(?:number\s*:)?\s*([^<\s]+)", re.IGNORECASE)
_TITLE = re.compile(r"<(?:title|query)>\s*(?:topic\s*:)?\s*([^<]*)", re.IGNORECASE)
_NO_ID = "Ids must be text or whole numbers: fix or remove these lines."
_NO_JSON = "Each line must be one JSON object: fix or remove these lines."


class Query(Struct, frozen=True):
    """A query."""

    id: str
    text: str  # empty if the file has no text
    line: int | None = None


def read_queries(source: Source, *, columns: Columns | None = None) -> dict[str, str]:
    """Read the queries of a file: id -> text, which is empty if the file has no text.

    `columns` names the fields of a table: {"id": "qid", "text": "utterance"}.
    """
    with open_source(source) as content:
        return queries_from_text(content, columns=columns)


def queries_from_text(content: Content, *, columns: Columns | None = None) -> dict[str, str]:
    r"""The queries of a content, in order.

    >>> from assay.formats.sources import open_text
    >>> with open_text("1\thow to cook rice\n2\train tomorrow\n", "queries") as content:
    ...     queries_from_text(content)
    {'1': 'how to cook rice', '2': 'rain tomorrow'}
    """
    found: dict[str, str] = {}
    for query in scan_queries(content, columns=columns):
        if isinstance(query, Flaw):
            raise query.error(content.name)
        if query.id in found:
            raise InputError(f"query {show_id(query.id)} appears twice", source=content.name, line=query.line)
        found[query.id] = query.text
    return found


def scan_queries(content: Content, *, columns: Columns | None = None) -> Iterator[Query | Flaw]:
    """The queries of a content in order, with a `Flaw` for each that cannot be read."""
    if columns or is_table(content) or _has_wide_header(content):
        yield from _table(content, columns)
        return
    text = whole_text(content)
    start = text.lstrip()
    if not start:
        raise InputError(NO_DATA, source=content.name)
    if start.startswith("<"):
        yield from _topics(text, content.name)
    elif start.startswith(("{", "[")):
        yield from _records(text)
    else:
        yield from _lines(text)


def _has_wide_header(content: Content) -> bool:
    """Whether the first line is a header other than an id and a text separated by a tab."""
    first = decoded(content.head.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0])
    by_tab, by_comma = ([name.strip(' "\r').casefold() for name in first.split(mark)] for mark in "\t,")
    if len(by_tab) > 1:
        return any(name in _ID_NAMES for name in by_tab) and (len(by_tab) > 2 or by_tab[0] not in _ID_NAMES)
    return len(by_comma) > 1 and any(name in _ID_NAMES for name in by_comma)


def _table(content: Content, columns: Columns | None) -> Iterator[Query | Flaw]:
    fields = Fields(NAMES, columns, required=("id",))
    for record in scan_records(content):
        if isinstance(record, RawRecord) and (lack := fields.lack(record)):
            yield lack
            return  # all others would too
        yield record if isinstance(record, Flaw) else _query(fields, record)


def _query(fields: Fields, record: RawRecord) -> Query | Flaw:
    query, text = fields.id(record), fields.text(record)
    if isinstance(query, Flaw):
        return query
    return text if isinstance(text, Flaw) else Query(query.strip(), text.strip(), record.line)


def _lines(text: str) -> Iterator[Query | Flaw]:
    """Id and text separated by a tab or, in a file without tabs, by the first space; or the id alone."""
    separator = "\t" if "\t" in text else None
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.strip("\r").split(separator, 1)
        is_header = number == 1 and fields and fields[0].strip().casefold() in _ID_NAMES
        if not line.strip() or line.startswith("#") or is_header:
            continue
        if fields[0].strip():
            yield Query(fields[0].strip(), fields[1].strip() if len(fields) > 1 else "", number)
        else:
            yield Flaw("id", "the query has no id", _NO_ID, number)


def _records(text: str) -> Iterator[Query | Flaw]:
    """One JSON object per line, a list of them, or one object of id -> text."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and not any(name in whole for name in _ID_NAMES + _TEXT_NAMES):
        yield from (Query(str(query), str(words)) for query, words in whole.items())
    elif whole is not None:
        yield from (_from_record(row, None) for row in (whole if isinstance(whole, list) else [whole]))
    else:
        yield from _json_lines(text)


def _from_record(row: Any, line: int | None) -> Query | Flaw:
    if not isinstance(row, dict):
        return Flaw("json", "expected an object with an id and a text", _NO_JSON, line)
    query = next((row[name] for name in _ID_NAMES if row.get(name) is not None), None)
    if query is None:
        return Flaw("id", f"the query has no id; accepted names: {', '.join(_ID_NAMES)}", _NO_ID, line)
    if isinstance(query, bool) or not isinstance(query, (str, int)) or not str(query).strip():
        return Flaw("id", f"{show_id(json.dumps(query))} is not a query id", _NO_ID, line)
    words = next((row[name] for name in _TEXT_NAMES if name in row), "")
    return Query(str(query), "" if words is None else str(words), line)


def _json_lines(text: str) -> Iterator[Query | Flaw]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                shown = f"{error.msg}: column {error.colno} of '{show_id(line)}'"
                yield Flaw("json", f"the line is not valid JSON: {shown}", _NO_JSON, number)
            except (ValueError, RecursionError):
                yield Flaw("json", "the JSON is nested too deeply", _NO_JSON, number)
            else:
                yield _from_record(row, number)


def _topics(text: str, source: str) -> Iterator[Query | Flaw]:
    """TREC topics, old (<top><num>) and new (<topic number="1">)."""
    found = False
    for topic in _TOPIC.finditer(text):
        line = text.count("\n", 0, topic.start()) + 1
        number = _NUMBER.search(topic["attributes"]) or _NUM.search(topic["body"])
        title = _TITLE.search(topic["body"])
        found = True
        if number is None:
            yield Flaw("id", "the topic has no number", _NO_ID, line)
        else:
            yield Query(number[1].strip(), title[1].strip() if title else "", line)
    if not found:
        raise InputError("the file contains no <top> or <topic>", source=source)
