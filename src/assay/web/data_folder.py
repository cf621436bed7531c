"""Files of the data folder, and no way out of it. Knows no HTTP.

Names come from clients. They are relative, with `/` on every system, and say nothing about the world outside: what lies
there is refused in the same words as what does not exist.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct

import assay.files
from assay.errors import InputError, LimitError, show_id
from assay.words import natural_key

MOST_FILES = 500
_DEEPEST = 8  # folders within each other
_MOST_SEEN = 20_000  # names that are looked at for one list
_LONGEST_NAME, _LONGEST_PART = 1000, 255  # bytes
_BAD = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\\\\" + ("]" if os.name != "nt" else ":]"))
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


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
        """The file of a name that a client sent, with links resolved; InputError if there is none, or if it lies elsewhere."""
        refuse_bad_name(name)
        try:
            found = Path(os.path.realpath(self.path / name, strict=True))
            if self._shows(found) and stat.S_ISREG(found.lstat().st_mode):
                return found
        except (OSError, ValueError):
            pass
        raise InputError(f"the data folder has no file {show_id(name)!r} that can be read. Choose one of its list.")

    def read(self, name: str, most: int) -> bytes:
        """The content of a file, if it is not larger than `most` bytes.

        What is read is what `inside` would give: files and folders may be exchanged for links at any time.
        """
        path = self.inside(name)
        with assay.files.explaining(name, "cannot be read"), open(os.open(path, _READ), "rb") as file:
            if not os.path.samestat(os.fstat(file.fileno()), self.inside(name).lstat()):
                raise InputError("has just been replaced. Try again.", source=name)
            data = file.read(most + 1)
        if len(data) > most:
            raise LimitError(f"is larger than {most >> 10:,} KB.", source=name)
        return data

    def files(self, most: int = MOST_FILES) -> list[DataFile]:
        """The files that may be shown, no more than `most`: those of a folder in natural order, then its folders.

        Left out are hidden files, links to folders, what cannot be read, and what lies too deep or among too many others.
        """
        return list(islice(self._walk(), most))

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        """Write files of plain names that are not taken: each of them whole, and all of them or none."""
        if self.read_only:
            raise InputError("the workbench was started with --read-only, so it writes nothing.")
        for name in contents:
            refuse_bad_name(name)
            if "/" in name:
                raise InputError(f"{show_id(name)!r} names a folder. Give the name of a file.")
        temporary = {name: self.path / f".assay-{os.urandom(8).hex()}.part" for name in contents}  # as in `assay.files`
        named: list[Path] = []
        try:
            for name, data in contents.items():
                with assay.files.explaining(name):
                    assay.files.write_new(temporary[name], data)
            for name, file in temporary.items():
                with assay.files.explaining(name):
                    _link_new(file, self.path / name)
                named.append(self.path / name)
        except BaseException:
            for file in named:
                assay.files.remove_whole(file)
            raise
        finally:
            for file in temporary.values():
                assay.files.remove_whole(file)
        assay.files.flush_folder(self.path)

    def _shows(self, found: Path) -> bool:
        """Whether a resolved path lies in this folder, and is not hidden."""
        return found.is_relative_to(self.path) and not any(map(_is_hidden, found.relative_to(self.path).parts))

    def _walk(self) -> Iterator[DataFile]:
        left = _MOST_SEEN
        folders = [("", 0)]  # those that are still to be seen, the next one last
        while folders and left > 0:
            place, depth = folders.pop()
            entries = sorted(_entries(self.path / place, left), key=lambda each: natural_key(each.name))
            left -= len(entries)
            inner = []
            for each in entries:
                if not _is_folder(each):
                    yield from self._described(f"{place}{each.name}")
                elif depth < _DEEPEST and not _is_hidden(each.name):
                    inner.append((f"{place}{each.name}/", depth + 1))
            folders += reversed(inner)

    def _described(self, name: str) -> Iterator[DataFile]:
        """The file, if it may be shown."""
        with suppress(InputError, OSError):
            found = self.inside(name).stat()
            yield DataFile(name, found.st_size, found.st_mtime)


def refuse_bad_name(name: str) -> None:
    """Raise an error for a name that cannot be one of the data folder, whatever files there are."""
    if not 0 < len(name.encode(errors="replace")) <= _LONGEST_NAME:
        raise InputError(f"the name of a file has 1 to {_LONGEST_NAME:,} bytes.")
    parts = name.split("/")
    if _BAD.search(name) or re.match("[A-Za-z]:", name) or "" in parts:
        raise InputError(f"{show_id(name)!r} is no name of a file in the data folder: give FILE or FOLDER/FILE.")
    if any(map(_is_hidden, parts)):
        raise InputError(f"{show_id(name)!r} is hidden, or leads out of the data folder: no part may begin with a dot.")
    if any(len(part.encode(errors="replace")) > _LONGEST_PART for part in parts):
        raise InputError(f"{show_id(name)!r} is too long: each part has at most {_LONGEST_PART} bytes.")


def _is_hidden(part: str) -> bool:
    return part.startswith(".")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False)
    return False


def _entries(folder: Path, most: int) -> list[os.DirEntry[str]]:
    """What is in a folder, up to a number; nothing if it cannot be read."""
    with suppress(OSError), os.scandir(folder) as entries:
        return list(islice(entries, most))
    return []


def _link_new(file: Path, target: Path) -> None:
    """Give a file another name, which must not be taken."""
    try:
        try:
            os.link(file, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            target.touch(exist_ok=False)
            os.replace(file, target)
    except FileExistsError:
        raise InputError(f"{show_id(target.name)!r} exists already. Choose another name.") from None
