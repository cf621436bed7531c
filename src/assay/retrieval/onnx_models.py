"""Run a model on texts: its tokenizer, and the inputs and outputs of its ONNX file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import MissingExtraError, RetrievalError
from assay.retrieval.model_kinds import outputs_of
from assay.retrieval.models import ModelFiles
from assay.retrieval.onnx_graphs import read_graph

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_NUMBERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(float)": np.float32, "tensor(bool)": np.bool_}

# What a model can be given of a text, by the name of its input (TEXT_INPUTS in model_kinds).
_NUMBERED: Mapping[str, Callable[[Any], Sequence[int]]] = {
    "input_ids": lambda encoding: encoding.ids,
    "attention_mask": lambda encoding: encoding.attention_mask,
    "token_type_ids": lambda encoding: encoding.type_ids,
    "position_ids": lambda encoding: range(len(encoding)),
}


class OnnxModel:
    """A loaded model. Runs on one thread, so that several texts can be processed in parallel."""

    def __init__(self, files: ModelFiles, *, max_length: int, use: str = "vector search") -> None:
        runtime, tokenizers = _libraries(use)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # an error that we can tell is not printed by the library as well
        try:
            self._session = runtime.InferenceSession(str(files.model), options, providers=["CPUExecutionProvider"])
            self.tokenizer: Tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        except Exception as error:  # the libraries raise many kinds of exceptions
            raise RetrievalError(f"{files.folder}: cannot load the model: {_gist(error)}") from None
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(max_length)
        self.outputs = outputs_of(read_graph(files.model))
        self._inputs = {value.name: _NUMBERS.get(value.type, np.int64) for value in self._session.get_inputs()}
        self._files, self._max_length = files, max_length

    def run(self, output: str, encodings: Sequence[Encoding]) -> Any:
        """An output of the model for some texts, or pairs of texts, that have the same number of tokens."""
        feed: dict[str, Any] = {
            name: np.array([_NUMBERED[name](encoding) for encoding in encodings], kind)
            for name, kind in self._inputs.items()
        }
        try:
            return self._session.run([output], feed)[0]
        except Exception as error:
            raise RetrievalError(
                f"{self._files.folder}: cannot run the model on {len(encodings[0])} tokens: {_gist(error)} If the model "
                f"takes shorter texts only, set max_length, which is {self._max_length}."
            ) from None


def library_versions(use: str = "vector search") -> dict[str, str]:
    """The versions of the libraries, for the manifest."""
    from importlib.metadata import version

    _libraries(use)
    return {"onnxruntime": version("onnxruntime"), "tokenizers": version("tokenizers")}


def processors() -> int:
    """The number of processors available to this process."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _libraries(use: str) -> tuple[Any, Any]:
    try:
        import onnxruntime
        import tokenizers
    except ImportError:
        raise MissingExtraError(use, "dense") from None
    return onnxruntime, tokenizers


def _gist(error: Exception) -> str:
    """The first line of an error message, as a sentence; the rest is the library's own trace."""
    return str(error).strip().partition("\n")[0].rstrip(".") + "."
