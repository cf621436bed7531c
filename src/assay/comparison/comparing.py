"""Compare systems over the same queries: pairs, segments, queries that moved, and agreement. Prints nothing.

`compare_scores` takes a table of values; `compare` evaluates runs first and can also compare their documents.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from assay.asking import QueriesLike, Runs, open_several, query_texts, several_runs
from assay.comparison.agreement import MeasureAgreement, RunAgreement, measure_agreements, run_agreements
from assay.comparison.corrections import DEFAULT
from assay.comparison.families import TUKEY, families_of
from assay.comparison.moves import Moves, Ranking, most_moved, with_documents
from assay.comparison.paired import TIE, Significance
from assay.comparison.pairs import (
    AHEAD,
    SIGNIFICANT,
    PairResult,
    Study,
    SystemScores,
    chosen_pairs,
    higher_is_better,
    label_of,
    measure_called,
    pair_results,
    tests_of,
)
from assay.comparison.power import MOST_QUERIES
from assay.comparison.segments import (
    MINIMUM,
    Segmentation,
    SegmentComparison,
    by_difficulty,
    by_length,
    by_relevant,
    compare_segments,
)
from assay.comparison.significance import definition_of
from assay.errors import AssayError, InputError, show_id, some_of
from assay.evaluation import DEFAULT_MEASURES, MOST_SHOWN, Evaluation, Evaluator, Unmatched
from assay.formats.reading import QrelsLike
from assay.formats.readings import ColumnNames, Reading, as_queries
from assay.formats.sources import Source
from assay.inputs.documents import read_documents
from assay.inputs.scores import ScoresLike, ScoreTable, as_scores
from assay.inputs.segments import read_segments
from assay.marking import OpenedRun
from assay.measures import Measure
from assay.progress import Tell, told
from assay.ranking import ranked_documents
from assay.rules import Rules
from assay.showing import Charted
from assay.weighting.weights import QueryWeights
from assay.words import listed, number_of, show_p

if TYPE_CHECKING:  # rarely needed: imported on demand
    from assay.inputs.query_weights import QueryWeightsLike

__all__ = ["Comparison", "PairResult", "Segmentation", "Study", "SystemScores", "compare", "compare_scores"]

FEW_QUERIES = 50
MOVES = 3  # default number of queries that moved most, up and down
_SHOWN_PAIRS = 3  # of those that a note is about
BUILT_IN = ("length", "relevant", "difficulty")  # segments that need no file


# What names the segments of queries: a file, "length" and the like, {query: segment}, {column: {query: segment}}, or several.
SegmentsLike: TypeAlias = Source | Mapping[str, Any] | Segmentation | Sequence[Any]
TextsLike: TypeAlias = Source | Mapping[str, str]  # a file, or {id: text}


class Comparison(Charted, Struct, frozen=True, eq=False):
    """All pairs by all measures, the study that produced them, and the optional analyses."""

    scores: SystemScores
    study: Study
    correction: str
    pairs: tuple[PairResult, ...]
    tests: tuple[Significance, ...]  # one for each measure
    notes: tuple[str, ...]
    moves: tuple[Moves, ...] = ()
    measures_alike: tuple[MeasureAgreement, ...] = ()
    runs_alike: tuple[RunAgreement, ...] = ()  # if requested
    segments: tuple[SegmentComparison, ...] = ()
    evaluations: tuple[Evaluation, ...] = ()  # empty if the values came from a table
    texts: Mapping[str, str] = field(default_factory=dict)  # query -> text, if known
    documents: Mapping[str, str] = field(default_factory=dict)  # of the queries that moved: id -> title or text
    query_weights: QueryWeights | None = None  # of the weighted differences

    def __repr__(self) -> str:
        systems, queries = len(self.scores.systems), len(self.scores.queries)
        counts = Counter(pair.verdict for pair in self.pairs)
        found = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
        by = some_of(self.scores.measures, MOST_SHOWN)
        return f"<Comparison of {systems:,} systems over {number_of(queries, 'query')} by {by}: {found}>"

    @property
    def family(self) -> int:
        """The number of comparisons by the first measure that p values are corrected for; other measures are apart."""
        return self.pairs[0].family

    @property
    def families(self) -> tuple[int, ...]:
        """The numbers of comparisons that p values are corrected for: by the first measure, and by all others."""
        return tuple({pair.measure == self.scores.measures[0]: pair.family for pair in self.pairs}.values())

    def __getitem__(self, measure: str | Measure) -> list[PairResult]:
        """The pairs by a measure, under any of its names.

        >>> qrels = {"q1": {"a"}, "q2": {"b"}}
        >>> found = compare(qrels, {"old": {"q1": ["a"], "q2": ["x", "b"]}, "new": {"q1": ["a"], "q2": ["b"]}}, ["RR@10"])
        >>> [(pair.system, pair.difference) for pair in found["MRR@10"]]
        [('new', 0.25)]
        """
        return self.of(label_of(measure, self.scores.measures))

    def __iter__(self) -> Iterator[PairResult]:
        return iter(self.pairs)

    def of(self, measure: str) -> list[PairResult]:
        """The pairs of one measure."""
        return [pair for pair in self.pairs if pair.measure == measure]

    def best(self, measure: str) -> tuple[str, ...]:
        """The systems with the highest mean over their common queries; empty if higher is not better."""
        if not higher_is_better(measure):
            return ()
        means = self.scores.common_means(self.scores.measures.index(measure))
        return tuple(self.scores.systems[at] for at in np.flatnonzero(means == means.max()))


def compare_scores(
    scores: ScoresLike | SystemScores,
    study: Study = Study(),
    *,
    baseline: str | Sequence[str] = (),
    segments: SegmentsLike = (),
    minimum_segment: int = MINIMUM,
    queries: QueriesLike | None = None,
    moves: int = MOVES,
    query_weights: QueryWeightsLike | None = None,
) -> Comparison:
    """Compare systems by a table of values, one for each system and query, from any tool.

    `scores` is {system: {query: value}}, a data frame with the queries in the first column and then a column for each
    system, or a file with such a table. A query without a value of one system is left out of that system's comparisons.
    The options are those of `compare`.

    >>> bm25, hybrid = {"1": 0.4, "2": 0.3, "3": 0.5, "4": 0.2}, {"1": 0.9, "2": 0.5, "3": 0.8, "4": 0.6}
    >>> found = compare_scores({"bm25": bm25, "hybrid": hybrid})
    >>> found.pairs[0].verdict, round(found.pairs[0].difference, 2), round(found.pairs[0].p, 4)
    ('better', 0.35, 0.0123)
    """
    study = _with_baseline(study, baseline)
    scores = scores if isinstance(scores, SystemScores) else _system_scores(as_scores(scores))
    texts = _as_text({} if queries is None else query_texts(queries))
    wanted = segmentations(segments, scores, study, texts, {})
    weights = None if query_weights is None else _as_weights(query_weights)
    return replace(_compared(scores, study, wanted, minimum_segment, moves, weights), texts=texts)


def _as_weights(given: QueryWeightsLike) -> QueryWeights:
    from assay.inputs.query_weights import as_query_weights

    return as_query_weights(given)


def _system_scores(table: ScoreTable) -> SystemScores:
    return SystemScores(table.systems, table.queries, ("score",), table.values[None])


def _with_baseline(study: Study, baseline: str | Sequence[str]) -> Study:
    """The study with the baselines that were given beside it."""
    if not isinstance(study, Study):
        raise AssayError(f"study cannot be a value of type {type(study).__name__}; use assay.Study(test='sign').")
    if baseline and study.baselines:
        raise AssayError("give the baseline either as `baseline=` or in the study, not both.")
    if not baseline:
        return study
    return replace(study, baselines=(baseline,) if isinstance(baseline, str) else tuple(baseline))


def _compared(
    scores: SystemScores,
    study: Study,
    segments: Sequence[Segmentation],
    minimum_segment: int,
    moves: int,
    weights: QueryWeights | None,
    tell: Tell | None = None,
) -> Comparison:
    """Each system compared with each baseline by every measure."""
    if moves < 0:
        raise AssayError(f"moves cannot be {moves!r}; it takes a number of queries, 0 or more.")
    tests = tests_of(scores, study, tell)
    correction = study.correction or _usual_correction(study, tests)
    (pairs,) = pair_results([scores], [tests], study, correction)
    if weights is not None:
        from assay.comparison.weighted import with_weights

        pairs = with_weights(scores, study, tests, pairs, weights, correction)
    return Comparison(
        scores,
        study,
        correction,
        pairs,
        tests,
        tuple(_notes(scores, study, pairs)),
        moves=most_moved(scores, study, moves),
        measures_alike=measure_agreements(scores, study),
        segments=tuple(compare_segments(scores, study, each, minimum=minimum_segment) for each in segments),
        query_weights=weights,
    )


def compare(
    qrels: QrelsLike,
    runs: Runs,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    baseline: str | Sequence[str] = (),
    study: Study = Study(),
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    unmatched: Unmatched = "error",
    columns: ColumnNames | None = None,
    segments: SegmentsLike = (),
    minimum_segment: int = MINIMUM,
    queries: QueriesLike | None = None,
    moves: int = MOVES,
    documents: bool = False,
    corpus: TextsLike | None = None,
    agreement: bool = False,
    query_weights: QueryWeightsLike | None = None,
) -> Comparison:
    """Compare runs query by query.

    `runs` is a dict by name or a list, with anything that `evaluate` takes; functions that search need the texts of the
    queries in `queries`. `study` says how to compare them, such as `Study(test="permutation")`. `columns` names the columns
    of tables as in `evaluate`. `segments` is "length", "relevant", "difficulty", a file, a dict {query: segment} or
    {column: {query: segment}}, or a list of these; "length" needs `queries`, a dict or file of query texts. `documents`
    adds the documents that entered, left or changed rank in the queries that moved most; `corpus`, a dict or file of
    documents, adds their texts. `agreement` adds how similar the rankings of the runs are. `query_weights`, a dict {query:
    weight}, a data frame or a file such as `assay queries sample` writes, adds the weighted difference to each pair.

    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    >>> bm25 = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q3": {"c": 1.0}}
    >>> dense = {"q1": {"a": 2.0}, "q2": {"b": 1.0}, "q3": {"c": 1.0}}
    >>> found = compare(qrels, {"bm25": bm25, "dense": dense}, ["RR"], study=Study(test="sign"))
    >>> found.pairs[0].wins, found.pairs[0].ties, found.pairs[0].losses
    (2, 1, 0)
    """
    study = _with_baseline(study, baseline)
    texts = None if queries is None else query_texts(queries)
    reading = Reading(columns=columns or {}, queries=as_queries(texts or {})).shared()
    evaluator = Evaluator(
        qrels, measures, rules, like=like, reading=reading, unmatched=unmatched, query_weights=query_weights
    )
    opened = list(open_several(several_runs(runs), evaluator.judgments.queries, reading, queries=texts))
    found = compare_runs(
        evaluator,
        opened,
        study,
        segments=segments,
        minimum_segment=minimum_segment,
        texts=_as_text(texts or {}),
        moves=moves,
        documents=documents,
        corpus=corpus,
        agreement=agreement,
    )
    reading.refuse_unused()
    return found


def compare_runs(
    evaluator: Evaluator,
    runs: Sequence[OpenedRun],
    study: Study,
    *,
    segments: SegmentsLike = (),
    minimum_segment: int = MINIMUM,
    texts: Mapping[str, str] | None = None,
    moves: int = MOVES,
    documents: bool = False,
    corpus: TextsLike | None = None,
    agreement: bool = False,
    detailed: int | None = None,
    tell: Tell | None = None,
) -> Comparison:
    """Compare runs with a prepared evaluator; `tell` is told how far it is.

    `detailed` limits the documents to the first so many pairs and measures with queries that moved.
    """
    evaluations = tuple(evaluator.evaluate(run) for run in told(runs, tell, "Evaluating", len(runs)))
    scores = SystemScores.from_evaluations(evaluations)
    wanted = segmentations(segments, scores, study, texts or {}, relevant_counts(evaluator))
    found = _compared(scores, study, wanted, minimum_segment, moves, evaluator.query_weights, tell)
    found = replace(found, evaluations=evaluations, texts=texts or {})
    ranking = _rankings(runs)
    if documents or corpus is not None:
        rules = {request.label: plan.rules for request, plan in zip(evaluator.requests, evaluator.plans, strict=True)}
        moved = [number for number, pair in enumerate(found.moves) if pair.up or pair.down][:detailed]
        shown = with_documents(
            told([found.moves[number] for number in moved], tell, "Comparing documents", len(moved)),
            lambda measure, *of: ranking(rules[measure], *of),
            _grades(evaluator),
        )
        with_them = dict(zip(moved, shown, strict=True))
        found = replace(found, moves=tuple(with_them.get(number, pair) for number, pair in enumerate(found.moves)))
    if corpus is not None:
        found = replace(found, documents=_document_texts(corpus, found.moves))
    if agreement:
        alike = run_agreements(scores.systems, scores.queries, partial(ranking, evaluator.rules))
        found = replace(found, runs_alike=alike)
    return found


def segmentations(
    given: SegmentsLike | None,
    scores: SystemScores,
    study: Study,
    texts: Mapping[str, str],
    relevant: Mapping[str, int],
) -> list[Segmentation]:
    """Segmentations from names, files, dicts or lists of these."""
    if given is None:
        return []
    if isinstance(given, Segmentation):
        return [given]
    if isinstance(given, (list, tuple)):
        return [found for each in given for found in segmentations(each, scores, study, texts, relevant)]
    if isinstance(given, Mapping):
        nested = all(isinstance(value, Mapping) for value in given.values())
        columns = given if nested else {"segment": given}
        return [Segmentation.from_labels(name, _as_text(labels)) for name, labels in columns.items()]
    if not isinstance(given, (str, os.PathLike)):
        raise AssayError(
            f"segments cannot be a value of type {type(given).__name__}; give {', '.join(BUILT_IN)}, a file, or a dict "
            f"{{query: segment}}."
        )
    if given in BUILT_IN:
        return [_built_in(str(given), scores, study, texts, relevant)]
    return [Segmentation.from_labels(name, labels) for name, labels in read_segments(given).items()]


def _built_in(
    name: str, scores: SystemScores, study: Study, texts: Mapping[str, str], relevant: Mapping[str, int]
) -> Segmentation:
    if name == "length" and not any(text.strip() for text in texts.values()):
        raise InputError("segments by length need the texts of the queries; give them with `queries=`.")
    if name == "relevant" and not relevant:
        raise InputError("segments by relevant documents need judgments, which a table of values does not have.")
    if name == "difficulty":
        return by_difficulty(scores, (*study.baselines, *scores.systems)[0])
    return by_length(texts) if name == "length" else by_relevant(relevant)


def relevant_counts(evaluator: Evaluator) -> dict[str, int]:
    """The number of relevant documents of each judged query."""
    judgments = evaluator.judgments
    return dict(zip(judgments.queries, judgments.pool.at_least(1).tolist(), strict=True))


def _usual_correction(study: Study, tests: Sequence[Significance]) -> str:
    """Holm for a family of more than one comparison; Tukey's test corrects for the number of pairs itself."""
    if study.test == TUKEY:
        return TUKEY
    return DEFAULT if max(family.size for family in families_of([tests])) > 1 else "none"


