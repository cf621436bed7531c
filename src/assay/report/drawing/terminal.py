"""The width of the terminal, its colours, how much is printed, and rendering for it.

The width is that of the variable COLUMNS, also where the output is a pipe; else that of the terminal, or 120. Styles are
for terminals; FORCE_COLOR gives them to pipes, too, and NO_COLOR takes the colours away (bold stays on a terminal).
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from msgspec import Struct

from assay.errors import for_terminal

if TYPE_CHECKING:
    from rich.console import RenderableType

FALLBACK_WIDTH = 120  # if the output is not a terminal and COLUMNS is not set
ANOMALY = "! "  # before a line about something that changes how the answer is read
_HEIGHT = 25  # has no effect itself, but without it rich assumes 80 columns for every dumb terminal
_SECOND = "\ufdd0"  # no character of any text
_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
_WORD = r"""(?:"[^"]*"|'[^']*'|[^\s"'])+"""
_WORDS = re.compile(rf"(?:-{_WORD}\s(?!-))?{_WORD}")  # of a shell command, each option with its value
_SPACES = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")


class Detail(Struct, frozen=True):
    """How much is printed beside the answer: a line on the conventions and what is unusual, unless said otherwise."""

    quiet: bool = False  # the answer alone
    verbose: bool = False  # all that is known
    hint: str = ""  # how to get the rest, such as "-v"; empty if there is no way

    def more(self, words: str = "more with") -> str:
        """How to get what is not shown, to end a sentence with.

        >>> Detail(hint="-v").more(), Detail().more()
        ('; more with -v', '')
        """
        return f"; {words} {self.hint}" if self.hint else ""


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
    """The number of columns to print: COLUMNS if it is set, else those of the terminal."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked):
        return int(asked)
    return shutil.get_terminal_size((FALLBACK_WIDTH, 0)).columns if is_terminal() else FALLBACK_WIDTH


def has_styles() -> bool:
    """Whether the output is printed with colours and bold: on a terminal, and elsewhere if FORCE_COLOR asks for it."""
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0") and not os.environ.get("NO_COLOR")
    return forced or is_terminal()


def printed(what: RenderableType, width: int) -> str:
    """A rich table or text as lines, with styles if the output has them. The caller must escape markup."""
    from rich.console import Console

    out = io.StringIO()
    styles = has_styles()
    console = Console(
        file=out,
        width=width,
        height=_HEIGHT,
        force_terminal=styles,
        no_color=None if styles else True,
        highlight=False,
        force_jupyter=False,  # in a notebook, rich would show the text itself and return none
    )
    console.print(what)
    return "".join(map(_without_spaces_at_the_end, out.getvalue().splitlines()))


def _without_spaces_at_the_end(line: str) -> str:
    """The line, also if a style ends behind the spaces."""
    return _SPACES.sub(lambda found: "".join(_COLOURS.findall(found[0])), line) + "\n"


def wrapped(text: str, width: int, first: str = "", after: str | None = None) -> str:
    """A text as lines of this width; `first` stands before it, `after` before its other lines (or as many spaces)."""
    return "\n".join(wrapped_lines(text, width, first, after) or [first.rstrip()]) + "\n"


def wrapped_lines(
    text: str, width: int, first: str = "", after: str | None = None, *, hyphens: bool = True
) -> list[str]:
    """The same as a list; `hyphens` are places to break at."""
    indent = " " * len(first) if after is None else after
    wide = not text.isascii() and any(east_asian_width(character) in "WF" for character in text)
    if wide:  # such characters take two columns: one more stands in for the second, and a line may end between the two
        text = "".join(
            f"{character}{_SECOND}" if east_asian_width(character) in "WF" else character for character in text
        )
    lines = textwrap.wrap(text, width - wide, initial_indent=first, subsequent_indent=indent, break_on_hyphens=hyphens)
    return [line.replace(_SECOND, "") for line in lines]


def wrapped_command(command: str, width: int, first: str = "  ") -> str:
    r"""A shell command as lines of this width that can be copied: all but the last end in a backslash.

    >>> print(wrapped_command("assay evaluate qrels.txt bm25.run -m nDCG@10", 40), end="")
      assay evaluate qrels.txt bm25.run \
        -m nDCG@10
    """
    words = _WORDS.findall(command)
    lines = [first + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 > width:
            lines.append(" " * len(first) + "  " + word)
        else:
            lines[-1] += f" {word}"
    return " \\\n".join(lines) + "\n"


def styled(text: str, style: str) -> str:
    """Lines in a style, if the output has styles."""
    if not has_styles():
        return text
    from rich.text import Text

    return "".join(printed(Text(line, style=style), max(len(line) * 2, 1)) for line in text.splitlines())


def drawn_anomalies(anomalies: Sequence[str], width: int) -> str:
    """What changes how the answer is read, in yellow."""
    return "".join(styled(wrapped(text, width, ANOMALY), "yellow") for text in anomalies)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()  # it is None if the shell has closed it
