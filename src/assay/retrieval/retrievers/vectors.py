"""Exact search in vectors of your own, which a model outside assay has made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import InputError, RetrievalError, some_of
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.base import (
    NO_HITS,
    Hits,
    Progress,
    SearchesWhatItOpens,
    best_hits,
    distinct,
    retriever,
    search_with,
    silent,
)
from assay.retrieval.exact import BLOCK, Matrix, exact_scores, longest_of, near_enough
from assay.retrieval.indexes import StoredIndex, building, open_index, writing
from assay.retrieval.model_folders import sha256_of
from assay.retrieval.own_vectors import OwnVectors, files_of, prepared, read_own_vectors, stored_as
from assay.tables import Ids, Run

SIMILARITIES = ("cosine", "dot")
_VECTORS = "vectors.npy"


@retriever("exact search in vectors of your own")
class Vectors(SearchesWhatItOpens, Struct, frozen=True):
    """Similarity between vectors of your own, one for each document and query.

    `documents` and `queries` are .npy files, with one id per line in `ids` and `query_ids` (by default docs.ids.txt
    beside docs.npy), or Parquet files with an id and a vector in each row. Each document with text and each query needs
    a vector, and each vector a document, unless `partial` is true: then what has none is not found and finds nothing.
    """

    name: ClassVar[str] = "vectors"
    paths: ClassVar[tuple[str, ...]] = ("documents", "queries", "ids", "query_ids")

    documents: str = ""
    queries: str = ""
    ids: str | None = None
    query_ids: str | None = None
    similarity: str = "cosine"
    partial: bool = False

    def __post_init__(self) -> None:
        for name, example in (("documents", "docs.npy"), ("queries", "queries.npy")):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise RetrievalError(
                    f"{name} cannot be {getattr(self, name)!r}; it takes a file of vectors, such as {example!r}."
                )
        for name in ("ids", "query_ids"):
            if not isinstance(getattr(self, name), str | None):
                raise RetrievalError(f"{name} cannot be {getattr(self, name)!r}; it takes a file with one id per line.")
        if self.similarity not in SIMILARITIES:
            raise RetrievalError(f"similarity cannot be {self.similarity!r}; it takes {' or '.join(SIMILARITIES)}.")
        if not isinstance(self.partial, bool):
            raise RetrievalError(f"partial cannot be {self.partial!r}; it takes true or false.")

    @property
    def settings(self) -> Mapping[str, object]:
        """The similarity, and the digests of the files."""
        return {
            "engine": "exact",
            "similarity": self.similarity,
            "documents": _digests(self.documents, self.ids),
            "queries": _digests(self.queries, self.query_ids),
            "partial": self.partial,
        }

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Check the vectors against the documents, and store those of the documents in corpus order."""
        tell = progress or silent
        with building(folder, self.settings) as build:
            if build is None:
                return
            found = read_own_vectors(self.documents, self.ids)
            rows = self._rows(found, documents)
            kind = stored_as(found)
            with writing(build.folder), (build.folder / _VECTORS).open("wb") as file:
                header = {"descr": kind.str, "fortran_order": False, "shape": (len(rows), found.dimensions)}
                np.lib.format.write_array_header_1_0(file, header)
                for begin in range(0, len(rows), BLOCK):
                    tell("indexing", begin, len(rows))
                    file.write(self._prepared(found, rows[begin : begin + BLOCK]).tobytes())
            tell("indexing", len(rows), len(rows))
            build.finish([found.ids[row] for row in rows])

    def search(self, folder: Path, queries: Mapping[str, str], depth: int, progress: Progress | None = None) -> Run:
        """The best documents for each query, once every query is known to have a vector."""
        with self.open(folder) as searcher:
            searcher.check([Query(id, text) for id, text in queries.items()])
            return search_with(searcher, queries, depth, self.name, progress)

    @contextmanager
    def open(self, folder: Path) -> Iterator[OwnVectorSearcher]:
        """Open the index, and read the vectors of the queries."""
        stored = open_index(folder, self.settings)
        asked = read_own_vectors(self.queries, self.query_ids)
        vectors = np.load(stored.folder / _VECTORS, mmap_mode="r", allow_pickle=False)
        if vectors.shape[1] != asked.dimensions:
            raise InputError(
                f"the vectors have {asked.dimensions} dimensions, but those of the documents have {vectors.shape[1]}. "
                "Use the same model for both.",
                source=asked.source,
            )
        prepared_queries = self._prepared(asked, range(len(asked.ids)))
        yield OwnVectorSearcher(stored, vectors, asked, prepared_queries, self.similarity == "cosine", self.partial)

    def _prepared(self, found: OwnVectors, rows: Sequence[int]) -> Matrix:
        return prepared(found, rows, unit=self.similarity == "cosine")

    def _rows(self, found: OwnVectors, documents: Callable[[], Iterator[Document]]) -> list[int]:
        """The rows of the vectors in corpus order; raises if documents and vectors do not fit."""
        row_of = found.row_of()
        rows, without, count = [], [], 0
        for document in distinct(documents()):
            count += 1
            row = row_of.get(document.id)
            if row is not None:
                rows.append(row)
            elif document.whole.strip():
                without.append(document.id)
        if found.ids and not rows:
            raise InputError(
                f"no vector belongs to a document of the collection. Its ids are such as {some_of(found.ids)}, those of "
                f"the documents {some_of(without)}.",
                source=found.source,
            )
        if not self.partial and without:
            raise InputError(
                f"{len(without):,} of {count:,} documents have no vector ({some_of(without)}) and could not be found. Add "
                "their vectors, or set partial = true.",
                source=found.source,
            )
        if not self.partial and len(rows) < len(found.ids):
            used = set(rows)
            others = [id for row, id in enumerate(found.ids) if row not in used]
            raise InputError(
                f"{len(others):,} of {len(found.ids):,} vectors belong to no document of the collection "
                f"({some_of(others)}). Remove them, or set partial = true.",
                source=found.source,
            )
        return rows


