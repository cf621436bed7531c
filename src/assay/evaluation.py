"""Evaluate a run: qrels, run, measures and rules give an `Evaluation`. Does not print or compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay import native
from assay.errors import (
    AssayError,
    InputError,
    LookupNameError,
    MeasureError,
    MissingExtraError,
    RulesError,
    did_you_mean,
    show_id,
    some_of,
)
from assay.formats import as_qrels
from assay.formats.reading import QrelsLike, RunLike
from assay.formats.readings import AUTO, ColumnNames, Reading, as_queries
from assay.formats.unread import open_run, read_judgments
from assay.judged import JudgedRanking
from assay.judges import Agreement
from assay.judgments import Judgments, index_judgments
from assay.marking import OpenedRun, judge
from assay.measures import Measure, Request, parse_measure, parse_measures
from assay.measures.arithmetic import log, within
from assay.measures.conventions import Convention, convention
from assay.native.sums import exact_sum
from assay.rules import RULE_CHOICES, Rules
from assay.showing import Charted, Shown
from assay.tables import Floats, Integers, Qrels, Run, as_bytes, in_byte_order
from assay.weighting.weights import QueryWeights
from assay.words import number_of, plural

if TYPE_CHECKING:  # rarely needed: imported on demand
    from assay.asking import NamedRuns, QueriesLike, Retriever, Runs
    from assay.inputs.query_weights import QueryWeightsLike
    from assay.topics import JudgedTopics, TopicJudgments
    from assay.weighting.estimating import WeightedMean

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR@10", "R@100")
DEFAULT_CUTOFF = 10  # for coverage, if no measure has a cutoff
MOST_THREADS = 64
MOST_SHOWN = 6  # runs or measures in the short form of a value
Unmatched = Literal["error", "zero"]  # what to do with a run that has no document in common with the judgments
ABOVE_ZERO = math.nextafter(0, 1)
GEOMETRIC_FLOOR = 0.00001  # as in trec_eval: a single 0 would make the mean 0


class Coverage(Struct, frozen=True):
    """How well the judgments cover the run, and how many ties there are."""

    judged: int  # judged queries
    answered: int  # judged queries for which the run has documents
    missing: tuple[str, ...]  # judged queries missing from the run
    unjudged: tuple[str, ...]  # queries of the run without judgments: ignored
    without_relevant: int  # judged queries without relevant documents
    evaluated: int  # queries included in the means
    judged_share: dict[int, float]  # cutoff -> share of the retrieved documents that are judged
    shown: dict[int, int]  # cutoff -> number of retrieved documents
    straddling: dict[int, int]  # cutoff -> queries where a tie with a judged document straddles it
    tied: int  # queries where a judged document is tied with another document
    longest: int  # documents of the query that has most
    only_relevant: bool = False  # the qrels list relevant documents only, so the shares say nothing about the run
    agreement: Agreement | None = None  # of the judges; None if no document has several judgments


class Scores(Mapping[str, float]):
    """Values by measure. Keys are the names as the user wrote them; lookups accept any name of the measure.

    >>> Scores([Request("MRR@10", parse_measure("RR@10"))], [0.5])["recip_rank"]
    Traceback (most recent call last):
    ...
    assay.errors.LookupNameError: no measure 'recip_rank'; the result has MRR@10.
    >>> Scores([Request("MRR@10", parse_measure("RR@10"))], [0.5])["RR@10"]
    0.5
    """

    def __init__(self, requests: Sequence[Request], values: Iterable[float]) -> None:
        self._values = {request.label: float(value) for request, value in zip(requests, values, strict=True)}
        self._labels = {request.measure: request.label for request in requests}

    def __getitem__(self, name: str | Measure) -> float:
        if isinstance(name, str) and name in self._values:
            return self._values[name]
        try:
            measure = parse_measure(name) if isinstance(name, str) else name
        except MeasureError:
            raise LookupNameError("measure", name, self._values) from None
        if measure not in self._labels:
            raise LookupNameError("measure", name, self._values)
        return self._values[self._labels[measure]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Evaluation(Charted, Struct, frozen=True, eq=False):
    """The values of one run: a row per query, a column per measure."""

    run: str
    queries: tuple[str, ...]
    requests: tuple[Request, ...]
    values: Floats  # (queries, measures)
    rules: Rules
    coverage: Coverage
    tag: str = ""
    sources: tuple[str, str] = ("qrels", "run")
    top_grade: float = 0.0  # highest grade of the whole qrels; some measures depend on it
    like: str = "assay"  # name of the conventions used
    decimals: tuple[int | None, ...] = ()  # the conventions round the mean of each measure to this many decimals
    tie_bounds: dict[str, tuple[float, float]] | None = None  # lowest and highest mean, if requested and ties matter
    doubt: str = ""  # why some measures may not mean what they say
    query_weights: QueryWeights | None = None  # for `weighted`; all queries have one

    def __repr__(self) -> str:
        shown = ", ".join(f"{show_id(label)}={value:.4f}" for label, value in list(self.mean().items())[:MOST_SHOWN])
        return f"<Evaluation of {show_id(self.run)!r} over {number_of(len(self.queries), 'query')}: {shown}>"

    def __getitem__(self, measure: str | Measure) -> float:
        """The mean by a measure, under any of its names.

        >>> evaluate({"q1": {"a"}}, {"q1": ["b", "a"]}, ["RR@10"])["MRR@10"]
        0.5
        """
        if not isinstance(measure, (str, Measure)):
            raise TypeError(f"an evaluation is looked up by the name of a measure, not by {measure!r}.")
        return self.mean()[measure]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the columns."""
        return tuple(request.measure for request in self.requests)

    def mean(self) -> Scores:
        """One value per measure: the mean over queries, the sum of counts, the geometric mean of GMAP and GMBpref.

        Sums are exactly rounded, so the order of queries, partitioning and threads do not change a bit.
        """
        pairs = zip(self.requests, self.values.T, strict=True)
        means = [combined(request.measure, column) for request, column in pairs]
        if self.decimals:
            means = [rounded(mean, decimals) for mean, decimals in zip(means, self.decimals, strict=True)]
        return Scores(self.requests, means)

    def weighted(self, confidence: float = 0.95) -> dict[str, WeightedMean]:
        """The weighted mean of each measure, with its interval; sums and geometric means over queries have none.

        The weights are those given as `query_weights=`; see docs/traffic.md.
        """
        if self.query_weights is None:
            raise AssayError("this evaluation has no weights; give them with `query_weights=`.")
        from assay.weighting.estimating import weighted_mean

        found = {}
        for request, column in zip(self.requests, self.values.T, strict=True):
            definition = request.measure.definition
            if definition.total == "mean":
                mean = weighted_mean(self.query_weights, self.queries, column, confidence)
                found[request.label] = replace(mean, interval=within(mean.interval, definition.bounds))
        return found

    def per_query(self) -> dict[str, Scores]:
        """The values of each query."""
        return {
            query: Scores(self.requests, row) for query, row in zip(self.queries, self.values.tolist(), strict=True)
        }

    def undefined(self) -> Scores:
        """The number of queries that each measure left out of its mean because it is undefined for them."""
        return Scores(self.requests, np.isnan(self.values).sum(axis=0))

    def to_arrow(self) -> Any:
        """An Arrow table with the query and one column per measure."""
        try:
            import pyarrow
        except ImportError:
            raise MissingExtraError("creating Arrow tables", "frames") from None
        columns = {request.label: column for request, column in zip(self.requests, self.values.T, strict=True)}
        return pyarrow.table({"query": list(self.queries), **columns})


