"""What an ONNX model can be used for, by its inputs and outputs."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from assay.errors import RetrievalError
from assay.retrieval.onnx_graphs import Graph, Value
from assay.words import listed

ModelKind: TypeAlias = Literal["bi-encoder", "cross-encoder", "language model"]
MODEL_KINDS: tuple[ModelKind, ...] = get_args(ModelKind)
GIVES: dict[ModelKind, str] = {
    "bi-encoder": "a vector for a text",
    "cross-encoder": "a score for a query together with a document",
    "language model": "text",
}
TEXT_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_BERTS_OWN = "pooler_output"  # trained to tell whether sentences follow each other, not for search
_CLASSES = 2  # outputs of a cross-encoder that are trained as two classes; no vector is as short


class Outputs(Struct, frozen=True):
    """The outputs of a model that can be used, by name."""

    tokens: str | None = None  # a vector for each token
    pooled: str | None = None  # one vector for the text
    scores: str | None = None  # one score, or one for each class

    @property
    def kind(self) -> ModelKind | None:
        """What the model is; None if no output can be used."""
        if self.pooled or self.tokens:
            return "bi-encoder"
        return "cross-encoder" if self.scores else None

    @property
    def pools(self) -> bool:
        """Whether the pooled output is the one to use unless a pooling is set."""
        return self.pooled is not None and (self.tokens is None or self.pooled != _BERTS_OWN)


def outputs_of(graph: Graph) -> Outputs:
    """The outputs that can be used; where there are several of a kind, those with the usual names."""
    tokens = [value.name for value in graph.outputs if _is_tokens(value)]
    tokens.sort(key=lambda name: name not in _TOKEN_OUTPUTS)
    pooled = [value.name for value in graph.outputs if _is_pooled(value)]
    pooled.sort(key=lambda name: (name == _BERTS_OWN, name != "sentence_embedding"))
    scores = [value.name for value in graph.outputs if _is_scores(value)]
    return Outputs(*(next(iter(names), None) for names in (tokens, pooled, scores)))


def kind_of(graph: Graph) -> ModelKind:
    """What a model is. Raises RetrievalError if it cannot be used, with what it lacks."""
    others = [value.name for value in graph.inputs if value.name not in TEXT_INPUTS]
    if others:
        raise RetrievalError(
            f"the model needs the input {_and(others)}, which a text does not have. Supported: {', '.join(TEXT_INPUTS)}."
        )
    if "input_ids" not in {value.name for value in graph.inputs}:
        raise RetrievalError("the model has no input input_ids, the numbers of the tokens.")
    fixed = next((value for value in graph.inputs if value.rank == 2 and value.shape and value.shape[1]), None)
    if fixed is not None and fixed.shape is not None:
        raise RetrievalError(
            f"the model only takes texts of exactly {fixed.shape[1]} tokens. Export it with a dynamic length."
        )
    kind = outputs_of(graph).kind
    if kind is None:
        said = ", ".join(f"{value.name}{_shape(value)}" for value in graph.outputs)
        raise RetrievalError(
            f"the model has no output that can be used, only {said}. Vector search needs a vector for each token or "
            "text (last_hidden_state or sentence_embedding), reranking a score (logits with two dimensions)."
        )
    return kind


def _is_tokens(value: Value) -> bool:
    if _sounds_like_scores(value):
        return False
    return value.name in _TOKEN_OUTPUTS if value.shape is None else len(value.shape) == 3 and value.shape[2] != 1


def _is_pooled(value: Value) -> bool:
    if _sounds_like_scores(value) or _is_scores(value):
        return False
    return value.name == "sentence_embedding" if value.shape is None else len(value.shape) == 2


def _is_scores(value: Value) -> bool:
    if value.shape is None:
        return _sounds_like_scores(value)
    if len(value.shape) == 1:
        return True
    return len(value.shape) == 2 and (_sounds_like_scores(value) or (value.shape[1] or _CLASSES + 1) <= _CLASSES)


def _sounds_like_scores(value: Value) -> bool:
    return "logit" in value.name or "score" in value.name


def _shape(value: Value) -> str:
    if value.shape is None:
        return ""
    return f" ({', '.join('any' if size is None else str(size) for size in value.shape)})"


def _and(names: list[str]) -> str:
    shown = names[:3] + ([f"{len(names) - 3} others"] if len(names) > 3 else [])
    return listed(shown)
