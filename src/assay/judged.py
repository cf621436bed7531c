"""Form the ranking, once: the only place where documents get their ranks. Reads no files and knows no measure.

A measure needs little of a ranking: the rank and grade of the documents that are both retrieved and judged ("hits"),
how many documents were retrieved, and the grades of all judged documents ("pool"). That sparse form is `JudgedRanking`.
`judge` makes it from tables; `find_hits` is the step that a native kernel may take over.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np

from assay.errors import DuplicateError, QuerySetError, RulesError, did_you_mean, show_id, some_of
from assay.tables import Booleans, Floats, Ids, Integers, Qrels, Run, in_byte_order

if TYPE_CHECKING:
    import numpy.typing as npt

T = TypeVar("T")

Order = Literal["score", "rank"]
Ties = Literal["doc-desc", "doc-asc", "input", "rank-column", "expected"]
Scores = Literal["float64", "float32"]
QuerySet = Literal["judged", "both", "strict"]
Duplicates = Literal["error", "first", "best"]
SelfMatch = Literal["keep", "drop"]
Undefined = Literal["zero", "nan"]


@dataclass(frozen=True)
class Rules:
    """What is ranked, and which queries count. Printed with every result.

    >>> Rules(ties="doc-asc").changed()
    {'ties': 'doc-asc'}
    """

    order: Order = "score"  # what documents are ranked by; rank: the file's rank column (MS MARCO)
    ties: Ties = "doc-desc"  # equal scores: document id descending, as bytes (trec_eval); expected: all orders averaged
    scores: Scores = "float64"  # float32 makes the false ties of trec_eval 9
    queries: QuerySet = "judged"  # judged: a missing query counts as 0 (trec_eval -c); strict: refuse
    duplicates: Duplicates = "error"
    self_match: SelfMatch = "keep"  # BEIR drops documents whose id equals the query id
    undefined: Undefined = "zero"  # a query without relevant documents; nan: left out of the mean
    depth: int | None = None  # only the first documents of each ranking (trec_eval -M)

    def __post_init__(self) -> None:
        for name, choices in RULE_CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                hint = did_you_mean(str(value), choices) or f"; it takes {', '.join(choices)}."
                raise RulesError(f"rule {name} cannot be {value!r}{hint}")
        if self.depth is not None and (type(self.depth) is not int or not 0 <= self.depth < 2**62):
            raise RulesError(f"rule depth cannot be {self.depth!r}; it takes a whole number of documents, or None.")
        if self.depth is not None and self.ties == "expected":
            raise RulesError("ties=expected cannot be cut at a depth; use the cutoffs of measures, such as nDCG@10.")

    def changed(self) -> dict[str, Any]:
        """The rules that differ from the default."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}


RULE_CHOICES: dict[str, tuple[str, ...]] = {
    "order": get_args(Order),
    "ties": get_args(Ties),
    "scores": get_args(Scores),
    "queries": get_args(QuerySet),
    "duplicates": get_args(Duplicates),
    "self_match": get_args(SelfMatch),
    "undefined": get_args(Undefined),
}


@dataclass(frozen=True, eq=False)
class Pool:
    """Grades of all judged documents, best first, queries end to end. What depends on it alone is computed once."""

    grade: Floats
    start: Integers  # query i has grade[start[i]:start[i + 1]]
    _known: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def query(self) -> Integers:
        """For each grade, the index of its query."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def place(self) -> Integers:
        """For each grade, its place in the best possible ranking, from 1."""
        return np.arange(len(self.grade)) - self.start[:-1][self.query] + 1

    def at_least(self, grade: float) -> Integers:
        """How many documents of each query have at least this grade."""
        return self.remember(("at_least", grade), lambda: count_per_segment(self.grade >= grade, self.start))

    def remember(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value computed for this key the first time: many measures and many runs share one pool."""
        if key not in self._known:
            self._known[key] = value = compute()
            if isinstance(value, np.ndarray):
                value.setflags(write=False)  # it is handed out again and again
        return self._known[key]  # type: ignore[no-any-return]

    def select(self, chosen: Integers) -> Pool:
        """The pool of some of the queries."""
        size = np.diff(self.start)[chosen]
        start = starts(size)
        rows = np.repeat(self.start[:-1][chosen] - start[:-1], size) + np.arange(start[-1])
        return Pool(self.grade[rows], start)


