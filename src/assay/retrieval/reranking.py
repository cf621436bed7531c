"""The reranker interface: how to order the documents that another mode found. Independent of models and of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

import numpy as np
from msgspec import Struct

from assay.inputs.documents import Document
from assay.tables import Floats


class Work(Struct, frozen=True):
    """What one query, or all queries of a stage, took apart from time. Sums of works are works."""

    documents: int = 0  # scored or read by the stage
    requests: int = 0  # answers asked of a language model, also those taken from the cache
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0  # in the currency of the recipe's prices
    windows: int = 0  # orders asked for
    repaired: int = 0  # of them, those whose answer had to be repaired

    def __add__(self, other: Work) -> Work:
        return Work(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))


class Reranked(Struct, frozen=True):
    """The new order of the documents of one query."""

    order: tuple[int, ...]  # their positions, best first: each exactly once
    scores: tuple[float, ...] | None = None  # in that order, never rising; None if only the order is known
    work: Work = Work()
    kept_seconds: float = 0.0  # that answers kept from earlier took when they were asked: part of the latency


class OpenReranker(Protocol):
    """A reranker that is ready to use, with its model loaded.

    One that costs money may also have `keep_account(folder)`: it is called before anything is reranked, with a folder in
    which an interrupted run of the same stage may have left what it spent.
    """

    def rerank(self, query: str, documents: Sequence[Document]) -> Reranked:
        """The order of the documents for a query. It depends on nothing but these and the settings."""


class Reranker(Protocol):
    """One way to order the documents that another mode found."""

    name: ClassVar[str]  # the kind of the mode
    deterministic: ClassVar[bool]  # False if the same question may get another answer, as from a remote model

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything that decides the order, as JSON values: engine, versions, model and its digest, parameters."""

    def open(self) -> AbstractContextManager[OpenReranker]:
        """Load the model: `with reranker.open() as opened`."""


def by_score(scores: Sequence[float], work: Work = Work()) -> Reranked:
    """The order by score; documents with equal scores keep their order.

    >>> by_score([0.2, 0.9, 0.2]).order
    (1, 0, 2)
    """
    given = np.asarray(scores, np.float64)
    order = np.argsort(-given, kind="stable")
    return Reranked(tuple(order.tolist()), tuple(given[order].tolist()), work)


def falling(scores: Floats) -> Floats:
    """Scores that fall from rank to rank, also as 32-bit floats: every tool then reads the same ranking.

    A score that does not fall is lowered by the smallest step there is.

    >>> falling(np.array([2.0, 2.0, 1.0])).tolist()
    [2.0, 1.9999998807907104, 1.0]
    """
    found = np.asarray(scores, np.float64).astype(np.float32)
    for place in range(1, len(found)):
        found[place] = min(found[place], np.nextafter(found[place - 1], np.float32(-np.inf)))
    return found.astype(np.float64)
