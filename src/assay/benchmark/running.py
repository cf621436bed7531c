"""Run a benchmark from its recipe to its report: search, evaluate, compare, choose, write. Prints nothing.

OUT/BenchmarkReport.json, .html     the whole report, for programs and for people
OUT/BenchmarkComparison.md          the same as Markdown, for issues and READMEs
OUT/ExperimentManifest.json         command, settings, versions and digests; `assay verify OUT` checks them
OUT/runs/MODE.run                   one TREC run per mode
OUT/qrels.txt                       the judgments used
OUT/evaluations/MODE/               one evaluation report per mode
OUT/work/                           indexes and the state of finished steps; can be deleted
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.benchmark.building import build_benchmark, evaluation_folder
from assay.benchmark.preparing import Prepared, is_embedded
from assay.benchmark.searching import Search, Searched, cleaning_up, folders_of, search_all, steps_of, time_all
from assay.benchmark.stages import StageContext, judge_stage, stage_measures, stage_records, stages_among
from assay.benchmark.steps import Workspace, digest, workspace
from assay.comparison.pairs import Study
from assay.errors import InputError, show_id
from assay.evaluation import Evaluator
from assay.formats.unread import open_run
from assay.formats.writing import qrels_as_bytes
from assay.records.benchmark import BENCHMARK_FILE, BenchmarkReport, ModeTiming, StageRecord
from assay.records.building import as_text, build_report, queries_of_run, timestamp
from assay.records.details import Details
from assay.records.encoding import encode_record, read_record
from assay.records.identity import digest_of, identity_of
from assay.records.manifest import DeclaredSettings, Name, build_manifest, config_hash, config_of, name_experiment
from assay.records.model import Baseline, Config, EvaluationReport, FindingRecord, Identity, Targets
from assay.records.recording import Measured, check_all, measure_run
from assay.records.storing import MANIFEST_FILE, REPORT_FILE
from assay.records.validated import findings_with
from assay.report.benchmark.files import benchmark_files
from assay.report.evaluation.files import evaluation_files
from assay.retrieval.base import Progress, silent
from assay.retrieval.modes import MODES
from assay.secrets import Secrets


def run_benchmark(
    prepared: Prepared, folder: str | os.PathLike[str], progress: Progress | None = None
) -> BenchmarkReport:
    """Run the unfinished steps of a benchmark in the folder and return the report; resumes after any interruption."""
    with workspace(folder) as space:
        space.begin(prepared.key, timestamp())
        if space.finished("report", prepared.key) is None:
            space.drop(["report"])  # remove the old report before replacing any of its files
        search = _search(prepared)
        with cleaning_up(search, prepared.plan, space):
            searched = search_all(search, prepared.plan, space, progress)
            if not any(each.mode.shown and each.path for each in searched):
                raise InputError(_nothing_found(prepared, searched))
            if space.finished("report", prepared.key) is not None:
                return read_benchmark(space.folder)
            timing = time_all(search, searched, space, progress)
            report = _reported(prepared, space, searched, timing, progress or silent)
            space.keep_indexes(folders_of(search, searched))
            return report


def _nothing_found(prepared: Prepared, searched: Sequence[Searched]) -> str:
    """That no mode found anything, and what each noticed, such as a language without spaces between words."""
    noticed = (f"{show_id(each.mode.name)}: {note}" for each in searched for note in each.observed.notes)
    problem = f"no mode found a document for any of the {len(prepared.collection.queries):,} queries."
    return "\n".join([problem, *noticed])


def _search(prepared: Prepared) -> Search:
    recipe, collection = prepared.recipe, prepared.collection
    corpus = {role: each.sha256 for role, each in prepared.files.items() if role.partition("/")[0] == "corpus"}
    return Search(
        collection, digest(corpus, recipe.columns), collection.queries, recipe.depth, recipe.seed, recipe.repeats
    )


# Evaluating


def _reported(
    prepared: Prepared,
    space: Workspace,
    searched: Sequence[Searched],
    timing: Mapping[str, ModeTiming],
    tell: Progress,
) -> BenchmarkReport:
    """Evaluate the runs and write all reports; the manifest, which covers all files, comes last."""
    shown = sorted(
        (each for each in searched if each.mode.shown and each.path), key=lambda each: _place(prepared, each)
    )
    qrels = _write_qrels(prepared, space)
    evaluator = Evaluator(str(qrels), prepared.measures, unmatched="zero")
    texts = prepared.collection.queries
    measured = [
        measure_run(evaluator, open_run(str(space.folder / each.path), name=each.mode.name), texts=texts)
        for each in shown
    ]
    baseline = _baseline(prepared.targets, [each.mode.name for each in shown])
    config = config_of(evaluator, targets=prepared.targets, baseline=baseline)
    settings = _settings(prepared, searched)
    name = name_experiment(config_hash(config, settings), datetime.fromisoformat(space.created))
    outcomes = check_all(prepared.targets, [each.evaluation for each in measured], baseline)
    reports = []
    for done, each in enumerate(measured):
        tell("reporting", done, len(measured))
        mode = each.evaluation.run
        report = build_report(
            each.evaluation,
            experiment=name.id,
            created=name.created,
            run=_relative(space, identity_of(mode, each.path, queries_of_run(each.evaluation.coverage))),
            qrels=_relative(space, identity_of("qrels", str(qrels), each.evaluation.coverage.judged)),
            findings=_findings(space, each, qrels),
            targets=outcomes.get(mode),
            curves=each.curves,
            seconds=each.seconds,
        )
        reports.append(_write_evaluation(space, report, each.details, name))
    empty = [each for each in searched if each.mode.shown and not each.path]
    stages = _stages(prepared, space, searched, qrels)
    benchmark = build_benchmark(
        name, prepared, shown, empty, reports, [each.evaluation for each in measured], timing, stages
    )
    space.keep_only(["qrels", *(f"evaluation {each.mode.name}" for each in shown), *steps_of(searched)])
    _write_benchmark(prepared, space, benchmark, config, settings, name)
    tell("reporting", len(measured), len(measured))
    return benchmark


def _stages(prepared: Prepared, space: Workspace, searched: Sequence[Searched], qrels: Path) -> tuple[StageRecord, ...]:
    """The stages of the pipeline, also those that are not among the modes; none if no mode stands on another."""
    among = stages_among(searched)
    if not among:
        return ()
    measures = stage_measures(prepared.measures)
    evaluator = Evaluator(str(qrels), measures.labels, unmatched="zero")
    stages = [
        judge_stage(each, evaluator, open_run(str(space.folder / each.path), name=each.mode.name)) for each in among
    ]
    collection, study = prepared.collection, Study(seed=prepared.recipe.seed)
    return stage_records(stages, StageContext(measures, evaluator, collection.queries, collection.letters, study))


def _place(prepared: Prepared, searched: Searched) -> int:
    """The position of a mode in the recipe: the order of the report, not of execution."""
    return [mode.name for mode in prepared.recipe.modes].index(searched.mode.name)


def _write_qrels(prepared: Prepared, space: Workspace) -> Path:
    """Write the judgments as one file, so the folder is self-contained; as JSON Lines if ids contain whitespace."""
    try:
        path, data = "qrels.txt", qrels_as_bytes(prepared.collection.qrels, "trec")[0]
    except InputError:
        path, data = "qrels.jsonl", qrels_as_bytes(prepared.collection.qrels, "jsonl")[0]
    key = digest("qrels", path, digest_of(path, data).sha256)
    if space.finished("qrels", key) is None:
        space.finish("qrels", key, space.write({path: data}))
    return space.folder / path


def _baseline(targets: Targets | None, shown: Sequence[str]) -> Baseline | None:
    """The baseline for target uplifts: None if the targets name modes, otherwise the first mode."""
    over = {target.over for target in targets.measures} - {None} if targets else set()
    return None if over <= set(shown) else Baseline(name=shown[0], means={})


def _relative(space: Workspace, identity: Identity) -> Identity:
    return replace(identity, path=_below(space, identity.path))


def _below(space: Workspace, path: str) -> str:
    """A path relative to the benchmark folder, so that the folder can be moved."""
    return os.path.relpath(path, space.folder) if Path(path).is_relative_to(space.folder) else path


def _findings(space: Workspace, measured: Measured, qrels: Path) -> tuple[FindingRecord, ...]:
    found = findings_with(str(qrels))(measured.evaluation, measured.path)
    return tuple(replace(finding, file=_below(space, finding.file)) for finding in found)


def _write_evaluation(space: Workspace, report: EvaluationReport, details: Details, name: Name) -> EvaluationReport:
    """Write the evaluation report of a mode, unless an identical one exists (ignoring the time taken)."""
    step = f"evaluation {report.run.name}"
    folder = evaluation_folder(report.run.name)
    key = digest(name.id, msgspec.to_builtins(replace(report, seconds=0.0)))
    if space.finished(step, key) is not None:
        return report
    files = {REPORT_FILE: encode_record(report)}
    pages = evaluation_files(report, details)
    files |= {file: text.encode("utf-8", "backslashreplace") for file, text in pages.items()}
    space.finish(step, key, space.write({f"{folder}/{file}": data for file, data in files.items()}))
    return report


# Writing


def _settings(prepared: Prepared, searched: Sequence[Searched]) -> DeclaredSettings:
    """The settings for the manifest: every setting of each mode, and the digest of each index."""
    parameters = {
        f"{mode.name}.{name}": as_text(value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for mode in prepared.plan.modes
        for name, value in mode.settings.items()
    }
    models = {str(mode.settings["model"]) for mode in prepared.plan.modes if MODES[mode.mode.kind].needs_model}
    return DeclaredSettings(
        dataset=as_text(Secrets().hide(f"{prepared.collection.name}/{prepared.collection.split}")),
        model=", ".join(sorted(models)) or None,
        parameters={**parameters, "depth": str(prepared.recipe.depth), "seed": str(prepared.recipe.seed)},
        index_snapshots={each.mode.name: each.index for each in searched if each.index is not None},
    )


def _write_benchmark(
    prepared: Prepared,
    space: Workspace,
    report: BenchmarkReport,
    config: Config,
    settings: DeclaredSettings,
    name: Name,
) -> None:
    files = {BENCHMARK_FILE: encode_record(report)}
    files |= {file: text.encode("utf-8", "backslashreplace") for file, text in benchmark_files(report).items()}
    manifest = build_manifest(
        name,
        command=prepared.command,
        config=config,
        settings=settings,
        runs=[mode.name for mode in report.modes],
        inputs=() if is_embedded(prepared.recipe) else tuple(prepared.files.values()),
        metadata={},
    )
    outputs = [*space.outputs(), *(digest_of(path, data) for path, data in files.items())]
    files[MANIFEST_FILE] = encode_record(replace(manifest, outputs=tuple(outputs)))  # written last
    space.finish("report", prepared.key, space.write(files))


def read_benchmark(folder: str | os.PathLike[str]) -> BenchmarkReport:
    """Read the report in a folder."""
    return read_record(
        Path(folder) / BENCHMARK_FILE,
        BenchmarkReport,
        why=lambda _, error: f"is not a valid benchmark report: {error}.",
        missing=f"no {BENCHMARK_FILE} here.",
    )
