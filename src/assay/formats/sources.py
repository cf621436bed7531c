"""Read bytes from files, standard input or memory, compressed or not. Independent of formats.

Compression is detected from the first bytes, never from the file name. Nothing is read twice, so pipes work.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, TypeAlias

from msgspec import Struct

from assay.errors import InputError, MissingExtraError, nearest, show_id
from assay.limits import ALWAYS_READ, beyond, in_words, limit

Source: TypeAlias = str | os.PathLike[str]

# Bytes read at once: large enough to make Python's overhead negligible, small enough to keep the tokens of a block in the
# processor's cache (4 MB is a third slower).
_MOST_NAMES = 2000  # of a folder, to find the one that was meant
BLOCK_SIZE = 1 << 18
HEAD_SIZE = 1 << 16  # read first, to detect the format; small because the kernel often reads the rest
LONGEST_HEAD = 1 << 24
STDIN = "-"
_ROW = re.compile(rb"^[^\S\n]*[^\s#]", re.MULTILINE)  # the start of a line that is neither blank nor a comment

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
FORMAT_SUFFIXES = (
    *(".run", ".qrels", ".qrel", ".res", ".results", ".trec", ".txt"),
    *(".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".parq", ".arrow", ".feather", ".ipc"),
)


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, and none only at the end."""


class PlainFile(Struct, frozen=True, eq=False):
    """An open file on disk."""

    descriptor: int
    size: int


class Content:
    """The decompressed bytes of a source, read once from start to end."""

    def __init__(self, stream: Readable, name: str, stem: str, packed: Packed | None = None) -> None:
        self.name = name  # for messages
        self.stem = stem  # the name of a run read from it
        self.file: PlainFile | None = None  # set for an uncompressed file
        self.ends = False  # unknown, as of a pipe
        self._stream = stream
        self._packed = packed
        self._size = 0  # of what has been read
        self._idle = 0  # how much of that came since the last row
        self.head = self._read(min(HEAD_SIZE, BLOCK_SIZE))  # for detection, before the content is read

    @property
    def compression(self) -> str | None:
        """How the source is compressed, such as gzip."""
        return None if self._packed is None else self._packed.compression

    def look_further(self) -> bool:
        """Read as much again into the head, up to a limit; False if there is nothing more."""
        more = self._read(max(BLOCK_SIZE, len(self.head))) if len(self.head) < LONGEST_HEAD else b""
        self.head += more
        return bool(more)

    def blocks(self) -> Iterator[bytes]:
        """The whole content, block by block."""
        block, self.head = self.head, b""
        while block:
            for start in range(0, len(block), BLOCK_SIZE):  # a long head, or what a few compressed bytes become
                yield block[start : start + BLOCK_SIZE]
            block = self._read()

    def read(self) -> bytes:
        """The whole content at once."""
        return b"".join(self.blocks())

    def read_some(self, size: int) -> bytes:
        """The next bytes, at most `size`, and none only at the end."""
        head = self.head or self._read(size)  # may be more than `size` after decompression
        self.head = head[size:]
        return head[:size]

    def _read(self, size: int | None = None) -> bytes:
        try:
            data = self._stream.read(BLOCK_SIZE if size is None else size)
        except _failures() as error:
            if self.compression is None:
                raise InputError(f"cannot be read: {_reason(error)}", source=self.name) from error
            raise InputError(
                f"the {self.compression} data is damaged or cut off ({error}). Copy or download the file again.",
                source=self.name,
            ) from error
        if self._packed is not None:
            self._size += len(data)
            refuse_expansion(self._size, self._packed.read_so_far, self.name)
        if not self.ends:
            self._refuse_idling(data)
        return data

    def _refuse_idling(self, block: bytes) -> None:
        """Raise an error if a stream has long had nothing but blank lines and comments, since it may never end."""
        # A block may begin within a line. In one with rows, the search ends at its second line.
        self._idle = 0 if _ROW.search(block, block.find(b"\n") + 1) else self._idle + len(block)
        if self._idle > limit("line"):
            raise beyond("line", f"has more than {in_words('line')} of blank lines and comments", source=self.name)


