"""JSON values against the published JSON Schemas, with messages that name the place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError


def changed(value: dict[str, Any], *path: Any, to: object) -> dict[str, Any]:
    """The value with something else at one place."""
    copy = deepcopy(value)
    place: Any = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return copy


def problems(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """What in the value the schema does not allow, with the place."""
    Draft202012Validator.check_schema(schema)
    for error in Draft202012Validator(schema).iter_errors(value):
        yield from (f"{leaf.json_path}: {leaf.message}" for leaf in _leaves(error))


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Of an anyOf, what each alternative refuses; jsonschema itself only says that none of them fits."""
    if not error.context:
        yield error
    for inner in error.context or ():
        yield from _leaves(inner)