class Evaluations(Shown, dict[str, Evaluation]):
    """The evaluations of several runs by the same measures: a dict by the names of the runs, in order."""

    def __missing__(self, run: str) -> Evaluation:
        raise LookupNameError("run", run, self)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{show_id(run, 40)!r}: {_first_mean(found)}" for run, found in list(self.items())[:MOST_SHOWN]
        )
        more = f", and {len(self) - MOST_SHOWN:,} more" if len(self) > MOST_SHOWN else ""
        return f"<Evaluations of {number_of(len(self), 'run')}: {shown}{more}>"


def _first_mean(evaluation: Evaluation) -> str:
    label, mean = first_of(evaluation)
    return f"{show_id(label, 40)}={mean:.4f}"


def combined(measure: Measure, values: Floats) -> float:
    """The values of all queries combined into one: sum, mean or geometric mean, depending on the measure."""
    undefined = np.isnan(values)
    defined = values[~undefined] if undefined.any() else values
    total = measure.definition.total
    if total == "sum":
        return exact_sum(defined)
    if not len(defined):
        return math.nan
    if total == "geometric":
        return math.exp(exact_sum(log(np.maximum(defined, GEOMETRIC_FLOOR))) / len(defined))
    return exact_sum(defined) / len(defined)


def rounded(mean: float, decimals: int | None) -> float:
    """A mean as a tool reports it."""
    return mean if decimals is None else round(mean, decimals)


