"""Vectors that a database searches: made and cached as those of `vector`, compared by the database's own engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from msgspec import Struct, field

from assay.errors import RetrievalError
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.base import NO_HITS, Hits, Progress, search_with
from assay.retrieval.embedding import Encoder, Vectors
from assay.retrieval.indexes import Build, StoredIndex
from assay.retrieval.observing import Observed, recalls_of
from assay.retrieval.retrievers.dense import VECTORS, Dense
from assay.tables import Ids, Run

METHODS = ("exact", "hnsw")

Ask: TypeAlias = Callable[[str, Vectors, int], Hits]  # the best documents for a text and its vector, at a depth


class AskingSearcher(Struct, frozen=True):
    """Encodes queries and asks a database for their nearest documents, whose scores are the database's."""

    stored: StoredIndex
    encoder: Encoder
    prefix: str  # before each query
    ask: Ask

    @property
    def ids(self) -> Ids:
        """The ids of the documents that have a vector."""
        return self.stored.ids

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        """The nearest documents for each query. Query vectors are not cached: encoding is part of a search."""
        asked = [place for place, query in enumerate(queries) if query.text.strip()]
        vectors = self.encoder.encode([self.prefix + queries[place].text for place in asked])
        found = [NO_HITS] * len(queries)
        for place, vector in zip(asked, vectors, strict=True):
            found[place] = self.ask(queries[place].text, vector, depth)
        return found


class ServedVectors(Dense, Struct, frozen=True):
    """Settings of a vector index in a server: compared with every document, or found in an HNSW graph.

    `index` is exact or hnsw. The other settings are those of the graph: `m` is the number of neighbours of a document,
    `ef_construction` and `ef_search` the numbers of candidates while building and searching.
    """

    method: str = field(default="exact", name="index")
    m: int = 16
    ef_construction: int = 100
    ef_search: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method not in METHODS:
            raise RetrievalError(f"index cannot be {self.method!r}; it takes {' or '.join(METHODS)}.")
        for name, (low, high) in self.graph_limits().items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise RetrievalError(f"{name} cannot be {value!r}; it takes a whole number from {low} to {high:,}.")

    def graph_limits(self) -> Mapping[str, tuple[int, int]]:
        """The smallest and the largest value of each setting of the graph."""
        return {"m": (2, 100), "ef_construction": (4, 1000), "ef_search": (1, 1000)}

    @property
    def deterministic(self) -> bool:
        """Whether it gives the same run each time: the graph that a server builds is another one each time."""
        return self.method == "exact"

    @property
    def graph_settings(self) -> dict[str, object]:
        """How the nearest documents are found, for the manifest."""
        if self.method == "exact":
            return {"index": "exact"}
        return {"index": "hnsw", "m": self.m, "ef_construction": self.ef_construction, "ef_search": self.ef_search}

    def vectors_of(self, build: Build, documents: Callable[[], Iterator[Document]], tell: Progress) -> Vectors:
        """The vectors of all documents with text; the file that they are in goes once they are in the server."""
        self.write_vectors(build, documents, tell)
        vectors: Vectors = np.load(build.folder / VECTORS)
        (build.folder / VECTORS).unlink()
        return vectors

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """The recall of the graph, against exact search in the same server."""
        if self.method == "exact":
            return Observed()
        search, search_exactly = partial(self.search, folder), partial(self.search_exactly, folder)
        return Observed(recalls=recalls_of(search, search_exactly, queries, run, depth))

    def search_exactly(self, folder: Path, queries: Mapping[str, str], depth: int) -> Run:
        """The run of exact search in the same index."""
        with self.asking(folder, exactly=True) as searcher:
            return search_with(searcher, queries, depth, self.name)

    def open(self, folder: Path) -> AbstractContextManager[AskingSearcher]:  # type: ignore[override]
        """Connect to the server, and load the model."""
        return self.asking(folder, exactly=self.method == "exact")

    def asking(self, folder: Path, *, exactly: bool) -> AbstractContextManager[AskingSearcher]:
        """The same, to search exactly or with the graph."""
        raise NotImplementedError
