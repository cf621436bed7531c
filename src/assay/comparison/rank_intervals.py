"""How far the ranks of systems would move with other queries, by bootstrap. Reads no files, tests nothing.

A table has a row for each query and a column for each system. With several tables, one for each collection, a system's
mean is the mean of its means, so every collection counts equally however many queries it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.comparison.intervals import CONFIDENCE
from assay.comparison.paired import TIE
from assay.comparison.resampling import WeightedSums, block_of, resamples
from assay.tables import Floats, Integers


def ranks_of(means: Floats) -> Integers:
    """The rank of each system (row) in each column: one more than the number of systems with a higher mean.

    Means that are equal up to rounding share a rank: 1, 2, 2, 4.

    >>> ranks_of(np.array([[0.3], [0.5], [0.3], [0.1]])).ravel().tolist()
    [2, 1, 2, 4]
    """
    order = np.argsort(-means, axis=0, kind="stable")
    ordered = np.take_along_axis(means, order, axis=0)
    first = np.zeros_like(order)  # the place where a group of equal means begins
    lower = ordered[:-1] - ordered[1:] > TIE * np.abs(means).max(initial=0)
    first[1:] = np.where(lower, np.arange(1, len(means))[:, None], 0)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.maximum.accumulate(first, axis=0) + 1, axis=0)
    return ranks


def rank_counts(tables: Sequence[Floats], draws: int, seed: int) -> Integers:
    """How often each system (row) has each rank (column, from 1) when queries are resampled, the same for all systems."""
    systems = tables[0].shape[1]
    counts = np.zeros(systems * systems, np.int64)
    row = np.arange(systems)[:, None] * systems
    for means in _resampled(tables, draws, seed):
        counts += np.bincount((row + ranks_of(means) - 1).ravel(), minlength=len(counts))
    return counts.reshape(systems, systems)


def _resampled(tables: Sequence[Floats], draws: int, seed: int) -> Iterator[Floats]:
    """The mean of each system's means in resamples of all tables, in blocks of (systems, draws)."""
    sums = [WeightedSums(table) for table in tables]
    block = min(block_of(each.width) for each in sums)
    drawn = [
        resamples(len(table), draws, (seed, number), each.width, block)
        for number, (table, each) in enumerate(zip(tables, sums, strict=True))
    ]
    for times in zip(*drawn, strict=True):
        means = [each.of(count) / len(table) for each, count, table in zip(sums, times, tables, strict=True)]
        yield np.mean(means, axis=0)


def rank_intervals(counts: Integers, confidence: float = CONFIDENCE) -> Integers:
    """The lowest and highest rank of each system, (systems, 2): the middle quantiles of its ranks.

    A quantile is the first rank that this share of the draws does not exceed.

    >>> rank_intervals(np.array([[98, 1, 1], [2, 95, 3], [0, 4, 96]])).tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    reached = counts.cumsum(axis=1)
    draws = reached[:, -1:]
    tail = (1 - confidence) / 2
    ends = [(reached >= share * draws).argmax(axis=1) + 1 for share in (tail, 1 - tail)]
    return np.stack(ends, axis=1)
