"""The page that lists the reports of several runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import quote

from msgspec import Struct

from assay.comparison.pairs import higher_is_better
from assay.errors import show_id
from assay.records.model import EvaluationReport
from assay.report.drawing.charts import Drawings
from assay.report.drawing.page import render_page
from assay.report.drawing.tables import Cell, Cells, Column, Table
from assay.report.drawing.words import show_name
from assay.report.evaluation.files import PAGE
from assay.report.evaluation.sheet import main_measure, sheet_of, show_value
from assay.words import number_of, plural


class IndexPage(Struct, frozen=True):
    """What is the same for all runs, and the runs."""

    title: str
    lede: str
    qrels: str
    created: str
    runs: Table
    conventions: str


def render_index(reports: Mapping[str, EvaluationReport]) -> str:
    """A self-contained page with a link to each report; `reports` are by folder."""
    return render_page("index.html", Drawings(), page=index_of(reports))


def index_of(reports: Mapping[str, EvaluationReport]) -> IndexPage:
    """The runs by their main measure, the best first, each with a link to its report."""
    first = next(iter(reports.values()))
    sheet = sheet_of(first)
    at = main_measure(first) or 0
    rising = not higher_is_better(first.measures[at].canonical)
    ordered = sorted(reports.items(), key=lambda each: _rank(each[1].measures[at].mean, rising))
    targets = [Column("Targets", number=False)] if first.targets is not None else []
    doubtful = sum(not report.complete for report in reports.values())
    columns = (
        Column("Run", number=False),
        *targets,
        *(Column(show_id(measure.name), bar=measure.total != "sum") for measure in first.measures),
        *([Column("Complete", number=False)] if doubtful else []),
    )
    return IndexPage(
        title=number_of(len(reports), "run"),
        lede=_lede(ordered, at) + plural(" {count} {report is|reports are} incomplete.", doubtful) * bool(doubtful),
        qrels=sheet.qrels,
        created=sheet.created,
        runs=Table(
            columns,
            tuple(_row(folder, report, bool(targets), bool(doubtful)) for folder, report in ordered),
            nouns="runs",
            order=(1 + len(targets) + at, "ascending" if rising else "descending"),
        ),
        conventions=sheet.conventions,
    )


def _rank(mean: float | None, rising: bool) -> tuple[bool, float]:
    known = math.nan if mean is None else mean
    return math.isnan(known), 0.0 if math.isnan(known) else known if rising else -known


def _lede(ordered: list[tuple[str, EvaluationReport]], at: int) -> str:
    """The run with the highest mean. Nothing is tested here."""
    top = ordered[0][1]
    measure = top.measures[at]
    if measure.mean is None or not higher_is_better(measure.canonical):
        return f"{number_of(len(ordered), 'run')} over {number_of(len(top.queries), 'query')}."
    return (
        f"{show_name(top.run.name)} has the highest {show_id(measure.name)}, {show_value(measure.mean, measure)}, of "
        f"{number_of(len(ordered), 'run')} over {number_of(len(top.queries), 'query')}. The differences are not tested."
    )


def _row(folder: str, report: EvaluationReport, targets: bool, doubtful: bool) -> Cells:
    return (
        Cell(show_name(report.run.name), link=f"{quote(folder)}/{PAGE}"),
        *([report.status or ""] if targets else []),
        *(show_value(measure.mean, measure) for measure in report.measures),
        *(["yes" if report.complete else Cell("no", "bad")] if doubtful else []),
    )
