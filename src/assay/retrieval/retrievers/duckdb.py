"""Exact vector search in DuckDB, in a file and without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import MissingExtraError, RetrievalError
from assay.inputs.documents import Document
from assay.retrieval.base import Hits, Progress, retriever, silent
from assay.retrieval.databases import hits_of
from assay.retrieval.embedding import Vectors
from assay.retrieval.indexes import building, open_index, places_of, writing
from assay.retrieval.onnx_models import library_versions
from assay.retrieval.retrievers.dense import VECTORS, Dense
from assay.retrieval.served import AskingSearcher
from assay.tables import Integers

_FILE = "documents.duckdb"
_AT_ONCE = 4096  # vectors added between two progress updates
# Nothing is fetched or loaded besides the file, whatever is installed on this machine.
_CLOSED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_FIND = """
    SELECT doc, array_inner_product(embedding, CAST(? AS FLOAT[{size}])) AS score
    FROM documents ORDER BY score DESC, place LIMIT ?
"""


@retriever("exact vector search in DuckDB, in a file", extra="dense,live", needs_model=True)
class DuckDB(Dense, Struct, frozen=True):
    """Similarity of vectors in a table of DuckDB, which compares every document in 32 bits.

    The settings are those of `vector`, whose cached vectors it uses.
    """

    name: ClassVar[str] = "duckdb"

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, model and its digest; the model must be installed."""
        return {
            "engine": "DuckDB",
            "version": _duckdb().__version__,
            "similarity": self.similarity,
            "precision": "32 bits",
            **self.encoding,
        }

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Encode the documents, unless their vectors are cached, and write them into a file of DuckDB."""
        tell = progress or silent
        with building(folder, self.settings) as build:
            if build is None:
                return
            self.write_vectors(build, documents, tell)
            vectors, places = np.load(build.folder / VECTORS, mmap_mode="r"), places_of(list(build.ids or ()))
            with writing(folder), _opened(build.folder / _FILE) as database:
                database.execute(
                    f"CREATE TABLE documents (doc INTEGER, place INTEGER, embedding FLOAT[{vectors.shape[1]}])"
                )
                for begin in range(0, len(vectors), _AT_ONCE):
                    tell("indexing", begin, len(vectors))
                    _add(database, begin, vectors[begin : begin + _AT_ONCE], places[begin : begin + _AT_ONCE])
            (build.folder / VECTORS).unlink()
            tell("indexing", len(vectors), len(vectors))

    @contextmanager
    def open(self, folder: Path) -> Iterator[AskingSearcher]:  # type: ignore[override]  # no vectors are beside it
        """Open the file, to read only, and the model."""
        stored = open_index(folder, self.settings)
        with self.encoder() as encoder, _opened(stored.folder / _FILE, read_only=True) as database:
            statement = _FIND.format(size=encoder.dimensions)

            def ask(_: Any, vector: Vectors, depth: int) -> Hits:
                with _in_our_words(folder), closing(database.cursor()) as cursor:  # one for each thread
                    return hits_of(cursor.execute(statement, [vector.tolist(), depth]).fetchall())

            yield AskingSearcher(stored, encoder, self.asked_with, ask)


def _add(database: Any, begin: int, vectors: Vectors, places: Integers) -> None:
    """Add vectors, as columns of numbers that become one: a list of Python's for each would take ten times as long."""
    numbers = {f"x{place}": np.ascontiguousarray(column) for place, column in enumerate(vectors.T)}
    database.register("block", {"doc": np.arange(begin, begin + len(vectors)), "place": places, **numbers})
    database.execute(f"INSERT INTO documents SELECT doc, place, array_value({', '.join(numbers)}) FROM block")
    database.unregister("block")


@contextmanager
def _opened(path: Path, *, read_only: bool = False) -> Iterator[Any]:
    with _in_our_words(path), closing(_duckdb().connect(str(path), read_only=read_only, config=_CLOSED)) as database:
        yield database


@contextmanager
def _in_our_words(path: Path) -> Iterator[None]:
    try:
        yield
    except _duckdb().Error as error:
        raise RetrievalError(f"{path}: DuckDB says: {str(error).strip().splitlines()[0].rstrip('.')}.") from None


def _duckdb() -> Any:
    library_versions()  # loads onnxruntime, which other engines must not come before
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("search in DuckDB", "live") from None
    return duckdb
