"""The list of collections that come with assay, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from assay.report.validation.text import NOUNS
from assay.validation.findings import Validation
from assay.words import number_of

COLLECTIONS_SCHEMA = "assay/collections/1"
_PARTS = ("documents", "queries", "judgments")


def collections_as_text(collections: Mapping[str, Validation]) -> str:
    """One line per collection: its name and counts."""
    width = max(map(len, collections), default=0)
    return "".join(
        f"{name:<{width}}  {', '.join(number_of(int(found.facts[part]), NOUNS[part]) for part in _PARTS)}\n"
        for name, found in collections.items()
    )


def collections_as_json(collections: Mapping[str, Validation]) -> str:
    """One JSON object; its schema is docs/schemas/collections-1.json."""
    listed = [
        {"name": name, "split": found.facts["split"], **{part: found.facts[part] for part in _PARTS}}
        for name, found in collections.items()
    ]
    return json.dumps({"schema": COLLECTIONS_SCHEMA, "collections": listed}, indent=2) + "\n"


COLLECTION_RENDERERS: dict[str, Callable[[Mapping[str, Validation]], str]] = {
    "table": collections_as_text,
    "json": collections_as_json,
}
