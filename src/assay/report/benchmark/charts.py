"""The charts of a benchmark: means with intervals, differences from the first mode, and quality against time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

from msgspec import Struct, to_builtins

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport, PairRecord
from assay.report.benchmark.words import milliseconds
from assay.report.comparison.charts import MOST_ROWS, ForestRow, forest
from assay.report.drawing.charts import Chart
from assay.report.drawing.vega import BLUE, COLOUR, GREEN, ORANGE, PLOT_HEIGHT, PURPLE, TEXT, Spec, axis, framed, span

_HUES = (BLUE, ORANGE, GREEN, PURPLE)  # of modes, in their order
_TONES = {"better": GREEN, "worse": ORANGE}
_LABELS = 150  # pixels for the names of rows
_ROW = 22  # pixels
_PLACE = {"field": "place", "type": "ordinal", "axis": None}


def charts_of(report: BenchmarkReport) -> tuple[Chart, ...]:
    """Every chart that the report has data for."""
    made = (_means(report), _differences(report), _quality_and_time(report))
    return tuple(chart for chart in made if chart is not None)


def _hues(report: BenchmarkReport) -> dict[str, str]:
    return dict(zip((mode.name for mode in report.modes), cycle(_HUES), strict=False))


# Means


def _means(report: BenchmarkReport) -> Chart | None:
    hues = _hues(report)
    rows = [
        ForestRow(
            f"{show_id(measure, 16)}, {show_id(mode.name, 12)}", mean, mode.intervals.get(measure), hues[mode.name]
        )
        for measure in report.measures
        for mode in report.modes
        if (mean := mode.metrics.get(measure)) is not None
    ]
    if not rows:
        return None
    measure = report.choice.measure
    said = ", ".join(
        f"{show_id(mode.name, 30)} {mode.metrics[measure]:.4f}"
        for mode in report.modes
        if mode.metrics.get(measure) is not None
    )
    many = f" Only the first {MOST_ROWS} of {len(rows)} are shown." if len(rows) > MOST_ROWS else ""
    words = f"{show_id(measure, 30)}: {said}. Dots are means, bars 95% intervals; each mode has its own colour.{many}"
    return Chart("means", "Means with 95% intervals", words, _mean_rows(rows[:MOST_ROWS]))


def _mean_rows(rows: Sequence[ForestRow]) -> Spec:
    data = [
        {
            "place": place,
            "label": row.label,
            "mean": row.difference,
            "low": row.interval[0] if row.interval else row.difference,
            "high": row.interval[1] if row.interval else row.difference,
            "colour": row.colour,
        }
        for place, row in enumerate(rows)
    ]
    x = axis("mean", "Mean over the queries", span(end for row in data for end in (row["low"], row["high"])))  # type: ignore[misc]
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "clip": True, "aria": False},
            "encoding": {"y": _PLACE, "x": x | {"field": "low"}, "x2": {"field": "high"}, "color": COLOUR},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "aria": False},
            "encoding": {"y": _PLACE, "x": x, "color": COLOUR},
        },
        {
            "mark": TEXT | {"align": "right", "dx": -10, "limit": _LABELS},
            "encoding": {"y": _PLACE, "x": {"value": 0}, "text": {"field": "label"}},
        },
    ]
    return framed(layers, data, left=_LABELS + 10, height=max(PLOT_HEIGHT, len(rows) * _ROW))


# Differences


def _differences(report: BenchmarkReport) -> Chart | None:
    pairs = [pair for pair in (report.comparison.pairs if report.comparison else ()) if pair.difference is not None]
    if not pairs or report.comparison is None:
        return None
    rows = [
        ForestRow(_name(pair), pair.difference or 0.0, pair.interval, _TONES.get(pair.verdict, BLUE)) for pair in pairs
    ]
    sure = sum(pair.verdict in _TONES for pair in pairs)
    words = (
        f"{sure} of {len(pairs)} differences from {show_id(report.comparison.baseline, 30)} are significant after "
        f"correction. Green is significantly better, orange significantly worse, blue not significant."
    )
    title = f"Differences from {show_id(report.comparison.baseline, 30)}"
    return Chart("differences", title, words, forest(rows[:MOST_ROWS]))


def _name(pair: PairRecord) -> str:
    return f"{show_id(pair.measure, 16)}, {show_id(pair.system, 12)}"


# Quality against time


class Point(Struct, frozen=True):
    """A mode with its time and mean."""

    label: str
    time: float  # milliseconds per query
    mean: float
    colour: str


def _quality_and_time(report: BenchmarkReport) -> Chart | None:
    measure, hues = report.choice.measure, _hues(report)
    points = [
        Point(show_id(mode.name, 20), report.timing[mode.name].milliseconds, mean, hues[mode.name])
        for mode in report.modes
        if mode.name in report.timing
        and report.timing[mode.name].milliseconds > 0
        and (mean := mode.metrics.get(measure)) is not None
    ]
    if len(points) < 2:
        return None
    said = "; ".join(f"{point.label} {point.mean:.4f} in {milliseconds(point.time)} ms" for point in points)
    words = f"{show_id(measure, 30)} against the time per query: {said}. Further left is faster, further up is better."
    title = "Quality and time per query"
    return Chart("quality-and-time", title, words, _scatter(points, show_id(measure, 24)))


def _scatter(points: Sequence[Point], measure: str) -> Spec:
    times, means = [point.time for point in points], [point.mean for point in points]
    powers = range(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))) + 1)
    decades = [10.0**power for power in powers]
    first, last = decades[0], max(decades[-1], max(times) * 1.2)
    x = {
        "field": "time",
        "type": "quantitative",
        "title": "Milliseconds per query",
        "scale": {"type": "log", "domain": [first, last], "nice": False},
        "axis": {"values": decades, "format": "~g"},
    }
    room = (max(means) - min(means)) * 0.25 or 0.05
    low, high = min(means) - room, max(means) + room
    y = axis("mean", measure, (max(low, 0.0) if min(means) >= 0 else low, high))
    heights = _apart(points, (high - low) * 0.07)
    rows = [to_builtins(point) | {"height": heights[point]} for point in points]
    layers: list[Spec] = [
        {
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "aria": False},
            "encoding": {"x": x, "y": y, "color": COLOUR},
        }
    ]
    for leftwards in (False, True):  # put names where there is room
        side = [row for row in rows if (row["time"] > math.sqrt(first * last)) == leftwards]
        if side:
            mark = TEXT | {"align": "right" if leftwards else "left", "dx": -10 if leftwards else 10}
            text = {"x": x, "y": y | {"field": "height"}, "text": {"field": "label"}}
            layers.append({"data": {"values": side}, "mark": mark, "encoding": text})
    return framed(layers, rows)


def _apart(points: Sequence[Point], room: float) -> dict[Point, float]:
    """The height of each name: that of its point, or higher if it would overlap the name below."""
    placed: dict[Point, float] = {}
    last = -math.inf
    for point in sorted(points, key=lambda point: point.mean):
        last = placed[point] = max(point.mean, last + room)
    return placed