@dataclass(frozen=True, eq=False)
class JudgedRanking:
    """Rankings as measures see them: the documents that are both retrieved and judged, in rank order."""

    queries: tuple[str, ...]  # in byte order
    retrieved: Integers  # documents retrieved, per query
    hit_query: Integers  # index into `queries`, ascending
    hit_rank: Integers  # from 1
    hit_rel: Floats  # grade as judged; negative: pooled but not judged
    hit_tie_first: Integers  # the ranks that the documents of equal score take: first ...
    hit_tie_last: Integers  # ... and last
    hit_judgment: Integers  # the judgment that makes it a hit: its place in the order of `Judgments`
    pool: Pool
    top_grade: float  # the highest grade of the whole qrels, also after a split into parts
    stray_query: Integers | None = None  # documents judged only for other queries, where asked for
    stray_rank: Integers | None = None

    def __post_init__(self) -> None:
        for column in (
            self.retrieved,
            self.hit_rank,
            self.hit_rel,
            self.hit_tie_first,
            self.hit_tie_last,
            self.pool.grade,
        ):
            column.setflags(write=False)  # all measures see the same ranking; none may change it

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def hit_start(self) -> Integers:
        """The hits of query i are hit_start[i]:hit_start[i + 1]."""
        return np.searchsorted(self.hit_query, np.arange(len(self) + 1))

    @cached_property
    def deepest(self) -> int:
        """The deepest rank of any hit."""
        return int(self.hit_rank.max(initial=0))

    def relevant(self, rel: float, cutoff: int | None = None) -> Booleans:
        """Which hits are relevant, within the first `cutoff` ranks."""
        mask = self.hit_rel >= rel
        return mask if cutoff is None or cutoff >= self.deepest else mask & (self.hit_rank <= cutoff)

    def num_rel(self, rel: float) -> Integers:
        """Relevant documents of each query, retrieved or not."""
        return self.pool.at_least(rel)

    def count(self, mask: Booleans) -> Integers:
        """How many hits of each query are marked."""
        return count_per_segment(mask, self.hit_start)

    def total(self, values: npt.NDArray[Any]) -> Floats:
        """Sum of the hits' values per query, from the first rank to the last.

        Left to right: pairwise sums change the last printed digit against trec_eval (tests/golden/test_rounding.py).
        np.bincount adds in that order; np.sum and np.add.reduceat do not.
        """
        return np.asarray(np.bincount(self.hit_query, weights=values, minlength=len(self)), np.float64)

    def so_far(self, mask: Booleans) -> Integers:
        """At each hit, how many marked hits the query has had, this one included."""
        counted = np.concatenate(([0], np.cumsum(mask)))
        return np.asarray(counted[1:] - counted[self.hit_start[:-1]][self.hit_query])

    @cached_property
    def hit_group(self) -> Integers:
        """The number of the tie group that each hit belongs to, counted over all queries."""
        return np.cumsum(_changes(self.hit_query) | _changes(self.hit_tie_first)) - 1

    def only_judged(self) -> JudgedRanking:
        """The rankings without the documents that nobody judged; the rest move up (trec_eval -J)."""
        judged = self.hit_rel >= 0
        rank, group = self.so_far(judged)[judged], self.hit_group[judged]
        return replace(
            self,
            retrieved=self.count(judged),
            hit_query=self.hit_query[judged],
            hit_rank=rank,
            hit_rel=self.hit_rel[judged],
            hit_tie_first=rank[np.searchsorted(group, group)],
            hit_tie_last=rank[np.searchsorted(group, group, side="right") - 1],
            hit_judgment=self.hit_judgment[judged],
        )

    def reordered(self, arrangement: Arrangement, worth: Floats | None = None) -> JudgedRanking:
        """The rankings with equal scores put in one of the orders that make values lowest or highest.

        `worth` says how good each hit is, where that is not its grade.
        """
        place, at_top = ARRANGEMENTS[arrangement](self.hit_rel if worth is None else worth)
        order = np.lexsort((place, ~at_top, self.hit_group))
        group, top = self.hit_group[order], at_top[order]
        nth = np.arange(len(order)) - np.searchsorted(group, group)
        size = np.bincount(self.hit_group)[group]
        rank = np.where(top, self.hit_tie_first[order] + nth, self.hit_tie_last[order] - (size - 1 - nth))
        return replace(
            self,
            hit_rank=rank,
            hit_rel=self.hit_rel[order],
            hit_judgment=self.hit_judgment[order],
        )

    def select(self, chosen: Integers) -> JudgedRanking:
        """The rankings of some of the queries, given by ascending index."""
        place = np.full(len(self), -1)
        place[chosen] = np.arange(len(chosen))
        moved = place[self.hit_query]
        kept = moved >= 0
        strays: dict[str, Any] = {}
        if self.stray_query is not None and self.stray_rank is not None:
            stray = place[self.stray_query]
            strays = {"stray_query": stray[stray >= 0], "stray_rank": self.stray_rank[stray >= 0]}
        return replace(
            self,
            queries=tuple(self.queries[index] for index in chosen),
            retrieved=self.retrieved[chosen],
            hit_query=moved[kept],
            hit_rank=self.hit_rank[kept],
            hit_rel=self.hit_rel[kept],
            hit_tie_first=self.hit_tie_first[kept],
            hit_tie_last=self.hit_tie_last[kept],
            hit_judgment=self.hit_judgment[kept],
            pool=self.pool.select(chosen),
            **strays,
        )


