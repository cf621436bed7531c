"""Rank the documents of a run by the rules and mark the judged ones. Does not read files or compute measures.

The kernel does the work if it is available and can handle the input, else NumPy. Results are identical bit by bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from msgspec.structs import replace

from assay import native
from assay.errors import QuerySetError, show_id, some_of
from assay.heads import Heads, heads_of_table
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments
from assay.native.index import Interleaved, RankingRules
from assay.ranking import rank_rows
from assay.rules import Rules
from assay.tables import Booleans, Integers, Qrels, Run


class OpenedRun(Protocol):
    """A run: either a table (`Run`) or input that is read on demand (`UnreadRun`)."""

    @property
    def name(self) -> str:
        """The name of the run."""

    @property
    def source(self) -> str:
        """Where it comes from, for messages."""

    @property
    def table(self) -> Run:
        """The run as a table."""


class UnreadRun(ABC):
    """A run that is not a table yet; the kernel may be able to judge it directly."""

    name: str
    source: str

    @abstractmethod
    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        """The run judged by the kernel, or None if that is not possible."""

    def heads(self, depth: int, rules: RankingRules, threads: int) -> Heads | None:
        """The first documents of each query, by the kernel, or None if that is not possible."""
        return None

    @abstractmethod
    def read(self) -> Run:
        """The run as a table; raises an error for invalid input."""

    @cached_property
    def table(self) -> Run:
        """The run as a table, read once."""
        return self.read()

    @property
    def is_read(self) -> bool:
        """Whether the table has been read."""
        return "table" in self.__dict__


def judge(
    qrels: Qrels | Judgments, run: OpenedRun, rules: Rules = Rules(), *, strays: bool = False, threads: int = 1
) -> JudgedRanking:
    """Rank the run's documents by the rules and mark the judged ones.

    Raises an error if the run answers none of the judged queries or, with queries="strict", if any is missing. `strays`
    also keeps documents that are judged only for other queries (for Hole).

    >>> qrels = Qrels.from_columns(["q"], ["b"], [1])
    >>> judge(qrels, Run.from_columns(["q", "q"], ["a", "b"], [2.0, 1.0])).hit_rank.tolist()
    [2]
    """
    judgments = qrels if isinstance(qrels, Judgments) else index_judgments(qrels, rules.judges)
    beyond_kernel = (
        strays or rules.ties == "ranx" or (rules.scores == "float32-positive" and not _is_positive(run, rules))
    )
    ranking = _judged_by_kernel(judgments, run, rules, threads) if native.enabled() and not beyond_kernel else None
    if ranking is None:
        ranking = _judged_by_numpy(judgments, run.table, rules, strays=strays)
    if rules.depth is not None:
        ranking = ranking.cut(rules.depth)
    return ranking.only_answered() if rules.queries == "both" else ranking


def counted(ranking: JudgedRanking, judgments: Judgments, name: str, rules: Rules) -> JudgedRanking:
    """A ranking under queries="judged" as it is under the rule for queries; an error if that refuses the run."""
    _check_query_sets(judgments, ranking.missing, ranking.unjudged, name, rules)
    return ranking.only_answered() if rules.queries == "both" else ranking


def _is_positive(run: OpenedRun, rules: Rules) -> bool:
    """Whether all scores are above 0 as 32-bit floats, so that every document keeps its grade; ranks are no scores."""
    if rules.order == "rank" or run.table.has_only_ranks:
        return False
    with np.errstate(over="ignore"):  # huge doubles become infinite floats
        return bool((run.table.score.astype(np.float32) > 0).all())


def heads_of(run: OpenedRun, depth: int, rules: Rules = Rules(), *, threads: int = 1) -> Heads:
    """The first documents of each query of a run, best first.

    >>> heads_of(Run.from_columns(["q", "q"], ["b", "a"], [1.0, 2.0]), 1).docs.tolist()
    ['a']
    """
    found = None
    depth = depth if rules.depth is None else min(depth, rules.depth)
    beyond_kernel = rules.ties == "ranx"
    if native.enabled() and not beyond_kernel and isinstance(run, UnreadRun) and not run.is_read:
        found = run.heads(depth, _ranking_rules(rules), threads)
    return heads_of_table(run.table, depth, rules) if found is None else found


# The kernel


def ranking_from_kernel(judgments: Judgments, found: Any) -> JudgedRanking | None:
    """The kernel's result as a ranking; None if the kernel cannot handle the input."""
    if found is None:
        return None
    if found is False:
        raise Interleaved
    retrieved, answered, query, rank, tie_first, tie_last, judgment, unjudged, tag = found
    hit_judgment = np.frombuffer(judgment, np.int64)
    return JudgedRanking(
        queries=judgments.queries,
        retrieved=np.frombuffer(retrieved, np.int64),
        hit_query=np.frombuffer(query, np.int64),
        hit_rank=np.frombuffer(rank, np.int64),
        hit_rel=judgments.rel[hit_judgment],
        hit_tie_first=np.frombuffer(tie_first, np.int64),
        hit_tie_last=np.frombuffer(tie_last, np.int64),
        hit_judgment=hit_judgment,
        pool=judgments.pool,
        top_grade=judgments.top_grade,
        missing=_missing(judgments, np.frombuffer(answered, np.bool_)),
        unjudged=tuple(unjudged),
        tag=tag,
    )


