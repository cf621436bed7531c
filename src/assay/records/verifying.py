"""Check a report: compare every digest, and recompute every number from the files. Prints nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.comparison.pairs import measure_called
from assay.errors import AssayError, InputError
from assay.evaluation import Evaluator
from assay.formats.readings import Queries, Reading
from assay.formats.unread import open_run
from assay.inputs.queries import read_queries
from assay.measures.arithmetic import within
from assay.records.building import build_report
from assay.records.identity import content_of, is_file
from assay.records.manifest import config_hash, settings_of
from assay.records.model import Baseline, Config, Digest, EvaluationReport, ExperimentManifest, Identity, MeasureResult
from assay.records.recording import Measured, check_all, measure_run
from assay.records.storing import MANIFEST_FILE, read_manifest, read_report, report_folders
from assay.secrets import HIDDEN
from assay.words import number_of

Kind = Literal["manifest", "output", "input", "number"]

# Machines may differ in the last bits of a logarithm or of Student's t; a changed judgment makes a larger difference.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12
_SHOWN = 3  # examples of what differs


class Check(Struct, frozen=True):
    """The result of one check."""

    kind: Kind
    name: str  # of the file, or of the number
    holds: bool | None  # None: it could not be checked
    words: str
    run: str | None = None  # that the number belongs to


class Verification(Struct, frozen=True):
    """The results of all checks of a report."""

    folder: str
    experiment: str
    created: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check was made and passed."""
        return all(check.holds for check in self.checks)

    def count(self, holds: bool | None) -> int:
        """The number of checks with this result."""
        return sum(check.holds is holds for check in self.checks)


def verify(folder: str | os.PathLike[str]) -> Verification:
    """Check the report in a folder: its own files, its input files, and all its numbers.

    Input files are found by their recorded paths, relative to the current folder or to the report's.
    """
    place = Path(folder)
    if not os.path.exists(place / MANIFEST_FILE) and os.path.exists(place.parent / MANIFEST_FILE):
        raise InputError(
            f"is one of several reports that share a manifest; verify {place.parent} instead.", source=str(folder)
        )
    manifest = read_manifest(place)
    if any("\0" in digest.path for digest in manifest.outputs):
        raise InputError(
            "is damaged: the path of an output contains a NUL character.", source=str(place / MANIFEST_FILE)
        )
    reports = dict(_readable_reports(place, manifest))
    if not reports:
        raise InputError("this folder has no readable report; make the report again.", source=str(folder))
    checks = [
        *_manifest_checks(manifest, reports.values()),
        *(_output_check(place, output) for output in manifest.outputs),
        *(_input_check(place, digest) for digest in manifest.inputs),
        *_number_checks(place, manifest, list(reports.values())),
    ]
    return Verification(os.fspath(folder), manifest.experiment, manifest.created, tuple(checks))


def _readable_reports(folder: Path, manifest: ExperimentManifest) -> Iterator[tuple[str, EvaluationReport]]:
    for name in report_folders(manifest):
        try:
            yield name, read_report(folder / name)
        except InputError:
            continue  # the check of its digest reports this


# Files


def _manifest_checks(manifest: ExperimentManifest, reports: Any) -> Iterator[Check]:
    hashed = config_hash(manifest.config, settings_of(manifest))
    same = hashed == manifest.config_hash
    words = f"config hash {hashed[:12]}" if same else f"config hash is {hashed[:12]}, was {manifest.config_hash[:12]}"
    yield Check("manifest", "settings", same, words)
    for report in reports:
        same = report.experiment == manifest.experiment
        words = "belongs to the manifest" if same else f"belongs to {report.experiment!r}, not {manifest.experiment!r}"
        yield Check("manifest", "experiment", same, words, run=report.run.name)


def _output_check(folder: Path, digest: Digest) -> Check:
    path = folder / digest.path
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        return Check("output", digest.path, False, "points outside the folder")
    return _digest_check("output", digest, [str(path)])


def _input_check(folder: Path, digest: Digest) -> Check:
    if HIDDEN in digest.path:
        return Check("input", digest.path, None, "its path contains a secret and was not recorded")
    return _digest_check("input", digest, candidates(folder, digest.path))


def candidates(folder: Path, path: str) -> list[str]:
    """The places of a recorded path: relative to the current folder, and to the report's."""
    return [path] if os.path.isabs(path) else [path, str(folder / path)]


