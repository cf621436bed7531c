"""What is kept of a fetch: where a run came from, what came of each query, and how long requests took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from assay.fetching.fetching import Fetched
from assay.records.model import Digest, Record
from assay.words import writable_text

FETCH_SCHEMA: Literal["assay/fetch/1"] = "assay/fetch/1"


class FetchLatency(Record, frozen=True, kw_only=True):
    """Milliseconds from request to answer; queries that were asked in one request share its time."""

    answers: int
    mean: float
    p50: float
    p95: float
    p99: float
    longest: float


class QueryRecord(Record, frozen=True, kw_only=True):
    """What came of a query."""

    documents: int | None  # null if the query failed
    milliseconds: tuple[
        float, ...
    ]  # of each request for it, in order; the last one was answered unless the query failed
    problems: tuple[str, ...] = ()  # why requests for it failed


class FetchReport(Record, frozen=True, kw_only=True):
    """A run that was fetched from a system."""

    schema: Literal["assay/fetch/1"] = FETCH_SCHEMA
    created: str  # ISO 8601, UTC
    run: Digest
    system: dict[str, Any]  # everything that decides its answers, without secrets
    top_k: int  # documents asked for
    concurrency: int  # requests at the same time
    queries: Digest | None  # the file; null for a collection
    asked: int  # queries
    complete: bool  # whether every query was answered
    answered: int
    empty: tuple[str, ...]  # queries that were answered with no documents
    failed: dict[str, str]  # queries without an answer, and why
    kept: int  # answers that were kept from an interrupted fetch
    problems: dict[str, int]  # why requests failed, and for how many queries; most were answered at last
    latency: FetchLatency | None  # null if the run is empty
    notes: tuple[str, ...]
    per_query: dict[str, QueryRecord]


def fetch_report(
    fetched: Fetched,
    *,
    created: str,
    run: Digest,
    system: Mapping[str, Any],
    top_k: int,
    concurrency: int,
    queries: Digest | None,
) -> FetchReport:
    """The record of a fetch."""
    asked = fetched.requests
    return FetchReport(
        created=created,
        run=run,
        system=dict(system),
        top_k=top_k,
        concurrency=concurrency,
        queries=queries,
        asked=fetched.queries,
        complete=fetched.is_complete,
        answered=len(fetched.answers),
        empty=tuple(map(writable_text, fetched.empty)),
        failed={writable_text(query): each.reason for query, each in fetched.failed.items()},
        kept=fetched.kept,
        problems=dict(Counter(each.problem for requests in asked.values() for each in requests if each.problem)),
        latency=latency_of(list(fetched.milliseconds.values())),
        notes=fetched.notes,
        per_query={
            writable_text(query): QueryRecord(
                documents=len(fetched.answers[query].answered.docs) if query in fetched.answers else None,
                milliseconds=tuple(each.milliseconds for each in requests),
                problems=tuple(each.problem for each in requests if each.problem),
            )
            for query, requests in asked.items()
        },
    )


def latency_of(milliseconds: list[float]) -> FetchLatency | None:
    """Mean and percentiles of some times; None if there are none.

    >>> latency_of([1.0, 2.0, 3.0]).p50
    2.0
    """
    if not milliseconds:
        return None
    p50, p95, p99 = (round(float(value), 3) for value in np.percentile(milliseconds, [50, 95, 99]))
    mean = round(float(np.mean(milliseconds)), 3)
    return FetchLatency(answers=len(milliseconds), mean=mean, p50=p50, p95=p95, p99=p99, longest=max(milliseconds))
