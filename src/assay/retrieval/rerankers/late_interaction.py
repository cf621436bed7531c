"""Rerank by late interaction: the tokens of a query, each compared with the nearest token of a document.

Khattab and Zaharia (2020) call the score MaxSim. Here the token vectors are those of any bi-encoder. As in `embedding`,
each text goes through the model alone, so a score depends only on the model, the query and the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import RetrievalError
from assay.inputs.documents import Document
from assay.retrieval.base import Progress, reranker
from assay.retrieval.caches import Recent
from assay.retrieval.embedding import Vectors
from assay.retrieval.model_kinds import outputs_of
from assay.retrieval.model_settings import DEFAULT_LENGTH
from assay.retrieval.model_use import check_model, check_whole, fetch_model, installed_model, overridden
from assay.retrieval.models import DEFAULT_MODEL, ModelFiles
from assay.retrieval.onnx_graphs import read_graph
from assay.retrieval.onnx_models import OnnxModel, library_versions, processors
from assay.retrieval.reranking import Reranked, Work, by_score
from assay.words import writable_text

_USE = "Late interaction"
_OF_THE_MODEL = {
    "max_length": DEFAULT_LENGTH,
    "query_prefix": "",
    "document_prefix": "",
}  # unless a recipe says otherwise
_KEPT = 256 * 2**20  # bytes of token vectors kept for other queries


@reranker("compares each token of the query with the nearest of the document", extra="dense", needs_model=True)
class LateInteraction(Struct, frozen=True):
    """MaxSim: the cosine of each token of the query with the nearest token of the document, summed.

    `model` is a known model, a folder with model.onnx and tokenizer.json, or ORGANISATION/NAME@REVISION on the hub.
    The other fields default to what the model says. All tokens count, also those that the tokenizer puts around a text.
    """

    name: ClassVar[str] = "late-interaction"
    deterministic: ClassVar[bool] = True

    model: str = DEFAULT_MODEL
    max_length: int | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None

    def __post_init__(self) -> None:
        check_model(self.model, "bi-encoder", _USE)
        check_whole("max_length", self.max_length, 3, " tokens")
        for name in ("query_prefix", "document_prefix"):
            if not isinstance(getattr(self, name), str | None):
                raise RetrievalError(f"{name} cannot be {getattr(self, name)!r}; it takes a string.")

    @property
    def settings(self) -> Mapping[str, object]:
        """Model and its digest, how it is used, and versions; the model must be installed."""
        files = installed_model(self.model)
        return {
            "engine": "MaxSim",
            "model": self.model,
            "digest": files.digest,
            **self.use(files),
            **overridden(
                {name: getattr(self, name) for name in _OF_THE_MODEL},
                {name: getattr(files.settings, name) for name in _OF_THE_MODEL},
            ),
            "lower_case": files.settings.lower_case,
            **library_versions(_USE.lower()),
        }

    def use(self, files: ModelFiles) -> dict[str, Any]:
        """How the model is used: the given settings, or else those of the model, or else the defaults."""
        found = {
            name: (getattr(self, name), getattr(files.settings, name), least) for name, least in _OF_THE_MODEL.items()
        }
        return {name: next(value for value in values if value is not None) for name, values in found.items()}

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the model, unless it is installed."""
        fetch_model(self.model, "bi-encoder", _USE, progress)
        _token_output(installed_model(self.model))

    @contextmanager
    def open(self) -> Iterator[OpenLateInteraction]:
        """Load the model."""
        files = installed_model(self.model)
        use, output = self.use(files), _token_output(files)
        model = OnnxModel(files, max_length=use["max_length"], use=_USE.lower())
        with ThreadPoolExecutor(processors(), thread_name_prefix="rerank") as pool:
            tokens = TokenVectors(model, output, lower_case=files.settings.lower_case)
            yield OpenLateInteraction(tokens, use["query_prefix"], use["document_prefix"], pool)


class OpenLateInteraction(Struct, frozen=True):
    """A loaded bi-encoder, and the token vectors of documents that it has read."""

    tokens: TokenVectors
    query_prefix: str
    document_prefix: str
    pool: ThreadPoolExecutor

    def rerank(self, query: str, documents: Sequence[Document]) -> Reranked:
        """The documents by MaxSim."""
        asked = self.tokens.of(self.query_prefix + query)
        texts = [self.document_prefix + document.whole for document in documents]
        scores = list(self.pool.map(lambda text: max_sim(asked, self.tokens.kept(text)), texts))
        return by_score(scores, Work(documents=len(documents)))


class TokenVectors:
    """A vector of unit length for each token of a text; those of documents are kept, as several queries find them."""

    def __init__(self, model: OnnxModel, output: str, *, lower_case: bool = False) -> None:
        self._model, self._output, self._lower_case = model, output, lower_case
        self._recent = Recent[Vectors](_KEPT)

    def of(self, text: str) -> Vectors:
        """The vectors of a text: (tokens, dimensions)."""
        clean = writable_text(text)
        encoded = self._model.tokenizer.encode(clean.lower() if self._lower_case else clean)
        if not encoded.ids:
            return np.empty((0, 0), np.float32)
        states = self._model.run(self._output, [encoded])[0].astype(np.float64)
        lengths = np.sqrt(np.square(states).sum(axis=1, keepdims=True))
        vectors: Vectors = (states / np.maximum(lengths, 1e-12)).astype(np.float32)
        return vectors

    def kept(self, text: str) -> Vectors:
        """The same, from memory if the text was read not too long ago."""
        vectors = self._recent.get(text)
        if vectors is None:
            vectors = self.of(text)
            self._recent.put(text, vectors, vectors.nbytes)
        return vectors


def max_sim(query: Vectors, document: Vectors) -> float:
    """The similarity of each token of the query to the nearest of the document, summed; 0 if either has no token.

    >>> query, document = np.eye(3)[:2], np.array([[1.0, 0.0, 0.0], [0.0, 0.8, 0.6]])
    >>> max_sim(query, document)
    1.8
    """
    if not len(query) or not len(document):
        return 0.0
    return float((query @ document.T).max(axis=1).astype(np.float64).sum())


def _token_output(files: ModelFiles) -> str:
    """The output of the model with a vector for each token."""
    outputs = outputs_of(read_graph(files.model))
    if outputs.tokens is None:
        raise RetrievalError(
            f"the model {files.name} gives one vector for a text ({outputs.pooled}) and none for each token, which late "
            "interaction compares. Export it with last_hidden_state."
        )
    return outputs.tokens