class OwnVectorSearcher(Struct, frozen=True, dict=True):
    """Compares the vector of a query, found by its id, with all documents."""

    stored: StoredIndex
    vectors: Matrix
    asked: OwnVectors
    queries: Matrix  # as they are compared
    unit: bool
    partial: bool

    @property
    def ids(self) -> Ids:
        """The ids of the documents that have a vector."""
        return self.stored.ids

    @cached_property
    def longest(self) -> float:
        """The length of the longest document vector."""
        return 1.0 if self.unit else longest_of(self.vectors)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each query."""
        return self.asked.row_of()

    def check(self, queries: Sequence[Query]) -> None:
        """Raise unless every query has a vector."""
        without = [query.id for query in queries if query.id not in self.row_of]
        if without and not self.partial:
            raise InputError(
                f"{len(without):,} of {len(queries):,} queries have no vector ({some_of(without)}). Add their vectors, or "
                "set partial = true to count them as queries that find nothing.",
                source=self.asked.source,
            )

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        """The nearest documents for each query."""
        self.check(queries)
        places = [place for place, query in enumerate(queries) if query.id in self.row_of]
        vectors = self.queries[[self.row_of[queries[place].id] for place in places]]
        found = [NO_HITS] * len(queries)
        near = near_enough(self.vectors, vectors, depth, self.longest)
        for place, vector, rows in zip(places, vectors, near, strict=True):
            found[place] = best_hits(rows, exact_scores(self.vectors, rows, vector), self.stored.place, depth)
        return found


def _digests(path: str, ids: str | None) -> dict[str, Any]:
    """The digests of the files of vectors, by name: not by folder, which may be another one elsewhere."""
    try:
        return {file.name: sha256_of(file) for file in files_of(path, ids)}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=str(error.filename)) from None
