"""What each rank adds to DCG, beside what it would add in the best order."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.drawing.charts import Chart
from assay.report.drawing.vega import BLUE, COLOUR, INK, SOFT, axis, framed

DEEPEST = 50  # ranks that are drawn


def parts_chart(name: str, title: str, parts: Sequence[float], ideal: Sequence[float]) -> Chart:
    """Bars for what each rank adds to DCG, with an outline for the best order."""
    rows = [
        {"rank": rank, "part": part, "ideal": best, "colour": BLUE}
        for rank, (part, best) in enumerate(zip(parts, ideal, strict=True), 1)
    ]
    top = max([*parts, *ideal, 1.0]) * 1.05
    across = {"field": "rank", "type": "ordinal", "title": "Rank", "axis": {"labelAngle": 0, "labelOverlap": True}}
    tips = [
        {"field": "rank", "title": "Rank"},
        {"field": "part", "title": "This list", "format": ".4f"},
        {"field": "ideal", "title": "Best order", "format": ".4f"},
    ]
    layers = [
        {
            "mark": {"type": "bar", "fillOpacity": SOFT, "aria": False},
            "encoding": {
                "x": across,
                "y": axis("part", "Gain / discount", (0.0, top)),
                "color": COLOUR,
                "tooltip": tips,
            },
        },
        {
            "mark": {"type": "bar", "filled": False, "stroke": INK, "strokeWidth": 1.5, "aria": False},
            "encoding": {"x": across, "y": axis("ideal", "Gain / discount", (0.0, top)), "tooltip": tips},
        },
    ]
    words = f"Bars: what each rank adds. Outlines: the best order of all judged documents. {_words(parts)}"
    return Chart(name, title, words, framed(layers, rows))


def _words(parts: Sequence[float]) -> str:
    if not any(parts):
        return "No rank adds anything."
    best = max(range(len(parts)), key=lambda place: parts[place])
    return f"Rank {best + 1} adds most, {parts[best]:.4f} of {sum(parts):.4f}."
