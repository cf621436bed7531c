"""Full-text and vector search in PostgreSQL, fused by rank in one statement of SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from assay.inputs.documents import Document
from assay.retrieval.analysis import ranking_note
from assay.retrieval.base import Hits, Progress, distinct, retriever
from assay.retrieval.databases import hits_of, storable
from assay.retrieval.embedding import Vectors
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
from assay.retrieval.model_use import check_whole
from assay.retrieval.observing import Observed
from assay.retrieval.pgvector import nearest, written
from assay.retrieval.retrievers.postgres_vector import PostgresVector
from assay.retrieval.served import Ask
from assay.tables import Run

if TYPE_CHECKING:
    from psycopg import Connection

_FIND = """
    WITH {asked},
    lexical AS (
        SELECT doc, place, row_number() OVER (ORDER BY score DESC, place) AS rank FROM (
            SELECT doc, place, {score} AS score FROM asked, documents WHERE terms @@ query
            ORDER BY score DESC, place LIMIT %(candidates)s
        ) AS by_words
    ),
    vector AS (
        SELECT doc, place, row_number() OVER (ORDER BY distance, place) AS rank FROM ({nearest}) AS by_vector
    )
    SELECT doc, coalesce(1::float8 / (%(k)s + lexical.rank), 0) + coalesce(1::float8 / (%(k)s + vector.rank), 0) AS score
    FROM lexical FULL JOIN vector USING (doc, place)
    ORDER BY score DESC, place LIMIT %(depth)s
"""


@retriever(
    "full-text and vector search in PostgreSQL, fused in one statement of SQL", extra="dense,live", needs_model=True
)
class PostgresHybrid(PostgresVector, Struct, frozen=True):
    """Reciprocal rank fusion of the first `candidates` documents of postgres-lexical and of postgres-vector.

    `k` is that of the fusion: a document gets 1 / (k + rank) from each. The other settings are those of the two modes.
    """

    name: ClassVar[str] = "postgres-hybrid"

    k: int = 60
    candidates: int = 1000
    language: str = "english"
    ranking: str = "ts_rank"
    normalisation: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_configuration(self.language)
        checked_ranking(self.ranking, self.normalisation)
        check_whole("k", self.k, 1)
        check_whole("candidates", self.candidates, 1)

    @property
    def settings(self) -> Mapping[str, object]:
        """Those of both searches, and of their fusion."""
        words = full_text_settings(self.language, self.ranking, self.normalisation)
        return {**super().settings, "fusion": "rrf", "k": self.k, "candidates": self.candidates, **words}

    @property
    def ranks_by(self) -> str:
        """How it ranks by words, in words."""
        return f"{ranking_in_words(self.language, self.ranking, self.normalisation)}, fused with vectors"

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """How it ranks, and the recall of the graph."""
        return Observed(super().observe(folder, queries, run, depth).recalls, (ranking_note(self.ranks_by),))

    def load(
        self,
        connection: Connection,
        vectors: Vectors,
        ids: Sequence[str],
        documents: Callable[[], Iterator[Document]],
        tell: Progress,
    ) -> None:
        """Make the tables of terms and of vectors: of the same documents, those with text."""
        with_text = (document for document in distinct(documents()) if document.whole.strip())
        load_texts(connection, (document.whole for document in with_text), ids, self.language)
        super().load(connection, vectors, ids, documents, tell)

    def ask(self, connection: Connection, *, exactly: bool) -> Ask:
        """How the server is asked."""
        statement = _FIND.format(asked=ASKED, score=score_of(self.ranking), nearest=nearest(exactly=exactly))
        always = {
            "language": words_of(self.language),
            "normalisation": self.normalisation,
            "candidates": self.candidates,
            "k": self.k,
        }

        def ask(text: str, vector: Vectors, depth: int) -> Hits:
            asked = {**always, "text": storable(text), "vector": written(vector), "depth": depth}
            return hits_of(connection.execute(statement, asked).fetchall())

        return ask
