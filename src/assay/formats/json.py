"""JSON and JSON Lines: {query: {document: value}} as in pytrec_eval and ranx, or records with named columns.

Lists of documents by query, such as the answers of search engines, are left to `answers`.
Duplicate keys of an object are kept, for the check for duplicate documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from msgspec.structs import replace

from assay.errors import FormatError, InputError, show_id
from assay.formats.answers import find_shape, lists_in
from assay.formats.columns import Columns, by_role, qrels_from_columns, run_from_columns
from assay.formats.json_text import JsonText, decoder, no_json
from assay.formats.lists import Object, Place, columns_of_lists, kind_of
from assay.formats.names import Kind, Roles, find_roles
from assay.formats.problems import Problems
from assay.formats.queries import with_ids
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.formats.text import NO_DATA, decoded, line_chunks, refuse_old_mac_lines
from assay.tables import Qrels, Run

_VALUE: dict[Kind, str] = {"qrels": "rel", "run": "score"}
_EXPECTED: dict[Kind, str] = {
    "qrels": 'Expected {"query": {"document": grade}} or [{"query_id": ..., "doc_id": ..., "relevance": ...}].',
    "run": 'Expected {"query": {"document": score}} or [{"query_id": ..., "doc_id": ..., "score": ...}].',
}
_MISSING = object()
_MOST_COLUMNS = 1000  # of a table; an object with more keys has queries


def qrels_from_json(content: Content, reading: Reading) -> Qrels:
    """Qrels from one JSON value."""
    return qrels_from_columns(_json_columns(content, "qrels", reading), reading.grades)


def run_from_json(content: Content, reading: Reading) -> Run:
    """A run from one JSON value."""
    return run_from_columns(_json_columns(content, "run", reading), content.stem)


def qrels_from_jsonl(content: Content, reading: Reading) -> Qrels:
    """Qrels from one JSON record per line."""
    return qrels_from_columns(_jsonl_columns(content, "qrels", reading), reading.grades)


def run_from_jsonl(content: Content, reading: Reading) -> Run:
    """A run from one JSON record per line."""
    return run_from_columns(_jsonl_columns(content, "run", reading), content.stem)


def _json_columns(content: Content, kind: Kind, reading: Reading) -> Columns:
    text = JsonText(content)
    start = text.next()
    if not start:
        raise InputError(NO_DATA, source=content.name)
    if start == "{":
        value = Object(text.pairs())
        place = Place(content.name)
        shape = find_shape(value, kind, place)
        if shape is None:
            return with_ids(_nested_columns(value, kind, content, reading), reading)
        return columns_of_lists(lists_in(shape, value, place), kind, content.name, reading)
    if start == "[":
        return _columns_of_records(((None, record) for record in text.records()), kind, content, reading)
    raise FormatError(f"the JSON is a {type(text.alone()).__name__}. {_EXPECTED[kind]}", source=content.name)


def _jsonl_columns(content: Content, kind: Kind, reading: Reading) -> Columns:
    return _columns_of_records(_numbered_records(content), kind, content, reading)


def _columns_of_records(
    records: Iterable[tuple[int | None, Any]], kind: Kind, content: Content, reading: Reading
) -> Columns:
    """The rows of records with one document each, or of records with the list of a query; the first one decides."""
    records = iter(records)
    first = next(records, None)
    if first is None:
        raise InputError(NO_DATA, source=content.name)
    records = chain([first], records)
    shape = find_shape(first[1], kind, Place(content.name, first[0]))
    if shape is None:
        return with_ids(_record_columns(records, kind, content, reading), reading)
    lists = [
        each
        for number, (line, record) in enumerate(records, 1)
        for each in lists_in(shape, record, Place(content.name, line, "" if line else f"record {number}"))
    ]
    return columns_of_lists(lists, kind, content.name, reading)


def _parsed(text: str, content: Content, line: int) -> Any:
    try:
        return decoder().decode(text)
    except (RecursionError, ValueError) as error:
        raise no_json(error, content, line, is_line=True) from error


def _nested_columns(value: Object, kind: Kind, content: Content, reading: Reading) -> Columns:
    if len(value) <= _MOST_COLUMNS:
        _refuse_columnwise(value, kind, content, reading)
    if reading.columns:
        from assay.formats.chosen import refuse_no_header

        refuse_no_header(kind, content.name, reading)
    query: list[str] = []
    doc: list[str] = []
    values: list[Any] = []
    for query_id, documents in value:
        if not isinstance(documents, Object):
            raise FormatError(
                f"the value of '{show_id(query_id)}' is {kind_of(documents)}, not an object. {_EXPECTED[kind]}",
                source=content.name,
            )
        query += [query_id] * len(documents)
        doc += [doc_id for doc_id, _ in documents]
        values += [given for _, given in documents]
    return Columns(content.name, {"query": query, "doc": doc, _VALUE[kind]: values})


def _refuse_columnwise(value: Object, kind: Kind, content: Content, reading: Reading) -> None:
    """A frame stored column by column has the same shape as queries and documents, but its keys are column names."""
    try:
        find_roles([key for key, _ in value], kind, content.name, reading=replace(reading, tables=None))
    except InputError:
        return
    raise FormatError(
        "this is a table stored column by column. Write records instead, "
        'in pandas with frame.to_json(path, orient="records")',
        source=content.name,
    )


def _record_columns(
    records: Iterable[tuple[int | None, Any]], kind: Kind, content: Content, reading: Reading
) -> Columns:
    problems = Problems(content.name)
    roles: Roles = {}
    names: list[str] = []  # of the fields that are needed, as in the first record
    rows: list[tuple[Any, ...]] = []
    lines: list[int | None] = []
    for number, (line, record) in enumerate(records, 1):
        fields = _fields(record, number, line, kind, content)
        if not roles:
            roles, names = _roles(fields, kind, content, line, reading)
        row = tuple([fields.get(name, _MISSING) for name in names])
        if _MISSING in row:
            what = f"{_where(number, line)}the record has no '{show_id(names[row.index(_MISSING)])}'"
            problems.add(what, "All records need the same fields.", line=line)
        rows.append(row)
        lines.append(line)
    problems.refuse()
    if not rows:
        raise InputError(NO_DATA, source=content.name)
    columns = [list(column) for column in zip(*rows, strict=True)]
    numbered = [line for line in lines if line is not None]
    return Columns(
        content.name, by_role(roles, columns.__getitem__), numbered or None, row_word="" if numbered else "record"
    )


def _roles(
    fields: dict[str, Any], kind: Kind, content: Content, line: int | None, reading: Reading
) -> tuple[Roles, list[str]]:
    """The names of the fields that are needed, and the positions of each role among them."""
    known = list(fields)
    found = find_roles(known, kind, content.name, line=line, reading=reading)
    needed = list(dict.fromkeys(place for places in found.values() for place in places))
    roles = {role: tuple(map(needed.index, places)) for role, places in found.items()}
    return roles, [known[place] for place in needed]


def _where(number: int, line: int | None) -> str:
    return "" if line else f"record {number}: "


def _fields(record: Any, number: int, line: int | None, kind: Kind, content: Content) -> dict[str, Any]:
    where = _where(number, line)
    if not isinstance(record, Object):
        raise FormatError(
            f"{where}expected an object, found {kind_of(record)}. {_EXPECTED[kind]}", source=content.name, line=line
        )
    fields = dict(record)
    if len(fields) < len(record):
        raise FormatError(f"{where}a field appears twice in the record", source=content.name, line=line)
    return fields


def _numbered_records(content: Content) -> Iterator[tuple[int, Any]]:
    for chunk in line_chunks(content):
        refuse_old_mac_lines(chunk, content)
        for number, line in enumerate(decoded(chunk.data).split("\n")[:-1], chunk.line):
            if line.strip():
                yield number, _parsed(line, content, number)
