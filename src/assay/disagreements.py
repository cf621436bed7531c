"""Why two papers disagree: one measure under every named convention, with the reasons for each difference.

Our conventions are changed into another tool's one step at a time. Each step that changes the value on these files is a
reason, with its effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import MeasureError, QuerySetError, RulesError, some_of
from assay.evaluation import Unmatched, combined, ranking_of, refuse_unmatched, rounded, values_under
from assay.formats import as_qrels, as_run
from assay.formats.reading import QrelsLike, RunLike
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments
from assay.marking import counted, judge
from assay.measures import Measure, Request, parse_measures
from assay.measures.conventions import CONVENTIONS, Convention
from assay.measures.edges import Given, finished
from assay.rules import Duplicates, Judges, Rules, Ties
from assay.tables import Floats, Qrels, Run
from assay.topics import JudgedTopics, TopicJudgments, by_topics, index_topics
from assay.words import plural

STEPS = ("order", "scores", "ties", "self_match", "queries", "undefined")  # rules, in the order of the steps


class Reason(Struct, frozen=True):
    """One thing that a tool does differently, and how much it changes the value."""

    text: str
    effect: float


class ConventionRow(Struct, frozen=True):
    """What one tool would report for one measure."""

    convention: str
    measure: str
    value: float | None  # None: the tool reports nothing
    difference: float | None  # from ours
    reasons: tuple[Reason, ...]
    note: str = ""  # why the tool reports nothing

    @property
    def lacking(self) -> bool:
        """Whether the tool has no such measure at all, which needs no explanation."""
        return self.note.endswith("has no such measure")


class _State(Struct, frozen=True):
    """Conventions after some of the steps from ours to another tool's."""

    measure: Measure
    rules: Rules
    whole_grades: bool = False
    finish: str = ""
    reported: Callable[[Floats], Floats] | None = None  # how the tool rounds the values of queries
    decimals: int | None = None


class _Result(Struct, frozen=True, eq=False):
    queries: tuple[str, ...]
    values: Floats
    value: float


class _Files:
    """The qrels and the run, evaluated under any state; results are cached."""

    def __init__(self, qrels: Qrels, run: Run, ours: Rules) -> None:
        self.run = run
        self.ours = ours
        self._qrels = qrels
        self._indexed: dict[tuple[bool, bool], Judgments | TopicJudgments] = {}
        self._results: dict[_State, _Result] = {}
        self._whole: dict[tuple[Rules, bool, bool], JudgedRanking] = {}
        self._rankings: dict[tuple[Rules, bool, str], JudgedRanking | JudgedTopics] = {}

    def result(self, state: _State) -> _Result:
        if state not in self._results:
            judged = self.judged(state)
            values = values_under(state.measure, judged, state.rules)
            if state.finish:
                values = finished(
                    state.finish, Given(state.measure, judged, self._judgments_of(state), self.run), values
                )
            values = values if state.reported is None else state.reported(values)
            value = rounded(combined(state.measure, values), state.decimals)
            self._results[state] = _Result(ranking_of(judged).queries, values, value)
        return self._results[state]

    def judged(self, state: _State) -> JudgedRanking | JudgedTopics:
        """The ranking under a state, formed once for all measures that need the same."""
        needs = state.measure.definition.needs
        key = (state.rules, state.whole_grades, needs)
        if key not in self._rankings:
            ranking = self._ranking(state, strays=needs == "strays")
            topics = self._indexed[state.whole_grades, needs == "topics"]
            self._rankings[key] = by_topics(topics, ranking) if isinstance(topics, TopicJudgments) else ranking
        return self._rankings[key]

    def _ranking(self, state: _State, *, strays: bool) -> JudgedRanking:
        """The ranking under a state. Which queries count changes no rank, nor does whether ties are refused."""
        ties: Ties = "doc-desc" if state.rules.ties == "error" else state.rules.ties
        judgments, whole = self._judgments_of(state), replace(state.rules, queries="judged", ties=ties)
        key = (whole, state.whole_grades, strays)
        if key not in self._whole:
            self._whole[key] = judge(judgments, self.run, whole, strays=strays)
        return counted(self._whole[key], judgments, self.run.name, state.rules)

    def grades(self, measure: Measure) -> Floats:
        """The grades of the judgments, before a tool truncates them."""
        return self._judgments_of(_State(measure, self.ours)).rel

    def _judgments_of(self, state: _State) -> Judgments:
        """The judgments under a state, indexed once."""
        key = (state.whole_grades, state.measure.definition.needs == "topics")
        if key not in self._indexed:
            index = index_topics if key[1] else index_judgments
            self._indexed[key] = index(self._qrels, self.ours.judges, whole_grades=state.whole_grades)
        found = self._indexed[key]
        return found.judgments if isinstance(found, TopicJudgments) else found


def compare_conventions(
    qrels: QrelsLike,
    run: RunLike,
    measures: Iterable[str | Measure],
    *,
    duplicates: Duplicates = "error",
    judges: Judges = "error",
    unmatched: Unmatched = "error",
) -> list[ConventionRow]:
    """One row per measure and named convention.

    `duplicates` and `judges` are our rules for documents that are retrieved twice or judged several times. A run without
    any document of the qrels is an error, unless `unmatched` is "zero".
    """
    judgments, table = as_qrels(qrels), as_run(run)
    files = _Files(judgments, table, Rules(duplicates=duplicates, judges=judges))
    requests = parse_measures(measures)
    rows = [_row(files, request, convention) for request in requests for convention in CONVENTIONS.values()]
    refuse_unmatched(judgments, table, unmatched)
    return rows


