"""What other tools do at the edges, where neither a rule nor a parameter of ours says it.

Each function takes the values of our measure and gives those of the tool, or says why the tool has none. A convention
names the function for a measure (`Departure.finish`); the tests that compare with the tools are in
tests/golden/test_same_as_tools.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from assay.arrays import changes
from assay.errors import MeasureError, show_id, some_of
from assay.judged import JudgedRanking
from assay.judgments import Judgments
from assay.marking import OpenedRun
from assay.measures.core import Measure
from assay.measures.families.binary import ROUNDINGS
from assay.tables import Booleans, Floats, Integers
from assay.words import number_of, plural

if TYPE_CHECKING:
    from assay.topics import JudgedTopics

GDEVAL_TOP_GRADE = 4
GDEVAL_DECIMALS = 5


class Given(Struct, frozen=True, eq=False):
    """A measure with its rankings, and what they were made from."""

    measure: Measure
    judged: JudgedRanking | JudgedTopics
    judgments: Judgments
    run: OpenedRun

    @property
    def ranking(self) -> JudgedRanking:
        """The rankings, whether judged by subtopic or not."""
        return self.judged if isinstance(self.judged, JudgedRanking) else self.judged.ranking


def _no_number(tool: str, given: Given, queries: Booleans, why: str) -> MeasureError:
    """The error for queries where a tool divides by 0; `why` says it of one query and of several."""
    names = [given.judged.queries[place] for place in np.flatnonzero(queries).tolist()]
    return MeasureError(
        f"{tool} gives no number for {given.measure.name}: {len(names)} of {number_of(len(queries), 'query')} "
        f"{plural(why, len(names))} ({some_of(names)}), and it divides by 0. Use another measure or convention."
    )


def only_answered(given: Given, values: Floats) -> Floats:
    """ir_measures counts 0 for a query that the run lacks."""
    return np.where(given.ranking.retrieved > 0, values, 0.0)


def where_found(given: Given, values: Floats) -> Floats:
    """The Accuracy of ir_measures: no value for a query without a relevant document found, an error if all are."""
    ranking, cutoff = given.ranking, given.measure.param("cutoff")
    shown = ranking.retrieved if cutoff is None else np.minimum(ranking.retrieved, cutoff)
    found = ranking.num_found(given.measure.param("rel"), cutoff)
    only_relevant = (found > 0) & (found == shown)
    if only_relevant.any():
        raise _no_number("ir_measures", given, only_relevant, "{has|have} only relevant documents")
    return np.where(found > 0, values, np.nan)


def by_gdeval(given: Given, values: Floats) -> Floats:
    """gdeval reads query ids that are numbers and grades up to 4, and prints five decimals."""
    ranking = given.ranking
    queries = {*ranking.queries, *ranking.missing, *ranking.unjudged}
    bad = next((query for query in sorted(queries) if not (query.isascii() and query.isdigit())), None)
    if bad is not None:
        raise MeasureError(
            f"ir_measures gives no number for {given.measure.name}: it uses gdeval, which takes only query ids that are "
            f"numbers, not {show_id(bad)!r}. Use another measure or convention."
        )
    first: dict[str, str] = {}
    for query in sorted(queries):
        if (same := first.setdefault(query.lstrip("0"), query)) != query:
            raise MeasureError(
                f"ir_measures gives no number for {given.measure.name}: it uses gdeval, for which the query ids {same!r} and "
                f"{query!r} are the same number. Use another measure or convention."
            )
    if ranking.top_grade > GDEVAL_TOP_GRADE:
        raise MeasureError(
            f"ir_measures gives no number for {given.measure.name}: it uses gdeval, which takes grades up to "
            f"{GDEVAL_TOP_GRADE}, not {ranking.top_grade:g}. Use another measure or convention."
        )
    return np.array([round(value, GDEVAL_DECIMALS) for value in values.tolist()])


def in_one_piece(given: Given, values: Floats) -> Floats:
    """For cwl_eval and ndeval, ir_measures takes each part of a query's rows for a ranking of its own."""
    table = given.run.table
    parts = np.bincount(table.query[changes(table.query)], minlength=len(table.queries))
    judged = set(given.ranking.queries)
    split = [table.queries[number] for number in np.flatnonzero(parts > 1).tolist() if table.queries[number] in judged]
    if split:
        raise MeasureError(
            f"assay does not follow ir_measures for {given.measure.name}: the rows of {number_of(len(split), 'query')} are "
            f"not together in the run ({some_of(split)}), and ir_measures takes each part for a ranking of its own. Sort the "
            "run by query."
        )
    return values


