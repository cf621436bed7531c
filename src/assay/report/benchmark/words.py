"""The table, recommendations and notes that every format of a benchmark report shares. Computes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport, ModeResult, ModeTiming, SegmentChoice, StageRecord
from assay.report.drawing.words import MARKS, NONE
from assay.words import listed, number_of

REPAIRED = "order from repair"
TIME_ROW, SLOW_ROW = "ms per query", "ms, 95th percentile"


class Cell(Struct, frozen=True):
    """A value in the table."""

    value: str
    best: bool = False
    verdict: str = ""  # better or worse if significantly different from the first mode; else empty

    @property
    def mark(self) -> str:
        """The symbol for the verdict."""
        return MARKS.get(self.verdict, "")


class TableRow(Struct, frozen=True):
    """The row of a measure or a time."""

    name: str
    cells: tuple[Cell, ...]
    best: str  # names of the best modes


class BenchmarkTable(Struct, frozen=True):
    """The results of a benchmark, formatted."""

    modes: tuple[str, ...]
    rows: tuple[TableRow, ...]
    times: tuple[TableRow, ...]

    @property
    def marked(self) -> bool:
        """Whether any difference is marked."""
        return any(cell.verdict for row in self.rows for cell in row.cells)


def benchmark_table(report: BenchmarkReport) -> BenchmarkTable:
    """The results, with measures down and modes across."""
    rows = tuple(_row(report, measure) for measure in report.measures)
    return BenchmarkTable(tuple(map(mode_name, report.modes)), rows, tuple(_time_rows(report)))


def _row(report: BenchmarkReport, measure: str) -> TableRow:
    pairs = report.comparison.pairs if report.comparison else ()
    verdicts = {pair.system: pair.verdict for pair in pairs if pair.measure == measure}
    best = report.best.get(measure, ())
    several = len(report.modes) > 1
    cells = tuple(
        Cell(_value(mode, measure), several and mode.name in best, _marked(verdicts.get(mode.name, "")))
        for mode in report.modes
    )
    return TableRow(show_id(measure), cells, ", ".join(map(show_id, best)) or _no_best(report, measure))


def _no_best(report: BenchmarkReport, measure: str) -> str:
    """The text in place of a best mode: all equal, or a dash."""
    values = {mode.metrics.get(measure) for mode in report.modes}
    return "all equal" if len(values) == 1 < len(report.modes) and None not in values else NONE


def _value(mode: ModeResult, measure: str) -> str:
    value = mode.metrics.get(measure)
    return NONE if value is None else f"{value:.4f}"


def _marked(verdict: str) -> str:
    return verdict if verdict in MARKS else ""


def _time_rows(report: BenchmarkReport) -> Iterator[TableRow]:
    timing = {mode.name: report.timing[mode.name] for mode in report.modes if mode.name in report.timing}
    whole = {name: each for name, each in timing.items() if not each.unknown}
    lowest = min((each.p95 for each in whole.values()), default=None)
    medians = {name: each.milliseconds for name, each in timing.items()}
    first, *near = _fastest(whole) or [""]
    yield _time_row(report, TIME_ROW, medians, [] if near else [first])
    slow = {name: each.p95 for name, each in timing.items()}
    yield _time_row(report, SLOW_ROW, slow, [name for name, each in whole.items() if each.p95 == lowest])


def _time_row(report: BenchmarkReport, name: str, times: Mapping[str, float], best: Collection[str]) -> TableRow:
    names = [mode.name for mode in report.modes]
    cells = tuple(
        Cell(milliseconds(times[mode]) if mode in times else NONE, len(names) > 1 and mode in best) for mode in names
    )
    return TableRow(name, cells, ", ".join(show_id(mode) for mode in names if mode in best) or NONE)


def mode_name(mode: ModeResult | StageRecord) -> str:
    """The name of a mode in a table, with a warning if its order is hardly its own."""
    return f"{show_id(mode.name)} ({REPAIRED})" if mode.order_from_repair else show_id(mode.name)


def milliseconds(time: float) -> str:
    """A time with a sensible number of digits.

    >>> milliseconds(0.1234), milliseconds(12.34), milliseconds(1234.5)
    ('0.12', '12.3', '1,234')
    """
    return f"{time:.2f}" if time < 10 else f"{time:.1f}" if time < 100 else f"{time:,.0f}"


def heading(report: BenchmarkReport) -> str:
    """'Benchmark of insurance (test): 250 documents, 64 queries, 3 modes'."""
    collection = report.collection
    return (
        f"Benchmark of {show_id(collection.name)} ({show_id(collection.split)}): "
        f"{number_of(collection.documents, 'document')}, {number_of(collection.queries, 'query')}, "
        f"{number_of(len(report.modes), 'mode')}"
    )


def choices(report: BenchmarkReport) -> Iterator[str]:
    """Which mode to use, as sentences."""
    overall, latency = report.choice.overall, report.choice.latency
    if overall is None:
        yield f"No best mode by {report.choice.measure}: no query has a value, or higher is not better."
    else:
        yield f"Best overall: {overall.words}{_fastest_in_words(report, (overall.mode, *overall.equal))}"
    yield from _repaired_in_words(report)
    if latency is not None:
        yield latency.words
    ahead = [
        f"{listed([*map(show_id, each.best)])} where {segment_in_words(each)}"
        for each in report.choice.segments
        if overall and not each.few and not each.caution and not {overall.mode, *overall.equal} & set(each.best)
    ]
    if ahead:
        yield f"Another mode leads in some segments (not tested for significance): {'; '.join(ahead)}."


def _repaired_in_words(report: BenchmarkReport) -> Iterator[str]:
    repaired = [show_id(mode.name) for mode in report.modes if mode.order_from_repair]
    if repaired:
        yield (
            f"{listed(repaired)} cannot be the best mode: more than half of the answers had to be repaired, so most of "
            "the order comes from repair."
        )


def _fastest_in_words(report: BenchmarkReport, equal: Sequence[str]) -> str:
    """Which of the tied modes is fastest; not stored with the choice, because timings vary between runs."""
    times = {mode: report.timing[mode] for mode in equal if mode in report.timing and not report.timing[mode].unknown}
    if len(times) < 2:
        return ""
    mode, *near = _fastest(times)
    if near:
        return " No difference in speed goes beyond the noise of the measurement."
    took = f"{milliseconds(times[mode].milliseconds)} ms per query"
    if any(each.once or len(each.passes) < 2 for each in times.values()):
        return f" {show_id(mode)} took the least time, {took}, but not all were timed twice, so this may be noise."
    word = "faster" if len(times) == 2 else "the fastest"
    return f" {show_id(mode)} is {word}: {took}."


def _fastest(times: Mapping[str, ModeTiming]) -> list[str]:
    """The mode with the lowest median, then those whose difference from it is noise: their passes overlap."""
    first = min(times, key=lambda mode: times[mode].milliseconds, default=None)
    if first is None:
        return []
    slowest = max(times[first].passes)
    return [first, *(mode for mode, each in times.items() if mode != first and min(each.passes) <= slowest)]


# Segmentation -> what is counted, singular and plural.
_HAD = {"query length": ("word", "words"), "relevant documents": ("relevant document", "relevant documents")}


def segment_in_words(segment: SegmentChoice) -> str:
    """'queries have 3 to 5 words (12 queries)', 'intent is buy (7 queries)'."""
    name, label, queries = segment.segmentation, show_id(segment.segment), number_of(segment.queries, "query")
    if name not in _HAD:
        return f"{show_id(name)} is {label} ({queries})"
    one, several = _HAD[name]
    return f"queries have {label} {one if label == '1' else several} ({queries})"


def aims(report: BenchmarkReport) -> Iterator[str]:
    """Whether each mode meets the targets, and which it misses, failures first."""
    for mode in report.modes:
        if report.targets is not None and mode.status is not None:
            yield f"Targets ({show_id(report.targets)}): {show_id(mode.name)} {mode.status}: {_aim_in_words(mode)}."


def _aim_in_words(mode: ModeResult) -> str:
    if not mode.targets:
        return "no targets, because all uplifts are relative to it"
    missed = [
        f"{show_id(measure)} {status}, {result.words}"
        for status in ("fail", "warn", "unknown")
        for measure, result in mode.targets.items()
        if result.status == status
    ]
    return "; ".join(missed) or f"{len(mode.targets)} of {number_of(len(mode.targets), 'target')}"


def absences(report: BenchmarkReport) -> Iterator[str]:
    """Which modes have no results, why, and what to do about it."""
    for each in report.missing:
        yield f"{show_id(each.name)} has no results: {each.reason} {each.remedy}".rstrip()


def legend(report: BenchmarkReport) -> Iterator[str]:
    """What the marks and times mean."""
    yield from legend_of_marks(report)
    if report.timing:
        yield from _times_in_words(report)


def legend_of_marks(report: BenchmarkReport) -> Iterator[str]:
    """What the marks mean, if modes were compared."""
    comparison = report.comparison
    if comparison is not None:
        corrected = "" if comparison.correction == "none" else f", {comparison.correction.capitalize()} correction"
        over = f" over {number_of(comparison.comparisons, 'comparison')} by the first measure" if corrected else ""
        yield (
            f"{MARKS['better']} {MARKS['worse']} significantly better or worse than {show_id(comparison.baseline)} "
            f"({comparison.test} test{corrected}{over}, alpha {comparison.alpha:g}); unmarked differences are not "
            "significant."
        )


def _times_in_words(report: BenchmarkReport) -> Iterator[str]:
    """How the times were measured."""
    timings = report.timing.values()
    one = next(iter(timings))
    passes = "" if len(one.passes) == 1 or all(each.once for each in timings) else f" {len(one.passes)} times"
    turns = ", the modes in turns" if len(timings) > 1 else ""
    below = "; a mode takes the sum of its own time and that of the modes it stands on"
    yield (
        f"{TIME_ROW}: the median over {number_of(one.queries, 'query')}, each run alone{passes} on this machine{turns}, "
        f"with index and model loaded{below if any(_stands_on_others(mode) for mode in report.modes) else ''}."
    )
    once = [name for name, each in report.timing.items() if each.once]
    if once:
        yield f"The times of {listed([*map(show_id, once)])} were measured once, while the run was made."
    for name, each in report.timing.items():
        if each.unknown:
            yield f"The time of {show_id(name)} is without that of {listed([*map(show_id, each.unknown)])}, which is not known."


def _stands_on_others(mode: ModeResult) -> bool:
    return bool(mode.inputs)


def remarks(report: BenchmarkReport) -> Iterator[str]:
    """Notes, warnings and conventions."""
    yield from report.notes
    if report.comparison is not None:
        yield from report.comparison.notes
    if report.findings:
        codes = ", ".join(dict.fromkeys(finding.code for finding in report.findings))
        yield f"The collection has {number_of(len(report.findings), 'finding')} ({codes}); see the report."
    yield report.conventions


def settings_in_words(mode: ModeResult) -> str:
    """'engine tantivy, k1 1.2, b 0.75': every setting that has a value."""
    said = {name: setting_in_words(value) for name, value in mode.settings.items()}
    return ", ".join(f"{name.replace('_', ' ')} {words}" for name, words in said.items() if words)


def setting_in_words(value: object) -> str:
    """A setting as text; empty for None and for an empty string.

    >>> setting_in_words(["lexical", "vector"]), setting_in_words({"stemmer": "english", "lower_case": True})
    ('lexical + vector', '(stemmer english, lower case yes)')
    """
    if isinstance(value, dict):
        return (
            "(" + ", ".join(f"{name.replace('_', ' ')} {setting_in_words(each)}" for name, each in value.items()) + ")"
        )
    if isinstance(value, (list, tuple)):
        return " + ".join(map(setting_in_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = "" if value is None else str(value)
    return text[:12] if len(text) == 64 and text.isalnum() else text  # a digest
