"""The retriever interface and what all retrievers share: removing duplicates, ranking hits, building runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import fields

from assay.errors import RetrievalError
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.tables import Floats, Ids, Integers, Run

Made = TypeVar("Made", bound=type[Struct])
Role: TypeAlias = Literal["retriever", "fusion", "reranker", "run"]
ROLES: tuple[Role, ...] = get_args(Role)

DEFAULT_DEPTH = 1000
STRIDE = 256  # documents between two progress updates
_ASKED = 32  # queries per batch


class Progress(Protocol):
    """Reports the progress of a step; called often, so it must be cheap."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """`done` of `total` are finished; the total is None if unknown."""


class Retriever(Protocol):
    """One way to search a collection."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything that decides the result, as JSON values: engine, version, parameters, model and its digest."""

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Build the index in its own folder, unless a finished one with the same settings is there.

        Use one folder per corpus: documents are not compared. Building may be interrupted at any moment and repeated.
        Of documents with the same id, the first counts.
        """

    def open(self, folder: Path) -> AbstractContextManager[Searcher]:
        """Open the index in the folder: `with retriever.open(folder) as searcher`."""

    def search(self, folder: Path, queries: Mapping[str, str], depth: int, progress: Progress | None = None) -> Run:
        """The best documents for each query, from the index in the folder.

        The result is the same each time, to the last bit. Rows are sorted by query and rank; ties by document id,
        descending, as in the default rules, including ties at the cutoff. Queries without hits are absent.
        """


class ModeKind(Struct, frozen=True):
    """A way to get a run that recipes and the command line know by name."""

    name: str
    summary: str
    made_of: type[Struct]  # its fields are the settings of the mode
    role: Role = "retriever"
    extra: str | None = None  # what must be installed for it: pip install 'assay-ir[EXTRA]'
    needs_model: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """The settings and their defaults."""
        return {setting.encode_name: setting.default for setting in fields(self.made_of)}

    @property
    def paths(self) -> tuple[str, ...]:
        """The settings that name files, which a recipe may give relative to its own folder."""
        return getattr(self.made_of, "paths", ())


KINDS: dict[str, ModeKind] = {}  # by name; complete once assay.retrieval.modes is imported


def retriever(summary: str, *, extra: str | None = None, needs_model: bool = False) -> Callable[[Made], Made]:
    """Make a class a mode that searches: it can be used in recipes, and is listed in the help and the docs."""
    return _kind(summary, "retriever", extra, needs_model)


def reranker(summary: str, *, extra: str | None = None, needs_model: bool = False) -> Callable[[Made], Made]:
    """Make a class a mode that reranks what another mode found; see `assay.retrieval.reranking`."""
    return _kind(summary, "reranker", extra, needs_model)


def _kind(summary: str, role: Role, extra: str | None, needs_model: bool) -> Callable[[Made], Made]:
    def register(made: Made) -> Made:
        before = KINDS.get(made.name)  # type: ignore[attr-defined]
        if before is not None and before.made_of.__module__ != made.__module__:
            raise RetrievalError(
                f"there are two modes called {before.name!r}. Give the mode of the plug-in another name."
            )
        KINDS[made.name] = ModeKind(made.name, summary, made, role, extra, needs_model)  # type: ignore[attr-defined]
        return made

    return register


class Opens(Protocol):
    """A retriever that can open its index."""

    name: ClassVar[str]  # of its runs

    def open(self, folder: Path) -> AbstractContextManager[Searcher]:
        """Open the index in the folder."""


class SearchesWhatItOpens:
    """Implements `search` for retrievers that implement `open`."""

    def search(
        self: Opens, folder: Path, queries: Mapping[str, str], depth: int, progress: Progress | None = None
    ) -> Run:
        """The best documents for each query; see `Retriever.search`."""
        with self.open(folder) as searcher:
            return search_with(searcher, queries, depth, self.name, progress)


class Searcher(Protocol):
    """An open index, with everything needed to search it."""

    @property
    def ids(self) -> Ids:
        """The document ids; hits refer to them by row."""

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        """The best documents for each query, independent of the other queries.

        Most retrievers read only the text of a query; vectors of one's own are found by its id.
        """


class Hits(Struct, frozen=True):
    """The hits for one query: rows of the index and their scores, best first."""

    row: Integers
    score: Floats


NO_HITS = Hits(np.empty(0, np.int64), np.empty(0))


def search_with(
    searcher: Searcher, queries: Mapping[str, str], depth: int, name: str, progress: Progress | None = None
) -> Run:
    """A run with this name: the best documents for each query; see `Retriever.search`."""
    tell, depth, names = progress or silent, checked_depth(depth), list(queries)
    found: dict[str, Hits] = {}
    for begin in range(0, len(names), _ASKED):
        tell("searching", begin, len(names))
        some = [Query(name, queries[name]) for name in names[begin : begin + _ASKED]]
        found |= zip((query.id for query in some), searcher.find(some, depth), strict=True)
    tell("searching", len(names), len(names))
    return run_of(found, searcher.ids, name)


def distinct(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents, without those whose id has already occurred."""
    seen: set[str] = set()
    for document in documents:
        if document.id not in seen:
            seen.add(document.id)
            yield document


def expected(documents: Callable[[], Iterator[Document]], progress: Progress | None) -> int | None:
    """The number of documents, counted in an extra pass only if progress is shown."""
    if progress is None:
        return None
    count = 0
    for count, _ in enumerate(documents(), 1):
        if count % STRIDE == 0:
            progress("reading", count, None)
    progress("reading", count, count)
    return count


def best_hits(row: Integers, score: Floats, place: Integers, depth: int) -> Hits:
    """The hits with the highest scores, best first; ties by `place`, the order of the document ids.

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
    """A run from the hits of each query; queries without hits are absent."""
    answered = {query: hits for query, hits in found.items() if len(hits.row)}
    sizes = [len(hits.row) for hits in answered.values()]
    queries = np.repeat(np.array([*answered, ""], object)[:-1], sizes).tolist()
    rows = np.concatenate([np.empty(0, np.int64), *(hits.row for hits in answered.values())])
    scores = np.concatenate([np.empty(0), *(hits.score for hits in answered.values())])
    return Run.from_columns(queries, ids[rows], scores, name=name, tag=name, source=name)


def checked_depth(depth: Any) -> int:
    """The depth, if it is valid."""
    if not isinstance(depth, (int, np.integer)) or isinstance(depth, bool) or depth < 1:
        raise RetrievalError(f"depth cannot be {depth!r}; it takes a whole number of at least 1.")
    return int(depth)


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore progress."""
