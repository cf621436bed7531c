"""Convert tables to bytes: columns, CSV, JSON, Parquet, Arrow. Does not write files or check ids."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from assay.arrays import changes
from assay.errors import InputError, MissingExtraError, show_id
from assay.formats.lines import ColumnOrder
from assay.formats.names import find_roles
from assay.formats.sheets import TEXT_ROLES, Sheet, is_plainly_whole, queries_together
from assay.tables import Integers

Writer: TypeAlias = Callable[[Sheet, ColumnOrder], bytes]

# Column names in formats that have them, chosen from those that we read.
COLUMN_NAMES = {
    "query": "query_id",
    "iteration": "iteration",
    "doc": "doc_id",
    "rel": "relevance",
    "rank": "rank",
    "score": "score",
    "tag": "tag",
}
BEIR_HEADER = "query-id\tcorpus-id\tscore\n"


def in_columns(separator: str, header: str = "") -> Writer:
    """A writer of lines with columns separated by a space or tab."""

    def write(sheet: Sheet, layout: ColumnOrder) -> bytes:
        return _encoded([header, *(_lines(block, separator) for block in sheet.blocks(layout))])

    return write


def _lines(columns: Sequence[list[str]], separator: str) -> str:
    """The lines of these columns; one join of all texts and separators is twice as fast as a join for each line."""
    width, rows = 2 * len(columns), len(columns[0])
    texts = [separator] * (width * rows)
    for place, column in enumerate(columns):
        texts[2 * place :: width] = column
    texts[width - 1 :: width] = ["\n"] * rows
    return "".join(texts)


def delimited(delimiter: str) -> Writer:
    """A writer of a table with a header, quoted if necessary as in RFC 4180."""
    special = re.compile(f'["\r\n{delimiter}]')

    def quoted(texts: list[str]) -> list[str]:
        if not special.search("".join(texts)):
            return texts
        return ['"' + text.replace('"', '""') + '"' if special.search(text) else text for text in texts]

    def pieces(sheet: Sheet, layout: ColumnOrder) -> Iterator[str]:
        yield delimiter.join(COLUMN_NAMES[role] for role in layout) + "\n"
        for block in sheet.blocks(layout):
            yield _lines([quoted(texts) for texts in block], delimiter)

    return lambda sheet, layout: _encoded(pieces(sheet, layout))


def json_lines(sheet: Sheet, layout: ColumnOrder) -> bytes:
    """One record per line."""
    return _encoded(_record_lines(sheet, layout))


def nested_json(sheet: Sheet, layout: ColumnOrder) -> bytes:
    """{query: {document: value}}, one line per query, in order of first occurrence."""
    _refuse_names_of_columns(sheet)
    return _encoded(_query_lines(sheet, layout[-1]))


def parquet_file(sheet: Sheet, layout: ColumnOrder) -> bytes:
    """A Parquet file."""
    arrow = _pyarrow()
    from pyarrow import parquet

    out = arrow.BufferOutputStream()
    parquet.write_table(_arrow_table(sheet, layout), out)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]


def arrow_file(sheet: Sheet, layout: ColumnOrder) -> bytes:
    """An Arrow IPC file, which is also Feather."""
    arrow = _pyarrow()
    from pyarrow import ipc

    table = _arrow_table(sheet, layout)
    out = arrow.BufferOutputStream()
    with ipc.new_file(out, table.schema) as file:
        file.write_table(table)
    return out.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _encoded(pieces: Iterable[str]) -> bytes:
    """Text as bytes; surrogate escapes become the original bytes."""
    out = io.BytesIO()  # unlike b"".join, it needs no second copy of all pieces
    for piece in pieces:
        out.write(piece.encode("utf-8", "surrogateescape"))
    return out.getvalue()


def _record_lines(sheet: Sheet, layout: ColumnOrder) -> Iterator[str]:
    encode = _json_encoder()
    names = [f"{encode(COLUMN_NAMES[role])}: " for role in layout]
    line = "{" + ", ".join(f"{name}%s" for name in names) + "}\n"
    for block in sheet.blocks(layout):
        columns = [
            map(encode, texts) if role in TEXT_ROLES else texts for role, texts in zip(layout, block, strict=True)
        ]
        yield "".join([line % row for row in zip(*columns, strict=True)])


def _refuse_names_of_columns(sheet: Sheet) -> None:
    """Raise an error for query ids that make the object look like a table stored column by column."""
    try:
        find_roles(sheet.queries, sheet.kind, sheet.source)
    except InputError:
        return
    raise InputError(
        "the query ids are names of table columns, so the JSON would be read as a table. Write jsonl instead.",
        source=sheet.source,
    )


def _query_lines(sheet: Sheet, value: str) -> Iterator[str]:
    encode = _json_encoder()
    if not queries_together(sheet.query):
        sheet = sheet.taken(gathered(sheet.query))
    start = np.append(np.flatnonzero(changes(sheet.query)), len(sheet)).tolist()
    opening = "{"
    for first, end in pairwise(start):
        rows = slice(first, end)
        docs, values = sheet.texts("doc", rows), sheet.texts(value, rows)
        query = sheet.queries[sheet.query[first]]
        if len(set(docs)) < len(docs):
            raise _repeated(sheet, first, docs, query)
        held = ", ".join([f"{encode(doc)}: {text}" for doc, text in zip(docs, values, strict=True)])
        yield f"{opening}{encode(query)}: {{{held}}}"
        opening = ",\n"
    yield "}\n"


def gathered(query: Integers) -> Integers:
    """The order of rows that groups them by query, in order of first occurrence.

    >>> gathered(np.array([1, 0, 1])).tolist()
    [0, 2, 1]
    """
    codes, first = np.unique(query, return_index=True)
    place = np.zeros(int(codes[-1]) + 1, np.int64)
    place[codes] = first
    return np.argsort(place[query], kind="stable")


def _repeated(sheet: Sheet, first: int, docs: list[str], query: str) -> InputError:
    last = {doc: row for row, doc in enumerate(docs)}
    row = next(last[doc] for row, doc in enumerate(docs) if last[doc] != row)
    return InputError(
        f"document {show_id(docs[row])} appears twice for query {show_id(query)}, but a JSON object cannot repeat a key. "
        "Remove one of the rows, or write jsonl, which keeps both.",
        source=sheet.source,
        line=None if sheet.lines is None else int(sheet.lines[first + row]),
    )


def _json_encoder() -> Callable[[str], str]:
    from json import JSONEncoder

    return JSONEncoder(ensure_ascii=False).encode


def _arrow_table(sheet: Sheet, layout: ColumnOrder) -> Any:
    arrow = _pyarrow()
    return arrow.table({COLUMN_NAMES[role]: _arrow_column(sheet, role) for role in layout})


def _arrow_column(sheet: Sheet, role: str) -> Any:
    arrow = _pyarrow()
    if role == "query":
        return arrow.array(sheet.queries, "string").take(arrow.array(sheet.query))
    if role not in sheet.columns:
        return arrow.repeat(arrow.scalar(sheet.constants[role], "string"), len(sheet))
    column = sheet.columns[role]
    if role in TEXT_ROLES:
        return arrow.array(column, "string")
    if role == "rel" and all(map(is_plainly_whole, column.tolist())):
        column = column.astype(np.int64)  # for tools that do not support fractional grades
    return arrow.array(column)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("writing Parquet and Arrow files", "frames") from None
    return pyarrow
