"""Build the report of a benchmark from evaluations, a comparison and timings. Reads and writes no files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import to_builtins
from msgspec.structs import replace

from assay.benchmark.choosing import best_by_measure, best_by_segment, best_overall, best_within
from assay.benchmark.planning import PlannedMode
from assay.benchmark.preparing import Prepared, shown_path
from assay.benchmark.searching import Searched
from assay.comparison.comparing import Comparison, compare_scores
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.segments import Segmentation, by_difficulty
from assay.describing import shortness_in_words
from assay.evaluation import Evaluation
from assay.records.benchmark import (
    BenchmarkReport,
    Choice,
    CollectionRecord,
    ComparisonRecord,
    LatencyChoice,
    MissingMode,
    ModeResult,
    ModeTiming,
    PairRecord,
)
from assay.records.building import as_text
from assay.records.manifest import Name
from assay.records.model import Digest, EvaluationReport, FindingRecord
from assay.records.validated import as_record
from assay.validation.findings import Finding


def build_benchmark(
    name: Name,
    prepared: Prepared,
    searched: Sequence[Searched],
    empty: Sequence[PlannedMode],
    reports: Sequence[EvaluationReport],
    evaluations: Sequence[Evaluation],
) -> BenchmarkReport:
    """The report of a benchmark: `searched`, `reports` and `evaluations` have one entry per mode.

    `empty` lists modes that found nothing for any query.
    """
    recipe = prepared.recipe
    scores = SystemScores.from_evaluations(evaluations)
    comparison = compare_scores(scores, Study(seed=recipe.seed)) if len(scores.systems) > 1 else None
    means = _means(reports)
    rewards = {request.label: request.measure.definition.rewards for request in evaluations[0].requests}
    best = best_by_measure(means, rewards)
    timing = {each.mode.name: each.timing for each in searched}
    measure = scores.measures[0]
    choice = Choice(measure=measure, overall=None)
    segmentations = [*_by_difficulty(prepared, scores), *prepared.segmentations]
    if rewards[measure]:
        choice = Choice(
            measure=measure,
            overall=best_overall(scores, best, comparison, [mode.name for mode in empty]),
            segments=best_by_segment(scores, segmentations),
            latency=_within(recipe.latency_limit, means[measure], timing, measure),
        )
    return BenchmarkReport(
        experiment=name.id,
        created=name.created,
        collection=_collection(prepared),
        measures=scores.measures,
        best=best,
        depth=recipe.depth,
        modes=tuple(_mode(each, report) for each, report in zip(searched, reports, strict=True)),
        missing=(*prepared.plan.missing, *(_found_nothing(mode, prepared) for mode in empty)),
        comparison=None if comparison is None else _comparison(comparison),
        choice=choice,
        timing=timing,
        targets=reports[0].targets,
        conventions=reports[0].conventions,
        findings=tuple(_finding(finding) for finding in prepared.collection.findings),
        notes=(
            *_notes(reports),
            *_short(evaluations),
            *dict.fromkeys(each.caution for each in choice.segments if each.caution),
        ),
    )


def _by_difficulty(prepared: Prepared, scores: SystemScores) -> list[Segmentation]:
    """Queries grouped by the value of the first mode, if requested; needs its scores."""
    return [by_difficulty(scores, scores.systems[0])] if prepared.recipe.segments == "difficulty" else []


def _found_nothing(mode: PlannedMode, prepared: Prepared) -> MissingMode:
    reason = f"it found no document for any of the {len(prepared.collection.queries):,} queries."
    return MissingMode(name=mode.name, kind=mode.mode.kind, reason=reason, remedy="")


def _within(
    limit: float | None, means: Mapping[str, float | None], timing: Mapping[str, ModeTiming], measure: str
) -> LatencyChoice | None:
    if limit is None:
        return None
    return best_within(limit, means, {mode: each.milliseconds for mode, each in timing.items()}, measure)


def _collection(prepared: Prepared) -> CollectionRecord:
    collection = prepared.collection
    return CollectionRecord(
        name=as_text(collection.name),
        split=as_text(collection.split),
        documents=collection.size,
        queries=len(collection.queries),
        judged=len(collection.qrels.queries),
        judgments=len(collection.qrels),
        files=tuple(prepared.files.values()),
    )


def _finding(finding: Finding) -> FindingRecord:
    record = as_record(finding)
    return replace(record, file=shown_path(record.file))


def _means(reports: Sequence[EvaluationReport]) -> dict[str, dict[str, float | None]]:
    """Measure -> mode -> mean."""
    return {
        each.name: {report.run.name: report.measures[number].mean for report in reports}
        for number, each in enumerate(reports[0].measures)
    }


def _mode(searched: Searched, report: EvaluationReport) -> ModeResult:
    return ModeResult(
        name=searched.mode.name,
        kind=searched.mode.mode.kind,
        settings=searched.mode.settings,
        metrics={each.name: each.mean for each in report.measures},
        intervals={each.name: each.interval for each in report.measures},
        queries=report.run.queries,
        documents=report.run.lines or 0,
        run=Digest(path=searched.path, sha256=searched.sha256, size=report.run.size or 0),
        report=evaluation_folder(searched.mode.name),
        complete=report.complete,
        status=report.status,
        targets={each.name: each.target for each in report.measures if each.target is not None},
    )


def evaluation_folder(name: str) -> str:
    """The evaluation report of a mode, relative to the benchmark folder."""
    return f"evaluations/{name}"


def _comparison(comparison: Comparison) -> ComparisonRecord:
    return ComparisonRecord(
        baseline=comparison.scores.systems[0],
        test=comparison.study.test,
        correction=comparison.correction,
        alpha=comparison.study.alpha,
        comparisons=len(comparison.pairs),
        seed=comparison.study.seed,
        pairs=tuple(_pair(to_builtins(pair)) for pair in comparison.pairs),
        notes=tuple(comparison.notes),
    )


def _pair(pair: Mapping[str, object]) -> PairRecord:
    """The record of a pair, with None for NaN and infinity, which JSON cannot store."""
    known = {name: pair[name] for name in PairRecord.__struct_fields__}
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in known.items()
    }
    return PairRecord(**finite)  # type: ignore[arg-type]  # the fields are those of a pair, by name


def _notes(reports: Sequence[EvaluationReport]) -> Iterator[str]:
    for report in reports:
        for reason in report.incomplete_because:
            yield f"{report.run.name}: {reason}"


def _short(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    for evaluation in evaluations:
        words = shortness_in_words(evaluation.coverage, evaluation.requests)
        if words:
            yield f"{as_text(evaluation.run)}: {words}."