def _document_texts(corpus: TextsLike, moves: Sequence[Moves]) -> dict[str, str]:
    """The title, or else the text, of each document of the queries that moved."""
    needed = {place.doc for pair in moves for move in (*pair.up, *pair.down) for place in move.places}
    if isinstance(corpus, Mapping):
        return {doc: str(corpus[doc]) for doc in needed if doc in corpus}
    return {
        document.id: document.title or document.text for document in read_documents(corpus) if document.id in needed
    }


def _as_text(labels: Mapping[Any, Any]) -> dict[str, str]:
    return {str(query): "" if label is None else str(label) for query, label in labels.items()}


def _rankings(runs: Sequence[OpenedRun]) -> Callable[[Rules, str, str], Ranking]:
    """A function that gives a system's documents for a query, best first; a run is read as a table on first use.

    It takes the rules because conventions of other tools may have different rules for each measure.
    """
    by_name = {run.name: run for run in runs}

    @cache
    def ranked(rules: Rules, system: str) -> dict[str, list[str]]:
        return ranked_documents(by_name[system].table, rules)

    return lambda rules, system, query: ranked(rules, system).get(query, ())


def _grades(evaluator: Evaluator) -> Callable[[str], Mapping[str, float]]:
    judgments = evaluator.judgments
    start = judgments.pool.start

    @cache  # the same query moves between many systems
    def grades(query: str) -> Mapping[str, float]:
        at = judgments.place.get(query)
        if at is None:
            return {}
        rows = slice(int(start[at]), int(start[at + 1]))
        return dict(zip(judgments.doc_list[rows], judgments.rel[rows].tolist(), strict=True))

    return grades


