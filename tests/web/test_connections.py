"""Clients that are slow, half-open, do not read, or come in crowds keep nobody else from the workbench."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from assay.web import serving
from assay.web.connections import SPARE
from web.servers import Server, all_received, assert_safe, eventually, is_closed, received, serving_parts

MOST = 24  # connections
SECONDS = 0.6  # of each wait
PROMPTLY = 0.5  # seconds in which others are answered, on a busy machine


@pytest.fixture(scope="module")
def hurried(data: Path) -> Iterator[Server]:
    """A server that waits for nobody for long."""
    limits = {"connections": MOST, "arriving": SECONDS, "reading": SECONDS, "idle": SECONDS}
    with serving_parts(data, settings={"limits": limits}) as server:
        yield server
    assert "" == server.err


def head(server: Server, rest: str = "", first: str = "GET / HTTP/1.1") -> bytes:
    return f"{first}\r\nHost: {server.host}\r\n{rest}".encode()


def assert_answers_others(server: Server) -> None:
    began = time.monotonic()
    assert 200 == server.ask().status
    assert time.monotonic() - began < PROMPTLY


def drip(connection: socket.socket, data: bytes, seconds: float) -> None:
    """Send a byte now and then, as long as somebody takes it."""
    end = time.monotonic() + seconds
    with suppress(BrokenPipeError, ConnectionResetError):
        for byte in data:
            if time.monotonic() > end:
                break
            connection.sendall(bytes([byte]))
            time.sleep(0.03)


# Slow and half-open clients


def test_who_says_nothing_is_let_go(hurried: Server):
    with hurried.connect() as connection:
        began = time.monotonic()
        assert_answers_others(hurried)
        assert is_closed(connection)
        assert SECONDS * 0.8 < time.monotonic() - began < SECONDS + PROMPTLY


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("GET / HTTP/1.1", "X: " + "x" * 1000),
        ("POST /echo HTTP/1.1", "Content-Length: 1000\r\n\r\n" + "x" * 999),
        ("POST /echo HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n" + "1\r\nx\r\n" * 200),
        ("HEAD / HTTP/1.1", "Content-Length: 1000\r\n\r\n" + "x" * 999),
    ],
)
def test_who_sends_byte_by_byte_has_no_longer_than_others(hurried: Server, first, rest):
    if first.startswith("POST"):
        rest = f"X-CSRF-Token: {hurried.csrf()}\r\n{rest}"
    with hurried.connect() as connection:
        connection.sendall(head(hurried, "", first))
        began = time.monotonic()
        drip(connection, rest.encode(), 3 * SECONDS)
        assert time.monotonic() - began < SECONDS + PROMPTLY or first.startswith("HEAD")
    assert_answers_others(hurried)


def test_who_is_too_slow_is_told(hurried: Server):
    secret = hurried.csrf()
    for begun in (
        b"G",
        head(hurried),
        head(hurried, f"X-CSRF-Token: {secret}\r\nContent-Length: 10\r\n\r\nhalf", "POST /echo HTTP/1.1"),
        head(hurried, "\r\n") + head(hurried),
    ):
        with hurried.connect() as connection:
            connection.sendall(begun)
            answer = all_received(connection)[-1]
        assert (408, "the request took longer than 0.6 seconds to arrive.") == (answer.status, answer.text)
        assert "close" == answer.header("connection")
        assert_safe(answer)


def test_who_asks_for_a_head_and_never_ends_the_request_gets_no_body(hurried: Server):
    with hurried.connect() as connection:
        connection.sendall(head(hurried, "Content-Length: 10\r\n\r\n", "HEAD /slow?seconds=5 HTTP/1.1"))
        data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert data.startswith(b"HTTP/1.1 408 ")
    assert data.endswith(b"\r\n\r\n")


def test_a_connection_is_kept_for_the_next_request_but_not_for_long(hurried: Server):
    with hurried.connect() as connection:
        for _ in range(3):
            connection.sendall(head(hurried, "\r\n"))
            assert 200 == received(connection).status
            time.sleep(SECONDS / 3)
        began = time.monotonic()
        assert is_closed(connection)
        assert time.monotonic() - began < SECONDS + PROMPTLY


def test_who_goes_away_at_any_moment_leaves_no_trouble(hurried: Server):
    whole = head(hurried, "X: y\r\n\r\n", "GET /large?blocks=20 HTTP/1.1")
    for size in (0, 1, 10, len(whole) - 2, len(whole)):
        for abrupt in (False, True):
            connection = hurried.connect()
            if abrupt:  # a reset in place of an end
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.sendall(whole[:size])
            connection.close()
    half = hurried.connect()
    half.sendall(whole[:10])
    half.shutdown(socket.SHUT_WR)
    assert is_closed(half)
    half.close()
    assert_answers_others(hurried)


# Clients that do not read


def test_who_does_not_read_is_let_go_and_others_are_answered(hurried: Server):
    with ExitStack() as stack:
        connections = [stack.enter_context(hurried.connect()) for _ in range(6)]
        for connection in connections:
            connection.sendall(head(hurried, "\r\n", "GET /large?blocks=1000 HTTP/1.1"))
        assert_answers_others(hurried)
        time.sleep(2 * SECONDS)
        for connection in connections:
            with suppress(ConnectionResetError):
                assert sum(map(len, iter(lambda connection=connection: connection.recv(1 << 20), b""))) < 64 << 20
    assert_answers_others(hurried)


def test_who_reads_slowly_but_steadily_gets_all(hurried: Server):
    with hurried.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
        connection.sendall(head(hurried, "Connection: close\r\n\r\n", "GET /large?blocks=160 HTTP/1.1"))
        began, size = time.monotonic(), 0
        while block := connection.recv(256 << 10):
            size += len(block)
            if time.monotonic() - began < 2.5 * SECONDS:
                time.sleep(0.1)
    assert size > 10 << 20
    assert time.monotonic() - began > 2.5 * SECONDS


# Crowds


def test_a_crowd_that_says_nothing_keeps_nobody_out(hurried: Server):
    with ExitStack() as stack:
        crowd = [stack.enter_context(hurried.connect()) for _ in range(4 * MOST)]
        for connection in crowd[::2]:
            connection.sendall(head(hurried))  # half of a request
        assert_answers_others(hurried)
        open_now = [connection for connection in crowd if not is_closed(connection, 0.001)]
        assert len(open_now) <= MOST
    assert_answers_others(hurried)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the open files of a process")
def test_connections_are_capped(hurried: Server):
    def sockets() -> int:
        found = 0
        for file in Path(f"/proc/{hurried.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed since
                found += "socket:" in str(file.readlink())
        return found

    assert eventually(lambda: sockets() <= 4)
    before, most = sockets(), 0
    with ExitStack() as stack:
        for _ in range(3 * MOST):
            stack.enter_context(hurried.connect())
            most = max(most, sockets())
        assert_answers_others(hurried)
        most = max(most, sockets())
    # Of those that make room, some are still being closed while others have been taken.
    assert MOST - 5 < most - before <= MOST + 3 * serving.AT_ONCE < 3 * MOST
    assert eventually(lambda: sockets() <= before)


def test_when_all_work_others_are_told_at_once(hurried: Server):
    working = MOST - SPARE
    with ExitStack() as stack:
        busy = [stack.enter_context(hurried.connect()) for _ in range(working)]
        for connection in busy:
            connection.sendall(head(hurried, "\r\n", "GET /slow?seconds=1 HTTP/1.1"))
        assert eventually(lambda: 503 == hurried.ask().status, 0.7)
        answer = hurried.ask()
        assert (503, "1", "close") == (answer.status, answer.header("retry-after"), answer.header("connection"))
        assert "the workbench is busy: too many requests at the same time. Try again in a moment." in answer.text
        assert_safe(answer)
        assert [200] * working == [received(connection).status for connection in busy]
    assert_answers_others(hurried)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set as on Linux")
def test_there_are_fewer_connections_where_files_are_few(data: Path):
    with serving_parts(data, settings={"files": 128}) as server, ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(server.connect())
        assert_answers_others(server)
        assert b"" != server.ask("/compute/pid").body  # which needs files of its own
    assert "" == server.err


# Large requests


def test_a_body_has_a_limit_whether_it_is_announced_or_not(parts: Server):
    most = 1 << 20
    secret = f"X-CSRF-Token: {parts.csrf()}\r\n"
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"

    def sent(rest: str, body: bytes):
        answer = parts.send(head(parts, f"{secret}{rest}\r\n\r\n", "POST /echo HTTP/1.1") + body)
        assert_safe(answer)
        return answer

    assert 200 == sent(f"Content-Length: {most}", b"x" * most).status
    assert 200 == sent("Transfer-Encoding: chunked", chunk * 16 + b"0\r\n\r\n").status
    for answer in (
        sent(f"Content-Length: {most + 1}", b""),
        sent(f"Content-Length: {most + 1}\r\nExpect: 100-continue", b""),
        sent(f"Content-Length: {10**15}", b"x"),
        sent("Transfer-Encoding: chunked", chunk * 17),
        sent("Transfer-Encoding: chunked", chunk * 16 + b"1\r\nx\r\n"),
    ):
        assert 413 == answer.status
        assert "the request is larger than 1,024 KB. Put large files into the data folder instead." in answer.text


def test_an_address_and_headers_have_a_limit_however_they_arrive(parts: Server):
    long, longer = "x" * (33 << 10), "x" * (70 << 10)
    for first, rest, status in (
        (f"GET /?{'x' * (31 << 10)} HTTP/1.1", "", 200),
        (f"GET /?{long} HTTP/1.1", "", 414),
        (f"GET /?{longer} HTTP/1.1", "", 414),
        (f"GET /{longer}", None, 414),
        ("GET / HTTP/1.1", f"X: {long}\r\n", 200),
        ("GET / HTTP/1.1", f"X: {longer}\r\n", 431),
        ("GET / HTTP/1.1", f"X: {longer}", 431),
        ("GET / HTTP/1.1", "X: y\r\n" * 201, 431),
    ):
        whole = head(parts, f"{rest}\r\n", first) if rest is not None else first.encode()
        for size in (len(whole), 16 << 10):
            with parts.connect() as connection:
                with suppress(BrokenPipeError, ConnectionResetError):
                    for start in range(0, len(whole), size):
                        connection.sendall(whole[start : start + size])
                        time.sleep(0.01)
                answer = received(connection)
            assert status == answer.status, (first[:20], rest and rest[:20], size)
            assert_safe(answer)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,  # the start of TLS
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\nHost: x\x00y\n\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\0" * 100 + b"\r\n\r\n",
        b"\r\n\r\n\r\nGET\r\n\r\n",
        b"\r\n",  # h11 takes no empty line before a request
    ],
)
def test_what_is_no_request_is_answered_and_ended(parts: Server, sent):
    with parts.connect() as connection:
        connection.sendall(sent)
        (answer,) = all_received(connection)

    assert (400, "this is not a request of HTTP/1.1, or lacks its Host.") == (answer.status, answer.text)
    assert_safe(answer)


@pytest.mark.parametrize("version", ["0.9", "2.0", "9.9"])
def test_other_versions_of_http_are_refused(parts: Server, version):
    answer = parts.send(head(parts, "Connection: close\r\n\r\n", f"GET / HTTP/{version}"))

    assert 505 == answer.status
    assert "only HTTP/1.1 and HTTP/1.0 are spoken here." in answer.text
    assert_safe(answer)
