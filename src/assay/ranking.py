"""Rank the rows of a run by the rules. Independent of judgments, files and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from assay.arrays import changes
from assay.errors import DuplicateError, RulesError, show_id
from assay.rules import Rules, Ties
from assay.sorting import SHORT, unstable_order
from assay.tables import Booleans, Ids, Integers, Run, encode_ids, in_byte_order

if TYPE_CHECKING:
    import numpy.typing as npt


def ranks_of(run: Run) -> Integers:
    """The rank of every row in its query, from 1: by score, with ties broken by document id, both descending.

    This is the order of the default rules. A duplicate document gets two ranks.

    >>> ranks_of(Run.from_columns(["q", "q", "q", "p"], ["a", "b", "c", "a"], [1.0, 1.0, 2.0, 0.5])).tolist()
    [3, 2, 1, 1]
    """
    sorted_already = _is_sorted(run.query, run.score)
    order = np.arange(len(run)) if sorted_already else np.lexsort((-run.score, run.query))
    query, score = run.query[order], run.score[order]
    equal = ~changes(query) & ~changes(score)  # to the row before
    if equal.any():
        tied = np.flatnonzero(equal | np.append(equal[1:], False))
        place = encode_ids(run.doc[order[tied]].tolist())[1]  # sort ids only among ties
        group = np.cumsum(~equal)[tied]
        order[tied] = order[tied[np.lexsort((-place, group))]]
    rank = np.empty(len(run), np.int64)
    rank[order] = _places_in_segments(changes(query)) + 1
    return rank


def ranked_documents(run: Run, rules: Rules, depth: int | None = None) -> dict[str, list[str]]:
    """The documents of each query in rank order under the rules, optionally only the first `depth`.

    >>> run = Run.from_columns(["q", "q", "q", "p"], ["a", "b", "c", "a"], [1.0, 1.0, 2.0, 0.5])
    >>> ranked_documents(run, Rules()), ranked_documents(run, Rules(ties="doc-asc"), 2)
    ({'p': ['a'], 'q': ['c', 'b', 'a']}, {'p': ['a'], 'q': ['c', 'a']})
    """
    rows = rank_rows(run, run.query, rules)
    everything = np.arange(len(rows.query))
    rank = rows.ranks(everything)
    limits = [limit for limit in (depth, rules.depth) if limit is not None]
    kept = np.flatnonzero(rank <= min(limits)) if limits else everything
    kept = kept[np.lexsort((rank[kept], rows.query[kept]))]
    found: dict[str, list[str]] = {query: [] for query in run.queries}
    for query, doc in zip(rows.query[kept].tolist(), rows.doc[kept].tolist(), strict=True):
        found[run.queries[query]].append(doc)
    return found


def _places_in_segments(starts_new: Booleans) -> Integers:
    places = np.arange(len(starts_new))
    return places - np.maximum.accumulate(np.where(starts_new, places, 0))


class RankedRows(Struct, frozen=True, eq=False):
    """The rows of a run that count, sorted by query and descending score. Only `ranks` orders ties."""

    query: Integers
    doc: Ids
    rank: Integers  # in row order; ties are not ordered yet
    tie_first: Integers  # for each row, the first ...
    tie_last: Integers  # ... and last row with the same query and score
    source: Integers  # where each row stands in the input
    score: npt.NDArray[Any]
    ties: Ties

    def ranks(self, chosen: Integers) -> Integers:
        """Ranks of the chosen rows (ascending), with ties ordered by the rules.

        Ids are compared only among documents tied with a chosen one.
        """
        ranks = self.rank[chosen]
        if self.ties in ("input", "rank-column"):
            return ranks  # rows are already in this order
        tied = self.tie_first[chosen] < self.tie_last[chosen]
        if self.ties == "ranx":
            for query in np.unique(self.query[chosen[tied]]).tolist():
                first, end = np.searchsorted(self.query, [query, query + 1])
                members = slice(*np.searchsorted(chosen, [first, end]))
                ranks[members] = self._ranks_in_ranx(first, end)[chosen[members] - first]
            return ranks
        for first in dict.fromkeys(self.tie_first[chosen][tied].tolist()):
            last = int(self.tie_last[first])
            ordered = in_byte_order(self.doc[first : last + 1], reverse=self.ties != "doc-asc")
            place = {doc: number for number, doc in enumerate(ordered)}
            members = slice(np.searchsorted(chosen, first), np.searchsorted(chosen, last, side="right"))
            ranks[members] = [self.rank[first] + place[doc] for doc in self.doc[chosen[members]]]
        return ranks

    def _ranks_in_ranx(self, first: int, end: int) -> Integers:
        """Ranks of all rows of one query after ranx's sort, whose result depends on every row and its place in the input."""
        if end - first <= SHORT:
            return self.rank[first:end]
        came = np.argsort(self.source[first:end])
        rank = np.empty(end - first, np.int64)
        rank[came[unstable_order(self.tie_first[first:end][came].tolist())]] = np.arange(1, end - first + 1)
        return rank


