"""Results kept on disk one by one, as they come: for work that costs time or money. Independent of what they are."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import IO, Generic, TypeVar

import msgspec
from msgspec import Struct

from assay.errors import InputError
from assay.files import explaining

Kept = TypeVar("Kept", bound=Struct)


class Journal(Generic[Kept]):
    """Values by key in one file, a line each. What a killed process could not finish is left out when it is read.

    Several threads may add at once, but one process at a time. Each value is on disk before `add` returns.
    """

    def __init__(self, file: Path, kind: type[Kept]) -> None:
        self._encoder, self._lock = msgspec.json.Encoder(), threading.Lock()
        self._decoder = msgspec.json.Decoder(tuple[str, kind])  # type: ignore[valid-type]
        with explaining(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._file = file.open("a+b", buffering=0)
        try:
            _lock(self._file)
            self._values = self._read()
        except InputError:
            self._file.close()
            raise

    def __enter__(self) -> Journal[Kept]:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:  # not while another thread writes: its descriptor may be another file's a moment later
            self._file.close()

    def get(self, key: str) -> Kept | None:
        """The value of a key, if it has been added."""
        return self._values.get(key)

    def add(self, key: str, value: Kept) -> None:
        """Keep a value."""
        line = self._encoder.encode((key, value)) + b"\n"
        with self._lock, explaining(self._file.name):
            end = os.fstat(self._file.fileno()).st_size
            try:
                _write_all(self._file.fileno(), line)
                os.fsync(self._file.fileno())
            except OSError:
                os.ftruncate(self._file.fileno(), end)  # a part of a line would damage the next one
                raise
            self._values[key] = value

    def _read(self) -> dict[str, Kept]:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        self._file.truncate(whole)  # the rest of a line that a killed process began
        found = {}
        for line in data[:whole].splitlines():
            try:
                key, value = self._decoder.decode(line)
            except msgspec.MsgspecError:
                raise InputError("is damaged. Delete it to begin again.", source=self._file.name) from None
            found[key] = value
        return found


def _lock(file: IO[bytes]) -> None:
    """Keep other processes out until the file is closed, if the system supports it: they would do the work again."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another process is writing this file. Wait until it has finished, or choose another output.",
            source=file.name,
        ) from None
    except (ImportError, OSError):  # Windows, or a file system without locks
        return


def _write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take fewer at once."""
    while data:
        data = data[os.write(descriptor, data) :]
