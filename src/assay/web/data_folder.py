"""Files of the data folder, and no way out of it. Knows no HTTP."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

MOST_FILES = 500


class DataFile(Struct, frozen=True):
    """A file of the data folder."""

    name: str  # relative, with / on every system
    size: int  # bytes
    changed: float  # seconds since 1970


class DataFolder(Struct, frozen=True):
    """The folder whose files the workbench shows."""

    path: Path  # resolved
    read_only: bool = False

    def inside(self, name: str) -> Path:
        """The file of a name that a client sent; InputError if there is none, or if it lies elsewhere."""
        raise NotImplementedError

    def files(self, most: int = MOST_FILES) -> list[DataFile]:
        """The files that may be shown, in natural order; no more than `most`."""
        raise NotImplementedError

    def write_new(self, name: str, data: bytes) -> Path:
        """Write a file of a plain name that is not taken; whole or not at all."""
        raise NotImplementedError
