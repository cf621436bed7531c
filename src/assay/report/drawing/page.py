"""A page of HTML as one file that opens offline and runs nothing but our own script.

Every text is shown as `show_id` shows it, then escaped; data lie in a block of JSON that no parser of HTML can leave. A
content security policy names the one script and the one style sheet by their hashes: should a text ever become markup,
the browser still would not run it. Styles need no exception, since drawn charts carry attributes only and the script sets
properties, not style attributes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.errors import show_id
from assay.report.drawing.vega import COLOURS

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2000  # characters of any text
ID = 80  # characters of an id
_JSON_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


class Toned(Struct, frozen=True):
    """A cell in the colour of what it says."""

    words: str
    tone: str


def render_page(
    template: str, drawings: Mapping[str, str], *, script: str = "", data: Any = None, **context: Any
) -> str:
    """A template as a page of its own.

    `drawings` are SVG by the name of their chart, as `draw` gives them; `script` names a file beside the template, which
    finds `data` as JSON in the element called data.
    """
    from markupsafe import Markup

    style, code = _style(), _template(script) if script else ""
    return (
        _environment()
        .get_template(template)
        .render(
            drawings={name: Markup(svg) for name, svg in drawings.items()},
            policy=Markup(_policy(code, style)),
            style=Markup(style),
            script=Markup(code),
            data=Markup(_json(data)),
            **context,
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
    environment.filters["id"] = lambda text: show_id(text, ID)
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
    """What the page may do: run one script, if it has one, use one style sheet, and nothing else."""
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return f"default-src 'none'; {scripts}style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(data: Any) -> str:
    """JSON that can stand in a page."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_JSON_ESCAPES)
