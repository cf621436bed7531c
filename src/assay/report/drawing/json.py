"""Documents as JSON."""

from __future__ import annotations

import json
import math
from typing import Any


def json_text(document: Any) -> str:
    """A document as indented JSON, with null for NaN and infinity, which JSON does not have."""
    return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
