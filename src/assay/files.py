"""Write files atomically and durably: completely or not at all, even after a power failure.

All files that users name are written here. Engines and models write folders of their own: those are made beside the
target, flushed and renamed (`records/storing.py`, `retrieval/indexes.py`, `retrieval/models.py`).
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time

from assay.errors import InputError
from assay.signals import signals_wait

# Temporary files have random names of their own, short whatever the target is called, and are created, never opened:
# neither another thread, process or machine nor a link that somebody planted can share one.
_PREFIX, _SUFFIX = ".assay-", ".part"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_DAY = 86400  # seconds

# A signal raises an exception at any moment, also just before something is removed that its `finally` names. So what is
# made is noted here, and the command looks here once more at its end.
_unfinished: set[Path] = set()

_FIXES = {  # what to do about the reasons that users can do something about
    "Free some space, or write to another disk.": (errno.ENOSPC, errno.EDQUOT),
    "Write to a folder that you have access to, or change its permissions.": (errno.EACCES, errno.EPERM, errno.EROFS),
    "The disk, or the connection to it, may be failing: write to another one.": (errno.EIO, errno.ESTALE),
    "Create the folder first, or write to another one.": (errno.ENOENT, errno.ENOTDIR),
    "Give the name of a file.": (errno.EISDIR,),
    "Choose a shorter name.": (errno.ENAMETOOLONG,),
}
_FIX_OF = {code: fix for fix, codes in _FIXES.items() for code in codes}


def reason(error: OSError) -> str:
    """Why something cannot be written, and what to do.

    >>> reason(OSError(errno.ENOSPC, "No space left on device"))
    'No space left on device. Free some space, or write to another disk.'
    """
    return f"{error.strerror or error}. {_FIX_OF.get(error.errno or 0, 'Write to another place.')}"


@contextmanager
def explaining(path: str | os.PathLike[str], what: str = "cannot be written") -> Iterator[None]:
    """Turn an error of the system into ours, with the path, the reason and what to do."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{what}: {reason(error)}", source=os.fspath(path)) from None


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
    with explaining(path):
        # Before links are followed: what /dev/stdout and /dev/fd/63 lead to has no name in a folder.
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.writelines(blocks)
        else:
            _replace(Path(os.path.realpath(path)), blocks)


def _replace(target: Path, blocks: Iterable[bytes]) -> None:
    """Write to a temporary file beside the target, and rename it."""
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    temporary = target.with_name(f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")
    try:
        with signals_wait():
            descriptor = os.open(temporary, _NEW, 0o666 if mode is None else mode)
            _unfinished.add(temporary)
        with open(descriptor, "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)  # bits that the umask took away
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _unfinished.discard(temporary)
    finally:  # after an error, also one in `blocks`, or Ctrl-C
        if temporary in _unfinished:
            remove_whole(temporary)
    flush_folder(target.parent)
    _remove_abandoned(target.parent)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is new, in a folder that nobody else can see yet, and flush it to disk."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def passing_folder(path: Path, mode: int = 0o777) -> Iterator[Path]:
    """Make a folder, and remove it on the way out if it has not been renamed by then, whenever a signal comes."""
    try:
        with signals_wait():
            path.mkdir(mode)  # fails if the name is taken, also by a link: what we remove must be our own
            _unfinished.add(path)
        yield path
    finally:
        if path in _unfinished:
            remove_whole(path)


def remove_whole(path: Path) -> None:
    """Remove a file, or a folder with all that is in it, as far as that is possible; signals wait until it is gone."""
    with signals_wait():
        shutil.rmtree(path, ignore_errors=True)  # no link is followed
        with suppress(OSError):
            path.unlink()
        _unfinished.discard(path)


def remove_unfinished() -> None:
    """Remove what a signal left: one that came just before the removal began. For the end of a program."""
    for path in tuple(_unfinished):
        remove_whole(path)


def is_temporary(path: str | os.PathLike[str]) -> bool:
    """Whether a file has the name of one that was not finished."""
    name = os.path.basename(os.fspath(path))
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files that killed processes left here a day ago or earlier."""
    with suppress(OSError), os.scandir(folder) as entries:  # a courtesy: it must never fail a write that is done
        for entry in entries:
            if is_temporary(entry.name) and entry.stat(follow_symlinks=False).st_mtime < time() - _DAY:
                os.unlink(entry.path)


def flush_folder(folder: str | os.PathLike[str]) -> None:
    """Flush the directory entries of a folder to disk, if the system supports it."""
    with suppress(OSError):  # Windows cannot open folders, some file systems cannot flush them
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def flush_tree(folder: Path) -> None:
    """Flush all files of a folder to disk, whoever wrote them, and then their names."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            descriptor = os.open(os.path.join(place, name), os.O_RDWR | getattr(os, "O_BINARY", 0))
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        flush_folder(place)


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
