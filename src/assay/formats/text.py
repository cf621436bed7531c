"""Read text in chunks of whole lines, and reject bytes that are not text. Independent of formats.

Bytes that are not UTF-8 are kept (as surrogate escapes); NUL bytes and UTF-16 are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from assay.errors import FormatError, InputError
from assay.formats.sources import Content
from assay.limits import beyond, in_words, limit

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NO_DATA = "no data: the file is empty or contains only blank lines, comments or a header"

_WIDE_MARKS = {  # UTF-32 first: its mark starts with that of UTF-16
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_OTHER_FILES = {
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it first",
    b"\x04\x22\x4d\x18": "lz4-compressed: unpack it first (lz4 -d), or write JSON or Parquet",
    b"\x1f\x9d": "compressed with compress: unpack it first (uncompress)",
    b"SQLite format 3": "an SQLite database: export the table as CSV",
    b"%PDF": "a PDF",
}
_BARE_RETURN = rb"\r(?![\r\n]|\Z)"
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))


class Chunk(Struct, frozen=True):
    """Whole lines, each with its line ending."""

    data: bytes
    line: int  # the number of the first line, counted from 1


def line_chunks(content: Content, *, byte_order_mark: bool = False, whole: bool = False) -> Iterator[Chunk]:
    """The text of a source in chunks of whole lines; keeps a UTF-8 byte order mark at its start only if told to.

    `whole` is for text that is not read line by line and may have long lines.
    """
    refuse_other_files(content)
    line = 1
    for data in whole_lines(content.blocks(), content.name, "whole" if whole else "line"):
        drop_mark = line == 1 and not byte_order_mark
        chunk = Chunk(data.removeprefix(BYTE_ORDER_MARK) if drop_mark else data, line)
        refuse_nul(chunk, content)
        yield chunk
        line += count_lines(data)


def whole_text(content: Content) -> str:
    """The whole text of a source."""
    if content.file is not None:
        _refuse_large(content.file.size, content.name)
    pieces, size = [], 0
    for chunk in line_chunks(content, whole=True):  # JSON may be one line
        size += len(chunk.data)
        _refuse_large(size, content.name)
        pieces.append(chunk.data)
    return decoded(b"".join(pieces))


def _refuse_large(size: int, source: str) -> None:
    if size > limit("whole"):
        raise beyond(
            "whole", f"has more than {in_words('whole')}, too much for a file that is read as a whole", source=source
        )


def lines_of(data: bytes) -> Iterator[bytes]:
    """The lines without their line endings, generated one by one."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1
    if start < len(data):
        yield data[start:]


def first_data_line(data: bytes, *, comments: bool = True) -> tuple[int, bytes]:
    r"""The first line that is neither blank nor a comment (or an empty line), and the number of lines before it.

    >>> first_data_line(b"# a comment\n\nq1 0 a 1\nq1 0 b 0\n")
    (2, b'q1 0 a 1')
    """
    blank = len(data) - len(data.lstrip())
    start = data.rfind(b"\n", 0, blank) + 1  # after blank lines, of which there may be millions
    found = (
        (number, line)
        for number, line in enumerate(lines_of(data[start:]), data.count(b"\n", 0, start))
        if line.strip() and not (comments and line.startswith(b"#"))
    )
    return next(found, (0, b""))


def decoded(data: bytes) -> str:
    """Bytes as text; bytes that are not UTF-8 become surrogate escapes."""
    return data.decode("utf-8", "surrogateescape")


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def decoded_column(tokens: Sequence[bytes]) -> list[str]:
    """Decode many short texts at once, which is much faster; they must not contain newlines."""
    return decoded(b"\n".join(tokens)).split("\n")


