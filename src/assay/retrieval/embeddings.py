"""An on-disk cache of vectors, keyed by the digest of their text. Independent of the model.

One append-only file of fixed-size records: digest of the text, checksum, vector. A process killed while writing leaves
at most a truncated record or one with a wrong checksum; both are ignored.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.files import locked_folder
from assay.retrieval.indexes import writing
from assay.tables import as_bytes

if TYPE_CHECKING:
    from assay.retrieval.embedding import Vectors

_FILE = "vectors.bin"
_DIGEST = 32  # bytes of a sha256
_AT_ONCE = 1024  # records read in one step


def text_digest(text: str) -> bytes:
    """The cache key of a text."""
    return hashlib.sha256(as_bytes(text)).digest()


class EmbeddingStore:
    """The cached vectors of one model; several processes may use it at once."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._path = folder, folder / _FILE
        self._record = np.dtype([("digest", f"V{_DIGEST}"), ("sum", "<u4"), ("vector", "<f4", (dimensions,))])
        self._rows: dict[bytes, int] = {}
        self._read = 0  # records read so far
        self._catch_up()

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def vectors(self, digests: Sequence[bytes]) -> Vectors:
        """The vectors of these texts, all of which must be cached."""
        rows = [self._rows[digest] for digest in digests]
        found: Vectors = np.ascontiguousarray(self._records()["vector"][rows], np.float32)
        return found

    def add(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Add vectors to the cache."""
        records = np.empty(len(digests), self._record)
        records["vector"] = vectors
        for row, digest in enumerate(digests):
            records["digest"][row] = np.void(digest)
            records["sum"][row] = _sum(digest, records["vector"][row].tobytes())
        with locked_folder(self._folder), writing(self._folder), self._path.open("ab") as file:
            whole = file.tell() // self._record.itemsize * self._record.itemsize
            file.truncate(whole)  # a partial record left by a killed process
            file.write(records.tobytes())
            file.flush()
            os.fsync(file.fileno())
        self._catch_up()

    def _records(self) -> Any:
        """All complete records of the file, memory-mapped."""
        size = self._path.stat().st_size if self._path.exists() else 0
        whole = size // self._record.itemsize
        return np.memmap(self._path, self._record, "r", shape=(whole,)) if whole else np.empty(0, self._record)

    def _catch_up(self) -> None:
        """Read the records added since, by this process or others."""
        size = self._record.itemsize
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read * size)
            while block := file.read(_AT_ONCE * size):
                for begin in range(0, len(block) - size + 1, size):
                    record = memoryview(block)[begin : begin + size]
                    digest = bytes(record[:_DIGEST])
                    if int.from_bytes(record[_DIGEST : _DIGEST + 4], "little") == _sum(digest, record[_DIGEST + 4 :]):
                        self._rows.setdefault(digest, self._read)
                    self._read += 1


def _sum(digest: bytes, vector: bytes | memoryview) -> int:
    return zlib.crc32(vector, zlib.crc32(digest))
