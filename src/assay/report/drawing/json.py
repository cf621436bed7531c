"""Documents as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec


def json_text(document: Any) -> str:
    """A document as indented JSON, with null for NaN and infinity, which JSON does not have."""
    try:
        text = json.dumps(document, allow_nan=False)
    except ValueError:  # rare: some value is not finite
        text = json.dumps(_finite(document), allow_nan=False)
    return _indented(text) + "\n"


def _indented(text: str) -> str:
    """The same JSON with line breaks; json.dumps would take six times as long to write them itself."""
    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:  # half a character, as in an id that is not UTF-8
        return json.dumps(json.loads(text), indent=2)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
