"""Find the line of each key in a TOML file, for error messages. Values are left to `tomllib`.

Paths follow the value that `tomllib` returns: ("depth",), or ("mode", 0, "k1") in the first [[mode]] table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

Path = tuple[str | int, ...]

_KEY = r"""(?:"[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_TABLE = re.compile(rf"\[(?P<many>\[)?\s*(?P<name>{_DOTTED})\s*\]")
_PAIR = re.compile(rf"(?P<name>{_DOTTED})\s*=")
# Strings and comments, whose line ends, brackets and # have no meaning, and brackets; the longest quotes come first.
_PART = re.compile(
    r'"""(?:\\.|[^\\])*?"""' r"|'''.*?'''" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'" r"|#[^\n]*" r"|[\[{]" r"|[\]}]" r"|\n",
    re.DOTALL,
)


def key_lines(text: str) -> dict[Path, int]:
    r"""The line of each key and table, from 1.

    >>> key_lines('depth = 9\n[[mode]]\nname = "a"\n')
    {('depth',): 1, ('mode', 0): 2, ('mode', 0, 'name'): 3}
    """
    found: dict[Path, int] = {}
    table: Path = ()
    seen: Counter[Path] = Counter()
    for line, statement in _statements(text):
        head = _TABLE.match(statement)
        pair = _PAIR.match(statement)
        if head:
            table = _path(head["name"])
            if head["many"]:
                seen[table] += 1
                table = (*table, seen[table] - 1)
            found.setdefault(table, line)
        elif pair:
            found.setdefault((*table, *_path(pair["name"])), line)
    return found


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of a key, or of the nearest table around it."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Key-value pairs and table headers, each with its first line."""
    start, depth = 0, 0
    for part in _PART.finditer(text):
        sign = part[0]
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif sign == "\n" and depth <= 0:
            yield from _placed(text, start, part.start())
            start, depth = part.end(), 0
    yield from _placed(text, start, len(text))


def _placed(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    statement = text[start:end].lstrip(" \t\r")
    if statement and not statement.startswith("#"):
        yield text.count("\n", 0, start) + 1, statement


def _path(name: str) -> Path:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, name))
