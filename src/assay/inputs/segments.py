r"""Read the segments of each query from a file: the query id, then any columns.

>>> from assay.formats.sources import open_text
>>> with open_text("query,intent\n1,buy\n2,know\n", "segments") as content:
...     segments_from_text(content)
{'intent': {'1': 'buy', '2': 'know'}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from assay.errors import InputError, show_id
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import NO_DATA, whole_text
from assay.inputs.fields import json_lines
from assay.inputs.scores import table_rows

# Names of the query id, without spaces, _ and -. If an object has several, `query` may be its text.
ID_NAMES = ("queryid", "qid", "topicid", "id", "number", "topic", "query")
Rows = Iterator[tuple[int, list[str]]]


def read_segments(source: Source) -> dict[str, dict[str, str]]:
    """Read segments: column -> query -> segment. CSV, TSV, semicolons, or JSONL with one object per query.

    The first row is a header if its first cell is a name for the query (query, qid, ...); else columns are numbered.
    """
    with open_source(source) as content:
        return segments_from_text(content)


def segments_from_text(content: Content) -> dict[str, dict[str, str]]:
    """The segments of a content; a duplicate query is an error."""
    text = whole_text(content)
    if not text.strip():
        raise InputError(NO_DATA, source=content.name)
    if text.lstrip().startswith("{"):
        names, rows = _objects(text, content.name)
    else:
        names, rows = _table(text, content.name)
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    if len(found) < len(names):
        raise InputError(f"two columns have the same name: {', '.join(map(show_id, names))}", source=content.name)
    seen: dict[str, int] = {}
    for line, (query, *labels) in rows:
        if not query:
            raise InputError("the query id is empty", source=content.name, line=line)
        if len(labels) != len(names):
            raise InputError(
                f"expected a query and {len(names)} segments, found {len(labels) + 1} columns",
                source=content.name,
                line=line,
            )
        if query in seen:
            raise InputError(
                f"query {show_id(query)} appears twice, first on line {seen[query]}", source=content.name, line=line
            )
        seen[query] = line
        for name, label in zip(names, labels, strict=True):
            found[name][query] = label
    if not names or not seen:
        raise InputError("expected a query and at least one segment on each line", source=content.name)
    return found


def _table(text: str, source: str) -> tuple[list[str], Rows]:
    split = table_rows(text, source)
    header = split[0][1]
    if _is_id(header[0]):
        return header[1:], iter(split[1:])
    count = len(header) - 1
    return ["segment"] if count == 1 else [f"segment {number}" for number in range(1, count + 1)], iter(split)


def _rank_of_id(name: str) -> int:
    return ID_NAMES.index(_plain(name))


def _is_id(name: str) -> bool:
    """Whether a column with this name contains the query: `Query ID` as well as `query_id`."""
    return _plain(name) in ID_NAMES


def _plain(name: str) -> str:
    return re.sub("[ _-]", "", name).casefold()


def _objects(text: str, source: str) -> tuple[list[str], Rows]:
    """One object per query: every field except id and text is a column; a missing field means no segment."""
    records = []
    for number, record in json_lines(text, source):
        ids = [name for name in record if _is_id(name)] if isinstance(record, dict) else []
        query = min(ids, key=_rank_of_id, default=None)
        if query is None or record[query] is None:
            raise InputError("expected an object with a query id", source=source, line=number)
        labels = {name: value for name, value in record.items() if name not in (*ids, "text")}
        records.append((number, str(record[query]), {name: _label(value) for name, value in labels.items()}))
    names = list(dict.fromkeys(name for _, _, labels in records for name in labels))
    return names, iter([(line, [query, *(labels.get(name, "") for name in names)]) for line, query, labels in records])


def _label(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
