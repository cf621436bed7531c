"""A process under the faulty library that waits, and forks for each thing to do; see `injecting.py`.

It reads lines of JSON. Each names the folder to work in, the environment, files for the output, and what to do: a command,
or a function of `acts.py` with its arguments.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress

import assay.cli.commands
import faults.acts
from assay.cli import main
from assay.errors import AssayError

SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def import_all() -> None:
    """What commands import when they need it, once for all of them."""
    for found in pkgutil.walk_packages(assay.cli.commands.__path__, "assay.cli.commands."):
        importlib.import_module(found.name)
    for name in ("benchmark.running", "records.validated", "report.benchmark", "report.evaluation.page", "report.gate"):
        importlib.import_module(f"assay.{name}")
    for name in ("bm25s", "tantivy"):
        with suppress(ImportError):
            importlib.import_module(name)
    sys.modules["vl_convert"] = None  # charts take a second, and are files like any others


def do(task: dict) -> None:
    for number, path in enumerate((os.devnull, task["out"], task["err"])):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.chdir(task["cwd"])
    tempfile.tempdir = task["environment"]["TMPDIR"]  # not looked for, by writing to one after the other
    if "command" in task:
        sys.argv = ["assay", *task["command"]]
        os.environ.update(task["environment"])
        main()
    act = getattr(faults.acts, task["act"])
    os.environ.update(task["environment"])
    try:
        act()
    except AssayError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)


def status_of(task: dict) -> int:
    # A signal waits until the child is ready to say how it ended.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        if "signal" in task:
            time.sleep(task["after"])
            os.kill(child, task["signal"])  # it may have ended, but its number is not given to another
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 70
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        do(task)
        status = 0
    except SystemExit as done:
        status = done.code or 0
    except KeyboardInterrupt:  # as in assay.__main__
        status = 130
    except BaseException:  # a fault of ours: the test shows it
        traceback.print_exc()
    finally:
        leave(status)


def leave(status: int) -> None:
    """End the child, also if a signal comes just now."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    import_all()
    gc.freeze()  # what is there already need not be looked at, and so not copied, after a fork
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(f"{status_of(json.loads(line))}\n")
        answers.flush()
