"""The terminal: how wide it is, and how something is drawn for it."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

FALLBACK_WIDTH = 120  # when the output is no terminal
_HEIGHT = 25  # changes nothing, but without it rich takes every dumb terminal for 80 columns wide


def terminal_width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size((FALLBACK_WIDTH, 0)).columns if sys.stdout.isatty() else FALLBACK_WIDTH


def printed(what: RenderableType, width: int) -> str:
    """A table or text of rich as lines, in colour if they go to a terminal. Markup in it is the caller's matter."""
    from rich.console import Console

    out = io.StringIO()
    colours = sys.stdout.isatty()
    console = Console(
        file=out,
        width=width,
        height=_HEIGHT,
        force_terminal=colours,
        no_color=None if colours else True,
        highlight=False,
    )
    console.print(what)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())