Arrangement = Literal["best", "worst", "judged-first", "judged-last"]

# For each arrangement of documents with equal scores: the order of the hits, and which of them come before the unjudged.
ARRANGEMENTS: dict[Arrangement, Callable[[Floats], tuple[Floats, Booleans]]] = {
    "best": lambda rel: (-rel, rel > 0),
    "worst": lambda rel: (rel, rel <= 0),
    "judged-first": lambda rel: (-rel, np.ones(len(rel), bool)),
    "judged-last": lambda rel: (rel, np.zeros(len(rel), bool)),
}


@dataclass(frozen=True, eq=False)
class Judgments:
    """Qrels made ready for joining with runs: done once, used for every run."""

    queries: tuple[str, ...]
    place: dict[str, int]  # of each query in `queries`
    doc_code: dict[str, int]
    key: Integers  # query * number of documents + document, ascending
    rel: Floats  # in the order of `key`
    pool: Pool
    top_grade: float
    source: str

    def select(self, queries: Iterable[str]) -> Judgments:
        """The judgments of some of the queries; documents and the highest grade of all stay known."""
        chosen = np.array(sorted({self.place[query] for query in queries}), np.int64)
        moved = np.full(len(self.queries), -1)
        moved[chosen] = np.arange(len(chosen))
        query = self.key // len(self.doc_code)
        kept = moved[query] >= 0
        key = moved[query[kept]] * len(self.doc_code) + self.key[kept] % len(self.doc_code)
        names = tuple(self.queries[index] for index in chosen)
        place = {text: index for index, text in enumerate(names)}
        return replace(self, queries=names, place=place, key=key, rel=self.rel[kept], pool=self.pool.select(chosen))


def index_judgments(qrels: Qrels, duplicates: Duplicates = "error") -> Judgments:
    """Sort the judgments by query and document, and the grades of each query from the best down."""
    doc_code: dict[str, int] = {}
    codes = np.fromiter((doc_code.setdefault(doc, len(doc_code)) for doc in qrels.doc), np.int64, len(qrels))
    key = qrels.query * len(doc_code) + codes
    order = np.argsort(key, kind="stable")
    repeated = np.flatnonzero(np.diff(key[order]) == 0) + 1
    if len(repeated):
        order = _without_repeats(qrels, order, repeated, duplicates)
    key, query, rel = key[order], qrels.query[order], qrels.rel[order]
    best_first = np.lexsort((-rel, query))
    start = np.searchsorted(query, np.arange(len(qrels.queries) + 1))
    pool = Pool(rel[best_first], start)
    place = {text: index for index, text in enumerate(qrels.queries)}
    top_grade = float(rel.max(initial=0))
    return Judgments(qrels.queries, place, doc_code, key, rel, pool, top_grade, qrels.source)


