"""What a system is: something that answers queries with documents, best first. A function of Python is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np
from msgspec import Struct

from assay.errors import AssayError, FetchError, show_id
from assay.formats.columns import as_id
from assay.formats.shapes import documents_of
from assay.http.connection import Failure
from assay.inputs.queries import Query
from assay.secrets import Secrets

Repeats: TypeAlias = Literal["error", "first"]
REPEATS: tuple[Repeats, ...] = get_args(Repeats)


class Answered(Struct, frozen=True):
    """The documents that a system gave for a query, best first; none is an answer too."""

    docs: tuple[str, ...]
    scores: tuple[float, ...] | None = None  # None if it gave none


Outcomes: TypeAlias = Mapping[str, Answered | Failure]  # by query id


class Asker(Protocol):
    """A system that is ready to be asked, by several threads at once."""

    def ask(self, queries: Sequence[Query], top_k: int) -> Outcomes:
        """What came of each query. Raises Failure if all of them failed for one reason."""

    def close(self) -> None:
        """End what is under way."""


class System(Protocol):
    """What can be asked."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything that decides its answers, as JSON values without secrets."""

    @property
    def place(self) -> str:
        """What to call it in messages."""

    @property
    def most_at_once(self) -> int:
        """How many queries one request can hold."""

    def open(self) -> AbstractContextManager[Asker]:
        """Get ready; raises if it cannot be asked at all."""


class Function(Struct, frozen=True):
    """A function of Python that takes the text of a query and gives its documents, as retrievers do."""

    retrieve: Callable[[Any], Any]
    name: str

    most_at_once: ClassVar[int] = 1

    @property
    def identity(self) -> Mapping[str, object]:
        """Its name: what it does cannot be known."""
        return {"function": self.name}

    @property
    def place(self) -> str:
        """Its name."""
        return self.name

    @contextmanager
    def open(self) -> Iterator[_FunctionAsker]:
        """Nothing to get ready."""
        yield _FunctionAsker(self.retrieve)


class _FunctionAsker(Struct, frozen=True):
    retrieve: Callable[[Any], Any]

    def ask(self, queries: Sequence[Query], top_k: int) -> Outcomes:
        (query,) = queries
        try:
            found = self.retrieve(query.text)
            if hasattr(found, "__next__"):
                found = list(found)  # what is computed on demand can fail too
        except Exception as error:
            said = Secrets().hide_in_message(str(error))
            raise Failure(f"{type(error).__name__}: {said}" if said else type(error).__name__, again=True) from error
        return {query.id: _listed(found, query.id, top_k)}

    def close(self) -> None:
        """A function cannot be ended."""


def _listed(found: Any, query: str, top_k: int) -> Answered | Failure:
    """What a function returned; documents with scores but without order, as in a dict, are sorted."""
    try:
        documents = documents_of(found, "run", query)
    except AssayError as error:
        return Failure(str(error))
    scores = None if documents.by_rank else list(documents.values)
    pairs = list(zip(documents.ids, scores or documents.ids, strict=True))
    if isinstance(found, Mapping) and all(map(is_number, documents.values)):
        pairs.sort(key=lambda pair: -pair[1])
    return answered([doc for doc, _ in pairs], [score for _, score in pairs] if scores else None, top_k)


def is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    if not isinstance(value, int | float | np.number) or isinstance(value, bool | np.complexfloating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def answered(
    docs: Sequence[Any], scores: Sequence[Any] | None, top_k: int, repeats: Repeats = "error"
) -> Answered | Failure:
    """The answer of a system, cut to what was asked for; a Failure if it cannot be one.

    Documents may come without scores. `repeats="first"` keeps the first place of a document that comes twice.

    >>> answered(["b", 7, "c"], [0.5, 0.4, 0.3], 2)
    Answered(docs=('b', '7'), scores=(0.5, 0.4))
    >>> answered(["a", "a"], None, 10).reason
    "document 'a' comes twice: at 1 and 2"
    """
    kept: dict[str, tuple[int, float | None]] = {}
    given = scores if scores is not None and not all(score is None for score in scores) else None
    for place, doc in enumerate(docs, 1):
        if len(kept) == top_k:
            break
        id = as_id(doc)
        if id is None:
            return Failure(f"the id of document {place} is {show_id(repr(doc))}, not text or a whole number")
        if id in kept:
            if repeats == "error":
                return Failure(f"document {show_id(id)!r} comes twice: at {kept[id][0]} and {place}")
            continue
        score = None if given is None else given[place - 1]
        if given is not None and not is_number(score):
            return Failure(f"the score of document {show_id(id)!r} is {show_id(repr(score))}, not a number")
        kept[id] = place, None if score is None else float(score)
    values = [score for _, score in kept.values() if score is not None]
    return Answered(tuple(kept), None if given is None else tuple(values))


def checked_number(value: object, name: str, least: float, *, whole: bool = False) -> None:
    """Raise unless a setting is a number of at least so much."""
    kinds = int if whole else int | float
    if not isinstance(value, kinds) or isinstance(value, bool) or not least <= value < float("inf"):
        kind = "a whole number" if whole else "a number"
        raise FetchError(f"{name} cannot be {value!r}; it takes {kind} of at least {least:g}.")
