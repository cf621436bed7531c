"""Exact search by vectors: every document is compared with every query. Knows documents and runs."""

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
_AT_ONCE = 64  # texts encoded between two writes: what is lost when a process is killed
_DOCUMENTS = 16384  # compared in one step
# Products of float32 vectors of length 1 are off by less than this, whatever order they are added up in.
_SLACK = 1e-4


@retriever("exact search by the vectors of a model", extra="dense", needs_model=True)
class Dense(SearchesWhatItOpens, Struct, frozen=True):
    """Cosine between the vectors of query and document, over title and text.

    `model` is one of the registry, or a folder with model.onnx and tokenizer.json. The other fields are the model's own
    unless they are given. Documents and queries without text have no vector: they are not found, and find nothing.
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
            raise RetrievalError(f"max_length cannot be {length!r}; it takes a whole number of tokens, from 3.")
        if self.pooling is not None and self.pooling not in POOLINGS:
            raise RetrievalError(f"pooling cannot be {self.pooling!r}; there are {' and '.join(POOLINGS)}.")
        for name in ("query_prefix", "document_prefix"):
            if not isinstance(getattr(self, name), str | None):
                raise RetrievalError(f"{name} cannot be {getattr(self, name)!r}; it takes a text.")

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, model and its digest; the model must be on this machine."""
        return {"engine": "exact", "similarity": "cosine", **self.encoding}

    @property
    def encoding(self) -> dict[str, object]:
        """All that decides a vector beside its text."""
        return {"model": self.model, "digest": self.files().digest, **self._use(), **library_versions()}

    def files(self) -> ModelFiles:
        """The model's files; refused where they are not on this machine."""
        found = find_model(self.model)
        if found is None:
            get = "" if is_folder_name(self.model) else f" Get it with: assay models get {self.model}."
            raise MissingModelError(f"the model {self.model} is not on this machine.{get}")
        return found

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Encode the documents, and put their vectors in order; what was encoded once is taken from the cache."""
        with building(folder, self.settings) as build:
            if build is not None:
                self.write_vectors(build, documents, progress or silent)

    @contextmanager
    def open(self, folder: Path) -> Iterator[VectorSearcher]:
        """The index and the model, ready to be asked."""
        stored = open_index(folder, self.settings)
        with self.encoder() as encoder:
            yield VectorSearcher(stored, encoder, self.asked_with)

    def write_vectors(self, build: Build, documents: Callable[[], Iterator[Document]], tell: Progress) -> None:
        """The vectors of all documents that have a text, in the order of the corpus; one pass to see which are missing."""
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
        """How the model is used: as it was trained, but for what is given."""
        model = MODELS.get(self.model)
        own: dict[str, Any] = {"max_length": 256, "pooling": "mean", "query_prefix": "", "document_prefix": ""}
        return {
            name: getattr(self, name) if getattr(self, name) is not None else getattr(model, name, default)
            for name, default in own.items()
        }

    @property
    def asked_with(self) -> str:
        """What is put before each query."""
        return str(self._use()["query_prefix"])

    def encoder(self) -> Encoder:
        """The model, ready to encode; to be closed after use."""
        use = self._use()
        return Encoder(self.files(), max_length=int(str(use["max_length"])), pooling=str(use["pooling"]))

    def _cache(self) -> Path:
        """Where vectors of this encoding are kept: the name of a model, or where it lies, does not matter."""
        parts = {name: value for name, value in self.encoding.items() if name not in _NOT_IN_A_VECTOR}
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return cache_folder() / "embeddings" / key[:32]


_NOT_IN_A_VECTOR = ("model", "query_prefix", "document_prefix")  # prefixes are part of the text


class VectorSearcher(Struct, frozen=True, dict=True):
    """Encodes queries and compares them with documents: here with all of them."""

    stored: StoredIndex
    encoder: Encoder
    prefix: str  # before each query

    @property
    def ids(self) -> Ids:
        """The ids of the documents that have a vector."""
        return self.stored.ids

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors of the documents, which stay on the disk."""
        vectors: Vectors = np.load(self.stored.folder / VECTORS, mmap_mode="r")
        return vectors

    def find(self, texts: Sequence[str], depth: int) -> list[Hits]:
        """The nearest documents for each text. Vectors of queries are not kept: encoding is part of a search."""
        asked = [place for place, text in enumerate(texts) if text.strip()]
        queries = self.encoder.encode([self.prefix + texts[place] for place in asked])
        found = [NO_HITS] * len(texts)
        for place, query, rows in zip(asked, queries, self.candidates(queries, depth), strict=True):
            found[place] = best_hits(rows, _exact_scores(self.vectors, rows, query), self.stored.place, depth)
        return found

    def candidates(self, queries: Vectors, depth: int) -> list[Integers]:
        """For each query the rows that may be among the best when they are compared exactly."""
        return [_candidates(near, depth) for near in _products(self.vectors, queries)]


def _encode_missing(
    documents: Callable[[], Iterator[Document]],
    prefix: str,
    missing: set[bytes],
    encoder: Encoder,
    store: EmbeddingStore,
    tell: Progress,
) -> None:
    """Encode the texts that have no vector yet, each once, some at a time."""
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
    """The cosine of a query with some documents, to the last bit the same whatever else is compared.

    A product of matrices adds up in an order that depends on their shapes; this does not.
    """
    products = vectors[rows].astype(np.float64)
    products *= query.astype(np.float64)
    scores: Floats = products.sum(axis=1)
    return scores


def _products(vectors: Vectors, queries: Vectors) -> Vectors:
    """All cosines, nearly: (queries, documents)."""
    near = np.empty((len(queries), len(vectors)), np.float32)
    for begin in range(0, len(vectors), _DOCUMENTS):
        block = vectors[begin : begin + _DOCUMENTS]
        np.matmul(queries, block.T, out=near[:, begin : begin + len(block)])
    return near


def _candidates(near: Vectors, depth: int) -> Integers:
    """All rows that may be among the best when they are compared exactly."""
    if len(near) <= depth:
        return np.arange(len(near))
    lowest = np.partition(near, len(near) - depth)[len(near) - depth]
    return np.flatnonzero(near >= lowest - 2 * _SLACK)
