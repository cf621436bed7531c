"""Precision against recall, and the measures by cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.report.drawing.charts import Chart
from assay.report.drawing.vega import BLUE, COLOUR, GREEN, ORANGE, PURPLE, axis, framed
from assay.report.interactive.figures import shown
from assay.worked import Point

HUES = (BLUE, ORANGE, GREEN, PURPLE)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])  # a second sign beside the colour


def precision_recall_chart(lists: Sequence[tuple[str, Sequence[Point], Sequence[float]]]) -> Chart:
    """A line from rank to rank for each list (name, points, interpolated precision at 0.0, 0.1, ...), and its steps."""
    rows: list[dict[str, Any]] = []
    for number, (name, points, _) in enumerate(lists):
        rows += [
            {
                "list": name,
                "rank": point.rank,
                "recall": point.recall,
                "precision": point.precision,
                "colour": HUES[number],
            }
            for point in points
        ]
    steps = [
        {"list": name, "level": level / 10, "best": value, "colour": HUES[number]}
        for number, (name, _, levels) in enumerate(lists)
        for level, value in enumerate(levels)
    ]
    tips = [
        {"field": "list", "title": "List"},
        {"field": "rank", "title": "Rank"},
        {"field": "recall", "title": "Recall", "format": ".4f"},
        {"field": "precision", "title": "Precision", "format": ".4f"},
    ]
    across, up = axis("recall", "Recall", (0.0, 1.0)), axis("precision", "Precision", (0.0, 1.05))
    line = {"x": across, "y": up, "color": COLOUR, "detail": {"field": "list"}, "order": {"field": "rank"}}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": steps},
            "mark": {"type": "line", "interpolate": "step-before", "strokeDash": [3, 3], "opacity": 0.7, "aria": False},
            "encoding": {
                "x": axis("level", "Recall", (0.0, 1.0)),
                "y": axis("best", "Precision", (0.0, 1.05)),
                "color": COLOUR,
                "detail": {"field": "list"},
            },
        },
        {"mark": {"type": "line", "strokeWidth": 2, "aria": False}, "encoding": line},
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1, "aria": False},
            "encoding": line | {"tooltip": tips},
        },
    ]
    words = " ".join(_curve_in_words(name, points, len(lists)) for name, points, _ in lists)
    legend = "Each point is a rank. Dashed: interpolated precision, the best at this recall or higher."
    return Chart("precision-recall", "Precision and recall, rank by rank", f"{words} {legend}", framed(layers, rows))


def _curve_in_words(name: str, points: Sequence[Point], lists: int) -> str:
    if not points:
        return f"{name} is empty." if lists > 1 else "The list is empty."
    last = points[-1]
    start = f"{name}: from" if lists > 1 else "From"
    return (
        f"{start} precision {shown(points[0].precision)} at rank 1 to precision {shown(last.precision)} and recall "
        f"{shown(last.recall)} at rank {last.rank:,}."
    )


def by_cutoff_chart(names: Sequence[str], cutoffs: Sequence[int], columns: Sequence[Sequence[float]], k: int) -> Chart:
    """A line for each measure over the cutoffs."""
    rows = [
        {"measure": name, "cutoff": cutoff, "value": value, "colour": HUES[number % len(HUES)], "dash": number}
        for number, (name, column) in enumerate(zip(names, columns, strict=True))
        for cutoff, value in zip(cutoffs, column, strict=True)
    ]
    last = max(cutoffs, default=1)
    across = axis("cutoff", "Cutoff k", (1, max(last, 2))) | {
        "axis": {"format": "d", "tickCount": min(max(last - 1, 1), 10)},
    }
    up = axis("value", "Value", (0.0, 1.05))
    tips = [
        {"field": "measure", "title": "Measure"},
        {"field": "cutoff", "title": "k"},
        {"field": "value", "title": "Value", "format": ".4f"},
    ]
    dashes = {"field": "dash", "type": "nominal", "scale": {"range": list(DASHES)}, "legend": None}
    line = {"x": across, "y": up, "color": COLOUR, "detail": {"field": "measure"}, "strokeDash": dashes}
    ends = [row for row in rows if row["cutoff"] == last]
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": [{"cutoff": k}]},
            "mark": {"type": "rule", "strokeDash": [3, 3], "opacity": 0.6, "aria": False},
            "encoding": {"x": across},
        },
        {"mark": {"type": "line", "strokeWidth": 2, "aria": False}, "encoding": line},
        {
            "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1, "aria": False},
            "encoding": {key: line[key] for key in ("x", "y", "color", "detail")} | {"tooltip": tips},
        },
        {
            "data": {"values": _apart(ends)},
            "mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 12, "aria": False},
            "encoding": {
                "x": across,
                "y": axis("place", "Value", (0.0, 1.05)),
                "text": {"field": "measure"},
                "color": COLOUR,
            },
        },
    ]
    words = ", ".join(f"{name} {shown(column[-1])}" for name, column in zip(names, columns, strict=True) if column)
    return Chart(
        "by-cutoff",
        "Measures by cutoff",
        f"At k = {last:,}: {words}. The dashed line is your k.",
        framed(layers, rows, right=92),
    )


def _apart(ends: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The labels at the ends of lines, moved apart so that they can be read."""
    least = 0.075
    placed: list[dict[str, Any]] = []
    for row in sorted(ends, key=lambda row: row["value"]):
        lowest = placed[-1]["place"] + least if placed else 0.0
        placed.append({**row, "place": max(row["value"], lowest)})
    over = max((placed[-1]["place"] - 1.03 if placed else 0.0), 0.0)
    return [{**row, "place": row["place"] - over} for row in placed]
