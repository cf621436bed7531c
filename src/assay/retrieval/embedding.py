"""Encode texts as vectors with an ONNX model. A vector depends only on the model and its text.

Each text goes through the model alone, with several in parallel. In a batch, an int8 model scales its activations by
the largest of all texts, so a vector would depend on its batch (cosine 0.990 to 0.993 with itself at worst over 200
Cranfield texts), and a run could not be resumed bit for bit. Single texts are also faster on a CPU, because nothing is
padded: 200 texts took 2.1 s on 2 cores, against 3.1 s in batches of 16 sorted by length and 4.0 s in unsorted batches.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.errors import MissingExtraError, RetrievalError
from assay.retrieval.base import writable_text
from assay.retrieval.models import ModelFiles

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]  # (texts, dimensions), unit length
else:
    Vectors = np.ndarray

POOLINGS = ("mean", "first")  # the mean over all tokens, or the first one ([CLS])


class Encoder:
    """A loaded model. Close it after use: `with Encoder(...) as encoder`."""

    def __init__(self, files: ModelFiles, *, max_length: int, pooling: str = "mean") -> None:
        if pooling not in POOLINGS:
            raise RetrievalError(f"pooling cannot be {pooling!r}; it takes {' or '.join(POOLINGS)}.")
        runtime, tokenizers = _libraries()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = (
            1  # one thread per text; several texts in parallel
        )
        options.log_severity_level = 3
        try:
            self._session = runtime.InferenceSession(str(files.model), options, providers=["CPUExecutionProvider"])
            self._tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        except Exception as error:  # the libraries raise many kinds of exceptions
            raise RetrievalError(f"{files.folder}: cannot load the model: {_gist(error)}") from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length)
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._pooling = pooling
        self._pool = ThreadPoolExecutor(_processors(), thread_name_prefix="encode")

    def __enter__(self) -> Encoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector."""
        return len(self._encode("a"))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack(list(self._pool.map(self._encode, texts)))

    def _encode(self, text: str) -> Vectors:
        ids = np.array([self._tokenizer.encode(writable_text(text)).ids], np.int64)
        given: Mapping[str, Any] = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        states = self._session.run(None, {name: given[name] for name in self._inputs})[0][0].astype(np.float64)
        pooled = states.mean(axis=0) if self._pooling == "mean" else states[0]
        vector: Vectors = (pooled / max(float(np.sqrt(np.square(pooled).sum())), 1e-12)).astype(np.float32)
        return vector


def library_versions() -> dict[str, str]:
    """The versions of the libraries, for the manifest."""
    from importlib.metadata import version

    _libraries()
    return {"onnxruntime": version("onnxruntime"), "tokenizers": version("tokenizers")}


def _libraries() -> tuple[Any, Any]:
    try:
        import onnxruntime
        import tokenizers
    except ImportError:
        raise MissingExtraError("vector search", "dense") from None
    return onnxruntime, tokenizers


def _processors() -> int:
    """The number of processors available to this process."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _gist(error: Exception) -> str:
    """The first line of an error message; the rest is the library's own trace."""
    return str(error).strip().partition("\n")[0]
