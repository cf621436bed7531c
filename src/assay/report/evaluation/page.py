"""A report as one HTML file that opens offline."""

from __future__ import annotations

from assay.records.details import NO_DETAILS, Details
from assay.records.model import EvaluationReport
from assay.report.drawing.charts import Drawings
from assay.report.drawing.page import render_page
from assay.report.drawing.words import where
from assay.report.evaluation.charts import charts_of
from assay.report.evaluation.queries import queries_of
from assay.report.evaluation.sheet import sheet_of


def render_report_html(report: EvaluationReport, charts: Drawings, details: Details = NO_DETAILS) -> str:
    """The report as an HTML page; `charts` comes from `draw_charts`.

    A chart without an SVG is shown by its description only. `details` have what the rows of queries open.
    """
    return render_page(
        "report.html",
        charts,
        report=report,
        sheet=sheet_of(report),
        charts=charts_of(report),
        queries=queries_of(report, details),
        where=where,
    )
