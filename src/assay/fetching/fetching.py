"""Ask a system for all queries of a run: several at the same time, again after failures, each answer kept as it comes.

A query that fails has no answer, which is not the same as an answer without documents. Both are listed, apart.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from random import Random
from threading import Event, Lock
from time import monotonic, perf_counter
from typing import Protocol, cast

import msgspec
import numpy as np
from msgspec import Struct

from assay.asking import QueriesLike, Retriever, query_texts, retriever_name
from assay.errors import FetchError, IncompleteWarning, ServerError, show_id
from assay.fetching.systems import Answered, Asker, Function, Outcomes, System, checked_number
from assay.http.connection import Failure
from assay.http.waiting import LONGEST_ASKED, backoff
from assay.inputs.queries import Query
from assay.journal import Journal
from assay.tables import Run
from assay.waiting import as_they_end
from assay.words import number_of, writable_text

DEFAULT_TOP = 100
DEFAULT_RETRIES = 5  # of a server; programs and functions are asked once
GRACE = 10.0  # seconds that requests under way get to finish after Ctrl-C
_GIVES_UP = 5  # queries that fail one after the other before the rest is not asked; one, if nobody was ever there
_PLACE_OR_KEY = frozenset({401, 403})  # statuses that every query would get
_PLACE = frozenset({404, 405, *range(300, 400)})  # the same, if no query has been answered


class Progress(Protocol):
    """Reports the progress of a step."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """`done` of `total` are finished."""


class Request(Struct, frozen=True, array_like=True):
    """One request for a query: how long it took, and why it failed."""

    milliseconds: float
    problem: str = ""  # empty if it was answered


class Kept(Struct, frozen=True):
    """The answer to a query and the requests it took, as they are kept on disk."""

    answered: Answered
    requests: tuple[Request, ...]


class Failed(Struct, frozen=True):
    """A query without an answer."""

    reason: str
    requests: tuple[Request, ...] = ()  # none if it was not asked


class Fetched(Struct, frozen=True, eq=False):
    """The run of a system, and what came of each query."""

    run: Run
    answers: Mapping[str, Kept]  # by query id, in the order of the queries
    failed: Mapping[str, Failed]  # queries without an answer
    kept: int = 0  # answers that were kept from an earlier, interrupted fetch
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Fetched(run={self.run.name!r}, queries={self.queries}, failed={len(self.failed)})"

    @property
    def queries(self) -> int:
        """All queries."""
        return len(self.answers) + len(self.failed)

    @property
    def is_complete(self) -> bool:
        """Whether every query was answered."""
        return not self.failed

    @property
    def empty(self) -> tuple[str, ...]:
        """The queries whose answer has no documents."""
        return tuple(query for query, each in self.answers.items() if not each.answered.docs)

    @property
    def milliseconds(self) -> dict[str, float]:
        """How long the request took that answered each query."""
        return {query: each.requests[-1].milliseconds for query, each in self.answers.items()}

    @property
    def requests(self) -> dict[str, tuple[Request, ...]]:
        """All requests for each query."""
        answered = {query: each.requests for query, each in self.answers.items()}
        return answered | {query: each.requests for query, each in self.failed.items()}


def fetch(
    queries: QueriesLike,
    system: Retriever | System,
    *,
    top_k: int = DEFAULT_TOP,
    name: str | None = None,
    concurrency: int = 1,
    retries: int = 0,
    rate: float | None = None,
    journal: str | os.PathLike[str] | None = None,
) -> Fetched:
    """The run of a system that is in use: a function from the text of a query to its documents, best first.

    The function may return what a run may hold for a query: ids, pairs of id and score, a dict, or objects with an id, as
    retrievers do. `queries` is a file or a dict {id: text}. Queries that fail are in `failed`, with the reason, and a
    warning says so; a query without documents is in `empty`.

    With `journal`, a file, answers are kept as they come, and a second call asks only for those that are missing.

    >>> fetched = fetch({"q1": "a b", "q2": ""}, lambda text: text.split(), name="split")
    >>> fetched.run.doc.tolist(), fetched.empty, fetched.is_complete
    (['a', 'b'], ('q2',), True)
    """
    texts = _texts(queries)
    if not hasattr(system, "identity"):
        if not callable(system):
            raise FetchError("expected a function from the text of a query to its documents, best first.")
        system = Function(system, retriever_name(system) or "retriever")
    asked = cast("System", system)
    fetched = fetch_answers(
        asked,
        texts,
        name=name or (asked.name if isinstance(asked, Function) else "run"),
        top_k=top_k,
        concurrency=concurrency,
        retries=retries,
        rate=rate,
        journal=None if journal is None else Path(journal),
    )
    if fetched.failed:
        warnings.warn(failures_in_words(fetched), IncompleteWarning, stacklevel=2)
    return fetched


def _texts(queries: QueriesLike) -> Mapping[str, str]:
    """The text of each query."""
    if isinstance(queries, list | tuple):
        raise FetchError("a list has no ids and texts: pass the queries as a dict {id: text}, or a file.")
    texts = query_texts(queries)
    if isinstance(queries, Mapping) and len(texts) < len(queries):
        raise FetchError("two queries have the same id: a number and its digits as text are one.")
    for query, text in texts.items():
        if not isinstance(text, str):
            raise FetchError(f"query {show_id(query)}: the text cannot be a value of type {type(text).__name__}.")
    return texts


def failures_in_words(fetched: Fetched) -> str:
    """How many queries failed, and why."""
    query, first = next(iter(fetched.failed.items()))
    lack = number_of(len(fetched.failed), "query")
    return (
        f"{lack} of {fetched.queries:,} failed, so their documents are missing from the run (first: {show_id(query)}: "
        f"{first.reason})."
    )


def fetch_answers(
    system: System,
    queries: Mapping[str, str],
    *,
    name: str,
    top_k: int = DEFAULT_TOP,
    concurrency: int = 1,
    retries: int = 0,
    rate: float | None = None,
    journal: Path | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Ask the system for every query; see `assay.fetch`."""
    checked_number(top_k, "top_k", 1, whole=True)
    checked_number(concurrency, "concurrency", 1, whole=True)
    checked_number(retries, "retries", 0, whole=True)
    if rate is not None:
        checked_number(rate, "rate", 0.001)
    if not queries:
        raise FetchError("there are no queries to ask.")
    with ExitStack() as stack:
        store = None if journal is None else stack.enter_context(Journal(journal, Kept))
        keys = {query: _key(system, Query(query, text), top_k) for query, text in queries.items()}
        kept = {query: found for query, key in keys.items() if store is not None and (found := store.get(key))}
        left = [Query(query, text) for query, text in queries.items() if query not in kept]
        work = _Work(store, keys, top_k, retries, _Pace(rate), progress, len(kept), len(queries))
        if left:
            asker = stack.enter_context(system.open())
            work.do(asker, left, system.most_at_once, concurrency)
    answers = {query: found for query in queries if (found := kept.get(query) or work.answers.get(query))}
    failed = {query: work.failed[query] for query in queries if query in work.failed}
    if work.ending is not None or not answers:
        raise _nothing(system, work.ending, failed, len(answers))
    return Fetched(_run(answers, name), answers, failed, len(kept), tuple(_notes(answers)))


