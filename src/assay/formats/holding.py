"""Which ids each format can store: an id that would not read back unchanged is an error before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.lines import ColumnOrder
from assay.formats.sheets import BLOCK, TEXT_ROLES, Sheet

WORDS = {"query": "query id", "doc": "document id", "iteration": "iteration", "tag": "tag"}  # in messages


class Bar(Struct, frozen=True):
    """A reason why a text would not read back unchanged."""

    pattern: str
    why: str  # {format} is replaced by the name of the format
    roles: tuple[str, ...] = TEXT_ROLES


Bars: TypeAlias = tuple[Bar, ...]

_HARMLESS = re.compile("[!$-~]*")  # characters that no bar has: visible ASCII except quotes and #

_IDS = ("query", "doc")
_EVERYWHERE = (
    Bar(r"\A\Z", "is empty", _IDS),
    Bar("[\ud800-\udc7f\udd00-\udfff]", "contains a lone surrogate (half a character)"),
)
_NUL = Bar("\0", "contains a NUL byte, which {format} files do not allow")
IN_COLUMNS: Bars = (
    *_EVERYWHERE,
    _NUL,
    Bar(r"\A\Z", "is empty, but {format} files need a value in every column", ("iteration", "tag")),
    Bar("[ \t\n\r\v\f]", "contains whitespace, which separates columns in {format} files"),
    Bar(r"\A#", "starts with #, which makes its line a comment in {format} files", ("query",)),
    Bar("\\A\ufeff", "starts with a byte order mark, which is not part of an id in {format} files", ("query",)),
)
IN_BEIR: Bars = (*IN_COLUMNS, Bar(r'\A"', "starts with a quote, which some readers of {format} files remove"))
IN_DELIMITED: Bars = (
    *_EVERYWHERE,
    _NUL,
    Bar(r"\A[ \t]|[ \t]\Z", "starts or ends with whitespace, which {format} readers ignore"),
)
IN_UNICODE: Bars = (*_EVERYWHERE, Bar("[\udc80-\udcff]", "is not UTF-8, which {format} files require"))


def refuse_ids(sheet: Sheet, layout: ColumnOrder, name: str, bars_of: Callable[[str], Mapping[str, Bars]]) -> None:
    """Raise an error if the table has a text that the format cannot store, and list the formats that can.

    `bars_of` returns the formats that have a column for a role, and the bars of each.
    """
    for role in layout:
        if role in TEXT_ROLES:
            bars_by_format = bars_of(role)
            rows = _barred_rows(sheet, role, _any_of(bars_by_format[name], role))
            if rows:
                raise _refusal(sheet, role, rows, name, bars_by_format)


def _barred_rows(sheet: Sheet, role: str, pattern: re.Pattern[str]) -> Sequence[int]:
    search = pattern.search
    if role == "query":
        codes = [code for code, query in enumerate(sheet.queries) if search(query)]
        return np.flatnonzero(np.isin(sheet.query, codes)).tolist() if codes else []
    if role not in sheet.columns:
        return range(len(sheet)) if search(sheet.constants[role]) else []
    return [
        row for start, texts in _doubtful_blocks(sheet, role) for row, text in enumerate(texts, start) if search(text)
    ]


def _doubtful_blocks(sheet: Sheet, role: str) -> Iterator[tuple[int, list[str]]]:
    """The first row and the texts of each block that may have a barred one: looking at a whole block at once is fast."""
    for start in range(0, len(sheet), BLOCK):
        texts = sheet.texts(role, slice(start, start + BLOCK))
        if not (all(texts) and _HARMLESS.fullmatch("".join(texts))):
            yield start, texts


@cache
def _any_of(bars: Bars, role: str) -> re.Pattern[str]:
    return re.compile("|".join(bar.pattern for bar in bars if role in bar.roles))


def _refusal(sheet: Sheet, role: str, rows: Sequence[int], name: str, bars_by_format: Mapping[str, Bars]) -> InputError:
    row = rows[0]
    text, query = sheet.texts(role, slice(row, row + 1))[0], sheet.queries[sheet.query[row]]
    why = next(bar.why for bar in bars_by_format[name] if role in bar.roles and re.search(bar.pattern, text))
    what = f"{WORDS[role]} '{show_id(text)}' {why.format(format=name)}"
    if role == "tag":
        return InputError(f"the {what}. Set another with `tag=`.", source=sheet.source)
    place = "" if role == "query" else f"query {show_id(query)}; "
    others = [other for other, bars in bars_by_format.items() if not _any_of(bars, role).search(text)]
    advice = f"Write {listed(others)} instead, or change it." if others else "No format can store it: change it."
    return InputError(
        f"{what} ({place}{len(rows):,} such row{'s' if len(rows) > 1 else ''}). {advice}",
        source=sheet.source,
        line=None if sheet.lines is None else int(sheet.lines[row]),
    )


def listed(names: Iterable[str], word: str = "or") -> str:
    """Names joined for a sentence.

    >>> listed(["csv", "tsv", "json"])
    'csv, tsv or json'
    """
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last
