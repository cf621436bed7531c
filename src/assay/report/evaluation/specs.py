"""Vega-Lite specs as plain dicts, from numbers and names. Independent of reports; draws nothing.

Names and ids go through `show_id` and only into the data and titles of a spec, never into an expression. The number of
marks does not grow with the number of queries.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

from msgspec import Struct

from assay.report.drawing.vega import (
    BLUE,
    COLOUR,
    GREEN,
    INK,
    MOST_POINTS,
    ORANGE,
    PAPER,
    PURPLE,
    SOFT,
    TEXT,
    Spec,
    axis,
    bars,
    count_axis,
    framed,
    plot_width,
    rule,
    span,
)

_LINES = ((BLUE, [1, 0]), (ORANGE, [7, 3]), (GREEN, [2, 2]), (PURPLE, [9, 3, 2, 3]))  # colour and dashes
_CUTOFFS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)  # ticks of a cutoff axis


class Mean(Struct, frozen=True):
    """The mean of the values, drawn as a line across them."""

    value: float
    words: str  # "mean", "geometric mean"
    interval: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        """The label of its line."""
        return f"{self.words} {self.value:.4f}"


class Bin(Struct, frozen=True):
    """The number of values between `low` (included) and `high` (included only in the last bin)."""

    low: float
    high: float
    count: int
    zeros: int


def bins_of(values: Sequence[float]) -> list[Bin]:
    """The values counted in bins of equal width: tenths or twentieths for measures from 0 to 1.

    >>> [(each.low, each.high, each.count) for each in bins_of([0.0, 0.25, 1.0]) if each.count]
    [(0.0, 0.1, 1), (0.2, 0.3, 1), (0.9, 1.0, 1)]
    """
    low, high = span(values)
    parts = 20 if len(values) >= 50 else 10
    ends = [low + (high - low) * part / parts for part in range(parts + 1)]
    counts = Counter(_bin_of(value, ends) for value in values)
    zeros = values.count(0.0)
    home = _bin_of(0.0, ends) if zeros else None
    return [Bin(ends[at], ends[at + 1], counts[at], zeros if at == home else 0) for at in range(parts)]


def _bin_of(value: float, ends: Sequence[float]) -> int:
    return min(max(bisect_right(ends, value) - 1, 0), len(ends) - 2)


def histogram(bins: Sequence[Bin], measure: str, mean: Mean | None) -> Spec:
    """A histogram of queries, those at exactly 0 in another colour; a line for the mean and a band for its interval."""
    low, high = bins[0].low, bins[-1].high
    rows = [
        {"low": each.low, "high": each.high, "from": start, "to": end, "colour": colour}
        for each in bins
        for start, end, colour in ((0, each.zeros, ORANGE), (each.zeros, each.count, BLUE))
        if start < end
    ]
    top = max(each.count for each in bins)
    x, y = axis("low", measure, (low, high)), count_axis("from", top)
    bar = {"type": "rect", "fillOpacity": SOFT, "stroke": PAPER, "strokeWidth": 1, "aria": False}
    ends = {"x": x, "x2": {"field": "high"}}
    layers: list[Spec] = [{"mark": bar, "encoding": ends | {"y": y, "y2": {"field": "to"}, "fill": COLOUR}}]
    middle = (low + high) / 2
    if mean and mean.interval:
        clipped = {"low": max(mean.interval[0], low), "high": min(mean.interval[1], high)}
        band = {"type": "rect", "color": INK, "opacity": 0.16, "aria": False}
        layers.append({"data": {"values": [clipped]}, "mark": band, "encoding": ends})
    if mean:
        layers += _upright_mean(mean, x, leftwards=mean.value > middle)
    zeros = sum(each.zeros for each in bins)
    if zeros:  # on the side away from the mean's label
        layers.append(_zeros(f"{zeros:,} at 0", leftwards=mean is None or mean.value <= middle))
    return framed(layers, rows)


def _zeros(words: str, *, leftwards: bool) -> Spec:
    """The number of queries at 0, in an upper corner of the plot."""
    mark = TEXT | {"color": ORANGE, "align": "right" if leftwards else "left"}
    place = {"x": {"value": plot_width() if leftwards else 0}, "y": {"value": -10}}
    return {"data": {"values": [{"words": words}]}, "mark": mark, "encoding": place | {"text": {"field": "words"}}}


def bars_of_queries(values: Sequence[tuple[str, float]], measure: str, mean: Mean | None) -> Spec:
    """One labelled bar for each of a few queries, in the order given."""
    # Bars are keyed by position: ids that look the same once truncated still get separate bars.
    rows = [{"place": place, "query": query, "value": value} for place, (query, value) in enumerate(values)]
    place = {"field": "place", "type": "ordinal", "axis": None}
    low, high = span(value for _, value in values)
    x = axis("value", measure, (low, high))
    ids = TEXT | {"align": "right", "dx": -8, "limit": 102, "fontSize": 12 if len(rows) <= 15 else 10}
    layers: list[Spec] = [
        {"mark": bars(len(rows)) | {"color": BLUE}, "encoding": {"y": place, "x": x}},
        {"mark": ids, "encoding": {"y": place, "x": {"value": 0}, "text": {"field": "query"}}},
    ]
    if mean:
        layers += _upright_mean(mean, x, leftwards=mean.value > (low + high) / 2)
    return framed(layers, rows, left=116)


def curve_of_queries(values: Sequence[float], measure: str, mean: Mean | None) -> Spec:
    """The values of any number of queries as one falling line, highest first."""
    rows = [{"query": query, "value": value} for query, value in _outline(values)]
    y = axis("value", measure, span(values))
    x = count_axis("query", len(values), "Queries, best first", exact=True)
    line = {"color": BLUE, "strokeWidth": 1.75}
    area = {
        "type": "area",
        "color": BLUE,
        "fillOpacity": 0.16,
        "line": line,
        "interpolate": "step-after",
        "aria": False,
    }
    layers: list[Spec] = [{"mark": area, "encoding": {"x": x, "y": y}}]
    if mean:
        data = {"values": [{"value": mean.value, "label": [*mean.words.split(), f"{mean.value:.4f}"]}]}
        beside = TEXT | {"align": "left", "dx": 6, "lineHeight": 15}
        text = {"x": {"value": plot_width(right=72)}, "y": y, "text": {"field": "label"}}
        layers.append({"data": data, "mark": rule(), "encoding": {"y": y}})
        layers.append({"data": data, "mark": beside, "encoding": text})
    return framed(layers, rows, right=72)


def _outline(values: Sequence[float]) -> Iterator[tuple[int, float]]:
    """The start of each step of the falling line, limited to what a plot can show, and the end of the last step."""
    starts = [at for at, value in enumerate(values) if at == 0 or value != values[at - 1]]
    every = math.ceil(len(starts) / MOST_POINTS)
    yield from ((at, values[at]) for at in starts[::every])
    yield len(values), values[-1]


def lines_by_cutoff(cutoffs: Sequence[int], lines: Mapping[str, Sequence[float]]) -> Spec:
    """One line per measure over the cutoff, labelled at its end."""
    rows = [
        {"measure": name, "cutoff": cutoff, "value": value}
        for name, values in lines.items()
        for cutoff, value in zip(cutoffs, values, strict=True)
    ]
    first, last = cutoffs[0], max(cutoffs[-1], cutoffs[0] + 1)
    x = {
        "field": "cutoff",
        "type": "quantitative",
        "title": "Documents read (cutoff k)",
        "scale": {"type": "log", "domain": [first, last], "nice": False},
        "axis": {"values": [k for k in _CUTOFFS if first <= k <= last], "format": ",d"},
    }
    y = axis("value", "Mean over the queries", span(value for values in lines.values() for value in values))
    styles = [style for style, _ in zip(cycle(_LINES), lines, strict=False)]
    colour = _by_measure(list(lines), [colour for colour, _ in styles])
    dashes = _by_measure(list(lines), [dashes for _, dashes in styles])
    line = {"type": "line", "strokeWidth": 2, "point": len(cutoffs) <= 10, "aria": False}
    names = TEXT | {"align": "left", "dx": 8, "limit": 72}
    ends = [{"measure": name, "cutoff": cutoffs[-1], "value": at} for name, at in _apart(lines).items()]
    return framed(
        [
            {"mark": line, "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dashes}},
            {
                "data": {"values": ends},
                "mark": names,
                "encoding": {"x": x, "y": y, "color": colour, "text": {"field": "measure"}},
            },
        ],
        rows,
        right=84,
    )


def _by_measure(names: list[str], values: list[Any]) -> Spec:
    return {"field": "measure", "type": "nominal", "legend": None, "scale": {"domain": names, "range": values}}


def _apart(lines: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The height of each line's label: at its end, moved just enough that no two overlap."""
    low, high = span(value for values in lines.values() for value in values)
    room = (high - low) * 0.075
    placed: dict[str, float] = {}
    last = low - room
    for name, values in sorted(lines.items(), key=lambda line: line[1][-1]):
        last = placed[name] = max(values[-1], last + room)
    limit = high
    for name in reversed(placed):  # then downwards, for labels that were pushed out of the plot
        limit = placed[name] = min(placed[name], limit)
        limit -= room
    return placed


