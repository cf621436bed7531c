"""Vector search in Qdrant, over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from assay.errors import RetrievalError
from assay.inputs.documents import Document
from assay.retrieval.base import Hits, Progress, retriever, silent
from assay.retrieval.databases import hits_of, keep_place, with_ties
from assay.retrieval.embedding import Vectors
from assay.retrieval.indexes import building, open_index
from assay.retrieval.qdrant import InQdrant, Qdrant, connected, new_collection, shown, version_of
from assay.retrieval.served import AskingSearcher, ServedVectors

_BATCH = 2_000_000  # bytes of a request, about: Qdrant takes 32 MB
_NUMBER = 12  # bytes of a number as it is written, about
# Small collections would be searched without the graph. It is built from the first kilobyte of a segment on, and used
# from the tenth, the least that Qdrant accepts.
_AT_ONCE = {"full_scan_threshold": 10}
_STILL = 5.0  # seconds without change, after which a graph is complete: a tiny segment gets none
_PAUSE = 0.1


@retriever("vector search in Qdrant, over HTTP", extra="dense,live", needs_model=True)
class QdrantVectors(InQdrant, ServedVectors, Struct, frozen=True):
    """Similarity of vectors in a collection of Qdrant, exact or with its HNSW graph.

    The settings of the model are those of `vector`, whose cached vectors it uses.
    """

    name: ClassVar[str] = "qdrant"

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, parameters, where the server is, model and its digest; the model must be installed."""
        return {
            "engine": "Qdrant",
            "version": version_of(self.address),
            "server": shown(self.address),
            **self.graph_settings,
            "similarity": self.similarity,
            "precision": "32 bits",
            **self.encoding,
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Fail at once if the server cannot be used, and fetch the model, unless it is installed."""
        version_of(self.address)
        with connected(self.address) as server:
            server.ask("GET", "/collections")  # which needs the key
        super().prepare(progress)

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Encode the documents, unless their vectors are cached, and load them into a collection, unless it is there."""
        tell = progress or silent
        with building(folder, self.settings, self.is_there) as build:
            if build is None:
                return
            vectors = self.vectors_of(build, documents, tell)
            with new_collection(self.address, **self._options(vectors.shape[1])) as (server, name):
                _load(server, name, vectors, tell)
                if self.method == "hnsw":
                    _wait_for_graph(server, name, len(vectors), tell)
                keep_place(build.folder, name)

    @contextmanager
    def asking(self, folder: Path, *, exactly: bool) -> Iterator[AskingSearcher]:
        """Connect to the server, and load the model."""
        stored = open_index(folder, self.settings)
        with self.encoder() as encoder, self.opened(stored, folder) as (server, name):
            params = {"exact": True} if exactly else {"hnsw_ef": self.ef_search}

            def found(vector: Vectors, wanted: int) -> Hits:
                asked = {"query": vector.tolist(), "limit": wanted, "params": params, "with_payload": False}
                return _hits(server.ask("POST", f"/collections/{name}/points/query", asked))

            def ask(_: str, vector: Vectors, depth: int) -> Hits:
                return with_ties(partial(found, vector), stored, depth)

            yield AskingSearcher(stored, encoder, self.asked_with, ask)

    def _options(self, dimensions: int) -> dict[str, Any]:
        """How the collection is made. The vectors have unit length already, so that the cosine is their product."""
        vectors = {"size": dimensions, "distance": "Dot"}
        if self.method == "exact":
            return {"vectors": vectors, "optimizers_config": {"indexing_threshold": 0}}
        graph = {"m": self.m, "ef_construct": self.ef_construction, **_AT_ONCE}
        return {"vectors": vectors, "hnsw_config": graph, "optimizers_config": {"indexing_threshold": 1}}


def _load(server: Qdrant, name: str, vectors: Vectors, tell: Progress) -> None:
    size = max(_BATCH // (_NUMBER * vectors.shape[1]), 1)
    for begin in range(0, len(vectors), size):
        tell("loading", begin, len(vectors))
        block = vectors[begin : begin + size]
        points = {"batch": {"ids": list(range(begin, begin + len(block))), "vectors": block.tolist()}}
        server.ask("PUT", f"/collections/{name}/points?wait=true", points)
    tell("loading", len(vectors), len(vectors))


def _wait_for_graph(server: Qdrant, name: str, size: int, tell: Progress) -> None:
    """Wait until all vectors are in the graph, or nothing has changed for some seconds."""
    before, since = -1, time.monotonic()
    while True:
        found = server.ask("GET", f"/collections/{name}") or {}
        done, status = found.get("indexed_vectors_count") or 0, found.get("status")
        tell("indexing", done, size)
        if done != before or status == "yellow":
            before, since = done, time.monotonic()
        if status == "red":
            raise RetrievalError(f"Qdrant could not build the graph: {found.get('optimizer_status')}.")
        if status == "green" and (done >= size or time.monotonic() - since > _STILL):
            return
        time.sleep(_PAUSE)


def _hits(result: Any) -> Hits:
    try:
        return hits_of([(int(point["id"]), float(point["score"])) for point in result["points"]])
    except (TypeError, KeyError, ValueError):
        raise RetrievalError("the collection is gone, or the answer is not what Qdrant sends.") from None
