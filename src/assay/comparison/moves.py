"""The queries that moved most between two systems, with the changes in their documents. Reads no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.pairs import Study, SystemScores, chosen_pairs, measure_called
from assay.tables import Floats

Ranking = Sequence[str]  # the documents of one query, best first
USUAL_DEPTH = 10  # for measures without a cutoff
_AT_ONCE = 2**20  # values in memory at a time


class Place(Struct, frozen=True, gc=False):
    """A document of a query in both rankings; a rank is None if the system did not retrieve it."""

    doc: str
    before: int | None  # rank in the baseline
    after: int | None  # rank in the system
    rel: float | None  # grade; None if unjudged


class Move(Struct, frozen=True, gc=False):
    """One query: how its value changed and, with rankings, which documents entered, left and moved."""

    query: str
    before: float
    after: float
    depth: int = 0  # that documents enter and leave; 0 if rankings were not compared
    entered: tuple[Place, ...] = ()
    left: tuple[Place, ...] = ()
    moved: tuple[Place, ...] = ()

    @property
    def difference(self) -> float:
        """System - baseline."""
        return self.after - self.before

    @property
    def places(self) -> tuple[Place, ...]:
        """Every document that entered, left or moved."""
        return self.entered + self.left + self.moved


class Moves(Struct, frozen=True, gc=False):
    """The queries that moved most between a baseline and a system, by one measure."""

    measure: str
    baseline: str
    system: str
    up: tuple[Move, ...]  # largest gain first
    down: tuple[Move, ...]  # largest loss first


def most_moved(scores: SystemScores, study: Study, count: int) -> tuple[Moves, ...]:
    """The queries that gained and lost most, for each pair and measure; ties in query order."""
    pairs = chosen_pairs(scores, study)
    found = []
    for number, measure in enumerate(scores.measures):
        columns = np.ascontiguousarray(scores.values[number].T)
        step = max(1, _AT_ONCE // max(1, columns.shape[1]))
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            before, after = (columns[list(side)] for side in zip(*some, strict=True))
            gained, lost = (_largest(change, count) for change in (after - before, before - after))
            for row, (baseline, system) in enumerate(some):
                one, other = columns[baseline], columns[system]
                up, down = (
                    tuple(Move(scores.queries[query], float(one[query]), float(other[query])) for query in queries)
                    for queries in (gained[row], lost[row])
                )
                found.append(Moves(measure, scores.systems[baseline], scores.systems[system], up, down))
    return tuple(found)


def _largest(change: Floats, count: int) -> list[list[int]]:
    """The columns with the largest numbers of each row, largest first; only those above 0."""
    order = np.argsort(-change, axis=1, kind="stable")[:, :count]  # NaN comes last
    above = np.take_along_axis(change, order, axis=1) > 0
    return [row[:many] for row, many in zip(order.tolist(), above.sum(axis=1).tolist(), strict=True)]


def with_documents(
    moves: Iterable[Moves],
    ranking: Callable[[str, str, str], Ranking],
    grades: Callable[[str], Mapping[str, float]],
) -> tuple[Moves, ...]:
    """The moves with their documents, from `ranking(measure, system, query)` and `grades(query)`."""
    depth = cache(depth_of)

    def detailed(move: Move, pair: Moves) -> Move:
        before, after = (ranking(pair.measure, system, move.query) for system in (pair.baseline, pair.system))
        return _with_places(move, before, after, grades(move.query), depth(pair.measure))

    return tuple(
        replace(
            pair,
            up=tuple(detailed(move, pair) for move in pair.up),
            down=tuple(detailed(move, pair) for move in pair.down),
        )
        for pair in moves
    )


def depth_of(measure: str) -> int:
    """The depth to which documents matter to a measure: its cutoff, or else 10.

    >>> depth_of("nDCG@20"), depth_of("AP"), depth_of("a column of a table")
    (20, 10, 10)
    """
    found = measure_called(measure)
    cutoff = None if found is None else found.param("cutoff")
    return cutoff if isinstance(cutoff, int) else USUAL_DEPTH


def _with_places(move: Move, before: Ranking, after: Ranking, rel: Mapping[str, float], depth: int) -> Move:
    ranks_before = {doc: rank for rank, doc in enumerate(before, 1)}
    ranks_after = {doc: rank for rank, doc in enumerate(after, 1)}

    def place(doc: str) -> Place:
        return Place(doc, ranks_before.get(doc), ranks_after.get(doc), rel.get(doc))

    top_before, top_after = dict.fromkeys(before[:depth]), dict.fromkeys(after[:depth])
    return replace(
        move,
        depth=depth,
        entered=tuple(place(doc) for doc in top_after if doc not in top_before),
        left=tuple(place(doc) for doc in top_before if doc not in top_after),
        moved=tuple(place(doc) for doc in top_after if doc in top_before and ranks_before[doc] != ranks_after[doc]),
    )
