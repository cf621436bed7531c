"""Records as JSON in files: written in one way, and read with errors that name the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.errors import InputError

Kept = TypeVar("Kept", bound=msgspec.Struct)


def encode_record(record: msgspec.Struct) -> bytes:
    """A record as JSON."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def read_record(
    path: Path, kind: type[Kept], *, why: Callable[[bytes, Exception], str], missing: str | None = None
) -> Kept:
    """The record in a file.

    `why` says what is wrong with bytes that are no such record, and `missing` that there is no such file in its folder.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        if missing is not None and isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise InputError(missing, source=str(path.parent)) from None
        raise InputError(f"cannot be read: {error.strerror}.", source=str(path)) from None
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(why(data, error), source=str(path)) from None
