"""Split lines into columns at spaces or tabs. Handles widths and headers, but not values.

A chunk of lines is split at once and its columns are slices with a stride; lines are handled one by one only if their
widths differ, and for messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import InputError
from assay.formats.dialects import Dialect
from assay.formats.names import WORDS, Kind, find_roles, is_header
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.formats.text import (
    BYTE_ORDER_MARK,
    Chunk,
    count_lines,
    decoded,
    first_data_line,
    line_chunks,
    lines_of,
    refuse_bare_returns,
    refuse_inner_mark,
    refuse_old_mac_lines,
    refuse_other_files,
)
from assay.limits import LIMITS, limit
from assay.native import enabled
from assay.native.index import Layout, RunColumns, read_columns
from assay.tables import Integers

if TYPE_CHECKING:
    from assay.formats.problems import Problems

ColumnOrder: TypeAlias = tuple[str, ...]  # the roles of the columns, left to right

TREC_QRELS: ColumnOrder = ("query", "iteration", "doc", "rel")
BEIR_QRELS: ColumnOrder = ("query", "doc", "rel")
TREC_RUN: ColumnOrder = ("query", "Q0", "doc", "rank", "score", "tag")
MSMARCO_RUN: ColumnOrder = ("query", "doc", "rank")
BEIR_RUN: ColumnOrder = ("query", "doc", "score")

_BLANKS = b" \t\n\r\v\f"  # whitespace for C's isspace and bytes.split()
_NOT_BLANK = bytes(set(range(256)) - set(_BLANKS))
_COMMENT_LINES = rb"(?m)^#.*\n"

_TOO_LONG = "Does an id contain a space?"
_TOO_SHORT = "Is the line cut off?"
_EMPTY_LINE_ADVICE = "trec_eval does not allow blank lines in qrels: remove them."


class Rows(Struct, frozen=True, eq=False):
    """The data lines of one chunk, as a list of all tokens."""

    tokens: list[bytes]
    layout: ColumnOrder
    width: int  # tokens per line; those beyond the layout are ignored
    line_numbers: Callable[[], Sequence[int]]  # a range if no line is blank or a comment

    def column(self, role: str) -> list[bytes]:
        """All values of one column."""
        return self.tokens[self.layout.index(role) :: self.width]

    def text(self, role: str, row: int) -> str:
        """One value, for display."""
        return decoded(self.tokens[row * self.width + self.layout.index(role)])


class Shape(Struct, frozen=True):
    """Properties shared by all lines of a file."""

    layout: ColumnOrder
    width: int
    measure: str  # the expected width, for messages
    or_more: bool  # lines may be longer than the layout
    blank_lines: bool
    comments: bool


class PlainRows(Struct, frozen=True, eq=False):
    """The rows of one chunk in which every line is a plain row of a run, read by the kernel."""

    columns: RunColumns
    layout: ColumnOrder
    line: int  # of the first row

    def line_numbers(self) -> range:
        """The line number of each row."""
        return range(self.line, self.line + len(self.columns))


def read_rows(
    content: Content,
    kind: Kind,
    layout: ColumnOrder,
    dialect: Dialect,
    problems: Problems,
    reading: Reading = Reading(),
) -> Iterator[Rows]:
    """The rows of each chunk; lines with a wrong width are added to `problems`. A header overrides the layout."""
    for chunk, shape in _shaped(content, kind, layout, dialect, reading):
        rows = even_rows(chunk, shape) or _uneven_rows(chunk, shape, problems)
        if rows.tokens:
            yield rows


def read_run_rows(
    content: Content, layout: ColumnOrder, dialect: Dialect, problems: Problems, reading: Reading = Reading()
) -> Iterator[Rows | PlainRows]:
    """The same for a run, by the kernel where every line of a chunk is a plain row."""
    for chunk, shape in _shaped(content, "run", layout, dialect, reading):
        plain = plain_rows(_from_first_row(chunk, dialect), shape, dialect)
        if plain is not None:
            yield plain
            continue
        rows = even_rows(chunk, shape) or _uneven_rows(chunk, shape, problems)
        if rows.tokens:
            yield rows


def _shaped(
    content: Content, kind: Kind, layout: ColumnOrder, dialect: Dialect, reading: Reading
) -> Iterator[tuple[Chunk, Shape]]:
    """Each chunk without the header, and the shape of its lines."""
    shape = None
    for chunk in line_chunks(content, byte_order_mark=dialect.byte_order_mark):
        _refuse_strays(chunk, content, dialect)
        lines = chunk
        if shape is None:
            number, first = first_data_line(chunk.data, comments=dialect.comments)
            line, tokens = chunk.line + number, first.split()
            shape = _shape(tokens, kind, layout, dialect)
            if dialect.headers and is_header(names := list(map(decoded, tokens)), kind, reading):
                shape = header_shape(names, kind, content.name, line, shape, reading)
                lines = _after_line(chunk, line)
            elif reading.columns and tokens:
                _refuse_no_header(kind, content.name, reading, decoded(first))
        yield lines, shape
        if not tokens:
            shape = None  # only comments and blank lines so far


def plain_layout(
    content: Content, kind: Kind, layout: ColumnOrder, dialect: Dialect, reading: Reading = Reading()
) -> Layout | None:
    """The layout for the kernel to read the lines; None if the first line is a header or has a different width.

    The kernel reads the same rows as `read_rows`, or gives up.
    """
    refuse_other_files(content)
    head = content.head[: content.head.rfind(b"\n") + 1] or content.head
    tokens = first_data_line(head.removeprefix(BYTE_ORDER_MARK), comments=dialect.comments)[1].split()
    shape = _shape(tokens, kind, layout, dialect)
    fits = len(tokens) == shape.width or (shape.or_more and len(tokens) > len(layout))
    if not fits or (dialect.headers and is_header(list(map(decoded, tokens)), kind, reading)):
        return None
    if reading.columns:
        _refuse_no_header(kind, content.name, reading, " ".join(map(decoded, tokens)))
    return _kernel_layout(shape, dialect, whole_values=kind == "qrels" and dialect.whole_grades)


def _kernel_layout(shape: Shape, dialect: Dialect, *, whole_values: bool = False) -> Layout:
    place = {role: number for number, role in enumerate(shape.layout)}
    return Layout(
        query=place["query"],
        doc=place["doc"],
        value=place.get("rel", place.get("score", -1)),
        rank=place.get("rank", -1),
        tag=place.get("tag", -1),
        width=len(shape.layout) if shape.or_more else shape.width,
        or_more=shape.or_more,
        blank_lines=shape.blank_lines,
        comments=shape.comments,
        stray_returns=dialect.stray_returns,
        keep_mark=dialect.byte_order_mark,
        whole_values=whole_values,
    )


def plain_rows(chunk: Chunk, shape: Shape, dialect: Dialect, *, as_text: bool = True) -> PlainRows | None:
    """The rows of a chunk of a run by the kernel; None if it is not there, or any line is not a plain row.

    Documents are text, or else bytes.
    """
    if not enabled() or limit("line") < LIMITS["line"].usual:
        return None
    found = read_columns(chunk.data, _kernel_layout(shape, dialect), as_text=as_text)
    if found is None or not len(found) or len(found) != count_lines(chunk.data):
        return None  # without rows, there is a header only
    if "score" not in shape.layout and found.rank.min() < 1:
        return None
    return PlainRows(found, shape.layout, chunk.line)


def data_lines(chunk: Chunk, *, comments: bool) -> Iterator[tuple[int, list[bytes]]]:
    """Number and columns of each line except comments; a blank line has no columns."""
    for number, line in enumerate(lines_of(chunk.data), chunk.line):
        if not (comments and line.startswith(b"#")):
            yield number, line.split()


def _refuse_strays(chunk: Chunk, content: Content, dialect: Dialect) -> None:
    refuse_old_mac_lines(chunk, content)
    if not dialect.stray_returns:
        refuse_bare_returns(chunk, content)
    if not dialect.byte_order_mark:
        refuse_inner_mark(chunk, content)


def _shape(first: list[bytes], kind: Kind, layout: ColumnOrder, dialect: Dialect) -> Shape:
    longer = kind == "run" and len(layout) == 6  # only TREC runs may have extra columns
    fits = len(first) == len(layout) or (longer and len(first) > len(layout))
    return Shape(
        layout=layout,
        width=len(first) if fits else len(layout),
        measure=f"the lines before have {len(first)}" if fits else _expected(layout),
        or_more=longer and not dialect.equal_widths,
        blank_lines=kind == "run" or dialect.blank_qrels_lines,
        comments=dialect.comments,
    )


def _expected(layout: ColumnOrder) -> str:
    return f"expected {len(layout)} ({' '.join(WORDS.get(role, role) for role in layout)})"


def header_shape(
    names: list[str], kind: Kind, source: str, line: int, shape: Shape, reading: Reading = Reading()
) -> Shape:
    """The shape of the lines after a header."""
    roles = find_roles(names, kind, source, line=line, reading=reading)
    by_place = {place: role for role, places in roles.items() for place in places}
    if len(by_place) < len(roles) or any(len(places) > 1 for places in roles.values()):
        raise InputError(
            "columns can be joined, or used twice, only in tables with commas or tabs, in JSON and in Parquet. "
            "Write the file as CSV.",
            source=source,
            line=line,
        )
    layout = tuple(by_place.get(place, "") for place in range(len(names)))
    return Shape(layout, len(names), f"the header has {len(names)}", False, shape.blank_lines, shape.comments)


def _refuse_no_header(kind: Kind, source: str, reading: Reading, first: str) -> None:
    from assay.formats.chosen import refuse_no_header

    refuse_no_header(kind, source, reading, first)


def _after_line(chunk: Chunk, line: int) -> Chunk:
    count = line - chunk.line + 1
    return Chunk(chunk.data.split(b"\n", count)[count], line + 1)


def _from_first_row(chunk: Chunk, dialect: Dialect) -> Chunk:
    """The chunk without the comments at its start, such as those that say how a run was made."""
    if not (dialect.comments and chunk.data.startswith(b"#")):
        return chunk
    number, _ = first_data_line(chunk.data)
    return _after_line(chunk, chunk.line + number - 1) if number else chunk


def even_rows(chunk: Chunk, shape: Shape) -> Rows | None:
    """All rows at once if every line has the same width, else None."""
    data = chunk.data
    if shape.comments and (data.startswith(b"#") or b"\n#" in data):
        data = re.sub(_COMMENT_LINES, b"", data)
    tokens = data.split()
    if not _one_blank_apart(data, len(tokens), shape.width):
        widths = set(line_widths(data).tolist())
        if not widths <= ({0, shape.width} if shape.blank_lines else {shape.width}):
            return None
    return Rows(tokens, shape.layout, shape.width, lambda: _line_numbers(chunk, shape, len(tokens) // shape.width))


def _one_blank_apart(data: bytes, tokens: int, width: int) -> bool:
    """Whether all lines certainly have this width, judged quickly by the whitespace alone.

    A line with width - 1 separators has at most width tokens; if there are width times as many tokens as lines, every
    line has exactly width tokens. If False, the widths may still be equal.
    """
    lines = tokens // width
    blanks = data.translate(None, _NOT_BLANK)
    first = blanks[: blanks.find(b"\n") + 1]
    line_end = b"\r\n" if first.endswith(b"\r\n") else b"\n"
    as_many = tokens == width * lines and len(first) - len(line_end) == width - 1 and blanks == first * lines
    return as_many and (line_end == b"\n" or data.count(line_end) == lines)


def line_widths(data: bytes) -> Integers:
    r"""The number of columns of each line.

    >>> line_widths(b"a b\n\n c\td  e\r\n").tolist()
    [2, 0, 3]
    """
    is_blank = np.zeros(256, bool)
    is_blank[list(_BLANKS)] = True
    characters = np.frombuffer(data, np.uint8)
    blank = is_blank[characters]
    starts = ~blank
    starts[1:] &= blank[:-1]
    ends = np.flatnonzero(characters == ord("\n"))
    return np.diff(np.searchsorted(np.flatnonzero(starts), ends), prepend=0)


def _uneven_rows(chunk: Chunk, shape: Shape, problems: Problems) -> Rows:
    """The rows with the right width, cut to the layout; the others are added to `problems`."""
    kept: list[bytes] = []
    numbers: list[int] = []
    for number, tokens in data_lines(chunk, comments=shape.comments):
        if len(tokens) == shape.width or (shape.or_more and len(tokens) >= len(shape.layout)):
            kept += tokens[: len(shape.layout)]
            numbers.append(number)
        elif tokens:
            advice = _TOO_SHORT if len(tokens) < len(shape.layout) else _TOO_LONG
            problems.add(f"line has {_columns(len(tokens))}, {shape.measure}", advice, line=number)
        elif not shape.blank_lines:
            problems.add("the line is blank", _EMPTY_LINE_ADVICE, line=number)
    return Rows(kept, shape.layout, len(shape.layout), lambda: numbers)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _line_numbers(chunk: Chunk, shape: Shape, rows: int) -> Sequence[int]:
    if chunk.data.count(b"\n") == rows:
        return range(chunk.line, chunk.line + rows)
    return [number for number, tokens in data_lines(chunk, comments=shape.comments) if tokens]
