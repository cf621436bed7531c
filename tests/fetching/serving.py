"""Search servers for tests, on this machine: they speak the documented APIs, and misbehave as they are told.

The shapes of requests and answers follow the documentation of Elasticsearch, OpenSearch and Solr; none of these was run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from local_server import listening


def ranking(query: str, size: int) -> list[tuple[str, float]]:
    """What every server here finds for a query: documents that depend on its text alone."""
    seed = sum(map(ord, query))
    return [(f"d{(seed * 7 + place * 13) % 300:03}", 30.0 - place * 0.25) for place in range(min(size, 100))]


class Asked(Struct, frozen=True):
    """A request as it arrived."""

    method: str
    path: str
    parameters: dict[str, str]
    headers: dict[str, str]
    body: bytes
    before: int = 0  # requests on the same connection

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(Struct, frozen=True):
    """What a server sends."""

    body: Any = None  # JSON, or bytes as they are
    status: int = 200
    headers: dict[str, str] = {}
    seconds: float = 0.0  # before the answer
    hangs: bool = False
    closes: bool = False
    cut: int | None = None  # sends only so many bytes of the body
    endless: bytes = b""  # sends this again and again
    drips: bytes = b""  # sends this and then headers without end, a byte at a time


Answering = Callable[[Asked, int], Reply]  # from a request and the number of requests before it


class Server:
    """The server while it runs."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.asked: list[Asked] = []
        self.lock = Lock()
        self.closing = Event()
        self.at_once = self.most_at_once = 0
        self.times: list[float] = []
        self.address = ""

    def reply(self, asked: Asked) -> Reply:
        with self.lock:
            before = len(self.asked)
            self.asked.append(asked)
            self.times.append(time.monotonic())
        return self.answering(asked, before)


@contextmanager
def serving(answering: Answering | Reply) -> Iterator[Server]:
    """A server on a free port of this machine until the block ends."""
    same = answering
    server = Server((lambda asked, before: same) if isinstance(same, Reply) else same)
    with listening(_handler(server), server.closing) as server.address:
        yield server


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        before = 0

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            parameters = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with server.lock:
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                asked = Asked(self.command, parts.path, parameters, dict(self.headers), body, self.before)
                self.before += 1
                self.send(server.reply(asked))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                with server.lock:
                    server.at_once -= 1

        def do_POST(self) -> None:
            self.do_GET()

        def send(self, reply: Reply) -> None:
            if reply.hangs:
                server.closing.wait(30)
            if reply.hangs or reply.closes:
                self.close_connection = True
                return
            server.closing.wait(reply.seconds)
            self.wfile.write(reply.drips)
            while reply.drips and not server.closing.wait(0.05):
                self.wfile.write(b"X")
            content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if not reply.endless:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: reply.cut])
            while reply.endless and not server.closing.is_set():
                self.wfile.write(reply.endless)
            if reply.cut is not None or reply.endless:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Quiet."""

    return Handler


# The APIs


def retrieve(asked: Asked, before: int = 0) -> Reply:
    """The retrieval service of the TREC workflow."""
    results = [
        {
            "query_id": query["query_id"],
            "segments": [
                {"segment_id": doc, "score": score} for doc, score in ranking(query["query_text"], query["top_k"])
            ],
        }
        for query in asked.json["queries"]
    ]
    return Reply({"results": results})


def _hits(query: str, size: int) -> dict[str, Any]:
    found = ranking(query, size)
    hits = [{"_index": "products", "_id": doc, "_score": score} for doc, score in found]
    total = {"value": len(found), "relation": "eq"}
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": total, "max_score": found[0][1] if found else None, "hits": hits},
        "status": 200,
    }


def _matched(body: dict[str, Any]) -> str:
    """The text of a multi_match or match query."""
    ((kind, inner),) = body["query"].items()
    if kind == "multi_match":
        return str(inner["query"])
    ((_, given),) = inner.items()
    return str(given["query"] if isinstance(given, dict) else given)


def elasticsearch(asked: Asked, before: int = 0) -> Reply:
    """`_search` and `_msearch` of an index."""
    if asked.path == "/products/_search":
        return Reply(_hits(_matched(asked.json), asked.json.get("size", 10)))
    if asked.path == "/products/_msearch" and asked.headers["Content-Type"] == "application/x-ndjson":
        bodies = [json.loads(line) for line in asked.body.split(b"\n")[1::2] if line]
        return Reply({"took": 5, "responses": [_hits(_matched(body), body.get("size", 10)) for body in bodies]})
    reason = f"no such index [{asked.path.split('/')[1]}]"
    return Reply({"error": {"type": "index_not_found_exception", "reason": reason}, "status": 404}, status=404)


def solr(asked: Asked, before: int = 0) -> Reply:
    """`/select` of a core: parameters, or the JSON Request API."""
    if asked.path != "/solr/techproducts/select":
        return Reply(b"<html>Not Found</html>", status=404)
    if asked.method == "POST":
        query, size = asked.json["query"], int(asked.json["limit"])
    else:
        query, size = asked.parameters["q"], int(asked.parameters.get("rows", 10))
    docs = [{"id": doc, "score": score} for doc, score in ranking(query, size)]
    return Reply({"responseHeader": {"status": 0, "QTime": 1}, "response": {"numFound": 100, "start": 0, "docs": docs}})
