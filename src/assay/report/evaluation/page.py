"""A report as one HTML file that opens offline."""

from __future__ import annotations

import math
from typing import Any

from msgspec import Struct

from assay.errors import show_id
from assay.records.model import EvaluationReport
from assay.report.drawing.charts import Drawings
from assay.report.drawing.page import ID, render_page
from assay.report.drawing.words import where
from assay.report.evaluation.charts import charts_of
from assay.report.evaluation.sheet import lowest_first, main_measure, sheet_of, show_value
from assay.words import number_of

PLAIN_ROWS = 50  # queries in the HTML itself, for readers without JavaScript


class QueryTable(Struct, frozen=True):
    """The queries shown without JavaScript."""

    words: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def render_report_html(report: EvaluationReport, charts: Drawings) -> str:
    """The report as an HTML page; `charts` comes from `draw_charts`.

    A chart without an SVG is shown by its description only.
    """
    return render_page(
        "report.html",
        charts,
        script="report.js",
        data=_data(report),
        report=report,
        sheet=sheet_of(report),
        charts=charts_of(report),
        table=_query_table(report),
        where=where,
    )


def _data(report: EvaluationReport) -> dict[str, Any]:
    """The values of queries by column."""
    ids = list(report.queries)
    columns = list(zip(*report.queries.values(), strict=True)) if ids else [()] * len(report.measures)
    shown = {at: text for at, query in enumerate(ids) if (text := show_id(query, ID)) != query}
    return {
        "measures": [
            {
                "name": show_id(measure.name),
                "whole": measure.total == "sum",
                "mean": _known(measure.mean, measure.total),
            }
            for measure in report.measures
        ],
        "main": main_measure(report) or 0,
        "ids": ids,
        "shown": shown,  # only for ids that are displayed differently
        "values": [[_known(value) for value in column] for column in columns],
    }


def _known(value: float | None, total: str = "mean") -> float | None:
    """The value; None if JSON cannot represent it, or for a sum, which is not comparable to a single query."""
    return None if value is None or total == "sum" or not math.isfinite(value) else value


def _query_table(report: EvaluationReport) -> QueryTable:
    at = main_measure(report) or 0
    order = lowest_first(report, at)[:PLAIN_ROWS] if report.measures else list(report.queries)[:PLAIN_ROWS]
    rows = tuple((show_id(query, ID), _cells(report, query)) for query in order)
    words = number_of(len(report.queries), "query")
    if report.measures and rows:
        words = f"1 to {len(rows)} of {len(report.queries):,}, by {show_id(report.measures[at].name)}, lowest first"
    return QueryTable(words, tuple(show_id(measure.name) for measure in report.measures), rows)


def _cells(report: EvaluationReport, query: str) -> tuple[str, ...]:
    pairs = zip(report.queries[query], report.measures, strict=True)
    return tuple(show_value(value, measure) for value, measure in pairs)
