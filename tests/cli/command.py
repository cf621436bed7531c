"""Run the command line as a user would, in a process of its own.

Python and the packages that assay builds on take longer to start than most commands take to run. So, on Linux, two
processes that have imported these packages, and nothing of assay, wait and fork for each command (`prepared.py`). Their
hash seeds differ and they take turns, so that a command that is run twice still runs under two seeds.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "OMP_", "OPENBLAS_", "TZ")  # variables that are read before assay is
TURN = itertools.cycle((0, 1))


def assay(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None):
    """The finished process: returncode, and stdout and stderr as text."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **(env or {})}
    command = list(map(str, arguments))
    if sys.platform == "linux" and at_start(environment) == at_start(ENVIRONMENT):
        done = prepared(next(TURN)).run(command, stdin, str(cwd or Path.cwd()), environment)
    else:
        done = subprocess.run(
            [sys.executable, "-m", "assay", *command],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=environment,
            check=False,
        )
    done.stdout, done.stderr = done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "replace")
    return done


def on_terminal(*arguments: object, cwd: Path, env: dict[str, str] | None = None) -> tuple[int, bytes]:
    """The status, and all that the screen was sent; only on Linux."""
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **(env or {})}
    return prepared(next(TURN)).run_on_terminal(list(map(str, arguments)), str(cwd), environment)


def at_start(environment: dict[str, str]) -> dict[str, str]:
    """The variables that a process which is already running would read too late."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


@cache
def prepared(number: int) -> Prepared:
    """One of the processes that wait, started when it is first needed."""
    return Prepared()


class Prepared:
    """A process that forks for each command. It ends when its socket is closed, with the tests."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.socket, theirs = socket.socketpair()
        # Pipes as in `subprocess.run`: what Python makes of the streams at its start depends on their kind.
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("prepared.py")), str(theirs.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            env={"OPENBLAS_NUM_THREADS": "1", **ENVIRONMENT},  # as `assay` sets it; and threads do not outlive a fork
        )
        theirs.close()
        atexit.register(self.end)

    def end(self) -> None:
        """Let the process go, and wait until it is gone."""
        self.socket.close()
        self.process.communicate()

    def run(
        self, command: list[str], stdin: bytes, cwd: str, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """What `subprocess.run` gives for `python -m assay`."""
        pipes = [os.pipe() for _ in range(3)]
        (given, to_stdin), (from_stdout, out), (from_stderr, err) = pipes
        with self.lock:
            self._ask([given, out, err], command, cwd, environment)
            found: dict[int, bytes] = {}
            threads = [
                threading.Thread(target=write_all, args=(to_stdin, stdin)),
                threading.Thread(target=lambda: found.update({2: read_all(from_stderr)})),
            ]
            for thread in threads:
                thread.start()
            found[1] = read_all(from_stdout)
            for thread in threads:
                thread.join()
            status = self._status()
        return subprocess.CompletedProcess([sys.executable, "-m", "assay", *command], status, found[1], found[2])

    def run_on_terminal(self, command: list[str], cwd: str, environment: dict[str, str]) -> tuple[int, bytes]:
        """The status, and all that the screen was sent by a command whose three streams are a terminal."""
        ours, theirs = os.openpty()
        import tty  # not on Windows

        tty.setraw(theirs)  # otherwise the terminal adds a return to each newline
        with self.lock:
            self._ask([theirs, os.dup(theirs), os.dup(theirs)], command, cwd, environment)
            screen = read_all(ours)
            return self._status(), screen

    def _ask(self, streams: list[int], command: list[str], cwd: str, environment: dict[str, str]) -> None:
        asked = json.dumps({"command": command, "cwd": cwd, "environment": environment}).encode()
        self.socket.sendall(len(asked).to_bytes(4, "big"))
        socket.send_fds(self.socket, [b"f"], streams)
        self.socket.sendall(asked)
        for stream in streams:
            os.close(stream)

    def _status(self) -> int:
        return int.from_bytes(self.socket.recv(4), "big", signed=True)


def write_all(pipe: int, data: bytes) -> None:
    """Write until the reader has all or goes away."""
    try:
        with open(pipe, "wb", buffering=0) as file:
            for start in range(0, len(data), 65536):
                file.write(data[start : start + 65536])
    except BrokenPipeError:
        pass


def read_all(pipe: int) -> bytes:
    """Everything until the writers are gone; a terminal says so by an error."""
    blocks = []
    with open(pipe, "rb", buffering=0) as file, suppress(OSError):
        while block := file.read(65536):
            blocks.append(block)
    return b"".join(blocks)
