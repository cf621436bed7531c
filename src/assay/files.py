"""Files are written whole or not at all, and stay so when the power fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.errors import InputError


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a temporary file beside the target and put it in place in one step.

    The data is on the disk before the name points to it, so that neither a crash nor a lost power supply leaves half a
    file. A link is followed, the mode of a file that is there is kept, and pipes and devices are written to as they are.
    """
    write_blocks(path, [data])


def write_blocks(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """The same for data that comes block by block."""
    if not os.fspath(path):
        raise InputError("the name of the output file is empty.")
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.writelines(blocks)
            return
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        flush_folder(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}.", source=os.fspath(path)) from None
    except BaseException:  # the blocks could not be made, or the user has had enough
        temporary.unlink(missing_ok=True)
        raise


def flush_folder(folder: str | os.PathLike[str]) -> None:
    """See to it that the names in a folder are on the disk, where the system can do that."""
    with suppress(OSError):  # Windows opens no folders, some file systems flush none
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes of ours that change names in a folder waiting, where the system can do that.

    The lock goes with the process, however that ends, and leaves no file behind.
    """
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows
        yield
        return
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def exchange(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Let two names change places in one step; False where the system cannot do that, and then nothing has happened."""
    import ctypes  # only where a report is written over an older one

    paths = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            done = library.renamex_np(*paths, 2)  # RENAME_SWAP
        else:
            done = library.renameat2(-100, paths[0], -100, paths[1], 2)  # AT_FDCWD, RENAME_EXCHANGE
    except (AttributeError, OSError, TypeError):  # no such function, no such library, no such notion
        return False
    return bool(done == 0)


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two names lead to the same file, by links of any kind; False where one of them leads nowhere."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)
