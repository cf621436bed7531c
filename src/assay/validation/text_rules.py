"""Rules about bytes, lines and numbers, which runs and judgments have in common."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assay.errors import show_id
from assay.formats.names import WORDS
from assay.formats.numbers import number
from assay.formats.text import BYTE_ORDER_MARK, Chunk, decoded, is_utf8, lines_of
from assay.validation.findings import FindingExample
from assay.validation.registry import Said, rule
from assay.words import noun_for, plural

if TYPE_CHECKING:
    from assay.validation.facts import FileFacts
    from assay.validation.reading import OddLine

REGENERATE = "Re-run the generation of the file, or repair these lines by hand."
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x00")) + b"\x7f"
_NO_CONTROLS = bytes(set(range(256)) - set(_CONTROLS))
_BARE_RETURN = re.compile(rb"\r(?![\r\n])")
_INVISIBLE = re.compile("[\u00a0\u00ad\u2000-\u200f\u2028\u2029\u202a-\u202e\u2060\u3000\ufeff\x80-\x9f]")
_HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?", re.ASCII)
_UNDERSCORES = re.compile(r"[+-]?\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d+(?:[.,]\d+)*,\d+(?:[eE][+-]?\d+)?", re.ASCII)


def lines_where(chunk: Chunk, holds: Callable[[bytes], object]) -> list[FindingExample]:
    """The lines of a chunk for which something holds."""
    numbered = enumerate(lines_of(chunk.data), chunk.line)
    return [FindingExample(show_id(decoded(line), 100), number) for number, line in numbered if holds(line)]


# Text


@rule(
    "RUN003 QRL003",
    "text",
    "error",
    "the text is in a wide encoding",
    fix="Convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW (--fix does it).",
)
def wide_encoding(chunk: Chunk) -> list[FindingExample]:
    """The text is UTF-16 or UTF-32.

    Why: half or more of its bytes are zeros for whoever expects UTF-8, so that evaluators find no data or wrong ids.
    Some editors and spreadsheets of Windows write it.
    Example: the first bytes of the file are FF FE.
    """
    return []  # seen by the reader, which has to decode it


@rule(
    "RUN061 QRL061",
    "text",
    "warning",
    "{count} {line is|lines are} not UTF-8",
    fix="Convert the file from its own encoding: iconv -f LATIN1 -t UTF-8 OLD > NEW. Do the same to the other files, "
    "or ids that look alike will not match.",
)
def not_utf8(chunk: Chunk) -> list[FindingExample]:
    r"""Bytes that are not UTF-8.

    Why: the ids are compared byte by byte; the same id in Latin-1 and in UTF-8 is two ids, and the document counts as
    not retrieved. We keep the bytes as they are.
    Example: d\xe93 in the run, dé3 in the qrels.
    """
    if is_utf8(chunk.data):
        return []
    return lines_where(chunk, lambda line: not is_utf8(line))


@rule(
    "RUN064 QRL064",
    "text",
    "warning",
    "{count} {line holds|lines hold} control characters",
    fix="Find out where they come from, and take them out on both sides: they are part of the ids now.",
)
def control_characters(chunk: Chunk) -> list[FindingExample]:
    r"""Control characters inside ids.

    Why: nobody sees them, but they make another id of it. They come from binary data, or from terminals' colours.
    Example: d\x1b[0m1 is not d1.
    """
    if not chunk.data.translate(None, _NO_CONTROLS):
        return []
    return lines_where(chunk, lambda line: line.translate(None, _NO_CONTROLS))


@rule(
    "RUN065 QRL065",
    "text",
    "error",
    "{count} {line holds a NUL byte|lines hold NUL bytes}",
    fix="No id or number has NUL: find out what was lost there, then remove them with tr -d '\\000' < OLD > NEW.",
)
def nul_bytes(chunk: Chunk) -> list[FindingExample]:
    r"""NUL bytes.

    Why: C programs such as trec_eval take the rest of the text for nothing, so that it is cut in silence.
    Example: d\x009 is d to trec_eval.
    """
    if b"\0" not in chunk.data:
        return []
    return lines_where(chunk, lambda line: b"\0" in line)


@rule(
    "RUN066 QRL066",
    "text",
    "error",
    "{count} {line has a carriage return|lines have carriage returns} that no line feed follows",
    fix="Convert old Mac line ends with tr '\\r' '\\n' < OLD > NEW (--fix does it where there are no others).",
)
def carriage_returns(chunk: Chunk) -> list[FindingExample]:
    """A carriage return in the middle of a line, or as the only kind of line end.

    Why: most programs do not end a line there, so that several rows become one, of which all but the first are lost.
    Example: a file whose lines end with CR alone is one line.
    """
    if b"\r" not in chunk.data or not _BARE_RETURN.search(chunk.data):
        return []
    return lines_where(chunk, lambda line: _BARE_RETURN.search(line + b"\n"))


@rule(
    "RUN063 QRL063",
    "text",
    "warning",
    "the file begins with a byte order mark",
    fix="Remove it: sed '1s/^\\xef\\xbb\\xbf//' OLD > NEW (--fix does).",
)
def byte_order_mark(chunk: Chunk) -> list[FindingExample]:
    r"""A byte order mark at the start of the file.

    Why: we drop it, but trec_eval makes it part of the first query's id, which then matches nothing.
    Example: the first query is \ufeff51 and not 51.
    """
    return []  # seen by the reader, which drops it


@rule(
    "RUN071 QRL071",
    "text",
    "error",
    "{count} {line begins|lines begin} with a byte order mark in the middle of the file",
    fix="Remove them: sed 's/^\\xef\\xbb\\xbf//' OLD > NEW.",
)
def inner_marks(chunk: Chunk) -> list[FindingExample]:
    r"""A byte order mark in the middle of the file, where files were joined.

    Why: it is an invisible part of the query's id, which then matches nothing.
    Example: line 1001 begins with \ufeff51.
    """
    if BYTE_ORDER_MARK not in chunk.data:
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
    "{count} {line has|lines have} characters that cannot be seen",
    fix="Take them out on both sides: they are part of the ids now.",
)
def invisible_characters(chunk: Chunk) -> list[FindingExample]:
    """No-break spaces, zero-width and other invisible characters inside ids.

    Why: they look like nothing or like a blank, but neither end a column nor match an id without them.
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
    "{count} {line ends|lines end} with a blank",
    fix="Harmless here; programs that split at single blanks see one column more. --fix removes them.",
)
def trailing_blanks(chunk: Chunk) -> list[FindingExample]:
    """Blanks at the end of lines.

    Why: pandas and others that take every blank for the end of a column see an empty one more, and refuse the file.
    Example: 'sys ' at the end of each line of a run.
    """
    if b" \n" not in chunk.data and b"\t\n" not in chunk.data and b" \r\n" not in chunk.data:
        return []
    return lines_where(chunk, lambda line: line.strip() and line.rstrip(b"\r").endswith((b" ", b"\t")))