def _notes(scores: SystemScores, study: Study, pairs: Sequence[PairResult]) -> Iterator[str]:
    """Caveats to print with the results."""
    least = min(pair.queries for pair in pairs)
    if 1 < least < FEW_QUERIES:
        yield f"With {least} queries (fewer than {FEW_QUERIES}) only large differences can be detected, and those detected look larger than they are."
    yield from _notes_on_missing(scores, study, pairs)
    yield from _notes_on_constant_systems(scores)
    yield from _notes_on_equal_systems(scores, study)
    yield from _notes_on_pairs(pairs, study)
    yield from notes_on_totals(scores)


def _notes_on_constant_systems(scores: SystemScores) -> Iterator[str]:
    alike: dict[tuple[str, float], list[str]] = {}
    for number, measure in enumerate(scores.measures):
        for column, system in enumerate(scores.systems):
            values = scores.column(number, column)
            known = values[~np.isnan(values)]
            if len(known) > 1 and known.min() == known.max():
                alike.setdefault((measure, float(known[0])), []).append(system)
    together: dict[tuple[tuple[str, ...], float], list[str]] = {}
    for (measure, value), named in alike.items():
        together.setdefault((tuple(named), value), []).append(measure)
    for (systems, value), measures in together.items():
        have, runs = ("has", "is the run") if len(systems) == 1 else ("have", "are these runs")
        doubt = "there is nothing left to compare." if value == 1 else f"{runs} empty or constant?"
        yield f"{some_of(systems)} {have} {some_of(measures)} {value:.4f} on every query: {doubt}"


