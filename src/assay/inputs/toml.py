"""Parse TOML, with errors that name the line, and limits that settings written by people never reach."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from assay.errors import InputError

MOST_CHARACTERS = 1_000_000
MOST_PARTS = 50  # of a dotted key; the parser's time grows with the square of their number


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """The table in a TOML text.

    >>> parse_toml("a.b = 1", "x.toml")
    {'a': {'b': 1}}
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"is too long for TOML: over {MOST_CHARACTERS:,} characters.", source=source)
    for number, line in enumerate(text.splitlines(), 1):
        key = line if line.lstrip().startswith("[") else line.partition("=")[0]
        if key.count(".") >= MOST_PARTS:
            raise InputError(f"a key has more than {MOST_PARTS} parts.", source=source, line=number)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _no_toml(text, str(error), source) from None
    except ValueError as error:  # a number with thousands of digits
        raise InputError(f"cannot be read: {error}.", source=source) from None
    except RecursionError:
        raise InputError("is nested too deeply.", source=source) from None


def _no_toml(text: str, words: str, source: str) -> InputError:
    """The parser's error, with the line as in other messages."""
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", words)
    if place is None:
        return InputError(f"is not valid TOML: {words}.", source=source)
    said = words[: place.start()]
    if place[1] is None:
        return InputError(
            f"is not valid TOML: {said} at the end of the file.", source=source, line=len(text.splitlines()) or 1
        )
    return InputError(f"is not valid TOML: {said} in column {place[2]}.", source=source, line=int(place[1]))
