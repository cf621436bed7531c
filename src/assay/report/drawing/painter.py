"""A process that draws charts: a line of JSON in, a line of JSON out.

A Vega-Lite specification, an object, becomes an SVG; an SVG, a text, becomes a PNG in base 64.

The drawing package runs V8, which ends its process if memory or file descriptors are short. A report must survive that, so
charts are drawn here and not in the process that writes the report. Run as `python -m assay.report.drawing.painter`.
"""

from __future__ import annotations

import base64
import json
import sys
from contextlib import suppress
from typing import Any

MOST_MEMORY = 2 << 30  # bytes; a chart takes a few hundred megabytes
SHARPER = 2  # pixels of a PNG for one of the SVG, for screens with many of them


def main() -> None:
    """Draw charts until there are no more."""
    _limit_memory()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_drawn(json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


def _drawn(given: dict[str, Any] | str) -> str:
    import vl_convert

    if isinstance(given, str):
        return base64.b64encode(vl_convert.svg_to_png(given, scale=SHARPER)).decode()
    svg: str = vl_convert.vegalite_to_svg(given)
    return svg


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits; a lower one may be set already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
