"""Charts, and how to draw them as SVG. The drawing package is loaded only if a chart is drawn."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from assay.report.drawing.vega import Spec


class Chart(Struct, frozen=True):
    """One chart, before it is drawn."""

    name: str  # also the stem of its file
    title: str
    words: str  # text description
    spec: Spec


def draw(charts: Iterable[Chart]) -> dict[str, str]:
    """Charts as SVG, by name; empty if the drawing package is not installed."""
    try:
        import vl_convert
    except ImportError:
        return {}
    return {chart.name: vl_convert.vegalite_to_svg(chart.spec) for chart in charts}
