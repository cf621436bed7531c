"""Places in JSON: `hits.hits`, `data.items[0].id`, `$['a.b']`."""

from __future__ import annotations

import re
from typing import Any, Final

from assay.errors import FetchError, show_id

WHOLE = "$"  # the value itself
_STEP = re.compile(r"""\.?([^.\[\]'"]+)|\[(-?\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]""")


class _Nothing:
    """No value: `null` is one."""

    def __repr__(self) -> str:
        return "nothing"


NOTHING: Final = _Nothing()


def find(value: Any, path: str) -> Any:
    """The value at a path; NOTHING if there is none.

    >>> find({"hits": {"hits": [{"_id": "a"}]}}, "hits.hits[0]._id"), find({}, "hits"), find(7, "$")
    ('a', nothing, 7)
    """
    for step in _steps(path):
        if isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        elif isinstance(value, dict) and str(step) in value:
            value = value[str(step)]
        else:
            return NOTHING
    return value


def checked_path(path: object, name: str) -> str:
    """The path, if it is one."""
    if not isinstance(path, str) or not path.strip():
        raise FetchError(f"{name} cannot be {path!r}; it takes a place in JSON, such as hits.hits or data[0].id.")
    _steps(path)
    return path


def _steps(path: str) -> list[str | int]:
    rest = path.strip().removeprefix(WHOLE)
    steps: list[str | int] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise FetchError(
                f"{show_id(path)!r} is not a place in JSON: write names with dots and numbers in brackets, such as "
                "hits.hits or data[0].id."
            )
        name, number, *quoted = found.groups()
        steps.append(int(number) if number is not None else next(each for each in (name, *quoted) if each is not None))
        at = found.end()
    return steps