def given_rules(rules: Rules | Mapping[str, Any]) -> dict[str, Any]:
    """The rules set explicitly: all keys of a dict; for `Rules`, those that differ from the default."""
    if isinstance(rules, Rules):
        return rules.changed()
    if not isinstance(rules, Mapping):
        raise RulesError(f"rules must be Rules(ties=...) or a dict, not {type(rules).__name__}.")
    unknown = [name for name in rules if name not in (*RULE_CHOICES, "depth")]
    if unknown:
        hint = did_you_mean(str(unknown[0]), RULE_CHOICES) or f"; the rules are {', '.join(RULE_CHOICES)} and depth."
        raise RulesError(f"no rule called {unknown[0]!r}{hint}")
    return dict(rules)


def checked_threads(threads: int | None) -> int:
    """The number of threads to use; by default the number of cores, up to four."""
    if threads is None:
        return native.usual_threads()
    if type(threads) is not int or threads < 1:
        raise RulesError(f"threads cannot be {threads!r}; it must be a whole number of at least 1.")
    return min(threads, MOST_THREADS)


def checked_unmatched(unmatched: str) -> Unmatched:
    """What to do with a run that has no document in common with the judgments."""
    if unmatched not in get_args(Unmatched):
        raise RulesError(f"unmatched cannot be {unmatched!r}; it takes {', '.join(get_args(Unmatched))}.")
    return cast("Unmatched", unmatched)


class Form(Struct, frozen=True):
    """How the run is ranked, shared by all measures that need the same ranking."""

    rules: Rules
    topics: bool  # judged by subtopic
    strays: bool  # with documents that are judged only for other queries


class Plan(Struct, frozen=True, eq=False):
    """How a requested measure is computed: the measure, its rules and the index of its form."""

    measure: Measure
    rules: Rules
    form: int
    finish: str  # what the conventions do with the values; see measures/edges.py


class Ranked(Struct, frozen=True, eq=False):
    """A run ranked in every form that the measures need."""

    run: OpenedRun
    rankings: tuple[JudgedRanking | JudgedTopics, ...]  # one per form


