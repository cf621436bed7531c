"""Rules about bytes, lines and numbers, for both runs and judgments."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import show_id
from assay.formats.names import WORDS
from assay.formats.numbers import number
from assay.formats.text import BYTE_ORDER_MARK, Chunk, decoded, is_utf8, lines_of
from assay.ids import INVISIBLE
from assay.validation.findings import FindingExample
from assay.validation.registry import Said, rule
from assay.words import noun_for

if TYPE_CHECKING:
    from assay.validation.facts import FileFacts
    from assay.validation.reading import OddLine

REGENERATE = "Generate the file again, or repair these lines by hand."
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x00")) + b"\x7f"
_NO_CONTROLS = bytes(set(range(256)) - set(_CONTROLS))
_BARE_RETURN = re.compile(rb"\r(?![\r\n])")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?", re.ASCII)
_UNDERSCORES = re.compile(r"[+-]?\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d+(?:[.,]\d+)*,\d+(?:[eE][+-]?\d+)?", re.ASCII)


def lines_where(chunk: Chunk, holds: Callable[[bytes], object]) -> list[FindingExample]:
    """The lines of a chunk that satisfy a condition."""
    numbered = enumerate(lines_of(chunk.data), chunk.line)
    return [FindingExample(show_id(decoded(line), 100), number) for number, line in numbered if holds(line)]


# Text


@rule(
    "RUN003 QRL003",
    "text",
    "error",
    "the text is UTF-16 or UTF-32",
    fix="Convert the file to UTF-8: iconv -f UTF-16 -t UTF-8 OLD > NEW (--fix does this).",
)
def wide_encoding(chunk: Chunk) -> list[FindingExample]:
    """UTF-16 or UTF-32 text.

    Why: Tools that expect UTF-8 see zero bytes, and find no data or wrong ids. Some Windows editors and spreadsheets
    write these encodings.
    Example: The file starts with the bytes FF FE.
    """
    return []  # reported by the reader, which decodes it


@rule(
    "RUN061 QRL061",
    "text",
    "warning",
    "{count} {line is|lines are} not UTF-8",
    fix="Convert the file to UTF-8, for example with iconv -f LATIN1 -t UTF-8 OLD > NEW. Convert the other files too, "
    "or their ids will not match.",
)
def not_utf8(chunk: Chunk) -> list[FindingExample]:
    r"""Not UTF-8.

    Why: Ids are compared byte by byte. The same id in Latin-1 and in UTF-8 is two ids, so the document counts as not
    retrieved. assay keeps the bytes unchanged.
    Example: d\xe93 in the run, dé3 in the qrels.
    """
    if is_utf8(chunk.data):
        return []
    return lines_where(chunk, lambda line: not is_utf8(line))


@rule(
    "RUN064 QRL064",
    "text",
    "warning",
    "{count} {line contains|lines contain} control characters",
    fix="Find out where they come from, and remove them from all files: they are part of the ids.",
)
def control_characters(chunk: Chunk) -> list[FindingExample]:
    r"""Control characters.

    Why: They are invisible, but change the id. They come from binary data or terminal colours.
    Example: d\x1b[0m1 is not d1.
    """
    if not chunk.data.translate(None, _NO_CONTROLS):
        return []
    return lines_where(chunk, lambda line: line.translate(None, _NO_CONTROLS))


@rule(
    "RUN065 QRL065",
    "text",
    "error",
    "{count} {line contains a NUL byte|lines contain NUL bytes}",
    fix="Find out what was lost there, then remove the NUL bytes: tr -d '\\000' < OLD > NEW.",
)
def nul_bytes(chunk: Chunk) -> list[FindingExample]:
    r"""NUL bytes.

    Why: C programs such as trec_eval treat a NUL byte as the end of the text and silently drop the rest.
    Example: d\x009 is d to trec_eval.
    """
    if b"\0" not in chunk.data:
        return []
    return lines_where(chunk, lambda line: b"\0" in line)


@rule(
    "RUN066 QRL066",
    "text",
    "error",
    "{count} {line has a carriage return|lines have carriage returns} without a line feed",
    fix="Convert old Mac line ends: tr '\\r' '\\n' < OLD > NEW (--fix does this if there are no other line ends).",
)
def carriage_returns(chunk: Chunk) -> list[FindingExample]:
    """Carriage return without a line feed.

    Why: Most programs do not end a line there, so several rows become one and all but the first are lost.
    Example: A file whose lines end with CR alone is read as one line.
    """
    if b"\r" not in chunk.data or not _BARE_RETURN.search(chunk.data):
        return []
    return lines_where(chunk, lambda line: _BARE_RETURN.search(line + b"\n"))


@rule(
    "RUN063 QRL063",
    "text",
    "warning",
    "the file starts with a byte order mark",
    fix="Remove it: sed '1s/^\\xef\\xbb\\xbf//' OLD > NEW (--fix does this).",
)
def byte_order_mark(chunk: Chunk) -> list[FindingExample]:
    r"""Byte order mark at the start of the file.

    Why: assay ignores it, but trec_eval makes it part of the first query id, which then matches nothing.
    Example: The first query is \ufeff51 instead of 51.
    """
    return []  # reported by the reader, which drops it


@rule(
    "RUN071 QRL071",
    "text",
    "error",
    "{count} {line starts|lines start} with a byte order mark in the middle of the file",
    fix="Remove them: --fix OUT --policy blanks=trim.",
)
def inner_marks(chunk: Chunk) -> list[FindingExample]:
    r"""Byte order mark in the middle of the file.

    Why: It is left over from joining files. It is an invisible part of the query id, which then matches nothing.
    Example: Line 1001 starts with \ufeff51.
    """
    if chunk.data.isascii() or BYTE_ORDER_MARK not in chunk.data:
        return []
    return [
        FindingExample("a byte order mark", number)
        for number, line in enumerate(lines_of(chunk.data), chunk.line)
        if line.startswith(BYTE_ORDER_MARK)
    ]


@rule(
    "RUN068 QRL068",
    "text",
    "warning",
    "{count} {line contains|lines contain} invisible characters",
    fix="Remove them from all files: they are part of the ids. --fix OUT --policy blanks=trim removes those around ids.",
)
def invisible_characters(chunk: Chunk) -> list[FindingExample]:
    """Invisible characters.

    Why: No-break spaces, zero-width and similar characters look like nothing or like a space, but they do not separate
    columns, and they change the id.
    Example: d1 followed by a zero-width space is not d1.
    """
    if chunk.data.isascii() or not _INVISIBLE.search(decoded(chunk.data).removeprefix("\ufeff")):
        return []
    return [
        FindingExample(_with_names(decoded(line)), number)
        for number, line in enumerate(lines_of(chunk.data), chunk.line)
        if _INVISIBLE.search(decoded(line).removeprefix("\ufeff"))
    ]


def _with_names(line: str) -> str:
    found = _INVISIBLE.search(line.removeprefix("\ufeff"))
    name = unicodedata.name(found.group(), "a control character") if found else ""
    return f"{show_id(line, 80)} ({name})"


@rule(
    "RUN069 QRL069",
    "text",
    "note",
    "{count} {line ends|lines end} with whitespace",
    fix="Harmless here, but tools that split on single spaces see an extra column. --fix removes it.",
)
def trailing_blanks(chunk: Chunk) -> list[FindingExample]:
    """Trailing whitespace.

    Why: pandas and other tools that split on every space see an extra empty column and reject the file.
    Example: Each line of a run ends with 'sys '.
    """
    text = np.frombuffer(chunk.data, np.uint8)
    if not (text[np.flatnonzero(text == ord("\n")) - 1] <= ord(" ")).any():  # most files, and quick to check
        return []
    return lines_where(chunk, lambda line: line.strip() and line.rstrip(b"\r").endswith((b" ", b"\t")))


# Lines that are not rows: the first rule that matches reports the line.


@rule(
    "RUN008 QRL008",
    "line",
    "warning",
    "the first line is a header",
    fix="Remove it (--fix does this): assay recognises it, but trec_eval reads it as data.",
)
def header(line: OddLine) -> str | None:
    """Header line.

    Why: trec_eval reads it as a row, with a query and a document that do not exist.
    Example: qid iter docno rank score tag
    """
    return None  # reported by the reader, which takes the columns from it


@rule(
    "RUN004 QRL004",
    "line",
    "note",
    "{count} blank {line|lines}",
    fix="Harmless here, but trec_eval rejects qrels with blank lines. --fix removes them.",
)
def blank_line(line: OddLine) -> str | None:
    """Blank lines.

    Why: A blank line may mark a place where something was lost, and trec_eval rejects qrels that contain one.
    Example: An empty line at the end of the file.
    """
    return None if line.tokens else "a blank line"


@rule(
    "RUN007 QRL007",
    "line",
    "error",
    "{count} {line has an id|lines have ids} with whitespace inside",
    fix="Remove the whitespace, or write TSV with a header line (query_id doc_id score), where ids may contain spaces.",
)
def blank_in_id(line: OddLine) -> str | None:
    """Whitespace in an id.

    Why: The columns after it shift, so other programs read the wrong document or score.
    Example: A tab-separated line with the document id 'doc 3'.
    """
    if len(line.tokens) <= line.width:
        return None
    fields = [field for field in line.raw.rstrip(b"\r").split(b"\t") if field.strip()]
    if len(fields) == len(line.layout):
        field = next((field for field in fields if len(field.split()) > 1), b"")
        return f"'{show_id(decoded(field))}' contains a space (columns are separated by tabs)"
    odd = next((character for character in (b"\f", b"\v") if character in line.raw), None)
    if odd is None:
        return None
    return f"a {'form feed' if odd == bytes([12]) else 'vertical tab'} splits a column: {line.shown()}"


@rule(
    "RUN005 QRL005",
    "line",
    "error",
    "the last line is incomplete",
    fix="The file was cut off: copy or download it again, or generate it again.",
)
def broken_off(line: OddLine) -> str | None:
    """Incomplete last line.

    Why: The writer was interrupted or the disk was full. How much more is missing is unknown.
    Example: '51 Q0 FT911-3 1' at the very end of the file.
    """
    if not line.cut_off or len(line.tokens) >= line.width:
        return None
    return f"{len(line.tokens)} {noun_for(len(line.tokens), 'column')} and no line end: {line.shown()}"


@rule(
    "RUN009 QRL009",
    "line",
    "error",
    "{count} {line has|lines have} the wrong number of columns",
    fix="Check for a cut-off line or an id with spaces. " + REGENERATE,
)
def wrong_columns(line: OddLine) -> str | None:
    """Wrong number of columns.

    Why: It is unclear which value is which. trec_eval stops at such a line; other tools silently shift the columns.
    Example: A run has six columns: query Q0 document rank score tag.
    """
    expected = " ".join(WORDS.get(role, role) for role in line.layout)
    others = (
        f"the others have {line.width}" if line.width != len(line.layout) else f"expected {line.width} ({expected})"
    )
    return f"{len(line.tokens)} {noun_for(len(line.tokens), 'column')}, {others}: {line.shown()}"


# Values that are not numbers: the first rule that matches reports the value.


@rule(
    "RUN011 QRL011",
    "value",
    "error",
    "{count} {value is|values are} NaN",
    fix="Find out why the system returned NaN, which has no place in a ranking. " + REGENERATE,
)
def not_a_number_value(text: str) -> str | None:
    """NaN score or grade.

    Why: NaN is neither higher nor lower than other values, so each tool sorts it differently.
    Example: 1 Q0 d2 2 NaN sys
    """
    return f"'{show_id(text)}'" if text.casefold().lstrip("+-") in {"nan", "-nan", "na", "null", "none"} else None


@rule(
    "RUN012 QRL012",
    "value",
    "error",
    "{count} {value is|values are} infinite or too large",
    fix="Rescale the values and write the file again. The largest 64-bit float is about 1.8e308.",
)
def infinite(text: str) -> str | None:
    """Infinite score or grade.

    Why: All such values are equal, whatever they were meant to be.
    Example: inf, 1e400
    """
    plain = text.casefold().lstrip("+-")
    if plain in {"inf", "infinity"}:
        return f"'{show_id(text)}'"
    ordinary = bool(re.fullmatch(r"\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?", plain, re.ASCII))
    return f"'{show_id(text)}' is larger than any 64-bit float" if ordinary and number(text) is None else None


@rule(
    "RUN013 QRL013",
    "value",
    "error",
    "{count} {number is|numbers are} in a format that programs read differently",
    fix="Write plain decimals such as 12.5 or 1.2e-3. --fix converts non-ASCII digits.",
)
def suspicious_number(text: str) -> str | None:
    """Ambiguous number.

    Why: The same file would rank differently in different tools. C reads 0x10 as 16 and 1_000 as 1; Python reads 1_000
    as 1000. Arabic-Indic digits are digits to Python and 0 to C. Most tools read 9,5 as 9.
    Example: 0x1p4, 1_000, 9,5, ٩٩
    """
    kind = (
        "is hexadecimal"
        if _HEXADECIMAL.fullmatch(text)
        else "contains underscores"
        if "_" in text and _UNDERSCORES.fullmatch(text)
        else "has a decimal comma or a thousands separator"
        if _COMMA.fullmatch(text)
        else "has non-ASCII digits"
        if ascii_digits(text) is not None
        else None
    )
    return f"'{show_id(text)}' {kind}" if kind else None


def ascii_digits(text: str) -> str | None:
    """A number written in non-ASCII digits, in ASCII digits; None for anything else.

    >>> ascii_digits("٩.٥"), ascii_digits("9.5"), ascii_digits("²")
    ('9.5', None, None)
    """
    written = "".join(str(unicodedata.decimal(character, character)) for character in text)
    return written if written != text and number(written) is not None else None


@rule(
    "RUN019 QRL019",
    "value",
    "error",
    "{count} {value is not a number|values are not numbers}",
    fix="Write scores and grades as plain decimal numbers. " + REGENERATE,
)
def no_number(text: str) -> str | None:
    """Not a number.

    Why: trec_eval's atof silently reads any word as 0; assay rejects it.
    Example: 1 Q0 d2 2 high sys
    """
    return f"'{show_id(text)}'"


# Files


@rule("RUN067 QRL067", "file", "note", "the last line has no line end", fix="Harmless here. --fix adds a line end.")
def no_line_end(facts: FileFacts) -> Iterator[Said]:
    """No line end at the end of the file.

    Why: Programs that read line by line in C may lose the last line, and `cat a b` joins it to the first line of the
    next file.
    Example: The file ends with 'sys' and no line feed.
    """
    if facts.rows and not facts.ended:
        yield Said("the last line has no line end", 1, (FindingExample("", facts.lines),))


@rule(
    "RUN062 QRL062",
    "file",
    "warning",
    "some lines are UTF-8 and others are not",
    fix="Convert each part to UTF-8 separately, then join them.",
)
def mixed_encodings(facts: FileFacts) -> Iterator[Said]:
    """Mixed encodings.

    Why: The same id may appear in two encodings, and no conversion of the whole file gets both right.
    Example: Two runs of different systems in one file.
    """
    if facts.encodings >= {"utf-8", "other"}:
        yield Said("some lines are UTF-8 and others are in another encoding")


@rule(
    "RUN042 QRL042",
    "file",
    "note",
    "{count} {query has|queries have} rows that are not grouped together",
    fix="Harmless here; sort the file by query if another tool complains.",
)
def queries_apart(facts: FileFacts) -> Iterator[Said]:
    """Rows of a query not grouped together.

    Why: Tools that read a run query by query treat each part as a separate query, or keep only the last part.
    Example: Rows of query 1, of query 2, and again of query 1.
    """
    if facts.apart:
        yield Said(count=facts.apart, examples=(FindingExample("", None, facts.first_apart),))
