"""Join a run with judgments: the documents that are both retrieved and judged get their ranks. Knows no measure.

The kernel does it where it is there and the input is plain; else `_join_table` does it with NumPy. Both give the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay import native
from assay.arrays import changes
from assay.errors import QuerySetError, RulesError, show_id, some_of
from assay.frozen import frozen, replace
from assay.judgments import Judgments, duplicate_error
from assay.native import joins
from assay.rules import Rules
from assay.tables import Booleans, Ids, Integers, Run, encode_ids, in_byte_order

if TYPE_CHECKING:
    import numpy.typing as npt


class UnreadRun(ABC):
    """A run that is not a table yet: the kernel may join it as it is."""

    name: str
    source: str  # for messages

    @abstractmethod
    def joined(self, judgments: Judgments, rules: joins.RankingRules, threads: int) -> joins.Joined | None:
        """The run joined with the judgments by the kernel, or None if that is not possible."""

    @abstractmethod
    def read(self) -> Run:
        """The run as a table, or the error that says what is wrong with it."""

    @cached_property
    def table(self) -> Run:
        """The run as a table, read once."""
        return self.read()

    @property
    def is_read(self) -> bool:
        """Whether the table is there already."""
        return "table" in self.__dict__


@frozen
class Hits:
    """The documents that are both retrieved and judged, in rank order, queries end to end."""

    retrieved: Integers  # documents retrieved, per judged query; 0 where the run lacks it
    query: Integers
    rank: Integers
    tie_first: Integers
    tie_last: Integers
    judgment: Integers
    stray_query: Integers | None = None
    stray_rank: Integers | None = None


@frozen
class Join:
    """A run joined with judgments."""

    hits: Hits
    answered: Booleans  # which judged queries the run has
    unjudged: tuple[str, ...]  # queries of the run that have no judgments, in byte order
    tag: str


def join(judgments: Judgments, run: Run | UnreadRun, rules: Rules, *, strays: bool = False, threads: int = 1) -> Join:
    """Join a run with the judgments; refuses a run that answers no judged query or, if strict, not all of them.

    `strays` asks also for documents that are judged for other queries only, which the kernel does not look for.
    """
    if isinstance(run, UnreadRun) and run.is_read:
        run = run.table
    found = None if strays or not native.enabled() else _join_natively(judgments, run, rules, threads)
    if found is None:
        found = _join_table(judgments, run if isinstance(run, Run) else run.table, rules, strays=strays)
    else:
        _check_query_sets(judgments, found.answered, found.unjudged, run.name, rules)
    return found if rules.depth is None else replace(found, hits=_cut(found.hits, rules.depth))


# The kernel


def _join_natively(judgments: Judgments, run: Run | UnreadRun, rules: Rules, threads: int) -> Join | None:
    ranking = _ranking_rules(rules)
    found = _join_rows(judgments, run, ranking) if isinstance(run, Run) else run.joined(judgments, ranking, threads)
    if found is None:
        return None
    hits = Hits(found.retrieved, found.query, found.rank, found.tie_first, found.tie_last, found.judgment)
    return Join(hits, found.answered, tuple(found.unjudged), found.tag)


def _join_rows(judgments: Judgments, run: Run, rules: joins.RankingRules) -> joins.Joined | None:
    if judgments.index is None or run.doc.dtype != object or run.score.dtype != np.float64:
        return None
    if rules.needs_ranks and (run.rank is None or run.rank.dtype != np.int64):
        return None
    place = _places(judgments, run)
    rank = None if run.rank is None or not rules.needs_ranks else np.ascontiguousarray(run.rank)
    found = judgments.index.join_table(
        place[run.query], np.ascontiguousarray(run.doc), np.ascontiguousarray(run.score), rank, rules
    )
    if found is None:
        return None
    answered = np.zeros(len(judgments.queries), bool)  # also where the run's table has a query without rows
    answered[place[place >= 0]] = True
    unjudged = [query for query, code in zip(run.queries, place.tolist(), strict=True) if code < 0]
    return replace(found, answered=answered, unjudged=unjudged, tag=run.tag)


def _ranking_rules(rules: Rules) -> joins.RankingRules:
    return joins.RankingRules(
        ties={"doc-asc": 1, "input": 2, "rank-column": 2}.get(rules.ties, 0),
        duplicates={"error": 0, "first": 1, "best": 2}[rules.duplicates],
        by_rank_column=rules.order == "rank",
        ties_by_rank_column=rules.ties == "rank-column",
        float32=rules.scores == "float32",
        drop_self_match=rules.self_match == "drop",
    )


# Query sets


def _places(judgments: Judgments, run: Run) -> Integers:
    """For each query of the run its place among the judged ones, or -1."""
    return np.fromiter((judgments.place.get(query, -1) for query in run.queries), np.int64, len(run.queries))


def _check_query_sets(
    judgments: Judgments, answered: Booleans, unjudged: tuple[str, ...], name: str, rules: Rules
) -> None:
    if not answered.any():
        raise QuerySetError(no_query_in_common(judgments.queries, unjudged, name))
    if rules.queries == "strict" and not answered.all():
        missing = [judgments.queries[place] for place in np.flatnonzero(~answered)]
        raise QuerySetError(
            f"{len(missing)} of {len(judgments.queries)} judged queries {'is' if len(missing) == 1 else 'are'} missing from "
            f"run {name!r} (first: {some_of(missing)}). Complete the run, or choose queries=judged to count them as 0, "
            f"or queries=both to leave them out."
        )


def no_query_in_common(judged: tuple[str, ...], answered: tuple[str, ...], run_name: str) -> str:
    """The message for query sets that do not meet, with an example that shows the likely reason."""
    if not answered:
        return f"run {run_name!r} has no query at all; 0 of {len(judged)} judged queries are answered."
    examples = next(filter(None, (_same_but_for(fold, judged, answered) for fold in _FOLDS)), None) or (
        answered[0],
        judged[0] if judged else "",
    )
    return (
        f"0 of {len(judged)} query ids match; the run has {show_id(examples[0])!r}, the qrels {show_id(examples[1])!r}. "
        f"Check that run {run_name!r} belongs to these qrels and writes its query ids in the same way."
    )


_FOLDS: tuple[Callable[[str], str], ...] = (
    lambda text: text.strip().casefold(),
    lambda text: text.strip().casefold().lstrip("0"),
    lambda text: "".join(c for c in text if c.isdigit()).lstrip("0"),
)


def _same_but_for(
    fold: Callable[[str], str], judged: tuple[str, ...], answered: tuple[str, ...]
) -> tuple[str, str] | None:
    """An answered and a judged query whose ids only differ in what the folding takes away."""
    by_fold = {fold(query): query for query in reversed(judged)}
    by_fold.pop("", None)
    return next(((query, by_fold[fold(query)]) for query in answered if fold(query) in by_fold), None)


# NumPy


def ranks_of(run: Run) -> Integers:
    """The rank of every row in its query, from 1: falling score, and equal scores by document id, descending.

    That is the order of the default rules. A document that stands twice has two ranks.

    >>> ranks_of(Run.from_columns(["q", "q", "q", "p"], ["a", "b", "c", "a"], [1.0, 1.0, 2.0, 0.5])).tolist()
    [3, 2, 1, 1]
    """
    order = np.lexsort((-run.score, run.query))
    equal = ~changes(run.query[order]) & ~changes(run.score[order])
    if equal.any():
        tied = np.zeros(len(run), bool)
        tied[order[np.flatnonzero(equal)]] = tied[order[np.flatnonzero(equal) - 1]] = True
        place = np.zeros(len(run), np.int64)
        place[tied] = encode_ids(run.doc[tied].tolist())[1]  # ids are put in order only where scores are equal
        order = np.lexsort((-place, -run.score, run.query))
    rank = np.empty(len(run), np.int64)
    rank[order] = _places_in_segments(changes(run.query[order])) + 1
    return rank


def ranked_documents(run: Run, rules: Rules, depth: int | None = None) -> dict[str, list[str]]:
    """The documents of each query in rank order, under the rules, down to a depth.

    >>> run = Run.from_columns(["q", "q", "q", "p"], ["a", "b", "c", "a"], [1.0, 1.0, 2.0, 0.5])
    >>> ranked_documents(run, Rules()), ranked_documents(run, Rules(ties="doc-asc"), 2)
    ({'p': ['a'], 'q': ['c', 'b', 'a']}, {'p': ['a'], 'q': ['c', 'a']})
    """
    rows = _sorted_rows(run.query, run, rules)
    starts_new = changes(rows.query)
    rank = _places_in_segments(starts_new) + 1
    everything = np.arange(len(rank))
    rank = _ranks(rows, everything, _Ties(rank, *_tie_groups(rows, starts_new)), rules)
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


def _join_table(judgments: Judgments, run: Run, rules: Rules, *, strays: bool) -> Join:
    """Only documents that share their score with a judged one are compared by id: the others' order changes nothing."""
    place = _places(judgments, run)
    answered = np.zeros(len(judgments.queries), bool)
    answered[place[place >= 0]] = True
    unjudged = tuple(query for query, code in zip(run.queries, place.tolist(), strict=True) if code < 0)
    _check_query_sets(judgments, answered, unjudged, run.name, rules)

    rows = _sorted_rows(place[run.query], run, rules)
    starts_new = changes(rows.query)
    rank = _places_in_segments(starts_new) + 1
    code = judgments.lookup.codes(rows.doc)
    judgment = judgments.lookup.find(rows.query, code)

    ties = _Ties(rank, *_tie_groups(rows, starts_new))
    hit = np.flatnonzero(judgment >= 0)
    hit_rank = _ranks(rows, hit, ties, rules)
    in_order = np.lexsort((hit_rank, rows.query[hit]))
    hit, hit_rank = hit[in_order], hit_rank[in_order]
    stray = np.flatnonzero((code >= 0) & (judgment < 0)) if strays else None
    hits = Hits(
        retrieved=np.bincount(rows.query, minlength=len(judgments.queries)),
        query=rows.query[hit],
        rank=hit_rank,
        tie_first=rank[ties.first[hit]],
        tie_last=rank[ties.last[hit]],
        judgment=judgment[hit],
        stray_query=None if stray is None else rows.query[stray],
        stray_rank=None if stray is None else _ranks(rows, stray, ties, rules),
    )
    return Join(hits, answered, unjudged, run.tag)


