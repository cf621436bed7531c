"""What gives a mode its run: a retriever, a fusion of other modes, a reranker of another mode, or a run file.

All of them are nodes. A node names the modes whose runs it takes and the settings that decide its result, makes the run,
and answers single queries to be timed. Nodes know no measure, and nothing of the benchmark that runs them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Protocol

import msgspec
import numpy as np
from msgspec import Struct, field

from assay.errors import InputError, RetrievalError, some_of
from assay.files import remove_whole
from assay.formats import read_run
from assay.formats.sources import open_file
from assay.fusion import fuse
from assay.fusion.registry import find_method, find_normalisation
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.journal import Journal
from assay.ranking import rank_rows
from assay.retrieval.base import Progress, Retriever, silent
from assay.retrieval.databases import CleansUp
from assay.retrieval.indexes import writing
from assay.retrieval.observing import Observed, observe
from assay.retrieval.reranking import OpenReranker, Reranked, Reranker, Work, falling
from assay.retrieval.texts import Texts
from assay.rules import Rules
from assay.tables import Floats, Run
from assay.waiting import as_they_end

DEFAULT_TOP = 100  # documents that a reranker reads for each query
_JOURNAL = "answers.jsonl"
_BLOCK = 1 << 20


class Ranking(Struct, frozen=True):
    """The documents of one query, best first."""

    docs: list[str]
    scores: Floats


class Task(Struct, frozen=True, dict=True):
    """What a node is to do."""

    queries: Mapping[str, str]  # id -> text
    depth: int
    documents: Callable[[], Iterator[Document]]
    texts: Callable[[], Texts]  # the documents by id; opened when it is called
    runs: Mapping[str, Run]  # of the modes it stands on
    folder: Path  # of its own: what an interruption leaves here is used again
    progress: Progress | None = None

    @cached_property
    def rankings(self) -> dict[str, dict[str, Ranking]]:
        """The documents of each query in each of the runs."""
        return {name: rankings_of(run) for name, run in self.runs.items()}


class Made(Struct, frozen=True):
    """A run and what it took."""

    run: Run
    index_seconds: float | None = None  # None if the node has no index
    milliseconds: Mapping[str, float] = {}  # of each query, if they were measured as the run was made
    work: Work = Work()
    observed: Observed = Observed()
    search_seconds: float | None = None  # None if all the rest of the time went into the run


class Node(Protocol):
    """Gives a mode its run."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The modes whose runs it takes."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything besides the inputs, the documents and the queries that decides the result, as JSON values."""

    @property
    def deterministic(self) -> bool:
        """Whether it gives the same run each time."""

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch what it needs, such as a model; raises if that cannot be had."""

    def run(self, task: Task) -> Made:
        """The run for all queries. It can be interrupted at any moment and repeated."""

    def timed(self, task: Task) -> AbstractContextManager[Callable[[str], object]] | None:
        """A function that does the node's own work for one query; None if there is nothing to time this way."""


# Retrievers


class Retrieving(Struct, frozen=True):
    """A retriever as a node."""

    retriever: Retriever

    inputs: ClassVar[tuple[str, ...]] = ()

    @property
    def settings(self) -> Mapping[str, object]:
        """Those of the retriever."""
        return self.retriever.settings

    @property
    def deterministic(self) -> bool:
        """True unless the retriever says otherwise."""
        return bool(getattr(self.retriever, "deterministic", True))

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the model of the retriever, if it has one."""
        _prepare(self.retriever, progress)

    def run(self, task: Task) -> Made:
        """Build the index unless it exists, and search it."""
        indexing = self._index(task)
        start = perf_counter()
        run = self.retriever.search(task.folder, task.queries, task.depth, task.progress)
        searching = perf_counter() - start
        observed = observe(self.retriever, task.folder, task.queries, run, task.depth)
        return Made(run, index_seconds=indexing, observed=observed, search_seconds=searching)

    @contextmanager
    def timed(self, task: Task) -> Iterator[Callable[[str], object]]:
        """One query at a time, with index and model loaded."""
        self._index(task)
        with self.retriever.open(task.folder) as searcher:
            yield lambda query: searcher.find([Query(query, task.queries[query])], task.depth)

    def clean_up(self, folder: Path) -> None:
        """Remove what the retriever keeps outside this folder, such as tables in a server, and the folder with it."""
        if isinstance(self.retriever, CleansUp):
            self.retriever.clean_up(folder)
            remove_whole(folder)

    def _index(self, task: Task) -> float:
        """Build the index unless it exists; the seconds taken."""
        with writing(task.folder):
            task.folder.mkdir(parents=True, exist_ok=True)
        start = perf_counter()
        self.retriever.index(task.documents, task.folder, task.progress)
        return perf_counter() - start


def _prepare(way: object, progress: Progress | None) -> None:
    prepare = getattr(way, "prepare", None)
    if prepare is not None:
        prepare(progress)


# Fusion


class Hybrid(Struct, frozen=True):
    """A fusion of the runs of other modes."""

    modes: tuple[str, ...] = ("lexical", "vector")
    method: str = "rrf"
    norm: str | None = None
    weights: tuple[float, ...] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)  # of the method; rrf has k

    deterministic: ClassVar[bool] = True

    @property
    def inputs(self) -> tuple[str, ...]:
        """The modes that are fused."""
        return self.modes

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything besides the runs that affects the result, with defaults, as plain JSON values."""
        return {
            "engine": "fusion",
            "modes": list(self.modes),
            "method": find_method(self.method).name,
            "norm": find_normalisation(self.norm).name,
            "weights": None if self.weights is None else list(self.weights),
            **find_method(self.method).checked(self.parameters),
        }

    def prepare(self, progress: Progress | None = None) -> None:
        """Nothing to fetch."""

    def run(self, task: Task) -> Made:
        """Fuse the runs."""
        return Made(self.fuse(task.runs, task.depth))

    @contextmanager
    def timed(self, task: Task) -> Iterator[Callable[[str], object]]:
        """Fuse the documents of one query."""
        lists = task.rankings

        def answer(query: str) -> Run:
            found = {mode: lists[mode].get(query, _NONE) for mode in self.modes}
            return self.fuse({mode: run_of_rankings({query: each}, mode) for mode, each in found.items()}, task.depth)

        yield answer

    def fuse(self, runs: Mapping[str, Run], depth: int | None = None) -> Run:
        """Fuse the runs of its modes, looked up by name."""
        missing = [mode for mode in self.modes if mode not in runs]
        if missing:
            raise RetrievalError(f"no run of {', '.join(missing)} to fuse; there are {', '.join(runs)}.")
        chosen = [runs[mode] for mode in self.modes]
        options: dict[str, Any] = {"norm": self.norm, "weights": self.weights, **self.parameters}
        fused = fuse(chosen, self.method, depth=depth, **options)
        return fused.named("hybrid")