def _judged_by_kernel(judgments: Judgments, run: OpenedRun, rules: Rules, threads: int) -> JudgedRanking | None:
    ranking = kernel_ranking(judgments, run, rules, threads)
    if ranking is not None:
        _check_query_sets(judgments, ranking.missing, ranking.unjudged, run.name, rules)
        if rules.scores == "float32-positive":
            ranking = replace(ranking, grades=judgments.rel)
    return ranking


def kernel_ranking(judgments: Judgments, run: OpenedRun, rules: Rules, threads: int) -> JudgedRanking | None:
    """The whole ranking of all judged queries, even if the run has none of them; None if the kernel cannot rank it."""
    ranking_rules = _ranking_rules(rules)
    if isinstance(run, UnreadRun) and not run.is_read:
        return run.judged(judgments, ranking_rules, threads)
    return _judged_rows(judgments, run.table, ranking_rules)


def _judged_rows(judgments: Judgments, run: Run, rules: RankingRules) -> JudgedRanking | None:
    if judgments.index is None or run.doc.dtype != object or run.score.dtype != np.float64:
        return None
    if rules.needs_ranks and (run.rank is None or run.rank.dtype != np.int64):
        return None
    place = _places(judgments, run)
    rank = None if run.rank is None or not rules.needs_ranks else np.ascontiguousarray(run.rank)
    ranking = ranking_from_kernel(
        judgments,
        judgments.index.hits_in_rows(
            place[run.query], np.ascontiguousarray(run.doc), np.ascontiguousarray(run.score), rank, rules
        ),
    )
    if ranking is None:
        return None
    missing, unjudged = _unmatched(judgments, run, place)  # the kernel does not see queries without rows
    return replace(ranking, missing=missing, unjudged=unjudged, tag=run.tag)


def _ranking_rules(rules: Rules) -> RankingRules:
    return RankingRules(
        ties={"doc-asc": 1, "input": 2, "rank-column": 2}.get(rules.ties, 0),
        duplicates={"error": 0, "first": 1, "best": 2}[rules.duplicates],
        by_rank_column=rules.order == "rank",
        ties_by_rank_column=rules.ties == "rank-column",
        float32=rules.scores != "float64",
        drop_self_match=rules.self_match == "drop",
    )


# NumPy


def _judged_by_numpy(judgments: Judgments, run: Run, rules: Rules, *, strays: bool) -> JudgedRanking:
    place = _places(judgments, run)
    missing, unjudged = _unmatched(judgments, run, place)
    _check_query_sets(judgments, missing, unjudged, run.name, rules)
    rows = rank_rows(run, place[run.query], rules)
    code = judgments.lookup.codes(rows.doc)
    judgment = judgments.lookup.find(rows.query, code)
    hit = np.flatnonzero(judgment >= 0)
    hit_rank = rows.ranks(hit)
    in_order = np.lexsort((hit_rank, rows.query[hit]))
    hit = hit[in_order]
    stray = np.flatnonzero((code >= 0) & (judgment < 0)) if strays else None
    grade = judgments.rel[judgment[hit]]
    # A run without scores is ranked by score = -rank: these are not the run's own scores, so their sign says nothing.
    positive = rules.scores == "float32-positive" and not run.has_only_ranks
    return JudgedRanking(
        queries=judgments.queries,
        retrieved=np.bincount(rows.query, minlength=len(judgments.queries)),
        hit_query=rows.query[hit],
        hit_rank=hit_rank[in_order],
        hit_rel=np.where(rows.score[hit] > 0, grade, np.minimum(grade, 0.0)) if positive else grade,
        hit_tie_first=rows.rank[rows.tie_first[hit]],
        hit_tie_last=rows.rank[rows.tie_last[hit]],
        hit_judgment=judgment[hit],
        grades=judgments.rel if positive else None,
        pool=judgments.pool,
        top_grade=judgments.top_grade,
        stray_query=None if stray is None else rows.query[stray],
        stray_rank=None if stray is None else rows.ranks(stray),
        missing=missing,
        unjudged=unjudged,
        tag=run.tag,
    )


