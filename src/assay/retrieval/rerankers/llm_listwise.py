"""Reranking by a language model that orders many documents at once, in windows that slide from the bottom to the top."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import LanguageModelError
from assay.inputs.documents import Document
from assay.llm.service import Check, whole
from assay.retrieval.base import reranker
from assay.retrieval.prompted import Interview, Prompted
from assay.retrieval.reranking import Reranked, Work

_IN_BRACKETS = re.compile(r"\[([\s\d,;>\"']*\d[\s\d,;>\"']*)\]", re.ASCII)
_NUMBER = re.compile(r"(?<![\w.-])\d{1,9}(?![\w-]|\.\d)", re.ASCII)
_PLAIN = re.compile(r"[\s\d\[\]\",;>.']*", re.ASCII)  # an answer without a word beside the numbers


@reranker("an order asked of a language model, window by window", extra="llm")
class Listwise(Prompted, frozen=True):
    """Sliding windows from the bottom up, so that a document from the end can reach the top.

    `model` is a GGUF file or the name of one, or with `endpoint` a model of that server.
    """

    name: ClassVar[str] = "llm-listwise"
    slots: ClassVar[tuple[str, ...]] = ("query", "passages")
    own_prompt: ClassVar[str] = "listwise.txt"

    window: int = 20  # documents in one prompt
    step: int = 10  # documents between the starts of two windows

    checks: ClassVar[Mapping[str, Check]] = {**Prompted.checks, "window": whole(2), "step": whole(1)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step > self.window:
            raise LanguageModelError(
                f"step = {self.step} is larger than window = {self.window}: documents in between would be left out."
            )

    @contextmanager
    def open(self) -> Iterator[OpenListwise]:
        """Load the model, or connect to the server."""
        with self.opened() as interview:
            yield OpenListwise(interview, self.window, self.step)


class OpenListwise:
    """Orders documents. Several threads may ask at once."""

    def __init__(self, interview: Interview, window: int, step: int) -> None:
        self._interview, self._window, self._step = interview, window, step
        self.keep_account = interview.keep_account

    def rerank(self, query: str, documents: Sequence[Document]) -> Reranked:
        """The order of the documents for a query."""
        order = list(range(len(documents)))
        passages = [self._interview.passage(document.whole) for document in documents]
        work, kept_seconds = Work(documents=len(documents)), 0.0
        for begin, end in windows(len(documents), self._window, self._step):
            inside = order[begin:end]
            lines = "\n".join(f"[{number}] {passages[place]}" for number, place in enumerate(inside, 1))
            reply = self._interview.ask(query, {"passages": lines, "count": str(len(inside))})
            read = parse_order(reply.answer.said, len(inside))
            order[begin:end] = [inside[place] for place in read.order]
            work += replace(reply.work, windows=1, repaired=int(read.repaired))
            kept_seconds += reply.kept_seconds
        cost = self._interview.prices.cost(work.tokens_in, work.tokens_out)
        return Reranked(tuple(order), None, replace(work, cost=cost), kept_seconds)


class ParsedOrder(Struct, frozen=True):
    """The order that an answer gives."""

    order: tuple[int, ...]  # positions from 0, each exactly once
    repaired: bool  # whether the answer was anything else than each number once


def windows(size: int, window: int, step: int) -> list[tuple[int, int]]:
    """Where windows begin and end, from the bottom to the top; nothing to order is no window.

    >>> windows(40, 20, 10), windows(25, 20, 10), windows(1, 20, 10)
    ([(20, 40), (10, 30), (0, 20)], [(5, 25), (0, 20)], [])
    """
    if size < 2:
        return []
    last = max(size - window, 0)
    begins = [*range(last, 0, -step), 0]
    return [(begin, min(begin + window, size)) for begin in begins]


def parse_order(text: str, size: int) -> ParsedOrder:
    """The order of `size` documents in an answer, repaired if need be.

    Numbers count in square brackets, or, if there are none, anywhere. Of each number from 1 to `size` the first occurrence
    counts, all other numbers are dropped, and documents that are missing follow in their former order. An answer that is
    not each number once, or that has words around them, counts as repaired.

    >>> parse_order("[2] > [3] > [1]", 3)
    ParsedOrder(order=(1, 2, 0), repaired=False)
    >>> parse_order("The best is [2], not [7].", 3)
    ParsedOrder(order=(1, 0, 2), repaired=True)
    """
    found = [int(number) for inside in _IN_BRACKETS.findall(text) for number in _NUMBER.findall(inside)]
    found = found or [int(number) for number in _NUMBER.findall(text)]
    valid = dict.fromkeys(number - 1 for number in found if 1 <= number <= size)
    order = (*valid, *(place for place in range(size) if place not in valid))
    as_asked = len(found) == len(valid) == size and _PLAIN.fullmatch(text) is not None
    return ParsedOrder(order, not as_asked)