def refuse_expansion(size: int, packed: int, source: str) -> None:
    """Raise an error if this many bytes come from so few that the file can only be made to fill the memory."""
    if size > ALWAYS_READ and size > limit("expansion") * packed:
        raise beyond(
            "expansion",
            f"expands to more than {limit('expansion'):,} times its size ({size:,} bytes from {packed:,} so far), "
            "as files do that are made to fill the memory",
            source=source,
        )


class Packed:
    """A compressed stream that counts what has been read from it."""

    def __init__(self, stream: Readable, compression: str) -> None:
        self._stream, self.compression, self.read_so_far = stream, compression, 0

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes."""
        data = self._stream.read(size)
        self.read_so_far += len(data)
        return data


def _failures() -> tuple[type[Exception], ...]:
    """The exceptions of reading a stream; imported only when one is raised."""
    import zlib

    return OSError, EOFError, zlib.error


@contextmanager
def open_source(source: Source) -> Iterator[Content]:
    """The content of a path, or of standard input for '-'."""
    if source == STDIN:
        yield _content(_stdin(), "<stdin>", "stdin")
        return
    path = os.fsdecode(source)
    with open_file(path) as stream:
        before = os.fstat(stream.fileno())
        content = _content(stream, path, stem(path))
        content.ends = stat.S_ISREG(before.st_mode)
        if content.compression is None and content.ends:
            content.file = PlainFile(stream.fileno(), before.st_size)
        yield content
        after = os.fstat(stream.fileno())
        if stat.S_ISREG(before.st_mode) and _version(before) != _version(after):
            raise InputError("the file changed while it was read. Try again when it is complete.", source=path)


def _version(status: os.stat_result) -> tuple[int, int]:
    """What changes with the content of a file; a file read half before and half after a change fits neither version."""
    return status.st_size, status.st_mtime_ns


class Origin:
    """A source that can be opened again. What is read from a pipe or standard input is kept in a temporary file."""

    def __init__(self, source: Source) -> None:
        self.path = source if source == STDIN else os.fsdecode(source)
        self._spool: _Spool | None = None

    @contextmanager
    def open(self) -> Iterator[Content]:
        """The content from its start."""
        if self.path != STDIN and (not os.path.exists(self.path) or os.path.isfile(self.path)):
            with open_source(self.path) as content:
                yield content
            return
        name, its_stem = ("<stdin>", "stdin") if self.path == STDIN else (self.path, stem(self.path))
        if self._spool is None:
            self._spool = _Spool(_stdin() if self.path == STDIN else self._opened(), name)
        yield _content(self._spool.reader(), name, its_stem)

    def _opened(self) -> Readable:
        import weakref

        stream = open_file(self.path)
        weakref.finalize(self, stream.close)
        return stream


@contextmanager
def open_text(text: str | bytes, stem: str) -> Iterator[Content]:
    """The content of a text in memory."""
    yield _content(io.BytesIO(text if isinstance(text, bytes) else _encoded(text)), "<text>", stem)


def is_stream(value: object) -> bool:
    """Whether a value is an open file or anything else that can be read, such as io.BytesIO."""
    return callable(getattr(value, "read", None))


@contextmanager
def open_stream(stream: Any, unnamed: str) -> Iterator[Content]:
    """The content of an open file, text or binary, from where it stands; it is not closed."""
    name = _stream_name(stream)
    content = _content(_Bytes(stream, name or unnamed), name or unnamed, stem(name) or unnamed)
    if not content.head and _is_past_start(stream):
        raise InputError(
            "the open file is at its end; open it again, or go back to its start with .seek(0)", source=content.name
        )
    yield content


def stream_stem(stream: Any) -> str:
    """The name of a run that is read from an open file; empty if the file has no name."""
    return stem(_stream_name(stream))


def _stream_name(stream: Any) -> str:
    name = getattr(stream, "name", "")
    return os.fsdecode(name) if isinstance(name, (str, bytes)) else ""  # a number if it was opened by descriptor


def _is_past_start(stream: Any) -> bool:
    try:
        return bool(stream.tell() > 0)
    except (AttributeError, OSError):
        return False


class _Bytes:
    """An open file as bytes, even if it was opened as text."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name = stream, name

    def read(self, size: int = -1, /) -> bytes:
        try:
            piece = self._stream.read(size)
        except UnicodeDecodeError as error:
            raise InputError(
                f"the open file cannot be read as {error.encoding} text: open it with mode 'rb'", source=self._name
            ) from error
        except ValueError as error:  # it is closed
            raise InputError(f"the open file cannot be read: {error}", source=self._name) from error
        return _encoded(piece) if isinstance(piece, str) else bytes(piece)


