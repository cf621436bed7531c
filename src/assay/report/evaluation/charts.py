"""The charts of a report: a description, a Vega-Lite spec and an SVG of each. Computes no measure and reads no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from msgspec import Struct

from assay.errors import show_id
from assay.records.curves import NEVER
from assay.records.model import EvaluationReport, MeasureResult
from assay.report.drawing.charts import Chart, Drawings, draw
from assay.report.evaluation import specs
from assay.report.evaluation.sheet import main_measure, show_value
from assay.report.evaluation.specs import Mean
from assay.words import natural_key, number_of, plural

NAMED_QUERIES = 20  # up to this many, each query has its own bar with its id
MOST_LINES = 4


def draw_charts(report: EvaluationReport) -> Drawings:
    """The charts of a report as SVG."""
    return draw(charts_of(report))


def charts_of(report: EvaluationReport) -> tuple[Chart, ...]:
    """All charts that the report has data for."""
    column = _main_column(report)
    of_values = (_distribution(column), _per_query(column)) if column else ()
    makers: tuple[Callable[[EvaluationReport], Chart | None], ...] = (_at_cutoff, _precision_recall, _first_relevant)
    return of_values + tuple(chart for chart in (make(report) for make in makers) if chart)


class _Column(Struct, frozen=True):
    """The values of one measure for the queries where it is defined."""

    measure: MeasureResult
    values: tuple[tuple[str, float], ...]  # query and value, highest first
    undefined: int

    @property
    def name(self) -> str:
        return show_id(self.measure.name, 30)

    @property
    def numbers(self) -> list[float]:
        return [value for _, value in self.values]

    @property
    def mean(self) -> Mean | None:
        """The mean to draw among the values of queries; None for a sum."""
        value = self.measure.mean
        if value is None or self.measure.total == "sum":
            return None
        words = "mean" if self.measure.total == "mean" else f"{self.measure.total} mean"
        return Mean(value, words, self.measure.interval)

    def show(self, value: float) -> str:
        return show_value(value, self.measure)

    def left_out(self) -> str:
        count = self.undefined
        words = " {count} {query|queries} with an undefined value {is|are} left out."
        return plural(words, count) if count else ""


def _main_column(report: EvaluationReport) -> _Column | None:
    at = main_measure(report)
    if at is None:
        return None
    defined = [(query, value) for query, row in report.queries.items() if (value := row[at]) is not None]
    defined.sort(key=lambda pair: (-pair[1], natural_key(pair[0])))
    return _Column(report.measures[at], tuple(defined), len(report.queries) - len(defined))


def _distribution(column: _Column) -> Chart:
    bins = specs.bins_of(column.numbers)
    fullest = max(bins, key=lambda each: each.count)
    said = [f"{column.name} of {number_of(len(column.values), 'query')}"]
    if column.mean:
        said.append(column.mean.label)
        if column.mean.interval:
            low, high = column.mean.interval
            said.append(f"{column.measure.confidence * 100:g}% interval {low:.4f} to {high:.4f} (grey band)")
    said.append(f"most often between {fullest.low:.4g} and {fullest.high:.4g} ({number_of(fullest.count, 'query')})")
    words = "; ".join(said) + "." + column.left_out()
    spec = specs.histogram(bins, column.name, column.mean)
    return Chart("distribution", f"{column.name}: distribution over queries", words, spec)


def _per_query(column: _Column) -> Chart:
    numbers = column.numbers
    if len(numbers) <= NAMED_QUERIES:
        named = [(show_id(query, 80), value) for query, value in column.values]
        spec = specs.bars_of_queries(named, column.name, column.mean)
    else:
        spec = specs.curve_of_queries(column.values, column.name, column.mean)
    zeros = numbers.count(0.0)
    several = [
        f"From {column.show(numbers[0])} down to {column.show(numbers[-1])} over {number_of(len(numbers), 'query')}",
        f"median {column.show(median(numbers))}",
        plural("{count} {query is|queries are} at 0", zeros) if zeros else "none is at 0",
    ]
    said = "; ".join(several) if len(numbers) > 1 else f"The only query is at {column.show(numbers[0])}"
    words = f"{said}.{column.left_out()}"
    return Chart("per-query", f"{column.name}: queries from best to worst", words, spec)


def _at_cutoff(report: EvaluationReport) -> Chart | None:
    cutoffs = report.curves.cutoffs
    known = {name: line for name, values in report.curves.at_cutoff.items() if (line := _known(values))}
    lines = {show_id(name, 24): values for name, values in list(known.items())[:MOST_LINES]}
    if len(cutoffs) < 2 or not lines:
        return None
    said = ", ".join(f"{name} {values[0]:.4f} to {values[-1]:.4f}" for name, values in lines.items())
    words = f"From the first {_documents(cutoffs[0])} to the first {_documents(cutoffs[-1])}: {said}."
    return Chart("at-cutoff", "Means by cutoff", words, specs.lines_by_cutoff(cutoffs, lines))


def _precision_recall(report: EvaluationReport) -> Chart | None:
    points = _known(report.curves.precision_at_recall)
    if len(points) < 2:
        return None
    last = len(points) - 1
    said = ", ".join(f"{points[at]:.4f} at recall {at / last:g}" for at in (0, last // 2, last))
    words = f"Mean interpolated precision: {said}."
    return Chart("precision-recall", "Precision by recall", words, specs.precision_recall(points))


def _first_relevant(report: EvaluationReport) -> Chart | None:
    counts = {show_id(rank, 24): count for rank, count in report.curves.first_relevant.items()}
    total = sum(counts.values())
    if not total:
        return None
    first, never = counts.get("1", 0), counts.get(NEVER, 0)
    words = (
        f"Of {number_of(total, 'query')}, {first:,} ({first / total:.0%}) "
        f"{plural('{has|have}', first)} a relevant document at rank 1; "
        f"for {never:,} ({never / total:.0%}) none was retrieved."
    )
    spec = specs.ranks_of_first_relevant(counts, NEVER)
    return Chart("first-relevant", "Rank of the first relevant document", words, spec)


def _known(values: Sequence[float | None]) -> list[float]:
    """The values of a curve; an empty list if any of them is undefined."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _documents(count: int) -> str:
    return "document" if count == 1 else number_of(count, "document")
