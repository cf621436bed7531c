"""Real servers for the tests of the workbench, and a client that sends whatever it is told to.

`serving` starts `assay serve`. `serving_parts` starts the same server with pages that only these tests have, and with limits
that they can wait for: this file is also the program that does so.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from assay.web.safety import HEADERS

PATIENCE = 20.0  # seconds that a test waits for what must happen
CSRF = re.compile(rb"csrf=([0-9a-f]{64})")
TASKS = {  # of the workers: functions of Python that do what these tests need
    "sleep": "time:sleep",
    "pid": "os:getpid",
    "exit": "os:_exit",
    "fail": "operator:truediv",
    "sum": "builtins:sum",
    "number": "builtins:float",
    "list": "builtins:list",
    "memory": "builtins:bytearray",
    "many": "builtins:bytes",
    "object": "builtins:object",
    "print": "builtins:print",
    "input": "builtins:input",
    "abort": "os:abort",
    "measure": "assay.measures:parse_measure",
}
SHEETS = {"page.css": "p { color: black; }\n" * 100, "small.css": "p {}"}


class Answer(Struct, frozen=True):
    """What a server sent."""

    status: int
    headers: list[tuple[str, str]]  # names in lower case
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, (name, found)
        return found[0] if found else None

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def all(self) -> str:
        return f"{self.headers}\n{self.body.decode('utf-8', 'replace')}"


class Server:
    """A server that runs in a process of its own, and all that it printed."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.printed: dict[str, bytearray] = {"out": bytearray(), "err": bytearray()}
        streams = (("out", process.stdout), ("err", process.stderr))
        self.threads = [threading.Thread(target=self.keep, args=each, daemon=True) for each in streams]
        for thread in self.threads:
            thread.start()

    def keep(self, name: str, stream: Any) -> None:
        while block := os.read(stream.fileno(), 65536):
            self.printed[name] += block

    @property
    def out(self) -> str:
        return self.printed["out"].decode()

    @property
    def err(self) -> str:
        return self.printed["err"].decode()

    @property
    def links(self) -> list[str]:
        """The addresses that were printed, each for one browser."""
        return re.findall(r"http://\S+", self.out)

    @property
    def address(self) -> str:
        return re.sub(r"/(\?.*)?$", "", self.links[0])

    @property
    def token(self) -> str:
        """The latest token."""
        return self.links[-1].rpartition("token=")[2]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def host(self) -> str:
        """What a browser sends as Host."""
        return self.address.removeprefix("http://")

    def connect(self) -> socket.socket:
        connection = socket.create_connection((self.host.rpartition(":")[0].strip("[]"), self.port), PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(
        self,
        target: str = "/",
        method: str = "GET",
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> Answer:
        """The answer to a request with these headers and, unless they name others, the host and length."""
        given = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
        names = {name.lower() for name, _ in given}
        if "host" not in names:
            given.insert(0, ("Host", self.host))
        if body and not names & {"content-length", "transfer-encoding"}:
            given.append(("Content-Length", str(len(body))))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given), "", ""]
        return self.send("\r\n".join(lines).encode("latin-1") + body, method)

    def send(self, data: bytes, method: str = "GET") -> Answer:
        """The answer to these bytes."""
        with self.connect() as connection:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may be answered before all of it is there
                connection.sendall(data)
            return received(connection, method)

    def post(self, target: str, form: str = "", headers: Mapping[str, str] | None = None) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask(target, "POST", {**kind, **(headers or {})}, form.encode())

    def csrf(self, headers: Mapping[str, str] | None = None) -> str:
        """The secret that pages get, if they show it."""
        found = CSRF.search(self.ask("/", headers=headers or {}).body)
        assert found
        return found[1].decode()

    def end(self, number: int = signal.SIGTERM) -> int:
        """End the process; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for thread in self.threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()  # type: ignore[union-attr]
        return status


def received(connection: socket.socket, method: str = "GET") -> Answer:
    """The next answer on a connection that has no other."""
    answer = http.client.HTTPResponse(connection, method=method)
    answer.begin()
    return answer_of(answer)


def answer_of(answer: http.client.HTTPResponse) -> Answer:
    return Answer(answer.status, [(name.lower(), value) for name, value in answer.getheaders()], answer.read())


def all_received(connection: socket.socket) -> list[Answer]:
    """All answers on a connection until the server closes it."""
    with suppress(ConnectionResetError):
        blocks = iter(lambda: connection.recv(65536), b"")
        stream = _Received(b"".join(blocks))
    answers = []
    while stream.peek(1):
        answer = http.client.HTTPResponse(stream)  # type: ignore[arg-type]
        answer.begin()
        answers.append(answer_of(answer))
    return answers


class _Received(io.BufferedReader):
    """Bytes in place of a socket. An answer that was read closes its file, but not this."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))  # type: ignore[arg-type]

    def makefile(self, mode: str) -> _Received:
        return self

    def close(self) -> None:
        """Nothing."""


def is_closed(connection: socket.socket, within: float = PATIENCE) -> bool:
    """Whether the server closes a connection in time, and sends nothing more."""
    connection.settimeout(within)
    try:
        return b"" == connection.recv(1)
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def assert_safe(answer: Answer) -> None:
    """The headers that every answer has, whatever it is, and those that none has."""
    for name, value in HEADERS.items():
        assert value == answer.header(name), (answer.status, name)
    assert answer.header("cache-control"), answer.status
    assert [] == [name for name, _ in answer.headers if name.startswith("access-control")]
    assert answer.header("server") is None


