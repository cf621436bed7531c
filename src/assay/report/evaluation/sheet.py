"""The texts and table cells of a report page, for every format. Escapes nothing and computes no measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from assay.errors import show_id, some_of
from assay.records import details
from assay.records.model import EvaluationReport, FindingRecord, Identity, MeasureResult, Status, TargetResult
from assay.report.drawing.words import NONE, Facts, show_moment
from assay.words import natural_key, number_of, sentence

SEVERITIES = {"error": "Errors", "warning": "Warnings", "note": "Notes"}  # worst first
STATUSES: tuple[Status, ...] = ("pass", "unknown", "warn", "fail")


class Whisker(Struct, frozen=True):
    """A mean, its interval and the levels of its target on a line from 0 to 1."""

    mean: float
    low: float
    high: float
    levels: tuple[float, ...]


class MeasureRow(Struct, frozen=True):
    """One measure, ready to print."""

    name: str
    mean: str
    interval: str
    status: str  # empty without a target
    target: str
    levels: str  # target levels not reached yet, and the typical range
    notes: tuple[str, ...]
    whisker: Whisker | None
    weighted: str = ""  # empty without weights
    weighted_interval: str = ""


class FindingGroup(Struct, frozen=True):
    """The findings of one severity."""

    severity: str
    title: str
    findings: tuple[FindingRecord, ...]


class EvaluationSheet(Struct, frozen=True):
    """A report, ready to print."""

    run: str
    qrels: str
    lede: str  # the main result in one sentence
    created: str
    seconds: str  # empty without an experiment
    status: str  # overall status of the targets; empty without targets
    targets: str
    incomplete_because: tuple[str, ...]
    interval_name: str
    measures: tuple[MeasureRow, ...]
    conventions: str
    rules: Facts
    coverage: Facts
    findings: tuple[FindingGroup, ...]
    no_findings: str  # what to say if there are none
    identity: tuple[tuple[str, Facts], ...]
    experiment: Facts
    weights: tuple[str, ...]  # how the weighted means come about; empty without weights


def sheet_of(report: EvaluationReport) -> EvaluationSheet:
    """The report's texts, except the charts and the values of queries."""
    confidences = {measure.confidence for measure in report.measures}
    one = len(confidences) == 1
    return EvaluationSheet(
        run=show_id(report.run.name),
        qrels=show_id(report.qrels.name),
        lede=_lede(report),
        created=show_moment(report.created),
        seconds=f"{report.seconds:.2f} s" if report.experiment else "",
        status=report.status or "",
        targets=_targets(report),
        incomplete_because=tuple(map(sentence, report.incomplete_because)),
        interval_name=f"{_percent(confidences.pop())} interval" if one else "Interval",
        measures=tuple(_measure_row(measure, say_confidence=not one) for measure in report.measures),
        conventions=sentence(report.conventions.removeprefix("Conventions: ")),
        rules=_facts(report.rules),
        coverage=_facts(report.coverage),
        findings=_groups(report.findings),
        no_findings="None." if report.experiment else "Not looked for: this result was saved without its files.",
        identity=(("Run", _identity(report.run, report.tag)), ("Judgments", _identity(report.qrels))),
        experiment=_experiment(report),
        weights=tuple(show_id(words, 1000) for words in report.weights),
    )


def _experiment(report: EvaluationReport) -> Facts:
    measured = (
        ("Manifest", show_id(report.experiment, 120)),
        ("Date", show_moment(report.created)),
        ("Time taken", f"{report.seconds:.2f} s, including reading"),
    )
    saved = (("Date", show_moment(report.created)),)
    conditions = (("Convention", show_id(report.like)), ("Schema", report.schema))
    return (*(measured if report.experiment else saved), *conditions)


def _lede(report: EvaluationReport) -> str:
    at = main_measure(report)
    if at is None:
        return "No query has a value."
    measure = report.measures[at]
    found = f"{show_id(measure.name)} is {show_value(measure.mean, measure)} over {number_of(measure.queries, 'query')}"
    if measure.interval is None:
        return f"{found}."
    low, high = (show_value(end, measure) for end in measure.interval)
    weighted = ""
    if measure.weighted is not None:
        weighted = f" Weighted: {show_value(measure.weighted.mean, measure)}, interval {_weighted_interval(measure)}."
    return f"{found}; {_percent(measure.confidence)} interval {low} to {high}.{weighted}"


def _weighted_interval(measure: MeasureResult) -> str:
    if measure.weighted is None or measure.weighted.interval is None:
        return NONE
    return " to ".join(show_value(end, measure) for end in measure.weighted.interval)


def _targets(report: EvaluationReport) -> str:
    """'Targets of trec-dl: 2 pass, 1 fail'; empty without targets."""
    counts = Counter(measure.target.status for measure in report.measures if measure.target)
    if report.targets is None or not counts:
        return ""
    said = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    return f"Targets of {show_id(report.targets)}: {said}"


def _percent(confidence: float) -> str:
    return f"{confidence * 100:g}%"


