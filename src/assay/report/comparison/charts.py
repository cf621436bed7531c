"""Charts of a comparison: differences with intervals, query by query, won and lost, and by segment."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from msgspec import Struct

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import SIGNIFICANT, PairResult, higher_is_better
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
    NAMED,
    ORANGE,
    PLOT_HEIGHT,
    SHAPE,
    TEXT,
    Spec,
    axis,
    bars,
    count_axis,
    fitting,
    framed,
    named,
    plot_width,
    rule,
)
from assay.report.drawing.words import from_to
from assay.words import number_of, plural

MOST_ROWS = 24  # of one chart
MOST_BARS = 3  # charts of differences query by query
LABELS = 150  # pixels for the names of rows
_ROW = 24  # pixels
LOOKS = {  # of verdicts; others: a blue dot
    "better": (GREEN, "triangle-up"),
    "worse": (ORANGE, "triangle-down"),
    "higher": (BLUE, "triangle-up"),
    "lower": (BLUE, "triangle-down"),
}


def charts_of(comparison: Comparison) -> tuple[Chart, ...]:
    """Every chart that the comparison has data for."""
    pairs = [pair for pair in comparison.pairs if not math.isnan(pair.difference)]
    if not pairs:
        return ()
    main = [pair for pair in pairs if pair.measure == comparison.scores.measures[0]]
    winnable = [pair for pair in pairs if higher_is_better(pair.measure)]
    drawn = _by_difference(main, comparison)[:MOST_BARS]
    return (
        _differences(comparison, pairs),
        *([_won_and_lost(comparison, winnable)] if winnable else []),
        *(_query_by_query(comparison, pair, number) for number, pair in enumerate(drawn, 1)),
        *(_segments(comparison, found, number) for number, found in enumerate(comparison.segments, 1)),
    )


class ForestRow(Struct, frozen=True):
    """One row of a forest plot."""

    label: str
    difference: float
    interval: tuple[float, float] | None
    colour: str
    shape: str = "circle"


def _readable(comparison: Comparison, pairs: Sequence[PairResult]) -> tuple[list[PairResult], str]:
    """As many pairs as one chart can show, and a note on the others."""
    ordered = _by_difference(pairs, comparison)
    if len(ordered) <= MOST_ROWS:
        return ordered, ""
    main = [pair for pair in ordered if pair.measure == ordered[0].measure]
    only = f" Only {show_id(main[0].measure, 30)} is shown." if len(main) < len(ordered) else ""
    if len(main) <= MOST_ROWS:
        return main, only
    return main[
        :MOST_ROWS
    ], f"{only} Of its {len(main):,} comparisons, the {MOST_ROWS} with the largest difference are here."


def _by_difference(pairs: Sequence[PairResult], comparison: Comparison) -> list[PairResult]:
    """By measure, and with more than two systems the largest difference first; of all pairs, in either direction."""
    if len(comparison.scores.systems) < 3:
        return list(pairs)
    at = {measure: place for place, measure in enumerate(comparison.scores.measures)}

    def size(pair: PairResult) -> float:
        return abs(pair.difference) if comparison.study.all_pairs else pair.difference

    return sorted(pairs, key=lambda pair: (at[pair.measure], -size(pair)))


def _differences(comparison: Comparison, pairs: Sequence[PairResult]) -> Chart:
    shown, note = _readable(comparison, pairs)
    name = _namer(shown)
    rows = [ForestRow(name(pair), pair.difference, pair.interval_corrected, *_look(pair.verdict)) for pair in shown]
    sure = [pair for pair in pairs if pair.verdict in SIGNIFICANT]
    said = "; ".join(
        f"{name(pair)} {words.signed(pair.difference)} ({from_to(pair.interval_corrected)})"
        for pair in _by_difference(sure or pairs, comparison)[:4]
    )
    found, legend = legend_of(pair.measure for pair in pairs)
    many = f"{len(sure):,} of {number_of(len(pairs), 'comparison')} {plural('{is|are}', len(sure))}" if sure else ""
    text = f"{many or 'No comparison is'} significantly {found} after correction: {said}. {legend}.{note}"
    return Chart("differences", f"Differences and their {words.interval_name(comparison.study)}s", text, forest(rows))


_GOOD = "Green triangles: better; orange triangles: worse"
_KINDS = {  # whether higher values are better by the measures -> what a significant difference is, and how it looks
    frozenset({True}): ("better or worse", f"{_GOOD}; blue dots: neither"),
    frozenset({False}): ("higher or lower", "Triangles: higher or lower; dots: neither"),
    frozenset({True, False}): ("different", f"{_GOOD}; blue triangles: higher or lower; blue dots: neither"),
}


def legend_of(measures: Iterable[str]) -> tuple[str, str]:
    """What a significant difference by these measures is, and how charts show it.

    >>> legend_of(["NumRelRet"])
    ('higher or lower', 'Triangles: higher or lower; dots: neither')
    """
    return _KINDS[frozenset(map(higher_is_better, measures))]


def _won_and_lost(comparison: Comparison, pairs: Sequence[PairResult]) -> Chart:
    shown, note = _readable(comparison, pairs)
    name = _namer(shown)
    first = shown[0]
    text = (
        f"{name(first)}: better on {first.wins:,} of {first.queries:,} queries, equal on {first.ties:,}, "
        f"worse on {first.losses:,}. Green: won; grey: tied; orange: lost.{note}"
    )
    counts = [(name(pair), pair.wins, pair.ties, pair.losses) for pair in shown]
    return Chart("won-and-lost", "Queries won and lost", text, won_and_lost(counts))


def _query_by_query(comparison: Comparison, pair: PairResult, number: int) -> Chart:
    scores = comparison.scores
    baseline, system = scores.systems.index(pair.baseline), scores.systems.index(pair.system)
    difference = scores.column(0, system) - scores.column(0, baseline)
    order = np.argsort(-difference, kind="stable")[: int((~np.isnan(difference)).sum())]  # NaN stands last
    known = [(scores.queries[at], float(difference[at])) for at in order]
    text = (
        f"{show_id(pair.measure, 30)} of {show_id(pair.system, 30)} minus {show_id(pair.baseline, 30)}, largest gain "
        f"first: from {words.signed(known[0][1])} to {words.signed(known[-1][1])}; mean {words.signed(pair.difference)}."
    )
    title = f"{show_id(pair.system, 30)} against {show_id(pair.baseline, 30)}, query by query"
    return Chart(f"query-by-query-{number}", title, text, difference_bars(known, pair.difference, pair.measure))


def _segments(comparison: Comparison, found: SegmentComparison, number: int) -> Chart:
    measure = comparison.scores.measures[0]
    several = len([pair for pair in found.segments[0].pairs if pair.measure == measure]) > 1
    reversals = [each for each in found.reversals if each.measure == measure]
    rows = [
        ForestRow(
            f"{show_id(segment.name, 24)}{f', {show_id(pair.system, 16)}' if several else ''}",
            pair.difference,
            pair.interval_corrected,
            *(_look(pair.verdict) if segment.tested else (MUTED, "circle")),
        )
        for segment in found.segments
        for pair in segment.pairs
        if pair.measure == measure and not math.isnan(pair.difference)
    ]
    untested = "are not tested" if found.segmentation.by_outcome else "have too few queries to be tested"
    text = (
        f"Difference in {show_id(measure, 30)} per segment with its interval; grey segments {untested}.{_drawn(rows)}"
        f"{''.join(f' {words.reversal_of(each)}' for each in reversals)}"
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
            "label": fitting(row.label, LABELS),
            "words": f"{row.label}: {words.signed(row.difference)} ({from_to(row.interval)})",
            "difference": row.difference,
            "low": row.interval[0] if row.interval else row.difference,
            "high": row.interval[1] if row.interval else row.difference,
            "colour": row.colour,
            "shape": row.shape,
        }
        for place, row in enumerate(rows)
    ]
    x = axis("difference", "Difference: system - baseline", (low, high))
    layers: list[Spec] = [
        {"data": {"values": [{"difference": 0.0}]}, "mark": rule() | {"strokeDash": [3, 3]}, "encoding": {"x": x}},
        *points_on_intervals(x),
    ]
    return framed(layers, data, left=LABELS + 10, height=height_of(len(rows)))


def points_on_intervals(x: Spec) -> list[Spec]:
    """The layers of rows with a label, a point and its interval from `low` to `high`."""
    bar = {"type": "rule", "strokeWidth": 3, "opacity": 0.55, "aria": False}
    ends = {"y": _PLACE, "x": x | {"field": "low"}, "x2": {"field": "high"}, "color": COLOUR}
    point = named({"type": "point", "filled": True, "size": 70, "opacity": 1})
    return [
        {"mark": bar, "encoding": ends},
        {"mark": point, "encoding": {"y": _PLACE, "x": x, "color": COLOUR, "shape": SHAPE} | NAMED},
        labels(),
    ]


def won_and_lost(counts: Sequence[tuple[str, int, int, int]]) -> Spec:
    """One bar per pair: queries won, tied and lost."""
    data = []
    for place, (label, wins, ties, losses) in enumerate(counts):
        ends = [0, wins, wins + ties, wins + ties + losses]
        for start, end, colour, verb in zip(
            ends, ends[1:], (GREEN, MUTED, ORANGE), ("won", "tied", "lost"), strict=False
        ):
            shown = {"label": fitting(label, LABELS)} if start == 0 and colour == GREEN else {"label": ""}
            count = str(end - start) if end - start >= 0.08 * ends[-1] else ""
            middle = (start + end) / 2
            row = {"place": place, "from": start, "to": end, "colour": colour, "count": count, "middle": middle}
            data.append(row | shown | {"words": f"{label}: {end - start:,} {verb}"})
    top = max(sum(row[1:]) for row in counts)
    x = count_axis("from", top, "Queries", exact=True)
    inside = TEXT | {"color": "#ffffff", "fontSize": 11}
    height = height_of(len(counts))
    layers: list[Spec] = [
        {
            "mark": named(bars(len(counts), height)),
            "encoding": {"y": _PLACE, "x": x, "x2": {"field": "to"}, "fill": COLOUR} | NAMED,
        },
        {"mark": inside, "encoding": {"y": _PLACE, "x": x | {"field": "middle"}, "text": {"field": "count"}}},
        labels(),
    ]
    return framed(layers, data, left=LABELS + 10, height=height)


def difference_bars(differences: Sequence[tuple[str, float]], mean: float, measure: str) -> Spec:
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
            "words": f"{show_id(query, 60)}: {words.signed(value)}",
        }
        for at, (query, value) in list(enumerate(differences))[::every]
        if value
    ]
    x = count_axis("from", len(differences), "Queries, largest gain first", exact=True)
    y = axis("value", f"Difference in {show_id(measure, 24)}", _span(value for _, value in differences))
    line = {"data": {"values": [{"value": mean}]}, "mark": rule() | {"strokeDash": [5, 3]}, "encoding": {"y": y}}
    # Above the line at the right, or below it at the left: there are no bars.
    beside = {"align": "right", "dy": -9} if mean >= 0 else {"align": "left", "dy": 11, "dx": 4}
    words_of_mean = {
        "data": {"values": [{"value": mean, "words": f"mean {mean:+.4f}"}]},
        "mark": TEXT | beside | {"color": INK},
        "encoding": {"x": {"value": plot_width() if mean >= 0 else 0}, "y": y, "text": {"field": "words"}},
    }
    return framed(
        [
            {
                "mark": named({"type": "rect", "fillOpacity": 0.85}),
                "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"field": "zero"}, "fill": COLOUR} | NAMED,
            },
            line,
            words_of_mean,
        ],
        data,
    )


_PLACE = {"field": "place", "type": "ordinal", "axis": None}


def labels(room: int = LABELS) -> Spec:
    """The labels of rows, left of the plot."""
    mark = named(TEXT | {"align": "right", "dx": -10, "limit": room})
    return {"mark": mark, "encoding": {"y": _PLACE, "x": {"value": 0}, "text": {"field": "label"}} | NAMED}


def height_of(rows: int) -> int:
    """The height of a plot with so many rows."""
    return max(PLOT_HEIGHT, rows * _ROW)


def _span(values: Iterable[float]) -> tuple[float, float]:
    """The range of the values and 0, with some padding; never empty."""
    known = [0.0, *(value for value in values if math.isfinite(value))]
    room = (max(known) - min(known)) * 0.04 or 0.01
    return min(known) - room, max(known) + room


def _look(verdict: str) -> tuple[str, str]:
    """The colour and the mark of a verdict."""
    return LOOKS.get(verdict, (BLUE, "circle"))


def _namer(pairs: Sequence[PairResult]) -> Callable[[PairResult], str]:
    """Labels that distinguish each pair from the others."""
    baselines, measures = {pair.baseline for pair in pairs}, {pair.measure for pair in pairs}

    def name(pair: PairResult) -> str:
        against = f" - {show_id(pair.baseline, 30)}" if len(baselines) > 1 else ""
        measure = f"{show_id(pair.measure, 18)}, " if len(measures) > 1 or pair.measure not in measures else ""
        return f"{measure}{show_id(pair.system, 30)}{against}"

    return name