class Evaluator:
    """Judgments, measures and rules, prepared once for many runs.

    `like` names the tool whose conventions to follow. Rules override it: those that differ from the default or, given as a
    dict, all of them. `reading` says how to read the qrels; its columns and queries are also for runs. `query_weights` are
    for weighted means.
    """

    def __init__(
        self,
        qrels: QrelsLike,
        measures: Iterable[str | Measure] = DEFAULT_MEASURES,
        rules: Rules | Mapping[str, Any] = Rules(),
        *,
        like: str = "assay",
        reading: Reading = Reading(),
        threads: int | None = None,
        unmatched: Unmatched = "error",
        query_weights: QueryWeightsLike | None = None,
    ) -> None:
        given = given_rules(rules)
        self.given = given  # the rules set explicitly
        self.like = convention(like)
        self.rules = replace(Rules(), **{**self.like.rules, **given})
        self.requests = tuple(parse_measures(measures))
        self.plans, self.forms = self._planned(given)
        self.cutoffs = self._cutoffs()
        self.threads = checked_threads(threads)
        self.unmatched = checked_unmatched(unmatched)
        reading = reading.shared()
        self._run_reading = reading.in_format(AUTO) if reading.columns or reading.queries else Reading()
        self._read_qrels(qrels, reading)
        self.query_weights = None if query_weights is None else self._weights(query_weights)

    def _weights(self, given: QueryWeightsLike) -> QueryWeights:
        """The weights, which every judged query must have."""
        from assay.inputs.query_weights import as_query_weights

        found = as_query_weights(given)
        found.refuse_lacking(self.judgments.queries)
        return found

    def _read_qrels(self, qrels: QrelsLike, reading: Reading) -> None:
        judges, whole_grades = self.rules.judges, self.like.whole_grades
        needs = {plan.measure.definition.needs for plan in self.plans}
        self.topics: TopicJudgments | None = None
        self.doubt = ""
        if "topics" not in needs:
            self.judgments = read_judgments(qrels, reading, judges=judges, whole_grades=whole_grades)
            self._check_grades(self.judgments.rel)
            return
        table = as_qrels(qrels, reading)
        self.topics = self._index_topics(table)
        self._check_grades(self.topics.judgments.rel)
        self.doubt = self._doubt(self.topics)
        # For other measures, a document judged for several subtopics has several judgments.
        only_topics = needs == {"topics"}
        plain = self.topics.judgments if only_topics else index_judgments(table, judges, whole_grades=whole_grades)
        self.judgments = plain

    def _check_grades(self, grades: Floats) -> None:
        if why := self.like.refusal_of_grades(grades):
            raise InputError(f"{self.like.name} does not take these judgments: {why}. Use another convention.")

    def _index_topics(self, qrels: Qrels) -> TopicJudgments:
        from assay.topics import index_topics

        return index_topics(qrels, self.rules.judges, whole_grades=self.like.whole_grades)

    def _doubt(self, topics: TopicJudgments) -> str:
        from assay.topics import doubt_about_subtopics

        found = doubt_about_subtopics(topics.matrix)
        measures = zip(self.requests, self.plans, strict=True)
        labels = [request.label for request, plan in measures if plan.measure.definition.needs == "topics"]
        needs = f"{some_of(labels)} {plural('{needs|need}', len(labels))} a row for each document and subtopic"
        return f"{found}; {needs}." if found else ""

    def _planned(self, given: Mapping[str, Any]) -> tuple[tuple[Plan, ...], tuple[Form, ...]]:
        """The plan for each measure; explicit rules override the conventions."""
        forms: dict[tuple[Rules, bool], int] = {}
        plans = []
        for request in self.requests:
            measure = self.like.adapt(request.measure, request.label)
            rules = replace(self.like.rules_for(request.measure), **given)
            kind = (rules, measure.definition.needs == "topics")
            form = forms.setdefault(kind, len(forms))
            plans.append(Plan(measure, rules, form, self.like.case_of(request.measure).finish))
        with_strays = {plan.form for plan in plans if plan.measure.definition.needs == "strays"}
        return tuple(plans), tuple(Form(*kind, number in with_strays) for kind, number in forms.items())

    def _cutoffs(self) -> tuple[int, ...]:
        cutoffs = {request.measure.param("cutoff") for request in self.requests} - {None}
        return tuple(sorted(cutoffs)) or (DEFAULT_CUTOFF,)

    def rank(self, run: RunLike | Retriever, *, name: str | None = None, queries: QueriesLike | None = None) -> Ranked:
        """Read and rank a run, to evaluate it or to use the rankings in other ways."""
        opened = self._asked(run, name, queries) if callable(run) else open_run(run, self._run_reading, name=name)
        rankings = tuple(self._ranking(opened, form) for form in self.forms)
        if opened is not run:  # whoever opens several runs knows when all are read
            self._run_reading.refuse_unused()
        if not any(len(ranking_of(ranking).hit_rank) for ranking in rankings):
            self.refuse_unmatched(opened)
        return Ranked(opened, rankings)

    def _asked(self, run: Retriever, name: str | None, queries: QueriesLike | None) -> OpenedRun:
        from assay.asking import open_any

        return open_any(run, self.judgments.queries, name=name, queries=queries)

    def refuse_unmatched(self, run: OpenedRun) -> None:
        """Raise an error if no document of the run occurs in the qrels, under any query; with unmatched="zero", never."""
        if self.unmatched == "zero":
            return
        from copy import copy

        from assay.unmatched import unmatched_documents

        anyway = copy(self)
        anyway.unmatched = "zero"
        error = unmatched_documents(self.judgments.doc_list, run.table, lambda table: first_of(anyway.evaluate(table)))
        if error is not None:
            raise error

    def evaluate(
        self,
        run: RunLike | Retriever | Ranked,
        *,
        name: str | None = None,
        queries: QueriesLike | None = None,
        tie_bounds: bool = False,
    ) -> Evaluation:
        """Evaluate one run; with `tie_bounds`, also compute the lowest and highest mean that ties allow.

        `queries` has the texts of the queries if the run is a function that searches.
        """
        ranked = run if isinstance(run, Ranked) else self.rank(run, name=name, queries=queries)
        rankings = ranked.rankings
        ranking = max(map(ranking_of, rankings), key=len)
        values = np.full((len(ranking), len(self.requests)), np.nan)
        for column, plan in enumerate(self.plans):
            judged = rankings[plan.form]
            found = values_like(self.like, self.requests[column], plan, judged)
            found = self._finished(plan, judged, found, ranked.run)
            values[places_of(ranking_of(judged).queries, ranking.queries), column] = found
        return Evaluation(
            run=ranked.run.name,
            queries=ranking.queries,
            requests=self.requests,
            values=values,
            rules=self.rules,
            like=self.like.name,
            decimals=tuple(self.like.mean_decimals(request.measure) for request in self.requests),
            tie_bounds=self._tie_bounds(ranked) if tie_bounds else None,
            coverage=coverage_of(self.judgments, ranking, self.cutoffs),
            tag=ranking.tag,
            sources=(self.judgments.source, ranked.run.source),
            top_grade=self.judgments.top_grade,
            doubt=self.doubt,
            query_weights=self.query_weights,
        )

    def _finished(self, plan: Plan, judged: JudgedRanking | JudgedTopics, values: Floats, run: OpenedRun) -> Floats:
        """The values as the tool whose conventions are followed gives them."""
        if not plan.finish:
            return values
        from assay.measures.edges import Given, finished

        return finished(plan.finish, Given(plan.measure, judged, self.judgments, run), values)

    def _tie_bounds(self, ranked: Ranked) -> dict[str, tuple[float, float]]:
        """The lowest and highest mean of each measure that ties can change."""
        from assay.measures.ties import bounds

        found: dict[str, tuple[float, float]] = {}
        for request, plan in zip(self.requests, self.plans, strict=True):
            judged = ranked.rankings[plan.form]
            ranking = ranking_of(judged)
            tied = (ranking.hit_tie_first < ranking.hit_tie_last).any()
            # With a depth, tied documents beyond it are no longer known.
            if tied and plan.rules.ties != "expected" and plan.rules.depth is None:
                low, high = (
                    combined(plan.measure, self._finished(plan, judged, values, ranked.run))
                    for values in bounds(plan.measure, judged)
                )
                found |= {request.label: (low, high)} if low < high else {}
        return found

    def _ranking(self, run: OpenedRun, form: Form) -> JudgedRanking | JudgedTopics:
        topics = self.topics if form.topics else None
        judgments = self.judgments if topics is None else topics.judgments
        ranking = judge(judgments, run, form.rules, strays=form.strays, threads=self.threads)
        if topics is None:
            return ranking
        from assay.topics import by_topics

        return by_topics(topics, ranking)

    def part(self, queries: Iterable[str]) -> Evaluator:
        """An evaluator for some of the judged queries; `top_grade` is still that of all judgments. See `concat`."""
        from copy import copy

        other = copy(self)
        other.unmatched = "zero"  # the documents may be judged for queries of other parts
        queries = list(queries)
        other.judgments = self.judgments.select(queries)
        other.topics = None if self.topics is None else self.topics.select(queries)
        return other