def _key(system: System, query: Query, top_k: int) -> str:
    """Everything that decides an answer."""
    parts = [system.identity, writable_text(query.id), writable_text(query.text), top_k]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


class _Work:
    """What has come of the queries so far. Several threads work at once."""

    def __init__(
        self,
        store: Journal[Kept] | None,
        keys: Mapping[str, str],
        top_k: int,
        retries: int,
        pace: _Pace,
        progress: Progress | None,
        done: int,
        total: int,
    ) -> None:
        self._store, self._keys, self._top_k, self._retries, self._pace = store, keys, top_k, retries, pace
        self._progress, self._done, self._total = progress, done, total
        self._random = Random()  # for waiting only
        self._lock, self._stopped = Lock(), Event()
        self._answered_any = done > 0
        self._failures = 0  # one after the other
        self.answers: dict[str, Kept] = {}
        self.failed: dict[str, Failed] = {}
        self.ending: Failure | None = None  # what every further query would meet

    def do(self, asker: Asker, queries: Sequence[Query], at_once: int, concurrency: int) -> None:
        """Ask for all queries. After an interruption, what is under way may finish, and no more is begun."""
        batches = [queries[begin : begin + at_once] for begin in range(0, len(queries), at_once)]
        self._tell(0)
        pool = ThreadPoolExecutor(concurrency, thread_name_prefix="fetch")
        under_way: list[Future[None]] = []
        try:
            under_way = [pool.submit(self._ask, asker, batch) for batch in batches]
            for each in as_they_end(under_way):
                each.result()
        except BaseException:
            self._stop()
            pool.shutdown(wait=False, cancel_futures=True)
            wait([each for each in under_way if not each.cancelled()], timeout=GRACE)
            raise
        finally:
            self._stop()
            asker.close()
            pool.shutdown(wait=False, cancel_futures=True)  # a function that hangs cannot be ended

    def _stop(self) -> None:
        self._stopped.set()

    def _ask(self, asker: Asker, queries: Sequence[Query]) -> None:
        """Ask for some queries until each is answered or has failed for good."""
        left = list(queries)
        requests: dict[str, list[Request]] = {query.id: [] for query in queries}
        reasons: dict[str, Failure] = {}
        for attempt in count():
            if not self._pace.wait(self._stopped):
                self._fail(left, requests, reasons)
                return
            outcomes, milliseconds = _timed(asker, left, self._top_k)
            for query in left:
                outcome = outcomes[query.id]
                problem = outcome.reason if isinstance(outcome, Failure) else ""
                requests[query.id].append(Request(round(milliseconds, 3), problem))
                if isinstance(outcome, Answered):
                    self._keep(query, Kept(outcome, tuple(requests[query.id])))
                else:
                    reasons[query.id] = outcome
            left = [query for query in left if query.id in reasons and query.id not in self.answers]
            again = [query for query in left if reasons[query.id].again]
            asked = [wait for query in left if (wait := reasons[query.id].wait) is not None]
            gives_up = attempt >= self._retries or max(asked, default=0) > LONGEST_ASKED
            self._fail(left if gives_up else [query for query in left if query not in again], requests, reasons)
            left = [] if gives_up else again
            if not left:
                return
            pause = backoff(attempt, max(asked) if asked else None, self._random)
            if any(asked):
                self._pace.hold(pause)  # the server wants to be left alone, by all threads
            self._stopped.wait(pause)

    def _keep(self, query: Query, kept: Kept) -> None:
        with self._lock:
            if self._store is not None:
                self._store.add(self._keys[query.id], kept)
            self.answers[query.id] = kept
            self._answered_any, self._failures = True, 0
        self._tell(1)

    def _fail(
        self, queries: Sequence[Query], requests: Mapping[str, Sequence[Request]], reasons: Mapping[str, Failure]
    ) -> None:
        with self._lock:
            for query in queries:
                failure = reasons.get(query.id)
                reason = "not asked" if failure is None else failure.reason
                self.failed[query.id] = Failed(reason, tuple(requests[query.id]))
                if failure is None:
                    continue
                self._failures += failure.again
                status = failure.status
                if status in _PLACE_OR_KEY or (status in _PLACE and not self._answered_any):
                    self.ending = self.ending or failure
                nobody = failure.is_unreachable and not self._answered_any
                if self.ending is not None or nobody or self._failures >= _GIVES_UP:
                    self._stopped.set()
        self._tell(len(queries))

    def _tell(self, more: int) -> None:
        with self._lock:
            self._done += more
            if self._progress is not None:
                self._progress("fetching", self._done, self._total)


