"""Rerank with a cross-encoder, which reads a query together with a document and gives one score for the pair.

By default each pair goes through the model alone. In a batch, pairs are padded to the longest, and an int8 model scales
its activations by the largest of all pairs: the scores of bert-mini-reranker moved by up to 0.75 with a standard
deviation of 1.33, so they would depend on `top` and on what else was found. Batches gain little on a CPU. Processor
time per pair, alone and in batches of 4, 8, 16 and 32 sorted by length: 8.7, 9.2, 9.9, 11.4 and 13.8 ms with abstracts
of 260 tokens, and 1.79, 1.74, 1.72, 1.77 and 1.85 ms with product descriptions of 63 tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Struct

from assay.errors import RetrievalError, show_id
from assay.inputs.documents import Document
from assay.retrieval.base import Progress, reranker
from assay.retrieval.caches import Recent
from assay.retrieval.model_use import check_model, check_whole, fetch_model, installed_model, overridden
from assay.retrieval.models import ModelFiles
from assay.retrieval.onnx_models import OnnxModel, library_versions, processors
from assay.retrieval.reranking import Reranked, Work, by_score
from assay.tables import Floats
from assay.words import writable_text

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_USE = "Reranking with a cross-encoder"
_LENGTH = 512  # tokens, if neither the model nor its tokenizer says
_STRATEGIES = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second"}
_KEPT = 4096  # texts whose tokens are kept for other queries
_PADDING_TOKENS = ("[PAD]", "<pad>")


class Truncation(Struct, frozen=True):
    """How a tokenizer shortens texts, as tokenizer.json says."""

    max_length: int = _LENGTH
    strategy: Literal["LongestFirst", "OnlyFirst", "OnlySecond"] = "LongestFirst"
    direction: Literal["Left", "Right"] = "Right"


class Padding(Struct, frozen=True):
    """How a tokenizer pads texts, as tokenizer.json says."""

    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = _PADDING_TOKENS[0]


class _TokenizerFile(Struct, frozen=True):
    truncation: Truncation | None = None
    padding: Padding | None = None


@reranker("scores each query and document together with a cross-encoder", extra="dense", needs_model=True)
class CrossEncoder(Struct, frozen=True):
    """The score of a model for the query and the title and text of a document.

    `model` is a known model, a folder with model.onnx and tokenizer.json, or ORGANISATION/NAME@REVISION on the hub.
    Pairs of more than `max_length` tokens (by default what the model says) are shortened as its tokenizer does it.
    `batch` pairs, sorted by length, go through the model together.
    """

    name: ClassVar[str] = "cross-encoder"
    deterministic: ClassVar[bool] = True

    model: str = "bert-mini-reranker"
    max_length: int | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        check_model(self.model, "cross-encoder", _USE)
        check_whole("max_length", self.max_length, 3, " tokens")
        if self.batch is None:
            raise RetrievalError("batch cannot be None; it takes a whole number of at least 1.")
        check_whole("batch", self.batch, 1)

    @property
    def settings(self) -> Mapping[str, object]:
        """Model and its digest, lengths, batches and versions; the model must be installed."""
        files = installed_model(self.model)
        truncation = self.truncation(files)
        return {
            "engine": "cross-encoder",
            "model": self.model,
            "digest": files.digest,
            "max_length": truncation.max_length,
            "truncation": _STRATEGIES[truncation.strategy],
            "batch": self.batch,
            **overridden({"max_length": self.max_length}, {"max_length": self.own_length(files)}),
            **library_versions(_USE.lower()),
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the model, unless it is installed."""
        fetch_model(self.model, "cross-encoder", _USE, progress)

    def truncation(self, files: ModelFiles) -> Truncation:
        """How pairs are shortened: at the given length, or else that of the model, or else that of its tokenizer."""
        own = _tokenizer_file(files.tokenizer).truncation or Truncation()
        return Truncation(self.max_length or self.own_length(files), own.strategy, own.direction)

    def own_length(self, files: ModelFiles) -> int:
        """The longest pair, in tokens, as the model or else its tokenizer says."""
        return files.settings.max_length or (_tokenizer_file(files.tokenizer).truncation or Truncation()).max_length

    @contextmanager
    def open(self) -> Iterator[OpenCrossEncoder]:
        """Load the model."""
        files = installed_model(self.model)
        truncation = self.truncation(files)
        model = OnnxModel(files, max_length=truncation.max_length, use=_USE.lower())
        if model.outputs.scores is None:
            raise RetrievalError(f"{files.folder}: the model gives no scores. {_USE} needs them.")
        model.tokenizer.enable_truncation(
            truncation.max_length,
            strategy=_STRATEGIES[truncation.strategy],
            direction=truncation.direction.lower(),
        )
        padding = _tokenizer_file(files.tokenizer).padding or _usual_padding(model)
        with ThreadPoolExecutor(processors(), thread_name_prefix="rerank") as pool:
            yield OpenCrossEncoder(model, Tokens(model.tokenizer), model.outputs.scores, padding, self.batch, pool)


