"""CSV and TSV with a header line, quoted as in RFC 4180. Whitespace around a field is ignored."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from assay.errors import FormatError, InputError, show_id
from assay.formats.columns import Columns, qrels_from_columns, run_from_columns
from assay.formats.names import HEADERS, Kind, Roles, find_roles, is_header
from assay.formats.numbers import number
from assay.formats.problems import Problems
from assay.formats.quepid import TEXT, is_quepid, rows_with_values
from assay.formats.queries import with_ids
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.formats.text import (
    BYTE_ORDER_MARK,
    NO_DATA,
    decoded,
    line_chunks,
    refuse_old_mac_lines,
    refuse_other_files,
)
from assay.native.index import Layout
from assay.tables import Qrels, Run

_LONGEST_FIELD = 2**31 - 1
_BATCH = 500  # rows: few enough to be freed before the garbage collector scans them


def qrels_from_delimited(content: Content, delimiters: tuple[str, ...], reading: Reading) -> Qrels:
    """Qrels from a table with one of these delimiters."""
    return qrels_from_columns(_columns(content, "qrels", delimiters, reading), reading.grades)


def run_from_delimited(content: Content, delimiters: tuple[str, ...], reading: Reading) -> Run:
    """A run from a table with one of these delimiters."""
    return run_from_columns(_columns(content, "run", delimiters, reading), content.stem)


def plain_tsv_layout(content: Content, kind: Kind, reading: Reading) -> Layout | None:
    """The layout for the kernel to read a tab-separated table; None if the first line is not a header.

    The kernel gives up if a field is empty or contains a space or a quote.
    """
    refuse_other_files(content)
    first, feed, _ = content.head.removeprefix(BYTE_ORDER_MARK).partition(b"\n")
    names = fields(decoded(first.removesuffix(b"\r")), "\t")
    if not feed or not is_header(names):
        return None
    try:
        roles = find_roles(names, kind, content.name, line=1)
    except InputError:
        return None  # the Python reader reports it, or a more serious error
    if reading.queries.by_text and not names[roles["query"]].casefold().endswith("id"):
        return None  # the column may contain the texts of queries
    return Layout(
        query=roles["query"],
        doc=roles["doc"],
        value=roles.get("rel" if kind == "qrels" else "score", -1),
        rank=roles.get("rank", -1),
        tag=roles.get("tag", -1),
        width=len(names),
        comments=False,
        header=True,
        tabs_only=True,
    )


def fields(line: str, delimiter: str) -> list[str]:
    """The fields of one line.

    >>> fields('query_id, doc_id,"score, of BM25"', ",")
    ['query_id', 'doc_id', 'score, of BM25']
    """
    import csv  # only needed for these formats

    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except (csv.Error, StopIteration):
        return []


def _columns(content: Content, kind: Kind, delimiters: tuple[str, ...], reading: Reading) -> Columns:
    import csv

    csv.field_size_limit(_LONGEST_FIELD)  # global setting; by default a field over 128 kB is an error
    lines = _text_lines(content)
    skipped, header = _header(lines, content)
    delimiter = max(delimiters, key=header.count)
    names = fields(header, delimiter)
    _refuse_no_header(names, kind, delimiter, skipped + 1, content)
    roles = find_roles(names, kind, content.name, line=skipped + 1)
    problems = Problems(content.name)
    rows = _numbered_rows(chain([header], lines), delimiter, skipped, content)
    next(rows)
    if is_quepid(names):
        rows = rows_with_values(rows, names, kind)
    columns = _by_role(rows, roles, len(names), content, problems)
    problems.refuse()
    return with_ids(columns, reading, sure=TEXT in names)


def _text_lines(content: Content) -> Iterator[str]:
    for chunk in line_chunks(content):
        refuse_old_mac_lines(chunk, content)
        for line in decoded(chunk.data).split("\n")[:-1]:
            yield line + "\n"


def _header(lines: Iterator[str], content: Content) -> tuple[int, str]:
    """The number of leading blank and comment lines, and the line after them."""
    for skipped, line in enumerate(lines):
        if line.strip() and not line.startswith("#"):
            return skipped, line
    raise InputError(NO_DATA, source=content.name)


def _refuse_no_header(names: list[str], kind: Kind, delimiter: str, line: int, content: Content) -> None:
    if is_header(names) or (len(names) > 1 and all(number(name) is None for name in names)):
        return
    example = HEADERS[kind].replace(",", "<tab>" if delimiter == "\t" else delimiter)
    shown = show_id(delimiter.join(names))
    raise FormatError(
        f"the first line is not a header: '{shown}'. Add a line of column names, for example {example}",
        source=content.name,
        line=line,
    )


def _numbered_rows(
    lines: Iterator[str], delimiter: str, skipped: int, content: Content
) -> Iterator[tuple[int, list[str]]]:
    import csv

    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if row:
                yield skipped + reader.line_num, row
    except csv.Error as error:
        raise InputError(
            f"{error}. A field that starts with a quote must end with one; double any quotes inside it.",
            source=content.name,
            line=skipped + reader.line_num,
        ) from error


def _by_role(
    rows: Iterator[tuple[int, list[str]]], roles: Roles, width: int, content: Content, problems: Problems
) -> Columns:
    from array import array

    by_role: dict[str, list[str]] = {role: [] for role in roles}
    lines = array("q")
    while batch := list(islice(rows, _BATCH)):
        good = [(line, row) for line, row in batch if len(row) == width]
        if len(good) < len(batch):
            _report_widths(batch, width, problems)
        for role, place in roles.items():
            by_role[role] += [row[place].strip(" \t") for _, row in good]
        lines.extend([line for line, _ in good])
    return Columns(content.name, dict(by_role), lines)


def _report_widths(batch: list[tuple[int, list[str]]], width: int, problems: Problems) -> None:
    for line, row in batch:
        if len(row) != width:
            problems.add(
                f"line has {len(row)} {'field' if len(row) == 1 else 'fields'}, the header has {width}",
                "Quote fields that contain the delimiter.",
                line=line,
            )
