"""A small check of JSON values against a JSON Schema: only the keywords that our schemas use, each refused if unknown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
}


def changed(value: dict[str, Any], *path: Any, to: object) -> dict[str, Any]:
    """The value with something else at one place."""
    copy = deepcopy(value)
    place: Any = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return copy


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = "$") -> Iterator[str]:
    """What in the value the schema does not allow, with the place."""
    root = schema if root is None else root
    for keyword, rule in schema.items():
        check = _KEYWORDS[keyword]
        if keyword not in _SPEAKS_OF or _TYPES[_SPEAKS_OF[keyword]](value):
            yield from check(value, rule, schema, root, at)


def _type(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    allowed = [rule] if isinstance(rule, str) else rule
    if not any(_TYPES[name](value) for name in allowed):
        yield f"{at}: {value!r} is no {' or '.join(allowed)}"


def _ref(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    yield from problems(value, root["$defs"][rule.removeprefix("#/$defs/")], root, at)


def _required(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    yield from (f"{at}: {name!r} is missing" for name in rule if name not in value)


def _properties(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for name in rule.keys() & value.keys():
        yield from problems(value[name], rule[name], root, f"{at}.{name}")


def _additional(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for name in value.keys() - schema.get("properties", {}).keys():
        if rule is False:
            yield f"{at}: {name!r} is not allowed"
        else:
            yield from problems(value[name], rule, root, f"{at}.{name}")


def _items(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for index, item in enumerate(value[len(schema.get("prefixItems", ())) :]):
        if rule is False:
            yield f"{at}: {item!r} is one too many"
            continue
        yield from problems(item, rule, root, f"{at}[{index}]")


def _prefix_items(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    for index, (item, inner) in enumerate(zip(value, rule, strict=False)):
        yield from problems(item, inner, root, f"{at}[{index}]")


def _any_of(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    found = [list(problems(value, inner, root, at)) for inner in rule]
    if all(found):
        yield found[0][0]


def _failing(text: str, holds: Callable[[Any, Any], bool]) -> Callable[..., Iterator[str]]:
    def check(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
        if not holds(value, rule):
            yield f"{at}: {value!r} {text} {rule!r}"

    return check


def _nothing(value: Any, rule: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    yield from ()


# Keywords that say nothing of values of another type.
_SPEAKS_OF = {
    **dict.fromkeys(("required", "properties", "additionalProperties", "propertyNames"), "object"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "maxItems"), "array"),
    **dict.fromkeys(("minimum", "maximum"), "number"),
    "pattern": "string",
}

_KEYWORDS: dict[str, Callable[..., Iterator[str]]] = {
    "type": _type,
    "$ref": _ref,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "prefixItems": _prefix_items,
    "anyOf": _any_of,
    "propertyNames": lambda value, rule, schema, root, at: (
        problem for name in value for problem in problems(name, rule, root, f"{at} key")
    ),
    "enum": _failing("is none of", lambda value, rule: value in rule),
    "const": _failing("is not", lambda value, rule: value == rule),
    "pattern": _failing("does not match", lambda value, rule: re.search(rule, value) is not None),
    "minimum": _failing("is below", lambda value, rule: value >= rule),
    "maximum": _failing("is above", lambda value, rule: value <= rule),
    "minItems": _failing("has fewer items than", lambda value, rule: len(value) >= rule),
    "maxItems": _failing("has more items than", lambda value, rule: len(value) <= rule),
    **dict.fromkeys(("$schema", "$id", "$defs", "title", "description", "default"), _nothing),
}