def evaluate(
    qrels: QrelsLike,
    run: RunLike | Retriever,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    name: str | None = None,
    grades: Mapping[str, float] | None = None,
    columns: ColumnNames | None = None,
    queries: QueriesLike | None = None,
    threads: int | None = None,
    unmatched: Unmatched = "error",
    query_weights: QueryWeightsLike | None = None,
) -> Evaluation:
    """Evaluate a run against judgments.

    Both may be paths or open files; dicts by query, {query: {document: value}} or {query: [document, ...]}, where the
    documents of a run are listed best first and those of qrels are all relevant, or are sets, or pairs of id and value, or
    dicts such as {"id": ..., "score": ...}; lists of records or of (query, document, value); pandas, polars or Arrow tables;
    `Qrels` and `Run`; objects of ir_measures and ranx. The run may also be a function that takes the text of a query and
    returns its documents in one of these ways: it is called once for each judged query, with the texts in `queries`, a
    dict {query: text} or a file. `queries` also gives ids to the queries of files that identify them by their position or
    their text.

    `grades` gives letters a value, such as {"E": 3, "S": 2, "C": 1, "I": 0}. `columns` names the columns of tables by role,
    such as {"query": "search_term", "run.doc": "sku"}; without "run." or "qrels." a name is for each table that has it.
    `like` names the tool whose conventions to follow. `threads` is the number of threads that read a file, by default the
    number of cores up to four; values do not depend on it. A run without any document of the qrels is an error, which says
    how the ids differ; `unmatched="zero"` scores it anyway. `query_weights`, a dict {query: weight}, a data frame or a file
    such as `assay queries sample` writes, is for the weighted means that `result.weighted()` gives.

    >>> result = evaluate({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, ["RR", "P@1"])
    >>> result.mean()
    {'RR': 0.5, 'P@1': 0.0}
    >>> evaluate({"q1": {"a"}}, lambda text: ["b", "a"], ["RR"], queries={"q1": "what is a?"}).mean()
    {'RR': 0.5}
    >>> runs = {"q1": ["b", "a"], "q2": ["a"]}
    >>> evaluate({"q1": {"a"}, "q2": {"a"}}, runs, ["RR"], query_weights={"q1": 3, "q2": 1}).weighted()["RR"].mean
    0.625
    """
    reading = _reading(grades, columns, queries, qrels, [("run", run)])
    evaluator = Evaluator(
        qrels,
        measures,
        rules,
        like=like,
        reading=reading,
        threads=threads,
        unmatched=unmatched,
        query_weights=query_weights,
    )
    return evaluator.evaluate(run, name=name, queries=queries)


