"""What a benchmark looks like in a notebook, a data frame and files."""

from __future__ import annotations

from collections.abc import Iterator

from assay.records.benchmark import BenchmarkReport
from assay.report.benchmark.charts import charts_of
from assay.report.benchmark.documents import render_json, render_markdown
from assay.report.benchmark.page import render_html
from assay.report.benchmark.text import render_text
from assay.report.benchmark.words import Cell, absences, aims, benchmark_table, choices, heading, legend, remarks
from assay.report.drawing.delimited import Columns, Value, columns_as_csv
from assay.report.drawing.sheets import Sheet, SheetTable, Strong, sheet_as_latex
from assay.report.drawing.views import View

COLUMNS = ("mode", "kind", "measure", "mean", "low", "high", "best", "milliseconds", "p95")


def _columns(report: BenchmarkReport) -> Columns:
    """A row per mode and measure; the times are those of the mode."""
    return dict(zip(COLUMNS, zip(*_rows(report), strict=True), strict=True))


def _rows(report: BenchmarkReport) -> Iterator[tuple[Value, ...]]:
    for mode in report.modes:
        timing = report.timing.get(mode.name)
        times = (None, None) if timing is None else (timing.milliseconds, timing.p95)
        for measure in report.measures:
            low, high = mode.intervals.get(measure) or (None, None)
            best = mode.name in report.best.get(measure, ())
            yield (mode.name, mode.kind, measure, mode.metrics.get(measure), low, high, best, *times)


def _sheet(report: BenchmarkReport) -> Sheet:
    """The table of measures by modes, and which mode to use."""
    shown = benchmark_table(report)
    rows = tuple((row.name, *map(_marked, row.cells), row.best) for row in (*shown.rows, *shown.times))
    table = SheetTable(("measure", *shown.modes, "best mode"), rows, frozenset(range(1, len(shown.modes) + 1)))
    answers = (*choices(report), *aims(report), *absences(report))
    return Sheet("Benchmark", heading(report), (table,), answers, (*legend(report), *remarks(report)))


def _marked(cell: Cell) -> str | Strong:
    words = f"{cell.value} {cell.mark}".rstrip()
    return Strong(words) if cell.best else words


VIEW: View[BenchmarkReport] = View(
    noun="a benchmark",
    text=render_text,
    brief=_sheet,
    columns=_columns,
    formats={
        ".csv": lambda report: columns_as_csv(_columns(report)),
        ".json": render_json,
        ".md": render_markdown,
        ".tex": lambda report: sheet_as_latex(_sheet(report)),
        ".html": render_html,
    },
    charts=charts_of,
)
