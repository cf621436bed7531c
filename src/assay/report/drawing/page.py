"""An HTML page as one file that works offline and runs only our own script.

Every text goes through `show_id` and is then escaped (what stands in a form is only escaped, since it comes back); data is a block of JSON that cannot break out of its element. A
content security policy allows only the script and style sheet with the given hashes: even if a text became markup, the
browser would not run it. No style attributes are needed: charts use presentation attributes, and the script sets
properties.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from assay.errors import for_terminal, show_id
from assay.report.drawing.charts import Drawings
from assay.report.drawing.tables import number_class, rows_of
from assay.report.drawing.vega import COLOURS

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2000  # characters of any text
ID = 80  # characters of an id
_JSON_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


def render_page(template: str, drawings: Drawings, *, data: Any = None, **context: Any) -> str:
    """Render a template as a complete page.

    `drawings` are the charts from `draw`; the script reads `data` as JSON from the element with the id data.
    """
    from markupsafe import Markup

    style, code = style_sheet(), template_text("report.js")
    return (
        environment()
        .get_template(template)
        .render(
            drawings={name: Markup(svg) for name, svg in drawings.svgs.items()},
            not_drawn=drawings.missing,
            policy=Markup(_policy(code, style)),
            style=Markup(style),
            script=Markup(code),
            data=Markup("" if data is None else script_json(data)),
            **context,
        )
    )


@cache
def environment() -> Environment:
    """The templates; whatever they print is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    environment = Environment(
        loader=PackageLoader("assay.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["id"] = lambda text: show_id(text, ID)
    environment.filters["as_json"] = lambda data: Markup(script_json(data))
    environment.filters["rows_of"] = rows_of
    environment.filters["number_class"] = number_class
    environment.filters["exact"] = escape  # what a form sends back: every character as it is
    environment.filters["whole"] = lambda text: escape(for_terminal(text))  # lines to be copied or edited: never cut
    return environment


def _shown(value: Any) -> Any:
    """The output of a template expression: text without control characters and lone surrogates; our markup unchanged."""
    return show_id(value, LONGEST) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def template_text(name: str) -> str:
    """A file beside the templates."""
    return files("assay.report").joinpath("templates", name).read_text("utf-8")


@cache
def style_sheet() -> str:
    """The style sheet, with rules that map chart colours to its variables, so charts follow light and dark mode."""
    rules = [
        f'.chart [{attribute}="{colour}"] {{ {attribute}: var(--{name}); }}'
        for name, colour in COLOURS.items()
        for attribute in ("fill", "stroke")
    ]
    return "\n".join([template_text("report.css"), *rules, ""])


def _policy(script: str, style: str) -> str:
    """The content security policy: one script, one style sheet, nothing else."""
    return f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def script_json(data: Any) -> str:
    """JSON that is safe inside a script element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_JSON_ESCAPES)