def evaluate_runs(
    qrels: QrelsLike,
    runs: Runs,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    grades: Mapping[str, float] | None = None,
    columns: ColumnNames | None = None,
    queries: QueriesLike | None = None,
    threads: int | None = None,
    unmatched: Unmatched = "error",
    query_weights: QueryWeightsLike | None = None,
) -> Evaluations:
    """Evaluate several runs against the same judgments, which are read once; the evaluations are by name, in order.

    `runs` is a dict by name or a list; without a name, a run is called like its file, or "run 1", "run 2" and so on. Two
    runs with the same name are an error. Runs and options are those of `evaluate`.

    >>> found = evaluate_runs({"q1": ["a"]}, {"old": {"q1": ["b", "a"]}, "new": {"q1": ["a", "b"]}}, ["RR"])
    >>> {name: evaluation.mean()["RR"] for name, evaluation in found.items()}
    {'old': 0.5, 'new': 1.0}
    """
    from assay.asking import open_several, several_runs

    several = several_runs(runs)
    reading = _reading(grades, columns, queries, qrels, several).shared()
    evaluator = Evaluator(
        qrels,
        measures,
        rules,
        like=like,
        reading=reading,
        threads=threads,
        unmatched=unmatched,
        query_weights=query_weights,
    )
    opened = open_several(several, evaluator.judgments.queries, reading, queries=queries)
    found = Evaluations({run.name: evaluator.evaluate(run) for run in opened})
    reading.refuse_unused()
    return found


