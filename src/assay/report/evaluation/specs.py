"""Vega-Lite specs as plain dicts, from numbers and names. Independent of reports; draws nothing.

Names and ids go through `show_id` and only into the data and titles of a spec, never into an expression. The number of
marks does not grow with the number of queries.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from assay.errors import show_id
from assay.report.drawing.vega import (
    BLUE,
    COLOUR,
    INK,
    MOST_POINTS,
    NAMED,
    ORANGE,
    PAPER,
    PLOT_HEIGHT,
    SERIES,
    SOFT,
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
    span,
)
from assay.words import number_of

_IDS = 116  # pixels for the ids of queries
_NAMED_PARTS = 100  # of the line of queries
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
        {"low": each.low, "high": each.high, "from": start, "to": end, "colour": colour, "words": words}
        for each in bins
        for start, end, colour, words in _parts(each)
        if start < end
    ]
    top = max(each.count for each in bins)
    x, y = axis("low", measure, (low, high)), count_axis("from", top)
    bar = named({"type": "rect", "fillOpacity": SOFT, "stroke": PAPER, "strokeWidth": 1})
    ends = {"x": x, "x2": {"field": "high"}}
    layers: list[Spec] = [{"mark": bar, "encoding": ends | {"y": y, "y2": {"field": "to"}, "fill": COLOUR} | NAMED}]
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


def _parts(each: Bin) -> Iterator[tuple[int, int, str, str]]:
    """The two parts of a bar, from and to a count, with their colours and words."""
    yield 0, each.zeros, ORANGE, f"0: {number_of(each.zeros, 'query')}"
    others = each.count - each.zeros
    yield each.zeros, each.count, BLUE, f"{each.low:.4g} to {each.high:.4g}: {number_of(others, 'query')}"


def _zeros(words: str, *, leftwards: bool) -> Spec:
    """The number of queries at 0, in an upper corner of the plot."""
    mark = TEXT | {"color": ORANGE, "align": "right" if leftwards else "left"}
    place = {"x": {"value": plot_width() if leftwards else 0}, "y": {"value": -10}}
    return {"data": {"values": [{"words": words}]}, "mark": mark, "encoding": place | {"text": {"field": "words"}}}


def bars_of_queries(values: Sequence[tuple[str, float]], measure: str, mean: Mean | None) -> Spec:
    """One labelled bar for each of a few queries, in the order given."""
    # Bars are keyed by position: ids that look the same once truncated still get separate bars.
    size = 12 if len(values) <= 15 else 10
    rows = [
        {"place": place, "query": fitting(query, _IDS, size), "value": value, "words": f"{query}: {value:.4f}"}
        for place, (query, value) in enumerate(values)
    ]
    place = {"field": "place", "type": "ordinal", "axis": None}
    low, high = span(value for _, value in values)
    x = axis("value", measure, (low, high))
    ids = named(TEXT | {"align": "right", "dx": -8, "limit": _IDS, "fontSize": size})
    layers: list[Spec] = [
        {"mark": named(bars(len(rows)) | {"color": BLUE}), "encoding": {"y": place, "x": x} | NAMED},
        {"mark": ids, "encoding": {"y": place, "x": {"value": 0}, "text": {"field": "query"}} | NAMED},
    ]
    if mean:
        layers += _upright_mean(mean, x, leftwards=mean.value > (low + high) / 2)
    return framed(layers, rows, left=_IDS + 14)


def curve_of_queries(values: Sequence[tuple[str, float]], measure: str, mean: Mean | None) -> Spec:
    """The values of any number of queries as one falling line, highest first; each part of it names its queries."""
    numbers = [value for _, value in values]
    rows = [{"query": query, "value": value} for query, value in _outline(numbers)]
    y = axis("value", measure, span(numbers))
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
    unseen = named({"type": "rect", "color": BLUE, "fillOpacity": 0})
    places = {"x": x, "x2": {"field": "to"}, "y": {"value": 0}, "y2": {"value": PLOT_HEIGHT}}
    layers.append({"data": {"values": _parts_of(values)}, "mark": unseen, "encoding": places | NAMED})
    return framed(layers, rows, right=72)


def _parts_of(values: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """The queries one by one, or in equal parts if they are many."""
    every = math.ceil(len(values) / _NAMED_PARTS)
    parts = []
    for at in range(0, len(values), every):
        (query, value), (_, last) = values[at], values[min(at + every, len(values)) - 1]
        others = min(every, len(values) - at) - 1
        words = f"{show_id(query)}: {value:.4f}"
        if others:
            words = f"{show_id(query)} and the next {number_of(others, 'query')}: {value:.4f} to {last:.4f}"
        parts.append({"query": at, "to": at + others + 1, "words": words})
    return parts


def _outline(values: Sequence[float]) -> Iterator[tuple[int, float]]:
    """The start of each step of the falling line, limited to what a plot can show, and the end of the last step."""
    starts = [at for at, value in enumerate(values) if at == 0 or value != values[at - 1]]
    every = math.ceil(len(starts) / MOST_POINTS)
    yield from ((at, values[at]) for at in starts[::every])
    yield len(values), values[-1]


def lines_by_cutoff(cutoffs: Sequence[int], lines: Mapping[str, Sequence[float]]) -> Spec:
    """One line per measure over the cutoff, labelled at its end."""
    rows = [
        {"measure": name, "cutoff": cutoff, "value": value, "words": f"{name}@{cutoff}: {value:.4f}"}
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
    looks = SERIES[: len(lines)]
    colour = _by_measure(list(lines), [look.colour for look in looks])
    dashes = _by_measure(list(lines), [look.dashes for look in looks])
    shapes = _by_measure(list(lines), [look.shape for look in looks])
    line = {"type": "line", "strokeWidth": 2, "aria": False}
    marked = {"filter": {"field": "cutoff", "oneOf": [*_CUTOFFS, cutoffs[-1]]}}
    point = named({"type": "point", "filled": True, "size": 30, "opacity": 1})
    names = TEXT | {"align": "left", "dx": 8, "limit": 72}
    ends = [
        {"measure": name, "label": fitting(name, 72), "cutoff": cutoffs[-1], "value": at}
        for name, at in _apart(lines).items()
    ]
    return framed(
        [
            {"mark": line, "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dashes}},
            {
                "transform": [marked],
                "mark": point,
                "encoding": {"x": x, "y": y, "color": colour, "shape": shapes} | NAMED,
            },
            {
                "data": {"values": ends},
                "mark": names,
                "encoding": {"x": x, "y": y, "color": colour, "text": {"field": "label"}},
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
    levels = [level / (len(points) - 1) for level in range(len(points))]
    rows = [
        {"recall": level, "precision": value, "words": f"precision {value:.4f} at recall {level:g}"}
        for level, value in zip(levels, points, strict=True)
    ]
    line = {"type": "line", "color": BLUE, "strokeWidth": 2, "aria": False}
    point = named({"type": "point", "filled": True, "size": 40, "color": BLUE, "opacity": 1})
    x, y = axis("recall", "Recall", (0.0, 1.0)), axis("precision", "Precision, interpolated", (0.0, 1.0))
    return framed(
        [{"mark": line, "encoding": {"x": x, "y": y}}, {"mark": point, "encoding": {"x": x, "y": y} | NAMED}], rows
    )


def ranks_of_first_relevant(counts: Mapping[str, int], never: str) -> Spec:
    """Queries by the rank of their first relevant document; the bar `never` has another colour."""
    total = sum(counts.values())
    rows = [
        {
            "rank": rank,
            "queries": count,
            "colour": ORANGE if rank == never else BLUE,
            "label": f"{count:,} ({count / total:.0%})",
            "words": f"rank {rank}: {number_of(count, 'query')} ({count / total:.0%})",
        }
        for rank, count in counts.items()
    ]
    y = {
        "field": "rank",
        "type": "nominal",
        "sort": None,
        "title": None,  # the title of the chart says it
        "axis": {"ticks": False, "domain": False, "labelLimit": 86},
    }
    x = count_axis("queries", max(counts.values()))
    labels = TEXT | {"align": "left", "dx": 6, "limit": 110}
    return framed(
        [
            {"mark": named(bars(len(rows))), "encoding": {"y": y, "x": x, "fill": COLOUR} | NAMED},
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
