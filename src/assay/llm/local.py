"""A language model from a GGUF file, run by a process of its own: see `engine`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

from assay.errors import LanguageModelError, MissingExtraError

LONGEST_LOAD = 600.0  # seconds


class LocalServer:
    """A running server for one model."""

    def __init__(self, address: str, key: str, process: subprocess.Popen[bytes]) -> None:
        self.address = address
        self.key = key  # others on this machine cannot ask without it
        self._process = process

    def ending(self) -> str:
        """Why the process has ended; empty while it runs."""
        status = self._process.poll()
        return "" if status is None else _ending(status)


def engine_version() -> str:
    """The version of the engine that runs GGUF files."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtraError("running a language model from a GGUF file", "llm")
    return importlib.metadata.version("xllamacpp")


@contextmanager
def local_server(path: Path, *, context: int) -> Iterator[LocalServer]:
    """Run the model of a GGUF file, with so many tokens of context, until the block ends."""
    engine_version()
    key = secrets.token_urlsafe(24)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "assay.llm.engine"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise LanguageModelError(f"the program that runs {path} cannot be started: {error.strerror}.") from None
    try:
        settings = {"path": str(path), "context": context, "key": key, "threads": _threads()}
        yield LocalServer(_loaded(process, settings), key, process)
    finally:
        with suppress(OSError, ValueError):
            process.communicate(timeout=5)  # closing its input ends it
        process.kill()
        process.wait()


def _loaded(process: subprocess.Popen[bytes], settings: dict[str, object]) -> str:
    """The address of the server, once the model is loaded."""
    line = b""
    timer = Timer(LONGEST_LOAD, process.kill)
    timer.daemon = True
    timer.start()
    with suppress(OSError):
        process.stdin.write(json.dumps(settings).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
        line = process.stdout.readline()  # type: ignore[union-attr]
    timer.cancel()
    answer: dict[str, str] = json.loads(line) if line else {"error": _ending(process.wait())}
    if "error" in answer:
        raise LanguageModelError(
            f"{settings['path']}: the model cannot be loaded: {answer['error'].rstrip('.')}. Is it a whole GGUF file, of "
            "an architecture that llama.cpp knows, and does it fit into memory?"
        )
    return f"{answer['address']}/v1"


def _threads() -> int:
    """Half of the processors that this process may use: answers are the same with any number.

    Threads wait for each other without sleeping. One more than is free makes everything several times slower.
    """
    usable = getattr(os, "sched_getaffinity", None)
    return max((len(usable(0)) if usable else os.cpu_count() or 1) // 2, 1)


def _ending(status: int) -> str:
    """Why the process ended, in words."""
    if status >= 0:
        return f"the program that runs the model failed (exit status {status})"
    return f"the program that runs the model was ended by {signal.Signals(-status).name}"
