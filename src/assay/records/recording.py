"""An experiment from runs to reports: evaluate, check targets, describe, write. Independent of renderers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay.errors import InputError, did_you_mean
from assay.evaluation import Evaluation, Evaluator
from assay.formats.ir_metadata import Metadata
from assay.formats.readings import Readings
from assay.formats.sources import STDIN
from assay.records.building import as_text, build_report, queries_of_run
from assay.records.curves import NO_CURVES, curves_of
from assay.records.details import NO_DETAILS, Details, details_of
from assay.records.identity import (
    Stamp,
    file_digest,
    identity_of,
    is_file,
    name_of,
    refuse_changed,
    stamps,
    unread_identity,
)
from assay.records.manifest import (
    DeclaredSettings,
    build_manifest,
    config_hash,
    config_of,
    hidden_metadata,
    hidden_settings,
    metadata_of,
    name_experiment,
    parse_settings,
)
from assay.records.model import (
    Baseline,
    Config,
    Curves,
    Digest,
    EvaluationReport,
    ExperimentManifest,
    FindingRecord,
    Identity,
    Targets,
)
from assay.records.storing import REPORT_FILE, RenderIndex, checked_folder, read_report, write_reports
from assay.records.targets import (
    TargetOutcome,
    baseline_of,
    check_targets,
    over_baseline,
    read_targets,
    with_targets,
)
from assay.secrets import Secrets


class Measured(Struct, frozen=True):
    """A run with its values and curves."""

    evaluation: Evaluation
    curves: Curves
    path: str  # as it was given; "-" for standard input, "" for a value in memory
    seconds: float  # reading, judging and computing
    details: Details = NO_DETAILS


RenderPages = Callable[[EvaluationReport, Details], Mapping[str, str]]  # -> {file name in the report's folder: text}
Find = Callable[[Measured], Sequence[FindingRecord]]


class Experiment(Struct, frozen=True):
    """The plan of an experiment, before anything is evaluated."""

    qrels: str  # path
    folder: str | None = None  # of the reports; None writes none
    command: Sequence[str] = ()
    settings: DeclaredSettings = field(default_factory=DeclaredSettings)
    targets: Targets | None = None
    baseline: str | None = None  # requested baseline for uplifts: one of the runs, or a folder with a report
    readings: Readings = Readings()
    before: Mapping[str, Stamp] = field(default_factory=dict)  # the files as they were, by `stamps`
    query_weights: str | None = None  # path
    index: RenderIndex | None = None  # the page that lists the reports of several runs

    def measures(self, asked: Sequence[str]) -> tuple[str, ...]:
        """The requested measures and those of the targets."""
        return tuple(asked) if self.targets is None else with_targets(asked, self.targets)

    def evaluate(
        self,
        evaluator: Evaluator,
        runs: Iterable[Any],
        render: RenderPages,
        *,
        find: Find | None = None,
    ) -> Outcome:
        """Evaluate all runs and check the targets; write reports if there is a folder.

        `find` gives the validation findings for each run that gets a report.
        """
        texts = None if self.folder is None else self.readings.run.queries.texts
        measured = [measure_run(evaluator, run, curves=self.folder is not None, texts=texts) for run in runs]
        self.readings.refuse_unused()
        evaluations = tuple(each.evaluation for each in measured)
        names = [evaluation.run for evaluation in evaluations]
        baseline = None if self.baseline is None else find_baseline(self.baseline, names)
        outcomes = check_all(self.targets, evaluations, baseline)
        if self.folder is not None:
            findings = {each.evaluation.run: find(each) for each in measured} if find is not None else {}
            record_experiment(self, evaluator, measured, render, baseline, outcomes, findings)
        return Outcome(evaluations, outcomes)


class Outcome(Struct, frozen=True):
    """The results of an experiment."""

    evaluations: tuple[Evaluation, ...]
    targets: dict[str, TargetOutcome]  # by run; empty without targets


def begin_experiment(
    qrels: str,
    runs: Sequence[str],
    *,
    report: str | None = None,
    targets: str | None = None,
    baseline: str | None = None,
    settings: Sequence[str] = (),
    notes: Sequence[str] = (),
    readings: Readings = Readings(),
    query_weights: str | None = None,
    **others: Any,
) -> Experiment:
    """Plan an experiment; the folder, targets and settings are checked before any file is evaluated.

    `runs` are paths. `others` are the remaining fields of `Experiment`.
    """
    if report is not None:
        checked_folder(report)
    return Experiment(
        qrels=qrels,
        folder=report,
        targets=None if targets is None else read_targets(targets),
        baseline=baseline,
        settings=parse_settings(settings, notes),
        before=stamps([qrels, *runs, readings.run.queries.source, query_weights or ""]),
        readings=readings,
        query_weights=query_weights,
        **others,
    )


def measure_run(
    evaluator: Evaluator, run: Any, *, curves: bool = True, texts: Mapping[str, str] | None = None
) -> Measured:
    """One run: its values, the bounds under ties, and its curves.

    With `texts` of queries, even if there are none, also the details that only a page shows; they are read separately.
    """
    start = perf_counter()
    ranked = evaluator.rank(run)
    evaluation = evaluator.evaluate(ranked, tie_bounds=True)
    shown = curves_of(evaluator, ranked) if curves else NO_CURVES
    seconds = perf_counter() - start
    details = NO_DETAILS if texts is None else details_of(evaluator, ranked, evaluation, texts)
    return Measured(evaluation, shown, path_of(ranked.run.source), seconds, details)


def path_of(source: str) -> str:
    """The path as the user typed it."""
    return STDIN if source == "<stdin>" else source


# Targets and baselines


def find_baseline(name: str, runs: Sequence[str]) -> Baseline:
    """The baseline: one of the runs by its name, or the report in a folder."""
    if name in runs:
        return Baseline(name=name, means={})
    if not Path(name).is_dir():
        hint = did_you_mean(name, runs) or "."
        raise InputError(
            f"no run called {name!r}{hint} A baseline is one of the runs ({', '.join(runs)}) or a folder with a report."
        )
    if not (Path(name) / REPORT_FILE).exists():
        inside = sorted(path.parent.name for path in Path(name).glob(f"*/{REPORT_FILE}"))
        if inside:
            raise InputError(
                f"contains the reports of several runs; name one of them, such as {name}/{inside[0]}.", source=name
            )
    report = read_report(name)
    means = {result.canonical: result.mean for result in report.measures}
    return Baseline(name=report.run.name, means=means, path=name)


def check_all(
    targets: Targets | None,
    evaluations: Sequence[Evaluation],
    baseline: Baseline | None = None,
    others: Sequence[Baseline] = (),
) -> dict[str, TargetOutcome]:
    """The target results of each run; uplifts are over the requested baseline, or the run that the targets name.

    `others` are runs that are not evaluated here.
    """
    if targets is None:
        return {}
    known = [*others, *(baseline_of(evaluation) for evaluation in evaluations)]
    if baseline is not None and baseline.path is not None:
        known.append(baseline)  # the last one of a name wins
    if baseline is not None:
        targets = over_baseline(targets, baseline.name)
    return {evaluation.run: check_targets(targets, evaluation, known) for evaluation in evaluations}


# Writing


def record_experiment(
    plan: Experiment,
    evaluator: Evaluator,
    measured: Sequence[Measured],
    render: RenderPages,
    baseline: Baseline | None = None,
    outcomes: Mapping[str, TargetOutcome] | None = None,
    findings: Mapping[str, Sequence[FindingRecord]] | None = None,
) -> ExperimentManifest:
    """Write the reports and the manifest of an experiment into its folder.

    `outcomes` and `findings` are by run. A secret found in one place is hidden everywhere.
    """
    metadata = metadata_of({each.evaluation.run: each.path for each in measured if each.path in plan.before})
    of_qrels = metadata_of({"qrels": plan.qrels} if plan.qrels in plan.before else {})
    secrets = _learnt(plan, (metadata, of_qrels))
    command = secrets.hide_command(plan.command)
    settings = hidden_settings(plan.settings, secrets)
    config = _config(plan, evaluator, baseline, secrets)
    name = name_experiment(config_hash(config, settings))
    qrels, runs = _identities(plan, measured)
    reports = [
        build_report(
            each.evaluation,
            experiment=name.id,
            created=name.created,
            run=run,
            qrels=qrels,
            findings=(findings or {}).get(each.evaluation.run, ()),
            targets=(outcomes or {}).get(each.evaluation.run),
            curves=each.curves,
            seconds=each.seconds,
            secrets=secrets,
        )
        for each, run in zip(measured, runs, strict=True)
    ]
    queries, weights = plan.readings.run.queries.source, plan.query_weights or ""
    manifest = build_manifest(
        name,
        command=command,
        config=config,
        settings=settings,
        runs=[report.run.name for report in reports],
        inputs=[*_inputs(reports, baseline, secrets), *_hidden_digests([queries, weights], secrets)],
        metadata=hidden_metadata(metadata, secrets),
        qrels_metadata=hidden_metadata(of_qrels, secrets).get("qrels"),
        queries=as_text(secrets.hide(queries)) if queries else None,
        query_weights=as_text(secrets.hide(weights)) if weights else None,
    )
    refuse_changed(dict(plan.before))
    details = {report.run: each.details for report, each in zip(reports, measured, strict=True)}
    return write_reports(
        plan.folder or "", reports, manifest, lambda report: render(report, details[report.run]), plan.index
    )


def _learnt(plan: Experiment, metadata: Iterable[Mapping[str, Metadata]]) -> Secrets:
    """All secrets in the experiment's texts, collected before anything is written."""
    secrets = Secrets()
    secrets.hide_command(plan.command)
    hidden_settings(plan.settings, secrets)
    for each in metadata:
        hidden_metadata(each, secrets)
    return secrets


