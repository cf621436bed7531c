"""Documents as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

Shown: TypeAlias = Callable[[Any], Any]


def json_text(document: Any, shown: Shown | None = None) -> str:
    """A document as indented JSON, with null for NaN and infinity, which JSON does not have.

    `shown` gives the dict of any other value, which exists only while it is written: large documents take less memory.
    """
    try:
        text = json.dumps(document, allow_nan=False, default=shown)
    except ValueError:  # rare: some value is not finite
        text = json.dumps(_finite(document, shown), allow_nan=False)
    return _indented(text) + "\n"


def _indented(text: str) -> str:
    """The same JSON with line breaks; json.dumps would take six times as long to write them itself."""
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:  # half a character, as in an id that is not UTF-8
        return json.dumps(json.loads(text), indent=2)


def _finite(value: Any, shown: Shown | None) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner, shown) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner, shown) for inner in value]
    if isinstance(value, msgspec.Struct) and shown is not None:
        return _finite(shown(value), shown)
    return None if isinstance(value, float) and not math.isfinite(value) else value
