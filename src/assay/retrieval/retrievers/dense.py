"""Exact vector search: compares every document with every query."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import MissingModelError, RetrievalError
from assay.inputs.documents import Document
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
from assay.retrieval.embedding import POOLINGS, Encoder, Vectors, library_versions
from assay.retrieval.embeddings import EmbeddingStore, text_digest
from assay.retrieval.indexes import Build, StoredIndex, building, open_index, writing
from assay.retrieval.models import DEFAULT_MODEL, MODELS, ModelFiles, find_model, is_folder_name, known_model
from assay.tables import Floats, Ids, Integers

VECTORS = "vectors.npy"
_AT_ONCE = 64  # texts encoded between two writes; at most these are lost if the process is killed
_DOCUMENTS = 16384  # documents compared in one step
# Upper bound on the rounding error of products of unit float32 vectors, in any order of addition.
_SLACK = 1e-4


@retriever("exact vector search with a model", extra="dense", needs_model=True)
class Dense(SearchesWhatItOpens, Struct, frozen=True):
    """Cosine similarity between query and document vectors, over title and text.

    `model` is a supported model, or a folder with model.onnx and tokenizer.json. The other fields default to those of
    the model. Documents without text are never found, and queries without text find nothing.
    """

    name: ClassVar[str] = "vector"

    model: str = DEFAULT_MODEL
    max_length: int | None = None
    pooling: str | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str):
            raise RetrievalError(f"model cannot be {self.model!r}; it takes a name or a folder.")
        if not is_folder_name(self.model):
            known_model(self.model)
        length = self.max_length
        if length is not None and (not isinstance(length, int) or isinstance(length, bool) or length < 3):
            raise RetrievalError(f"max_length cannot be {length!r}; it takes a whole number of at least 3 tokens.")
        if self.pooling is not None and self.pooling not in POOLINGS:
            raise RetrievalError(f"pooling cannot be {self.pooling!r}; it takes {' or '.join(POOLINGS)}.")
        for name in ("query_prefix", "document_prefix"):
            if not isinstance(getattr(self, name), str | None):
                raise RetrievalError(f"{name} cannot be {getattr(self, name)!r}; it takes a string.")

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, model and its digest; the model must be installed."""
        return {"engine": "exact", "similarity": "cosine", **self.encoding}

    @property
    def encoding(self) -> dict[str, object]:
        """Everything that decides a vector, except its text."""
        return {"model": self.model, "digest": self.files().digest, **self._use(), **library_versions()}

    def files(self) -> ModelFiles:
        """The files of the model; raises if it is not installed."""
        found = find_model(self.model)
        if found is None:
            get = "" if is_folder_name(self.model) else f" Get it with: assay models get {self.model}."
            raise MissingModelError(f"the model {self.model} is not installed.{get}")
        return found

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
        prefix = str(self._use()["document_prefix"])
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
            blocks = (digests[begin : begin + _DOCUMENTS] for begin in range(0, len(ids), _DOCUMENTS))
            with writing(build.folder), (build.folder / VECTORS).open("wb") as file:
                shape = (len(ids), encoder.dimensions)
                np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
                file.writelines(store.vectors(block).tobytes() for block in blocks)
        build.finish(ids)

    def _use(self) -> dict[str, object]:
        """How the model is used: the given settings, or else those it was trained with."""
        model = MODELS.get(self.model)
        own: dict[str, Any] = {"max_length": 256, "pooling": "mean", "query_prefix": "", "document_prefix": ""}
        return {
            name: getattr(self, name) if getattr(self, name) is not None else getattr(model, name, default)
            for name, default in own.items()
        }

    @property
    def asked_with(self) -> str:
        """The prefix of each query."""
        return str(self._use()["query_prefix"])

    def encoder(self) -> Encoder:
        """Load the model; close it after use."""
        use = self._use()
        return Encoder(self.files(), max_length=int(str(use["max_length"])), pooling=str(use["pooling"]))

    def _cache(self) -> Path:
        """The cache folder for this encoding, independent of the name and folder of the model."""
        parts = {name: value for name, value in self.encoding.items() if name not in _NOT_IN_A_VECTOR}
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return cache_folder() / "embeddings" / key[:32]


_NOT_IN_A_VECTOR = ("model", "query_prefix", "document_prefix")  # prefixes are part of the text


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

    def find(self, texts: Sequence[str], depth: int) -> list[Hits]:
        """The nearest documents for each text. Query vectors are not cached: encoding is part of a search."""
        asked = [place for place, text in enumerate(texts) if text.strip()]
        queries = self.encoder.encode([self.prefix + texts[place] for place in asked])
        found = [NO_HITS] * len(texts)
        for place, query, rows in zip(asked, queries, self.candidates(queries, depth), strict=True):
            found[place] = best_hits(rows, _exact_scores(self.vectors, rows, query), self.stored.place, depth)
        return found

    def candidates(self, queries: Vectors, depth: int) -> list[Integers]:
        """For each query, the rows that may be among the best in an exact comparison."""
        return [_candidates(near, depth) for near in _products(self.vectors, queries)]


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


def _exact_scores(vectors: Vectors, rows: Integers | Sequence[int], query: Vectors) -> Floats:
    """The cosine of a query with some documents, to the last bit independent of other queries and documents.

    In a matrix product, the order of addition would depend on the shapes.
    """
    products = vectors[rows].astype(np.float64)
    products *= query.astype(np.float64)
    scores: Floats = products.sum(axis=1)
    return scores


def _products(vectors: Vectors, queries: Vectors) -> Vectors:
    """All cosines, approximately: (queries, documents)."""
    near = np.empty((len(queries), len(vectors)), np.float32)
    for begin in range(0, len(vectors), _DOCUMENTS):
        block = vectors[begin : begin + _DOCUMENTS]
        np.matmul(queries, block.T, out=near[:, begin : begin + len(block)])
    return near


def _candidates(near: Vectors, depth: int) -> Integers:
    """All rows that may be among the best in an exact comparison."""
    if len(near) <= depth:
        return np.arange(len(near))
    lowest = np.partition(near, len(near) - depth)[len(near) - depth]
    return np.flatnonzero(near >= lowest - 2 * _SLACK)