def _timed(asker: Asker, queries: Sequence[Query], top_k: int) -> tuple[Outcomes, float]:
    """What came of the queries, and the milliseconds that it took."""
    start = perf_counter()
    try:
        outcomes: Outcomes = asker.ask(queries, top_k)
    except Failure as failure:
        outcomes = {query.id: failure for query in queries}
    return outcomes, (perf_counter() - start) * 1000


class _Pace:
    """When the next request may begin: so many a second, and not before a server allows it."""

    def __init__(self, rate: float | None) -> None:
        self._every = 0.0 if rate is None else 1 / rate
        self._next = 0.0
        self._lock = Lock()

    def wait(self, stopped: Event) -> bool:
        """Wait for a turn; False if the work has ended by then."""
        with self._lock:
            begin = max(self._next, monotonic())
            self._next = begin + self._every
        return not stopped.wait(max(begin - monotonic(), 0.0))

    def hold(self, seconds: float) -> None:
        """Let no request begin for a while."""
        with self._lock:
            self._next = max(self._next, monotonic() + seconds)


def _nothing(system: System, ending: Failure | None, failed: Mapping[str, Failed], answered: int) -> ServerError:
    """The error for a system that cannot be asked."""
    first = ending.reason if ending is not None else next(iter(failed.values())).reason
    fix = ending.fix if ending is not None and ending.fix else "Check that it is running, and how it is asked."
    kept = f" {number_of(answered, 'answer')} so far are kept: run again to go on." if answered else ""
    problem = "no query was answered" if not answered else "the rest was not asked"
    return ServerError(f"{system.place}: {problem}: {first.rstrip('.')}. {fix}{kept}")


def _run(answers: Mapping[str, Kept], name: str) -> Run:
    """The run in the order of the answers. If their scores contradict that order, or some lack, only ranks count."""
    each = [(query, kept.answered) for query, kept in answers.items()]
    queries = [query for query, found in each for _ in found.docs]
    docs = [doc for _, found in each for doc in found.docs]
    ranks = [rank for _, found in each for rank in range(1, len(found.docs) + 1)]
    agree = all(found.scores is not None and _fall(found.scores) for _, found in each if found.docs)
    scores = [score for _, found in each for score in found.scores or ()] if agree else [-float(rank) for rank in ranks]
    return Run.from_columns(queries, docs, scores, rank=ranks, name=name, tag=name, source=name)


def _fall(scores: Sequence[float]) -> bool:
    return bool(np.all(np.diff(scores) <= 0))


def _notes(answers: Mapping[str, Kept]) -> Iterator[str]:
    """What a reader of the run should know."""
    rising = [
        query for query, each in answers.items() if each.answered.scores is not None and not _fall(each.answered.scores)
    ]
    with_docs = [each for each in answers.values() if each.answered.docs]
    without = [each for each in with_docs if each.answered.scores is None]
    if rising:
        yield (
            f"in the answers to {number_of(len(rising), 'query')} (first: {show_id(rising[0])}), scores rise along the "
            "list. The order of the answers counts, and the scores of the run are ranks."
        )
    elif without:
        yield (
            "the answers have no scores: those of the run are ranks."
            if len(without) == len(with_docs)
            else f"{number_of(len(without), 'answer')} came without scores: the scores of the run are ranks."
        )
