"""A benchmark as JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.records.benchmark import BenchmarkReport, PairRecord
from assay.records.encoding import encode_record
from assay.report.benchmark.stages import (
    StageColumn,
    moved_sentences,
    stage_legend,
    stage_sentences,
    stage_table,
    verdict_on_stages,
)
from assay.report.benchmark.words import (
    Cell,
    absences,
    aims,
    benchmark_table,
    choices,
    heading,
    legend,
    mode_name,
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
                *(_stages(report) if report.stages else ()),
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
    if report.stages:
        yield "## Stages"
        yield from _stages(report)
        yield "### Differences from the stage before"
        yield _pairs([pair for stage in report.stages for pair in stage.differences], "stage before")
        yield from _moved(report)
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
        yield _pairs(report.comparison.pairs)
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
        ["segmentation", "segment", "queries", *(plain(mode_name(mode)) for mode in report.modes)],
        rows,
        numbers=range(2, 3 + len(names)),
    )


def _stages(report: BenchmarkReport) -> Iterator[str]:
    """The stage table in two parts, and what it says."""
    shown = stage_table(report)
    for columns in shown.halves:
        rows = [
            [plain(name), *(_stage_cell(column, number) for column in columns)]
            for number, name in enumerate(shown.stages)
        ]
        numbers = [place for place, column in enumerate(columns, 1) if not column.words]
        yield markdown.table(["stage", *(plain(column.name) for column in columns)], rows, numbers)
    yield markdown.bullets(map(plain, [*verdict_on_stages(report), *stage_sentences(report), *moved_sentences(report)]))
    yield from map(plain, stage_legend(report))


def _stage_cell(column: StageColumn, number: int) -> str:
    cell = column.cells[number]
    return f"{plain(cell.value) if column.words else cell.value} {cell.signs.strip()}".rstrip()


def _moved(report: BenchmarkReport) -> Iterator[str]:
    """Every query that a stage rescued or ruined."""
    rows = [
        [plain(stage.name), word, plain(each.query), plain(each.text), f"{each.before:.4f}", f"{each.after:.4f}"]
        for stage in report.stages
        for word, moved in (("rescued", stage.rescued), ("ruined", stage.ruined))
        for each in moved
    ]
    if rows:
        yield "### Queries rescued and ruined"
        yield markdown.table(["stage", "", "query", "text", "before", "after"], rows, numbers=(4, 5))


def _pairs(pairs: Sequence[PairRecord], baseline: str = "") -> str:
    """Differences; with a column for the baseline if it has a name here."""
    rows = [
        [
            plain(pair.measure),
            plain(pair.system),
            *([plain(pair.baseline)] if baseline else ()),
            _number(pair.difference),
            NONE if pair.interval is None else f"{pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}",
            NONE if pair.p_corrected is None else show_p(pair.p_corrected),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            plain(pair.verdict),
        ]
        for pair in pairs
    ]
    head = ["difference", "95% interval", "p corrected", "won/tied/lost", "verdict"]
    named = ["measure", "mode"] if not baseline else ["measure", "stage", baseline]
    return markdown.table([*named, *head], rows, numbers=range(len(named), len(named) + 4))


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:+.4f}"


def _modes(report: BenchmarkReport) -> str:
    rows = [
        [
            plain(mode_name(mode)),
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
