"""A difference between two runs in words and cells, the same in all formats."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay.comparison.diffing import CutoffDiff, Loss, QueryDiff, RunDiff, Spread
from assay.comparison.moves import Place
from assay.comparison.pairs import higher_is_better
from assay.errors import show_id, some_of
from assay.words import number_of, plural, sentence

DASH = "-"
CHANGED = "Changed queries, worst first"
NAMED = 3  # queries that the answer names
FIGURES_HEAD = ("figure", "mean", "95% interval", "median", "worst 5%")


class Figure(Struct, frozen=True):
    """A row of the table of figures."""

    name: str
    values: Spread
    low_is_bad: bool = True

    @property
    def cells(self) -> tuple[str, ...]:
        """The name and the numbers."""
        low, high = self.values.interval or (None, None)
        interval = DASH if low is None or high is None else f"{low:.4f} to {high:.4f}"
        worst = self.values.p5 if self.low_is_bad else self.values.p95
        return (self.name, value_of(self.values.mean), interval, value_of(self.values.median), value_of(worst))


def value_of(value: float | None) -> str:
    """A value with four decimals."""
    return DASH if value is None else f"{value + 0.0:.4f}"


def first_documents(cutoff: int) -> str:
    """The documents down to a cutoff.

    >>> first_documents(1), first_documents(1000)
    ('first document', 'first 1,000 documents')
    """
    return "first document" if cutoff == 1 else f"first {cutoff:,} documents"


def names_of(diff: RunDiff) -> tuple[str, str]:
    """The names of the runs, to be shown."""
    return show_id(diff.first), show_id(diff.second)


def changed_queries(diff: RunDiff) -> list[QueryDiff]:
    """The queries that changed down to the largest cutoff, or lost or gained by a measure; worst first."""
    return [query for query in diff.queries if query.changed or any(query.lost)]


def answer_of(diff: RunDiff) -> list[str]:
    """What happened, in a few sentences: the answer to whether results changed, where, and whether it matters."""
    return [*_what_changed(diff), *_only_in_one(diff), *map(_loss_of, diff.losses), *_unjudged(diff), *_recalls(diff)]


def _what_changed(diff: RunDiff) -> Iterator[str]:
    first, deepest, total = diff.cutoffs[0], diff.cutoffs[-1], len(diff.queries)
    if diff.strangers is not None:
        one, other = names_of(diff)
        yield (
            f"The runs have no document in common in the {first_documents(deepest.cutoff)} of any query: {one} has "
            f"{show_id(diff.strangers[0])!r}, {other} has {show_id(diff.strangers[1])!r}. Do both use the same ids?"
        )
        return
    if deepest.unchanged == total:
        yield f"{_identical(diff)} in the {first_documents(deepest.cutoff)}. {_scores(diff)}"
        return
    if first.unchanged == total:
        changed = next(each for each in diff.cutoffs if each.unchanged < total)
        yield (
            f"{_identical(diff)} in the {first_documents(first.cutoff)}; {_changed(changed, total).lower()} in the "
            f"first {changed.cutoff:,}{_worst(diff, diff.cutoffs.index(changed))}"
        )
        return
    yield (f"{_changed(first, total)} in the {first_documents(first.cutoff)}{_kinds(first, total)}{_worst(diff, 0)}")


def _identical(diff: RunDiff) -> str:
    both = " in both runs" if diff.only_first or diff.only_second else ""
    total = len(diff.queries)
    return f"The only query{both} is identical" if total == 1 else f"All {total:,} queries{both} are identical"


def _changed(found: CutoffDiff, total: int) -> str:
    if found.unchanged:
        return f"{total - found.unchanged:,} of {number_of(total, 'query')} changed"
    return "The only query changed" if total == 1 else f"All {total:,} queries changed"


_REORDERED = "{count} {has|have} the same documents in another order"


def _kinds(found: CutoffDiff, total: int) -> str:
    """How the queries changed; the first document alone has no order."""
    others = total - found.unchanged - found.reordered
    if found.cutoff == 1:
        return ""
    if not found.reordered:
        return ": documents entered or left"
    if not others:
        return ": the same documents in another order"
    return f": other documents in {others:,}, another order in {found.reordered:,}"


def _worst(diff: RunDiff, place: int) -> str:
    cutoff = diff.cutoffs[place].cutoff
    changed = [query for query in diff.queries if query.moved[place] > 0]
    worst = [query for query in changed if not diff.losses or _is_worse(query, diff)][:NAMED]
    if not worst:
        return "."
    named = [f"{show_id(query.query)} ({_how_bad(query, diff, place)})" for query in worst]
    return f". Worst{'' if place == 0 else f' at {cutoff:,}'}: {', '.join(named)}."


def _is_worse(query: QueryDiff, diff: RunDiff) -> bool:
    lost = query.lost[0] if query.lost else None
    return bool(lost) and ((lost or 0) > 0) == higher_is_better(diff.losses[0].measure)


def _how_bad(query: QueryDiff, diff: RunDiff, place: int) -> str:
    """What puts the query before the others."""
    lost = query.lost[0] if query.lost else None
    if lost:
        good = higher_is_better(diff.losses[0].measure)
        word = ("lost" if lost > 0 else "gained") if good else ("lower by" if lost > 0 else "higher by")
        return f"{show_id(diff.losses[0].measure)} {word} {abs(lost):.2f}"
    return f"overlap {query.overlap[place]:.2f}"


def _scores(diff: RunDiff) -> str:
    if not diff.scores.different:
        return "So are their scores."
    return (
        f"Scores differ for {diff.scores.different:,} of {number_of(diff.scores.documents, 'document')}, by up to "
        f"{diff.scores.largest:.3g}."
    )


def _only_in_one(diff: RunDiff) -> Iterator[str]:
    for name, queries in zip(names_of(diff), (diff.only_first, diff.only_second), strict=True):
        if queries:
            verb = plural("{is|are}", len(queries))
            yield f"{number_of(len(queries), 'query')} {verb} only in {name} and left out ({some_of(queries)})."


def _loss_of(loss: Loss) -> str:
    good = higher_is_better(loss.measure)
    down, up = ("lost", "gained") if good else ("lower", "higher")
    fell = loss.lost.mean >= 0
    word = down if fell else up
    ends = loss.lost.interval
    if ends is None:
        interval = ""
    else:
        low, high = ends if fell else (-ends[1], -ends[0])
        verdict = (
            "" if low > 0 else f", no significant {'loss' if fell and good else 'difference'}" if low < high else ""
        )
        interval = f" (95% interval {value_of(low)} to {value_of(high)}{verdict})"
    before, after = value_of(loss.first), value_of(loss.second)
    queries = f"{number_of(loss.fell, 'query')} {down}, {loss.rose:,} {up}, of {loss.lost.queries:,}"
    change = f"{value_of(abs(loss.lost.mean))} {word}{interval}" if loss.fell or loss.rose else "nothing lost"
    return f"{show_id(loss.measure)}: {change}, from {before} to {after}; {queries}."


def _unjudged(diff: RunDiff) -> Iterator[str]:
    found = diff.unjudged
    if found is None or not found.entered:
        return
    yield (
        f"In judged queries, {number_of(found.entered, 'document')} entered the {first_documents(diff.cutoffs[0].cutoff)}, "
        f"{found.entered_unjudged:,} of them unjudged (these count as not relevant), and {found.left:,} left, "
        f"{found.left_unjudged:,} of them unjudged."
    )


def _recalls(diff: RunDiff) -> Iterator[str]:
    one, other = names_of(diff)
    for found in diff.recalls:
        yield (
            f"Recall@{found.cutoff} against {show_id(diff.exact or '')}: {value_of(found.first.mean)} for {one} (5th "
            f"percentile {value_of(found.first.p5)}), {value_of(found.second.mean)} for {other} "
            f"({value_of(found.second.p5)})."
        )


def figures_of(diff: RunDiff) -> list[Figure]:
    """The rows of the table of figures."""
    return [*_similarities(diff), *_changes(diff), *_recall_figures(diff), *_loss_figures(diff)]


def _similarities(diff: RunDiff) -> Iterator[Figure]:
    yield from (Figure(f"overlap@{each.cutoff}", each.overlap) for each in diff.cutoffs)
    yield Figure(f"RBO {diff.settings.persistence:g}", diff.rbo)


def _changes(diff: RunDiff) -> Iterator[Figure]:
    yield from (Figure(f"ranks changed@{each.cutoff}", each.moved, low_is_bad=False) for each in diff.cutoffs)
    for each in diff.cutoffs:
        if each.rank_change is not None:
            yield Figure(f"rank change@{each.cutoff}", each.rank_change, low_is_bad=False)


def _recall_figures(diff: RunDiff) -> Iterator[Figure]:
    one, other = names_of(diff)
    for found in diff.recalls:
        yield Figure(f"recall@{found.cutoff}, {one}", found.first)
        yield Figure(f"recall@{found.cutoff}, {other}", found.second)
        yield Figure(f"recall@{found.cutoff} lost", found.lost, low_is_bad=False)


def _loss_figures(diff: RunDiff) -> Iterator[Figure]:
    for loss in diff.losses:
        good = higher_is_better(loss.measure)
        yield Figure(f"{show_id(loss.measure)} {'lost' if good else 'lower by'}", loss.lost, low_is_bad=not good)


def worth_figures(diff: RunDiff) -> bool:
    """Whether the figures say more than the answer."""
    return bool(changed_queries(diff) or diff.recalls or diff.losses)


def query_head(diff: RunDiff) -> list[str]:
    """The columns of the table of queries, before the documents."""
    lost = [
        f"{show_id(loss.measure)} {'lost' if higher_is_better(loss.measure) else 'lower by'}" for loss in diff.losses
    ]
    return [
        "query",
        *lost,
        *(f"overlap@{each.cutoff}" for each in diff.cutoffs),
        "RBO",
        f"rank change@{diff.cutoffs[0].cutoff}",
    ]


def query_cells(query: QueryDiff) -> list[str]:
    """The cells of a query, before the documents."""
    values = (*query.lost, *query.overlap, query.rbo, query.rank_change[0])
    return [show_id(query.query), *map(value_of, values)]


def place_of(place: Place, depth: int) -> str:
    """A document's ranks in both runs; documents below the depth were not looked at.

    >>> place_of(Place("d", None, 3, None), 100)
    '>100 → 3'
    """
    before, after = (f">{depth}" if rank is None else str(rank) for rank in (place.before, place.after))
    return f"{before} → {after}"


def grade_of(place: Place, diff: RunDiff) -> str:
    """The grade of a document; nothing without judgments."""
    if diff.unjudged is None:
        return ""
    return "unjudged" if place.rel is None else f"grade {place.rel:g}"


def counts_of(diff: RunDiff) -> Iterator[str]:
    """How many queries and documents changed, for each cutoff."""
    total = len(diff.queries)
    for found in diff.cutoffs if changed_queries(diff) else ():
        others = total - found.unchanged - found.reordered
        yield (
            f"{sentence(first_documents(found.cutoff))}: {found.unchanged:,} of {number_of(total, 'query')} unchanged, "
            f"{plural(_REORDERED, found.reordered)}, and documents entered or left in {others:,} "
            f"({found.entered:,} entered, {found.left:,} left)."
        )


def not_shown(diff: RunDiff, shown: int) -> str:
    """A note if some changed queries are not shown."""
    total = len(changed_queries(diff))
    return (
        f"Showing {shown:,} of {total:,} changed queries; --worst shows more, --format json has all."
        if total > shown
        else ""
    )


def documents_not_shown(diff: RunDiff, shown: int) -> str:
    """A note on a page if the documents of some changed queries are not shown."""
    total = len(changed_queries(diff))
    return (
        f"Listing the documents of {shown:,} of {total:,} changed queries; --worst lists more, --format json has all. "
        "Open a query in the table above to see its documents."
        if total > shown
        else ""
    )


def notes_of(diff: RunDiff) -> Iterator[str]:
    """What the numbers mean, in a few lines."""
    one, other = names_of(diff)
    queries = f"{len(diff.queries):,} queries in both runs" if len(diff.queries) != 1 else "1 query in both runs"
    yield f"Ranks are {one} → {other}, over {queries}; >{diff.settings.depth} means below that rank, or not retrieved."
    if not worth_figures(diff):
        return
    yield (
        "Worst 5%: what 95% of the queries stay clear of, the 5th percentile of overlap, RBO and recall and the 95th of the "
        f"others. Intervals: {_interval_words(diff)}."
    )


def _interval_words(diff: RunDiff) -> str:
    if diff.settings.interval == "t":
        return "t"
    return f"{diff.settings.interval} bootstrap, {diff.settings.draws:,} draws, seed {diff.settings.seed}"


def title_of(diff: RunDiff) -> str:
    """The runs, for a heading."""
    return f"{names_of(diff)[0]} → {names_of(diff)[1]}"
