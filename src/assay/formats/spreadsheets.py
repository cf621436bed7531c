"""Texts that a spreadsheet would run as formulas, and tables without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
from msgspec.structs import replace

from assay.errors import InputError, show_id
from assay.formats.sheets import BLOCK, TEXT_ROLES, Sheet

DELIMITED = ("csv", "tsv")  # formats that people open in spreadsheets
# What begins a formula, also in full width; what may stand before it; and where a spreadsheet may split a line,
# which depends on its language.
_SIGN, _BLANK, _SPLIT = "[=+@＝＋－＠-]", r'(?:(?![\t\r\n])[\s\0"])*', r"[,;\t\r\n]"
_START = re.compile(rf"(?:^|(?<={_SPLIT})){_BLANK}(?={_SIGN})|^(?=[\t\r\n\0])")
_ANY_START = re.compile(rf"{_SPLIT}{_BLANK}{_SIGN}|\n[\t\r\n\0]")  # in texts with a newline before each


def as_text(text: str) -> str:
    """The text with an apostrophe before whatever a spreadsheet would run.

    >>> as_text("=1+1"), as_text("-5"), as_text("a;@b"), as_text("a-b")
    ("'=1+1", "'-5", "a;'@b", 'a-b')
    """
    return _START.sub(r"'\g<0>", text)


def all_as_text(sheet: Sheet) -> Sheet:
    """A table whose texts a spreadsheet takes as they are; numbers stay numbers."""
    columns = {
        role: np.array([as_text(text) for text in column.tolist()], object) if role in TEXT_ROLES else column
        for role, column in sheet.columns.items()
    }
    constants = {role: as_text(text) for role, text in sheet.constants.items()}
    return replace(sheet, queries=tuple(map(as_text, sheet.queries)), columns=columns, constants=constants)


def notes_on_formulas(texts: Iterable[str]) -> Iterator[str]:
    """A note if a spreadsheet would run one of these texts."""
    found = next((text for text in texts if as_text(text) != text), None)
    if found is not None:
        yield (
            f"a spreadsheet would run '{show_id(found)}' as a formula. To open the file in one, write it with "
            "`spreadsheet=True`."
        )


def notes_on_sheet(sheet: Sheet) -> Iterator[str]:
    """The same for a table, block by block: most blocks have no such text."""
    yield from notes_on_formulas(text for block in _suspect_blocks(sheet) for text in block)


def _suspect_blocks(sheet: Sheet) -> Iterator[list[str]]:
    yield list(sheet.queries)
    for role in set(sheet.roles) & set(TEXT_ROLES) - {"query"}:
        if role not in sheet.columns:
            yield [sheet.constants[role]]
            continue
        for start in range(0, len(sheet), BLOCK):
            texts = sheet.texts(role, slice(start, start + BLOCK))
            if _ANY_START.search("\n" + "\n".join(texts)):
                yield texts


def refuse_other_format(to: str) -> None:
    """Raise an error for a format that no spreadsheet is meant to open."""
    if to not in DELIMITED:
        raise InputError(f"`spreadsheet=True` is for {' and '.join(DELIMITED)}, not for {to}; leave it out.")
