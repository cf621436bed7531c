"""A benchmark as JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.benchmark import BenchmarkReport
from assay.records.encoding import encode_record
from assay.report.benchmark.words import (
    Cell,
    absences,
    aims,
    benchmark_table,
    choices,
    heading,
    legend,
    remarks,
    settings_in_words,
)
from assay.report.drawing import markdown
from assay.report.drawing.markdown import plain
from assay.report.drawing.words import NONE
from assay.words import show_p


def render_json(report: BenchmarkReport) -> str:
    """The report; its schema is docs/schemas/benchmark-1.json."""
    return encode_record(report).decode()


def render_table_markdown(report: BenchmarkReport) -> str:
    """The table and the recommended mode, ready for an issue or a README."""
    return (
        "\n\n".join(
            [
                _markdown_table(report),
                markdown.bullets(map(plain, [*choices(report), *aims(report), *absences(report)])),
                *map(plain, legend(report)),
            ]
        )
        + "\n"
    )


def render_markdown(report: BenchmarkReport) -> str:
    """BenchmarkComparison.md: everything on the HTML page."""
    return "\n\n".join(_markdown_parts(report)) + "\n"


def _markdown_parts(report: BenchmarkReport) -> Iterator[str]:
    yield f"# {plain(heading(report).partition(':')[0])}"
    yield plain(heading(report).partition(": ")[2]) + "."
    yield _markdown_table(report)
    yield from map(plain, legend(report))
    yield "## Which mode to use"
    yield markdown.bullets(map(plain, choices(report)))
    if report.choice.segments:
        yield f"### {plain(report.choice.measure)} by segment"
        yield _segments(report)
    if report.targets is not None:
        yield "## Targets"
        yield markdown.bullets(map(plain, aims(report)))
    if report.missing:
        yield "## Modes without results"
        yield markdown.bullets(map(plain, absences(report)))
    if report.comparison is not None:
        yield f"## Differences from {plain(report.comparison.baseline)}"
        yield _differences(report)
    yield "## Modes"
    yield _modes(report)
    yield "## Collection"
    yield _files(report)
    for finding in report.findings:
        yield f"**{plain(finding.title)}** {plain(finding.code)}: {plain(finding.message)}"
    yield "## Notes"
    yield markdown.bullets(map(plain, remarks(report)))


def _markdown_table(report: BenchmarkReport) -> str:
    shown = benchmark_table(report)
    head = ["measure", *map(plain, shown.modes), "best mode"]
    rows = [
        [plain(row.name), *(_marked_down(cell) for cell in row.cells), plain(row.best)]
        for row in (*shown.rows, *shown.times)
    ]
    return markdown.table(head, rows, numbers=range(1, len(shown.modes) + 1))


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
    return markdown.table(
        ["segmentation", "segment", "queries", *map(plain, names)], rows, numbers=range(2, 3 + len(names))
    )


def _differences(report: BenchmarkReport) -> str:
    pairs = report.comparison.pairs if report.comparison else ()
    rows = [
        [
            plain(pair.measure),
            plain(pair.system),
            _number(pair.difference),
            NONE if pair.interval is None else f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}",
            NONE if pair.p_corrected is None else show_p(pair.p_corrected),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            plain(pair.verdict),
        ]
        for pair in pairs
    ]
    head = ["measure", "mode", "difference", "95% interval", "p corrected", "won/tied/lost", "verdict"]
    return markdown.table(head, rows, numbers=range(2, 6))


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:+.4f}"


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
    return markdown.table(["mode", "settings", "", ""], rows)


def _files(report: BenchmarkReport) -> str:
    files = [[plain(each.path), f"{each.size:,}", f"`{each.sha256[:16]}`"] for each in report.collection.files]
    return markdown.table(["file", "bytes", "SHA-256 (start)"], files, numbers=(1,))
