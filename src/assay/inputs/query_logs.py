r"""Read a log of queries: one query per line, or a table with counts. Large logs stream; only different texts are kept.

>>> from assay.formats.sources import open_text
>>> with open_text("red shoes\nRed  shoes\nlaces\nred shoes\n", "log") as content:
...     query_log_from_text(content).counts
{'red shoes': 3.0, 'laces': 1.0}
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.numbers import no_number, number, real
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import BYTE_ORDER_MARK, NO_DATA, decoded, first_data_line, line_chunks, refuse_old_mac_lines
from assay.inputs.fields import Columns, Fields, Flaw, Names, folded, is_table, scan_records
from assay.weighting.sampling import LARGEST

Normalise = Literal["case", "blanks", "none"]

QUERY_NAMES = ("query", "text", "q", "search", "search_term", "query_text", "keyword")
COUNT_NAMES = ("count", "counts", "frequency", "freq", "n", "hits", "searches", "volume")
NAMES: Names = {"query": QUERY_NAMES, "count": COUNT_NAMES}
_ALONE = ("query", "query_text", "search_term")  # the header of a single column; the others may be searches


class QueryLog(Struct, frozen=True, eq=False):
    """How often each query was asked."""

    counts: dict[str, float]
    source: str
    normalise: Normalise
    merged: int  # spellings that were counted with another one
    unasked: int  # queries with a count of 0, which are left out


def read_query_log(source: Source, *, columns: Columns | None = None, normalise: Normalise = "case") -> QueryLog:
    """Read how often each query was asked.

    One query per line, repeated as often as it was asked; or query and count separated by a tab; or a table (TSV, CSV, JSON
    Lines, Parquet) with a header that has a column query and optionally one count. `columns` gives their names: {"query":
    "term", "count": "searches"}. By default, texts that differ only in case and blanks are one query, written as it was
    asked most often; `normalise` can be "blanks" or "none".
    """
    with open_source(source) as content:
        return query_log_from_text(content, columns=columns, normalise=normalise)


def query_log_from_text(content: Content, *, columns: Columns | None = None, normalise: Normalise = "case") -> QueryLog:
    """The queries of a content, in the order in which they first occur."""
    if normalise not in get_args(Normalise):
        raise InputError(f"normalise cannot be {normalise!r}; it takes {', '.join(get_args(Normalise))}.")
    if columns or _has_names(content):
        spellings = _of_records(content, columns)
    else:
        spellings = _of_counted(content) if _is_counted(content) else _of_lines(content)
    asked = {text: float(count) for text, count in spellings.items() if count and not _is_blank(text)}
    if not asked:
        raise InputError(NO_DATA, source=content.name)
    counts = asked if normalise == "none" else _normalised(asked, fold=normalise == "case")
    unasked = sum(not count for text, count in spellings.items() if not _is_blank(text))
    return QueryLog(counts, content.name, normalise, len(asked) - len(counts), unasked)


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _normalised(spellings: Mapping[str, float], *, fold: bool) -> dict[str, float]:
    """The counts of texts without differences in blanks, and in case with `fold`; the most frequent spelling is kept."""
    found: dict[str, list[Any]] = {}  # [total, count of the spelling, spelling]
    for spelling, count in spellings.items():
        text = " ".join(spelling.split())
        key = text.casefold() if fold else text
        known = found.get(key)
        if known is None:
            found[key] = [count, count, text]
            continue
        known[0] += count
        if (count, known[2]) > (known[1], text):  # of two that are equally frequent, the first in the alphabet
            known[1:] = count, text
    return {text: total for total, _, text in found.values()}


# The form of a log


def _first_line(content: Content) -> str:
    return decoded(first_data_line(content.head.removeprefix(BYTE_ORDER_MARK), comments=False)[1]).rstrip("\r")


def _has_names(content: Content) -> bool:
    """Whether the content is a table with named columns: Parquet, JSON Lines, or text with a header."""
    if is_table(content):
        return True
    first = _first_line(content)
    if first.lstrip().startswith(("{", "[")):
        try:
            return isinstance(json.loads(first), (dict, list))
        except (ValueError, RecursionError):
            return False
    if first.strip().casefold() in _ALONE:
        return True
    by_tab, *others = ([folded(name.strip(' "')) for name in first.split(mark)] for mark in "\t,;")
    queries, counts = ({folded(name) for name in names} for names in (QUERY_NAMES, COUNT_NAMES))
    if len(by_tab) > 1:
        return any(name in queries for name in by_tab)
    return any(queries & set(names) and counts & set(names) for names in others)  # commas occur in searches, too


def _is_counted(content: Content) -> bool:
    """Whether each line ends with a tab and a number, as far as the head shows."""
    lines = decoded(content.head.removeprefix(BYTE_ORDER_MARK)).split("\n")
    lines = [line for line in lines[: max(len(lines) - 1, 1)] if line.strip()]
    return bool(lines) and all("\t" in line and number(line.rpartition("\t")[2].strip()) is not None for line in lines)


# Reading


def _of_lines(content: Content) -> Mapping[str, float]:
    """How often each line occurs."""
    found: Counter[str] = Counter()
    for text, first in _pieces(content):
        if "\t" in text:
            raise InputError(
                "the line has a tab, but the log has no header and no count at the end of each line. Give one query per "
                "line, query and count separated by a tab, or a header: query<TAB>count.",
                source=content.name,
                line=first + text.count("\n", 0, text.index("\t")),
            )
        found.update(text.split("\n"))
    return found


def _of_counted(content: Content) -> Mapping[str, float]:
    """The sum of the counts that follow each query after a tab."""
    found: dict[str, float] = {}
    for text, first in _pieces(content):
        for line, row in enumerate(text.split("\n"), first):
            query, tab, count = row.rpartition("\t")
            if tab:
                found[query] = found.get(query, 0.0) + _count(count.strip(), content.name, line)
            elif not _is_blank(row):
                raise InputError(
                    "the line has no count after a tab, as the first lines have", source=content.name, line=line
                )
    return found


def _pieces(content: Content) -> Iterator[tuple[str, int]]:
    """The text in pieces of whole lines, with the number of the first line of each."""
    for chunk in line_chunks(content):
        refuse_old_mac_lines(chunk, content)
        yield decoded(chunk.data.replace(b"\r\n", b"\n")), chunk.line


def _of_records(content: Content, columns: Columns | None) -> Mapping[str, float]:
    """The sum of the counts of each query, from rows with named columns; without a count, each row is one search."""
    fields = Fields(NAMES, columns, required=("query", *(["count"] if "count" in (columns or {}) else [])))
    found: dict[str, float] = {}
    for record in scan_records(content):
        if isinstance(record, Flaw):
            raise record.error(content.name)
        if flaw := fields.lack(record):
            raise flaw.error(content.name)
        query = fields.text(record, "query")
        if isinstance(query, Flaw):
            raise query.error(content.name)
        given = fields.value(record, "count") if fields.has("count") else 1
        count = _count(given.strip() if isinstance(given, str) else given, content.name, record.line, record.number)
        found[query] = found.get(query, 0.0) + count
    return found


def _count(given: Any, source: str, line: int | None, row: int | None = None) -> float:
    """A number of searches."""
    if isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 16:  # nearly always
        return int(given)
    value = number(given) if isinstance(given, str) else real(given)
    if value is not None and 0 <= value <= LARGEST:
        return value
    shown = f"'{show_id(str(given))}'"
    why = no_number(given) if value is None else f"{shown} is {'negative' if value < 0 else 'too large'}"
    where = f" (row {row})" if line is None and row is not None else ""
    raise InputError(
        f"the count {why}{where}; a count is a number of searches, 0 or more. Fix or remove it.",
        source=source,
        line=line,
    )