def _without_repeats(qrels: Qrels, order: Integers, repeated: Integers, duplicates: Duplicates) -> Integers:
    """The order of judgments with one left for each query and document."""
    if duplicates == "error":
        raise _duplicate_error(qrels, np.sort(order[repeated]), "judged", "the higher grade")
    if duplicates == "best":
        group = np.cumsum(~np.isin(np.arange(len(order)), repeated))
        order = order[np.lexsort((-qrels.rel[order], group))]
    return np.delete(order, repeated)


def _duplicate_error(table: Qrels | Run, rows: Integers, verb: str, better: str) -> DuplicateError:
    pairs = [(table.queries[table.query[row]], str(table.doc[row])) for row in rows.tolist()]
    query, doc = pairs[0]
    return DuplicateError(
        f"document {show_id(doc)} is {verb} more than once for query {show_id(query)} "
        f"({len(pairs)} such row{'s' if len(pairs) > 1 else ''} in all). Remove the repeated rows, or let the first count "
        f"(duplicates=first) or {better} (duplicates=best).",
        pairs=pairs,
        source=table.source,
        line=None if table.lines is None else int(table.lines[int(rows[0])]),
    )


@dataclass(frozen=True, eq=False)
class Hits:
    """What a run gives when it is joined with judgments: all that depends on the run's documents."""

    retrieved: Integers  # per judged query; 0 where the run lacks it
    query: Integers
    rank: Integers
    rel: Floats
    tie_first: Integers
    tie_last: Integers
    judgment: Integers
    stray_query: Integers | None = None
    stray_rank: Integers | None = None


def judge(qrels: Qrels | Judgments, run: Run, rules: Rules = Rules(), *, strays: bool = False) -> JudgedRanking:
    """Rank the run's documents by the rules and mark the judged ones.

    `strays` also keeps the documents that are judged for other queries only (for Hole).

    >>> qrels = Qrels.from_columns(["q"], ["b"], [1])
    >>> judge(qrels, Run.from_columns(["q", "q"], ["a", "b"], [2.0, 1.0])).hit_rank.tolist()
    [2]
    """
    judgments = qrels if isinstance(qrels, Judgments) else index_judgments(qrels, rules.duplicates)
    answered = check_query_sets(judgments, run, rules)
    hits = find_hits(judgments, run, rules, strays=strays)
    ranking = JudgedRanking(
        queries=judgments.queries,
        retrieved=hits.retrieved,
        hit_query=hits.query,
        hit_rank=hits.rank,
        hit_rel=hits.rel,
        hit_tie_first=hits.tie_first,
        hit_tie_last=hits.tie_last,
        hit_judgment=hits.judgment,
        pool=judgments.pool,
        top_grade=judgments.top_grade,
        stray_query=hits.stray_query,
        stray_rank=hits.stray_rank,
    )
    return ranking if rules.queries != "both" or len(answered) == len(ranking) else ranking.select(answered)


def check_query_sets(judgments: Judgments, run: Run, rules: Rules) -> Integers:
    """The judged queries that the run answers; refuses a run that answers none, or, if strict, not all."""
    places = np.fromiter((judgments.place.get(query, -1) for query in run.queries), np.int64, len(run.queries))
    answered = np.sort(places[places >= 0])
    if not len(answered):
        raise QuerySetError(no_query_in_common(judgments.queries, run.queries, run.name))
    if rules.queries == "strict" and len(answered) < len(judgments.queries):
        missing = [judgments.queries[i] for i in np.setdiff1d(np.arange(len(judgments.queries)), answered)]
        raise QuerySetError(
            f"{len(missing)} of {len(judgments.queries)} judged queries {'is' if len(missing) == 1 else 'are'} missing from "
            f"run {run.name!r} (first: {some_of(missing)}). Complete the run, or choose queries=judged to count them as 0, "
            f"or queries=both to leave them out."
        )
    return answered


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