@frozen
class _Rows:
    """The rows of a run that count: of judged queries, in order of query and falling score."""

    query: Integers  # index among the judged queries
    doc: Ids
    score: npt.NDArray[Any]


def _sorted_rows(query: Integers, run: Run, rules: Rules) -> _Rows:
    doc, score = run.doc, run.score
    if "rank" in (rules.order, rules.ties.removesuffix("-column")) and run.rank is None:
        setting = 'order="rank"' if rules.order == "rank" else 'ties="rank-column"'
        raise RulesError(f"run {run.name!r} has no rank column; {setting} needs one.")
    if rules.order == "rank" and run.rank is not None:
        score = -run.rank.astype(np.float64)
    with np.errstate(over="ignore"):  # trec_eval 9 also makes an infinite float of a huge double
        score = score.astype(np.float32) if rules.scores == "float32" else score
    keep = query >= 0
    if rules.self_match == "drop":
        own = np.fromiter(map(run.queries.__getitem__, run.query), object, len(run))
        keep = keep & np.asarray(doc != own, dtype=bool)
    order = np.flatnonzero(keep)
    if rules.ties == "rank-column" and run.rank is not None:
        order = order[np.lexsort((run.rank[order], -score[order], query[order]))]
    elif not _is_sorted(query[order], score[order]):
        order = order[np.lexsort((-score[order], query[order]))]  # stable: equal scores stay in the order of the input
    order = _without_duplicates(run, order, query, rules)
    return _Rows(query[order], doc[order], score[order])