def eventually(found: Any, within: float = PATIENCE) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + within
    while not found():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_running(pid: int) -> bool:
    """Whether a process runs: neither gone nor a zombie."""
    try:
        return "Z" != Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def workers_of(server: Server) -> list[int]:
    """The processes that work for a server; only on Linux."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    return [pid for pid in map(int, children.split()) if is_running(pid)]


@contextmanager
def started(command: Sequence[object], **given: Any) -> Iterator[Server]:
    """A server, once it has printed its address; it ends with the block."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **given.pop("env", {})}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    server = Server(subprocess.Popen([sys.executable, *map(str, command)], env=environment, **pipes, **given))
    try:
        assert eventually(lambda: "\n" in server.out or server.process.poll() is not None)
        assert server.links, (server.out, server.err)
        yield server
    finally:
        server.end()


def serving(data: Path, *options: object, **given: Any) -> Any:
    """`assay serve` on a folder; a context manager."""
    return started(["-m", "assay", "serve", "--no-open", "--data", data, *options], **given)


def serving_parts(data: Path, *, settings: dict[str, Any] | None = None, **given: Any) -> Any:
    """The server with the pages below; a context manager. It says that it listens where `settings` tell it to."""
    told = json.dumps({"data": str(data), **(settings or {})})
    return started([Path(__file__).resolve(), told], **given)


# The program


def routes() -> list[Any]:
    """Pages that let the parts of the workbench be seen."""
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    from assay.errors import InputError
    from assay.web.safety import csrf_of, form_of
    from assay.web.workers import compute

    async def home(request: Request) -> Response:
        return HTMLResponse(f"<!doctype html><title>home</title><p>csrf={csrf_of(request)}")

    async def echo(request: Request) -> Response:
        if request.headers.get("content-type") == "application/x-www-form-urlencoded":
            return JSONResponse(await form_of(request))
        return JSONResponse({"bytes": len(await request.body())})

    async def fault(request: Request) -> Response:
        raise ValueError(request.query_params.get("words", "planted"))

    async def broken(request: Request) -> Response:
        async def blocks() -> Any:
            yield b"a part"
            raise ValueError("planted")

        return StreamingResponse(blocks())

    async def wrong(request: Request) -> Response:
        folder = request.app.state.settings.data
        raise InputError(request.query_params["words"], source=f"{folder}{os.sep}my.run", line=3)

    async def large(request: Request) -> Response:
        async def blocks() -> Any:
            for _ in range(int(request.query_params["blocks"])):
                yield b"x" * (64 << 10)

        return StreamingResponse(blocks())

    async def slow(request: Request) -> Response:
        await asyncio.sleep(float(request.query_params["seconds"]))
        return Response("done")

    async def computed(request: Request) -> Response:
        arguments = json.loads(request.query_params.get("arguments", "[]"))
        seconds = float(request.query_params.get("seconds", "60"))
        return JSONResponse(await compute(request, request.path_params["task"], *arguments, seconds=seconds))

    async def names(request: Request) -> Response:
        return JSONResponse([each.name for each in request.app.state.data_folder.files()])

    async def data(request: Request) -> Response:
        return Response(request.app.state.data_folder.read(request.path_params["name"], 1 << 20))

    async def save(request: Request) -> Response:
        form = await form_of(request)
        request.app.state.data_folder.write_all({form["name"]: form["text"].encode()})
        return Response("written")

    gets = {"/": home, "/fault": fault, "/broken": broken, "/wrong": wrong, "/large": large, "/slow": slow}
    gets |= {"/compute/{task}": computed, "/names": names, "/data/{name:path}": data}
    posts = {"/echo": echo, "/save": save}
    return [Route(place, page) for place, page in gets.items()] + [
        Route(place, page, methods=["POST"]) for place, page in posts.items()
    ]


def main(told: dict[str, Any]) -> None:
    """Serve as `assay serve` does. The socket is one of this machine only, whatever the settings say."""
    import logging

    from assay.signals import end_in_order
    from assay.web.app import make_app, tell_terminal
    from assay.web.assets import Assets
    from assay.web.serving import bound, link, listen, serve
    from assay.web.settings import Settings

    end_in_order()
    if told.pop("logs", False):
        logging.basicConfig(level=logging.DEBUG)
    error_page = _failing_page if told.pop("has failing page", False) else None
    files = told.pop("files", None)
    if files is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    with listen("127.0.0.1", None) as listener:
        settings = bound(msgspec.convert(told, Settings, dec_hook=lambda kind, value: kind(value)), listener)
        if "ip" in told:
            settings = msgspec.structs.replace(settings, ip=told["ip"])
        assets = Assets(SHEETS)
        others = {} if error_page is None else {"error_page": error_page}
        app = make_app(settings, routes(), assets=assets, tasks=TASKS, tell=tell_terminal, **others)

        def show(what: str) -> None:
            print(f"{what}: http://127.0.0.1:{settings.port}{app.state.door.address}", flush=True)  # noqa: T201

        assert link(app).endswith(app.state.door.address)
        app.state.door.on_exchange = lambda: show("Next")
        show("Serving")
        serve(app, listener, tell_terminal)


def _failing_page(status: int, words: str) -> str:
    raise KeyError("planted in the page of errors")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
