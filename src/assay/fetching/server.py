"""A server as a system: an API of `apis.py`, asked over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from assay.errors import ServerError, show_id
from assay.fetching.apis import BODY, QUERIES, Api, Batch
from assay.fetching.paths import NOTHING, find
from assay.fetching.systems import Answered, Outcomes, Repeats, answered, checked_number
from assay.fetching.templates import fill, places_in
from assay.http.addresses import Address, parse_address
from assay.http.connection import Connection, Failure, Response, complaint, is_passing
from assay.http.keys import KeyPlace, checked_header, checked_variable, find_key
from assay.inputs.queries import Query
from assay.secrets import Secrets, is_secret_name
from assay.words import writable_text

KEY_VARIABLE, KEY_HEADER = "ASSAY_API_KEY", "X-API-Key"
LARGEST = 32 << 20  # bytes of an answer
_EXAMPLE = "https://search.example.org/retrieve"
_JSON, _LINES = "application/json", "application/x-ndjson"
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"|[!-~](?:[ \t!-~]*[!-~])?")
_SPARE = 10_000  # repeated documents that are looked at beyond the number asked for


class KeySettings(Struct, frozen=True):
    """Which header holds the key, and which variable of the environment has it."""

    header: str = KEY_HEADER
    variable: str = KEY_VARIABLE
    prefix: str = ""

    def __post_init__(self) -> None:
        checked_header(self.header, "header")
        checked_variable(self.variable, "variable", KEY_VARIABLE)
        if not isinstance(self.prefix, str) or len(self.prefix) > 20 or not self.prefix.isprintable():
            raise ServerError("prefix takes what stands before the key in the header, such as 'Bearer ', not a key.")

    @property
    def place(self) -> KeyPlace:
        """Where the key is; a variable that the user named must be set."""
        return KeyPlace(self.variable, self.header, self.prefix, is_needed=self.variable != KEY_VARIABLE)


class HttpSystem(Struct, frozen=True, dict=True):
    """A server that is asked by an API."""

    endpoint: str
    api: Api
    api_name: str
    mode: str | None = None
    batch: int = 1  # queries in one request
    key: KeySettings = KeySettings()
    allow_http: bool = False  # send the key without encryption to another machine
    timeout: float = 60.0  # seconds for one request
    repeats: Repeats = "error"

    def __post_init__(self) -> None:
        checked_number(self.timeout, "timeout", 0.001)
        checked_number(self.batch, "batch", 1, whole=True)
        self.address  # noqa: B018  (raises unless it is one)
        self._check_secrets()
        for name, value in self.api.headers.items():
            if not _HEADER.fullmatch(name) or not _VALUE.fullmatch(value):
                raise ServerError(
                    f"the header {show_id(name)!r} cannot be sent: headers are lines of ASCII characters."
                )
        if self.mode is not None and "mode" not in places_in(self.api.requests):
            raise ServerError(
                f"the request of the API {self.api_name!r} has no place for a mode. Write {{{{mode}}}} into a template, or "
                "leave out `mode=`."
            )

    def _check_secrets(self) -> None:
        """Refuse a key in the settings: they are meant to be shared."""
        named = (*self.api.headers.items(), *self.api.parameters.items())
        secret = [name for name, value in named if is_secret_name(name, value) or Secrets().hide(value) != value]
        if secret or Secrets().hide(self.api.path) != self.api.path:
            raise ServerError(
                f"{show_id(secret[0]) if secret else 'path'} looks like a key. Put it into an environment variable, and name that "
                'and the header in the settings: variable = "MY_KEY" and header = "Authorization".'
            )

    @cached_property
    def address(self) -> Address:
        """Where it is."""
        return parse_address(self.endpoint, example=_EXAMPLE, parameters=True)

    @property
    def place(self) -> str:
        """Its address."""
        return self.address.url

    @property
    def most_at_once(self) -> int:
        """The queries of one request."""
        return self.batch if self.api.batch is not None else 1

    @property
    def identity(self) -> Mapping[str, object]:
        """The address and the request."""
        request = msgspec.json.encode(msgspec.structs.replace(self.api, summary=""), order="sorted")
        mode = {} if self.mode is None else {"mode": self.mode}
        return {"endpoint": self.place, "api": self.api_name, **mode, "request": sha256(request).hexdigest()}

    @contextmanager
    def open(self) -> Iterator[_HttpAsker]:
        """Connect with the key from the environment."""
        place = self.key.place
        key = find_key(place, self.address, allow_http=self.allow_http, how_to_allow="allow it with `allow_http=True`")
        headers = {**self.api.headers, **({place.header: f"{place.prefix}{key}"} if key else {})}
        connection = Connection(
            self.address,
            headers=headers,
            key=key,
            timeout=self.timeout,
            largest=LARGEST,
            resends=True,
            needs=("fetching runs from a server", "live"),
        )
        asker = _HttpAsker(self, connection)
        try:
            yield asker
        finally:
            asker.close()


class _HttpAsker(Struct, frozen=True):
    system: HttpSystem
    connection: Connection

    def close(self) -> None:
        self.connection.close()

    def ask(self, queries: Sequence[Query], top_k: int) -> Outcomes:
        batch = self.system.api.batch
        if batch is None or (len(queries) == 1 and not self.system.api.is_batched):
            (query,) = queries
            outcomes: Outcomes = {query.id: self._one(query, top_k)}
        else:
            outcomes = self._several(batch, queries, top_k)
        for outcome in outcomes.values():
            if isinstance(outcome, Failure):
                outcome.reason = self.connection.without_key(outcome.reason)  # it may quote the answer
        return outcomes

    def _one(self, query: Query, top_k: int) -> Answered | Failure:
        api, values = self.system.api, self._values(query, top_k)
        body = None if api.body is None else fill({**api.always, **api.body}, values)
        content = None if body is None else msgspec.json.encode(body)
        return self._documents(self._answer(api.path, content, _JSON, values), top_k)

    def _several(self, batch: Batch, queries: Sequence[Query], top_k: int) -> Outcomes:
        values = {"mode": self.system.mode, "top_k": top_k}
        if batch.body is not None:
            each = [fill(batch.query, self._values(query, top_k)) for query in queries]
            content, kind = msgspec.json.encode(fill(batch.body, {**values, QUERIES: each})), _JSON
        else:
            content, kind = b"".join(self._lines(batch, query, top_k) for query in queries), _LINES
        answers = find(self._answer(batch.path, content, kind, values), batch.answers)
        if not isinstance(answers, list):
            raise Failure(f"the answer has no list at {batch.answers}")
        return self._by_query(batch, queries, answers, top_k)

    def _lines(self, batch: Batch, query: Query, top_k: int) -> bytes:
        api, values = self.system.api, self._values(query, top_k)
        body = fill({**api.always, **(api.body or {})}, values)
        return b"".join(msgspec.json.encode(fill(line, {**values, BODY: body})) + b"\n" for line in batch.lines)

    def _by_query(self, batch: Batch, queries: Sequence[Query], answers: list[Any], top_k: int) -> Outcomes:
        """The answer to each query: by its id, or by its place if answers have none."""
        if batch.answer_query is None:
            if len(answers) != len(queries):
                raise Failure(f"{len(answers):,} answers came for {len(queries):,} queries", again=True)
            return {query.id: self._documents(each, top_k) for query, each in zip(queries, answers, strict=True)}
        sent = {query.id: writable_text(query.id) for query in queries}  # ids as the server knows them
        found: dict[str, list[Any]] = {id: [] for id in sent.values()}
        strange: list[str] = []
        for each in answers:
            id = find(each, batch.answer_query)
            if self._has_key([id]):
                raise Failure("the answer repeats the key")
            where = found.get(str(id)) if isinstance(id, str | int) else None
            if where is None:
                strange.append(
                    "without a query id" if id is NOTHING else f"for {show_id(str(id))!r}, which was not asked"
                )
            else:
                where.append(each)
        others = f"; an answer came {strange[0]}" if strange else ""
        return {query: self._single(found[id], others, top_k) for query, id in sent.items()}

    def _single(self, given: list[Any], others: str, top_k: int) -> Answered | Failure:
        if len(given) != 1:
            count = "no answer" if not given else f"{len(given)} answers"
            return Failure(f"{count} came for it{others}", again=not given)
        return self._documents(given[0], top_k)

    def _values(self, query: Query, top_k: int) -> dict[str, Any]:
        mode = self.system.mode
        return {"query": writable_text(query.text), "query_id": writable_text(query.id), "top_k": top_k, "mode": mode}

    def _answer(self, path: str, content: bytes | None, kind: str, values: Mapping[str, Any]) -> Any:
        """The JSON that the server answers; raises Failure."""
        api = self.system.api
        given = {name: value for name, value in values.items() if name in places_in(api.parameters)}
        parameters = (
            {name: str(value) for name, value in fill(api.parameters, given).items()} if given else api.parameters
        )
        url = _under(self.system.address.url, path, api)
        response = self.connection.send(api.method, url, content, kind, parameters)
        if not 200 <= response.status < 300:
            raise self._failure(response)
        return _json(response.body)

    def _failure(self, response: Response) -> Failure:
        failure = self.connection.failure_of(response)
        if response.status in (401, 403):
            failure.fix = f"Put a valid key into the environment variable {self.system.key.variable}."
        elif 300 <= response.status < 400:
            place = self.connection.shown(response.headers.get("Location", ""))
            failure.fix = f"Give the address it leads to{f' ({place})' if place else ''} if you trust it."
        return failure

    def _documents(self, answer: Any, top_k: int) -> Answered | Failure:
        """The documents of one answer, unless it says that it is an error or not whole."""
        api = self.system.api
        hits = find(answer, api.hits)
        if not isinstance(hits, list):
            return self._refusal(answer, f"the answer has no list at {api.hits}")
        if _says_error(answer):
            return self._refusal(answer, "the answer says that there was an error")
        for path in api.partial:
            if _is_so(value := find(answer, path)):
                said = self.connection.shown(str(value).lower())
                return Failure(f"only a part was searched ({path}: {said})", again=True)
        docs = [find(hit, api.id) for hit in hits[: top_k + _SPARE]]
        if NOTHING in docs:
            return Failure(f"document {docs.index(NOTHING) + 1} has no id at {api.id}")
        scores = self._scores(hits[: len(docs)])
        if self._has_key(docs) or self._has_key(scores or []):  # here, since messages cut what they quote
            return Failure("the answer repeats the key")
        return answered(docs, scores, top_k, self.system.repeats)

    def _has_key(self, values: list[Any]) -> bool:
        text = "\n".join(map(str, values))
        return self.connection.without_key(text) != text

    def _scores(self, hits: list[Any]) -> list[Any] | None:
        path = self.system.api.score
        if path is None:
            return None
        scores = [find(hit, path) for hit in hits]
        return [None if score is NOTHING else score for score in scores]

    def _refusal(self, answer: Any, problem: str) -> Failure:
        """Why an answer has no documents, as far as it says."""
        if not isinstance(answer, dict) or "error" not in answer:
            return Failure(problem)
        said = self.connection.shown(complaint(msgspec.json.encode(answer))[0])
        status = answer.get("status")
        words = f"status {status}, " if type(status) is int else ""
        return Failure(f"{words}{said!r}" if said else problem, again=type(status) is int and is_passing(status))


def _under(url: str, path: str, api: Api) -> str:
    """The address of a request: the endpoint, which may end with the path of the API, and the path."""
    base, mark, parameters = url.partition("?")
    base = base.rstrip("/")
    ends = [each for each in (api.path, api.batch.path if api.batch else "") if each and base.endswith(each)]
    return f"{base.removesuffix(max(ends, key=len, default=''))}{path}{mark}{parameters}" if path else url


def _says_error(answer: Any) -> bool:
    """Whether an answer has an error, beside documents or instead of them."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return error is True or (isinstance(error, str | dict | list) and bool(error))


def _is_so(value: Any) -> bool:
    """Whether a value says yes: true, a number above 0, or a word such as Solr's "omitted"."""
    if isinstance(value, str):
        return value.casefold() not in ("", "false", "0")
    return value is True or (type(value) is int and value > 0)


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise Failure("the answer is not JSON, or cut off", again=True) from None
    except RecursionError:
        raise Failure("the answer is nested too deeply") from None
