"""What would change the value of a ranked list: moves of its results, what each of them adds, other cutoffs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import AssayError, InputError
from assay.judged import JudgedRanking
from assay.judgments import Pool
from assay.measures import Measure
from assay.measures.bundles import RECALLS
from assay.tables import Booleans, Floats, Integers
from assay.worked.lists import GradedList, judged, query_names, values

_LEAST_GAIN = 1e-12  # anything below is rounding


class Move(Struct, frozen=True):
    """A result that moves from one rank to another, and what the list gains by it."""

    gain: float
    start: int  # ranks, from 1
    end: int


class Point(Struct, frozen=True):
    """Recall and precision of the results down to a rank."""

    rank: int
    recall: float
    precision: float


# Moves


def moved(ranked: GradedList, start: int, end: int) -> GradedList:
    """The list with the result at rank `start` moved to rank `end`; those between make room.

    >>> moved(GradedList((0, 1, 2)), 3, 1).grades
    (2, 0, 1)
    """
    _check_moves(ranked, [(start, end)])
    grades = list(ranked.grades)
    grades.insert(end - 1, grades.pop(start - 1))
    return replace(ranked, grades=tuple(grades))


def _check_moves(ranked: GradedList, moves: Sequence[tuple[int, int]]) -> None:
    for rank in (rank for move in moves for rank in move):
        if not 1 <= rank <= len(ranked):
            raise InputError(f"there is no result at rank {rank:,}: the list has {len(ranked):,}.")


def gains_of_moves(ranked: GradedList, measures: Sequence[Measure], moves: Sequence[tuple[int, int]]) -> Floats:
    """For each move from one rank to another, how much each measure gains: a row per move, a column per measure.

    >>> from assay.measures import parse_measure
    >>> gains_of_moves(GradedList((0, 1)), [parse_measure("RR")], [(2, 1)]).tolist()
    [[0.5]]
    """
    _check_moves(ranked, moves)
    base = judged([ranked])
    start, end = np.array([(0, 0), *moves], np.int64).T[:, :, None]  # the first moves nothing; each (moves + 1, 1)
    hit, rank = (column[None].repeat(len(start), axis=0) for column in (np.arange(len(base.hit_rank)), base.hit_rank))
    head = slice(
        np.searchsorted(base.hit_rank, max(start.max(), end.max()), side="right")
    )  # no move affects the others
    hit[:, head], rank[:, head] = _after_moves(base.hit_rank[head], start, end)
    found = _table(_variants(base, hit, rank), measures)
    return np.asarray(found[1:] - found[0])


def _after_moves(rank: Integers, start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """A row per move: the hits in their new order, and their new ranks."""
    one_down = (end <= rank) & (rank < start)
    one_up = (start < rank) & (rank <= end)
    new_rank = np.where(rank == start, end, rank + one_down - one_up)
    order = np.argsort(new_rank, axis=1)
    return order, np.take_along_axis(new_rank, order, axis=1)


def moves_up(ranked: GradedList, deepest: int) -> tuple[tuple[int, int], ...]:
    """The moves of each result up by one rank, down to the result at rank `deepest`.

    >>> moves_up(GradedList((0, 1, 2)), deepest=10)
    ((2, 1), (3, 2))
    """
    return tuple([(rank, rank - 1) for rank in range(2, min(len(ranked), deepest) + 1)])


def best_move(ranked: GradedList, measure: Measure, deepest: int = 50) -> Move | None:
    """The move of one result to a higher rank that gains most, within the first `deepest` ranks; None if none gains.

    Of moves that gain the same, it is the shortest, and of those the one furthest up.

    >>> from assay.measures import parse_measure
    >>> best_move(GradedList((0, 0, 1, 1)), parse_measure("RR"))
    Move(gain=0.6666666666666667, start=3, end=1)
    """
    moves = _different_moves(ranked.grades[:deepest])
    gains = gains_of_moves(ranked, [measure], moves)[:, 0]
    most = gains.max(initial=0)
    if not most > _LEAST_GAIN:
        return None
    best = np.flatnonzero(gains >= most - _LEAST_GAIN).tolist()
    start, end = min((moves[number] for number in best), key=lambda move: (move[0] - move[1], move))
    return Move(float(most), start, end)


def _different_moves(grades: Sequence[float | None]) -> list[tuple[int, int]]:
    """Moves to a higher rank, the shortest of those that lead to the same order of grades.

    A result that passes another one of its own grade, or starts below one, gives the same order as a shorter move.
    """
    return [
        (start, end)
        for start in range(2, len(grades) + 1)
        if grades[start - 1] != grades[start - 2]
        for end in range(1, start)
        if grades[end - 1] != grades[start - 1]
    ]


# What results add


def worth(ranked: GradedList, measures: Sequence[Measure], deepest: int) -> Floats:
    """For each of the first results, how much lower the value would be if it were an unjudged document instead.

    The document that was there is still judged, so it would be one that the list misses. A row per rank, a column per
    measure.

    >>> from assay.measures import parse_measure
    >>> worth(GradedList((1, 0)), [parse_measure("P@2"), parse_measure("R@2")], deepest=2).tolist()
    [[0.5, 1.0], [0.0, 0.0]]
    """
    base = judged([ranked])
    removed = np.flatnonzero(base.hit_rank <= deepest)
    kept = np.arange(len(base.hit_rank)) != np.concatenate(([-1], removed))[:, None]  # the first removes nothing
    same = np.broadcast_to(np.arange(len(base.hit_rank)), kept.shape)
    found = _table(_variants(base, same, base.hit_rank[same], kept), measures)
    added = np.zeros((min(len(ranked), deepest), len(measures)))
    added[base.hit_rank[removed] - 1] = found[0] - found[1:]
    return added


def _variants(base: JudgedRanking, hit: Integers, rank: Integers, kept: Booleans | None = None) -> JudgedRanking:
    """Rankings with the judgments of a single one; a row of its hits and their ranks for each."""
    count, judged_docs = len(rank), len(base.pool.grade)
    query = np.repeat(np.arange(count), rank.shape[1]).reshape(rank.shape)
    hit_query, hit, hit_rank = (column.ravel() if kept is None else column[kept] for column in (query, hit, rank))
    return replace(
        base,
        queries=query_names(count),
        retrieved=np.repeat(base.retrieved, count),
        hit_query=hit_query,
        hit_rank=hit_rank,
        hit_rel=base.hit_rel[hit],
        hit_tie_first=hit_rank,
        hit_tie_last=hit_rank,
        hit_judgment=base.hit_judgment[hit] + hit_query * judged_docs,
        pool=Pool(np.tile(base.pool.grade, count), np.arange(count + 1) * judged_docs),
    )


def _table(variants: JudgedRanking, measures: Sequence[Measure]) -> Floats:
    """The values of variants of a list: a row per variant, a column per measure."""
    found = np.full((len(variants), len(measures)), np.nan)
    for column, measure in enumerate(measures):
        with suppress(AssayError):  # it then refuses all of them: they have the same judgments
            found[:, column] = measure.values(variants)
    return found


# Cutoffs


def by_cutoff(ranked: GradedList, measures: Sequence[Measure], cutoffs: Sequence[int]) -> Floats:
    """The values at several cutoffs, for measures that have one: a row per cutoff, a column per measure.

    >>> from assay.measures import parse_measure
    >>> by_cutoff(GradedList((1, 0)), [parse_measure("P@10"), parse_measure("AP")], [1, 2]).tolist()
    [[1.0, 1.0], [0.5, 1.0]]
    """
    at = [measure(cutoff=cutoff) for cutoff in cutoffs for measure in measures]
    return values([ranked], at).table.reshape(len(cutoffs), len(measures))


def precision_recall(ranked: GradedList, rel: float = 1) -> tuple[Point, ...]:
    """Recall and precision at each rank.

    >>> precision_recall(GradedList((1, 0), missed=(1,)))
    (Point(rank=1, recall=0.5, precision=1.0), Point(rank=2, recall=0.5, precision=0.5))
    """
    relevant = np.array([grade is not None and grade >= rel for grade in ranked.grades], bool)
    found = np.cumsum(relevant)
    in_all = found[-1:].sum() + sum(grade >= rel for grade in ranked.missed)
    ranks = np.arange(1, len(ranked) + 1)
    recall = found / in_all if in_all else np.zeros(len(ranked))
    return tuple([Point(*each) for each in zip(ranks.tolist(), recall.tolist(), (found / ranks).tolist(), strict=True)])


def interpolated(ranked: GradedList, rel: float = 1) -> tuple[float, ...]:
    """Interpolated precision at recall 0.0, 0.1, ... 1.0.

    >>> interpolated(GradedList((1, 0), missed=(1,)))[4:7]
    (1.0, 1.0, 0.0)
    """
    levels = [Measure("IPrec")(recall=recall, rel=rel) for recall in RECALLS]
    return tuple(values([ranked], levels).table[0].tolist())
