"""Serve the workbench: its socket, its end by a signal, and the browser that shows it."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from uvicorn.config import Config
from uvicorn.server import ServerState

from assay.errors import InputError, show_id
from assay.signals import Left
from assay.web.app import make_app
from assay.web.connections import Connection, Crowd
from assay.web.errors import Tell
from assay.web.settings import Settings

FIRST_PORT, PORTS = 8000, 100
BACKLOG = 128  # connections that the system keeps for us
AT_ONCE = 8  # connections that are taken at a time; with many, their files are open before others are closed for them
_LOOK = 0.5  # seconds
_SENT = 128 << 10  # bytes that the system keeps for a client; with more, it would seem not to read for a long time
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_TAKEN = (
    errno.EADDRINUSE,
    getattr(errno, "WSAEADDRINUSE", errno.EADDRINUSE),
    getattr(errno, "WSAEACCES", errno.EADDRINUSE),
)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; without a port, on the first one from 8000 on that is free."""
    family, address = _resolve(host)
    for each in range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else (port,):
        try:
            return _listening(family, (address[0], each, *address[2:]))
        except OSError as error:
            if error.errno not in _TAKEN:
                raise InputError(f"the workbench cannot listen on {host}, port {each}: {error.strerror}.") from None
    if port is None:
        raise InputError(
            f"no port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} is free. Give another one with --port."
        )
    raise InputError(f"port {port} is taken by another program. Leave out --port to get the next free one.")


def _resolve(host: str) -> tuple[int, tuple[Any, ...]]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE) if host else []
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise InputError(f"--host {show_id(host)!r} is no name or address of this machine. 127.0.0.1 is the usual one.")
    found.sort(key=lambda each: each[0] != socket.AF_INET)  # localhost has two addresses, and browsers try both
    return found[0][0], found[0][4]


def _listening(family: int, address: tuple[Any, ...]) -> socket.socket:
    # asyncio sends at once only where the protocol is named, and otherwise each answer waits 40 ms for the client to confirm
    # that it has the headers.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":  # where the other option would share the port with whoever asks for it
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # although old connections are being closed
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SENT)  # connections have it from here
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def bound(settings: Settings, listener: socket.socket) -> Settings:
    """The settings with the address that a socket listens on."""
    import msgspec

    ip, port = listener.getsockname()[:2]
    return msgspec.structs.replace(settings, ip=ip, port=port)


def workbench(settings: Settings, tell: Tell) -> Starlette:
    """The workbench with all its pages."""
    from assay.web import pages
    from assay.web.assets import Assets

    assets = Assets(pages.style_sheets())
    all_pages = pages.Pages(settings, assets)
    return make_app(
        settings, all_pages.routes(), assets=assets, tasks=pages.TASKS, error_page=all_pages.error, tell=tell
    )


def link(app: Starlette) -> str:
    """The address to open, on this machine."""
    settings: Settings = app.state.settings
    address = ipaddress.ip_address(settings.ip.partition("%")[0])
    name = settings.ip if not address.is_unspecified else "127.0.0.1" if address.version == 4 else "::1"
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{settings.port}{app.state.door.address}"


def serve(app: Starlette, listener: socket.socket, tell: Tell) -> None:
    """Answer until a signal comes, which ends everything at once and is raised then."""
    stop = asyncio.Event()
    came: list[int] = []
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        loop.set_exception_handler(lambda _, context: _tell_of(context, tell))

        def end(number: int) -> None:
            came.append(number)
            loop.call_soon_threadsafe(stop.set)

        with _first_signal(end):
            runner.run(_serve(app, listener, stop))
    raise Left(came[0])


async def _serve(app: Starlette, listener: socket.socket, stop: asyncio.Event) -> None:
    limits = app.state.settings.limits
    crowd, state, config = Crowd(limits), ServerState(), _config(app)
    for name in ("uvicorn", "uvicorn.error", "asyncio"):
        logging.getLogger(name).disabled = True  # we tell what is worth it
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(crowd, config, state), sock=listener, backlog=AT_ONCE)
    listener.listen(BACKLOG)  # asyncio has set it to the other number
    try:
        while not stop.is_set():  # a signal that comes just before the loop waits does not wake it
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(stop.wait(), _LOOK)
    finally:
        server.close()
        crowd.drop_all()
        for task in tuple(state.tasks):
            task.cancel()
        await app.state.workers.close()


def _config(app: Starlette) -> Config:
    config = Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=app.state.settings.limits.head,
    )
    config.load()
    return config


@contextmanager
def _first_signal(end: Callable[[int], None]) -> Iterator[None]:
    """Call a function at the first signal; a second one does what it did before."""
    handlers = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}

    def restore() -> None:
        for number, handler in handlers.items():
            signal.signal(number, handler)

    def leave(number: int, frame: FrameType | None) -> None:
        restore()
        end(number)

    try:
        for number in handlers:
            signal.signal(number, leave)
        yield
    finally:
        restore()


def _tell_of(context: dict[str, Any], tell: Tell) -> None:
    """Tell about a fault that no request stands for, in one line."""
    error = context.get("exception")
    if not isinstance(error, OSError):  # a client that went away
        tell(f"Error: a fault in assay ({show_id(str(error or context.get('message')), 300)}).")


def open_browser(address: str) -> subprocess.Popen[bytes] | None:
    """Show an address in the browser, if there is a screen. Whatever the browser prints or waits for, it is not here."""
    has_screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_screen or sys.stdout is None or not sys.stdout.isatty():
        return None
    code = "import sys, webbrowser; webbrowser.open(sys.stdin.read())"
    with suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        process.stdin.write(address.encode())  # type: ignore[union-attr]
        process.stdin.close()  # type: ignore[union-attr]
        return process
    return None