# Lines that are no rows. The first rule that has something to say is the one.


@rule(
    "RUN008 QRL008",
    "line",
    "warning",
    "the first line is a header",
    fix="We read it as one, but trec_eval takes it for data: remove it (--fix does).",
)
def header(line: OddLine) -> str | None:
    """A header line in a format that has none.

    Why: trec_eval reads it as one more row, of a query and a document that do not exist.
    Example: qid iter docno rank score tag
    """
    return None  # seen by the reader, which needs it to know the columns


@rule(
    "RUN004 QRL004",
    "line",
    "note",
    "{count} blank {line|lines}",
    fix="Harmless here; trec_eval refuses qrels that have one. --fix removes them.",
)
def blank_line(line: OddLine) -> str | None:
    """Blank lines.

    Why: they hold nothing, but often mark a place where something was lost, and trec_eval refuses qrels with one.
    Example: an empty line at the end of the file.
    """
    return None if line.tokens else "a blank line"


@rule(
    "RUN007 QRL007",
    "line",
    "error",
    "{count} {line has an id|lines have ids} with a blank inside",
    fix="Take the blank out, or write TSV with a header line (query_id doc_id score): ids may contain blanks there.",
)
def blank_in_id(line: OddLine) -> str | None:
    """An id contains a blank, a form feed or another character that ends a column.

    Why: the columns behind it move, so that other programs read the wrong document, or a score that is none.
    Example: columns between tabs, one of which is 'doc 3'.
    """
    if len(line.tokens) <= line.width:
        return None
    fields = [field for field in line.raw.rstrip(b"\r").split(b"\t") if field.strip()]
    if len(fields) == len(line.layout):
        field = next((field for field in fields if len(field.split()) > 1), b"")
        return f"'{show_id(decoded(field))}' stands between tabs and contains a blank"
    odd = next((character for character in (b"\f", b"\v") if character in line.raw), None)
    if odd is None:
        return None
    return f"a {'form feed' if odd == bytes([12]) else 'vertical tab'} ends a column: {line.shown()}"


