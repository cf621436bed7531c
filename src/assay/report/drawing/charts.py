"""Charts, and how to draw them as SVG, in a process of its own that is started for the first chart."""

from __future__ import annotations

import atexit
import base64
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from threading import Lock, Timer

from msgspec import Struct

from assay.errors import AssayError, MissingExtraError
from assay.report.drawing.vega import Spec

LONGEST = 60  # seconds for one chart; the first takes about one


class Chart(Struct, frozen=True):
    """One chart, before it is drawn."""

    name: str  # also the stem of its file
    title: str
    words: str  # text description
    spec: Spec


class Drawings(Struct, frozen=True):
    """Charts as SVG, by name, and why others are missing."""

    svgs: dict[str, str] = {}
    missing: str = ""


def draw(charts: Iterable[Chart]) -> Drawings:
    """The charts as SVG. Whatever happens while they are drawn, the caller gets an answer."""
    wanted = list(charts)
    if importlib.util.find_spec("vl_convert") is None:
        return Drawings(missing=str(MissingExtraError("drawing charts", "report")))
    svgs: dict[str, str] = {}
    try:
        for chart in wanted:
            svgs[chart.name] = with_titles(_painter(os.getpid()).draw(chart.spec))
    except _CannotDrawError as error:
        return Drawings(svgs, f"{error}.")
    return Drawings(svgs)


_LABELLED = re.compile(r'<(\w+) aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"([^>]*?)(/?)>')


def with_titles(svg: str) -> str:
    """An SVG in which the words of each mark are its title: browsers show it on hover, wherever the file is.

    >>> with_titles('<path aria-label="q1: 0.5" role="graphics-symbol" aria-roledescription="bar" d="M0,0"/>')
    '<path d="M0,0"><title>q1: 0.5</title></path>'
    """

    def titled(found: re.Match[str]) -> str:
        tag, words, attributes, closed = found.groups()
        return f"<{tag}{attributes}><title>{words}</title>{f'</{tag}>' if closed else ''}"

    return _LABELLED.sub(titled, svg)


class _CannotDrawError(Exception):
    """The process that draws has ended or cannot be started."""


def png_of(svg: str) -> bytes:
    """A chart as PNG."""
    try:
        return base64.b64decode(_painter(os.getpid()).draw(svg))
    except _CannotDrawError as error:
        raise AssayError(f"{error}.") from None


class _Painter:
    """The process that draws. It ends when its input is closed, so at the latest with ours."""

    def __init__(self) -> None:
        self._why = ""  # why it has ended
        self._lock = Lock()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "assay.report.drawing.painter"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _CannotDrawError(f"the program that draws charts cannot be started: {error.strerror}") from error

    def draw(self, given: Spec | str) -> str:
        """One chart as SVG; for an SVG, the PNG in base 64."""
        with self._lock:
            answer = b"" if self._why else self._answer(json.dumps(given).encode() + b"\n")
            if not answer:
                self._why = self._why or _ending(self.close())
                raise _CannotDrawError(self._why)
        drawn: str = json.loads(answer)
        return drawn

    def close(self) -> int:
        """End the process; its exit status."""
        with suppress(OSError, ValueError):  # it may refuse what was written last, or be closed already
            self._process.communicate()
        return self._process.wait()

    def _answer(self, line: bytes) -> bytes:
        """The answer to a line; empty if the process ends or takes too long."""
        timer = Timer(LONGEST, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            self._process.stdin.write(line)  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
            return self._process.stdout.readline()  # type: ignore[union-attr]
        except OSError:
            return b""
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self._why = f"a chart took more than {LONGEST} seconds"
        self._process.kill()


@cache
def _painter(process: int) -> _Painter:
    """The painter of this process: a forked one must not share it."""
    painter = _Painter()
    atexit.register(painter.close)
    return painter


def _ending(status: int) -> str:
    """Why a process ended, in words."""
    if status >= 0:
        return f"the program that draws charts failed (exit status {status})"
    name = signal.Signals(-status).name
    return (
        f"the program that draws charts was ended by {name}. It reserves some 64 GB of addresses, though it uses little "
        "memory: lift the limit (ulimit -v) to get charts"
    )
