"""Indexes on disk: finished or not there. Knows where files are, not what engines keep in them.

FOLDER/index/index.json     the settings it was built under and how many documents it has; written last
FOLDER/index/ids.json       the id of each document, in the order of the corpus
FOLDER/index/...            what the engine keeps
FOLDER/index.part/          one that is being built, or whose builder was killed
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import RetrievalError
from assay.files import flush_folder, locked_folder, write_whole
from assay.tables import Ids, Integers, as_ids, in_byte_order

SCHEMA = "assay/index/1"
_FINISHED, _PART, _MARK, _IDS = "index", "index.part", "index.json", "ids.json"


@dataclass(frozen=True)
class StoredIndex:
    """A finished index."""

    folder: Path  # where the engine's files are

    @cached_property
    def ids(self) -> Ids:
        """The id of each document, byte for byte."""
        return as_ids(json.loads((self.folder / _IDS).read_bytes()))

    @cached_property
    def place(self) -> Integers:
        """For each document its place among all ids in descending byte order: how equal scores are ordered."""
        ids = self.ids.tolist()
        at = {text: place for place, text in enumerate(in_byte_order(ids, reverse=True))}
        return np.fromiter(map(at.__getitem__, ids), np.int64, len(ids))

    def __len__(self) -> int:
        return len(self.ids)


def find_index(folder: Path, settings: Mapping[str, object]) -> StoredIndex | None:
    """The finished index in a folder, if it was built under these settings."""
    finished = folder / _FINISHED
    mark = _mark_of(finished)
    return StoredIndex(finished) if mark is not None and mark.get("settings") == _plain(settings) else None


def open_index(folder: Path, settings: Mapping[str, object]) -> StoredIndex:
    """The finished index in a folder; refused if there is none, or if it was built under other settings."""
    found = find_index(folder, settings)
    if found is not None:
        return found
    if _mark_of(folder / _FINISHED) is None:
        raise RetrievalError(f"{folder}: there is no finished index; build it first.")
    raise RetrievalError(f"{folder}: the index there was built under other settings; build it again.")


@contextmanager
def building(folder: Path, settings: Mapping[str, object]) -> Iterator[Build | None]:
    """A place to build an index in, which is put where it belongs at the end; None where a finished one is there already.

    Another process that builds in the same folder is waited for. What a killed one left behind is removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked_folder(folder):
        if find_index(folder, settings) is not None:
            yield None
            return
        part, finished = folder / _PART, folder / _FINISHED
        _remove(part)
        part.mkdir()
        build = Build(part)
        yield build
        if build.ids is None:
            raise AssertionError("an index was not finished")  # a bug of ours
        write_whole(part / _IDS, json.dumps(build.ids).encode())  # ASCII: bytes that are not UTF-8 survive as escapes
        mark = {"schema": SCHEMA, "settings": _plain(settings), "documents": len(build.ids)}
        write_whole(part / _MARK, json.dumps(mark, indent=2).encode() + b"\n")
        _remove(finished)
        part.rename(finished)
        flush_folder(folder)


class Build:
    """An index that is being built: a folder for the engine's files, and the ids of the documents once they are known."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ids: Sequence[str] | None = None

    def finish(self, ids: Sequence[str]) -> None:
        """Say that the engine's files are whole."""
        self.ids = ids


def _mark_of(finished: Path) -> Mapping[str, Any] | None:
    try:
        mark = json.loads((finished / _MARK).read_bytes())
    except (OSError, ValueError):
        return None
    return mark if isinstance(mark, dict) and mark.get("schema") == SCHEMA else None


def _plain(settings: Mapping[str, object]) -> Any:
    """Settings as they are read back from JSON."""
    return json.loads(json.dumps(settings))


def _remove(folder: Path) -> None:
    remove: Callable[[Path], None] = shutil.rmtree
    if folder.exists():
        remove(folder)
