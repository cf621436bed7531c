"""The files of a benchmark report, except its JSON."""

from __future__ import annotations

from assay.records.benchmark import BenchmarkReport
from assay.report.benchmark.documents import render_markdown
from assay.report.benchmark.page import render_html


def benchmark_files(report: BenchmarkReport) -> dict[str, str]:
    """The HTML page and the Markdown, by file name."""
    return {"BenchmarkReport.html": render_html(report), "BenchmarkComparison.md": render_markdown(report)}
