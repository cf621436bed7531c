"""Building blocks of charts: colours, axes, marks and a frame of fixed size. Independent of reports; draws nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from msgspec import Struct

Spec = dict[str, Any]

INK, MUTED, GRID, PAPER = "#1c2430", "#566070", "#e4e8ed", "#ffffff"
# Hues that are distinct for every kind of colour vision (after Okabe and Ito), dark enough for text.
BLUE, ORANGE, GREEN, PURPLE = "#0067a5", "#b84a00", "#00785a", "#94467c"
# With more, no palette is distinct for everybody: systems also differ in their marks and dashes (SERIES).
SKY, RED, OLIVE, INDIGO = "#3f93c9", "#c4314b", "#7d7a00", "#5343a8"
BROWN, TEAL, PINK, SLATE = "#704728", "#009aa0", "#d0679d", "#7d8590"
COLOURS = {  # by the CSS variable that replaces them on a page
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    "paper": PAPER,
    "blue": BLUE,
    "orange": ORANGE,
    "green": GREEN,
    "purple": PURPLE,
    "sky": SKY,
    "red": RED,
    "olive": OLIVE,
    "indigo": INDIGO,
    "brown": BROWN,
    "teal": TEAL,
    "pink": PINK,
    "slate": SLATE,
}
_HUES = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, OLIVE, INDIGO, BROWN, TEAL, PINK, SLATE)
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])


class Look(Struct, frozen=True):
    """How a series is drawn: no two of the first twelve have the same colour, or the same mark in similar colours."""

    colour: str
    shape: str
    dashes: list[int]


SERIES = tuple(
    Look(hue, _SHAPES[at % len(_SHAPES)], _DASHES[at % len(_DASHES)]) for at, hue in enumerate(_HUES)
)  # of systems or measures, in their order

WIDTH, HEIGHT = 430, 285  # of every chart with its margins: two side by side on a desktop, readable on a phone
_ABOVE, _BELOW = 28, 48
PLOT_HEIGHT = HEIGHT - _ABOVE - _BELOW

TEXT = {"type": "text", "baseline": "middle", "color": INK, "fontSize": 12, "aria": False}
SOFT = 0.8  # opacity of bars, to keep lines across them visible
COLOUR = {"field": "colour", "type": "nominal", "scale": None}
SHAPE = {"field": "shape", "type": "nominal", "scale": None}
NAMED = {"description": {"field": "words", "type": "nominal"}}  # the words of each mark, which a reader sees on hover


def named(mark: Spec) -> Spec:
    """A mark whose `words` are shown on hover; together with NAMED in its encoding."""
    return mark | {"aria": True}


# Widths of characters in parts of the font size, of a wide font: the reader's may be narrower.
_WIDTHS = {
    **dict.fromkeys("iljI|.,:;'` ", 0.32),
    **dict.fromkeys("tfr()[]/\\-", 0.41),
    **dict.fromkeys("mwMW@%", 0.97),
}


def fitting(text: str, room: float, size: float = 12) -> str:
    """A text that fits into so many pixels in any usual font: cut in the middle, since names often differ at their end.

    >>> fitting("camping tent", 100), fitting("rerank-k100-v1", 80), fitting("rerank-k100-v2", 80)
    ('camping tent', 'rerank-…-v1', 'rerank-…-v2')
    """
    if width_of(text, size) <= room:
        return text
    room -= width_of("…", size)
    end = text[len(text) - _fitting(text[::-1], room / 3, size) :]
    start = text[: _fitting(text, room - width_of(end, size), size)]
    return f"{start.rstrip()}…{end.lstrip()}"


def _fitting(text: str, room: float, size: float) -> int:
    """How many characters from the beginning of a text fit."""
    widths = accumulate(width_of(character, size) for character in text)
    return sum(width <= room for width in widths)


def width_of(text: str, size: float = 12) -> float:
    """The width of a text in pixels, in a wide font."""
    return size * sum(
        _WIDTHS.get(character, 0.62 if character.islower() or character.isdigit() else 0.72)
        if character.isascii()
        else 1.0
        if east_asian_width(character) in "WF"
        else 0.7
        for character in text
    )


def bars(count: int, height: int = PLOT_HEIGHT) -> Spec:
    """Horizontal bars with gaps between them, and of limited thickness."""
    return {"type": "bar", "height": min(0.72 * height / count, 26), "fillOpacity": SOFT, "aria": False}


def rule() -> Spec:
    """A thin line across the plot."""
    return {"type": "rule", "color": INK, "strokeWidth": 1.5, "aria": False}


def axis(field: str, title: str, domain: tuple[float, float]) -> Spec:
    """A numeric axis over the given domain."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": list(domain), "nice": False, "zero": False},
        "axis": {"format": "~g", "tickCount": 5},
    }


def count_axis(field: str, top: int, title: str = "Queries", *, exact: bool = False) -> Spec:
    """An axis from 0 to the highest count, or the round number above it; labelled 1,500 but 15k."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [0, top], "nice": False if exact else 5, "zero": False},
        "axis": {"format": ",d" if top < 10_000 else "~s", "tickCount": 5}
        | ({"values": list(range(top + 1))} if top <= 5 else {}),
    }


def plot_width(left: int = 58, right: int = 16) -> int:
    """The width of the plot inside the margins."""
    return WIDTH - left - right


def framed(
    layers: list[Spec], rows: list[dict[str, Any]], *, left: int = 58, right: int = 16, height: int = PLOT_HEIGHT
) -> Spec:
    """A chart of the common width, with the plot between the given margins."""
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
        "autosize": "none",  # fixed margins keep plots in a row aligned
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


MOST_POINTS = 500  # of a line: more than a plot has pixels


def span(values: Iterable[float]) -> tuple[float, float]:
    """0 to 1 if all values are in that range, else from 0 or the lowest to the highest; never empty."""
    known = list(values)
    low, high = min([0.0, *known]), max([0.0, *known])
    return (low, high if high > low else 1.0) if low < 0.0 or high > 1.0 else (0.0, 1.0)
