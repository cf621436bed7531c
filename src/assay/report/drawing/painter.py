"""A process that draws charts: one Vega-Lite specification in JSON per line in, one SVG in JSON per line out.

The drawing package runs V8, which ends its process if memory or file descriptors are short. A report must survive that, so
charts are drawn here and not in the process that writes the report. Run as `python -m assay.report.drawing.painter`.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress

MOST_MEMORY = 2 << 30  # bytes; a chart takes a few hundred megabytes


def main() -> None:
    """Draw charts until there are no more."""
    _limit_memory()
    import vl_convert

    for line in sys.stdin.buffer:
        svg = vl_convert.vegalite_to_svg(json.loads(line))
        sys.stdout.buffer.write(json.dumps(svg).encode() + b"\n")
        sys.stdout.buffer.flush()


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits; a lower one may be set already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
