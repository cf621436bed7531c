"""A benchmark for the terminal, as JSON and Markdown: measures down, modes across, the best of each row in bold.

Computes nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport, ModeResult, SegmentChoice
from assay.report.markdown_report import plain
from assay.report.sheet import count_of
from assay.report.terminal import printed, terminal_width

if TYPE_CHECKING:
    from rich.text import Text

MARKS = {"better": "▲", "worse": "▼"}  # than the first mode, beyond chance
TIME_ROW, SLOW_ROW = "ms per query", "ms, 95th percentile"
NONE = "–"  # where there is no value
_LONGEST = 2000  # characters of any sentence


@dataclass(frozen=True)
class Cell:
    """A value in the table."""

    value: str
    best: bool = False
    verdict: str = ""  # better or worse than the first mode, beyond chance; else empty

    @property
    def mark(self) -> str:
        """The sign of the verdict."""
        return MARKS.get(self.verdict, "")


@dataclass(frozen=True)
class TableRow:
    """One measure, or a time."""

    name: str
    cells: tuple[Cell, ...]
    best: str  # names of the best modes


@dataclass(frozen=True)
class BenchmarkTable:
    """The figures of a benchmark, as they are shown."""

    modes: tuple[str, ...]
    rows: tuple[TableRow, ...]
    times: tuple[TableRow, ...]

    @property
    def marked(self) -> bool:
        """Whether a difference is marked."""
        return any(cell.verdict for row in self.rows for cell in row.cells)


def benchmark_table(report: BenchmarkReport) -> BenchmarkTable:
    """Measures down, modes across."""
    rows = tuple(_row(report, measure) for measure in report.measures)
    return BenchmarkTable(tuple(show_id(mode.name) for mode in report.modes), rows, tuple(_time_rows(report)))


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
    """Why no mode is the best by a measure, where all have the same value."""
    values = {mode.metrics.get(measure) for mode in report.modes}
    return "all equal" if len(values) == 1 < len(report.modes) and None not in values else NONE


def _value(mode: ModeResult, measure: str) -> str:
    value = mode.metrics.get(measure)
    return NONE if value is None else f"{value:.4f}"


def _marked(verdict: str) -> str:
    return verdict if verdict in MARKS else ""


def _time_rows(report: BenchmarkReport) -> Iterator[TableRow]:
    timings = [report.timing.get(mode.name) for mode in report.modes]
    yield _time_row(report, TIME_ROW, [None if timing is None else timing.milliseconds for timing in timings])
    yield _time_row(report, SLOW_ROW, [None if timing is None else timing.p95 for timing in timings])


def _time_row(report: BenchmarkReport, name: str, times: Sequence[float | None]) -> TableRow:
    known = [time for time in times if time is not None]
    fastest = min(known, default=None)
    several = len(report.modes) > 1
    cells = tuple(
        Cell(NONE if time is None else milliseconds(time), several and time is not None and time == fastest)
        for time in times
    )
    names = [show_id(mode.name) for mode, time in zip(report.modes, times, strict=True) if time == fastest is not None]
    return TableRow(name, cells, ", ".join(names) or NONE)


def milliseconds(time: float) -> str:
    """A time with as many digits as it is worth.

    >>> milliseconds(0.1234), milliseconds(12.34), milliseconds(1234.5)
    ('0.12', '12.3', '1,234')
    """
    return f"{time:.2f}" if time < 10 else f"{time:.1f}" if time < 100 else f"{time:,.0f}"


# In words


def heading(report: BenchmarkReport) -> str:
    """'Benchmark of insurance (test): 250 documents, 64 queries, 3 modes'."""
    collection = report.collection
    return (
        f"Benchmark of {show_id(collection.name)} ({show_id(collection.split)}): "
        f"{count_of(collection.documents, 'document')}, {count_of(collection.queries, 'query')}, "
        f"{count_of(len(report.modes), 'mode')}"
    )


def choices(report: BenchmarkReport) -> Iterator[str]:
    """Which mode to use, in sentences."""
    overall, latency = report.choice.overall, report.choice.latency
    if overall is None:
        yield f"No mode is the best by {report.choice.measure}: no query has a value, or a higher one is not better."
    else:
        yield f"Best over all: {overall.words}{_fastest_in_words(report, (overall.mode, *overall.equal))}"
    if latency is not None:
        yield latency.words
    ahead = [
        f"{', '.join(map(show_id, each.best))} where {segment_in_words(each)}"
        for each in report.choice.segments
        if overall and not each.few and not each.caution and not {overall.mode, *overall.equal} & set(each.best)
    ]
    if ahead:
        yield f"Another mode is ahead on some kinds of query, which is not tested: {'; '.join(ahead)}."


def _fastest_in_words(report: BenchmarkReport, equal: Sequence[str]) -> str:
    """What tells equal modes apart. It rests on the clock, so it is no part of the choice that is kept."""
    times = {mode: report.timing[mode].milliseconds for mode in equal if mode in report.timing}
    if len(times) < 2:
        return ""
    mode = min(times, key=lambda mode: times[mode])
    word = "faster" if len(times) == 2 else "the fastest"
    return f" {show_id(mode)} is {word}: {milliseconds(times[mode])} ms per query."


# What queries are sorted by, unasked -> what one has of it, and several.
_HAD = {"query length": ("word", "words"), "relevant documents": ("relevant document", "relevant documents")}


def segment_in_words(segment: SegmentChoice) -> str:
    """'queries have 3 to 5 words (12 queries)', 'intent is buy (7 queries)'."""
    name, label, queries = segment.segmentation, show_id(segment.segment), count_of(segment.queries, "query")
    if name not in _HAD:
        return f"{show_id(name)} is {label} ({queries})"
    one, several = _HAD[name]
    return f"queries have {label} {one if label == '1' else several} ({queries})"


def aims(report: BenchmarkReport) -> Iterator[str]:
    """How each mode stands against the targets, and what it has missed, the gravest first."""
    for mode in report.modes:
        if report.targets is not None and mode.status is not None:
            yield f"Targets ({show_id(report.targets)}): {show_id(mode.name)} {mode.status}: {_aim_in_words(mode)}."


def _aim_in_words(mode: ModeResult) -> str:
    if not mode.targets:
        return "it has nothing to reach, all uplifts are over it"
    missed = [
        f"{show_id(measure)} {status}, {result.words}"
        for status in ("fail", "warn", "unknown")
        for measure, result in mode.targets.items()
        if result.status == status
    ]
    return "; ".join(missed) or f"{len(mode.targets)} of {count_of(len(mode.targets), 'target')}"


def absences(report: BenchmarkReport) -> Iterator[str]:
    """Which modes have no figures, why, and what to do about it."""
    for each in report.missing:
        yield f"{show_id(each.name)} has no figures: {each.reason} {each.remedy}".rstrip()


def legend(report: BenchmarkReport) -> Iterator[str]:
    """What bold, marks and times mean."""
    comparison = report.comparison
    if comparison is not None:
        corrected = "" if comparison.correction == "none" else f", p corrected by {comparison.correction.capitalize()}"
        over = f" over {comparison.comparisons} comparisons" if comparison.comparisons > 1 else ""
        yield (
            f"{MARKS['better']} {MARKS['worse']} better or worse than {show_id(comparison.baseline)} beyond chance "
            f"({comparison.test} test{corrected}{over}, alpha {comparison.alpha:g}); without a mark the difference may be chance."
        )
    if report.timing:
        timing = next(iter(report.timing.values()))
        passes = len(timing.passes)
        times = f" {passes} times" if passes > 1 else ""
        hybrid = "; a hybrid takes what its parts take, and the fusion" if _has_hybrid(report) else ""
        yield (
            f"{TIME_ROW}: the median over {count_of(timing.queries, 'query')}, each asked alone{times} on this machine, "
            f"with index and model open{hybrid}."
        )


def _has_hybrid(report: BenchmarkReport) -> bool:
    return any(mode.kind == "hybrid" for mode in report.modes)


def remarks(report: BenchmarkReport) -> Iterator[str]:
    """What must be said beside the figures."""
    yield from report.notes
    if report.comparison is not None:
        yield from report.comparison.notes
    if report.findings:
        codes = ", ".join(dict.fromkeys(finding.code for finding in report.findings))
        yield f"The collection has {count_of(len(report.findings), 'finding')} ({codes}); see the report."
    yield report.conventions


# Renderers


def render_text(report: BenchmarkReport) -> str:
    """The table for the terminal, and below which mode to use."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    width = terminal_width()
    shown = benchmark_table(report)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("measure")
    for mode in shown.modes:
        table.add_column(Text(mode), justify="right")
    table.add_column("best mode")
    for row in shown.rows:
        table.add_row(Text(row.name), *(_rich(cell, shown.marked) for cell in row.cells), Text(row.best))
    table.add_section()
    for row in shown.times:
        table.add_row(Text(row.name), *(_rich(cell, shown.marked) for cell in row.cells), Text(row.best))
    lines = [*choices(report), *aims(report), *absences(report), "", *legend(report), *remarks(report)]
    words = "".join("\n".join(textwrap.wrap(show_id(line, _LONGEST), width)) + "\n" for line in lines)
    return printed(Text(heading(report), style="bold"), width) + "\n" + printed(table, width) + "\n" + words