def _digest_check(kind: Kind, digest: Digest, paths: Sequence[str]) -> Check:
    there = [path for path in paths if is_file(path)]
    if not there:
        return Check(kind, digest.path, False, "no such file" + (f" (also tried {paths[1]})" if len(paths) > 1 else ""))
    try:
        found = [content_of(path) for path in there]
    except InputError as error:
        return Check(kind, digest.path, False, str(error))
    if any(content.sha256 == digest.sha256 for content in found):
        return Check(kind, digest.path, True, f"sha256 {digest.sha256[:12]}")
    first = found[0]
    sizes = "" if first.size == digest.size else f", {first.size} bytes instead of {digest.size}"
    return Check(
        kind, digest.path, False, f"has changed: sha256 is {first.sha256[:12]}, was {digest.sha256[:12]}{sizes}"
    )


# Numbers


class _CannotRead(Exception):
    """An input that did not come from a file, or whose file is missing."""


def _number_checks(folder: Path, manifest: ExperimentManifest, reports: Sequence[EvaluationReport]) -> Iterator[Check]:
    """Checks of all numbers, run by run: one that cannot be read leaves the others checked."""
    config = manifest.config
    try:
        queries = _queries(folder, manifest)
        evaluator = _evaluator(folder, config, reports[0], queries, _weights(folder, manifest))
        again = [_measured_again(folder, config, evaluator, report, queries) for report in reports]
        measured = [each for each in again if isinstance(each, Measured)]
        unread = [_recorded(report) for report, each in zip(reports, again, strict=True) if isinstance(each, Exception)]
        outcomes = check_all(config.targets, [each.evaluation for each in measured], config.baseline, unread)
    except (_CannotRead, AssayError) as error:
        for report in reports:
            yield _unchecked(report, error)
        return
    for before, now in zip(reports, again, strict=True):
        if isinstance(now, Exception):
            yield _unchecked(before, now)
        else:
            yield from _compared(before, _rebuilt(now, before, outcomes))


def _queries(folder: Path, manifest: ExperimentManifest) -> Queries:
    """The queries that the files were read with."""
    path = manifest.queries
    if path is None:
        return Queries()
    return Queries(read_queries(_found(folder, "the file of queries", path, _recorded_digest(manifest, path))), path)


def _weights(folder: Path, manifest: ExperimentManifest) -> str | None:
    """The file with the weights of queries, if there was one."""
    path = manifest.query_weights
    return None if path is None else _found(folder, "the file of weights", path, _recorded_digest(manifest, path))


def _recorded_digest(manifest: ExperimentManifest, path: str) -> str | None:
    return next((digest.sha256 for digest in manifest.inputs if digest.path == path), None)


def _evaluator(
    folder: Path, config: Config, report: EvaluationReport, queries: Queries, weights: str | None
) -> Evaluator:
    return Evaluator(
        _found_again(folder, report.qrels),
        config.measures,
        config.rules,
        like=config.like,
        reading=Reading(config.qrels_format, config.grades, config.columns, queries=queries),
        unmatched="zero",
        query_weights=weights,
    )


def _measured_again(
    folder: Path, config: Config, evaluator: Evaluator, report: EvaluationReport, queries: Queries
) -> Measured | _CannotRead | AssayError:
    """A run, evaluated again from its file, or why that is not possible."""
    try:
        path = _found_again(folder, report.run)
        reading = Reading(config.run_format, columns=config.columns, queries=queries).shared()
        return measure_run(evaluator, open_run(path, reading, name=report.run.name))
    except (_CannotRead, AssayError) as error:
        return error


def _recorded(report: EvaluationReport) -> Baseline:
    """A run that cannot be read, as a baseline for the others: its means as recorded."""
    return Baseline(name=report.run.name, means={each.canonical: each.mean for each in report.measures})


def _unchecked(report: EvaluationReport, error: Exception) -> Check:
    run = report.run.name
    if isinstance(error, _CannotRead):
        return Check("number", "all numbers", None, str(error), run=run)
    return Check("number", "all numbers", False, f"cannot be recomputed: {error}", run=run)


