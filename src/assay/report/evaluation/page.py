"""A report as one HTML file that opens offline."""

from __future__ import annotations

from assay.errors import show_id
from assay.records.model import EvaluationReport, MeasureResult
from assay.records.storing import REPORT_FILE
from assay.report.drawing.charts import Drawings
from assay.report.drawing.page import ID, render_page
from assay.report.drawing.tables import MOST_QUERIES, Column, Table
from assay.report.drawing.words import where
from assay.report.evaluation.charts import charts_of
from assay.report.evaluation.sheet import lowest_first, main_measure, sheet_of, show_value

CHOICES = (("zero", "at 0"), ("below", "below the mean"), ("none", "undefined"))  # by the main measure


def render_report_html(report: EvaluationReport, charts: Drawings) -> str:
    """The report as an HTML page; `charts` comes from `draw_charts`.

    A chart without an SVG is shown by its description only.
    """
    return render_page(
        "report.html",
        charts,
        report=report,
        sheet=sheet_of(report),
        charts=charts_of(report),
        queries=_queries(report),
        where=where,
    )


def _queries(report: EvaluationReport) -> Table:
    """The values of all queries, the lowest first."""
    at = main_measure(report)
    order = list(report.queries) if at is None else lowest_first(report, at)
    shown = order[:MOST_QUERIES]
    return Table(
        columns=(
            Column("Query", number=False),
            *(Column(show_id(measure.name), bar=measure.total != "sum") for measure in report.measures),
        ),
        rows=tuple((show_id(query, ID), *_cells(report, query)) for query in shown),
        nouns="queries",
        order=None if at is None else (at + 1, "ascending"),
        kinds=() if at is None else tuple(_kinds(report.queries[query][at], report.measures[at]) for query in shown),
        choices=() if at is None else CHOICES,
        left_out=_left_out(report, len(order) - len(shown), at),
    )


def _cells(report: EvaluationReport, query: str) -> tuple[str, ...]:
    pairs = zip(report.queries[query], report.measures, strict=True)
    return tuple(show_value(value, measure) for value, measure in pairs)


def _kinds(value: float | None, measure: MeasureResult) -> str:
    """Which of `CHOICES` show the query; a sum is not comparable to the value of a query."""
    if value is None:
        return "none"
    below = measure.total != "sum" and measure.mean is not None and value < measure.mean
    return " ".join([*(["zero"] if value == 0 else []), *(["below"] if below else [])])


def _left_out(report: EvaluationReport, count: int, at: int | None) -> str:
    if not count:
        return ""
    kept = "first" if at is None else f"with the lowest {show_id(report.measures[at].name)}"
    return f"Only the {MOST_QUERIES:,} queries {kept} are here, of {len(report.queries):,}; {REPORT_FILE} has all."
