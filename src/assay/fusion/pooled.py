"""Several runs as one set of columns, with rows matched by query and document. Independent of fusion methods.

A *pair* is a query with a document that at least one run retrieved for it. A *segment* is one query of one run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.arrays import changes
from assay.errors import DuplicateError, FusionError, show_id
from assay.ranking import ranks_of
from assay.tables import Floats, Ids, Integers, Run, encode_ids


class PooledRuns(Struct, frozen=True, eq=False):
    """The rows of several runs, one run after the other, and the pairs they belong to."""

    weights: Floats  # one for each run
    queries: tuple[str, ...]  # of all runs, in byte order
    pair_query: Integers  # for each pair, index into `queries`; ascending
    pair_doc: Ids
    run: Integers  # for each row: the number of its run,
    pair: Integers  # its pair,
    rank: Integers  # its rank, from 1
    score: Floats  # and its score

    @property
    def segment(self) -> Integers:
        """The segment of each row: run and query as one number."""
        return self.run * len(self.queries) + self.pair_query[self.pair]

    @property
    def segments(self) -> int:
        """The number of segments, including empty ones."""
        return len(self.weights) * len(self.queries)

    @property
    def retrieved(self) -> Integers:
        """For each segment, how many documents the run retrieved."""
        return np.bincount(self.segment, minlength=self.segments)

    @property
    def candidates(self) -> Integers:
        """For each query, how many different documents the runs retrieved."""
        return np.bincount(self.pair_query, minlength=len(self.queries))

    @property
    def found(self) -> Integers:
        """For each pair, how many runs retrieved it."""
        return np.bincount(self.pair, minlength=len(self.pair_query))

    def total(self, values: Floats) -> Floats:
        """For each pair, the sum of its rows' values, added from the smallest to the largest.

        The order of runs and rows therefore does not change a bit, and equal votes give equal sums.
        """
        runs, pairs = len(self.weights), len(self.pair_query)
        if runs <= 2 or runs * pairs > 4 * len(values):
            return total_of(values, self.pair, pairs)
        grid = np.zeros((pairs, runs))  # zeros for runs that lack a document do not change the sum
        grid[self.pair, self.run] = values
        grid.sort(axis=1)
        total = grid[:, 0] + 0.0
        for column in range(1, runs):
            total += grid[:, column]
        return total

    def weighted(self, values: Floats) -> Floats:
        """The values of the rows, each times the weight of its run."""
        return np.multiply(values, self.weights[self.run])

    def sorted_scores(self) -> tuple[Floats, Integers]:
        """The scores from the smallest to the largest, pair by pair, and where each pair begins."""
        order = np.lexsort((self.score, self.pair))
        return self.score[order], np.flatnonzero(changes(self.pair[order]))

    def completed(self, missing: Floats) -> PooledRuns:
        """The runs with a last-ranked row for each document that a run lacks; `missing` has its score by segment."""
        runs, pairs = len(self.weights), len(self.pair_query)
        lacks = np.ones(runs * pairs, bool)
        lacks[self.run * pairs + self.pair] = False
        run, pair = np.divmod(np.flatnonzero(lacks), max(pairs, 1))
        segment = run * len(self.queries) + self.pair_query[pair]
        return replace(
            self,
            run=np.concatenate((self.run, run)),
            pair=np.concatenate((self.pair, pair)),
            rank=np.concatenate((self.rank, self.retrieved[segment] + 1)),
            score=np.concatenate((self.score, missing[segment])),
        )


def total_of(values: Floats, group: Integers, groups: int) -> Floats:
    """The sum of each group of values, added from the smallest to the largest.

    >>> total_of(np.array([0.1, 0.2, 0.3, 5.0]), np.array([0, 0, 0, 2]), 3).tolist()
    [0.6000000000000001, 0.0, 5.0]
    """
    if np.bincount(group).max(initial=0) > 2:  # a sum of two does not depend on the order
        order = np.lexsort((values, group))
        values, group = values[order], group[order]
    total = np.bincount(group, weights=values, minlength=groups)  # from left to right, unlike np.add.reduceat
    return total.astype(np.float64, copy=False)


def pool_runs(runs: Sequence[Run], weights: Floats, ranks: str = "score") -> PooledRuns:
    """The rows of all runs, matched by query and document; a duplicate document in a query of a run is an error.

    `ranks` is one of `RANKS`.
    """
    queries, codes = encode_ids([query for run in runs for query in run.queries])
    ends = np.cumsum([len(run.queries) for run in runs])
    query = np.concatenate([own[run.query] for run, own in zip(runs, np.split(codes, ends[:-1]), strict=True)])
    code, docs = numbered([run.doc.tolist() for run in runs])
    pairs, pair = np.unique(query * max(len(docs), 1) + code, return_inverse=True)
    _refuse_repeats(runs, pair, len(pairs))
    return PooledRuns(
        weights=weights,
        queries=queries,
        pair_query=pairs // max(len(docs), 1),
        pair_doc=docs[pairs % max(len(docs), 1)],
        run=np.repeat(np.arange(len(runs)), [len(run) for run in runs]),
        pair=pair,
        rank=np.concatenate([RANKS[ranks](run) for run in runs]),
        score=np.concatenate([run.score for run in runs]),
    )


def _column(run: Run) -> Integers:
    """The run's own ranks, including gaps and duplicates."""
    if run.rank is None:
        raise FusionError(f"run {run.name!r} has no rank column; ranks='column' needs one.")
    if len(run) and not 1 <= run.rank.min() <= run.rank.max() < 2**31 - 1:
        raise FusionError(
            f"run {run.name!r} has ranks from {run.rank.min()} to {run.rank.max()}; ranks='column' needs them from 1."
        )
    return run.rank


# Where ranks come from: descending scores, with ties broken by document id, descending; or the file's rank column.
RANKS: dict[str, Callable[[Run], Integers]] = {"score": ranks_of, "column": _column}


def numbered(columns: Sequence[list[str]]) -> tuple[Integers, Ids]:
    """A number for each id of some columns, and the ids by number: in order of first occurrence, which needs no sort."""
    place: defaultdict[str, int] = defaultdict(count().__next__)  # a new id gets the next number
    codes = [np.fromiter(map(place.__getitem__, ids), np.int64, len(ids)) for ids in columns]
    return np.concatenate(codes), np.fromiter(place, object, len(place))


def _refuse_repeats(runs: Sequence[Run], pair: Integers, pairs: int) -> None:
    ends = np.cumsum([len(run) for run in runs])
    for run, own in zip(runs, np.split(pair, ends[:-1]), strict=True):
        if np.bincount(own, minlength=pairs).max(initial=0) <= 1:
            continue
        first = np.unique(own, return_index=True)[1]
        rows = np.setdiff1d(np.arange(len(run)), first).tolist()
        repeated = [(run.queries[run.query[row]], str(run.doc[row])) for row in rows]
        raise DuplicateError(
            f"document {show_id(repeated[0][1])} is retrieved more than once for query {show_id(repeated[0][0])} "
            f"({len(rows)} such row{'s' if len(rows) > 1 else ''} in all). Collapse the run first with "
            "`assay runs collapse`, or assay.collapse in Python.",
            pairs=repeated,
            source=run.source,
            line=None if run.lines is None else int(run.lines[rows[0]]),
        )
