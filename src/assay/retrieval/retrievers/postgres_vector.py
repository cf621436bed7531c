"""Vector search in PostgreSQL with pgvector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

from assay.inputs.documents import Document
from assay.retrieval.base import Hits, Progress, retriever, silent
from assay.retrieval.databases import hits_of, keep_place
from assay.retrieval.embedding import Vectors
from assay.retrieval.indexes import building, open_index, places_of
from assay.retrieval.pgvector import build_graph, choose_search, copy_vectors, nearest, require_iteration, written
from assay.retrieval.postgres import InPostgres, facts_of, new_schema, require_vector
from assay.retrieval.served import Ask, AskingSearcher, ServedVectors

if TYPE_CHECKING:
    from psycopg import Connection


@retriever("vector search in PostgreSQL with pgvector", extra="dense,live", needs_model=True)
class PostgresVector(InPostgres, ServedVectors, Struct, frozen=True):
    """Similarity of vectors in a table of PostgreSQL, exact or with an HNSW graph of pgvector.

    The settings of the model are those of `vector`, whose cached vectors it uses.
    """

    name: ClassVar[str] = "postgres-vector"

    ef_construction: int = 64  # pgvector's own defaults
    ef_search: int = 40

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, versions, parameters, where the server is, model and its digest; the model must be installed."""
        facts = facts_of(self.address)
        return {
            "engine": "PostgreSQL",
            "version": facts.version,
            "pgvector": facts.vector,
            "server": self.address.shown,
            **self.graph_settings,
            "similarity": self.similarity,
            "precision": "32 bits",
            **self.encoding,
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Fail at once if the server cannot be used, and fetch the model, unless it is installed."""
        facts = require_vector(self.address, self.name)
        if self.method == "hnsw":
            require_iteration(facts)
        super().prepare(progress)

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Encode the documents, unless their vectors are cached, and load them into a schema, unless it is there."""
        tell = progress or silent
        require_vector(self.address, self.name)
        with building(folder, self.settings, self.is_there) as build:
            if build is None:
                return
            vectors = self.vectors_of(build, documents, tell)
            with new_schema(self.address) as (connection, name):
                self.load(connection, vectors, list(build.ids or ()), documents, tell)
                keep_place(build.folder, name)

    def load(
        self,
        connection: Connection,
        vectors: Vectors,
        ids: Sequence[str],
        documents: Callable[[], Iterator[Document]],
        tell: Progress,
    ) -> None:
        """Make the table of vectors and its graph."""
        copy_vectors(connection, vectors, places_of(ids), lambda done: tell("loading", done, len(ids)))
        if self.method == "hnsw":
            tell("indexing", 0, None)
            build_graph(connection, self.m, self.ef_construction)
        connection.execute("ANALYZE vectors")
        tell("loading", len(ids), len(ids))

    @contextmanager
    def asking(self, folder: Path, *, exactly: bool) -> Iterator[AskingSearcher]:
        """Connect to the server, and load the model."""
        stored = open_index(folder, self.settings)
        with self.encoder() as encoder, self.opened(stored, folder) as connection:
            choose_search(connection, exactly=exactly, ef_search=self.ef_search)
            yield AskingSearcher(stored, encoder, self.asked_with, self.ask(connection, exactly=exactly))

    def ask(self, connection: Connection, *, exactly: bool) -> Ask:
        """How the server is asked."""
        statement = f"SELECT doc, -distance FROM ({nearest(exactly=exactly)}) AS found ORDER BY distance, place"

        def ask(_: str, vector: Vectors, depth: int) -> Hits:
            asked = {"vector": written(vector), "candidates": depth}
            return hits_of(connection.execute(statement, asked).fetchall())

        return ask