def _is_sorted(query: Integers, score: npt.NDArray[Any]) -> bool:
    same = query[1:] == query[:-1]
    return bool(np.all((query[1:] > query[:-1]) | (same & (score[1:] <= score[:-1]))))


def _without_duplicates(run: Run, order: Integers, query: Integers, rules: Rules) -> Integers:
    """Drop or refuse documents that a query retrieves twice."""
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
        raise duplicate_error(run, np.sort(order[extra]), "retrieved", "the higher score")
    return np.delete(order, extra) if extra else order


def _suspects(run: Run, order: Integers, query: Integers) -> Integers:
    """Places in `order` whose query and document may stand there twice: those with equal hashes."""
    hashes = np.fromiter(map(hash, run.doc[order]), np.int64, len(order))
    with np.errstate(over="ignore"):
        mixed = hashes ^ (query[order] * np.int64(0x5851F42D4C957F2D))
    by_hash = np.argsort(mixed, kind="stable")
    equal = np.flatnonzero(mixed[by_hash[1:]] == mixed[by_hash[:-1]])
    if not len(equal):
        return equal
    return np.unique(np.concatenate((by_hash[equal], by_hash[equal + 1])))


def _tie_groups(rows: _Rows, starts_new: Booleans) -> tuple[Integers, Integers]:
    """For each row, the first and the last row with the same query and score."""
    first_of_group = np.flatnonzero(starts_new | changes(rows.score))
    group = np.searchsorted(first_of_group, np.arange(len(rows.query)), side="right") - 1
    last_of_group = np.append(first_of_group[1:], len(rows.query)) - 1
    if not len(first_of_group):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return first_of_group[group], last_of_group[group]


