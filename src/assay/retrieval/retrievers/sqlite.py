"""BM25 of SQLite's full-text index (FTS5), in a file and without a server."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import ClassVar
from urllib.parse import quote

from msgspec import Struct

from assay.errors import RetrievalError, did_you_mean
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.analysis import database_notes, ranking_note
from assay.retrieval.base import (
    NO_HITS,
    STRIDE,
    Hits,
    Progress,
    SearchesWhatItOpens,
    distinct,
    expected,
    retriever,
    silent,
)
from assay.retrieval.databases import hits_of, storable, with_ties
from assay.retrieval.indexes import StoredIndex, building, open_index
from assay.retrieval.observing import Observed
from assay.tables import Ids, Run

TOKENIZERS = ("porter unicode61", "unicode61", "porter ascii", "ascii", "trigram")
_K1, _B = 1.2, 0.75  # fixed in the source of FTS5
_FILE = "documents.sqlite"
_WORD = re.compile(r"[^\W_]+")
_ADD = "INSERT INTO documents (rowid, text) VALUES (?, ?)"
_FIND = "SELECT rowid, -bm25(documents) FROM documents WHERE documents MATCH ? ORDER BY bm25(documents), rowid LIMIT ?"


@retriever("BM25 of SQLite's full-text index (FTS5), in a file")
class SQLite(SearchesWhatItOpens, Struct, frozen=True):
    """BM25 over title and text, as SQLite's FTS5 has it: k1 = 1.2, b = 0.75, no stop words.

    `tokenizer` is one of FTS5's: `porter` stems English words, `unicode61` removes accents, `trigram` finds parts of words.
    """

    name: ClassVar[str] = "sqlite"

    tokenizer: str = "porter unicode61"

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            hint = did_you_mean(str(self.tokenizer), TOKENIZERS)
            raise RetrievalError(
                f"tokenizer cannot be {self.tokenizer!r}{hint or '.'} Available: {', '.join(TOKENIZERS)}."
            )

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, parameters and tokenizer."""
        return {
            "engine": "SQLite FTS5",
            "version": sqlite3.sqlite_version,
            "model": "BM25",
            "k1": _K1,
            "b": _B,
            "tokenizer": self.tokenizer,
            "fields": "title and text as one",
            "stop_words": "none",
        }

    @property
    def ranks_by(self) -> str:
        """How it ranks, in words."""
        stems = "English stems" if self.tokenizer.startswith("porter") else "no stems"
        return f"BM25 of SQLite with k1 = {_K1} and b = {_B}, without stop words, {stems} (tokenizer {self.tokenizer})"

    def prepare(self, progress: Progress | None = None) -> None:
        """Fail at once if this SQLite has no full-text index."""
        with closing(sqlite3.connect(":memory:")) as connection:
            _create(connection, self.tokenizer)

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Build the index in a file, unless it exists; documents are streamed, not kept in memory."""
        tell = progress or silent
        with building(folder, self.settings) as build:
            if build is None:
                return
            total = expected(documents, progress)
            ids: list[str] = []
            with _in_our_words(folder), closing(sqlite3.connect(build.folder / _FILE)) as connection:
                connection.execute("PRAGMA synchronous = OFF")  # it is flushed when it is complete
                connection.execute("PRAGMA journal_mode = OFF")  # an unfinished one is removed, not repaired
                _create(connection, self.tokenizer)
                for row, document in enumerate(distinct(documents())):
                    ids.append(document.id)
                    connection.execute(_ADD, (row, storable(document.whole)))
                    if row % STRIDE == 0:
                        tell("indexing", row, total)
                connection.execute("INSERT INTO documents (documents) VALUES ('optimize')")
                connection.commit()
            tell("indexing", len(ids), len(ids))
            build.finish(ids)

    @contextmanager
    def open(self, folder: Path) -> Iterator[_SQLiteSearcher]:
        """Open the file, to read only."""
        stored = open_index(folder, self.settings)
        place = quote(str((stored.folder / _FILE).resolve()), errors="surrogateescape")
        with closing(sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True, check_same_thread=False)) as file:
            yield _SQLiteSearcher(stored, file, folder)

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """How it ranks, and what to set if most queries are written without spaces, or find nothing."""
        notes = database_notes(f"tokenizer = {self.tokenizer!r}", queries, run.queries)
        return Observed(notes=(ranking_note(self.ranks_by), *notes))


class _SQLiteSearcher(Struct, frozen=True, dict=True):
    stored: StoredIndex
    connection: sqlite3.Connection
    folder: Path

    @property
    def ids(self) -> Ids:
        return self.stored.ids

    @cached_property
    def lock(self) -> Lock:
        """One statement at a time: a connection is not for several threads at once."""
        return Lock()

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        return [self._found(any_word_of(query.text), depth) for query in queries]

    def _found(self, words: str, depth: int) -> Hits:
        return with_ties(partial(self._ask, words), self.stored, depth) if words else NO_HITS

    def _ask(self, words: str, wanted: int) -> Hits:
        with self.lock, _in_our_words(self.folder):
            return hits_of(self.connection.execute(_FIND, (words, wanted)).fetchall())


def any_word_of(text: str) -> str:
    """A query for any word of a text, each once and in quotes, so that nothing in it is an operator.

    >>> any_word_of('plate AND "drag*" -plate')
    '"plate" OR "AND" OR "drag"'
    """
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(storable(text))))


def _create(connection: sqlite3.Connection, tokenizer: str) -> None:
    try:
        # The tokenizer is one of ours. Texts are not kept: only the index is searched.
        connection.execute(f"CREATE VIRTUAL TABLE documents USING fts5(text, tokenize = '{tokenizer}', content = '')")
    except sqlite3.OperationalError as error:
        raise RetrievalError(
            f"SQLite {sqlite3.sqlite_version} of this Python has no full-text index of this kind ({error}). Use a Python "
            "whose SQLite has FTS5, as those of python.org and of most Linux distributions do."
        ) from None


@contextmanager
def _in_our_words(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise RetrievalError(f"{folder}: SQLite says: {str(error).rstrip('.')}.") from None
