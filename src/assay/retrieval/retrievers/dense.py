"""Exact vector search: compares every document with every query."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import RetrievalError
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.base import (
    NO_HITS,
    STRIDE,
    Hits,
    Progress,
    SearchesWhatItOpens,
    best_hits,
    distinct,
    retriever,
    silent,
)
from assay.retrieval.caches import cache_folder
from assay.retrieval.embedding import OVERRIDABLE, Chosen, Encoder, Vectors, choose_encoding
from assay.retrieval.embeddings import EmbeddingStore, text_digest
from assay.retrieval.exact import BLOCK, exact_scores, longest_of, near_enough
from assay.retrieval.indexes import Build, StoredIndex, building, open_index, writing
from assay.retrieval.model_settings import POOLINGS
from assay.retrieval.model_use import check_model, check_whole, fetch_model, installed_model
from assay.retrieval.models import DEFAULT_MODEL, ModelFiles
from assay.retrieval.onnx_models import library_versions
from assay.tables import Ids, Integers

VECTORS = "vectors.npy"
_AT_ONCE = 64  # texts encoded between two writes; at most these are lost if the process is killed
_USE = "Vector search"


@retriever("exact vector search with a model", extra="dense", needs_model=True)
class Dense(SearchesWhatItOpens, Struct, frozen=True):
    """Similarity between query and document vectors, over title and text.

    `model` is a known model, a folder with model.onnx and tokenizer.json, or ORGANISATION/NAME@REVISION on the hub.
    The other fields default to what the model says. `dimensions` keeps only the first numbers of each vector, for
    models with nested vectors. `normalise` gives vectors unit length, so that similarity is the cosine; otherwise it is
    the dot product. Documents without text are never found, and queries without text find nothing.
    """

    name: ClassVar[str] = "vector"

    model: str = DEFAULT_MODEL
    max_length: int | None = None
    pooling: str | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    normalise: bool | None = None
    dimensions: int | None = None

    def __post_init__(self) -> None:
        check_model(self.model, "bi-encoder", _USE)
        check_whole("max_length", self.max_length, 3, " tokens")
        check_whole("dimensions", self.dimensions, 1)
        if self.pooling is not None and self.pooling not in POOLINGS:
            raise RetrievalError(f"pooling cannot be {self.pooling!r}; it takes {', '.join(POOLINGS)}.")
        if not isinstance(self.normalise, bool | None):
            raise RetrievalError(f"normalise cannot be {self.normalise!r}; it takes true or false.")
        for name in ("query_prefix", "document_prefix"):
            if not isinstance(getattr(self, name), str | None):
                raise RetrievalError(f"{name} cannot be {getattr(self, name)!r}; it takes a string.")

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, model and its digest; the model must be installed."""
        return {"engine": "exact", "similarity": self.similarity, **self.encoding}

    @property
    def similarity(self) -> str:
        """Of two vectors."""
        return "cosine" if self._chosen().encoding.normalise else "dot product"

    @property
    def encoding(self) -> dict[str, object]:
        """Everything that decides a vector, except its text, and where that differs from what the model says."""
        chosen = self._chosen()
        unusual: dict[str, object] = {"lower_case": True} if chosen.encoding.lower_case else {}
        if chosen.instead_of:
            unusual["instead_of"] = chosen.instead_of
        return {
            "model": self.model,
            "digest": self.files().digest,
            **{name: getattr(chosen.encoding, name) for name in (*OVERRIDABLE, "dimensions")},
            **unusual,
            **library_versions(),
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the model, unless it is installed."""
        fetch_model(self.model, "bi-encoder", _USE, progress)

    def files(self) -> ModelFiles:
        """The files of the model; raises if it is not installed."""
        return installed_model(self.model)

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Encode the documents and store their vectors; cached vectors are reused."""
        with building(folder, self.settings) as build:
            if build is not None:
                self.write_vectors(build, documents, progress or silent)

    @contextmanager
    def open(self, folder: Path) -> Iterator[VectorSearcher]:
        """Open the index and the model."""
        stored = open_index(folder, self.settings)
        with self.encoder() as encoder:
            yield VectorSearcher(stored, encoder, self.asked_with)

    def write_vectors(self, build: Build, documents: Callable[[], Iterator[Document]], tell: Progress) -> None:
        """Write the vectors of all documents with text, in corpus order; the first pass finds uncached texts."""
        ids: list[str] = []
        digests: list[bytes] = []
        prefix = self._chosen().encoding.document_prefix
        with self.encoder() as encoder:
            store = EmbeddingStore(self._cache(), encoder.dimensions)
            for row, document in enumerate(distinct(documents())):
                if row % STRIDE == 0:
                    tell("reading", row, None)
                if document.whole.strip():
                    ids.append(document.id)
                    digests.append(text_digest(prefix + document.whole))
            tell("reading", len(ids), len(ids))
            missing = {digest for digest in digests if digest not in store}
            if missing:
                _encode_missing(documents, prefix, missing, encoder, store, tell)
            blocks = (digests[begin : begin + BLOCK] for begin in range(0, len(ids), BLOCK))
            with writing(build.folder), (build.folder / VECTORS).open("wb") as file:
                shape = (len(ids), encoder.dimensions)
                np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
                file.writelines(store.vectors(block).tobytes() for block in blocks)
        build.finish(ids)

    def _chosen(self) -> Chosen:
        """How the model is used: the given settings, or else those of the model."""
        return choose_encoding(self.files(), {name: getattr(self, name) for name in OVERRIDABLE}, self.dimensions)

    @property
    def asked_with(self) -> str:
        """The prefix of each query."""
        return self._chosen().encoding.query_prefix

    def encoder(self) -> Encoder:
        """Load the model; close it after use."""
        return Encoder(self.files(), self._chosen().encoding)

    def _cache(self) -> Path:
        """The cache folder for this encoding, independent of the name and folder of the model."""
        parts = {name: value for name, value in self.encoding.items() if name not in _NOT_IN_A_VECTOR}
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return cache_folder() / "embeddings" / key[:32]


_NOT_IN_A_VECTOR = ("model", "query_prefix", "document_prefix", "instead_of")  # prefixes are part of the text


class VectorSearcher(Struct, frozen=True, dict=True):
    """Encodes queries and compares them with all documents."""

    stored: StoredIndex
    encoder: Encoder
    prefix: str  # before each query

    @property
    def ids(self) -> Ids:
        """The ids of the documents that have a vector."""
        return self.stored.ids

    @cached_property
    def vectors(self) -> Vectors:
        """The document vectors, memory-mapped."""
        vectors: Vectors = np.load(self.stored.folder / VECTORS, mmap_mode="r")
        return vectors

    @cached_property
    def longest(self) -> float:
        """The length of the longest document vector."""
        return 1.0 if self.encoder.normalises else longest_of(self.vectors)

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        """The nearest documents for each query. Query vectors are not cached: encoding is part of a search."""
        asked = [place for place, query in enumerate(queries) if query.text.strip()]
        vectors = self.encoder.encode([self.prefix + queries[place].text for place in asked])
        found = [NO_HITS] * len(queries)
        for place, vector, rows in zip(asked, vectors, self.candidates(vectors, depth), strict=True):
            found[place] = best_hits(rows, exact_scores(self.vectors, rows, vector), self.stored.place, depth)
        return found

    def candidates(self, queries: Vectors, depth: int) -> list[Integers]:
        """For each query, the rows that may be among the best in an exact comparison."""
        return near_enough(self.vectors, queries, depth, self.longest)


def _encode_missing(
    documents: Callable[[], Iterator[Document]],
    prefix: str,
    missing: set[bytes],
    encoder: Encoder,
    store: EmbeddingStore,
    tell: Progress,
) -> None:
    """Encode the texts without a vector, each once, in batches."""
    total, left = len(missing), set(missing)
    batch: dict[bytes, str] = {}
    for document in documents():
        text = prefix + document.whole
        digest = text_digest(text)
        if digest in left:
            left.remove(digest)
            batch[digest] = text
        if len(batch) == _AT_ONCE or (batch and not left):
            tell("encoding", total - len(left) - len(batch), total)
            store.add(list(batch), encoder.encode(list(batch.values())))
            batch = {}
        if not left:
            break
    tell("encoding", total, total)
