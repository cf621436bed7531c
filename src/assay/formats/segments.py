r"""Which segments a query belongs to, from a file: the query id, then any columns. Knows no run.

>>> from assay.formats.sources import open_text
>>> with open_text("query,intent\n1,buy\n2,know\n", "segments") as content:
...     segments_from_text(content)
{'intent': {'1': 'buy', '2': 'know'}}
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator

from assay.errors import InputError, show_id
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import NO_DATA, whole_text

ID_NAMES = ("query", "query_id", "query-id", "qid", "id", "_id", "topic", "number")
Rows = Iterator[tuple[int, list[str]]]


def read_segments(source: Source) -> dict[str, dict[str, str]]:
    """The segments of a file: column -> query -> segment. CSV, TSV, or JSONL with one object per query.

    The first row names the columns if its first cell is a name for the query (query, qid, ...); else they are numbered.
    """
    with open_source(source) as content:
        return segments_from_text(content)


def segments_from_text(content: Content) -> dict[str, dict[str, str]]:
    """The segments of a text; a query that stands twice is refused."""
    text = whole_text(content)
    if not text.strip():
        raise InputError(NO_DATA, source=content.name)
    if text.lstrip().startswith("{"):
        names, rows = _objects(text, content.name)
    else:
        names, rows = _table(text)
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    if len(found) < len(names):
        raise InputError(f"two columns have the same name: {', '.join(map(show_id, names))}", source=content.name)
    seen: dict[str, int] = {}
    for line, (query, *labels) in rows:
        if len(labels) != len(names) or not query:
            raise InputError(
                f"expected a query and {len(names)} segments, not {len(labels) + 1} columns",
                source=content.name,
                line=line,
            )
        if query in seen:
            raise InputError(
                f"query {show_id(query)} stands twice, also on line {seen[query]}", source=content.name, line=line
            )
        seen[query] = line
        for name, label in zip(names, labels, strict=True):
            found[name][query] = label
    if not names or not seen:
        raise InputError("expected a query and one segment or more on each line", source=content.name)
    return found


def _table(text: str) -> tuple[list[str], Rows]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    first = next(line for line in lines if line.strip())
    separator = "\t" if "\t" in first else "," if "," in first else None
    split = [(number, _fields(line, separator)) for number, line in enumerate(lines, 1) if line.strip()]
    header = split[0][1]
    if header[0].casefold() in ID_NAMES:
        return header[1:], iter(split[1:])
    count = len(header) - 1
    return ["segment"] if count == 1 else [f"segment {number}" for number in range(1, count + 1)], iter(split)


def _fields(line: str, separator: str | None) -> list[str]:
    fields = next(csv.reader([line])) if separator == "," else line.split(separator)
    return [field.strip() for field in fields]


def _objects(text: str, source: str) -> tuple[list[str], Rows]:
    """One object per query: what is not its id or text is a column; one that lacks a column is in no segment of it."""
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the line is no JSON: {error}", source=source, line=number) from None
        query = next((record[name] for name in ID_NAMES if name in record), None) if isinstance(record, dict) else None
        if query is None:
            raise InputError("expected an object with a query id", source=source, line=number)
        labels = {name: value for name, value in record.items() if name not in (*ID_NAMES, "text")}
        records.append((number, str(query), {name: _label(value) for name, value in labels.items()}))
    names = list(dict.fromkeys(name for _, _, labels in records for name in labels))
    return names, iter([(line, [query, *(labels.get(name, "") for name in names)]) for line, query, labels in records])


def _label(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
