"""Check JSON values against the published JSON Schemas; messages name the place."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError


def changed(value: dict[str, Any], *path: Any, to: object) -> dict[str, Any]:
    """A copy of the value with one place changed."""
    copy = deepcopy(value)
    place: Any = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return copy


def problems(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """The violations of the schema, each with its place."""
    Draft202012Validator.check_schema(schema)
    for error in Draft202012Validator(schema).iter_errors(value):
        yield from (f"{leaf.json_path}: {leaf.message}" for leaf in _leaves(error))


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors of each alternative of an anyOf; jsonschema itself only says that none of them matches."""
    if not error.context:
        yield error
    for inner in error.context or ():
        yield from _leaves(inner)