def _config(plan: Experiment, evaluator: Evaluator, baseline: Baseline | None, secrets: Secrets) -> Config:
    targets = plan.targets
    if targets is not None and baseline is not None:
        targets = over_baseline(targets, baseline.name)
    if targets is not None:
        targets = _hidden_targets(targets, secrets)
    if baseline is not None:
        path = None if baseline.path is None else as_text(secrets.hide(baseline.path))
        baseline = replace(baseline, name=as_text(secrets.hide(baseline.name)), path=path)
    return config_of(
        evaluator,
        readings=plan.readings,
        targets=targets,
        baseline=baseline,
    )


def _hidden_targets(targets: Targets, secrets: Secrets) -> Targets:
    def hide(text: str) -> str:
        return as_text(secrets.hide(text))

    measures = tuple(
        replace(target, note=hide(target.note), over=None if target.over is None else hide(target.over))
        for target in targets.measures
    )
    return replace(targets, name=hide(targets.name), description=hide(targets.description), measures=measures)


def _identities(plan: Experiment, measured: Sequence[Measured]) -> tuple[Identity, list[Identity]]:
    """The judgments and the runs by their content."""
    judged = measured[0].evaluation.coverage.judged
    runs = [
        _identity(plan, each.evaluation.run, each.path, queries_of_run(each.evaluation.coverage)) for each in measured
    ]
    return _identity(plan, name_of(plan.qrels), plan.qrels, judged), runs


def _identity(plan: Experiment, name: str, path: str, queries: int) -> Identity:
    """A file by its content, but only if it was an input: a dict may have the name of an unrelated file."""
    return identity_of(name, path, queries) if path in plan.before else unread_identity(name, path, queries)


def _inputs(reports: Sequence[EvaluationReport], baseline: Baseline | None, secrets: Secrets) -> list[Digest]:
    """The digests of all files that the numbers depend on."""
    found = [
        Digest(path=identity.path, sha256=identity.sha256, size=identity.size)
        for identity in (reports[0].qrels, *(report.run for report in reports))
        if identity.sha256 is not None and identity.size is not None
    ]
    if baseline is not None and baseline.path is not None:
        found += _hidden_digests([str(Path(baseline.path) / REPORT_FILE)], secrets)
    return found


def _hidden_digests(paths: Sequence[str], secrets: Secrets) -> list[Digest]:
    return [replace(file_digest(path), path=as_text(secrets.hide(path))) for path in paths if is_file(path)]
