"""How servers are asked: one entry for each API, as data in `apis/NAME.toml`. A file of your own may change any field."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import FetchError, did_you_mean, show_id
from assay.fetching.paths import checked_path
from assay.fetching.templates import PLACES, check_places
from assay.inputs.toml import parse_toml

TEMPLATE = "template"  # the API whose fields all come from the user
QUERIES = "queries"  # a place in the request of several queries: what `query` says about each
BODY = "body"  # a place in its lines: the request of one query
_FOLDER = Path(__file__).with_name("apis")


class Batch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How to ask several queries in one request."""

    answers: str  # where their answers are
    path: str = ""
    body: Any = None
    query: Any = None  # what stands for each query in the body, at {{queries}}
    lines: list[Any] = []  # instead of a body: lines of JSON for each query; {{body}} is the request of one query
    answer_query: str | None = None  # where an answer has the id of its query; without, they come in the order asked


class Api(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An API: what is sent, and where ids and scores are in the answer."""

    summary: str = ""
    method: Literal["GET", "POST"] = "POST"
    path: str = ""  # after the endpoint, unless that ends with it
    body: Any = None  # JSON
    always: dict[str, Any] = {}  # fields that a body gets unless it has them
    parameters: dict[str, str] = {}  # of the address
    headers: dict[str, str] = {}
    hits: str = ""  # where the list of documents is
    id: str = "id"  # within a document; $ if the list holds ids
    score: str | None = None
    partial: list[str] = []  # where an answer says that only a part was searched: true, or a number above 0
    with_body: dict[str, Any] = {}  # other values of these fields if the user gives a body
    batch: Batch | None = None

    def checked(self, source: str) -> Api:
        """The API, if it can be used."""
        checked_path(self.hits, "hits")
        checked_path(self.id, "id")
        if self.score is not None:
            checked_path(self.score, "score")
        check_places([self.body, self.parameters, self.always], source)
        if self.path and not self.path.startswith("/"):
            raise FetchError(f"{source}: path cannot be {show_id(self.path)!r}; it begins with a slash.")
        if self.body is not None and not isinstance(self.body, dict):
            raise FetchError(f"{source}: body takes a JSON object, the body of a request.")
        if self.batch is not None:
            check_places([self.batch.query, *self.batch.lines], source, (*PLACES, BODY))
            check_places(self.batch.body, source, (QUERIES, "top_k", "mode"))
        return self

    @property
    def requests(self) -> list[Any]:
        """All that may have places."""
        several = [] if self.batch is None else [self.batch.body, self.batch.query, *self.batch.lines]
        return [self.body, self.always, self.parameters, *several]

    @property
    def is_batched(self) -> bool:
        """Whether single queries are asked in the same way as several."""
        return self.batch is not None and self.batch.body is not None

    def but(self, changes: Mapping[str, Any], source: str) -> Api:
        """The API with other values of some fields."""
        known = {name: value for name, value in msgspec.to_builtins(self).items() if name not in changes}
        given = {**self.with_body, **changes} if "body" in changes else dict(changes)
        try:
            return msgspec.convert({**known, **given}, Api)
        except msgspec.ValidationError as error:
            raise FetchError(f"{source}: {str(error)[:1].lower()}{str(error)[1:]}.") from None


@cache
def known_apis() -> Mapping[str, Api]:
    """The APIs that come with assay, by name."""
    found = {}
    for file in sorted(_FOLDER.glob("*.toml")):
        text = file.read_text(encoding="utf-8")
        found[file.stem] = Api().but(parse_toml(text, file.name), file.name).checked(file.name)
    return found


def api_names() -> tuple[str, ...]:
    """What can be chosen."""
    return (
        *(["retrieve"] if "retrieve" in known_apis() else []),
        *(n for n in known_apis() if n != "retrieve"),
        TEMPLATE,
    )


def find_api(name: str) -> Api:
    """The API of this name; that of `template` is empty."""
    if name == TEMPLATE:
        return Api()
    if name not in known_apis():
        hint = did_you_mean(name, api_names()) or "."
        raise FetchError(f"no API is called {name!r}{hint} There are {', '.join(api_names())}.")
    return known_apis()[name]


def without_batch(api: Api) -> Api:
    """The API with a body of the user's: several queries would need another."""
    return replace(api, batch=None)