def by_ndeval(given: Given, values: Floats) -> Floats:
    """ndeval divides nNRBP by that of the best ranking, even if that is 0."""
    in_one_piece(given, values)
    topics: JudgedTopics = given.judged  # type: ignore[assignment]
    nothing = (topics.ranking.retrieved > 0) & (topics.num_subtopics(given.measure.param("rel")) == 0)
    if nothing.any():
        raise _no_number("ir_measures", given, nothing, "{has|have} no relevant document")
    return values


def by_trec_eval(given: Given, values: Floats) -> Floats:
    """With judged_only a ranking may become empty; the precision at a recall that needs no document is then 0 / 0."""
    measure, ranking = given.measure, given.ranking
    if not measure.param("judged_only"):
        return values
    lowest = min(measure.param("recalls") or (measure.param("recall"),))
    needed = ROUNDINGS[measure.param("rounding")](lowest, ranking.num_rel(measure.param("rel")))
    empty = (ranking.retrieved > 0) & (ranking.only_judged().retrieved == 0) & (needed == 0)
    if empty.any():
        raise _no_number("trec_eval", given, empty, "{has|have} no judged document in the run")
    return values


def by_cwl_eval(given: Given, values: Floats) -> Floats:
    """cwl_eval's BPM goes on if a rounding error keeps the gain just below T."""
    from assay.measures.families.utility import gains_met, scaled_gain, until_satisfied

    in_one_piece(given, values)
    measure, ranking = given.measure, given.ranking
    gain = scaled_gain(ranking, measure.param("min_rel"), measure.param("max_rel"))
    return until_satisfied(gains_met(ranking, gain, measure.param("cutoff")), measure.param("T"))


def from_score_zero(given: Given, values: Floats) -> Floats:
    """The Compat of ir_measures: its ideal ranking gives documents that were not retrieved a score of 0.

    So they come after documents of the same grade with positive scores, and before those with negative ones. Documents of
    the same grade and score are in the order of the qrels.
    """
    from assay.measures.families.overlap import compatibility

    measure, ranking, judgments = given.measure, given.ranking, given.judgments
    above, not_below = _rows_by_sign(given)
    query = judgments.pool.query
    order = np.zeros(len(judgments.queries))
    order[[judgments.place[name] for name in ranking.queries]] = above + 1
    order = order[query]  # of judged documents; ties share their first rank
    negative = ranking.hit_tie_first > not_below[ranking.hit_query]
    order[ranking.hit_judgment] = ranking.hit_tie_first + 0.5 * negative

    ideal = np.flatnonzero(judgments.rel > 0)
    ideal = ideal[np.lexsort((order[ideal], -judgments.rel[ideal], query[ideal]))]
    place = np.zeros(len(judgments.rel), np.int64)
    place[ideal] = np.arange(len(ideal)) - np.searchsorted(query[ideal], query[ideal]) + 1
    found = np.flatnonzero(ranking.hit_rel > 0)
    return compatibility(
        ranking, found, place[ranking.hit_judgment[found]], measure.param("p"), measure.param("normalize")
    )


def _rows_by_sign(given: Given) -> tuple[Integers, Integers]:
    """For each query, the number of documents with a score above 0, and of at least 0."""
    table, queries = given.run.table, given.ranking.queries
    place = {query: number for number, query in enumerate(queries)}
    row_query = np.array([place.get(query, -1) for query in table.queries], np.int64)[table.query]
    above, not_below = (
        np.bincount(row_query[(row_query >= 0) & chosen], minlength=len(queries))
        for chosen in (table.score > 0, table.score >= 0)
    )
    return above, not_below


FINISHES: dict[str, Callable[[Given, Floats], Floats]] = {
    "only answered": only_answered,
    "where found": where_found,
    "gdeval": by_gdeval,
    "in one piece": in_one_piece,
    "ndeval": by_ndeval,
    "trec_eval": by_trec_eval,
    "cwl_eval": by_cwl_eval,
    "score 0": from_score_zero,
}


def finished(name: str, given: Given, values: Floats) -> Floats:
    """The values as the tool gives them."""
    return FINISHES[name](given, values)
