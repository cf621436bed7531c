"""Write records as JSON, and read them with errors that name the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.errors import InputError
from assay.formats.sources import read_small

Kept = TypeVar("Kept", bound=msgspec.Struct)


def encode_record(record: msgspec.Struct) -> bytes:
    """A record as JSON."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def read_record(
    path: Path, kind: type[Kept], *, why: Callable[[bytes, Exception], str], missing: str | None = None
) -> Kept:
    """Read the record in a file.

    `why` gives the message for bytes that are not such a record, `missing` is the message if there is no file.
    """
    try:
        data = read_small(path)
    except OSError as error:
        if missing is not None and isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise InputError(missing, source=str(path.parent)) from None
        raise InputError(f"cannot be read: {error.strerror}.", source=str(path)) from None
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(why(data, error), source=str(path)) from None
    except RecursionError:
        raise InputError("is damaged: it is nested too deeply.", source=str(path)) from None
