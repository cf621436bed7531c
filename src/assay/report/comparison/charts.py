"""Charts of a comparison: differences with intervals, query by query, won and lost, and by segment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import PairResult, higher_is_better
from assay.comparison.segments import SegmentComparison
from assay.errors import show_id
from assay.report.comparison import words
from assay.report.drawing.charts import Chart
from assay.report.drawing.vega import (
    BLUE,
    COLOUR,
    GREEN,
    INK,
    MOST_POINTS,
    MUTED,
    ORANGE,
    PLOT_HEIGHT,
    TEXT,
    Spec,
    axis,
    bars,
    count_axis,
    framed,
    plot_width,
    rule,
)

MOST_ROWS = 24  # of one chart
MOST_BARS = 3  # charts of differences query by query
_LABELS = 150  # pixels for the names of rows
_ROW = 24  # pixels
_TONES = {"better": GREEN, "worse": ORANGE}


def charts_of(comparison: Comparison) -> tuple[Chart, ...]:
    """Every chart that the comparison has data for."""
    pairs = [pair for pair in comparison.pairs if not math.isnan(pair.difference)]
    if not pairs:
        return ()
    main = [pair for pair in pairs if pair.measure == comparison.scores.measures[0]]
    winnable = [pair for pair in pairs if higher_is_better(pair.measure)]
    return (
        _differences(comparison, pairs),
        *([_won_and_lost(comparison, winnable)] if winnable else []),
        *(_query_by_query(comparison, pair, number) for number, pair in enumerate(main[:MOST_BARS], 1)),
        *(_segments(comparison, found, number) for number, found in enumerate(comparison.segments, 1)),
    )


class ForestRow(Struct, frozen=True):
    """One row of a forest plot."""

    label: str
    difference: float
    interval: tuple[float, float] | None
    colour: str


def _differences(comparison: Comparison, pairs: Sequence[PairResult]) -> Chart:
    rows = [ForestRow(_name(pair, comparison), pair.difference, pair.interval, _tone(pair)) for pair in pairs]
    sure = [pair for pair in pairs if pair.verdict in _TONES]
    said = "; ".join(
        f"{_name(pair, comparison)} {words.signed(pair.difference)} ({words.interval_of(pair.interval)})"
        for pair in (sure or pairs)[:4]
    )
    surely = (
        f"{len(sure)} of {len(pairs)} comparisons are significantly better or worse after correction: " if sure else ""
    )
    none = "" if sure else "No comparison is significantly better or worse after correction: "
    text = f"{surely}{none}{said}. Green: better; orange: worse; blue: neither.{_drawn(rows)}"
    return Chart("differences", "Differences and their 95% intervals", text, forest(rows[:MOST_ROWS]))


def _won_and_lost(comparison: Comparison, pairs: Sequence[PairResult]) -> Chart:
    first = pairs[0]
    text = (
        f"{_name(first, comparison)}: better on {first.wins:,} of {first.queries:,} queries, equal on {first.ties:,}, "
        f"worse on {first.losses:,}. Green: won; grey: tied; orange: lost.{_drawn(pairs)}"
    )
    counts = [(_name(pair, comparison), pair.wins, pair.ties, pair.losses) for pair in pairs[:MOST_ROWS]]
    return Chart("won-and-lost", "Queries won and lost", text, won_and_lost(counts))


def _query_by_query(comparison: Comparison, pair: PairResult, number: int) -> Chart:
    scores = comparison.scores
    baseline, system = scores.systems.index(pair.baseline), scores.systems.index(pair.system)
    difference = scores.column(0, system) - scores.column(0, baseline)
    known = np.sort(difference[~np.isnan(difference)])[::-1].tolist()
    text = (
        f"{show_id(pair.measure, 30)} of {show_id(pair.system, 30)} minus {show_id(pair.baseline, 30)}, largest gain "
        f"first: from {words.signed(known[0])} to {words.signed(known[-1])}; mean {words.signed(pair.difference)}."
    )
    title = f"{show_id(pair.system, 30)} against {show_id(pair.baseline, 30)}, query by query"
    return Chart(f"query-by-query-{number}", title, text, difference_bars(known, pair.difference, pair.measure))


def _segments(comparison: Comparison, found: SegmentComparison, number: int) -> Chart:
    measure = comparison.scores.measures[0]
    several = len([pair for pair in found.segments[0].pairs if pair.measure == measure]) > 1
    paradoxes = [paradox for paradox in words.sure_paradoxes(found) if paradox.measure == measure]
    rows = [
        ForestRow(
            f"{show_id(segment.name, 24)}{f', {show_id(pair.system, 16)}' if several else ''}",
            pair.difference,
            pair.interval,
            _tone(pair) if segment.tested else MUTED,
        )
        for segment in found.segments
        for pair in segment.pairs
        if pair.measure == measure and not math.isnan(pair.difference)
    ]
    text = (
        f"Difference in {show_id(measure, 30)} per segment with its interval; grey segments have too few queries to be "
        f"tested.{_drawn(rows)}{''.join(f' {words.paradox_of(paradox)}' for paradox in paradoxes)}"
    )
    return Chart(f"segments-{number}", words.title_of(found), text, forest(rows[:MOST_ROWS]))


def _drawn(rows: Sequence[object]) -> str:
    """A note if some rows are not in the chart."""
    return f" Showing {MOST_ROWS} of {len(rows):,}." if len(rows) > MOST_ROWS else ""


def forest(rows: Sequence[ForestRow]) -> Spec:
    """One row per difference: a point on its interval, and a line at 0."""
    low, high = _span(value for row in rows for value in (row.difference, *(row.interval or ())))
    data = [
        {
            "place": place,
            "label": row.label,
            "difference": row.difference,
            "low": row.interval[0] if row.interval else row.difference,
            "high": row.interval[1] if row.interval else row.difference,
            "colour": row.colour,
        }
        for place, row in enumerate(rows)
    ]
    x = axis("difference", "Difference: system - baseline", (low, high))
    layers: list[Spec] = [
        {"data": {"values": [{"difference": 0.0}]}, "mark": rule() | {"strokeDash": [3, 3]}, "encoding": {"x": x}},
        {
            "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "aria": False},
            "encoding": {"y": _PLACE, "x": x | {"field": "low"}, "x2": {"field": "high"}, "color": COLOUR},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1, "aria": False},
            "encoding": {"y": _PLACE, "x": x, "color": COLOUR},
        },
        _labels(),
    ]
    return framed(layers, data, left=_LABELS + 10, height=_height(len(rows)))


def won_and_lost(counts: Sequence[tuple[str, int, int, int]]) -> Spec:
    """One bar per pair: queries won, tied and lost."""
    data = []
    for place, (label, wins, ties, losses) in enumerate(counts):
        ends = [0, wins, wins + ties, wins + ties + losses]
        for start, end, colour in zip(ends, ends[1:], (GREEN, MUTED, ORANGE), strict=False):
            shown = {"label": label} if start == 0 and colour == GREEN else {"label": ""}
            count = str(end - start) if end - start >= 0.08 * ends[-1] else ""
            middle = (start + end) / 2
            row = {"place": place, "from": start, "to": end, "colour": colour, "count": count, "middle": middle}
            data.append(row | shown)
    top = max(sum(row[1:]) for row in counts)
    x = count_axis("from", top, "Queries", exact=True)
    inside = TEXT | {"color": "#ffffff", "fontSize": 11}
    layers: list[Spec] = [
        {
            "mark": bars(len(counts), _height(len(counts))),
            "encoding": {"y": _PLACE, "x": x, "x2": {"field": "to"}, "fill": COLOUR},
        },
        {"mark": inside, "encoding": {"y": _PLACE, "x": x | {"field": "middle"}, "text": {"field": "count"}}},
        _labels(),
    ]
    return framed(layers, data, left=_LABELS + 10, height=_height(len(counts)))


def difference_bars(differences: Sequence[float], mean: float, measure: str) -> Spec:
    """One bar per query, largest gain first; thinned out if there are too many to see."""
    every = math.ceil(len(differences) / MOST_POINTS)
    up, down = (GREEN, ORANGE) if higher_is_better(measure) else (BLUE, BLUE)
    data = [
        {
            "from": at,
            "to": min(at + every, len(differences)),
            "zero": 0.0,
            "value": value,
            "colour": up if value > 0 else down,
        }
        for at, value in list(enumerate(differences))[::every]
        if value
    ]
    x = count_axis("from", len(differences), "Queries, largest gain first", exact=True)
    y = axis("value", f"Difference in {show_id(measure, 24)}", _span(differences))
    line = {"data": {"values": [{"value": mean}]}, "mark": rule() | {"strokeDash": [5, 3]}, "encoding": {"y": y}}
    words_of_mean = {
        "data": {"values": [{"value": mean, "words": f"mean {mean:+.4f}"}]},
        "mark": TEXT | {"align": "right", "dy": -9, "color": INK},
        "encoding": {"x": {"value": plot_width()}, "y": y, "text": {"field": "words"}},
    }
    return framed(
        [
            {
                "mark": {"type": "rect", "fillOpacity": 0.85, "aria": False},
                "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"field": "zero"}, "fill": COLOUR},
            },
            line,
            words_of_mean,
        ],
        data,
    )


_PLACE = {"field": "place", "type": "ordinal", "axis": None}


def _labels() -> Spec:
    mark = TEXT | {"align": "right", "dx": -10, "limit": _LABELS}
    return {"mark": mark, "encoding": {"y": _PLACE, "x": {"value": 0}, "text": {"field": "label"}}}


def _height(rows: int) -> int:
    return max(PLOT_HEIGHT, rows * _ROW)


def _span(values: Iterable[float]) -> tuple[float, float]:
    """The range of the values and 0, with some padding; never empty."""
    known = [0.0, *(value for value in values if math.isfinite(value))]
    room = (max(known) - min(known)) * 0.04 or 0.01
    return min(known) - room, max(known) + room


def _tone(pair: PairResult) -> str:
    return _TONES.get(pair.verdict, BLUE)


def _name(pair: PairResult, comparison: Comparison) -> str:
    """A label that distinguishes this pair from the others."""
    several = any(other.baseline != pair.baseline for other in comparison.pairs)
    against = f" - {show_id(pair.baseline, 16)}" if several else ""
    measure = f"{show_id(pair.measure, 18)}, " if len(comparison.scores.measures) > 1 else ""
    return f"{measure}{show_id(pair.system, 16)}{against}"
