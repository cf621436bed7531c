"""The files that users write for a fetch: settings in TOML, and a request as a template in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from assay.errors import FetchError, InputError, did_you_mean
from assay.fetching.apis import TEMPLATE, Api, find_api, without_batch
from assay.fetching.server import KeySettings
from assay.fetching.templates import parse_template, places_in
from assay.formats.sources import read_small
from assay.inputs.toml import parse_toml

_KEY = {each.name for each in fields(KeySettings)}
_API = {each.name for each in fields(Api)} - {"summary", "batch", "with_body"}


class Settings(Struct, frozen=True):
    """What a settings file says: where the key is, and other values of an API's fields."""

    key: KeySettings = KeySettings()
    api: Mapping[str, Any] = {}
    source: str = "settings"


def read_settings(path: str) -> Settings:
    """The settings in a TOML file."""
    given = parse_toml(_text(path), path)
    for name in given:
        if name not in _KEY | _API:
            known = sorted(_KEY | _API)
            hint = did_you_mean(name, known) or "."
            raise FetchError(f"{path}: no setting is called {name!r}{hint} There are {', '.join(known)}.")
    key = KeySettings(**{name: value for name, value in given.items() if name in _KEY})
    return Settings(key, {name: value for name, value in given.items() if name in _API}, path)


def make_api(name: str, settings: Settings, template: str | None) -> Api:
    """The API of this name with the user's settings, and with the request in a template file."""
    api = find_api(name)
    changes, source = dict(settings.api), settings.source
    if isinstance(changes.get("body"), str):
        changes["body"] = parse_template(changes["body"], f"{source}: body")
    if template is not None:
        changes["body"], source = parse_template(_text(template), template), template
    if name == TEMPLATE and "hits" not in changes:
        raise FetchError(
            'the API \'template\' needs to know where the documents are: write hits = "data.items" and id = "id" into '
            "a TOML file, and give it with `settings=`."
        )
    made = api.but(changes, source).checked(source)
    if "body" in changes and made.is_batched:
        made = without_batch(made)  # the request of several queries has a form of its own, which a body does not change
    if "query" not in places_in(made.requests):
        raise FetchError(
            f"{source}: the request has no place for the query: write {{{{query}}}} into its body, a JSON file that "
            "`template=` names."
        )
    return made


def _text(path: str) -> str:
    try:
        return read_small(path).decode("utf-8-sig")  # some editors write a byte order mark
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=path) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text. Save it as UTF-8.", source=path) from None