def _rebuilt(measured: Measured, before: EvaluationReport, outcomes: Mapping[str, Any]) -> EvaluationReport:
    return build_report(
        measured.evaluation,
        findings=before.findings,
        targets=outcomes.get(measured.evaluation.run),
        curves=measured.curves,
        confidence=before.measures[0].confidence if before.measures else 0.95,
    )


def _found_again(folder: Path, identity: Identity) -> str:
    """The file of a run or of judgments."""
    return _found(folder, identity.name, identity.path, identity.sha256)


def _found(folder: Path, name: str, recorded: str, sha256: str | None) -> str:
    """The file with a recorded path; of two candidates, the one that has not changed."""
    if sha256 is None:
        came = "standard input" if recorded == "-" else recorded or "a value in memory"
        raise _CannotRead(f"{name} came from {came}, which cannot be read again")
    there = [path for path in candidates(folder, recorded) if is_file(path)]
    if not there:
        raise _CannotRead(f"{recorded} was not found")
    same = [path for path in there if len(there) > 1 and content_of(path).sha256 == sha256]
    return (same or there)[0]


def _compared(before: EvaluationReport, now: EvaluationReport) -> Iterator[Check]:
    """Checks of every number in a report against the recomputed one."""
    run = before.run.name
    results = {result.name: (place, result) for place, result in enumerate(now.measures)}
    for place, old in enumerate(before.measures):
        if old.name not in results or results[old.name][1].canonical != old.canonical:
            yield Check("number", old.name, False, f"no longer means {old.canonical}", run=run)
            continue
        new_place, new = results[old.name]
        yield _measure_check(run, old, new)
        yield _queries_check(run, old.name, _column(before, place), _column(now, new_place))
    for name in ("rules", "status", "coverage", "complete", "curves"):
        yield _part_check(run, name, getattr(before, name), getattr(now, name))


def _measure_check(run: str, old: MeasureResult, new: MeasureResult) -> Check:
    """Check the mean, interval, counts, tie bounds and target of one measure."""
    before, now = _known_fields(_numbers(old), _numbers(new))
    differences = list(_differences(before, now))
    if differences:
        return Check("number", old.name, False, _in_words(differences), run=run)
    mean = "no value" if old.mean is None else f"{old.mean:.4f}"
    ends = "" if old.interval is None else f" [{old.interval[0]:.4f}, {old.interval[1]:.4f}]"
    return Check("number", old.name, True, f"{mean}{ends}", run=run)


def _numbers(result: MeasureResult) -> dict[str, Any]:
    """A result without the words of its target, since a later version may word them differently.

    Reports of earlier versions have intervals beyond the bounds of the measure.
    """
    measure = measure_called(result.canonical)
    bounds = None if measure is None else measure.definition.bounds
    found: dict[str, Any] = msgspec.to_builtins(replace(result, interval=within(result.interval, bounds)))
    if result.weighted is not None:
        found["weighted"]["interval"] = within(result.weighted.interval, bounds)
    target = found["target"]
    return {**found, "target": target and {name: value for name, value in target.items() if name != "words"}}


def _known_fields(old: Any, new: Any) -> tuple[Any, Any]:
    """Drop new fields that the old value does not have: a later version may have added them."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        new = {name: value for name, value in new.items() if name in old}
    return old, new


def _column(report: EvaluationReport, place: int) -> dict[str, float | None]:
    return {query: values[place] if place < len(values) else None for query, values in report.queries.items()}


def _queries_check(run: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Check:
    differences = list(_differences(old, new))
    words = _in_words(differences) if differences else number_of(len(old), "query")
    return Check("number", f"{name} by query", not differences, words, run=run)


def _part_check(run: str, name: str, old: Any, new: Any) -> Check:
    old, new = _known_fields(msgspec.to_builtins(old), msgspec.to_builtins(new))
    differences = list(_differences(old, new, name))
    return Check("number", name, not differences, _in_words(differences) if differences else "the same", run=run)


def _differences(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """The differences, as 'place is X, was Y'."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from _differences(old.get(key, _NOTHING), new.get(key, _NOTHING), f"{at}.{key}" if at else str(key))
    elif _is_list(old) and _is_list(new) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{at}[{number}]")
    elif not _same(old, new):
        yield f"{at} is {_shown(new)}, was {_shown(old)}"


_NOTHING = "absent"


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return bool(old == new)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _in_words(differences: Sequence[str]) -> str:
    more = len(differences) - _SHOWN
    return "; ".join(differences[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