class OpenCrossEncoder(Struct, frozen=True):
    """A loaded cross-encoder."""

    model: OnnxModel
    tokens: Tokens
    output: str
    padding: Padding
    batch: int
    pool: ThreadPoolExecutor

    def rerank(self, query: str, documents: Sequence[Document]) -> Reranked:
        """The documents by the score of the model."""
        return by_score(
            self.scores(query, [document.whole for document in documents]).tolist(), Work(documents=len(documents))
        )

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """The score of each text. Several batches are computed in parallel."""
        pairs = self._encoded(query, texts)
        batches = by_length([len(pair) for pair in pairs], self.batch)
        scores = np.empty(len(texts))
        for places, found in zip(batches, self.pool.map(lambda some: self._scored(pairs, some), batches), strict=True):
            scores[places] = found
        return scores

    def _encoded(self, query: str, texts: Sequence[str]) -> list[Encoding]:
        """The tokens of each pair: those of the two texts, put together and shortened by the tokenizer."""
        asked = self.tokens.of([query])[0]
        try:
            return [self.model.tokenizer.post_process(asked, answer) for answer in self.tokens.of(texts)]
        except Exception as error:  # the strategy shortens only one of the two, and the other is too long by itself
            raise RetrievalError(
                f"the tokenizer cannot shorten the pairs of the query {show_id(query)!r}: {error}. Set a larger max_length."
            ) from None

    def _scored(self, pairs: Sequence[Encoding], places: Sequence[int]) -> Floats:
        batch = [pairs[place] for place in places]
        longest = max(map(len, batch))
        own = self.padding
        for pair in (each for each in batch if len(each) < longest):
            pair.pad(longest, pad_id=own.pad_id, pad_type_id=own.pad_type_id, pad_token=own.pad_token)
        return score_of_logits(self.model.run(self.output, batch))


class Tokens:
    """The tokens of single texts, without those around them. Queries find the same documents, so they are kept."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._recent = Recent[Any](_KEPT)

    def of(self, texts: Sequence[str]) -> list[Encoding]:
        """The tokens of each text."""
        found: dict[str, Encoding] = {text: tokens for text in texts if (tokens := self._recent.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        added = self._tokenizer.encode_batch([writable_text(text) for text in missing], add_special_tokens=False)
        for text, tokens in zip(missing, added, strict=True):
            self._recent.put(text, tokens)
        found |= zip(missing, added, strict=True)
        return [found[text] for text in texts]


def by_length(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Batches of pairs of similar length, the longest first; they depend on nothing but the lengths.

    >>> by_length([3, 9, 4, 8, 3], size=2)
    [[1, 3], [2, 0], [4]]
    """
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    return [order[begin : begin + size] for begin in range(0, len(order), size)]


def score_of_logits(logits: Any) -> Floats:
    """One score for each pair, from one output or two classes, of which the second is "relevant".

    The outputs are taken before a sigmoid or softmax, which would not change the order.

    >>> score_of_logits(np.array([[0.5, 2.0], [1.0, -1.0]])).tolist()
    [1.5, -2.0]
    """
    values = np.asarray(logits, np.float64)
    values = values.reshape(len(values), -1)
    if values.shape[1] not in (1, 2):
        raise RetrievalError(
            f"the model gives {values.shape[1]} numbers for a pair; a cross-encoder gives one score, or two classes."
        )
    scores: Floats = values[:, 0] if values.shape[1] == 1 else values[:, 1] - values[:, 0]
    if not np.isfinite(scores).all():
        raise RetrievalError("the model gives scores that are not numbers. Its file may be damaged.")
    return scores


def _tokenizer_file(path: Path) -> _TokenizerFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_TokenizerFile)
    except (OSError, msgspec.MsgspecError) as error:
        raise RetrievalError(f"{path}: cannot read the tokenizer: {error}.") from None


def _usual_padding(model: OnnxModel) -> Padding:
    """For tokenizers that do not say how they pad: some models count positions by the padding token."""
    for token in _PADDING_TOKENS:
        number = model.tokenizer.token_to_id(token)
        if number is not None:
            return Padding(pad_id=number, pad_token=token)
    return Padding()
