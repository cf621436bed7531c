"""Write files atomically and durably: completely or not at all, even after a power failure."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time

from assay.errors import InputError

# Temporary files have random names of their own, short whatever the target is called, and are created, never opened:
# neither another thread, process or machine nor a link that somebody planted can share one.
_PREFIX, _SUFFIX = ".assay-", ".part"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_DAY = 86400  # seconds


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write to a temporary file next to the target, then rename it.

    The data is on disk before the rename, so neither a crash nor a power failure leaves half a file. Links are followed,
    an existing file keeps its mode, and pipes and devices are written to directly.
    """
    write_blocks(path, [data])


def write_blocks(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """`write_whole` for data that comes in blocks."""
    if not os.fspath(path):
        raise InputError("the name of the output file is empty.")
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.writelines(blocks)
            return
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        with open(os.open(temporary, _NEW, 0o666 if mode is None else mode), "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)  # bits that the umask took away
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        flush_folder(target.parent)
        _remove_abandoned(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}.", source=os.fspath(path)) from None
    except BaseException:  # an error in `blocks`, or Ctrl-C
        temporary.unlink(missing_ok=True)
        raise


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files that killed processes left here a day ago or earlier."""
    with suppress(OSError), os.scandir(folder) as entries:  # a courtesy: it must never fail a write that is done
        for entry in entries:
            ours = entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)
            if ours and entry.stat(follow_symlinks=False).st_mtime < time() - _DAY:
                os.unlink(entry.path)


def flush_folder(folder: str | os.PathLike[str]) -> None:
    """Flush the directory entries of a folder to disk, if the system supports it."""
    with suppress(OSError):  # Windows cannot open folders, some file systems cannot flush them
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def locked_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a folder against other Assay processes, if the system supports it.

    The lock ends with the process and leaves no file behind.
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
    """Swap two paths atomically; False, with no effect, if the system does not support it."""
    import ctypes  # only needed to replace an existing report

    paths = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            done = library.renamex_np(*paths, 2)  # RENAME_SWAP
        else:
            done = library.renameat2(-100, paths[0], -100, paths[1], 2)  # AT_FDCWD, RENAME_EXCHANGE
    except (AttributeError, OSError, TypeError):  # not supported by the C library or the system
        return False
    return bool(done == 0)


def is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are the same file, also through links; False if one does not exist."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def refuse_overwrite(output: str | None, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise an error if the output is one of the input files, to be called before anything is read."""
    for path in inputs:
        if output not in (None, "-") and path != "-" and is_same_file(path, str(output)):
            raise InputError("this is also an input file; choose another output file.", source=output)
