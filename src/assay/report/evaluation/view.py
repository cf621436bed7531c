"""What evaluations look like in a notebook, a data frame and files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from assay.errors import AssayError, show_id
from assay.evaluation import Evaluation, Evaluations
from assay.records.building import build_report, reasons_for_doubt
from assay.report.drawing.charts import Chart
from assay.report.drawing.delimited import Columns, Value
from assay.report.drawing.sheets import MOST_ROWS, Cell, Sheet, SheetTable, Strong, numbered, sheet_as_page
from assay.report.drawing.views import View
from assay.report.drawing.words import show_name
from assay.report.evaluation import RENDERERS
from assay.report.evaluation.charts import charts_of, draw_charts
from assay.report.evaluation.page import render_report_html
from assay.report.evaluation.table import ResultTable, Row, four_decimals, tabulate
from assay.words import number_of, sentence

MANY_MEASURES = 6  # of one run; with more, each has a row
KIND = "Evaluation"


def _table(evaluations: Sequence[Evaluation], *, per_query: bool = False) -> ResultTable:
    """The table of the command."""
    if not evaluations:
        raise AssayError("there is no evaluation to show.")
    first = evaluations[0]
    for other in evaluations:
        if other.requests != first.requests:
            raise AssayError(
                f"{show_id(first.run)} and {show_id(other.run)} were evaluated with different measures; evaluate them "
                "with the same, or show them one by one."
            )
    return tabulate(evaluations, per_query=per_query)


def _columns(evaluations: Sequence[Evaluation]) -> Columns:
    """A row per run and query: its names, then the value by each measure."""
    labels = _table(evaluations).labels
    columns: dict[str, list[Value]] = {name: [] for name in ("run", "query", *labels)}
    for evaluation in evaluations:
        columns["run"] += [evaluation.run] * len(evaluation.queries)
        columns["query"] += evaluation.queries
        for label, values in zip(labels, evaluation.values.T, strict=True):
            columns[label] += values.tolist()
    return columns


def _sheet(evaluations: Sequence[Evaluation], most: int | None) -> Sheet:
    """The means, the notes, and the weighted means if there are weights."""
    table = _table(evaluations)
    names = number_of(len(evaluations), "run") if len(evaluations) > 1 else show_id(evaluations[0].run)
    queries = max(len(evaluation.queries) for evaluation in evaluations)
    tables = [_means(table, most)]
    if table.weighted:
        head = tuple(table.weighted_head)
        rows = tuple(map(tuple, table.weighted_cells()))[:most]
        tables.append(SheetTable(head, rows, numbered(head, set(head) - {"run", "measure"}), "Weighted by query"))
    title = f"{names}, {number_of(queries, 'query')}"
    return Sheet(KIND, title, tuple(tables), tuple(_remarks(evaluations, table)), tuple(table.notes()))


def _remarks(evaluations: Sequence[Evaluation], table: ResultTable) -> Iterator[str]:
    """What makes the means doubtful, or different between the runs."""
    if not table.comparable:
        yield "The runs are averaged over different queries, so no value is marked as best."
    for evaluation in evaluations:
        run = f"{show_name(evaluation.run)}: " if len(evaluations) > 1 else ""
        yield from (f"{run}{reason if run else sentence(reason)}" for reason in reasons_for_doubt(evaluation))


def _means(table: ResultTable, most: int | None) -> SheetTable:
    if not table.several and len(table.labels) > MANY_MEASURES:
        (row,) = table.rows
        rows: list[tuple[Cell, ...]] = list(zip(table.labels, _values(row, table), strict=True))
        return SheetTable(("measure", show_id(row.run)), tuple(rows), frozenset({1}))
    shown, note = list(table.rows), ""
    if most is not None and len(shown) > most:
        shown = sorted(shown, key=_first_value, reverse=True)[:most]
        note = f"The {most} highest of {len(table.rows):,} runs by {table.labels[0]}; `to_pandas()` has all."
    named = tuple((show_id(row.run), *_values(row, table)) for row in shown)
    numbers = frozenset(range(1, len(table.labels) + 1))
    return SheetTable(("run", *table.labels), named, numbers, note=note)


def _first_value(row: Row) -> float:
    """The mean by the first measure, below all others if it is undefined."""
    return -math.inf if math.isnan(row.values[0]) else row.values[0]


def _values(row: Row, table: ResultTable) -> list[Cell]:
    values = (four_decimals(value, request) for value, request in zip(row.values, table.requests, strict=True))
    return [Strong(value) if best else value for value, best in zip(values, row.best, strict=True)]


def _charts(evaluation: Evaluation) -> Sequence[Chart]:
    return charts_of(build_report(evaluation))


def _page(evaluation: Evaluation) -> str:
    report = build_report(evaluation)
    return render_report_html(report, draw_charts(report))


def _listed(evaluations: Evaluations) -> list[Evaluation]:
    """The evaluations under the names that they have here."""
    return [replace(evaluation, run=name) for name, evaluation in evaluations.items()]


ONE_RUN: View[Evaluation] = View(
    noun="an evaluation",
    text=lambda evaluation: RENDERERS["table"](_table([evaluation])),
    brief=lambda evaluation: _sheet([evaluation], MOST_ROWS),
    columns=lambda evaluation: _columns([evaluation]),
    formats={
        ".csv": lambda evaluation: RENDERERS["csv"](_table([evaluation], per_query=True)),
        ".json": lambda evaluation: RENDERERS["json"](_table([evaluation], per_query=True)),
        ".md": lambda evaluation: RENDERERS["markdown"](_table([evaluation])),
        ".tex": lambda evaluation: RENDERERS["latex"](_table([evaluation])),
        ".html": _page,
    },
    charts=_charts,
)
SEVERAL_RUNS: View[Evaluations] = View(
    noun="a dict of evaluations",
    text=lambda found: RENDERERS["table"](_table(_listed(found))),
    brief=lambda found: _sheet(_listed(found), MOST_ROWS),
    columns=lambda found: _columns(_listed(found)),
    formats={
        ".csv": lambda found: RENDERERS["csv"](_table(_listed(found), per_query=True)),
        ".json": lambda found: RENDERERS["json"](_table(_listed(found), per_query=True)),
        ".md": lambda found: RENDERERS["markdown"](_table(_listed(found))),
        ".tex": lambda found: RENDERERS["latex"](_table(_listed(found))),
        ".html": lambda found: sheet_as_page(_sheet(_listed(found), None)),
    },
)
