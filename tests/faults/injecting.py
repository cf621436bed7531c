"""Let the n-th call that changes a file fail, or kill the process there, for n = 1, 2, ... until nothing is left to fail."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec import Struct

HERE = Path(__file__).parent
KINDS = {
    "full disk": str(errno.ENOSPC),
    "disk error": str(errno.EIO),
    "no access": str(errno.EACCES),
    "short write": "short",
    "kill": "kill",
}
IN_TURN = {"errors in turn": ("full disk", "disk error", "no access")}  # for what takes long, one of them at each point
TEMPORARY = re.compile(r"(^|/)(\.assay-\w+\.part$|\.[^/]+\.(part|old)(/|$)|index\.part(/|$))")


class Met(Struct, frozen=True):
    """What came of one fault: the call that it hit, and what the process did then."""

    call: str
    kind: str
    status: int
    out: str
    err: str


@cache
def faulty_library() -> Path:
    """The library between a program and the C library, compiled once."""
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("faults are injected with a small C library, on Linux with a C compiler")
    folder = TemporaryDirectory(prefix="faulty-")
    library = Path(folder.name, "faulty.so")
    faulty_library.folder = folder  # removed when the tests end
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "faulty.c"), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


class Stage:
    """A prepared process; see `stage.py`."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "LD_PRELOAD": str(faulty_library()),
            "PYTHONPATH": str(HERE.parent),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "100",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.scratch = TemporaryDirectory(prefix="stage-")
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "stage.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def do(self, what: str | tuple[str, ...], folder: Path, kind: str = "none", at: int = 0, **signal: float) -> Met:
        """Do it in a folder with this fault at this point; the call is empty if it has no such point.

        Or send it a `signal=` after a time, `after=`.
        """
        log, out, err = (Path(self.scratch.name, name) for name in ("log", "out", "err"))
        log.write_text("")
        (folder / "tmp").mkdir(exist_ok=True)
        faults = {"FAULT_ROOT": str(folder), "FAULT_AT": str(at), "FAULT_KIND": kind, "FAULT_LOG": str(log)}
        others = {"ASSAY_OFFLINE": "1", "ASSAY_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
        task = {"cwd": str(folder), "out": str(out), "err": str(err), "environment": faults | others}
        task |= {"act": what} if isinstance(what, str) else {"command": list(what)}
        task |= signal
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        hits = [line for line in log.read_text().splitlines() if line.startswith("! ")]
        call = hits[0][2:].replace(str(folder), ".") if hits else ""
        return Met(call, kind, status, out.read_text(), err.read_text())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.scratch.cleanup()


def each_fault(
    stage: Stage, what: str | tuple[str, ...], kind: str, fresh: Callable[[], Path]
) -> Iterator[tuple[Path, Met]]:
    """Each point of what is done fails in turn, in a fresh folder each time."""
    at = 0
    while True:
        at += 1
        folder = fresh()
        kinds = IN_TURN.get(kind, (kind,))
        met = stage.do(what, folder, KINDS[kinds[at % len(kinds)]], at)
        if not met.call:
            return
        yield folder, met
        shutil.rmtree(folder)


def files_in(folder: Path) -> dict[str, bytes]:
    """All finished files by their path, without the system's folder for temporary ones."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not TEMPORARY.search(name) and not name.startswith("tmp/"):
            found[name] = path.read_bytes()
    return found


def temporary_in(folder: Path) -> list[str]:
    """Files and folders that were not finished, and what is in the system's folder for temporary ones."""
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")))
    return [name for name in names if TEMPORARY.search(name) or name.startswith("tmp/")]
