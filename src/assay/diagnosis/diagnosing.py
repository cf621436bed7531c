"""Diagnose an evaluation: from judgments, runs and optional inputs to a `Diagnosis`. Prints nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.diagnosis.gaming import WITNESSES
from assay.diagnosis.inputs import read_presented, read_production, texts_of
from assay.diagnosis.labelled import LabelledRuns
from assay.diagnosis.material import Material
from assay.diagnosis.model import SEVERITIES, Diagnosis, DiagnosisFinding, NotLooked, Settings
from assay.diagnosis.registry import all_looks, chosen_areas
from assay.errors import AssayError, MeasureError, did_you_mean, show_id
from assay.evaluation import DEFAULT_MEASURES, Evaluator, Unmatched
from assay.formats import as_run
from assay.formats.reading import QrelsLike, RunLike
from assay.formats.readings import AUTO, Reading
from assay.formats.shapes import is_ranking, is_rows
from assay.formats.sources import Source
from assay.inputs.queries import read_queries
from assay.inputs.segments import read_segments
from assay.measures import Measure, Request, parse_measures
from assay.rules import Rules
from assay.tables import Run

BESIDE = tuple(
    dict.fromkeys((*WITNESSES, "AP", "Bpref", "infAP"))
)  # measures that looks need in addition to those requested


def diagnose(
    qrels: QrelsLike,
    runs: RunLike | Mapping[str, RunLike] | Sequence[RunLike],
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    presented: Source | Mapping[str, Mapping[str, int]] | None = None,
    queries: Source | Mapping[str, str] | None = None,
    production: Source | Mapping[str, int] | Iterable[str] | None = None,
    corpus: Source | Mapping[str, str] | None = None,
    segments: Source | Mapping[str, Any] | None = None,
    only: Iterable[str] | None = None,
    settings: Settings | Mapping[str, Any] = Settings(),
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    reading: Reading = Reading(),
    unmatched: Unmatched = "error",
) -> Diagnosis:
    """Check for incomplete labels, position bias, unrepresentative queries, and spurious gains.

    `runs` is one run or several: paths, tables, or {name: run}. `baseline` is the name of the run to compare the others
    with, by default the first. `presented` gives the positions at which assessors saw documents, `queries` the texts of
    the test queries, `production` a sample of real queries with counts, `corpus` the texts of documents, `segments` the
    kinds of queries: each a path or a dict. Checks without their input are skipped and listed. `only` selects some of
    labels, position, queries and gaming. `reading` says how to read the qrels; its columns are also for
    runs.

    >>> found = diagnose({"q": {"a": 1, "b": 0}}, {"bm25": {"q": {"a": 2.0, "c": 1.0}}}, ["P@2"], only=["labels"])
    >>> found["DIA001"].severity, found["DIA001"].evidence[0].value
    ('warning', 0.5)
    """
    areas = chosen_areas(only)
    settings = settings_of(settings)
    reading = reading.shared()
    tables = named_runs(runs, reading.in_format(AUTO))
    asked = parse_measures(measures)
    evaluator, columns = _evaluator(qrels, asked, rules, like, reading, unmatched)
    reading.refuse_unused()
    labelled = LabelledRuns.of(evaluator, tables, settings.k)
    for run, rank in zip(tables, labelled.rank[:, labelled.judged], strict=True):
        if not rank.any():
            evaluator.refuse_unmatched(run)
    place = {label: number for number, label in enumerate(labelled.labels)}
    beside = {name: place[label] for name, label in columns.items()}
    chosen = [
        place[request.label] for request in asked if request.label in place and request.measure.definition.rewards
    ]
    material = Material(
        runs=labelled,
        asked=tuple(chosen),
        beside=beside,
        baseline=_baseline(labelled.systems, baseline),
        settings=settings,
        presented=_given(presented, read_presented),
        queries=_given(queries, read_queries),
        production=_given(production, read_production),
        corpus=None if corpus is None else texts_of(corpus, _at_the_top(labelled, settings.k)),
        segments=_segments(segments),
    )
    results = [one(material) for one in all_looks() if one.area in areas]
    findings = [result for result in results if isinstance(result, DiagnosisFinding)]
    return Diagnosis(
        systems=labelled.systems,
        baseline=labelled.systems[material.baseline],
        measures=tuple(request.label for request in asked),
        queries=len(labelled.queries),
        judgments=int(labelled.judged.sum()),
        settings=settings,
        findings=tuple(sorted(findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.code))),
        not_looked_at=tuple(result for result in results if isinstance(result, NotLooked)),
    )


def settings_of(given: Settings | Mapping[str, Any]) -> Settings:
    """Settings, from an instance or a dict of those that differ: {"k": 5}."""
    if isinstance(given, Settings):
        return given
    for name in given:
        if name not in Settings.__struct_fields__:
            known = tuple(Settings.__struct_fields__)
            hint = did_you_mean(str(name), known) or f"; there are {', '.join(known)}."
            raise AssayError(f"no setting called {name!r}{hint}")
    return Settings(**given)


def named_runs(runs: Any, reading: Reading = Reading()) -> list[Run]:
    """The runs as tables with unique names, from one run, a list, or a dict by name."""
    if isinstance(runs, Mapping) and runs and not any(map(is_ranking, runs.values())):
        tables = [as_run(value, reading, name=str(name)) for name, value in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, str) and not is_rows(runs):
        tables = [as_run(value, reading) for value in runs]
    else:
        tables = [as_run(runs, reading)]
    if not tables:
        raise AssayError("a diagnosis needs at least one run.")
    names = [table.name for table in tables]
    for name in names:
        if names.count(name) > 1:
            raise AssayError(
                f"two runs are called {show_id(name)!r}; give them different names: {{'a': run, 'b': run}}."
            )
    return tables


def _evaluator(
    qrels: Any,
    asked: Sequence[Request],
    rules: Rules | Mapping[str, Any],
    like: str,
    reading: Reading,
    unmatched: Unmatched,
) -> tuple[Evaluator, dict[str, str]]:
    """An evaluator for the requested measures and those that looks need, and the labels of the latter."""
    label_of = {request.measure: request.label for request in asked}
    more = [request for request in parse_measures(BESIDE) if _is_known(request.label, rules, like)]
    beside = {request.label: label_of.setdefault(request.measure, request.label) for request in more}
    wanted = [request.label for request in asked] + list(dict.fromkeys(beside.values()))
    evaluator = Evaluator(
        qrels,
        dict.fromkeys(wanted),
        rules,
        like=like,
        reading=reading,
        threads=1,
        unmatched=unmatched,
    )
    return evaluator, beside


def _is_known(label: str, rules: Rules | Mapping[str, Any], like: str) -> bool:
    """Whether the measure exists in these conventions and can be computed under the rules."""
    run = Run.from_columns(["q"], ["d"], [1.0], rank=[1])
    try:
        Evaluator({"q": {"d": 1}}, [label], rules, like=like).evaluate(run)
    except MeasureError:
        return False
    return True


def _baseline(systems: tuple[str, ...], name: str | None) -> int:
    if name is None:
        return 0
    if name not in systems:
        hint = did_you_mean(name, systems) or f"; there are {', '.join(map(show_id, systems))}."
        raise AssayError(f"no run called {show_id(name)!r} for the baseline{hint}")
    return systems.index(name)


def _given(value: Any, read: Any) -> Any:
    return read(value) if isinstance(value, (str, os.PathLike)) else value


def _segments(value: Any) -> dict[str, dict[str, str]] | None:
    """Segments by column, from a file, {query: segment} or {column: {query: segment}}."""
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        return read_segments(value)
    if all(isinstance(inner, Mapping) for inner in value.values()):
        return {name: dict(inner) for name, inner in value.items()}
    return {"segment": dict(value)}


def _at_the_top(runs: LabelledRuns, k: int) -> list[str]:
    """The documents whose texts are needed."""
    chosen = runs.within(k).any(axis=0)
    return [str(doc) for doc in runs.pairs.doc[chosen]]
