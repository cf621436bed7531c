"""Identify files by their content: digest, size and number of lines. Reads bytes only; parses no format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

import numpy as np
from msgspec import Struct

from assay.errors import InputError
from assay.formats.sources import STDIN, open_source, stem
from assay.records.model import Digest, Identity

_BLOCK = 1 << 20
_BINARY = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")  # Parquet and Arrow have rows, but no lines


class FileContent(Struct, frozen=True):
    """Digest, size and number of lines of a file."""

    sha256: str
    size: int
    lines: int | None


class Stamp(Struct, frozen=True):
    """File status that changes when the file is written to."""

    device: int
    inode: int
    size: int
    written: int  # nanoseconds


def file_digest(path: str) -> Digest:
    """The digest of a file."""
    content = content_of(path)
    return Digest(path=path, sha256=content.sha256, size=content.size)


def digest_of(path: str, data: bytes) -> Digest:
    """The digest of a file that is about to be written."""
    return Digest(path=path, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def is_file(source: str) -> bool:
    """Whether a source can be read again: not standard input, a pipe, or a value in memory."""
    return bool(source) and source != STDIN and os.path.isfile(source)


def identity_of(name: str, path: str, queries: int) -> Identity:
    """The identity of a file; without a digest if it cannot be read again."""
    if not is_file(path):
        return unread_identity(name, path, queries)
    content = content_of(path)
    return Identity(
        name=name, path=path, sha256=content.sha256, size=content.size, lines=content.lines, queries=queries
    )


def unread_identity(name: str, path: str, queries: int) -> Identity:
    """The identity of judgments or a run from standard input ("-"), a pipe, or memory ("")."""
    return Identity(name=name, path=path, sha256=None, size=None, lines=None, queries=queries)


def name_of(path: str) -> str:
    """The name of judgments: that of their file, as for runs."""
    return "stdin" if path == STDIN else stem(path) or "qrels"


def content_of(path: str) -> FileContent:
    """Digest, size and lines of a file, read once; a compressed file is read again to count its lines."""
    digest, size, lines = hashlib.sha256(), 0, _Lines()
    try:
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                size += len(block)
                digest.update(block)
                lines.add(block)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=path) from error
    return FileContent(digest.hexdigest(), size, _lines_of(path, lines))


def _lines_of(path: str, raw: _Lines) -> int | None:
    with open_source(path) as content:
        if content.head.startswith(_BINARY):
            return None
        if content.compression is None:
            return raw.count
        unpacked = _Lines()
        for block in content.blocks():
            unpacked.add(block)
        return unpacked.count


class _Lines:
    """Counts lines block by block; a last line without a newline counts too."""

    def __init__(self) -> None:
        self._ends, self._open = 0, False

    def add(self, block: bytes) -> None:
        self._ends += int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))
        self._open = not block.endswith(b"\n")

    @property
    def count(self) -> int:
        return self._ends + self._open


def stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    """The status of each file, to detect later whether it was written to."""
    found = {}
    for path in paths:
        if is_file(path):
            status = os.stat(path)
            found[path] = Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def refuse_changed(before: dict[str, Stamp]) -> None:
    """Refuse files that have changed since: the digest would not match the evaluated bytes."""
    now = stamps(before)
    for path, stamp in before.items():
        if now.get(path) != stamp:
            raise InputError(
                "the file changed while it was evaluated, so no report was written. Run the evaluation again.",
                source=path,
            )