def rank_rows(run: Run, query: Integers, rules: Rules) -> RankedRows:
    """The rows of a run ranked by the rules; `query` is the query index of each row, -1 to skip the row."""
    score = _scores(run, rules)
    order = _without_duplicates(run, _row_order(run, query, score, rules), query, rules)
    query, score = query[order], score[order]
    starts_new = changes(query)
    rank = _places_in_segments(starts_new) + 1
    return RankedRows(query, run.doc[order], rank, *_tie_groups(score, starts_new), order, score, rules.ties)


def _scores(run: Run, rules: Rules) -> npt.NDArray[Any]:
    """The values to rank by."""
    if "rank" in (rules.order, rules.ties.removesuffix("-column")) and run.rank is None:
        setting = "`Rules(order='rank')`" if rules.order == "rank" else "`Rules(ties='rank-column')`"
        raise RulesError(f"run {run.name!r} has no rank column; {setting} needs one.")
    score = -run.rank.astype(np.float64) if rules.order == "rank" and run.rank is not None else run.score
    with np.errstate(over="ignore"):  # huge doubles become infinite floats, as in trec_eval 9
        return score if rules.scores == "float64" else score.astype(np.float32)


def _row_order(run: Run, query: Integers, score: npt.NDArray[Any], rules: Rules) -> Integers:
    """The rows that count, sorted by query and descending score."""
    keep = query >= 0
    if rules.self_match == "drop":
        own = np.fromiter(map(run.queries.__getitem__, run.query), object, len(run))
        keep = keep & np.asarray(run.doc != own, dtype=bool)
    order = np.flatnonzero(keep)
    if rules.ties == "rank-column" and run.rank is not None:
        return order[np.lexsort((run.rank[order], -score[order], query[order]))]
    if _is_sorted(query[order], score[order]):
        return order
    return order[np.lexsort((-score[order], query[order]))]  # stable: ties keep the input order


def _is_sorted(query: Integers, score: npt.NDArray[Any]) -> bool:
    same = query[1:] == query[:-1]
    return bool(np.all((query[1:] > query[:-1]) | (same & (score[1:] <= score[:-1]))))


def _without_duplicates(run: Run, order: Integers, query: Integers, rules: Rules) -> Integers:
    """Drop duplicate documents, or raise an error for them."""
    seen: dict[tuple[int, str], int] = {}
    extra: list[int] = []
    for position in _suspects(run, order, query).tolist():  # in rank order: the best score comes first
        pair = (int(query[order[position]]), str(run.doc[order[position]]))
        other = seen.setdefault(pair, position)
        if other != position:
            earlier = rules.duplicates != "best" and order[position] < order[other]
            seen[pair] = position if earlier else other
            extra.append(other if earlier else position)
    if extra and rules.duplicates == "error":
        raise _duplicate_error(run, np.sort(order[extra]))
    return np.delete(order, extra) if extra else order


def _duplicate_error(run: Run, rows: Integers) -> DuplicateError:
    """The error for rows that repeat a query and document."""
    pairs = [(run.queries[run.query[row]], str(run.doc[row])) for row in rows.tolist()]
    query, doc = pairs[0]
    return DuplicateError(
        f"document {show_id(doc)} is retrieved more than once for query {show_id(query)} "
        f"({len(pairs)} duplicate row{'s' if len(pairs) > 1 else ''} in total). Remove the duplicates, keep the first "
        f"(`Rules(duplicates='first')`), or keep the higher score (`Rules(duplicates='best')`).",
        pairs=pairs,
        source=run.source,
        line=None if run.lines is None else int(run.lines[int(rows[0])]),
    )


def _suspects(run: Run, order: Integers, query: Integers) -> Integers:
    """Positions in `order` that may be duplicates: those with equal hashes of query and document."""
    hashes = np.fromiter(map(hash, run.doc[order]), np.int64, len(order))
    with np.errstate(over="ignore"):
        mixed = hashes ^ (query[order] * np.int64(0x5851F42D4C957F2D))
    by_hash = np.argsort(mixed, kind="stable")
    equal = np.flatnonzero(mixed[by_hash[1:]] == mixed[by_hash[:-1]])
    if not len(equal):
        return equal
    return np.unique(np.concatenate((by_hash[equal], by_hash[equal + 1])))


def _tie_groups(score: npt.NDArray[Any], starts_new: Booleans) -> tuple[Integers, Integers]:
    """For each row, the first and the last row with the same query and score."""
    first_of_group = np.flatnonzero(starts_new | changes(score))
    group = np.searchsorted(first_of_group, np.arange(len(score)), side="right") - 1
    last_of_group = np.append(first_of_group[1:], len(score)) - 1
    if not len(first_of_group):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return first_of_group[group], last_of_group[group]
