"""Text and tables in Markdown, for issues, pull requests and READMEs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.errors import show_id

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~!&$])")


def escape(text: str) -> str:
    r"""Escape text so that Markdown shows it unchanged.

    >>> print(escape("a|b_*"))
    a\|b\_\*
    """
    return _SPECIAL.sub(r"\\\1", text)


_LONGEST = 2000  # characters of any text
_ADDRESS = re.compile(
    r":(?=//)|(?<=www)\.|(?<!\w)@|@(?!\d+\b)", re.IGNORECASE
)  # characters that make a link or a mention; not P@5
_START = re.compile(r"^([-+=]|\d+(?=[.)](\s|$)))")  # starts a list, a heading or a horizontal rule


def plain(text: str, limit: int = _LONGEST) -> str:
    r"""Escape text so that Markdown shows it unchanged, GitHub's links and mentions included.

    >>> print(plain("1. www.example.org | @user"))
    1\. www\.example.org \| \@user
    """
    shown = escape(show_id(text, limit).strip())
    return _START.sub(_escaped_start, _ADDRESS.sub(r"\\\g<0>", shown))


def _escaped_start(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def bullets(lines: Iterable[str]) -> str:
    """A bullet list."""
    return "\n".join(f"- {line}" for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table; the columns in `numbers` are right-aligned."""
    aligned = set(numbers)
    rule = ["---:" if at in aligned else "---" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
