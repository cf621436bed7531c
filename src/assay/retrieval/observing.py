"""What a retriever notices about its own search: the loss of approximate search, and queries that it cannot read.

A retriever that has something to say has a method `observe`, as `Observes` describes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from assay.heads import Recall, recall_of
from assay.tables import Run

SAMPLED = 100  # the most queries that are searched once more
LIVE_DEPTH = 10  # of a live system, whose loss is larger than that of a long ranking

Search: TypeAlias = Callable[[Mapping[str, str], int], Run]  # the run for some queries at a depth


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
