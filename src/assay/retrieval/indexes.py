"""Store indexes on disk, complete or not at all. Independent of the files that engines write.

FOLDER/index/index.json     the settings of the index and the digests of its files; written last
FOLDER/index/ids.json       the document ids, in corpus order
FOLDER/index/...            the files of the engine
FOLDER/index.part/          an unfinished index
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from assay.errors import RetrievalError
from assay.files import flush_folder, flush_tree, locked_folder, passing_folder, reason, write_new
from assay.signals import signals_wait
from assay.tables import Ids, Integers, as_ids, in_byte_order

SCHEMA = "assay/index/2"
_FINISHED, _PART, _MARK, _IDS = "index", "index.part", "index.json", "ids.json"


class StoredIndex(Struct, frozen=True, dict=True):
    """A finished index."""

    folder: Path  # with the files of the engine

    @cached_property
    def ids(self) -> Ids:
        """The document ids, byte for byte."""
        return as_ids(json.loads((self.folder / _IDS).read_bytes()))

    @cached_property
    def place(self) -> Integers:
        """The position of each document id in descending byte order, which breaks ties."""
        return places_of(self.ids.tolist())

    def __len__(self) -> int:
        return len(self.ids)


def places_of(ids: Sequence[str]) -> Integers:
    """The position of each id in descending byte order.

    >>> places_of(["b", "a", "c"]).tolist()
    [1, 2, 0]
    """
    at = {text: place for place, text in enumerate(in_byte_order(ids, reverse=True))}
    return np.fromiter(map(at.__getitem__, ids), np.int64, len(ids))


def find_index(folder: Path, settings: Mapping[str, object]) -> StoredIndex | None:
    """The finished index in a folder, if it was built with these settings."""
    finished = folder / _FINISHED
    mark = _mark_of(finished)
    return StoredIndex(finished) if mark is not None and mark.get("settings") == _plain(settings) else None


def open_index(folder: Path, settings: Mapping[str, object]) -> StoredIndex:
    """The finished index in a folder; raises if there is none, or if it was built with other settings."""
    found = find_index(folder, settings)
    if found is not None:
        return found
    if _mark_of(folder / _FINISHED) is None:
        raise RetrievalError(f"{folder}: no finished index. Build it first.")
    raise RetrievalError(f"{folder}: the index was built with other settings. Build it again.")


@contextmanager
def building(
    folder: Path, settings: Mapping[str, object], is_there: Callable[[StoredIndex], bool] = lambda stored: True
) -> Iterator[Build | None]:
    """A temporary folder to build an index in, moved into place at the end; None if a finished index exists.

    Waits for other processes that build in the same folder. Removes unfinished indexes, and those with changed files.
    `is_there` says whether what an index has outside its folder, such as in a server, is still there.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked_folder(folder), ExitStack() as made:
        part, finished = folder / _PART, folder / _FINISHED
        found = find_index(folder, settings)
        if found is not None and _is_whole(finished) and is_there(found):
            yield None
            return
        with writing(folder):
            _remove(part)
            made.enter_context(passing_folder(part))  # nothing of an unfinished index could be used again
        build = Build(part)
        yield build
        if build.ids is None:
            raise AssertionError("an index was not finished")  # a bug in assay
        with writing(folder):
            _complete(build, settings)
            _remove(finished)
            part.rename(finished)
            flush_folder(folder)


def _complete(build: Build, settings: Mapping[str, object]) -> None:
    """Add the ids and the settings with all digests, and flush everything to disk."""
    # ASCII: bytes that are not UTF-8 survive as escapes
    write_new(build.folder / _IDS, json.dumps(build.ids).encode())
    mark = {"schema": SCHEMA, "settings": _plain(settings), "files": _digests(build.folder)}
    write_new(build.folder / _MARK, json.dumps(mark, indent=2).encode() + b"\n")
    flush_tree(build.folder)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn write errors of an engine, such as a full disk, into a RetrievalError."""
    try:
        yield
    except OSError as error:
        raise RetrievalError(f"{folder}: cannot be written: {reason(error)}") from None
    except (ValueError, RuntimeError) as error:
        said = str(error).strip().rstrip(".")
        raise RetrievalError(f"{folder}: cannot be written: {said}.") from None


class Build:
    """An index under construction: a folder for the files of the engine, and the document ids once known."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids: Sequence[str] | None = None

    def finish(self, ids: Sequence[str]) -> None:
        """Declare the files of the engine complete."""
        self.ids = ids


def _mark_of(finished: Path) -> Mapping[str, Any] | None:
    try:
        mark = json.loads((finished / _MARK).read_bytes())
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) and mark.get("schema") == SCHEMA else None


def _is_whole(finished: Path) -> bool:
    mark = _mark_of(finished) or {}
    return mark.get("files") == _digests(finished)


def _digests(folder: Path) -> dict[str, str]:
    """The digests of the files of an index, except index.json and lock files."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != _MARK and path.suffix != ".lock":
            with path.open("rb") as file:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _plain(settings: Mapping[str, object]) -> Any:
    """Settings after a round trip through JSON."""
    return json.loads(json.dumps(settings))


def _remove(folder: Path) -> None:
    remove: Callable[[Path], None] = shutil.rmtree
    if folder.exists():
        with signals_wait():
            remove(folder)
