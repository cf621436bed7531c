"""Qdrant over HTTP: requests and errors without the key, and indexes as collections that are removed after use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from assay.errors import MissingServerError, RetrievalError, ServerError, show_id
from assay.http.addresses import Address, parse_address
from assay.http.connection import Connection, Failure
from assay.http.keys import KeyPlace, find_key
from assay.http.waiting import backoff
from assay.retrieval.base import SearchesWhatItOpens
from assay.retrieval.databases import (
    address_from,
    is_abandoned,
    is_ours,
    new_marker,
    new_name,
    place_below,
    place_in,
    read_marker,
)
from assay.retrieval.indexes import StoredIndex

VARIABLE, KEY = "ASSAY_QDRANT_URL", KeyPlace("ASSAY_QDRANT_API_KEY", "api-key")
_EXAMPLE = "http://localhost:6333"
_OLDEST = (1, 16)  # the first whose collections can carry a marker
_LARGEST = 64 << 20  # bytes of an answer: a ranking of a million documents
_PATIENCE = 300.0  # seconds: a server waits until points are written
_ATTEMPTS = 4
_NOT_THERE = 404
_REFUSED = frozenset({401, 403})


def the_address(mode: str) -> Address:
    """The address in the environment variable; raises if there is none."""
    text = address_from(VARIABLE, mode, "Qdrant", _EXAMPLE)
    try:
        return parse_address(text, VARIABLE, example=_EXAMPLE)
    except ServerError as error:
        raise MissingServerError(str(error)) from None


def shown(address: Address) -> str:
    """The address without its scheme."""
    return address.url.partition("://")[2]


class Qdrant:
    """Asks one server. Several threads may ask at once."""

    def __init__(self, address: Address) -> None:
        try:
            key = find_key(KEY, address, allow_http=False, how_to_allow="a server on this machine")
        except ServerError as error:
            raise MissingServerError(str(error)) from None
        headers = {KEY.header: key} if key else {}
        needs = ("search in Qdrant", "live")
        self._connection = Connection(
            address, headers=headers, key=key, timeout=_PATIENCE, largest=_LARGEST, needs=needs
        )
        self._address, self._random = address, Random()

    def close(self) -> None:
        """End all connections."""
        self._connection.close()

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """The result that the server gives; None if there is no such collection. Waits and asks again if it is busy."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._asked(method, path, body)
            except Failure as failure:
                if failure.again and attempt + 1 < _ATTEMPTS:
                    time.sleep(backoff(attempt, failure.wait, self._random))
                    continue
                raise self._explained(failure) from None
        raise AssertionError("it was asked at least once")

    def _asked(self, method: str, path: str, body: object) -> Any:
        content = None if body is None else msgspec.json.encode(body)
        response = self._connection.send(method, f"{self._address.url}{path}", content)
        if response.status == _NOT_THERE:
            return None
        if not 200 <= response.status < 300:
            raise self._connection.failure_of(msgspec.structs.replace(response, body=_complaint(response.body)))
        try:
            answer = msgspec.json.decode(response.body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Failure("the answer is not what Qdrant sends")
        return answer.get("result", answer)

    def _explained(self, failure: Failure) -> RetrievalError:
        server, reason = f"the Qdrant server at {self._address.url}", failure.reason.rstrip(".")
        if failure.status in _REFUSED:
            return MissingServerError(
                f"{server} does not accept the key, or wants one: put it into {KEY.variable}. It needs the right to make "
                "collections."
            )
        if failure.status and not failure.again:
            return RetrievalError(f"{server} refuses a request: {reason}.")
        return MissingServerError(
            f"{server} cannot be asked: {reason}. Check that it runs, and the address in {VARIABLE}."
        )


def _complaint(body: bytes) -> bytes:
    """What Qdrant says in an error, out of {"status": {"error": ...}}."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError, KeyError):
        return str(msgspec.json.decode(body)["status"]["error"]).encode("utf-8", "replace")
    return body


@contextmanager
def connected(address: Address) -> Iterator[Qdrant]:
    """A server to ask."""
    server = Qdrant(address)
    try:
        yield server
    finally:
        server.close()


_VERSIONS: dict[Address, str] = {}  # asked once for each process: settings are read often


def version_of(address: Address) -> str:
    """The version of a server."""
    if address not in _VERSIONS:
        with connected(address) as server:
            said = server.ask("GET", "/")
            version = said.get("version") if isinstance(said, dict) else None
            if not isinstance(version, str) or "qdrant" not in str(said.get("title", "")).casefold():
                raise MissingServerError(f"{address.url} is not a Qdrant server. Check the address in {VARIABLE}.")
            parts = [part for part in version.split(".")[:2] if part.isdecimal()]
            if tuple(map(int, parts)) < _OLDEST:
                raise MissingServerError(
                    f"the Qdrant server at {address.url} is version {show_id(version)}, and 1.16 is the oldest whose "
                    "collections can be marked as ours. Update it."
                )
            _VERSIONS[address] = show_id(version)
    return _VERSIONS[address]


# Indexes as collections


class InQdrant(SearchesWhatItOpens):
    """What retrievers share whose index is a collection in Qdrant. They have a name and settings."""

    if TYPE_CHECKING:
        name: ClassVar[str]

    @property
    def address(self) -> Address:
        """Where the server is."""
        return the_address(self.name)

    def is_there(self, stored: StoredIndex) -> bool:
        """Whether the collection of an index is still in the server; from now on it is this process's."""
        name = place_in(stored.folder)
        with connected(self.address) as server:
            return name is not None and claim(server, name)

    @contextmanager
    def opened(self, stored: StoredIndex, folder: Path) -> Iterator[tuple[Qdrant, str]]:
        """A server, and the name of the collection."""
        name, address = place_in(stored.folder), self.address
        with connected(address) as server:
            if name is None or not claim(server, name):
                raise RetrievalError(f"{folder}: the index is no longer in {shown(address)}. Build it again.")
            yield server, name

    def clean_up(self, folder: Path) -> None:
        """Remove the collection that belongs to this folder, and those that killed processes left."""
        name = place_below(folder)
        with connected(self.address) as server:
            if name is not None:
                drop(server, name)
            for other in _collections(server):
                marker = marker_of(server, other)
                if marker is not None and is_abandoned(marker):
                    drop(server, other)


@contextmanager
def new_collection(address: Address, **options: Any) -> Iterator[tuple[Qdrant, str]]:
    """A new collection with a marker; removed again at an error or a signal."""
    name = new_name()
    with connected(address) as server:
        try:
            server.ask("PUT", f"/collections/{name}", {**options, "metadata": _new_metadata()})
            yield server, name
        except BaseException:
            with suppress(RetrievalError):  # the first error counts; a later benchmark removes it
                server.ask("DELETE", f"/collections/{name}")
            raise


def claim(server: Qdrant, name: str) -> bool:
    """Take over a collection of ours; False if it is not there."""
    if not is_ours(name) or marker_of(server, name) is None:
        return False
    return server.ask("PATCH", f"/collections/{name}", {"metadata": _new_metadata()}) is not None


def drop(server: Qdrant, name: str) -> None:
    """Remove a collection, if its name and its marker are ours."""
    if is_ours(name) and marker_of(server, name) is not None:
        server.ask("DELETE", f"/collections/{name}")


def marker_of(server: Qdrant, name: str) -> Any:
    """The marker of a collection; None if it has none, or is not there."""
    found = server.ask("GET", f"/collections/{name}")
    try:
        return read_marker(found["config"]["metadata"]["assay"])
    except (TypeError, KeyError):
        return None


def _collections(server: Qdrant) -> list[str]:
    """The collections whose names are ours."""
    try:
        names = [str(each["name"]) for each in server.ask("GET", "/collections")["collections"]]
    except (TypeError, KeyError):
        raise RetrievalError("the server gives no list of collections, as Qdrant does.") from None
    return [name for name in names if is_ours(name)]


def _new_metadata() -> dict[str, Any]:
    return {"assay": msgspec.to_builtins(new_marker())}
