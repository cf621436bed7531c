"""Texts and tables in Markdown, for issues, pull requests and READMEs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.errors import show_id

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~!&$])")


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escape("a|b_*"))
    a\|b\_\*
    """
    return _SPECIAL.sub(r"\\\1", text)


_LONGEST = 2000  # characters of any text
_ADDRESS = re.compile(
    r":(?=//)|(?<=www)\.|(?<!\w)@|@(?!\d+\b)", re.IGNORECASE
)  # what makes a link or a mention; not P@5
_START = re.compile(r"^([-+=]|\d+(?=[.)](\s|$)))")  # what begins a list or is a line across


def plain(text: str, limit: int = _LONGEST) -> str:
    r"""Text that Markdown, and GitHub's Markdown, show as it is.

    >>> print(plain("1. www.example.org | @user"))
    1\. www\.example.org \| \@user
    """
    shown = escape(show_id(text, limit).strip())
    return _START.sub(_escaped_start, _ADDRESS.sub(r"\\\g<0>", shown))


def _escaped_start(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def bullets(lines: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table; the columns given by `numbers` are aligned to the right."""
    aligned = set(numbers)
    rule = ["---:" if at in aligned else "---" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