def refuse_other_files(content: Content) -> None:
    """Raise an error for archives, UTF-16 and binary data."""
    head = content.head
    for magic, what in _OTHER_FILES.items():
        if head.startswith(magic):
            raise FormatError(f"the file is {what}", source=content.name)
    encoding = wide_encoding(head)
    if encoding:
        raise FormatError(f"the text is {encoding}: convert it with iconv -f {encoding} -t UTF-8", source=content.name)
    sample = head[:65536]
    if b"\x00" in sample and len(sample) - len(sample.translate(None, _CONTROL)) > len(sample) / 20:
        raise FormatError("this is binary data, not text", source=content.name)


def refuse_bare_returns(chunk: Chunk, content: Content) -> None:
    """Raise an error for a carriage return inside a line: the text after it would become part of that line."""
    bare = re.search(_BARE_RETURN, chunk.data) if b"\r" in chunk.data else None
    if bare:
        raise InputError(_RETURN_MESSAGE, source=content.name, line=_line_at(chunk, bare.start()))


def refuse_old_mac_lines(chunk: Chunk, content: Content) -> None:
    """Raise an error for text whose only line endings are carriage returns."""
    if chunk.line == 1 and b"\n" not in chunk.data[:-1]:
        refuse_bare_returns(chunk, content)


def refuse_inner_mark(chunk: Chunk, content: Content) -> None:
    """Raise an error for a byte order mark inside the text: it would be an invisible part of an id."""
    if BYTE_ORDER_MARK[:1] not in chunk.data:  # fast check first
        return
    place = 0 if chunk.data.startswith(BYTE_ORDER_MARK) else chunk.data.find(b"\n" + BYTE_ORDER_MARK) + 1
    if place > 0 or chunk.data.startswith(BYTE_ORDER_MARK):
        raise InputError(
            "the line starts with a byte order mark, left over from joining files? Remove it: sed 's/^\\xef\\xbb\\xbf//'",
            source=content.name,
            line=_line_at(chunk, place),
        )


_RETURN_MESSAGE = (
    "carriage return (CR) without a line feed (LF): old Mac line endings? Convert them: tr '\\r' '\\n' < OLD > NEW"
)


def whole_lines(blocks: Iterable[bytes], source: str, at_most: str = "line") -> Iterator[bytes]:
    """The same bytes in pieces of whole lines; adds a missing final newline. A line that never ends is an error.

    `at_most` is the name of the limit for a line.
    """
    longest = limit(at_most)
    pending: list[bytes] = []  # pieces of a line that continues in the next block
    length = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*pending, block[:end]])
            pending, length = [], 0
        pending.append(block[end:])
        length += len(pending[-1])
        if length > longest:
            raise beyond(
                at_most,
                f"a line has more than {in_words(at_most)}",
                source=source,
                fix="Are the line ends missing, or is this another kind of file?",
            )
    rest = b"".join(pending)
    if rest:
        yield rest + b"\n"


def refuse_nul(chunk: Chunk, content: Content) -> None:
    """Raise an error for a NUL byte."""
    place = chunk.data.find(b"\x00")
    if place >= 0:
        raise InputError(
            "the line contains a NUL byte, which ids and numbers cannot have. Remove it: tr -d '\\000' < OLD > NEW",
            source=content.name,
            line=_line_at(chunk, place),
        )


def count_lines(data: bytes) -> int:
    """The number of line ends."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))  # ten times as fast as bytes.count


def _line_at(chunk: Chunk, place: int) -> int:
    return chunk.line + chunk.data.count(b"\n", 0, place)


def wide_encoding(head: bytes) -> str | None:
    """'UTF-16' or 'UTF-32' if the text is encoded that way, else None."""
    for mark, encoding in _WIDE_MARKS.items():
        if head.startswith(mark):
            return encoding
    start = head[:64]
    halves = (
        start[0::2],
        start[1::2],
    )  # in UTF-16 one half of the bytes of plain text is NUL, in UTF-32 three quarters
    if len(start) < 4 or not any(0.8 * len(half) < half.count(0) for half in halves) or start.count(0) == len(start):
        return None
    return "UTF-32" if start.count(0) > 0.6 * len(start) else "UTF-16"
