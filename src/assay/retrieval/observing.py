"""What a retriever notices about its own search: the loss of approximate search, and queries that it cannot read.

A retriever that has something to say has a method `observe`, as `Observes` describes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from msgspec import Struct

from assay.ranking import ranks_of
from assay.tables import Run

SAMPLED = 100  # the most queries that are searched once more
LIVE_DEPTH = 10  # of a live system, whose loss is larger than that of a long ranking

Search: TypeAlias = Callable[[Mapping[str, str], int], Run]  # the run for some queries at a depth


class Recall(Struct, frozen=True):
    """How many of the best documents of exact search approximate search finds, as shares of one."""

    depth: int
    queries: int
    mean: float
    p5: float  # 5th percentile over the queries: 95 % of them find at least this share


class Observed(Struct, frozen=True):
    """What a retriever noticed."""

    recalls: tuple[Recall, ...] = ()  # by depth
    notes: tuple[str, ...] = ()  # for the report: the problem, then what to set


@runtime_checkable
class Observes(Protocol):
    """A retriever that has something to say about its own search."""

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """What it notices, given its index, all queries, and the run that it made for them at this depth."""


def observe(retriever: object, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
    """What a retriever notices about its own search; nothing if it has nothing to say."""
    return retriever.observe(folder, queries, run, depth) if isinstance(retriever, Observes) else Observed()


def sample(queries: Mapping[str, str], seed: int = 0) -> dict[str, str]:
    """A seeded sample of the queries, or all if there are few."""
    names = random.Random(seed).sample(sorted(queries), min(SAMPLED, len(queries)))
    return {name: queries[name] for name in sorted(names)}


def recalls_of(
    search: Search, search_exactly: Search, queries: Mapping[str, str], run: Run, depth: int
) -> tuple[Recall, ...]:
    """The recall of a sample of queries at depth 10, as live systems search, and at the depth of the run."""
    some = sample(queries)
    lost = {
        recall_of(run, search_exactly(some, depth), depth),
        recall_of(search(some, LIVE_DEPTH), search_exactly(some, LIVE_DEPTH), LIVE_DEPTH),
    }
    return tuple(sorted((each for each in lost if each is not None), key=lambda each: each.depth))


def recall_of(approximate: Run, exact: Run, depth: int) -> Recall | None:
    """The share of the best documents of exact search that approximate search found; None if exact search found none.

    >>> exact = Run.from_columns(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    >>> recall_of(Run.from_columns(["q"] * 2, ["a", "c"], [3.0, 1.0]), exact, depth=2)
    Recall(depth=2, queries=1, mean=0.5, p5=0.5)
    """
    best, found = _top(exact, depth), _top(approximate, depth)
    shares = [len(docs & found.get(query, set())) / len(docs) for query, docs in best.items()]
    return Recall(depth, len(shares), float(np.mean(shares)), float(np.percentile(shares, 5))) if shares else None


def _top(run: Run, depth: int) -> dict[str, set[str]]:
    top: dict[str, set[str]] = {}
    kept = np.flatnonzero(ranks_of(run) <= depth)
    for query, doc in zip(run.query[kept].tolist(), run.doc[kept].tolist(), strict=True):
        top.setdefault(run.queries[query], set()).add(doc)
    return top
