"""A language model's server for tests, on this machine: it answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from typing import Any

from msgspec import Struct

from local_server import listening


class Reply(Struct, frozen=True):
    """What the server sends."""

    text: str | None = "2"
    status: int = 200
    headers: dict[str, str] = {}
    body: bytes | None = None  # instead of an answer
    tokens_in: int | None = 100
    tokens_out: int | None = 10
    finish: str = "stop"
    logprobs: Any = None
    seconds: float = 0.0  # before the answer
    hangs: bool = False  # never answers
    closes: bool = False  # closes the connection without an answer
    cut: int | None = None  # sends only so many bytes of the body


Answering = Callable[[str, int], Reply]  # from a prompt and how often it has been asked before


class FakeServer:
    """The server while it runs."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()  # prompts that got a good answer
        self.lock = Lock()
        self.closing = Event()
        self.address = ""

    @property
    def prompts(self) -> list[str]:
        return [request["messages"][0]["content"] for request in self.requests]

    def reply(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        prompt = body["messages"][0]["content"]
        with self.lock:
            before = self.prompts.count(prompt)
            self.requests.append(body)
            self.headers.append(headers)
        return self.answering(prompt, before)


@contextmanager
def serving(answering: Answering | Reply) -> Iterator[FakeServer]:
    """A server that answers every prompt in the same way, or as the function says."""
    same = answering
    fake = FakeServer((lambda prompt, before: same) if isinstance(same, Reply) else same)
    with listening(_handler(fake), fake.closing) as address:
        fake.address = f"{address}/v1"
        yield fake


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            reply = fake.reply({**body, "path": self.path}, dict(self.headers))
            try:
                self.send(reply, body["messages"][0]["content"])
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def send(self, reply: Reply, prompt: str) -> None:
            if reply.hangs:
                fake.closing.wait(30)
            if reply.hangs or reply.closes:
                self.close_connection = True
                return
            time.sleep(reply.seconds)
            content = _body(reply) if reply.body is None else reply.body
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: reply.cut])
            if reply.cut is not None:
                self.close_connection = True
            elif reply.status == 200 and reply.body is None:
                with fake.lock:
                    fake.answered[prompt] += 1

        def log_message(self, *args: object) -> None:
            """Quiet."""

    return Handler


def _body(reply: Reply) -> bytes:
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.text, "code": reply.status}}).encode()
    choice = {"message": {"role": "assistant", "content": reply.text}, "finish_reason": reply.finish}
    if reply.logprobs is not None:
        choice["logprobs"] = reply.logprobs
    usage = {"prompt_tokens": reply.tokens_in, "completion_tokens": reply.tokens_out}
    return json.dumps({"choices": [choice], "usage": usage}).encode()