# Rerankers


class Answer(Struct, frozen=True):
    """What a reranker gave for one query, as it is kept on disk."""

    reranked: Reranked
    milliseconds: float


class Reranking(Struct, frozen=True):
    """A reranker of the first documents of another mode, as a node. The documents below stay beneath, in their order."""

    reranker: Reranker
    of: str  # the mode whose documents it orders
    top: int = DEFAULT_TOP

    @property
    def inputs(self) -> tuple[str, ...]:
        """The mode that finds the documents."""
        return (self.of,)

    @property
    def settings(self) -> Mapping[str, object]:
        """Those of the reranker, and which documents it orders."""
        return {**self.reranker.settings, "of": self.of, "top": self.top}

    @property
    def deterministic(self) -> bool:
        """What the reranker says."""
        return self.reranker.deterministic

    def prepare(self, progress: Progress | None = None) -> None:
        """Fetch the model of the reranker, if it has one."""
        _prepare(self.reranker, progress)

    def run(self, task: Task) -> Made:
        """Rerank query by query. Each result is kept as it comes, so nothing is asked twice after an interruption."""
        lists = task.rankings[self.of]
        asked = {query: lists[query] for query in task.queries if query in lists}
        answers = self._answers(task, asked)
        run = run_of_rankings(
            {query: reordered(each, answers[query].reranked) for query, each in asked.items()}, self.of
        )
        return Made(
            run.named(self.reranker.name),
            milliseconds={query: answer.milliseconds for query, answer in answers.items()},
            work=sum((answer.reranked.work for answer in answers.values()), Work()),
        )

    def timed(self, task: Task) -> None:
        """Measured as the run is made: a second time would cost as much again."""

    def _answers(self, task: Task, asked: Mapping[str, Ranking]) -> dict[str, Answer]:
        tell = task.progress or silent
        keys = {query: _key(task.queries[query], each.docs[: self.top]) for query, each in asked.items()}
        with Journal(task.folder / _JOURNAL, Answer) as journal:
            left = [query for query in asked if journal.get(keys[query]) is None]
            tell("reranking", len(asked) - len(left), len(asked))
            if left:
                texts = task.texts()
                with self.reranker.open() as opened:
                    _keep_account(opened, task.folder)

                    def answer(query: str) -> None:
                        documents = texts.of(asked[query].docs[: self.top])
                        journal.add(keys[query], _timed_answer(opened, task.queries[query], documents))

                    for done, _ in enumerate(_each(answer, left, self._at_once), 1):
                        tell("reranking", len(asked) - len(left) + done, len(asked))
                texts.close()
            return {query: kept for query in asked if (kept := journal.get(keys[query])) is not None}

    @property
    def _at_once(self) -> int:
        """Queries that are asked at the same time."""
        return int(getattr(self.reranker, "concurrency", 1))


def _timed_answer(opened: OpenReranker, query: str, documents: Sequence[Document]) -> Answer:
    start = perf_counter()
    reranked = opened.rerank(query, documents)
    seconds = perf_counter() - start + reranked.kept_seconds
    return Answer(_checked(reranked, len(documents)), seconds * 1000)


