"""Build the report of a benchmark from evaluations, a comparison and timings. Reads and writes no files."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import to_builtins
from msgspec.structs import replace

from assay.benchmark.choosing import best_by_measure, best_by_segment, best_overall, best_within
from assay.benchmark.preparing import Prepared, shown_path
from assay.benchmark.searching import Searched
from assay.comparison.comparing import Comparison, compare_scores
from assay.comparison.pairs import PairResult, Study, SystemScores
from assay.comparison.segments import Segmentation, by_difficulty
from assay.describing import gains_in_words, shortness_in_words
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
    RecallRecord,
    StageRecord,
    WorkRecord,
)
from assay.records.building import as_text
from assay.records.manifest import Name
from assay.records.model import Digest, EvaluationReport, FindingRecord
from assay.records.validated import as_record
from assay.secrets import Secrets
from assay.validation.findings import Finding
from assay.words import number_of

REPAIRED: Final = "order from repair"  # the verdict on a mode whose order is hardly its own


def build_benchmark(
    name: Name,
    prepared: Prepared,
    searched: Sequence[Searched],
    empty: Sequence[Searched],
    reports: Sequence[EvaluationReport],
    evaluations: Sequence[Evaluation],
    timing: Mapping[str, ModeTiming],
    stages: tuple[StageRecord, ...] = (),
) -> BenchmarkReport:
    """The report of a benchmark: `searched`, `reports` and `evaluations` have one entry per mode.

    `empty` lists modes that found nothing for any query. Modes whose order comes from repair are never the best.
    """
    recipe = prepared.recipe
    repaired = {each.mode.name for each in searched if is_from_repair(work_record(each))}
    scores = SystemScores.from_evaluations(evaluations)
    comparison = compare_scores(scores, Study(seed=recipe.seed)) if len(scores.systems) > 1 else None
    own = SystemScores.from_evaluations([each for each in evaluations if each.run not in repaired] or evaluations)
    means = _means(reports, repaired)
    rewards = {request.label: request.measure.definition.rewards for request in evaluations[0].requests}
    best = best_by_measure(means, rewards)
    measure = scores.measures[0]
    choice = Choice(measure=measure, overall=None)
    segmentations = [*_by_difficulty(prepared, scores), *prepared.segmentations]
    if rewards[measure]:
        choice = Choice(
            measure=measure,
            overall=best_overall(own, best, comparison, [each.mode.name for each in empty]),
            segments=best_by_segment(scores, segmentations, own.systems),
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
        missing=(*prepared.plan.missing, *(_found_nothing(each, prepared) for each in empty)),
        comparison=None if comparison is None else _comparison(comparison, repaired),
        choice=choice,
        stages=stages,
        timing={
            name: timing[name]
            for name in dict.fromkeys([*(each.mode.name for each in searched), *(each.name for each in stages)])
            if name in timing
        },
        targets=reports[0].targets,
        conventions=reports[0].conventions,
        findings=tuple(_finding(finding) for finding in prepared.collection.findings),
        notes=(
            *_notes(reports),
            *_observed(searched),
            *filter(None, [gains_in_words(evaluations[0].requests)]),
            *_short(evaluations),
            *dict.fromkeys(each.caution for each in choice.segments if each.caution),
        ),
    )


def _by_difficulty(prepared: Prepared, scores: SystemScores) -> list[Segmentation]:
    """Queries grouped by the value of the first mode, if requested; needs its scores."""
    return [by_difficulty(scores, scores.systems[0])] if prepared.recipe.segments == "difficulty" else []


def _found_nothing(searched: Searched, prepared: Prepared) -> MissingMode:
    """A mode without a run, and what it noticed: perhaps the wrong language."""
    mode, remedy = searched.mode.mode, " ".join(searched.observed.notes)
    reason = f"it found no document for any of the {len(prepared.collection.queries):,} queries."
    return MissingMode(name=mode.name, kind=mode.kind, reason=reason, remedy=remedy)


def _within(
    limit: float | None, means: Mapping[str, float | None], timing: Mapping[str, ModeTiming], measure: str
) -> LatencyChoice | None:
    if limit is None:
        return None
    return best_within(
        limit, means, {mode: each.milliseconds for mode, each in timing.items() if not each.unknown}, measure
    )


def _collection(prepared: Prepared) -> CollectionRecord:
    collection = prepared.collection
    return CollectionRecord(
        name=as_text(Secrets().hide(collection.name)),
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


def _means(reports: Sequence[EvaluationReport], repaired: Collection[str]) -> dict[str, dict[str, float | None]]:
    """Measure -> mode -> mean, of the modes that may be the best."""
    return {
        each.name: {
            report.run.name: report.measures[number].mean for report in reports if report.run.name not in repaired
        }
        for number, each in enumerate(reports[0].measures)
    }


def _mode(searched: Searched, report: EvaluationReport) -> ModeResult:
    return ModeResult(
        name=searched.mode.name,
        kind=searched.mode.mode.kind,
        inputs=searched.mode.node.inputs,
        deterministic=searched.mode.node.deterministic,
        work=work_record(searched),
        exact_recall=tuple(RecallRecord(**to_builtins(each)) for each in searched.observed.recalls),
        order_from_repair=is_from_repair(work_record(searched)),
        settings=Secrets().hide_all(searched.mode.settings),
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


def work_record(searched: Searched) -> WorkRecord | None:
    """What a reranker did; None for a mode that reranks nothing."""
    return WorkRecord(**to_builtins(searched.work)) if searched.work.documents else None


def is_from_repair(work: WorkRecord | None) -> bool:
    """Whether most of the orders that were asked for had to be repaired: the figures then say nothing about the model."""
    return work is not None and work.repaired > work.windows / 2


def evaluation_folder(name: str) -> str:
    """The evaluation report of a mode, relative to the benchmark folder."""
    return f"evaluations/{name}"


def _comparison(comparison: Comparison, repaired: Collection[str]) -> ComparisonRecord:
    return ComparisonRecord(
        baseline=comparison.scores.systems[0],
        test=comparison.study.test,
        correction=comparison.correction,
        alpha=comparison.study.alpha,
        comparisons=comparison.family,
        seed=comparison.study.seed,
        pairs=tuple(pair_record(pair, REPAIRED if pair.system in repaired else None) for pair in comparison.pairs),
        notes=tuple(comparison.notes),
    )


def pair_record(pair: PairResult, verdict: str | None = None) -> PairRecord:
    """The record of a pair, with None for NaN and infinity, which JSON cannot store; with another verdict if given."""
    known = {name: getattr(pair, name) for name in PairRecord.__struct_fields__}
    known |= {"interval": pair.interval_corrected, "verdict": verdict or pair.verdict}
    finite = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in known.items()
    }
    return PairRecord(**finite)  # type: ignore[arg-type]  # the fields are those of a pair, by name


def _notes(reports: Sequence[EvaluationReport]) -> Iterator[str]:
    for report in reports:
        for reason in report.incomplete_because:
            yield f"{report.run.name}: {reason}"


def _observed(searched: Sequence[Searched]) -> Iterator[str]:
    """What the modes noticed about their own search."""
    for each in searched:
        for recall in each.observed.recalls:
            yield (
                f"{each.mode.name} finds {recall.mean:.1%} of the best {recall.depth:,} documents of exact search (mean over "
                f"{number_of(recall.queries, 'query')}; 5th percentile {recall.p5:.1%})."
            )
        yield from (f"{each.mode.name}: {note}" for note in each.observed.notes)


def _short(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    for evaluation in evaluations:
        words = shortness_in_words(evaluation.coverage, evaluation.requests)
        if words:
            yield f"{as_text(evaluation.run)}: {words}."
