"""Parse the YAML of a run's header with PyYAML. Imported only if there is a header: PyYAML is an extra.

Scalars follow YAML 1.2 and JSON: 12:30, 2021-05-31, yes and 007 stay text, where PyYAML by default gives 750, a date,
True and 7. Keys are always text. Tags, anchors and aliases are rejected: no header needs them, and a few lines of
aliases can expand to gigabytes.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may have been built without libyaml
_DEEPEST = 50  # levels; a deeper header can only be an attack on the parser
_SCALARS = (  # type, its pattern, the characters that it can start with
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
)


class Refused(Exception):
    """A header that cannot be read; the message gives the line and the reason."""


class _HeaderLoader(_Safe):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - filled below, as PyYAML does for its own loaders

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in node.value:
            if not isinstance(name, yaml.ScalarNode):
                raise Refused(f"line {_line(name)}: a key is not text")
            if name.value in found:
                raise Refused(f"line {_line(name)}: duplicate key {name.value!r}")
            found[name.value] = self.construct_object(value, deep=deep)
        return found


for _type, _form, _starts in _SCALARS:
    _HeaderLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_type}", re.compile(rf"(?:{_form})\Z"), list(_starts))


def load_header(text: str) -> dict[str, Any]:
    """Parse the text of a header into a mapping; raises Refused.

    >>> load_header("method: {retrieval: [bm25, rm3], b: 0.4}")
    {'method': {'retrieval': ['bm25', 'rm3'], 'b': 0.4}}
    """
    try:
        _check_events(text)
        found = yaml.load(text, Loader=_HeaderLoader)  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        raise Refused(f"line {error.problem_mark.line + 1}: {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:  # characters that YAML does not allow; numbers of 5000 digits
        raise Refused(str(error).partition("\n")[0]) from None
    if found is not None and not isinstance(found, dict):
        raise Refused(
            f"the header is a {'list' if isinstance(found, list) else 'value'}; it must be a mapping of keys to values"
        )
    return found or {}


def _check_events(text: str) -> None:
    """Reject unsafe YAML on the event stream, before anything is built in memory."""
    depth = 0
    for event in yaml.parse(text, Loader=_Safe):
        if getattr(event, "anchor", None) is not None:
            raise Refused(f"line {_line(event)}: anchors and aliases are not supported")
        if getattr(event, "tag", None) is not None:
            raise Refused(f"line {_line(event)}: tags such as {event.tag} are not supported")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise Refused(f"line {_line(event)}: nested more than {_DEEPEST} levels deep")


def _line(place: Any) -> int:
    return int(place.start_mark.line) + 1