def _rich(cell: Cell, marked: bool) -> Text:
    from rich.text import Text

    text = Text(cell.value, style="bold" if cell.best else "")
    if marked:
        text.append(f" {cell.mark or ' '}", style={"better": "green", "worse": "red"}.get(cell.verdict, ""))
    return text


def render_json(report: BenchmarkReport) -> str:
    """The report; its schema stands in docs/schemas/benchmark-1.json."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"


def render_table_markdown(report: BenchmarkReport) -> str:
    """The table, and below which mode to use: ready for an issue or a README."""
    return (
        "\n\n".join(
            [
                _markdown_table(report),
                _bullets([*choices(report), *aims(report), *absences(report)]),
                *map(plain, legend(report)),
            ]
        )
        + "\n"
    )


def render_markdown(report: BenchmarkReport) -> str:
    """BenchmarkComparison.md: all that the page says."""
    return "\n\n".join(_markdown_parts(report)) + "\n"


Renderer = Callable[[BenchmarkReport], str]
RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "markdown": render_table_markdown,
}


def _markdown_parts(report: BenchmarkReport) -> Iterator[str]:
    yield f"# {plain(heading(report).partition(':')[0])}"
    yield plain(heading(report).partition(": ")[2]) + "."
    yield _markdown_table(report)
    yield from map(plain, legend(report))
    yield "## Which mode to use"
    yield _bullets(choices(report))
    if report.choice.segments:
        yield f"### {plain(report.choice.measure)} by kind of query"
        yield _segments(report)
    if report.targets is not None:
        yield "## Targets"
        yield _bullets(aims(report))
    if report.missing:
        yield "## Modes without figures"
        yield _bullets(absences(report))
    if report.comparison is not None:
        yield f"## Differences to {plain(report.comparison.baseline)}"
        yield _differences(report)
    yield "## Modes"
    yield _modes(report)
    yield "## Collection"
    yield _files(report)
    for finding in report.findings:
        yield f"**{plain(finding.title)}** {plain(finding.code)}: {plain(finding.message)}"
    yield "## Notes"
    yield _bullets(remarks(report))


def _markdown_table(report: BenchmarkReport) -> str:
    shown = benchmark_table(report)
    head = ["measure", *map(plain, shown.modes), "best mode"]
    rows = [
        [plain(row.name), *(_marked_down(cell) for cell in row.cells), plain(row.best)]
        for row in (*shown.rows, *shown.times)
    ]
    return _table(head, rows, numbers=range(1, len(shown.modes) + 1))


def _marked_down(cell: Cell) -> str:
    value = f"**{cell.value}**" if cell.best else cell.value
    return f"{value} {cell.mark}" if cell.mark else value


def _segments(report: BenchmarkReport) -> str:
    names = [mode.name for mode in report.modes]
    rows = []
    for each in report.choice.segments:
        values = [
            NONE
            if (mean := each.means.get(name)) is None
            else f"**{mean:.4f}**"
            if name in each.best
            else f"{mean:.4f}"
            for name in names
        ]
        few = " (few)" if each.few else ""
        rows.append([plain(each.segmentation), plain(each.segment), f"{each.queries:,}{few}", *values])
    return _table(["queries by", "segment", "queries", *map(plain, names)], rows, numbers=range(2, 3 + len(names)))


def _differences(report: BenchmarkReport) -> str:
    pairs = report.comparison.pairs if report.comparison else ()
    rows = [
        [
            plain(pair.measure),
            plain(pair.system),
            _number(pair.difference),
            NONE if pair.interval is None else f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}",
            NONE if pair.p_corrected is None else p_value(pair.p_corrected),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            plain(pair.verdict),
        ]
        for pair in pairs
    ]
    head = ["measure", "mode", "difference", "95% interval", "p corrected", "won/tied/lost", "verdict"]
    return _table(head, rows, numbers=range(2, 6))


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:+.4f}"


def p_value(value: float) -> str:
    """Four decimals, or less than the smallest of these."""
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _modes(report: BenchmarkReport) -> str:
    rows = [
        [
            plain(mode.name),
            plain(settings_in_words(mode)),
            f"[report]({mode.report}/EvaluationReport.md)",
            f"[run]({mode.run.path})",
        ]
        for mode in report.modes
    ]
    return _table(["mode", "settings", "", ""], rows)


def settings_in_words(mode: ModeResult) -> str:
    """'engine tantivy, k1 1.2, b 0.75': every setting that has a value."""
    said = {name: setting_in_words(value) for name, value in mode.settings.items()}
    return ", ".join(f"{name.replace('_', ' ')} {words}" for name, words in said.items() if words)


def setting_in_words(value: object) -> str:
    """A setting as it is shown; nothing for none and for an empty text.

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


def _files(report: BenchmarkReport) -> str:
    files = [[plain(each.path), f"{each.size:,}", f"`{each.sha256[:16]}`"] for each in report.collection.files]
    return _table(["file", "bytes", "SHA-256 begins"], files, numbers=(1,))


def _bullets(lines: Iterator[str] | Sequence[str]) -> str:
    return "\n".join(f"- {plain(line)}" for line in lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] | range = ()) -> str:
    rule = ["---:" if at in numbers else "---" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