def find_hits(judgments: Judgments, run: Run, rules: Rules, *, strays: bool = False) -> Hits:
    """Join a run with the judgments. A native kernel gives the same from bytes, columns or dicts.

    Only documents that share their score with a judged one are compared by id: the others' order changes nothing.
    """
    rows = _sorted_rows(judgments, run, rules)
    starts_new = _changes(rows.query)
    first = np.maximum.accumulate(np.where(starts_new, np.arange(len(rows.query)), 0))
    rank = np.arange(len(rows.query)) - first + 1
    retrieved = np.bincount(rows.query, minlength=len(judgments.queries))

    code = np.fromiter(map(judgments.doc_code.get, rows.doc, repeat(-1)), np.int64, len(rows.doc))
    key = rows.query * len(judgments.doc_code) + code
    found = np.searchsorted(judgments.key, key)
    found[found == len(judgments.key)] = 0
    is_hit = (code >= 0) & (judgments.key[found] == key) if len(judgments.key) else np.zeros(len(code), bool)

    ties = _Ties(rank, *_tie_groups(rows, starts_new))
    hit = np.flatnonzero(is_hit)
    hit_rank = _ranks(rows, hit, ties, rules)
    in_order = np.lexsort((hit_rank, rows.query[hit]))
    hit, hit_rank = hit[in_order], hit_rank[in_order]
    stray = np.flatnonzero((code >= 0) & ~is_hit) if strays else None
    hits = Hits(
        retrieved=retrieved,
        query=rows.query[hit],
        rank=hit_rank,
        rel=judgments.rel[found[hit]],
        tie_first=rank[ties.first[hit]],
        tie_last=rank[ties.last[hit]],
        judgment=found[hit],
        stray_query=None if stray is None else rows.query[stray],
        stray_rank=None if stray is None else _ranks(rows, stray, ties, rules),
    )
    return hits if rules.depth is None else _cut(hits, rules.depth)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a run that count: of judged queries, in order of query and falling score."""

    query: Integers  # index among the judged queries
    doc: Ids
    score: npt.NDArray[Any]


def _sorted_rows(judgments: Judgments, run: Run, rules: Rules) -> _Rows:
    place = np.fromiter((judgments.place.get(query, -1) for query in run.queries), np.int64, len(run.queries))
    query, doc, score = place[run.query], run.doc, run.score
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
        raise _duplicate_error(run, np.sort(order[extra]), "retrieved", "the higher score")
    return np.delete(order, extra) if extra else order


def _suspects(run: Run, order: Integers, query: Integers) -> Integers:
    """Places in `order` whose query and document may stand there twice: those with equal hashes."""
    hashes = np.fromiter(map(hash, run.doc[order]), np.int64, len(order))
    with np.errstate(over="ignore"):
        mixed = hashes ^ (query[order] * np.int64(0x5851F42D4C957F2D))
    by_hash = np.argsort(mixed, kind="stable")
    equal = np.flatnonzero(mixed[by_hash[1:]] == mixed[by_hash[:-1]])
    return np.unique(np.concatenate((by_hash[equal], by_hash[equal + 1])))


def _changes(column: npt.NDArray[Any]) -> Booleans:
    """True where a value differs from the one before; the first always."""
    return np.concatenate(([True], column[1:] != column[:-1]))[: len(column)]


def _tie_groups(rows: _Rows, starts_new: Booleans) -> tuple[Integers, Integers]:
    """For each row, the first and the last row with the same query and score."""
    first_of_group = np.flatnonzero(starts_new | _changes(rows.score))
    group = np.searchsorted(first_of_group, np.arange(len(rows.query)), side="right") - 1
    last_of_group = np.append(first_of_group[1:], len(rows.query)) - 1
    if not len(first_of_group):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return first_of_group[group], last_of_group[group]


@dataclass(frozen=True, eq=False)
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
    for first in np.unique(ties.first[chosen][tied]).tolist():
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
        rel=hits.rel[kept],
        tie_first=hits.tie_first[kept],
        tie_last=hits.tie_last[kept],
        judgment=hits.judgment[kept],
        **strays,
    )


def count_per_segment(mask: Booleans, start: Integers) -> Integers:
    """How many values of each segment are marked; segment i is start[i]:start[i + 1]."""
    counted = np.concatenate(([0], np.cumsum(mask)))
    return np.asarray(counted[start[1:]] - counted[start[:-1]])


def starts(size: Integers) -> Integers:
    """Where each segment starts when segments of these sizes lie end to end, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(size)))