def _keep_account(opened: OpenReranker, folder: Path) -> None:
    keep_account = getattr(opened, "keep_account", None)
    if keep_account is not None:
        keep_account(folder)


def _checked(reranked: Reranked, size: int) -> Reranked:
    """The order, if it has each document exactly once: no document may be lost or invented."""
    if sorted(reranked.order) != list(range(size)):
        raise RetrievalError(
            f"the reranker gave an order of {len(reranked.order)} documents that is not one of {size}."
        )
    if reranked.scores is not None and len(reranked.scores) != size:
        raise RetrievalError(f"the reranker gave {len(reranked.scores)} scores for {size} documents.")
    return reranked


def _each(work: Callable[[str], None], queries: Sequence[str], at_once: int) -> Iterator[None]:
    """Do the work for each query, several at the same time.

    At an error, what was begun is finished and the rest left; at Ctrl-C, nothing is waited for.
    """
    pool, waits = ThreadPoolExecutor(max(at_once, 1), thread_name_prefix="rerank"), True
    try:
        for finished in as_they_end([pool.submit(work, query) for query in queries]):
            yield finished.result()
    except KeyboardInterrupt:
        waits = False
        raise
    finally:
        pool.shutdown(wait=waits, cancel_futures=True)


def _key(text: str, docs: Sequence[str]) -> str:
    """What a reranker's answer depends on, besides its settings and the corpus."""
    return hashlib.sha256(msgspec.json.encode([text, docs])).hexdigest()


def reordered(ranking: Ranking, reranked: Reranked) -> Ranking:
    """The ranking with its first documents in the new order, and scores that fall.

    >>> old = Ranking(["a", "b", "c"], np.array([9.0, 8.0, 7.0]))
    >>> new = reordered(old, Reranked((1, 0), (0.5, 0.25)))
    >>> new.docs, new.scores.tolist()
    (['b', 'a', 'c'], [0.5, 0.25, -0.75])
    """
    first = [ranking.docs[place] for place in reranked.order]
    rest = ranking.docs[len(first) :]
    if reranked.scores is None:
        scores = np.arange(len(ranking.docs), 0.0, -1.0)
    else:
        lowest = reranked.scores[-1] if reranked.scores else 0.0
        scores = falling(np.array([*reranked.scores, *(lowest - 1 - place for place in range(len(rest)))]))
    return Ranking([*first, *rest], scores)


# Run files


class RunFile(Struct, frozen=True):
    """A run that another system has made, as a node."""

    path: str = ""

    name: ClassVar[str] = "run"
    paths: ClassVar[tuple[str, ...]] = ("path",)
    inputs: ClassVar[tuple[str, ...]] = ()
    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise RetrievalError(f"path cannot be {self.path!r}; it takes the name of a run file.")

    @property
    def settings(self) -> Mapping[str, object]:
        """The file and its digest."""
        return {"engine": "run file", "path": self.path, "sha256": self._digest()}

    def prepare(self, progress: Progress | None = None) -> None:
        """Fail at once if the file cannot be opened."""
        self._digest()

    def run(self, task: Task) -> Made:
        """Its documents for the queries of the collection, as many as the other modes may find."""
        found = rankings_of(read_run(self.path))
        kept = {query: found[query] for query in task.queries if query in found}
        if not kept:
            raise InputError(
                f"has no query of the collection: it has {some_of(list(found))}, the collection has "
                f"{some_of(list(task.queries))}.",
                source=self.path,
            )
        cut = {query: Ranking(each.docs[: task.depth], each.scores[: task.depth]) for query, each in kept.items()}
        return Made(run_of_rankings(cut, self.name))

    def timed(self, task: Task) -> None:
        """The system that made the run is not here."""

    def _digest(self) -> str:
        with open_file(self.path) as file:
            digest = hashlib.sha256()
            while block := file.read(_BLOCK):
                digest.update(block)
            return digest.hexdigest()


# Rankings

_NONE = Ranking([], np.empty(0))


def rankings_of(run: Run) -> dict[str, Ranking]:
    """The documents of each query, in the order of the default rules."""
    rows = rank_rows(run, run.query, Rules())
    order = np.argsort(rows.ranks(np.arange(len(rows.query))), kind="stable")
    order = order[np.argsort(rows.query[order], kind="stable")]
    starts = np.searchsorted(rows.query[order], np.arange(len(run.queries) + 1))
    found = {}
    for number, query in enumerate(run.queries):
        chosen = order[starts[number] : starts[number + 1]]
        found[query] = Ranking([str(doc) for doc in rows.doc[chosen]], run.score[rows.source[chosen]])
    return found


def run_of_rankings(rankings: Mapping[str, Ranking], name: str) -> Run:
    """A run from the documents of each query; queries without any are absent."""
    sizes = [len(each.docs) for each in rankings.values()]
    return Run.from_columns(
        np.repeat(np.array([*rankings, ""], object)[:-1], sizes).tolist(),
        [doc for each in rankings.values() for doc in each.docs],
        np.concatenate([np.empty(0), *(each.scores for each in rankings.values())]),
        name=name,
        tag=name,
        source=name,
    )
