"""The baseline of a gate: a stored report or a run, with cautions about the report. Decides nothing."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeGuard

import msgspec
import numpy as np
from msgspec import Struct, to_builtins

from assay._version import __version__
from assay.errors import InputError, show_id, some_of
from assay.evaluation import Evaluation, Evaluator
from assay.formats.readings import Readings
from assay.formats.sources import Source
from assay.measures import Measure
from assay.records.building import written_ids
from assay.records.encoding import read_record
from assay.records.identity import content_of, is_file
from assay.records.model import REPORT_SCHEMA, Baseline, EvaluationReport, ExperimentManifest
from assay.records.storing import MANIFEST_FILE, REPORT_FILE, read_manifest, read_report
from assay.records.targets import baseline_of
from assay.tables import Floats

MAX_AGE = 90  # days
_LONGEST_COMMAND = 2000  # characters

Kind = Literal["run", "report"]
_HEAD = re.compile(rb'\s*\{\s*"schema"\s*:\s*"' + REPORT_SCHEMA.rpartition("/")[0].encode() + rb"/")


class Caution(Struct, frozen=True):
    """A doubt about a decision that does not change it."""

    kind: str
    words: str


class Side(Struct, frozen=True, eq=False):
    """A run with its values by measure."""

    name: str
    path: str  # as given; "" for a value in memory
    kind: Kind
    queries: tuple[str, ...]
    values: Mapping[str, Floats]  # by canonical measure name
    means: Baseline  # that uplifts of targets are relative to
    created: str | None = None  # of a report
    version: str | None = None  # of the assay that made the report, if its manifest exists

    def column(self, measure: Measure) -> Floats:
        """The values of one measure."""
        return self.values[str(measure)]


def side_of(evaluation: Evaluation, path: str, *, written: bool = False) -> Side:
    """A run evaluated now; `written` names its queries as a report would."""
    values = {str(measure): column for measure, column in zip(evaluation.measures, evaluation.values.T, strict=True)}
    # The path tells targets that it is another run, even if baseline and candidate have the same name.
    means = msgspec.structs.replace(baseline_of(evaluation), path=path)
    queries = tuple(written_ids(evaluation.queries)) if written else evaluation.queries
    return Side(evaluation.run, path, "run", queries, values, means)


# Reports


class StoredReport(Struct, frozen=True):
    """A report with its manifest, if there is one."""

    path: str  # as given
    report: EvaluationReport
    manifest: ExperimentManifest | None


def is_report(source: Any) -> TypeGuard[Source]:
    """Whether a source is a report: a folder, or a report's JSON file under any name."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = Path(source)
    if path.is_dir() or path.name == REPORT_FILE:
        return True
    if not is_file(os.fspath(source)):
        return False
    try:
        with path.open("rb") as file:
            return _HEAD.match(file.read(1024)) is not None
    except OSError:
        return False  # reading it as a run will report the error


def open_report(source: str | os.PathLike[str]) -> StoredReport:
    """The report in a folder or a file, with its manifest."""
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    if path.is_dir() and not (path / REPORT_FILE).exists():
        inside = sorted(found.parent.name for found in path.glob(f"*/{REPORT_FILE}"))
        if inside:
            raise InputError(
                f"contains the reports of several runs ({some_of(inside)}); give one of them, such as {path / inside[0]}.",
                source=os.fspath(source),
            )
    report = read_report(folder) if path.is_dir() or path.name == REPORT_FILE else _read_file(path)
    return StoredReport(os.fspath(source), report, _manifest_of(report, folder))


def _read_file(path: Path) -> EvaluationReport:
    """A report file under another name."""
    return read_record(
        path, EvaluationReport, why=lambda _, error: f"is not a report that this version of assay can read: {error}."
    )


def _manifest_of(report: EvaluationReport, folder: Path) -> ExperimentManifest | None:
    """The manifest of this experiment in the report's folder or, for several runs, its parent."""
    for place in (folder, folder.parent):
        if (place / MANIFEST_FILE).exists():
            manifest = read_manifest(place)
            if manifest.experiment == report.experiment:
                return manifest
    return None


def side_of_report(stored: StoredReport, measures: Iterable[Measure]) -> Side:
    """The run of a report, which must have values for these measures."""
    report = stored.report
    places = {result.canonical: place for place, result in enumerate(report.measures)}
    missing = [measure for measure in measures if str(measure) not in places]
    if missing:
        raise InputError(_missing_words(report, missing, stored.path), source=stored.path)
    rows = _rows(stored)
    return Side(
        name=report.run.name,
        path=stored.path,
        kind="report",
        queries=tuple(report.queries),
        values={name: rows[:, place] for name, place in places.items()},
        means=Baseline(name=report.run.name, means={r.canonical: r.mean for r in report.measures}, path=stored.path),
        created=report.created,
        version=None if stored.manifest is None else stored.manifest.assay_version,
    )


def _rows(stored: StoredReport) -> Floats:
    report = stored.report
    if not report.queries:
        raise InputError(
            f"the report has means but no per-query values, so nothing can be paired. {_how_to_make(report, (), stored.path)}",
            source=stored.path,
        )
    if any(len(row) != len(report.measures) for row in report.queries.values()):
        raise InputError(
            f"the report is damaged: a query does not have one value per measure. "
            f"{_how_to_make(report, (), stored.path)}",
            source=stored.path,
        )
    rows = [[np.nan if value is None else value for value in row] for row in report.queries.values()]
    return np.array(rows, np.float64)


