"""The files of an evaluation report, except the JSON."""

from __future__ import annotations

from assay.records.details import NO_DETAILS, Details
from assay.records.model import EvaluationReport
from assay.report.evaluation.charts import draw_charts
from assay.report.evaluation.document import render_report_markdown
from assay.report.evaluation.page import render_report_html

PAGE = "EvaluationReport.html"


def evaluation_files(report: EvaluationReport, details: Details = NO_DETAILS) -> dict[str, str]:
    """The HTML page, the Markdown, and its charts, by file name; `details` are for the page."""
    charts = draw_charts(report)
    files = {name: f"charts/{name}.svg" for name in charts.svgs}
    return {
        PAGE: render_report_html(report, charts, details),
        "EvaluationReport.md": render_report_markdown(report, files, charts.missing),
        **{files[name]: svg for name, svg in charts.svgs.items()},
    }
