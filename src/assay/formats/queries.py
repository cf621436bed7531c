"""Query files: TSV (id and text), JSONL (BEIR's _id and text), TREC topics, or one id per line. Knows no run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from assay.errors import InputError, show_id
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import NO_DATA, whole_text

Pairs: TypeAlias = Iterable[tuple[int | None, str, str]]  # line, id, text

_ID_NAMES = ("_id", "id", "qid", "query_id", "topic_id", "number", "query-id")
_TEXT_NAMES = ("text", "query", "title", "question")
_TOPIC = re.compile(r"<top(?:ic)?\b(?P<attributes>[^>]*)>(?P<body>.*?)</top(?:ic)?>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"""(?:number|id|num)\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
_NUM = re.compile(r"<num>\s*(?:number\s*:)?\s*([^<\s]+)", re.IGNORECASE)
_TITLE = re.compile(r"<(?:title|query)>\s*(?:topic\s*:)?\s*([^<]*)", re.IGNORECASE)


def read_queries(source: Source) -> dict[str, str]:
    """The queries of a file: id -> text, which is empty where the file has none."""
    with open_source(source) as content:
        return queries_from_text(content)


def queries_from_text(content: Content) -> dict[str, str]:
    r"""The queries of a text, in its order.

    >>> from assay.formats.sources import open_text
    >>> with open_text("1\thow to cook rice\n2\train tomorrow\n", "queries") as content:
    ...     queries_from_text(content)
    {'1': 'how to cook rice', '2': 'rain tomorrow'}
    """
    text = whole_text(content)
    start = text.lstrip()
    if not start:
        raise InputError(NO_DATA, source=content.name)
    pairs: Pairs
    if start.startswith("<"):
        pairs = _topics(text, content.name)
    elif start.startswith(("{", "[")):
        pairs = _records(text, content.name)
    else:
        pairs = _lines(text)
    found: dict[str, str] = {}
    for line, query, words in pairs:
        if not query:
            raise InputError("the query has no id", source=content.name, line=line)
        if query in found:
            raise InputError(f"query {show_id(query)} stands twice", source=content.name, line=line)
        found[query] = words
    return found


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Id and text with a tab or, in a file without tabs, the first blank between; or the id alone."""
    separator = "\t" if "\t" in text else None
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.strip("\r").split(separator, 1)
        is_header = number == 1 and fields and fields[0].strip().casefold() in _ID_NAMES
        if not line.strip() or line.startswith("#") or is_header:
            continue
        yield number, fields[0].strip(), fields[1].strip() if len(fields) > 1 else ""


def _records(text: str, source: str) -> Iterator[tuple[int | None, str, str]]:
    """One JSON object per line, a list of them, or one object of id -> text."""
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict) and not any(name in whole for name in _ID_NAMES + _TEXT_NAMES):
        yield from ((None, str(query), str(words)) for query, words in whole.items())
        return
    rows: list[tuple[int | None, object]]
    if whole is not None:
        rows = [(None, row) for row in (whole if isinstance(whole, list) else [whole])]
    else:
        rows = list(_json_lines(text, source))
    for line, row in rows:
        if not isinstance(row, dict):
            raise InputError("expected an object with an id and a text", source=source, line=line)
        query = next((row[name] for name in _ID_NAMES if name in row), None)
        if query is None:
            names = ", ".join(_ID_NAMES)
            raise InputError(f"the query has no id: we accept {names}", source=source, line=line)
        yield line, str(query), str(next((row[name] for name in _TEXT_NAMES if name in row), ""))


def _json_lines(text: str, source: str) -> Iterator[tuple[int | None, object]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise InputError(f"the line is no JSON: {error}", source=source, line=number) from None


def _topics(text: str, source: str) -> Iterator[tuple[int, str, str]]:
    """TREC topics, old (<top><num>) and new (<topic number="1">)."""
    found = False
    for topic in _TOPIC.finditer(text):
        line = text.count("\n", 0, topic.start()) + 1
        number = _NUMBER.search(topic["attributes"]) or _NUM.search(topic["body"])
        if number is None:
            raise InputError("the topic has no number", source=source, line=line)
        title = _TITLE.search(topic["body"])
        found = True
        yield line, number[1].strip(), title[1].strip() if title else ""
    if not found:
        raise InputError("there is no <top> or <topic> in it", source=source)