def _notes_on_equal_systems(scores: SystemScores, study: Study) -> Iterator[str]:
    """Systems with the same values, whose comparisons with another system are one and the same."""
    others = {system for pair in chosen_pairs(scores, study) for system in pair[1:]}
    alike: dict[tuple[str, ...], list[str]] = {}
    for number, measure in enumerate(scores.measures if not study.all_pairs else ()):
        groups: dict[bytes, list[str]] = {}
        for system in sorted(others):
            groups.setdefault((scores.column(number, system) + 0.0).tobytes(), []).append(scores.systems[system])
        for systems in groups.values():
            if len(systems) > 1:
                alike.setdefault(tuple(systems), []).append(measure)
    for equal, measures in alike.items():
        yield (
            f"{some_of(equal)} have the same {some_of(measures)} on every query: their comparisons count once in the "
            "correction."
        )


def _notes_on_missing(scores: SystemScores, study: Study, pairs: Sequence[PairResult]) -> Iterator[str]:
    """Systems without a value that another system has; queries without any value are covered by the rules."""
    missing = np.isnan(scores.values)
    lacks = (missing & ~missing.all(axis=2, keepdims=True)).any(axis=0).sum(axis=0).tolist()
    named = [
        f"{show_id(system)}: {count:,} missing" for system, count in zip(scores.systems, lacks, strict=True) if count
    ]
    if named:
        more = f", and {len(named) - 3:,} more systems" if len(named) > 4 else ""
        shown = ", ".join(named[:3] if more else named)
        if definition_of(study.test).together:
            least, of = min(pair.queries for pair in pairs), len(scores.queries)
            yield (
                f"{study.test} compares all systems over the same queries: those that any system lacks are left out of every "
                f"comparison, which leaves {least:,} of {of:,} ({shown}{more})."
            )
            return
        yield f"Queries missing from one of the two systems are left out of their comparison ({shown}{more})."


