"""CSV and TSV with a header line, quoted as in RFC 4180. Whitespace around a field is ignored."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from assay.errors import FormatError, InputError, show_id
from assay.formats.columns import Columns, by_role, qrels_from_columns, run_from_columns
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

    The kernel gives up if a field is empty or contains a space or a quote. It does not join columns.
    """
    refuse_other_files(content)
    first, feed, _ = content.head.removeprefix(BYTE_ORDER_MARK).partition(b"\n")
    names = fields(decoded(first.removesuffix(b"\r")), "\t")
    if not feed or not is_header(names, kind, reading):
        return None
    try:
        roles = find_roles(names, kind, content.name, line=1, reading=reading)
    except InputError:
        return None  # the Python reader reports it, or a more serious error
    if any(len(places) > 1 for places in roles.values()):
        return None
    place = {role: places[0] for role, places in roles.items()}
    if reading.queries.by_text and not names[place["query"]].casefold().endswith("id"):
        return None  # the column may contain the texts of queries
    return Layout(
        query=place["query"],
        doc=place["doc"],
        value=place.get("rel" if kind == "qrels" else "score", -1),
        rank=place.get("rank", -1),
        tag=place.get("tag", -1),
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
    _refuse_no_header(names, kind, delimiter, skipped + 1, content, reading)
    roles = find_roles(names, kind, content.name, line=skipped + 1, reading=reading)
    problems = Problems(content.name)
    rows = _numbered_rows(chain([header], lines), delimiter, skipped, content)
    next(rows)
    if is_quepid(names):
        rows = rows_with_values(rows, names, kind)
    columns = _read_columns(rows, roles, len(names), content, problems)
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


def _refuse_no_header(
    names: list[str], kind: Kind, delimiter: str, line: int, content: Content, reading: Reading
) -> None:
    if is_header(names, kind, reading) or (len(names) > 1 and all(number(name) is None for name in names)):
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


def _read_columns(
    rows: Iterator[tuple[int, list[str]]], roles: Roles, width: int, content: Content, problems: Problems
) -> Columns:
    from array import array

    needed = {place for places in roles.values() for place in places}
    by_place: dict[int, list[str]] = {place: [] for place in sorted(needed)}
    lines = array("q")
    while batch := list(islice(rows, _BATCH)):
        good = [(line, row) for line, row in batch if len(row) == width]
        if len(good) < len(batch):
            _report_widths(batch, width, problems)
        for place, column in by_place.items():
            column += [row[place].strip(" \t") for _, row in good]
        lines.extend([line for line, _ in good])
    return Columns(content.name, by_role(roles, by_place.__getitem__), lines)


def _report_widths(batch: list[tuple[int, list[str]]], width: int, problems: Problems) -> None:
    for line, row in batch:
        if len(row) != width:
            problems.add(
                f"line has {len(row)} {'field' if len(row) == 1 else 'fields'}, the header has {width}",
                "Quote fields that contain the delimiter.",
                line=line,
            )
