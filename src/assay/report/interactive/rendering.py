"""Pages of the workbench as HTML. The templates, the style and the charts are those of the reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from assay.report.drawing.page import environment, style_sheet, template_text
from assay.report.interactive.addresses import EVALUATOR, LEARN, MEASURES

STYLE, SCRIPT, THEME = "workbench.css", "workbench.js", "theme.js"


class Place(Struct, frozen=True):
    """A part of the workbench, as the navigation shows it."""

    key: str
    name: str
    address: str
    keys: str  # that lead there


PLACES = (
    Place("learn", "Learn", LEARN, "g l"),
    Place("evaluator", "Evaluator", EVALUATOR, "g e"),
    Place("measures", "Measures", MEASURES, "g m"),
)


class Frame(Struct, frozen=True):
    """What surrounds a page; the server fills it in."""

    assets: Mapping[str, str]  # addresses of the style sheet and the scripts, by name
    charts: str  # address of the script that draws charts
    csrf: str = ""
    data: str = ""  # name of the data folder
    read_only: bool = False
    version: str = ""


def render(template: str, frame: Frame, place: str = "", **context: Any) -> str:
    """A page of the workbench."""
    return (
        environment()
        .get_template(template)
        .render(
            frame=frame,
            place=place,
            places=PLACES,
            style=frame.assets[STYLE],
            script=frame.assets[SCRIPT],
            theme=frame.assets[THEME],
            **context,
        )
    )


def workbench_style() -> str:
    """The style sheet: that of the reports, and what only a page to work with needs."""
    return style_sheet() + template_text("workbench.css")
