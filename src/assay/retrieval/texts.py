"""The documents of a corpus by id, for stages that read what another mode found. Independent of modes.

They are kept in a database file, because a corpus may be compressed, may have any format and need not fit into memory.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from assay.errors import RetrievalError, some_of
from assay.inputs.documents import Document
from assay.retrieval.base import STRIDE, Progress, silent
from assay.retrieval.indexes import building, open_index, writing

_FILE = "texts.sqlite"
_SETTINGS = {"engine": "sqlite", "table": "document(id, title, text)"}
_ASKED = 500  # ids per question: databases limit the number of parameters


class Texts:
    """The documents of a corpus; several threads may ask at once."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, check_same_thread=False)
        self._lock = threading.Lock()

    def of(self, ids: Sequence[str]) -> list[Document]:
        """The documents with these ids, in this order."""
        found: dict[str, Document] = {}
        for begin in range(0, len(ids), _ASKED):
            some = ids[begin : begin + _ASKED]
            marks = ", ".join("?" * len(some))
            with self._lock:
                rows = self._database.execute(f"SELECT id, title, text FROM document WHERE id IN ({marks})", some)
                found |= {id: Document(id, text, title) for id, title, text in rows}
        missing = [id for id in ids if id not in found]
        if missing:
            raise RetrievalError(
                f"the corpus has no document {some_of(missing)}, so it cannot be read. Does the run belong to another "
                "version of the corpus?"
            )
        return [found[id] for id in ids]

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def open_texts(documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None) -> Texts:
    """The documents in a folder of their own, written there unless they already are. Of equal ids, the first counts."""
    with building(folder, _SETTINGS) as build:
        if build is not None:
            with writing(folder):
                _write(documents, build.folder / _FILE, progress or silent)
            build.finish([])
    return Texts(open_index(folder, _SETTINGS).folder / _FILE)


def _write(documents: Callable[[], Iterator[Document]], file: Path, tell: Progress) -> None:
    rows = _rows(documents, tell)
    try:
        with closing(sqlite3.connect(file)) as database:
            database.execute("PRAGMA journal_mode = OFF")  # an unfinished file is thrown away as a whole
            database.execute("CREATE TABLE document (id TEXT PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL)")
            database.executemany("INSERT OR IGNORE INTO document VALUES (?, ?, ?)", rows)
            database.commit()
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _rows(documents: Callable[[], Iterator[Document]], tell: Progress) -> Iterator[tuple[str, str, str]]:
    count = 0
    for count, document in enumerate(documents(), 1):
        yield document.id, document.title, document.text
        if count % STRIDE == 0:
            tell("storing texts", count, None)
    tell("storing texts", count, count)
