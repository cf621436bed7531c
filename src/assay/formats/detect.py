"""Detect the format of a file from its first bytes and its first line. Does not read values."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.errors import FormatError, show_id
from assay.formats.names import Kind, is_header
from assay.formats.numbers import number
from assay.formats.readings import Reading
from assay.formats.sources import HEAD_SIZE, LONGEST_HEAD, Content
from assay.formats.text import (
    BYTE_ORDER_MARK,
    Chunk,
    decoded,
    first_data_line,
    refuse_old_mac_lines,
    refuse_other_files,
)

_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_DELIMITERS = {"\t": "tsv", ",": "csv", ";": "csv"}
_JSON = rb'\{\s*["}]|\[\s*[\[{\]"]'
_NESTED_JSON = rb'\{\s*(?:"(?:[^"\\]|\\.)*"\s*:\s*\{|\})'
# number of columns -> format, and index of the column that must be a number
_WIDTHS: dict[Kind, dict[int, tuple[str, int]]] = {
    "qrels": {3: ("beir", 2), 4: ("trec", 3)},
    "run": {3: ("msmarco", 2), 6: ("trec", 4)},
}
_EXPECTED: dict[Kind, str] = {
    "qrels": "TREC qrels have 4 (query iteration document grade), BEIR qrels have 3 (query document grade)",
    "run": "a TREC run has 6 (query Q0 document rank score tag), an MS MARCO run has 3 (query document rank)",
}
_SWAPPED: dict[tuple[Kind, int], str] = {
    ("run", 4): " Four columns look like qrels: are qrels and run swapped?",
    ("qrels", 6): " Six columns look like a run: are qrels and run swapped?",
}


def detect_format(content: Content, kind: Kind, formats: Iterable[str], reading: Reading | None = None) -> str:
    """The name of the format; raises an error that lists all formats if it is unknown."""
    for magic, name in _MAGIC.items():
        if content.head.startswith(magic):
            return name
    refuse_other_files(content)
    line = _opening(content)
    text = content.head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text.startswith((b"{", b"[")) and re.match(_JSON, text):
        return _json_format(text, content)
    refuse_old_mac_lines(Chunk(content.head, 1), content)
    if not line:
        return "trec"  # only comments so far: the TREC reader reports an empty file
    found = (
        _ranklib(line)
        or _delimited_with_header(line, kind, reading)
        or _by_blanks(line, kind, reading)
        or _delimited(line)
    )
    if found is None:
        raise FormatError(_unknown(line, kind, formats), source=content.name)
    if found == "trec":
        _refuse_blank_between_tabs(line, kind, content)
    return found


def _json_format(text: bytes, content: Content) -> str:
    """JSON Lines if the first line is a whole record and its values are plain or another one follows, else JSON."""
    first, _, rest = text.partition(b"\n")
    if not text.startswith(b"{") or not first.rstrip().endswith(b"}"):
        return "json"
    if not re.match(_NESTED_JSON, text):
        return "jsonl"
    while not rest.strip() and content.look_further():
        rest = content.head.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[2]
    return "jsonl" if rest.lstrip().startswith(b"{") else "json"


def _opening(content: Content) -> str:
    """The first line with data; extends the head until the line is complete."""
    while True:
        head = content.head.removeprefix(BYTE_ORDER_MARK)
        _, line = first_data_line(head[: head.rfind(b"\n") + 1])
        if line or not content.look_further():
            line = line or first_data_line(head)[1]
            # A line that is longer than the head is refused later, or is JSON, which needs no look at it.
            return decoded((line if len(head) < LONGEST_HEAD else line[:HEAD_SIZE]).strip())


def _ranklib(line: str) -> str | None:
    return "ranklib" if "qid:" in line and "".join(line.split()[1:2]).startswith("qid:") else None


def _delimited_with_header(line: str, kind: Kind, reading: Reading | None) -> str | None:
    given = {delimiter: name for delimiter, name in _DELIMITERS.items() if delimiter in line}
    if not given:
        return None
    from assay.formats.delimited import fields

    return next((name for delimiter, name in given.items() if is_header(fields(line, delimiter), kind, reading)), None)


def _by_blanks(line: str, kind: Kind, reading: Reading | None) -> str | None:
    columns = _columns(line)
    if is_header(columns, kind, reading) and len(columns) > 1:
        return "trec"  # the header names the columns
    if all(column.endswith((",", ";")) for column in columns[:-1]) and len(columns) > 1:
        return "csv"  # with a space after each comma
    if kind == "run" and line.count("\t") > 1 and all(number(column) is None for column in columns):
        return "tsv"  # every row of a run has a number, so this can only be a header with unknown names
    name, value = _WIDTHS[kind].get(min(len(columns), 6), ("", 0))
    if not name or (number(columns[value]) is None and _delimited(line)):
        return None
    return name


class BlankInColumn(FormatError):
    """The first line has other columns if it is split at tabs alone."""


def _refuse_blank_between_tabs(line: str, kind: Kind, content: Content) -> None:
    """Raise an error if splitting at tabs and splitting at whitespace give two different valid formats.

    A TREC run with six columns would be one with seven, BEIR qrels with three would be TREC qrels with four.
    """
    columns = [column for column in line.split("\t") if _columns(column)]
    if len(columns) == (6 if kind == "run" else 3) < len(_columns(line)):
        field = next(column for column in columns if len(_columns(column)) > 1)
        raise BlankInColumn(
            f"'{show_id(field)}' is between tabs but contains a space, which also separates columns. "
            "Remove the space, or write TSV with a header line, where ids may contain spaces.",
            source=content.name,
        )


def _delimited(line: str) -> str | None:
    names = (name for delimiter, name in _DELIMITERS.items() if delimiter != "\t" and line.count(delimiter) > 1)
    return next(names, None)


def _columns(line: str) -> list[str]:
    """The columns separated by C's whitespace; other whitespace, such as the no-break space, is part of a column."""
    return [decoded(column) for column in line.encode("utf-8", "surrogateescape").split()]


def _unknown(line: str, kind: Kind, formats: Iterable[str]) -> str:
    width = len(_columns(line))
    return (
        f"unknown format. The first line has {width} {'column' if width == 1 else 'columns'}: "
        f"'{show_id(line)}'; {_EXPECTED[kind]}.{_SWAPPED.get((kind, min(width, 6)), '')} "
        f"Choose a format with `read_{kind}(input_format=)`: {', '.join(formats)}."
    )
