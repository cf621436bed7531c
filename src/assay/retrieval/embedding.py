"""Encode texts as vectors with a bi-encoder. A vector depends only on the model and its text.

Each text goes through the model alone, with several in parallel. In a batch, an int8 model scales its activations by
the largest of all texts, so a vector would depend on its batch (cosine 0.990 to 0.993 with itself at worst over 200
Cranfield texts), and a run could not be resumed bit for bit. Single texts are also faster on a CPU, because nothing is
padded: 200 texts took 2.1 s on 2 cores, against 3.1 s in batches of 16 sorted by length and 4.0 s in unsorted batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import RetrievalError
from assay.retrieval.model_kinds import Outputs, outputs_of
from assay.retrieval.model_settings import DEFAULT_LENGTH, POOLINGS
from assay.retrieval.models import ModelFiles, require_kind
from assay.retrieval.onnx_graphs import read_graph
from assay.retrieval.onnx_models import OnnxModel, processors
from assay.words import writable_text

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]  # (texts, dimensions), unit length unless not normalised
else:
    Vectors = np.ndarray

IN_THE_MODEL = "in the model"  # the pooling of a model that gives one vector for a text
OVERRIDABLE = ("max_length", "pooling", "query_prefix", "document_prefix", "normalise")


class Encoding(Struct, frozen=True):
    """Everything about the use of a model that decides the vector of a text."""

    max_length: int = DEFAULT_LENGTH
    pooling: str = "mean"
    normalise: bool = True
    dimensions: int | None = None  # of the vector that are kept; all by default
    lower_case: bool = False
    query_prefix: str = ""
    document_prefix: str = ""


class Chosen(Struct, frozen=True):
    """How a model is used, and where that differs from what the model says."""

    encoding: Encoding
    instead_of: dict[str, object]  # what the model says, by the name of the setting


def choose_encoding(files: ModelFiles, given: dict[str, Any], dimensions: int | None = None) -> Chosen:
    """The given settings (None where nothing is given), or else those of the model, or else the defaults.

    Raises RetrievalError if the model is no bi-encoder, or cannot be used in this way.
    """
    require_kind(files.name, files.kind, "bi-encoder", "Vector search")
    outputs = outputs_of(read_graph(files.model))
    defaults = Encoding()
    own: dict[str, Any] = {name: getattr(files.settings, name) for name in OVERRIDABLE}
    if outputs.pools:
        own["pooling"] = IN_THE_MODEL
    used = {
        name: given[name]
        if given.get(name) is not None
        else getattr(defaults, name)
        if own[name] is None
        else own[name]
        for name in OVERRIDABLE
    }
    _check_pooling(files, outputs, used["pooling"], asked=given.get("pooling") is not None)
    overridden = {name: own[name] for name in OVERRIDABLE if own[name] is not None and own[name] != used[name]}
    return Chosen(Encoding(**used, dimensions=dimensions, lower_case=files.settings.lower_case), overridden)


def _check_pooling(files: ModelFiles, outputs: Outputs, pooling: str, *, asked: bool) -> None:
    if pooling == IN_THE_MODEL:
        return
    if outputs.tokens is None:
        raise RetrievalError(
            f"pooling cannot be set for the model {files.name}: it gives one vector for a text ({outputs.pooled}) and "
            "none for each token."
        )
    if asked:
        return
    source = files.settings.sources
    if pooling not in POOLINGS:
        raise RetrievalError(
            f"the model {files.name} wants {pooling} pooling ({source.get('pooling')}), which is not supported. Export it "
            f"with its pooled output (sentence_embedding), or set pooling to one of {', '.join(POOLINGS)}."
        )
    if files.settings.unsupported:
        raise RetrievalError(
            f"the model {files.name} has steps that its ONNX file lacks: {files.settings.unsupported} "
            f"({source.get('unsupported')}). Export it with its pooled output (sentence_embedding), or set pooling to use "
            "it without them."
        )


class Encoder:
    """A loaded bi-encoder. Close it after use: `with Encoder(...) as encoder`."""

    def __init__(self, files: ModelFiles, encoding: Encoding = Encoding()) -> None:
        if encoding.pooling not in (*POOLINGS, IN_THE_MODEL):
            raise RetrievalError(f"pooling cannot be {encoding.pooling!r}; it takes {', '.join(POOLINGS)}.")
        self._model = OnnxModel(files, max_length=encoding.max_length)
        outputs = self._model.outputs
        output = outputs.pooled if encoding.pooling == IN_THE_MODEL else outputs.tokens
        if output is None:
            raise RetrievalError(f"{files.folder}: the model has no output to use with the pooling {encoding.pooling}.")
        self._output, self._encoding, self._folder = output, encoding, files.folder
        self._pool = ThreadPoolExecutor(processors(), thread_name_prefix="encode")

    def __enter__(self) -> Encoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    @property
    def normalises(self) -> bool:
        """Whether all vectors have unit length."""
        return self._encoding.normalise

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector."""
        whole, kept = len(self._pooled("a")), self._encoding.dimensions
        if kept is not None and kept > whole:
            raise RetrievalError(f"dimensions cannot be {kept}: the vectors of {self._folder} have {whole}.")
        return kept or whole

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector per text."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack(list(self._pool.map(self._encode, texts)))

    def _encode(self, text: str) -> Vectors:
        pooled = self._pooled(text)[: self._encoding.dimensions]
        if self._encoding.normalise:  # after the cut, as models with nested vectors were trained
            pooled = pooled / max(float(np.sqrt(np.square(pooled).sum())), 1e-12)
        vector: Vectors = pooled.astype(np.float32)
        return vector

    def _pooled(self, text: str) -> Any:
        """The whole vector of a text, as the model gives it."""
        clean = writable_text(text)
        encoded = self._model.tokenizer.encode(clean.lower() if self._encoding.lower_case else clean)
        states = self._model.run(self._output, [encoded])[0].astype(np.float64)
        if self._encoding.pooling == IN_THE_MODEL:
            return states
        return _POOL[self._encoding.pooling](states)


_POOL = {
    "mean": lambda states: states.mean(axis=0),
    "first": lambda states: states[0],
    "last": lambda states: states[-1],
    "max": lambda states: states.max(axis=0),
}
