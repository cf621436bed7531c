"""The charts of a benchmark: means with intervals, differences from the first mode, quality against time, and stages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import cycle

from msgspec import Struct, to_builtins

from assay.comparison.pairs import SIGNIFICANT
from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport, ModeResult, PairRecord, StageRecord
from assay.report.benchmark.words import milliseconds, mode_name
from assay.report.comparison.charts import (
    LABELS,
    LOOKS,
    MOST_ROWS,
    ForestRow,
    forest,
    height_of,
    labels,
    legend_of,
    points_on_intervals,
)
from assay.report.drawing.charts import Chart
from assay.report.drawing.vega import (
    BLUE,
    COLOUR,
    MUTED,
    NAMED,
    PLOT_HEIGHT,
    SERIES,
    SHAPE,
    TEXT,
    Look,
    Spec,
    axis,
    bars,
    count_axis,
    fitting,
    framed,
    named,
    plot_width,
    rule,
    span,
    width_of,
)
from assay.words import listed, number_of, plural

_PLACE = {"field": "place", "type": "ordinal", "axis": None}


def charts_of(report: BenchmarkReport) -> tuple[Chart, ...]:
    """Every chart that the report has data for."""
    return (*mode_charts(report), *stage_charts(report))


def mode_charts(report: BenchmarkReport) -> tuple[Chart, ...]:
    """The charts of modes side by side."""
    made = (_means(report), _differences(report), None if report.stages else _quality_and_time(report))
    return tuple(chart for chart in made if chart is not None)


def stage_charts(report: BenchmarkReport) -> tuple[Chart, ...]:
    """The charts of stages: what is left of the relevant documents, and quality against time; none without stages."""
    made = (_left(report), _quality_and_time(report)) if report.stages else ()
    return tuple(chart for chart in made if chart is not None)


def _looks(report: BenchmarkReport) -> dict[str, Look]:
    return dict(zip((mode.name for mode in report.modes), cycle(SERIES), strict=False))


# Means


def _means(report: BenchmarkReport) -> Chart | None:
    looks = _looks(report)
    rows = [
        ForestRow(
            f"{show_id(measure, 16)}, {show_id(mode.name, 30)}",
            mean,
            mode.intervals.get(measure),
            looks[mode.name].colour,
            looks[mode.name].shape,
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
    words = (
        f"{show_id(measure, 30)}: {said}. Points are means, lines 95% intervals; each mode has its own colour and "
        f"shape.{many}"
    )
    return Chart("means", "Means with 95% intervals", words, _mean_rows(rows[:MOST_ROWS]))


def _mean_rows(rows: Sequence[ForestRow]) -> Spec:
    data = [
        {
            "place": place,
            "label": fitting(row.label, LABELS),
            "words": f"{row.label}: {row.difference:.4f}{_interval(row)}",
            "mean": row.difference,
            "low": row.interval[0] if row.interval else row.difference,
            "high": row.interval[1] if row.interval else row.difference,
            "colour": row.colour,
            "shape": row.shape,
        }
        for place, row in enumerate(rows)
    ]
    x = axis("mean", "Mean over the queries", span(end for row in data for end in (row["low"], row["high"])))  # type: ignore[misc]
    return framed(points_on_intervals(x), data, left=LABELS + 10, height=height_of(len(rows)))


def _interval(row: ForestRow) -> str:
    return f" ({row.interval[0]:.4f} to {row.interval[1]:.4f})" if row.interval else ""


# Differences


def _differences(report: BenchmarkReport) -> Chart | None:
    pairs = [pair for pair in (report.comparison.pairs if report.comparison else ()) if pair.difference is not None]
    if not pairs or report.comparison is None:
        return None
    rows = [
        ForestRow(_name(pair), pair.difference or 0.0, pair.interval, *LOOKS.get(pair.verdict, (BLUE, "circle")))
        for pair in pairs
    ]
    sure = sum(pair.verdict in SIGNIFICANT for pair in pairs)
    many = f" Only the first {MOST_ROWS} of {len(rows)} are shown." if len(rows) > MOST_ROWS else ""
    words = (
        f"{sure} of {len(pairs)} differences from {show_id(report.comparison.baseline, 30)} are significant after "
        f"correction. {legend_of(pair.measure for pair in pairs)[1]}.{many}"
    )
    title = f"Differences from {show_id(report.comparison.baseline, 30)}"
    return Chart("differences", title, words, forest(rows[:MOST_ROWS]))


def _name(pair: PairRecord) -> str:
    return f"{show_id(pair.measure, 16)}, {show_id(pair.system, 30)}"


# Quality against time


class Point(Struct, frozen=True):
    """A mode with its time and mean."""

    label: str
    time: float  # milliseconds per query
    mean: float
    colour: str
    shape: str
    fair: bool = True  # False if the time is without that of a mode it stands on, or the order comes from repair


def _quality_and_time(report: BenchmarkReport) -> Chart | None:
    measure, looks = report.choice.measure, _looks(report)
    shown: dict[str, StageRecord | ModeResult] = {stage.name: stage for stage in report.stages}
    shown |= {mode.name: mode for mode in report.modes}
    points = [
        Point(
            mode_name(mode),
            report.timing[name].milliseconds,
            mean,
            looks[name].colour if name in looks else BLUE,
            looks[name].shape if name in looks else "circle",
            not report.timing[name].unknown and not mode.order_from_repair,
        )
        for name, mode in shown.items()
        if name in report.timing
        and report.timing[name].milliseconds > 0
        and (mean := mode.metrics.get(measure)) is not None
    ]
    if len(points) < 2:
        return None
    said = "; ".join(f"{point.label} {point.mean:.4f} in {milliseconds(point.time)} ms" for point in points)
    front = pareto_front(points)
    words = (
        f"{show_id(measure, 30)} against the time per query: {said}. Further left is faster, further up is better. "
        f"{_front_in_words(front, points)}"
    )
    title = "Quality and time per query"
    return Chart("quality-and-time", title, words, _scatter(points, front, show_id(measure, 24)))


def pareto_front(points: Sequence[Point]) -> list[Point]:
    """The points that none is better than in as little time, or as good as in less, the fastest first."""
    front: list[Point] = []
    for point in sorted((each for each in points if each.fair), key=lambda point: (point.time, -point.mean)):
        if not front or point.mean > front[-1].mean:
            front.append(point)
    return front


def _front_in_words(front: Sequence[Point], points: Sequence[Point]) -> str:
    names = [point.label for point in front]
    others = [point.label for point in points if point.fair and point not in front]
    if not others:
        return "On the line (the Pareto front), more time buys more quality; all modes are on it."
    below = plural("{is|are} below it: another mode is at least as good in less time", len(others))
    return f"On the line (the Pareto front), more time buys more quality: {listed(names)}. {listed(others)} {below}."


def _scatter(points: Sequence[Point], front: Sequence[Point], measure: str) -> Spec:
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
    low = max(low, 0.0) if min(means) >= 0 else low
    y = axis("mean", measure, (low, high))
    plot = Plot(first, last, low, high)
    rows = [
        to_builtins(point) | {"words": f"{point.label}: {point.mean:.4f} in {milliseconds(point.time)} ms"}
        for point in points
    ]
    point = named({"type": "point", "filled": True, "size": 110, "opacity": 1})
    labels = [
        {"time": plot.time(spot.x), "mean": plot.mean(spot.y), "label": spot.text}
        for spot in spots(points, front, plot)
    ]
    text = {"x": x, "y": y, "text": {"field": "label"}}
    return framed(
        [
            *_front_line(front, last, x, y),
            {"mark": point, "encoding": {"x": x, "y": y, "color": COLOUR, "shape": SHAPE} | NAMED},
            {"data": {"values": labels}, "mark": TEXT | {"align": "left"}, "encoding": text},
        ],
        rows,
        right=24,
    )


class Plot(Struct, frozen=True):
    """From times and means to pixels and back."""

    first: float
    last: float
    low: float
    high: float
    width: float = plot_width(right=24)
    height: float = PLOT_HEIGHT

    def pixels(self, point: Point) -> tuple[float, float]:
        """Where a point is, from the upper left corner."""
        across = math.log(point.time / self.first) / math.log(self.last / self.first)
        return across * self.width, (self.high - point.mean) / (self.high - self.low) * self.height

    def time(self, across: float) -> float:
        """The time at so many pixels."""
        return float(self.first * (self.last / self.first) ** (across / self.width))

    def mean(self, down: float) -> float:
        """The mean at so many pixels."""
        return self.high - down / self.height * (self.high - self.low)


class Spot(Struct, frozen=True):
    """A name beside its point: its left end and its middle, in pixels."""

    text: str
    x: float
    y: float
    width: float

    def overlaps(self, other: Spot, gap: float = 2) -> bool:
        """Whether two names, each as high as a line, touch."""
        apart = self.x > other.x + other.width + gap or other.x > self.x + self.width + gap
        return not apart and abs(self.y - other.y) < _LINE


_LINE, _MARK = 14, 9  # pixels: the height of a name, and half the width of a mark with its margin


def spots(points: Sequence[Point], front: Sequence[Point], plot: Plot) -> list[Spot]:
    """Names beside their points, where they touch no other mark or name; a point without room has no name but on hover."""
    marks = [Spot("", x - _MARK, y, 2 * _MARK) for x, y in map(plot.pixels, points)]
    placed: list[Spot] = []
    for at, point in enumerate(points):
        text = fitting(point.label, 150)
        width = width_of(text)
        x, y = plot.pixels(point)
        after, before, around = x + _MARK + 2, x - _MARK - 2 - width, x - width / 2
        right, left, above, below = (after, y), (before, y), (around, y - 16), (around, y + 16)
        corners = [(start, y + down) for down in (-12, 12) for start in (after, before)]
        # The line goes right from the points on it, and comes from below.
        sides = [left, above, right, below] if point in front else [right, below, left, above]
        for start, middle in (*sides, *corners):
            spot = Spot(text, start, middle, width)
            others = [*placed, *(mark for place, mark in enumerate(marks) if place != at)]
            inside = start >= 0 and start + width <= plot.width + 20 and 0 <= middle <= plot.height
            if inside and not any(spot.overlaps(other) for other in others):
                placed.append(spot)
                break
    return placed


def _front_line(front: Sequence[Point], last: float, x: Spec, y: Spec) -> Iterator[Spec]:
    """The best mean that can be had in so much time, as steps."""
    if front:
        steps = [*({"time": point.time, "mean": point.mean} for point in front), {"time": last, "mean": front[-1].mean}]
        mark = {"type": "line", "interpolate": "step-after", "color": MUTED, "opacity": 0.5, "aria": False}
        yield {"data": {"values": steps}, "mark": mark, "encoding": {"x": x, "y": y}}


# Relevant documents


_STAGE_ROW = 30  # pixels


def _left(report: BenchmarkReport) -> Chart | None:
    """What is left of the relevant documents at each stage."""
    judged = report.stages[0].relevant.judged
    if not judged:
        return None
    said = "; ".join(map(_left_in_words, report.stages))
    words = (
        f"There are {judged:,} relevant documents. {said}. The pale bar has those that the stage finds or is given, the "
        "dark bar those in its first ten; what is lost at one stage, no later one can bring back."
    )
    return Chart("relevant-left", "Relevant documents that are left", words, _left_spec(report, judged))


def _left_in_words(stage: StageRecord) -> str:
    relevant, name = stage.relevant, show_id(stage.name, 30)
    given = "is given" if stage.role == "reranker" else "finds"
    return (
        f"{name} {given} {relevant.candidates:,} in {number_of(relevant.depth, 'document')} per query and has "
        f"{relevant.top_ten:,} in its first ten"
    )


def _left_spec(report: BenchmarkReport, judged: int) -> Spec:
    rows = [
        {
            "place": place,
            "label": fitting(show_id(stage.name), LABELS - 44),
            "words": _left_in_words(stage),
            "candidates": stage.relevant.candidates,
            "top": stage.relevant.top_ten,
            "counts": f"{stage.relevant.candidates:,} | {stage.relevant.top_ten:,}",
        }
        for place, stage in enumerate(report.stages)
    ]
    height = max(PLOT_HEIGHT, len(rows) * _STAGE_ROW)
    x = count_axis("candidates", judged, "Relevant documents, of all queries", exact=True)
    pale = bars(len(rows), height) | {"fillOpacity": 0.35, "color": BLUE}
    dark = bars(len(rows), height) | {"color": BLUE}
    layers: list[Spec] = [
        {"mark": named(pale), "encoding": {"y": _PLACE, "x": x} | NAMED},
        {"mark": dark | {"height": dark["height"] / 2}, "encoding": {"y": _PLACE, "x": x | {"field": "top"}}},
        {"mark": rule(), "encoding": {"x": {"datum": judged}}},
        labels(LABELS - 44),
        {
            "mark": TEXT | {"align": "left", "dx": 8},
            "encoding": {"y": _PLACE, "x": {"datum": judged}, "text": {"field": "counts"}},
        },
    ]
    return framed(layers, rows, left=LABELS - 30, right=80, height=height)
