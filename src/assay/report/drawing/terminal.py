"""The width of the terminal, and rendering for it."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

FALLBACK_WIDTH = 120  # if the output is not a terminal
_HEIGHT = 25  # has no effect itself, but without it rich assumes 80 columns for every dumb terminal


def terminal_width() -> int:
    """The number of columns of the terminal."""
    return shutil.get_terminal_size((FALLBACK_WIDTH, 0)).columns if _is_terminal() else FALLBACK_WIDTH


def printed(what: RenderableType, width: int) -> str:
    """A rich table or text as lines, in colour if standard output is a terminal. The caller must escape markup."""
    from rich.console import Console

    out = io.StringIO()
    colours = _is_terminal()
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


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()  # it is None if the shell has closed it