def _row(files: _Files, request: Request, convention: Convention) -> ConventionRow:
    ours = _State(request.measure, files.ours)
    start = files.result(ours).value
    note = convention.refusal(request.measure, request.label) or convention.refusal_of_grades(
        files.grades(request.measure)
    )
    if note:
        return ConventionRow(convention.name, request.label, None, None, (), f"reports nothing: {note}")
    reasons: list[Reason] = []
    state = ours
    try:
        *_, (tools, _) = [(ours, ""), *_steps(ours, convention)]
        if problem := convention.problem(request.measure, ranking_of(files.judged(tools)), tools.rules):
            return ConventionRow(convention.name, request.label, None, None, (), f"gives no number: {problem}")
        for step, words in _steps(ours, convention):
            before, after = files.result(state), files.result(step)
            text = words(before, after) if callable(words) else words
            if after.value != before.value and not (math.isnan(after.value) and math.isnan(before.value)):
                reasons.append(Reason(text, after.value - before.value))
            state = step
    except QuerySetError:
        answered = set(files.run.queries)
        missing = [query for query in files.result(ours).queries if query not in answered]
        who = f"{len(missing)} {plural('{query has|queries have}', len(missing))}"
        refused = f"refuses the run: {who} no results ({some_of(missing)})"
        return ConventionRow(convention.name, request.label, None, None, tuple(reasons), refused)
    except MeasureError as error:
        note = f"reports nothing: {str(error).removesuffix('.')}"
        return ConventionRow(convention.name, request.label, None, None, tuple(reasons), note)
    except RulesError:
        note = "reports nothing: the run has no rank column"
        return ConventionRow(convention.name, request.label, None, None, tuple(reasons), note)
    value = files.result(state).value
    return ConventionRow(convention.name, request.label, value, value - start, tuple(reasons))


def _steps(ours: _State, convention: Convention) -> Iterator[tuple[_State, Any]]:
    """The states between ours and the tool's, each with a description of what it changes."""
    case = convention.case_of(ours.measure)
    target = convention.rules_for(ours.measure, ours.rules)
    state = ours
    if convention.whole_grades:
        state = replace(state, whole_grades=True)
        yield state, lambda before, after: f"grades are truncated to whole numbers: {_changed(before, after)}"
    for name in STEPS:
        if getattr(target, name) != getattr(state.rules, name):
            state = replace(state, rules=replace(state.rules, **{name: getattr(target, name)}))
            yield state, _WORDS[name, getattr(target, name)]
    adapted = convention.adapt(ours.measure)
    if adapted != state.measure or case.finish:
        state = replace(state, measure=adapted, finish=case.finish)
        yield state, case.why
    if convention.query_decimals is not None:
        state = replace(state, reported=convention.reported)
        yield state, f"the values of queries are rounded to {convention.query_decimals} decimals"
    decimals = convention.mean_decimals(ours.measure)
    if decimals is not None:
        state = replace(state, decimals=decimals)
        yield state, f"means are rounded to {decimals} decimals"


def _left_out(before: _Result, after: _Result) -> str:
    left = set(after.queries)
    gone = [query for query in before.queries if query not in left]
    words = plural("{query|queries} without results {is|are} left out", len(gone))
    return f"{len(gone)} {words}: the mean is over {len(after.queries)}, not {len(before.queries)}"


def _without_relevant(before: _Result, after: _Result) -> str:
    gone = int(np.sum(np.isnan(after.values) & ~np.isnan(before.values)))
    words = plural("{query|queries} without relevant documents {is|are} left out", gone)
    total = int(np.sum(~np.isnan(before.values)))
    return f"{gone} {words}: the mean is over {total - gone}, not {total}"


_WORDS: dict[tuple[str, str], Any] = {
    ("order", "rank"): lambda b, a: f"documents are ranked by the rank column, not by score: {_changed(b, a)}",
    ("scores", "float32"): lambda b, a: f"scores are 32-bit floats, which creates false ties: {_changed(b, a)}",
    ("scores", "float32-positive"): lambda b, a: (
        f"documents with a score of 0 or less count as not relevant, and scores are 32-bit floats: {_changed(b, a)}"
    ),
    ("ties", "doc-asc"): lambda b, a: f"ties are broken by document id, ascending: {_changed(b, a)}",
    ("ties", "input"): lambda b, a: f"ties are broken by input order: {_changed(b, a)}",
    ("ties", "ranx"): lambda b, a: (
        f"ties are in the order of ranx's sort (input order up to 15 documents): {_changed(b, a)}"
    ),
    ("ties", "expected"): lambda b, a: f"values are averaged over all orders of ties: {_changed(b, a)}",
    ("ties", "error"): "",  # changes no value: ties that would are refused
    ("self_match", "drop"): lambda b, a: f"documents whose id is the query id are dropped: {_changed(b, a)}",
    ("queries", "both"): _left_out,
    ("undefined", "nan"): _without_relevant,
    ("queries", "strict"): "",  # changes no value: the run is either refused or not
}


def _changed(before: _Result, after: _Result) -> str:
    """How many queries have a different value."""
    count = int(np.sum((before.values != after.values) & ~(np.isnan(before.values) & np.isnan(after.values))))
    return f"{count} {plural('{query changes|queries change}', count)}"
