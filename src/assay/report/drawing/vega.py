"""What every chart is made of: colours, axes, marks and a frame of one size. Knows no report and draws nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Spec = dict[str, Any]

INK, MUTED, GRID, PAPER = "#1c2430", "#566070", "#e4e8ed", "#ffffff"
# Hues that differ for every kind of colour vision (after Okabe and Ito), dark enough to be read as text.
BLUE, ORANGE, GREEN, PURPLE = "#0067a5", "#b84a00", "#00785a", "#94467c"
COLOURS = {  # by the name under which a page may put another one in their place
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "paper": PAPER,
    "blue": BLUE,
    "orange": ORANGE,
    "green": GREEN,
    "purple": PURPLE,
}
WIDTH, HEIGHT = 430, 285  # of every chart with its margins: two beside each other on a desk, legible on a telephone
_ABOVE, _BELOW = 28, 48
PLOT_HEIGHT = HEIGHT - _ABOVE - _BELOW

TEXT = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 12, "aria": False}
SOFT = 0.8  # of bars, so that lines across them are seen
COLOUR = {"field": "colour", "type": "nominal", "scale": None}


def bars(count: int, height: int = PLOT_HEIGHT) -> Spec:
    """Bars that lie, with room between them, and never thicker than they are worth."""
    return {"type": "bar", "height": min(0.72 * height / count, 26), "fillOpacity": SOFT, "aria": False}


def rule() -> Spec:
    """A thin line across the plot."""
    return {"type": "rule", "color": INK, "strokeWidth": 1.5, "aria": False}


def axis(field: str, title: str, domain: tuple[float, float]) -> Spec:
    """Numbers from one end of the domain to the other."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": list(domain), "nice": False, "zero": False},
        "axis": {"format": "~g", "tickCount": 5},
    }


def count_axis(field: str, top: int, title: str = "Queries", *, exact: bool = False) -> Spec:
    """From 0 to the highest count or the round number above it: 1,500 in full, 15k where it would be too long."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, top], "nice": False if exact else 5, "zero": False},
        "axis": {"format": ",d" if top < 10_000 else "~s", "tickCount": 5}
        | ({"values": list(range(top + 1))} if top <= 5 else {}),
    }


def plot_width(left: int = 58, right: int = 16) -> int:
    """What the margins leave."""
    return WIDTH - left - right


def framed(
    layers: list[Spec], rows: list[dict[str, Any]], *, left: int = 58, right: int = 16, height: int = PLOT_HEIGHT
) -> Spec:
    """A chart as wide as all are, with the plot between the given margins."""
    axis = {
        "labelColor": MUTED,
        "titleColor": INK,
        "gridColor": GRID,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 4,
        "labelFlush": False,
        "tickSize": 4,
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": PAPER,
        "autosize": "none",  # margins are ours, so that plots beside each other stand in line
        "padding": {"left": left, "right": right, "top": _ABOVE, "bottom": _BELOW},
        "width": plot_width(left, right),
        "height": height,
        "data": {"values": rows},
        "layer": layers,
        "config": {
            "font": "Helvetica, Arial, sans-serif",
            "view": {"stroke": None},
            "axis": axis,
            "axisX": {"grid": False},
            "axisY": {"domain": False, "ticks": False},
        },
    }


MOST_POINTS = 500  # of a line: more than a plot has pixels to show


def span(values: Iterable[float]) -> tuple[float, float]:
    """From 0 to 1 where all values lie there, else from 0 or the lowest to the highest; never empty."""
    known = list(values)
    low, high = min([0.0, *known]), max([0.0, *known])
    return (low, high if high > low else 1.0) if low < 0.0 or high > 1.0 else (0.0, 1.0)