def _reading(
    grades: Mapping[str, float] | None,
    columns: ColumnNames | None,
    queries: QueriesLike | None,
    qrels: QrelsLike,
    runs: NamedRuns,
) -> Reading:
    """How to read the qrels and the runs."""
    if queries is None:
        return Reading(grades=grades or {}, columns=columns or {})
    from assay.asking import query_texts, refuse_useless_queries

    refuse_useless_queries(queries, qrels, runs)
    return Reading(grades=grades or {}, columns=columns or {}, queries=as_queries(query_texts(queries)))


def refuse_unmatched(qrels: Qrels, run: Run, unmatched: Unmatched) -> None:
    """Raise an error if no document of the run occurs in the qrels, whatever the measures and rules; never with "zero"."""
    rules = Rules(duplicates="first", judges="first")
    Evaluator(qrels, DEFAULT_MEASURES[:1], rules, unmatched=unmatched).refuse_unmatched(run)


def first_of(evaluation: Evaluation) -> tuple[str, float]:
    """The first measure of an evaluation, and its mean."""
    return next(iter(evaluation.mean().items()))


def ranking_of(judged: JudgedRanking | JudgedTopics) -> JudgedRanking:
    """The ranking, whether judged by subtopic or not."""
    return judged if isinstance(judged, JudgedRanking) else judged.ranking


def places_of(queries: tuple[str, ...], among: tuple[str, ...]) -> Integers | slice:
    """The indices of `queries` in `among`; both are in byte order."""
    if queries is among or queries == among:
        return slice(None)
    place = {query: index for index, query in enumerate(among)}
    return np.array([place[query] for query in queries], np.int64)


def values_under(measure: Measure, judged: JudgedRanking | JudgedTopics, rules: Rules) -> Floats:
    """One value per query; with undefined="nan", NaN for queries without relevant documents."""
    if rules.ties == "error":
        _refuse_ties(measure, judged)
    values = _expected_values(measure, judged) if rules.ties == "expected" else measure.values(judged)
    if rules.undefined == "nan" and measure.definition.rewards:
        values = np.where(has_relevant(ranking_of(judged), measure), values, np.nan)
    return values


def values_like(like: Convention, request: Request, plan: Plan, judged: JudgedRanking | JudgedTopics) -> Floats:
    """One value per query as a tool reports it; an error where it fails."""
    if problem := like.problem(request.measure, ranking_of(judged), plan.rules):
        advice = like.case_of(request.measure).advice
        raise MeasureError(f"{like.name} gives no number for {request.label}: {problem}. {advice}".rstrip())
    return like.reported(values_under(plan.measure, judged, plan.rules))


def _expected_values(measure: Measure, judged: JudgedRanking | JudgedTopics) -> Floats:
    from assay.measures.ties import expected_values

    return expected_values(measure, judged)


def _refuse_ties(measure: Measure, judged: JudgedRanking | JudgedTopics) -> None:
    from assay.measures.ties import undecided

    if queries := undecided(measure, judged):
        total = len(ranking_of(judged))
        where = f"{len(queries)} of {total} {plural('{query|queries}', total)} ({some_of(queries)})"
        raise MeasureError(
            f"the order of tied documents changes {measure} in {where}. Break the ties in the run, or choose an order, such "
            "as `Rules(ties='doc-desc')`."
        )


def has_relevant(judged: JudgedRanking, measure: Measure | None = None) -> Any:
    """Which queries have a relevant document."""
    return judged.num_rel(least_relevant(measure)) > 0


def least_relevant(measure: Measure | None = None) -> float:
    """The lowest grade of relevant documents: the measure's `rel`, else just above 0; 1 for binary gain."""
    rel = None if measure is None else 1 if measure.param("gain") == "binary" else measure.param("rel")
    return ABOVE_ZERO if rel is None else float(rel)


