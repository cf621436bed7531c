"""What a retriever is, and what all of them share: each document once, the best rows in rank order, a run of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import fields

from assay.errors import RetrievalError
from assay.inputs.documents import Document
from assay.tables import Floats, Ids, Integers, Run

Made = TypeVar("Made", bound=type[Struct])

DEFAULT_DEPTH = 1000
STRIDE = 256  # documents between two words on progress
_ASKED = 32  # queries asked together


class Progress(Protocol):
    """Told how far a step has come; called often, so it must be cheap."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """So many of so many are done; the total is None where it is not known."""


class Retriever(Protocol):
    """One way to search a collection."""

    @property
    def settings(self) -> Mapping[str, object]:
        """All that decides the result, as plain JSON values: engine, version, parameters, model and its digest."""

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Build the index in a folder of its own; one that is finished there under the same settings is left as it is.

        A folder belongs to one corpus: whoever calls sees to it that other documents have another folder. May be killed
        at any moment and called again. Of documents with the same id the first counts.
        """

    def open(self, folder: Path) -> AbstractContextManager[Searcher]:
        """The index in the folder, ready to be asked: `with retriever.open(folder) as searcher`."""

    def search(self, folder: Path, queries: Mapping[str, str], depth: int, progress: Progress | None = None) -> Run:
        """The best documents for each query, from the index in the folder.

        The same to the last bit each time. Rows come by query and rank; equal scores by document id, descending, as the
        default rules rank them, at the cut too. Queries without a hit are absent.
        """


class ModeKind(Struct, frozen=True):
    """A way to search that recipes and the command line know by name."""

    name: str
    summary: str
    made_of: type[Struct]  # its fields are the settings of the mode
    extra: str | None = None  # what must be installed for it: pip install 'assay-ir[EXTRA]'
    needs_model: bool = False
    fuses: bool = False  # a hybrid, made by make_fused

    @property
    def defaults(self) -> dict[str, Any]:
        """The settings and their defaults."""
        return {setting.name: setting.default for setting in fields(self.made_of)}


RETRIEVERS: dict[str, ModeKind] = {}  # by name; complete once assay.retrieval.modes is imported


def retriever(summary: str, *, extra: str | None = None, needs_model: bool = False) -> Callable[[Made], Made]:
    """Make a class a mode: it can be used in recipes, and is listed in the help and the docs."""

    def register(made: Made) -> Made:
        RETRIEVERS[made.name] = ModeKind(made.name, summary, made, extra, needs_model)  # type: ignore[attr-defined]
        return made

    return register


class Opens(Protocol):
    """A retriever that can open its index."""

    name: ClassVar[str]  # of its runs

    def open(self, folder: Path) -> AbstractContextManager[Searcher]:
        """The index in the folder, ready to be asked."""


class SearchesWhatItOpens:
    """Searching as opening an index and asking it: what every retriever does once it can open one."""

    def search(
        self: Opens, folder: Path, queries: Mapping[str, str], depth: int, progress: Progress | None = None
    ) -> Run:
        """The best documents for each query, as Retriever has it."""
        with self.open(folder) as searcher:
            return search_with(searcher, queries, depth, self.name, progress)


class Searcher(Protocol):
    """An index and all that it takes to ask it, open."""

    @property
    def ids(self) -> Ids:
        """The ids of the documents, which hits name by their rows."""

    def find(self, texts: Sequence[str], depth: int) -> list[Hits]:
        """The best documents for each text, the same whatever is asked along with it."""


class Hits(Struct, frozen=True):
    """What was found for one query: rows of the index and their scores, best first."""

    row: Integers
    score: Floats


NO_HITS = Hits(np.empty(0, np.int64), np.empty(0))


def search_with(
    searcher: Searcher, queries: Mapping[str, str], depth: int, name: str, progress: Progress | None = None
) -> Run:
    """A run under this name: the best documents for each query, as Retriever has it."""
    tell, depth, names = progress or silent, checked_depth(depth), list(queries)
    found: dict[str, Hits] = {}
    for begin in range(0, len(names), _ASKED):
        tell("searching", begin, len(names))
        some = names[begin : begin + _ASKED]
        found |= zip(some, searcher.find([queries[query] for query in some], depth), strict=True)
    tell("searching", len(names), len(names))
    return run_of(found, searcher.ids, name)


def distinct(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents without those whose id has come before."""
    seen: set[str] = set()
    for document in documents:
        if document.id not in seen:
            seen.add(document.id)
            yield document


def expected(documents: Callable[[], Iterator[Document]], progress: Progress | None) -> int | None:
    """How many documents will come: counted where somebody looks at the progress, since only then it is worth a pass."""
    if progress is None:
        return None
    count = 0
    for count, _ in enumerate(documents(), 1):
        if count % STRIDE == 0:
            progress("reading", count, None)
    progress("reading", count, count)
    return count


def best_hits(row: Integers, score: Floats, place: Integers, depth: int) -> Hits:
    """The highest scores, falling; equal ones by `place`, the order of the document ids.

    >>> best_hits(np.array([4, 1, 0]), np.array([2.0, 2.0, 3.0]), np.array([0, 1, 2, 3, 4]), 2)
    Hits(row=array([0, 1]), score=array([3., 2.]))
    """
    if len(score) > depth:
        lowest = np.partition(score, len(score) - depth)[len(score) - depth]
        kept = np.flatnonzero(score >= lowest)
        row, score = row[kept], score[kept]
    order = np.lexsort((place[row], -score))[:depth]
    return Hits(row[order], score[order])


def run_of(found: Mapping[str, Hits], ids: Ids, name: str) -> Run:
    """A run of what was found for each query; queries without a hit are absent."""
    answered = {query: hits for query, hits in found.items() if len(hits.row)}
    sizes = [len(hits.row) for hits in answered.values()]
    queries = np.repeat(np.array([*answered, ""], object)[:-1], sizes).tolist()
    rows = np.concatenate([np.empty(0, np.int64), *(hits.row for hits in answered.values())])
    scores = np.concatenate([np.empty(0), *(hits.score for hits in answered.values())])
    return Run.from_columns(queries, ids[rows], scores, name=name, tag=name, source=name)


def checked_depth(depth: Any) -> int:
    """A depth that can be searched to."""
    if not isinstance(depth, (int, np.integer)) or isinstance(depth, bool) or depth < 1:
        raise RetrievalError(f"depth cannot be {depth!r}; it takes a whole number of documents, from 1.")
    return int(depth)


def writable_text(text: str) -> str:
    """The text as engines can take it: bytes that are not UTF-8 become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def silent(step: str, done: int, total: int | None) -> None:
    """Progress that nobody looks at."""
