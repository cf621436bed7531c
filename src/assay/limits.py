"""How much one input may ask for: the limits that every reader obeys, and how to change them.

Honest files stay far below them. They stop files made to fill the memory, and endless streams. The variable ASSAY_LIMITS
changes them: ASSAY_LIMITS="expansion=1000 line=64MB"; "none" removes a limit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from msgspec import Struct

from assay.errors import InputError, LimitError, did_you_mean

VARIABLE = "ASSAY_LIMITS"
ALWAYS_READ = 16 << 20  # bytes that any compressed file may become
_UNITS = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_SETTING = r"(?i)\s*([a-z]+)\s*=\s*(?:none|([0-9][0-9_]*)\s*([KMG]B)?)\s*"  # compiled only if the variable is set


class Limit(Struct, frozen=True):
    """A limit: what it counts, its usual value, and why that is enough."""

    usual: int
    in_bytes: bool
    what: str
    why: str

    def shown(self, value: int) -> str:
        """A value of this limit in words.

        >>> LIMITS["line"].shown(64 << 20), LIMITS["line"].shown(100), LIMITS["rows"].shown(5000)
        ('64 MB', '100 bytes', '5,000')
        """
        if not self.in_bytes:
            return f"{value:,}"
        unit = next(unit for unit in ("GB", "MB", "KB", "") if value % _UNITS[unit] == 0)
        return f"{value // _UNITS[unit]:,} {unit or 'bytes'}"


LIMITS = {
    "expansion": Limit(
        200,
        False,
        "how many times its own size a compressed file may become, Parquet and Arrow included; 16 MB are always read",
        "Runs and judgments become 3 to 20 times as large, hardly ever 50. Files made to fill the memory reach 1,000.",
    ),
    "line": Limit(
        16 << 20,
        True,
        "the longest line of a text file, and so the longest id; blank lines and comments in a row, from a pipe",
        "Lines of runs and judgments have some dozens of bytes, documents in JSON Lines some thousands.",
    ),
    "rows": Limit(
        10_000_000,
        False,
        "the documents of one query, on average, where they have to be held in memory; a tenth if nearly all of them repeat",
        "Runs have about 1,000 documents per query; 10 million is a whole collection.",
    ),
    "whole": Limit(
        512 << 20,
        True,
        "what is read as a whole: one value in JSON, such as the documents of a query; topics, reports, recipes",
        "A million documents of a query take 40 MB.",
    ),
}


def limit(name: str) -> int:
    """The limit in force; 2**63 if it was removed."""
    return limits_from(os.environ.get(VARIABLE, ""))[name]


@cache
def limits_from(text: str) -> Mapping[str, int]:
    """The limits with the changes in a text.

    >>> limits_from("line=64MB, expansion=none")["line"]
    67108864
    """
    found = {name: each.usual for name, each in LIMITS.items()}
    place = 0
    while place < len(text.rstrip(" ,")):
        setting = re.compile(_SETTING).match(text, place)
        if setting is None:
            raise InputError(
                f"{text[place:].strip()!r} is not a limit. Write {VARIABLE}='NAME=NUMBER', such as "
                f"{VARIABLE}='line=64MB'; the limits are {', '.join(LIMITS)}.",
                source=VARIABLE,
            )
        name, number, unit = setting[1].lower(), setting[2], (setting[3] or "").upper()
        if name not in LIMITS:
            hint = did_you_mean(name, LIMITS) or "."
            raise InputError(f"no limit called {name!r}{hint} The limits are {', '.join(LIMITS)}.", source=VARIABLE)
        found[name] = 2**63 if number is None else int(number) * _UNITS[unit]
        place = setting.end()
        place += text[place : place + 1] == ","
    return MappingProxyType(found)


def in_words(name: str) -> str:
    """The limit in force, for a message."""
    return LIMITS[name].shown(limit(name))


def beyond(name: str, problem: str, *, source: str, line: int | None = None, fix: str = "") -> LimitError:
    """The error for an input that goes beyond a limit: what was seen, the limit, and how to raise it."""
    known, value = LIMITS[name], limit(name)
    raised = f"{VARIABLE}={name}={known.shown(10 * value).replace(' bytes', '').replace(' ', '').replace(',', '')}"
    hint = f" {fix}" if fix else ""
    return LimitError(
        f"{problem}.{hint} If this is what you want, raise the limit: {raised}.", source=source, line=line
    )


def refuse_endless(rows: int, queries: int, docs: Sequence[object], source: str) -> None:
    """Raise an error if the queries so far have more documents than any ranking, or repeat them without end.

    `docs` are those of the latest rows. A tenth of the limit is enough if nearly all of them repeat one another.
    """
    most = limit("rows") * max(queries, 1)
    if rows <= most // 10:
        return
    what = f"{rows:,} rows for {queries:,} {'query' if queries == 1 else 'queries'}"
    if 10 * len(set(docs)) < len(docs):
        raise beyond("rows", f"repeats the same documents without end ({what} so far)", source=source)
    if rows > most:
        raise beyond("rows", f"has more than {in_words('rows')} documents per query ({what} so far)", source=source)