def stem(path: str) -> str:
    """The name of a run: the file name without known extensions.

    >>> stem("runs/bm25.run.gz"), stem("a.txt"), stem("sab20.1.meta.docs")
    ('bm25', 'a', 'sab20.1.meta.docs')
    """
    name = os.path.basename(path)
    while os.path.splitext(name)[1].casefold() in COMPRESSION_SUFFIXES + FORMAT_SUFFIXES:
        name = os.path.splitext(name)[0]
    return name


def open_file(path: str) -> BinaryIO:
    """Open a file for reading, or raise an error with the reason."""
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        hint = _text_instead(path) or nearest_file(path)
        raise InputError(f"no such file{hint}", source=show_id(path, 200)) from error
    except IsADirectoryError as error:
        raise InputError("is a directory, not a file", source=path) from error
    except PermissionError as error:
        raise InputError("permission denied", source=path) from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot open the file: {_reason(error)}{_text_instead(path)}", source=show_id(path, 200)
        ) from error


def read_small(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file that is read as a whole, such as a recipe; raises OSError if it cannot be read."""
    source, most = os.fsdecode(path), limit("whole")
    pieces, size = [], 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK_SIZE):
            size += len(block)
            if b"\0" in block:
                raise InputError("contains NUL bytes, so it is not a text file.", source=source)
            if max(size, os.fstat(file.fileno()).st_size) > most:
                raise beyond(
                    "whole",
                    f"has more than {in_words('whole')}, too much for a file that is read as a whole",
                    source=source,
                )
            pieces.append(block)
    return b"".join(pieces)


def nearest_file(path: str) -> str:
    """'; did you mean 'runs/bm25.run'?' if there is a file or folder whose path is like it, else an empty string."""
    near = _nearest_path(path.rstrip(os.sep))
    return f"; did you mean {near!r}?" if near else ""


def _nearest_path(path: str) -> str | None:
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        folder = _nearest_path(folder) or ""
        if not folder or os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name) if folder else None
    try:
        with os.scandir(folder or ".") as entries:
            known = [entry.name for entry in itertools.islice(entries, _MOST_NAMES)]
    except (OSError, ValueError):
        return None
    near = nearest(name, known)
    # A suffix that many files have is not enough.
    alike = near is not None and nearest(os.path.splitext(name)[0], [os.path.splitext(near)[0]])
    return os.path.join(folder, near) if near and alike else None


def _text_instead(path: str) -> str:
    return ". To parse text, use parse_qrels or parse_run." if "\n" in path else ""


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _stdin() -> Readable:
    if sys.stdin is None:
        raise InputError("standard input is closed", source="<stdin>")
    return sys.stdin.buffer


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(f"the text cannot be encoded as UTF-8: {error}", source="<text>") from error


def _content(stream: Readable, name: str, stem: str) -> Content:
    start = _first_bytes(stream, name)
    whole = _Joined(start, stream)
    for compression, (magic, decompressed) in _COMPRESSIONS.items():
        if start.startswith(magic):
            packed = Packed(whole, compression)
            return Content(decompressed(packed), name, stem, packed)
    return Content(whole, name, stem)


def _first_bytes(stream: Readable, name: str) -> bytes:
    try:
        return stream.read(16)
    except OSError as error:
        raise InputError(f"cannot be read: {_reason(error)}", source=name) from error


class _Joined:
    """The bytes already read from a stream, followed by the rest: a pipe can be read only once."""

    def __init__(self, start: bytes, stream: Readable) -> None:
        self._start, self._stream = start, stream

    def read(self, size: int = -1, /) -> bytes:
        if not self._start:
            return self._stream.read(size)
        start, self._start = self._start, b""
        if 0 <= size <= len(start):
            self._start = start[size:]
            return start[:size]
        return start + self._stream.read(size - len(start) if size >= 0 else size)


class _Spool:
    """A stream that can be read several times: what has been read is kept in a file without a name.

    Only as much is read as a reader asks for, so bad input is refused early, however long the stream is.
    """

    def __init__(self, stream: Readable, name: str) -> None:
        import tempfile
        import weakref

        self._stream, self._name = stream, name
        self._kept = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as this object)
        self._size = 0
        weakref.finalize(self, self._kept.close)

    def reader(self) -> Readable:
        """The stream from its start."""
        return _SpoolReader(self)

    def read_at(self, place: int, size: int) -> bytes:
        """At most `size` bytes from a place that has been read, or is next to be read."""
        if place < self._size:
            self._kept.seek(place)
            return self._kept.read(min(size, self._size - place))
        data = self._stream.read(size)
        try:
            self._kept.seek(0, os.SEEK_END)
            self._kept.write(data)
            self._kept.flush()
        except OSError as error:
            raise InputError(
                f"cannot be kept in a temporary file while it is read: {_reason(error)}. Save it to a file first.",
                source=self._name,
            ) from error
        self._size += len(data)
        return data


class _SpoolReader:
    """One reading of a spool."""

    def __init__(self, spool: _Spool) -> None:
        self._spool, self._place = spool, 0

    def read(self, size: int = -1, /) -> bytes:
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK_SIZE), b""))
        data = self._spool.read_at(self._place, size)
        self._place += len(data)
        return data


class _Frames:
    """Consecutive compressed frames or streams; raises an error if one is truncated or followed by other data.

    The standard readers for bz2, xz and zstd silently accept such files.
    """

    PIECE = 4096  # compressed bytes per step: bounds the memory that a malicious file can use, to about 130 MB

    def __init__(self, stream: Readable, new_frame: Callable[[], Any], error: type[Exception]) -> None:
        self._stream, self._new_frame, self._error = stream, new_frame, error
        self._frame = new_frame()
        self._fresh = True  # nothing of the current frame has been read

    def read(self, size: int = -1, /) -> bytes:
        pieces: list[bytes] = []
        length = 0
        while length < size or size < 0:
            compressed = self._compressed()
            if not compressed:
                break
            pieces.append(self._unpacked(compressed))
            length += len(pieces[-1])
        return b"".join(pieces)

    def _compressed(self) -> bytes:
        rest = b""
        if self._frame.eof:
            rest = self._frame.unused_data
            self._frame, self._fresh = self._new_frame(), True
        compressed = rest or self._stream.read(self.PIECE)
        if not compressed and not self._fresh:
            raise EOFError("it ends in the middle of a frame")
        return compressed

    def _unpacked(self, compressed: bytes) -> bytes:
        self._fresh = False
        try:
            unpacked: bytes = self._frame.decompress(compressed)
        except self._error as error:
            raise OSError(str(error)) from error
        return unpacked


def _gzip_file(stream: Any) -> Readable:
    import gzip

    return gzip.GzipFile(fileobj=stream, mode="rb")


def _bzip2_streams(stream: Readable) -> _Frames:
    import bz2

    return _Frames(stream, bz2.BZ2Decompressor, OSError)


def _xz_streams(stream: Readable) -> _Frames:
    import lzma

    return _Frames(stream, lzma.LZMADecompressor, lzma.LZMAError)


def _zstd_frames(stream: Readable) -> _Frames:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading .zst files", "zstd") from None
    return _Frames(stream, zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError)


# name -> first bytes, and the reader, imported on demand
_COMPRESSIONS: dict[str, tuple[tuple[bytes, ...], Callable[[Any], Readable]]] = {
    "gzip": ((b"\x1f\x8b",), _gzip_file),
    "bzip2": (tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)), _bzip2_streams),
    "xz": ((b"\xfd7zXZ\x00",), _xz_streams),
    "zstd": ((b"\x28\xb5\x2f\xfd",), _zstd_frames),
}