def _missing_words(report: EvaluationReport, missing: list[Measure], path: str) -> str:
    lacks = ", ".join(map(str, missing))
    has = ", ".join(show_id(result.name) for result in report.measures)
    return f"the report has no {lacks} (it has {has}). {_how_to_make(report, missing, path)}"


def _how_to_make(report: EvaluationReport, missing: Iterable[Measure], path: str) -> str:
    """The command that writes the report with everything needed."""
    measures = [*(result.name for result in report.measures), *map(str, missing)]
    folder = os.path.dirname(path) or "." if not os.path.isdir(path) else path
    files = [report.qrels.path or "QRELS", report.run.path or "RUN"]
    words = ["assay", "evaluate", *files, *(part for name in measures for part in ("-m", name)), "--report", folder]
    return f"Recreate it: {show_id(shlex.join(words), _LONGEST_COMMAND)}"


# Cautions about a report


def report_cautions(
    stored: StoredReport,
    evaluator: Evaluator,
    qrels: str,
    *,
    readings: Readings,
    max_age: int | None = MAX_AGE,
    now: datetime | None = None,
) -> Iterator[Caution]:
    """Why the report may differ from what this evaluator would give today. Without `max_age` it may have any age."""
    report, manifest = stored.report, stored.manifest
    if max_age is not None:
        yield from _age_cautions(report.created, max_age, now or datetime.now(UTC))
    yield from _qrels_cautions(report, qrels)
    yield from _convention_cautions(report, evaluator)
    grades, columns = readings.qrels.grades, readings.columns
    if manifest is not None and dict(manifest.config.grades) != dict(grades):
        yield Caution(
            "grades",
            "OTHER GRADES: the baseline was evaluated with other values for letter grades "
            f"({_pairs(manifest.config.grades)}; here {_pairs(grades)}), so the two are not comparable. {_AGAIN}",
        )
    if manifest is not None and dict(manifest.config.columns) != dict(columns):
        before, here = (
            _pairs({role: "+".join(names) for role, names in each.items()})
            for each in (manifest.config.columns, columns)
        )
        yield Caution(
            "columns",
            f"OTHER COLUMNS: the baseline was read with other columns ({before}; here {here}), so the two may not be "
            f"comparable. {_AGAIN}",
        )
    if manifest is not None and manifest.assay_version != __version__:
        yield Caution(
            "version", f"the baseline was made by assay {manifest.assay_version}; this is {__version__}. {_AGAIN}"
        )
    if report.incomplete_because:
        yield Caution("incomplete", f"the baseline is incomplete: {' '.join(report.incomplete_because)}")


_AGAIN = "Evaluate the baseline run again."


def _age_cautions(created: str, max_age: int, now: datetime) -> Iterator[Caution]:
    try:
        made = datetime.fromisoformat(created)
    except ValueError:
        yield Caution("age", f"the age of the baseline is unknown: {created!r} is not a date.")
        return
    made = made if made.tzinfo else made.replace(tzinfo=UTC)
    days = (now - made).days
    if days > max_age:
        yield Caution(
            "age",
            f"the baseline is {days} days old (made on {made:%Y-%m-%d}; the limit is {max_age} days): documents, judgments and "
            f"queries may have changed. Make a new one from the system in use.",
        )
    elif days < -1:  # clocks may differ a little
        yield Caution("age", f"the baseline is dated in the future ({made:%Y-%m-%d}): one of the clocks is wrong.")


def _qrels_cautions(report: EvaluationReport, qrels: str) -> Iterator[Caution]:
    before, now = report.qrels.sha256, content_of(qrels).sha256 if is_file(qrels) else None
    if before is None or now is None:
        yield Caution(
            "qrels",
            "cannot check that the baseline was evaluated with the same judgments: there is no file to compare.",
        )
    elif before != now:
        yield Caution(
            "qrels",
            f"OTHER JUDGMENTS: the baseline was evaluated with {report.qrels.path} (sha256 {before[:12]}), this candidate "
            f"with {qrels} ({now[:12]}). The difference may come from the judgments alone. {_AGAIN}",
        )


def _convention_cautions(report: EvaluationReport, evaluator: Evaluator) -> Iterator[Caution]:
    now = to_builtins(evaluator.rules)
    changed = {name: value for name, value in now.items() if name in report.rules and report.rules[name] != value}
    if changed:
        were = _pairs({name: report.rules[name] for name in changed})
        yield Caution(
            "rules",
            f"OTHER RULES: the baseline was evaluated under {were}, this candidate under {_pairs(changed)}. The difference "
            f"may come from the rules alone. {_AGAIN}",
        )
    if report.like != evaluator.like.name:
        yield Caution(
            "like",
            f"OTHER CONVENTIONS: the baseline was evaluated with the conventions of {report.like}, this candidate with those "
            f"of {evaluator.like.name}. The difference may come from that alone. {_AGAIN}",
        )


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "none"
