"""Requests to one server, and why they fail. Independent of what is asked.

Nothing is followed, uncompressed or awaited without limit. What a server says is shown short, printable and without the key.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock, local
from time import monotonic
from types import MappingProxyType
from typing import Any
from weakref import WeakSet

import msgspec
from msgspec import Struct

from assay.errors import MissingExtraError, ServerError, show_id
from assay.http.addresses import Address
from assay.http.waiting import retry_after
from assay.secrets import Secrets

LARGEST = 8 << 20  # bytes of an answer, unless said otherwise
_LATER = frozenset({408, 425, 429})  # and all from 500
_REDIRECTS = range(300, 400)
_SHOWN = 200  # characters of what a server says


class Failure(Exception):
    """A request without a usable answer."""

    def __init__(self, reason: str, *, again: bool = False, charged: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again  # it may work later
        self.charged = charged  # the server may have done its work
        self.is_unreachable = False  # nobody answers at this address
        self.is_amended = False  # the next request will leave out what the server complained of
        self.status = 0
        self.fix = ""  # what the user can do about it
        self.wait: float | None = None  # seconds that the server asks for


class Response(Struct, frozen=True):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """Sends requests to one server. Several threads may send at once."""

    def __init__(
        self,
        address: Address,
        *,
        headers: Mapping[str, str] | None = None,
        key: str = "",
        timeout: float = 60.0,
        largest: int = LARGEST,
        resends: bool = False,
        needs: tuple[str, str] = ("asking a server", "live"),
    ) -> None:
        """`headers` are sent with every request; `key`, which is in one of them, is hidden from all that is shown.

        `resends` sends a request once more, on a new connection, if the server had closed the one that was kept open. It may
        have read the request, so this is for servers that may be asked twice.
        """
        try:
            import httpx
        except ImportError:
            raise MissingExtraError(*needs) from None
        self._httpx = httpx
        self._timeout, self._largest, self._resends = timeout, largest, resends
        self._secrets = Secrets()
        self._secrets.learn(key)
        self._lock = Lock()
        self._closed = False
        self._streams: WeakSet[Any] = WeakSet()
        self._request = local()  # what the request of this thread may take, and whether its connection is new
        try:
            self._client = httpx.Client(
                headers={"Accept-Encoding": "identity", "User-Agent": "assay", **(headers or {})},
                timeout=timeout,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
                follow_redirects=False,  # another host would get key and texts
                trust_env=not address.is_local,  # a proxy cannot reach this machine
            )
        except (ValueError, ImportError, httpx.InvalidURL) as error:  # of the environment: all else is checked
            raise ServerError(
                f"the proxy that the environment names cannot be used: {self.shown(str(error))}. Change HTTP_PROXY, "
                "HTTPS_PROXY or ALL_PROXY."
            ) from None

    def close(self) -> None:
        """End all connections, and the requests of other threads that wait for an answer."""
        with self._lock:
            self._closed = True
            streams = list(self._streams)
        for stream in streams:
            _shut_down(stream)
        self._client.close()

    def send(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        kind: str = "application/json",
        parameters: Mapping[str, str] = MappingProxyType({}),
    ) -> Response:
        """The response, whatever its status; raises Failure if there is none. `parameters` are added to the address."""
        self._request.deadline = monotonic() + self._timeout
        while True:
            try:
                return self._send(method, url, body, kind, parameters)
            except _Stale:
                if not self._resends:
                    raise

    def _send(self, method: str, url: str, body: bytes | None, kind: str, parameters: Mapping[str, str]) -> Response:
        httpx = self._httpx
        late = f"no answer after {self._timeout:g} seconds (time-out)"
        has_begun = self._request.is_new = False
        sent: dict[str, Any] = {"extensions": {"trace": self._remember}}
        if body is not None:
            sent |= {"content": body, "headers": {"Content-Type": kind}}
        if parameters:
            sent["params"] = httpx.URL(url).params.merge(parameters)
        try:
            with self._client.stream(method, url, **sent) as response:
                has_begun = True
                if response.headers.get("Content-Encoding", "identity").casefold() not in ("", "identity"):
                    raise Failure("the answer is compressed, which was not asked for", charged=True)
                received = bytearray()
                for block in response.iter_raw():
                    received += block
                    if len(received) > self._largest:
                        raise Failure(f"the answer is larger than {self._largest >> 20} MB", charged=True)
                    if monotonic() > self._request.deadline:
                        raise Failure(late, again=True, charged=True)
                return Response(response.status_code, response.headers, bytes(received))
        except httpx.ConnectTimeout:
            raise _unreachable("time-out") from None
        except (httpx.ConnectError, httpx.PoolTimeout, httpx.ProxyError) as error:
            raise _unreachable(self.shown(str(error))) from None
        except httpx.TimeoutException:
            raise Failure(late, again=True, charged=True) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            kind_of = Failure if has_begun or self._request.is_new else _Stale
            raise kind_of(f"the connection broke: {self.shown(str(error))}", again=True, charged=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:  # RuntimeError: closed by another thread
            raise Failure(self.shown(str(error))) from None

    def failure_of(self, response: Response) -> Failure:
        """What a status that means failure says."""
        said = complaint(response.body)[0]
        detail = f", '{self.shown(said)}'" if said.strip() else ""
        reason = f"status {response.status}{detail}"
        if response.status in _REDIRECTS:
            reason = f"status {response.status}, a redirect to another address, which is not followed"
        failure = Failure(reason, again=is_passing(response.status))
        failure.status, failure.wait = response.status, retry_after(response.headers.get("Retry-After"))
        return failure

    def shown(self, text: str) -> str:
        """What a server or library says, fit for a message: short, printable and without secrets."""
        return show_id(self._secrets.hide_in_message(text).strip(), limit=_SHOWN)

    def without_key(self, text: str) -> str:
        """A text in which the key is hidden."""
        return self._secrets.hide_known(text)

    def _remember(self, event: str, about: Mapping[str, Any]) -> None:
        """Note the connections that are made: closing one does not wake a thread that reads from it."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = about["return_value"]
            self._request.is_new = True
            self._keep_deadline(stream)
            with self._lock:
                self._streams.add(stream)
            if self._closed:  # while it was being made
                _shut_down(stream)

    def _keep_deadline(self, stream: Any) -> None:
        """Let no read go on after the time-out of its request: that of httpx is for each read, and headers may drip."""
        read = stream.read

        def read_in_time(most: int, timeout: float | None = None) -> bytes:
            left = self._request.deadline - monotonic()
            if left <= 0:
                raise self._httpx.ReadTimeout("time-out")
            return bytes(read(most, left))

        stream.read = read_in_time


class _Stale(Failure):
    """A connection that was kept open, and that the server had closed: a new one may work."""


def _unreachable(reason: str) -> Failure:
    failure = Failure(f"no connection: {reason}", again=True)
    failure.is_unreachable = True
    return failure


def is_passing(status: int) -> bool:
    """Whether a status says that the same request may work later."""
    return status in _LATER or status >= 500


def complaint(body: bytes) -> tuple[str, str]:
    """The message and the code of an error response, in the forms that servers use."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace"), ""
    inner = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(inner, dict):
        said = inner.get("message") or inner.get("reason") or inner.get("msg") or inner.get("detail") or ""
        return str(said), str(inner.get("code") or inner.get("type") or "")
    return str(inner), ""


def _shut_down(stream: Any) -> None:
    with suppress(OSError, AttributeError, TypeError):  # it is closed already
        socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