@rule(
    "RUN005 QRL005",
    "line",
    "error",
    "the last line breaks off",
    fix="The file was cut: copy or download it again, or re-run its generation.",
)
def broken_off(line: OddLine) -> str | None:
    """The last line has too few columns and no line end.

    Why: the writer was interrupted or the disk was full; nobody knows how much more is missing.
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
    fix="Is a line cut off, or does an id contain a blank? " + REGENERATE,
)
def wrong_columns(line: OddLine) -> str | None:
    """A line has more or fewer columns than it should.

    Why: nobody can say which value is which. trec_eval stops at such a line; other tools shift the columns in silence.
    Example: a run has six: query Q0 document rank score tag.
    """
    expected = " ".join(WORDS.get(role, role) for role in line.layout)
    others = (
        f"the others have {line.width}" if line.width != len(line.layout) else f"expected {line.width} ({expected})"
    )
    return f"{len(line.tokens)} {noun_for(len(line.tokens), 'column')}, {others}: {line.shown()}"


# Values that are no numbers. The first rule that has something to say is the one.


@rule(
    "RUN011 QRL011",
    "value",
    "error",
    "{count} {value is|values are} NaN",
    fix="A NaN has no place in an order: find out why the system gave it, and re-run it. " + REGENERATE,
)
def not_a_number_value(text: str) -> str | None:
    """A score or grade is NaN.

    Why: it is neither higher nor lower than others, so that each tool sorts it to another place.
    Example: 1 Q0 d2 2 NaN sys
    """
    return f"'{show_id(text)}'" if text.casefold().lstrip("+-") in {"nan", "-nan", "na", "null", "none"} else None


@rule(
    "RUN012 QRL012",
    "value",
    "error",
    "{count} {value is|values are} infinite or too large",
    fix="The largest 64-bit number is about 1.8e308: rescale the scores and write the file again.",
)
def infinite(text: str) -> str | None:
    """A score or grade is infinite, or too large for a 64-bit number.

    Why: all such values are equal, whatever they were meant to be.
    Example: inf, 1e400
    """
    plain = text.casefold().lstrip("+-")
    if plain in {"inf", "infinity"}:
        return f"'{show_id(text)}'"
    ordinary = bool(re.fullmatch(r"\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?", plain, re.ASCII))
    return f"'{show_id(text)}' is over the largest 64-bit number" if ordinary and number(text) is None else None


@rule(
    "RUN013 QRL013",
    "value",
    "error",
    "{count} {value is|values are} written in a way that programs read differently",
    fix="Write ordinary decimals such as 12.5 or 1.2e-3. --fix rewrites digits of other scripts, which have one reading.",
)
def suspicious_number(text: str) -> str | None:
    """A number is hexadecimal, has underscores, a decimal comma, or digits that are not ASCII.

    Why: C reads 0x10 as 16 and 1_000 as 1; Python reads 1_000 as 1000 and Arabic-Indic digits as digits, C as 0; 9,5 is
    9 to most. The same file would rank differently in different tools.
    Example: 0x1p4, 1_000, 9,5, ٩٩
    """
    kind = (
        "hexadecimal"
        if _HEXADECIMAL.fullmatch(text)
        else "with underscores"
        if "_" in text and _UNDERSCORES.fullmatch(text)
        else "with a decimal comma, or thousands apart"
        if _COMMA.fullmatch(text)
        else "with digits that are not ASCII"
        if ascii_digits(text) is not None
        else None
    )
    return f"'{show_id(text)}' is a number {kind}" if kind else None


def ascii_digits(text: str) -> str | None:
    """A number in digits of another script, written in ours; None if it is no such number.

    >>> ascii_digits("٩.٥"), ascii_digits("9.5"), ascii_digits("²")
    ('9.5', None, None)
    """
    written = "".join(str(unicodedata.decimal(character, character)) for character in text)
    return written if written != text and number(written) is not None else None


@rule(
    "RUN019 QRL019",
    "value",
    "error",
    "{count} {value is|values are} not a number",
    fix="Scores and grades are ordinary decimal numbers. " + REGENERATE,
)
def no_number(text: str) -> str | None:
    """A score or grade is no number.

    Why: trec_eval's atof reads any word as 0 and goes on; we refuse it.
    Example: 1 Q0 d2 2 high sys
    """
    return f"'{show_id(text)}'"


# Files


@rule(
    "RUN067 QRL067", "file", "note", "the last line has no line end", fix="Harmless here; some programs lose that line."
)
def no_line_end(facts: FileFacts) -> Iterator[Said]:
    """The last line has no line end.

    Why: it looks whole, but programs that read line by line with C's tools may lose it, and `cat a b` glues it to the
    next file's first line.
    Example: the file ends with 'sys' and not with a line feed.
    """
    if facts.rows and not facts.ended:
        yield Said("the last line has no line end", 1, (FindingExample("", facts.lines),))


@rule(
    "RUN062 QRL062",
    "file",
    "warning",
    "some lines are UTF-8 and some are not",
    fix="Convert the parts apart from each other, and join them then.",
)
def mixed_encodings(facts: FileFacts) -> Iterator[Said]:
    """The file mixes encodings: some lines have characters in UTF-8, others bytes that are not.

    Why: the same id may stand in it in two ways, and no conversion of the whole file gets both right.
    Example: two runs of different systems in one file.
    """
    if facts.encodings >= {"utf-8", "other"}:
        yield Said("some lines are UTF-8 and some are in another encoding")


@rule(
    "RUN042 QRL042",
    "file",
    "note",
    "{count} {query's|queries'} rows do not stand together",
    fix="Harmless here; sort the file by query if another tool complains.",
)
def queries_apart(facts: FileFacts) -> Iterator[Said]:
    """The rows of a query do not stand together.

    Why: tools that read a run query by query take each part for a query of its own, or the last part for all.
    Example: rows of query 1, of query 2, and again of query 1.
    """
    if facts.apart:
        words = "{count} {query has|queries have} rows that do not stand together"
        yield Said(plural(words, facts.apart), facts.apart, (FindingExample("", None, facts.first_apart),))