def _notes_on_pairs(pairs: Sequence[PairResult], study: Study) -> Iterator[str]:
    """Oddities of pairs; pairs with the same one share a note."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        for words in _oddities(pair, study):
            found.setdefault(words, []).append(
                f"{show_id(pair.system)} - {show_id(pair.baseline)} by {show_id(pair.measure)}"
            )
    for words, named in found.items():
        more = ", ..." if len(named) > _SHOWN_PAIRS else ""
        yield f"{words} ({', '.join(named[:_SHOWN_PAIRS])}{more})."


def _oddities(pair: PairResult, study: Study) -> Iterator[str]:
    fewest = definition_of(study.test).fewest
    if pair.queries < fewest:
        instead = ", since with fewer it errs too often; use t or permutation" if fewest > 2 else ""
        yield f"Not tested: {study.test} needs at least {fewest} queries{instead}"
    elif pair.constant and abs(pair.difference) <= TIE * max(abs(pair.baseline_mean), abs(pair.system_mean)):
        yield "The values are the same on every query, so there is nothing to test"
    elif pair.constant:
        by_signs = ", and p is that of the sign test" if study.test in ("t", "anova") else ""
        yield f"The difference is {pair.difference:+.4f} on every query: without spread it has no interval{by_signs}"
    least = definition_of(study.test).smallest_p(pair.queries, study.alternative)
    if pair.verdict.startswith("no ") and least * pair.family >= study.alpha:
        corrected = "" if pair.family == 1 else f" before correction for {pair.family:,} comparisons"
        yield f"{study.test} cannot show a difference of any size: the smallest p of {pair.queries} queries is {show_p(least)}{corrected}"
    if pair.verdict in SIGNIFICANT:
        ahead = pair.verdict in AHEAD
        if pair.difference <= 0 if ahead else pair.difference >= 0:
            mean = "the same" if pair.difference == 0 else "lower" if ahead else "higher"
            yield f"The verdict is {pair.verdict} although the mean is {mean}: {study.test} does not test means"
    if study.plan is not None and pair.needed is None and not pair.constant:
        yield f"Detecting a difference of {study.plan:g} takes more than {MOST_QUERIES:,} queries"


def notes_on_totals(scores: SystemScores) -> Iterator[str]:
    """A note on measures that are otherwise not combined by their mean."""
    found = {label: measure_called(label) for label in scores.measures}
    others = [label for label, measure in found.items() if measure is not None and measure.definition.total != "mean"]
    if others:
        yield (
            f"{listed(others)}: means, differences and tests use the per-query values; elsewhere these measures are "
            f"combined over queries as a geometric mean or a sum."
        )
