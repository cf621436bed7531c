"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import InputError


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a temporary file beside the target and put it in place in one step.

    A link is followed, the mode of a file that is there is kept, and pipes and devices are written to as they are.
    """
    if not os.fspath(path):
        raise InputError("no file to write to: the name is empty.")
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}.", source=os.fspath(path)) from None
