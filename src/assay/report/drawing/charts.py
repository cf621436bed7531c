"""A chart before it is drawn, and how it becomes a picture. What draws is loaded only where something is drawn."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from assay.report.drawing.vega import Spec


class Chart(Struct, frozen=True):
    """One picture, before it is drawn."""

    name: str  # also of its file
    title: str
    words: str  # what can be seen in it
    spec: Spec


def draw(charts: Iterable[Chart]) -> dict[str, str]:
    """Charts as SVG, by name; none where the package that draws them is not installed."""
    try:
        import vl_convert
    except ImportError:
        return {}
    return {chart.name: vl_convert.vegalite_to_svg(chart.spec) for chart in charts}