def coverage_of(judgments: Judgments, judged: JudgedRanking, cutoffs: tuple[int, ...]) -> Coverage:
    """How well the judgments cover the run."""
    shown = {cutoff: int(np.minimum(judged.retrieved, cutoff).sum()) for cutoff in cutoffs}
    found = {cutoff: judged.num_within(cutoff) for cutoff in cutoffs}
    tied = np.flatnonzero(judged.hit_tie_first < judged.hit_tie_last)
    return Coverage(
        judged=len(judgments.queries),
        answered=len(judgments.queries) - len(judged.missing),
        missing=judged.missing,
        unjudged=judged.unjudged,
        without_relevant=int(np.count_nonzero(~has_relevant(judged))),
        evaluated=len(judged),
        judged_share={cutoff: ratio_of(found[cutoff], shown[cutoff]) for cutoff in cutoffs},
        shown=shown,
        straddling={cutoff: _straddling(judged, tied, cutoff) for cutoff in cutoffs},
        tied=_queries_of(judged, tied),
        longest=int(judged.retrieved.max(initial=0)),
        only_relevant=bool(len(judgments.rel)) and bool((judgments.rel > 0).all()),
        agreement=judgments.agreement,
    )


def ratio_of(part: float, whole: float) -> float:
    """part / whole, or 0 if whole is 0."""
    return part / whole if whole else 0.0


def _straddling(judged: JudgedRanking, tied: Integers, cutoff: int) -> int:
    around = (judged.hit_tie_first[tied] <= cutoff) & (judged.hit_tie_last[tied] > cutoff)
    return _queries_of(judged, tied[around])


def _queries_of(judged: JudgedRanking, hits: Integers) -> int:
    query = judged.hit_query[hits]  # ascending
    return int(np.count_nonzero(query[1:] != query[:-1])) + (len(query) > 0)


def concat(parts: Sequence[Evaluation]) -> Evaluation:
    """Combine evaluations of parts of the queries; identical bit by bit to evaluating all queries at once.

    The parts must have the same run, measures and rules and share no query. `Evaluator.part` creates such parts.
    """
    if not parts:
        raise AssayError("no evaluations to combine.")
    first = parts[0]
    if any((part.requests, part.rules) != (first.requests, first.rules) for part in parts):
        raise AssayError("evaluations with different measures or rules cannot be combined.")
    if len({part.top_grade for part in parts}) > 1:
        raise AssayError(
            "the parts have different highest grades, which changes RBP and ERR; split with Evaluator.part."
        )
    queries = [query for part in parts for query in part.queries]
    judged = [query for part in parts for query in {*part.queries, *part.coverage.missing}]
    if len(set(judged)) < len(judged):
        raise AssayError("a query appears in more than one part; parts must not share queries.")
    order = sorted(range(len(queries)), key=lambda place: as_bytes(queries[place]))
    values = np.concatenate([part.values for part in parts])[order]
    return replace(
        first,
        queries=tuple(queries[i] for i in order),
        values=values,
        coverage=_added([p.coverage for p in parts], set(judged)),
    )


def _added(parts: Sequence[Coverage], judged: set[str]) -> Coverage:
    cutoffs = parts[0].judged_share
    shown = {k: sum(part.shown[k] for part in parts) for k in cutoffs}
    known = {k: sum(part.judged_share[k] * part.shown[k] for part in parts) for k in cutoffs}
    return Coverage(
        judged=sum(part.judged for part in parts),
        answered=sum(part.answered for part in parts),
        missing=tuple(in_byte_order(query for part in parts for query in part.missing)),
        unjudged=tuple(in_byte_order({query for part in parts for query in part.unjudged if query not in judged})),
        without_relevant=sum(part.without_relevant for part in parts),
        evaluated=sum(part.evaluated for part in parts),
        judged_share={k: ratio_of(round(known[k]), shown[k]) for k in cutoffs},
        shown=shown,
        straddling={k: sum(part.straddling[k] for part in parts) for k in cutoffs},
        tied=sum(part.tied for part in parts),
        longest=max(part.longest for part in parts),
        only_relevant=all(part.only_relevant for part in parts),
        agreement=parts[0].agreement,  # of all queries, whichever the part has
    )