def _measure_row(measure: MeasureResult, *, say_confidence: bool) -> MeasureRow:
    interval = NONE
    if measure.interval:
        low, high = (show_value(end, measure) for end in measure.interval)
        interval = f"{low} to {high}" + (f" ({_percent(measure.confidence)})" if say_confidence else "")
    return MeasureRow(
        name=show_id(measure.name),
        mean=show_value(measure.mean, measure),
        interval=interval,
        status=measure.target.status if measure.target else "",
        target=show_id(measure.target.words, 300) if measure.target else "",
        levels=_levels(measure, measure.target) if measure.target else "",
        notes=tuple(_notes(measure)),
        whisker=_whisker(measure),
        weighted=NONE if measure.weighted is None else show_value(measure.weighted.mean, measure),
        weighted_interval=_weighted_interval(measure),
    )


def _levels(measure: MeasureResult, target: TargetResult) -> str:
    """'strong from 0.4000; typical 0.3000 to 0.3200', in addition to the words of the target."""
    beyond = [value for value in target.levels.values() if value != target.goal and (measure.mean or 0.0) < value]
    parts = [f"{show_id(name)} from {value:.4f}" for name, value in target.levels.items() if value in beyond]
    if target.typical:
        low, high = (f"{end:.4f}" for end in target.typical)
        parts.append(f"typical {low}" if low == high else f"typical {low} to {high}")
    return "; ".join(parts)


def _notes(measure: MeasureResult) -> list[str]:
    notes = []
    if measure.canonical != measure.name:
        notes.append(f"computed as {show_id(measure.canonical)}")
    if measure.total != "mean":
        notes.append({"sum": "sum over the queries", "geometric": "geometric mean"}.get(measure.total, measure.total))
    if measure.undefined:
        left_out = number_of(measure.undefined, "query")
        notes.append(f"over {number_of(measure.queries, 'query')}; {left_out} left out as undefined")
    if measure.tie_bounds:
        low, high = (show_value(end, measure) for end in measure.tie_bounds)
        notes.append(f"{low} to {high}, depending on the order of ties")
    return notes


def _whisker(measure: MeasureResult) -> Whisker | None:
    """None if any value is outside 0 to 1."""
    if measure.mean is None or measure.total == "sum":
        return None
    low, high = measure.interval or (measure.mean, measure.mean)
    levels = tuple(measure.target.levels.values()) if measure.target else ()
    fits = all(0 <= end <= 1 for end in (measure.mean, low, high, *levels))
    return Whisker(measure.mean, low, high, levels) if fits else None


def _groups(findings: Sequence[FindingRecord]) -> tuple[FindingGroup, ...]:
    groups = []
    for severity, title in SEVERITIES.items():
        members = tuple(finding for finding in findings if finding.severity == severity)
        if members:
            groups.append(FindingGroup(severity, title, members))
    return tuple(groups)


def _identity(file: Identity, tag: str | None = None) -> Facts:
    """The facts about a file: a value in memory has no path, and only files have a digest."""
    facts = {
        "Name": show_id(file.name),
        "Tag": show_id(tag) if tag else None,
        "Path": "standard input" if file.path == "-" else show_id(file.path, 300),
        "SHA-256": show_id(file.sha256, 80) if file.sha256 else "unknown: it did not come from a file",
        "Size": None if file.size is None else f"{file.size:,} bytes",
        "Lines": None if file.lines is None else f"{file.lines:,}",
        "Queries": f"{file.queries:,}",
    }
    return tuple((name, value) for name, value in facts.items() if value)


def _facts(record: Mapping[str, Any]) -> Facts:
    return tuple((show_id(name.replace("_", " ")), _fact(value)) for name, value in record.items())


def _fact(value: Any) -> str:
    """A value of a record as short text; lists and tables are truncated."""
    if isinstance(value, Mapping):
        some = [f"{show_id(str(name))}: {_fact(each)}" for name, each in list(value.items())[:10]]
        return ", ".join(some) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"{len(value):,} ({some_of([str(each) for each in value])})" if value else "none"
    words = {None: "none", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
    return show_id(str(value), 120)


def main_measure(report: EvaluationReport) -> int | None:
    """The index of the measure that stands for the others; None if no query has a value."""
    valued = [any(row[at] is not None for row in report.queries.values()) for at in range(len(report.measures))]
    return details.main_measure([measure.total for measure in report.measures], valued)


def lowest_first(report: EvaluationReport, at: int) -> list[str]:
    """The queries sorted by one measure, those without a value last; equal ones in natural order."""
    return sorted(report.queries, key=lambda query: (_lowest(report.queries[query][at]), natural_key(query)))


def _lowest(value: float | None) -> tuple[bool, float]:
    return (value is None, 0.0 if value is None else value)


def show_value(value: float | None, measure: MeasureResult) -> str:
    """The value with four decimals, as a whole number for sums, or a dash if undefined."""
    if value is None:
        return NONE
    return f"{value:.0f}" if measure.total == "sum" else f"{value:.4f}"
