"""Connections that keep each other from nothing: clients that are slow, half-open, do not read, or come in crowds.

A connection either works or waits for its client: to send a whole request, to read its answer, or to ask again. Each wait
has an end. When there are too many connections, the one that has waited longest makes room, so those who send
nothing cannot keep out those who do.
"""

from __future__ import annotations

import asyncio
import re

import h11
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from assay.web.errors import plain_page
from assay.web.safety import SafeHeaders, too_long, too_much, with_safe_headers
from assay.web.settings import Limits

SPARE = 16  # connections that never work, so that there is always one to say that all others do
_PROGRESS = 64 << 10  # bytes that a client reads in time
_BUSY = "the workbench is busy: too many requests at the same time. Try again in a moment."
_LINE = re.compile(rb"[^\r\n]*")


def most_connections(limits: Limits) -> int:
    """How many connections there may be: fewer if this process may not open many files."""
    try:
        import resource
    except ImportError:  # Windows, where sockets are not files
        return limits.connections
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limits.connections if files < 0 else min(limits.connections, max(2 * SPARE, (files - 64) // 2))


class Crowd:
    """All connections, and those that wait for their client, the longest first."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._most = most_connections(limits)
        self._all: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}

    def enter(self, connection: Connection) -> None:
        """Let a connection in, which waits; the one that has waited longest goes if there are too many."""
        while len(self._all) >= self._most and self._waiting:
            next(iter(self._waiting)).drop()
        self._all.add(connection)
        self._waiting[connection] = None

    def leave(self, connection: Connection) -> None:
        """Forget a connection."""
        self._all.discard(connection)
        self._waiting.pop(connection, None)

    def wait(self, connection: Connection, waits: bool) -> None:
        """A connection begins to wait, or ends it."""
        self._waiting.pop(connection, None)
        if waits and connection in self._all:
            self._waiting[connection] = None

    def is_full(self) -> bool:
        """Whether no more connections may work."""
        return len(self._all) - len(self._waiting) >= self._most - SPARE

    def drop_all(self) -> None:
        """End all connections."""
        for connection in tuple(self._all):
            connection.drop()


class Connection(H11Protocol):
    """A connection whose client must not dawdle."""

    def __init__(self, crowd: Crowd, config: Config, state: ServerState) -> None:
        super().__init__(config, state, {})
        self._crowd, self._limits = crowd, crowd.limits
        self._usual_app = self.app
        self._state = ""  # what the timer is for
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0  # bytes of an answer when the timer began
        self._served = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so writing is paused as long as anything is unread
        self._crowd.enter(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """A client has gone."""
        self._crowd.leave(self)
        self._stop_timer()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Look at what has come."""
        self.app = too_busy if self._crowd.is_full() else self._usual_app
        super().handle_events()
        self._watch()

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """The client has read everything."""
        super().resume_writing()
        self._watch()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing: our own timer knows whether the client has read its answer."""

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request."""
        unread, _ = self.conn.trailing_data
        line = _LINE.match(unread)
        if line is not None and line.end() > self._limits.address:
            self._refuse(414, too_long(self._limits).detail)
        elif len(unread) > self._limits.head:
            self._refuse(431, too_much(self._limits).detail)
        else:
            self._refuse(400, "this is not a request of HTTP/1.1, or lacks its Host.")

    def drop(self) -> None:
        """End the connection at once."""
        self._crowd.leave(self)
        self._stop_timer()
        self.transport.abort()

    def _refuse(self, status: int, words: str) -> None:
        """Answer in place of the application, and close the connection."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # it has no say any more
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.drop()
            return
        body = words.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        headers.append((b"connection", b"close"))
        answer = h11.Response(status_code=status, headers=with_safe_headers(headers))
        is_head = self.conn.our_state is h11.SEND_RESPONSE and self.scope["method"] == "HEAD"
        for event in (answer, h11.Data(data=b"" if is_head else body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        if self.cycle is not None:
            self.cycle.message_event.set()

    def _watch(self) -> None:
        """Begin the wait for the client, or end it."""
        state = self._waits_for()
        if state == self._state or (self.transport.is_closing() and state != "reading"):
            return
        self._state = state
        self._stop_timer()
        self._crowd.wait(self, state != "")
        if state:
            self._unread = self.transport.get_write_buffer_size()
            self._timer = self.loop.call_later(getattr(self._limits, state), self._expired)

    def _waits_for(self) -> str:
        """What the client has to do now, by the name of its limit; empty if we do something."""
        if self.flow.write_paused:
            return "reading"
        theirs = self.conn.their_state
        if theirs is h11.SEND_BODY:
            self._served = True
            return "arriving"
        if theirs is not h11.IDLE:
            self._served = True
            return ""
        return "idle" if self._served and not self.conn.trailing_data[0] else "arriving"

    def _expired(self) -> None:
        """The client's time is up."""
        left = self.transport.get_write_buffer_size()
        if self._state == "reading" and self._unread - left >= _PROGRESS:
            self._unread = left
            self._timer = self.loop.call_later(self._limits.reading, self._expired)
        elif self._state == "arriving" and (self._served or self.conn.trailing_data[0]):
            self._refuse(408, f"the request took longer than {self._limits.arriving:g} seconds to arrive.")
        else:
            self.drop()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@SafeHeaders
async def too_busy(scope: Scope, receive: Receive, send: Send) -> None:
    """The answer when too many requests are being worked on."""
    await HTMLResponse(plain_page(503, _BUSY), 503, {"Connection": "close", "Retry-After": "1"})(scope, receive, send)
