"""Approximate vector search on usearch, to measure its loss against exact search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import MissingExtraError, RetrievalError
from assay.inputs.documents import Document
from assay.retrieval.base import Progress, retriever, search_with, silent
from assay.retrieval.embedding import Vectors
from assay.retrieval.indexes import building, open_index, writing
from assay.retrieval.observing import Observed, recalls_of
from assay.retrieval.onnx_models import library_versions
from assay.retrieval.retrievers.dense import VECTORS, Dense, VectorSearcher
from assay.tables import Integers, Run

_GRAPH = "graph.usearch"
_AT_ONCE = 1024  # vectors added between two progress updates


@retriever("approximate vector search with an HNSW graph, as in live systems", extra="dense", needs_model=True)
class Approximate(Dense, Struct, frozen=True):
    """Similarity of vectors with an HNSW graph (Malkov and Yashunin 2018) instead of comparing every document.

    `connectivity` is the number of neighbours per document, `expansion_add` and `expansion_search` the number of
    candidates kept while building and searching. usearch keeps at least as many candidates as results, so its loss is
    smaller at depth 1000 than at the depth of 10 or 100 of a live system.
    """

    name: ClassVar[str] = "approximate"

    connectivity: int = 16
    expansion_add: int = 128
    expansion_search: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, low in (("connectivity", 2), ("expansion_add", 1), ("expansion_search", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < low:
                raise RetrievalError(f"{name} cannot be {value!r}; it takes a whole number of at least {low}.")

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, graph parameters, model and its digest; the model must be installed."""
        from importlib.metadata import version

        _usearch()
        return {
            "engine": "usearch",
            "version": version("usearch"),
            "similarity": self.similarity,
            "connectivity": self.connectivity,
            "expansion_add": self.expansion_add,
            "expansion_search": self.expansion_search,
            **self.encoding,
        }

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Encode the documents and build the graph in corpus order on one thread, so it is the same each time."""
        tell = progress or silent
        with building(folder, self.settings) as build:
            if build is None:
                return
            self.write_vectors(build, documents, tell)
            vectors = np.load(build.folder / VECTORS, mmap_mode="r")
            graph = _usearch().Index(
                ndim=vectors.shape[1],
                metric="ip",
                dtype="f32",
                connectivity=self.connectivity,
                expansion_add=self.expansion_add,
                expansion_search=self.expansion_search,
            )
            for begin in range(0, len(vectors), _AT_ONCE):
                tell("indexing", begin, len(vectors))
                block = np.ascontiguousarray(vectors[begin : begin + _AT_ONCE])
                graph.add(np.arange(begin, begin + len(block)), block, threads=1)
            with writing(folder):
                graph.save(build.folder / _GRAPH)
            tell("indexing", len(vectors), len(vectors))

    @contextmanager
    def open(self, folder: Path) -> Iterator[VectorSearcher]:
        """Open the graph and the model."""
        stored = open_index(folder, self.settings)
        graph = _usearch().Index.restore(stored.folder / _GRAPH, view=True)
        graph.expansion_search = self.expansion_search
        with self.encoder() as encoder:
            yield _GraphSearcher(stored, encoder, self.asked_with, graph)

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """The recall of a sample of queries at depth 10, as live systems search, and at the depth of the run."""
        search, search_exactly = partial(self.search, folder), partial(self.search_exactly, folder)
        return Observed(recalls=recalls_of(search, search_exactly, queries, run, depth))

    def search_exactly(self, folder: Path, queries: Mapping[str, str], depth: int) -> Run:
        """The run of exact search, on the same vectors."""
        stored = open_index(folder, self.settings)
        with self.encoder() as encoder:
            return search_with(VectorSearcher(stored, encoder, self.asked_with), queries, depth, "vector")


class _GraphSearcher(VectorSearcher, Struct, frozen=True):
    """Compares queries with the documents found in the graph."""

    graph: Any

    def candidates(self, queries: Vectors, depth: int) -> list[Integers]:
        wanted = min(depth, len(self.stored))
        if not wanted:
            return [np.empty(0, np.int64)] * len(queries)
        return [self.graph.search(query, wanted, threads=1).keys.astype(np.int64) for query in queries]


def _usearch() -> Any:
    library_versions()  # loads onnxruntime, which crashes if it is loaded after usearch (tests/engines/test_dense.py)
    try:
        import usearch.index
    except ImportError:
        raise MissingExtraError("approximate search", "dense") from None
    return usearch.index