# Query sets


def _places(judgments: Judgments, run: Run) -> Integers:
    """The index of each query of the run among the judged queries, or -1."""
    return np.fromiter((judgments.place.get(query, -1) for query in run.queries), np.int64, len(run.queries))


def _unmatched(judgments: Judgments, run: Run, place: Integers) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The judged queries missing from the run, and the queries of the run without judgments."""
    answered = np.zeros(len(judgments.queries), bool)
    answered[place[place >= 0]] = True
    unjudged = tuple(query for query, number in zip(run.queries, place.tolist(), strict=True) if number < 0)
    return _missing(judgments, answered), unjudged


def _missing(judgments: Judgments, answered: Booleans) -> tuple[str, ...]:
    return tuple([judgments.queries[place] for place in np.flatnonzero(~answered).tolist()])


def _check_query_sets(
    judgments: Judgments, missing: tuple[str, ...], unjudged: tuple[str, ...], name: str, rules: Rules
) -> None:
    if len(missing) == len(judgments.queries):
        raise QuerySetError(no_query_in_common(judgments.queries, unjudged, name))
    if rules.queries == "strict" and missing:
        raise QuerySetError(
            f"{len(missing)} of {len(judgments.queries)} judged queries {'is' if len(missing) == 1 else 'are'} missing from "
            f"run {name!r} (first: {some_of(missing)}). Complete the run, count them as 0 (`Rules(queries='judged')`), "
            f"or leave them out (`Rules(queries='both')`)."
        )


def no_query_in_common(judged: tuple[str, ...], answered: tuple[str, ...], run_name: str) -> str:
    """The message for query sets without overlap, with an example of the likely reason."""
    if not answered:
        return f"run {run_name!r} has no queries; 0 of {len(judged)} judged queries are answered."
    examples = likeliest_pair(judged, answered)
    from assay.ids import in_run, policy_commands, rewriting_between

    found = rewriting_between(*examples)
    fix = (
        "Check that the run belongs to these qrels and uses the same query ids."
        if found is None
        else f"They differ in {found[0].what}. Rewrite them: {policy_commands(*in_run(found[0].policy, found[1]))}."
    )
    return (
        f"0 of {len(judged)} query ids match: run {show_id(run_name)!r} has {show_id(examples[0])!r}, the qrels have "
        f"{show_id(examples[1])!r}. {fix}"
    )


def likeliest_pair(known: tuple[str, ...], answered: tuple[str, ...]) -> tuple[str, str]:
    """A query of `answered` and one of `known` that are probably the same, else the first of each."""
    alike = (_same_but_for(fold, known, answered) for fold in _FOLDS)
    return next(filter(None, alike), None) or (answered[0], known[0] if known else "")


def rewriting_of(one: str, other: str) -> str | None:
    """How two ids differ, if it is known: 'letter case'."""
    from assay.ids import rewriting_between

    found = rewriting_between(one, other)
    return None if found is None else found[0].what


_FOLDS: tuple[Callable[[str], str], ...] = (
    lambda text: text.strip().casefold(),
    lambda text: text.strip().casefold().lstrip("0"),
    lambda text: "".join(c for c in text if c.isdigit()).lstrip("0"),
)


def _same_but_for(
    fold: Callable[[str], str], judged: tuple[str, ...], answered: tuple[str, ...]
) -> tuple[str, str] | None:
    """An answered and a judged query whose ids are equal after folding."""
    by_fold = {fold(query): query for query in reversed(judged)}
    by_fold.pop("", None)
    return next(((query, by_fold[fold(query)]) for query in answered if fold(query) in by_fold), None)