def precision_recall(points: Sequence[float]) -> Spec:
    """Interpolated precision at equally spaced recall levels."""
    rows = [{"recall": level / (len(points) - 1), "precision": value} for level, value in enumerate(points)]
    point = {"filled": True, "size": 40, "color": BLUE}
    line = {"type": "line", "color": BLUE, "strokeWidth": 2, "point": point, "aria": False}
    x, y = axis("recall", "Recall", (0.0, 1.0)), axis("precision", "Precision, interpolated", (0.0, 1.0))
    return framed([{"mark": line, "encoding": {"x": x, "y": y}}], rows)


def ranks_of_first_relevant(counts: Mapping[str, int], never: str) -> Spec:
    """Queries by the rank of their first relevant document; the bar `never` has another colour."""
    total = sum(counts.values())
    rows = [
        {
            "rank": rank,
            "queries": count,
            "colour": ORANGE if rank == never else BLUE,
            "label": f"{count:,} ({count / total:.0%})",
        }
        for rank, count in counts.items()
    ]
    y = {
        "field": "rank",
        "type": "nominal",
        "sort": None,
        "title": "Rank of the first relevant document",
        "axis": {"ticks": False, "domain": False, "labelLimit": 66},
    }
    x = count_axis("queries", max(counts.values()))
    labels = TEXT | {"align": "left", "dx": 6, "limit": 110}
    return framed(
        [
            {"mark": bars(len(rows)), "encoding": {"y": y, "x": x, "fill": COLOUR}},
            {"mark": labels, "encoding": {"y": y, "x": x, "text": {"field": "label"}}},
        ],
        rows,
        left=96,
        right=86,
    )


def _upright_mean(mean: Mean, x: Spec, *, leftwards: bool) -> list[Spec]:
    """A vertical line at the mean, labelled above on the side with more room."""
    data = {"values": [{x["field"]: mean.value, "label": mean.label}]}
    mark = TEXT | {"align": "right" if leftwards else "left", "dx": 4 if leftwards else -4}
    text = {"x": x, "y": {"value": -10}, "text": {"field": "label"}}
    return [{"data": data, "mark": rule(), "encoding": {"x": x}}, {"data": data, "mark": mark, "encoding": text}]
