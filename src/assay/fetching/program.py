"""A program as a system: it is started for each query, without a shell, and prints one document per line, best first."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, ClassVar

from msgspec import Struct

from assay.errors import FetchError, show_id
from assay.fetching.systems import Answered, Outcomes, Repeats, answered, checked_number
from assay.fetching.templates import check_places, fill
from assay.formats.numbers import number
from assay.http.connection import Failure
from assay.inputs.queries import Query
from assay.secrets import Secrets

PLACES = ("query", "query_id", "top_k")
LARGEST = 32 << 20  # bytes that it may print
_SHOWN = 200  # characters of what it says about an error
_BLOCK = 1 << 16


class Program(Struct, frozen=True):
    """A command line with `{query}`; without it, the text of the query goes to standard input.

    It prints an id per line, or an id and a score separated by a tab. An exit status other than 0 is a failed query.
    """

    command: str
    timeout: float = 60.0
    repeats: Repeats = "error"

    most_at_once: ClassVar[int] = 1

    def __post_init__(self) -> None:
        checked_number(self.timeout, "timeout", 0.001)
        if not self.arguments:
            raise FetchError("the command is empty; give one such as 'mysearch {query}'.")
        check_places(self.arguments, f"the command {self.place!r}", PLACES)

    @property
    def arguments(self) -> list[str]:
        """The program and its arguments, with places as in templates."""
        try:
            parts = shlex.split(self.command)
        except ValueError as error:
            raise FetchError(f"the command {self.place!r} cannot be read: {str(error).lower()}.") from None
        return [_as_template(part) for part in parts]

    @property
    def identity(self) -> Mapping[str, object]:
        """The command line, without secrets."""
        return {"command": self.place}

    @property
    def place(self) -> str:
        """The command line, without secrets."""
        return Secrets().hide(self.command)

    @contextmanager
    def open(self) -> Iterator[_Programs]:
        """Nothing is started yet."""
        programs = _Programs(self)
        try:
            yield programs
        finally:
            programs.close()


def _as_template(argument: str) -> str:
    for name in PLACES:
        argument = argument.replace(f"{{{name}}}", f"{{{{{name}}}}}")
    return argument


class _Programs:
    """The programs that are running."""

    def __init__(self, settings: Program) -> None:
        self._settings = settings
        self._secrets = Secrets()
        self._secrets.hide(settings.command)  # learns what the program must not repeat
        self._lock, self._closed = threading.Lock(), False
        self._running: set[subprocess.Popen[bytes]] = set()

    def close(self) -> None:
        """End all programs."""
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)

    def ask(self, queries: Sequence[Query], top_k: int) -> Outcomes:
        (query,) = queries
        printed = self._printed(query, top_k).decode("utf-8", "surrogateescape")
        if self._secrets.hide_known(printed) != printed:
            raise Failure("it printed a key or password of its command line")
        return {query.id: _documents(printed, top_k, self._settings.repeats)}

    def _printed(self, query: Query, top_k: int) -> bytes:
        """What the program prints for a query; raises Failure if it fails."""
        values = {"query": query.text, "query_id": query.id, "top_k": top_k}
        template = self._settings.arguments
        process = self._started([str(part) for part in fill(template, values)])
        text = b"" if any("{{query}}" in part for part in template) else query.text.encode("utf-8", "surrogateescape")
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(self._settings.timeout, end)
        complaints: list[bytes] = []
        listener = threading.Thread(target=lambda: complaints.append(_end_of(process.stderr)), daemon=True)
        writer = threading.Thread(target=_write, args=(process, text), daemon=True)
        for thread in (timer, listener, writer):
            thread.start()
        try:
            printed = _up_to(process.stdout, LARGEST)
            if len(printed) > LARGEST:
                raise Failure(f"it printed more than {LARGEST >> 20} MB")
            status = process.wait()
            listener.join(1.0)  # a program that it left behind may keep the pipe open
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            with self._lock:
                self._running.discard(process)
            _close(process.stdout)
        if late.is_set():
            raise Failure(f"no answer after {self._settings.timeout:g} seconds (time-out)", again=True)
        if status != 0:
            raise Failure(f"{_status(status)}{self._said(b''.join(complaints))}", again=True)
        return printed

    def _said(self, complaint: bytes) -> str:
        """The last line that a program printed about an error."""
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        shown = show_id(self._secrets.hide(lines[-1].strip()), _SHOWN) if lines else ""
        return f", '{shown}'" if shown else ""

    def _started(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        if any("\0" in argument for argument in arguments):
            raise Failure("the query has a NUL character, which no command line can hold")
        with self._lock:
            if self._closed:
                raise Failure("interrupted")
            try:
                process = subprocess.Popen(
                    [argument.encode("utf-8", "surrogateescape") for argument in arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,  # so that all it starts can be ended, and Ctrl-C comes to us alone
                )
            except OSError as error:
                if error.errno == errno.E2BIG:
                    raise Failure(
                        "the query is too long for a command line; leave out {query} to send it to its input"
                    ) from None
                raise FetchError(f"the command {arguments[0]!r} cannot be started: {error.strerror}.") from None
            self._running.add(process)
        return process


def _write(process: subprocess.Popen[bytes], text: bytes) -> None:
    with suppress(OSError):  # it reads nothing, or has ended
        if process.stdin is not None:
            process.stdin.write(text)
    _close(process.stdin)


def _close(stream: IO[bytes] | None) -> None:
    with suppress(OSError):  # what was not written yet cannot be
        if stream is not None:
            stream.close()


def _up_to(stream: IO[bytes] | None, most: int) -> bytes:
    """All that comes out of a stream, or a little more than its first so many bytes."""
    found = bytearray()
    with suppress(OSError):
        while stream is not None and len(found) <= most and (block := os.read(stream.fileno(), _BLOCK)):
            found += block
    return bytes(found)


def _end_of(stream: IO[bytes] | None) -> bytes:
    """The last bytes that come out of a stream, which is closed then."""
    found = b""
    with suppress(OSError):
        while stream is not None and (block := os.read(stream.fileno(), _BLOCK)):
            found = (found + block)[-_BLOCK:]
    _close(stream)
    return found


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it has started."""
    if process.poll() is not None:
        return
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _status(status: int) -> str:
    if status < 0:
        with suppress(ValueError):
            return f"ended by {signal.Signals(-status).name}"
    return f"exit status {status}"


def _documents(printed: str, top_k: int, repeats: Repeats) -> Answered | Failure:
    """The documents in the lines of a program."""
    docs, scores = [], []
    for count, line in enumerate(printed.split("\n"), 1):
        doc, tab, score = line.rstrip("\r").partition("\t")
        if not doc.strip():
            if score.strip():
                return Failure(f"line {count} has a score, but no id")
            continue
        value = number(score.strip()) if tab else None
        if tab and value is None:
            return Failure(f"line {count}: the score {show_id(score)!r} is not a number")
        docs.append(doc.strip())
        scores.append(value)
    if None in scores and any(score is not None for score in scores):
        return Failure("some lines have a score and others have none")
    return answered(docs, scores, top_k, repeats)
