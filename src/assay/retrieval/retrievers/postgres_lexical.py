"""Full-text search of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.analysis import database_notes, ranking_note
from assay.retrieval.base import NO_HITS, STRIDE, Hits, Progress, distinct, expected, retriever, silent
from assay.retrieval.databases import hits_of, keep_place, storable
from assay.retrieval.full_text import (
    ASKED,
    checked_configuration,
    checked_ranking,
    full_text_settings,
    load_texts,
    ranking_in_words,
    score_of,
    words_of,
)
from assay.retrieval.indexes import StoredIndex, building, open_index
from assay.retrieval.observing import Observed
from assay.retrieval.postgres import InPostgres, facts_of, new_schema
from assay.tables import Ids, Run

if TYPE_CHECKING:
    from psycopg import Connection

_FIND = f"""
    WITH {ASKED}
    SELECT doc, {{score}} AS score FROM asked, documents WHERE terms @@ query
    ORDER BY score DESC, place LIMIT %(depth)s
"""


@retriever("PostgreSQL's full-text search", extra="live")
class PostgresLexical(InPostgres, Struct, frozen=True):
    """The documents that have any word of the query, ranked by `ts_rank` or `ts_rank_cd` over title and text.

    `language` is a text search configuration of PostgreSQL, or none for neither stop words nor stems. `normalisation` is
    the number that PostgreSQL's ranking functions take: 0 ignores the length of a document, 1 divides by 1 plus its
    logarithm, 2 by the length; its documentation lists the others.
    """

    name: ClassVar[str] = "postgres-lexical"

    language: str = "english"
    ranking: str = "ts_rank"
    normalisation: int = 0

    def __post_init__(self) -> None:
        checked_configuration(self.language)
        checked_ranking(self.ranking, self.normalisation)

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, parameters, and where the server is."""
        return {
            "engine": "PostgreSQL",
            "version": facts_of(self.address).version,
            "server": self.address.shown,
            **full_text_settings(self.language, self.ranking, self.normalisation),
        }

    @property
    def ranks_by(self) -> str:
        """How it ranks, in words."""
        return ranking_in_words(self.language, self.ranking, self.normalisation)

    def prepare(self, progress: Progress | None = None) -> None:
        """Fail at once if the server cannot be used."""
        facts_of(self.address)

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Load the documents into a schema of their own, unless it is there; they are streamed, not kept in memory."""
        tell = progress or silent
        with building(folder, self.settings, self.is_there) as build:
            if build is None:
                return
            total, ids = expected(documents, progress), []
            with new_schema(self.address) as (connection, name):

                def texts() -> Iterator[str]:
                    for row, document in enumerate(distinct(documents())):
                        ids.append(document.id)
                        yield document.whole
                        if row % STRIDE == 0:
                            tell("loading", row, total)

                load_texts(connection, texts(), ids, self.language)
                keep_place(build.folder, name)
            tell("loading", len(ids), len(ids))
            build.finish(ids)

    @contextmanager
    def open(self, folder: Path) -> Iterator[_LexicalSearcher]:
        """Connect to the server."""
        stored = open_index(folder, self.settings)
        with self.opened(stored, folder) as connection:
            statement = _FIND.format(score=score_of(self.ranking))
            parameters = {"language": words_of(self.language), "normalisation": self.normalisation}
            yield _LexicalSearcher(stored, connection, statement, parameters)

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """How it ranks, and what to set if most queries are written without spaces, or find nothing."""
        notes = database_notes(f"language = {self.language!r}", queries, run.queries)
        return Observed(notes=(ranking_note(self.ranks_by), *notes))


class _LexicalSearcher(Struct, frozen=True):
    stored: StoredIndex
    connection: Connection
    statement: str
    parameters: Mapping[str, Any]

    @property
    def ids(self) -> Ids:
        return self.stored.ids

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        return [self._found(query.text, depth) for query in queries]

    def _found(self, text: str, depth: int) -> Hits:
        if not text.strip():
            return NO_HITS
        asked = {**self.parameters, "text": storable(text), "depth": depth}
        return hits_of(self.connection.execute(self.statement, asked).fetchall())
