"""Draw time against the number of lines, from a results file. Needs vl-convert-python.

usage: python plot.py RESULTS.json GROWTH.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PREFIX = "growth "
COLOURS = {"assay": "#1b6ca8", "assay, 2 threads": "#5fb0e5", "pytrec_eval": "#d1622b"}
GREY = "#777777"
APART = 1.35  # least ratio between the heights of two labels
GUIDE = ((3e6, ""), (2e7, "twice the lines, twice the time"))


def points(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One point for each contestant and number of lines."""
    return [
        {"lines": int(case.removeprefix(PREFIX)), "seconds": timing["median"], "tool": name}
        for case, contestants in results["timings"].items()
        if case.startswith(PREFIX)
        for name, timing in contestants.items()
    ]


def names_at_ends(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last point of each contestant, moved up if its label would cover another."""
    ends = {point["tool"]: point for point in sorted(found, key=lambda point: point["lines"])}
    placed: list[dict[str, Any]] = []
    for point in sorted(ends.values(), key=lambda point: point["seconds"]):
        below = [other["seconds"] for other in placed if other["lines"] == point["lines"]]
        placed.append({**point, "seconds": max([point["seconds"], *(seconds * APART for seconds in below)])})
    return placed


def linear_guide(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ends of a reference line for linear growth, below all points."""
    lowest = min(point["seconds"] / point["lines"] for point in found)
    return [{"lines": lines, "seconds": lowest * 0.5 * lines, "words": words} for lines, words in GUIDE]


def axes() -> dict[str, Any]:
    """Both axes, logarithmic."""
    x = {
        "field": "lines",
        "type": "quantitative",
        "title": "lines of the run",
        "scale": {"type": "log", "domain": [8e4, 9e7], "nice": False},
        "axis": {"values": [1e5, 1e6, 1e7], "format": "~s"},
    }
    y = {
        "field": "seconds",
        "type": "quantitative",
        "title": "seconds, whole process",
        "scale": {"type": "log", "nice": False},
        "axis": {"format": "~g", "values": [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]},
    }
    return {"x": x, "y": y}


def specification(results: dict[str, Any]) -> dict[str, Any]:
    """The chart in Vega-Lite, with labels at the ends of the lines instead of a legend."""
    found = points(results)
    machine = results["machine"]
    scale = {"domain": list(COLOURS), "range": list(COLOURS.values())}
    tool = {"field": "tool", "type": "nominal", "scale": scale, "legend": None}
    text = {"type": "text", "align": "left", "dx": 8, "fontSize": 12}
    guide = {"values": linear_guide(found)}
    layers = [
        {"data": guide, "mark": {"type": "line", "strokeDash": [4, 4], "color": GREY}, "encoding": axes()},
        {
            "data": guide,
            "mark": {**text, "color": GREY},
            "encoding": {**axes(), "text": {"field": "words"}},
        },
        {"mark": {"type": "line", "point": True}, "encoding": {**axes(), "color": tool}},
        {
            "data": {"values": names_at_ends(found)},
            "mark": text,
            "encoding": {**axes(), "text": {"field": "tool"}, "color": tool},
        },
    ]
    return {
        "title": {
            "text": "Time against the number of lines",
            "subtitle": [
                "From files to six measures, 1,000 documents a query. Flat at first: starting Python and NumPy.",
                f"{machine['cpu']}, {machine['cores']} cores, {results['date']}",
            ],
            "anchor": "start",
            "offset": 12,
        },
        "width": 560,
        "height": 340,
        "background": "white",
        "data": {"values": found},
        "layer": layers,
        "config": {"font": "sans-serif", "view": {"stroke": None}, "axis": {"gridColor": "#eeeeee"}},
    }


def main(source: str, target: str) -> None:
    """Draw the chart."""
    import vl_convert

    results = json.loads(Path(source).read_text())
    Path(target).write_text(vl_convert.vegalite_to_svg(specification(results)))


if __name__ == "__main__":
    main(*sys.argv[1:])
