"""Requests with places for the query: `{{query}}`, `{{query_id}}`, `{{top_k}}` and `{{mode}}` in the texts of JSON.

Values are put into parsed JSON, never into its text, so no query can break out of its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from assay.errors import FetchError, did_you_mean

PLACES = ("query", "query_id", "top_k", "mode")
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_BARE = re.compile(r'"(?:[^"\\]|\\.)*"|\{\{\s*\w+\s*\}\}', re.DOTALL)


def parse_template(text: str, source: str) -> Any:
    """The JSON of a template; places may stand outside of quotes: `"size": {{top_k}}`.

    >>> parse_template('{"q": "{{query}}", "size": {{ top_k }}}', "query.json")
    {'q': '{{query}}', 'size': '{{ top_k }}'}
    """
    quoted = _BARE.sub(lambda found: found[0] if found[0].startswith('"') else f'"{found[0]}"', text)
    try:
        template = msgspec.json.decode(quoted)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise FetchError(f"{source}: is not valid JSON: {error}.") from None
    except RecursionError:
        raise FetchError(f"{source}: is nested too deeply.") from None
    check_places(template, source)
    return template


def check_places(template: Any, source: str, known: tuple[str, ...] = PLACES) -> None:
    """Raise for a place that nothing can be put into."""
    for name in places_in(template):
        if name not in known:
            hint = did_you_mean(name, known) or "."
            raise FetchError(f"{source}: {{{{{name}}}}} is unknown{hint} There are {', '.join(known)}.")


def places_in(template: Any) -> set[str]:
    """The names of all places in a template.

    >>> sorted(places_in({"a": ["{{query}}", {"b": "{{top_k}}"}]}))
    ['query', 'top_k']
    """
    if isinstance(template, str):
        return set(_PLACE.findall(template))
    if isinstance(template, Mapping):
        return set().union(*(places_in(key) | places_in(value) for key, value in template.items()), set())
    if isinstance(template, list | tuple):
        return set().union(*map(places_in, template), set())
    return set()


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its values. A text that is only a place becomes the value, of whatever kind.

    A field whose place has no value (None) is left out.

    >>> fill({"q": "about {{query}}", "size": "{{top_k}}", "mode": "{{mode}}"}, {"query": '"', "top_k": 5, "mode": None})
    {'q': 'about "', 'size': 5}
    """
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        if whole is not None:
            return values[whole[1]]
        return _PLACE.sub(lambda found: "" if values[found[1]] is None else str(values[found[1]]), template)
    if isinstance(template, Mapping):
        filled = {fill(key, values): fill(value, values) for key, value in template.items()}
        return {key: value for key, value in filled.items() if value is not None or template.get(key) is None}
    if isinstance(template, list | tuple):
        return [fill(value, values) for value in template]
    return template
