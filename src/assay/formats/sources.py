"""Where bytes come from: files, standard input, text in memory; compressed or not. Knows no format of ours.

Compression is told by the first bytes, never by the file's name. Nothing is read twice, so pipes work.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, TypeAlias

from msgspec import Struct

from assay.errors import InputError, MissingExtraError, show_id

Source: TypeAlias = str | os.PathLike[str]

# Bytes read at once: large enough that Python's overhead vanishes, small enough that the tokens of a block stay in the
# processor's cache (4 MB is a third slower).
BLOCK_SIZE = 1 << 18
HEAD_SIZE = 1 << 16  # looked at before all else: often the kernel reads the rest, and fresh memory for more costs time
LONGEST_HEAD = 1 << 24
STDIN = "-"

COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
FORMAT_SUFFIXES = (
    *(".run", ".qrels", ".qrel", ".res", ".results", ".trec", ".txt"),
    *(".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".parq", ".arrow", ".feather", ".ipc"),
)


class Readable(Protocol):
    """All that we ask of a stream."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, and none only at the end."""


class PlainFile(Struct, frozen=True, eq=False):
    """A file on disk that is open."""

    descriptor: int
    size: int


class Content:
    """The bytes of one source after decompression, read once from front to back."""

    def __init__(self, stream: Readable, name: str, stem: str, compression: str | None = None) -> None:
        self.name = name  # as messages show it
        self.stem = stem  # as a run read from it is called
        self.file: PlainFile | None = None  # where the bytes are those of a file
        self._stream = stream
        self.compression = compression
        self.head = self._read(min(HEAD_SIZE, BLOCK_SIZE))  # kept, to look at before it is read

    def look_further(self) -> bool:
        """Make the head longer, within reason; False if there is no more to see."""
        more = self._read() if len(self.head) < LONGEST_HEAD else b""
        self.head += more
        return bool(more)

    def blocks(self) -> Iterator[bytes]:
        """The whole content, block by block."""
        block, self.head = self.head, b""
        while block:
            yield block
            block = self._read()

    def read(self) -> bytes:
        """The whole content at once."""
        return b"".join(self.blocks())

    def read_some(self, size: int) -> bytes:
        """At most `size` bytes of what has not been read yet, and none only at the end."""
        head = self.head or self._read(size)  # which may be more: what a piece of compressed data unpacks to
        self.head = head[size:]
        return head[:size]

    def _read(self, size: int | None = None) -> bytes:
        try:
            return self._stream.read(BLOCK_SIZE if size is None else size)
        except _failures() as error:
            if self.compression is None:
                raise InputError(f"cannot be read: {_reason(error)}", source=self.name) from error
            raise InputError(
                f"the {self.compression} data is damaged or cut off ({error}). Copy or download the file again.",
                source=self.name,
            ) from error


def _failures() -> tuple[type[Exception], ...]:
    """What reading a stream may raise; looked up only when it does."""
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
        content = _content(stream, path, stem(path))
        status = os.fstat(stream.fileno())
        if content.compression is None and stat.S_ISREG(status.st_mode):
            content.file = PlainFile(stream.fileno(), status.st_size)
        yield content


class Origin:
    """A source that can be opened again: what can be read only once is kept in memory."""

    def __init__(self, source: Source) -> None:
        self.path = source if source == STDIN else os.fsdecode(source)
        self._kept: bytes | None = None

    @contextmanager
    def open(self) -> Iterator[Content]:
        """The content from its start."""
        if self.path != STDIN and (not os.path.exists(self.path) or os.path.isfile(self.path)):
            with open_source(self.path) as content:
                yield content
            return
        if self._kept is None:
            with open_source(self.path) as content:
                self._kept, self._names = content.read(), (content.name, content.stem)
        yield Content(io.BytesIO(self._kept), *self._names)


@contextmanager
def open_text(text: str | bytes, stem: str) -> Iterator[Content]:
    """The content of a text in memory."""
    yield _content(io.BytesIO(text if isinstance(text, bytes) else _encoded(text)), "<text>", stem)


def stem(path: str) -> str:
    """The name of a run: its file's name without the endings that say what kind of file it is.

    >>> stem("runs/bm25.run.gz"), stem("a.txt"), stem("sab20.1.meta.docs")
    ('bm25', 'a', 'sab20.1.meta.docs')
    """
    name = os.path.basename(path)
    while os.path.splitext(name)[1].casefold() in COMPRESSION_SUFFIXES + FORMAT_SUFFIXES:
        name = os.path.splitext(name)[0]
    return name


def open_file(path: str) -> BinaryIO:
    """The bytes of a file as they are; an error that says why it cannot be opened."""
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise InputError(f"no such file{_text_instead(path)}", source=show_id(path, 200)) from error
    except IsADirectoryError as error:
        raise InputError("is a directory, not a file", source=path) from error
    except PermissionError as error:
        raise InputError("permission denied", source=path) from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot open the file: {_reason(error)}{_text_instead(path)}", source=show_id(path, 200)
        ) from error


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
            return Content(decompressed(whole), name, stem, compression)
    return Content(whole, name, stem)


def _first_bytes(stream: Readable, name: str) -> bytes:
    try:
        return stream.read(16)
    except OSError as error:
        raise InputError(f"cannot be read: {_reason(error)}", source=name) from error


class _Joined:
    """The bytes already taken from a stream, and then its others: a pipe can be looked at only once."""

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


class _Frames:
    """Compressed frames or streams, one after the other, of which none may be cut off or followed by anything else.

    The standard readers of bz2 and xz, and the zstandard package's, take such a file for a whole one.
    """

    PIECE = 4096  # compressed bytes at a time: what one step can unpack stays bounded, also for a hostile file

    def __init__(self, stream: Readable, new_frame: Callable[[], Any], error: type[Exception]) -> None:
        self._stream, self._new_frame, self._error = stream, new_frame, error
        self._frame = new_frame()
        self._fresh = True  # nothing of the present frame has been read

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


# name -> first bytes, and the reader of what follows, which is imported when it is met; a new compression is a new entry
_COMPRESSIONS: dict[str, tuple[tuple[bytes, ...], Callable[[Any], Readable]]] = {
    "gzip": ((b"\x1f\x8b",), _gzip_file),
    "bzip2": (tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)), _bzip2_streams),
    "xz": ((b"\xfd7zXZ\x00",), _xz_streams),
    "zstd": ((b"\x28\xb5\x2f\xfd",), _zstd_frames),
}
