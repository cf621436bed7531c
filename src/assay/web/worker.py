"""A process that does heavy work for the workbench, one task after the other: see `workers`.

Run as `python -m assay.web.worker`. Tasks come in and answers go out as MessagePack, each with its length before it: JSON
has no NaN. The process ends when its input does, so at the latest with the server, whatever it is doing.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
import traceback
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from assay.errors import AssayError

MOST_MEMORY = 2 << 30  # bytes
LARGEST = 32 << 20  # bytes of an answer, which the server reads while others wait
HEAD = 4  # bytes of a length


class Task(Struct, frozen=True):
    """What to do: MODULE:FUNCTION, and its arguments."""

    function: str
    arguments: list[Any]


class Answer(Struct, frozen=True):
    """What came of it: a result, an error that users can cause, or a fault of ours."""

    result: Any = None
    error: tuple[str, str] | None = None  # its class and words
    fault: str = ""
    trace: str = ""


def framed(message: Struct) -> bytes:
    """A message with its length before it."""
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(HEAD, "big") + data


def main() -> None:
    """Do tasks until there are no more."""
    _limit()
    given, answers = _own_streams()
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(given, tasks), daemon=True).start()
    while True:
        task = msgspec.msgpack.decode(tasks.get(), type=Task)
        answers.write(_packed(_answer(task)))
        answers.flush()


def _answer(task: Task) -> Answer:
    """Do a task."""
    try:
        module, _, name = task.function.partition(":")
        return Answer(getattr(importlib.import_module(module), name)(*task.arguments))
    except AssayError as error:
        return Answer(error=(type(error).__name__, str(error)))
    except MemoryError:
        return Answer(error=("AssayError", f"this takes more than {MOST_MEMORY >> 30} GB of memory."))
    except Exception as error:
        return _fault(error)


def _packed(answer: Answer) -> bytes:
    try:
        data = framed(answer)
    except Exception as error:  # what a task returned has no form in MessagePack
        return framed(_fault(error))
    if len(data) > LARGEST:
        return framed(Answer(error=("AssayError", f"the result is larger than {LARGEST >> 20} MB.")))
    return data


def _fault(error: Exception) -> Answer:
    trace = "".join(traceback.format_exception(error))
    return Answer(fault=f"{type(error).__name__}: {error}".rstrip(": "), trace=trace)


def _read(given: BinaryIO, tasks: SimpleQueue[bytes]) -> None:
    """Take tasks until there are no more; then nobody waits for what is being done."""
    while len(head := given.read(HEAD)) == HEAD:
        tasks.put(given.read(int.from_bytes(head, "big")))
    os._exit(0)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Our input and output, which tasks cannot reach: what they read is empty, and what they print is dropped."""
    given, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return given, answers


def _limit() -> None:
    """Leave Ctrl-C to the server, and the memory to others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limits; a lower one may be set already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    main()