@frozen
class _Ties:
    """Ranks before ties are broken, and for each row the first and last row of equal score."""

    rank: Integers
    first: Integers
    last: Integers


def _ranks(rows: _Rows, chosen: Integers, ties: _Ties, rules: Rules) -> Integers:
    """Ranks of the chosen rows (ascending), equal scores ordered by the rules."""
    ranks = ties.rank[chosen]
    if rules.ties in ("input", "rank-column"):
        return ranks  # the rows stand in that order already
    tied = ties.first[chosen] < ties.last[chosen]
    for first in dict.fromkeys(ties.first[chosen][tied].tolist()):
        last = int(ties.last[first])
        ordered = in_byte_order(rows.doc[first : last + 1], reverse=rules.ties != "doc-asc")
        place = {doc: number for number, doc in enumerate(ordered)}
        members = slice(np.searchsorted(chosen, first), np.searchsorted(chosen, last, side="right"))
        ranks[members] = [ties.rank[first] + place[doc] for doc in rows.doc[chosen[members]]]
    return ranks


def _cut(hits: Hits, depth: int) -> Hits:
    """Only the first `depth` documents of each ranking."""
    kept = hits.rank <= depth
    strays: dict[str, Integers] = {}
    if hits.stray_query is not None and hits.stray_rank is not None:
        inside = hits.stray_rank <= depth
        strays = {"stray_query": hits.stray_query[inside], "stray_rank": hits.stray_rank[inside]}
    return replace(
        hits,
        retrieved=np.minimum(hits.retrieved, depth),
        query=hits.query[kept],
        rank=hits.rank[kept],
        tie_first=hits.tie_first[kept],
        tie_last=hits.tie_last[kept],
        judgment=hits.judgment[kept],
        **strays,
    )
