"""A report as one HTML file that opens offline and runs nothing but our own script.

Every text is shown as `show_id` shows it, then escaped; the values of queries lie in a block of JSON that no parser of
HTML can leave. A content security policy names the one script and the one style sheet by their hashes: should a text
ever become markup, the browser still would not run it. Styles need no exception, since drawn charts carry attributes only
and the script sets properties, not style attributes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from assay.errors import show_id
from assay.records.model import EvaluationReport
from assay.report.charts import charts_of
from assay.report.sheet import count_of, lowest_first, main_measure, sheet_of, show_value, where
from assay.report.specs import COLOURS

if TYPE_CHECKING:
    from jinja2 import Environment

PLAIN_ROWS = 50  # queries that stand in the page itself, for those without JavaScript
LONGEST = 2000  # characters of any text
_ID = 80  # characters of an id
_JSON_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


@dataclass(frozen=True)
class QueryTable:
    """The queries that are shown without JavaScript."""

    words: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def render_report_html(report: EvaluationReport, charts: Mapping[str, str]) -> str:
    """The report as a page of its own; charts are SVG by name, as `draw_charts` gives them.

    Where a chart has no drawing, the words that go with it stand alone.
    """
    from markupsafe import Markup

    style, script = _style(), _template("report.js")
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            sheet=sheet_of(report),
            charts=charts_of(report),
            drawings={name: Markup(svg) for name, svg in charts.items()},
            table=_query_table(report),
            where=where,
            policy=Markup(_policy(script, style)),
            style=Markup(style),
            script=Markup(script),
            data=Markup(_data(report)),
        )
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("assay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["id"] = lambda text: show_id(text, _ID)
    return environment


def _shown(value: Any) -> Any:
    """What a template prints: text without control characters and half characters; markup of ours as it is."""
    return show_id(value, LONGEST) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _template(name: str) -> str:
    return files("assay.report").joinpath("templates", name).read_text("utf-8")


@cache
def _style() -> str:
    """Our style sheet, with the colours of charts in the hands of its variables, so that they follow light and dark."""
    rules = [
        f'.chart [{attribute}="{colour}"] {{ {attribute}: var(--{name}); }}'
        for name, colour in COLOURS.items()
        for attribute in ("fill", "stroke")
    ]
    return "\n".join([_template("report.css"), *rules, ""])


def _policy(script: str, style: str) -> str:
    """What the page may do: run one script, use one style sheet, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(report: EvaluationReport) -> str:
    """The values of queries by column, as JSON that can stand in a page."""
    ids = list(report.queries)
    columns = list(zip(*report.queries.values(), strict=True)) if ids else [()] * len(report.measures)
    shown = {at: text for at, query in enumerate(ids) if (text := show_id(query, _ID)) != query}
    document = {
        "measures": [
            {
                "name": show_id(measure.name),
                "whole": measure.total == "sum",
                "mean": _known(measure.mean, measure.total),
            }
            for measure in report.measures
        ],
        "main": main_measure(report) or 0,
        "ids": ids,
        "shown": shown,  # where an id is not shown as it is
        "values": [[_known(value) for value in column] for column in columns],
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).translate(_JSON_ESCAPES)


def _known(value: float | None, total: str = "mean") -> float | None:
    """None for what JSON has no number for, and for a sum, which no query can be held against."""
    return None if value is None or total == "sum" or not math.isfinite(value) else value


def _query_table(report: EvaluationReport) -> QueryTable:
    at = main_measure(report) or 0
    order = lowest_first(report, at)[:PLAIN_ROWS] if report.measures else list(report.queries)[:PLAIN_ROWS]
    rows = tuple((show_id(query, _ID), _cells(report, query)) for query in order)
    words = count_of(len(report.queries), "query")
    if report.measures and rows:
        words = f"1 to {len(rows)} of {len(report.queries):,}, by {show_id(report.measures[at].name)}, lowest first"
    return QueryTable(words, tuple(show_id(measure.name) for measure in report.measures), rows)


def _cells(report: EvaluationReport, query: str) -> tuple[str, ...]:
    pairs = zip(report.queries[query], report.measures, strict=True)
    return tuple(show_value(value, measure) for value, measure in pairs)
