"""The width of the terminal, and rendering for it."""

from __future__ import annotations

import io
import re
import shutil
import sys
from typing import TYPE_CHECKING

from assay.errors import for_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

FALLBACK_WIDTH = 120  # if the output is not a terminal
_HEIGHT = 25  # has no effect itself, but without it rich assumes 80 columns for every dumb terminal
_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")


class Drawn(str):
    r"""A text in which colours are the renderer's own, not those of an id. Any other text has none of its own.

    >>> Drawn("\x1b[1mAP\x1b[0m").without_colours()
    'AP'
    """

    __slots__ = ()

    def without_colours(self) -> str:
        """The text for a file."""
        return _COLOURS.sub("", self)


def shown_on_terminal(text: str) -> str:
    """A text whose control characters are escaped, except newlines, tabs and the colours of a drawn one."""
    if not isinstance(text, Drawn):
        return for_terminal(text)
    parts = _COLOURS.split(text)  # every second one is a colour
    return "".join(part if place % 2 else for_terminal(part) for place, part in enumerate(parts))


def terminal_width() -> int:
    """The number of columns of the terminal."""
    return shutil.get_terminal_size((FALLBACK_WIDTH, 0)).columns if is_terminal() else FALLBACK_WIDTH


def printed(what: RenderableType, width: int) -> str:
    """A rich table or text as lines, in colour if standard output is a terminal. The caller must escape markup."""
    from rich.console import Console

    out = io.StringIO()
    colours = is_terminal()
    console = Console(
        file=out,
        width=width,
        height=_HEIGHT,
        force_terminal=colours,
        no_color=None if colours else True,
        highlight=False,
        force_jupyter=False,  # in a notebook, rich would show the text itself and return none
    )
    console.print(what)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()  # it is None if the shell has closed it
