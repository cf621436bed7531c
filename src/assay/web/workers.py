"""Heavy work in processes of their own, which can be stopped at any time.

The server answers everyone from one thread. What takes longer than some milliseconds is done elsewhere: in a few
processes, one task after the other. A task whose time is up, or that nobody waits for any more, ends with its process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

import assay.errors
from assay.errors import AssayError
from assay.web.worker import HEAD, Answer, Task, framed

MOST = 2  # processes
MOST_WAITING = 8  # tasks
LONGEST = 60.0  # seconds of a task
UNUSED = 60.0  # seconds after which a process ends

Result = TypeVar("Result")


class WorkerFault(Exception):
    """A task failed in a way that no user can cause."""


class Workers:
    """Does the tasks of a table, and nothing else.

    The table gives each task's name as MODULE:FUNCTION. Arguments and results are what MessagePack knows: numbers, texts,
    bytes, lists, dicts and, as results, Structs, which arrive as dicts.
    """

    def __init__(self, tasks: Mapping[str, str], most: int = MOST, unused: float = UNUSED) -> None:
        self._tasks = dict(tasks)
        self._most, self._unused = most, unused
        self._free = asyncio.Semaphore(most)  # first come, first served
        self._waiting = 0
        self._closed = False
        self._idle: dict[_Worker, asyncio.TimerHandle] = {}
        self._all: set[_Worker] = set()

    async def do(self, task: str, *arguments: Any, seconds: float = LONGEST) -> Any:
        """What a task returns. If the caller is cancelled, so is the work."""
        message = framed(Task(self._tasks[task], list(arguments)))
        if self._waiting >= MOST_WAITING:
            raise HTTPException(503, "the workbench is busy: too much is being computed. Try again in a minute.")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            return _result(await self._ask(message, seconds))
        finally:
            self._free.release()

    async def close(self) -> None:
        """Stop everything."""
        self._closed = True
        idle = tuple(self._idle)
        for worker in tuple(self._all):
            self._end(worker)
        await asyncio.gather(*(worker.gone() for worker in idle))
        for _ in range(self._most):  # until nobody has a process any more
            await self._free.acquire()
        for _ in range(self._most):
            self._free.release()

    async def _ask(self, message: bytes, seconds: float) -> Answer:
        """The answer of a process, which is kept for the next task if it gave one."""
        worker = self._take() or await self._start()
        done = False
        try:
            answer = await asyncio.wait_for(worker.ask(message), seconds)
            done = True
        except TimeoutError:
            raise HTTPException(503, f"this took longer than {seconds:g} seconds and was stopped.") from None
        except (asyncio.IncompleteReadError, OSError):
            raise HTTPException(500, f"{await worker.ending()}. Try again, or with less data.") from None
        finally:
            if done and worker in self._all:
                self._idle[worker] = asyncio.get_running_loop().call_later(self._unused, self._end, worker)
            else:  # nobody else gets its place before it is gone
                self._end(worker)
                await worker.gone()
        return answer

    def _take(self) -> _Worker | None:
        """A process that has nothing to do, if there is one."""
        while self._idle:
            worker, timer = self._idle.popitem()
            timer.cancel()
            if worker.is_alive:
                return worker
            self._all.discard(worker)
        return None

    async def _start(self) -> _Worker:
        worker = await _Worker.start()
        self._all.add(worker)
        if self._closed:
            self._end(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        """End a process, whatever it is doing."""
        self._all.discard(worker)
        timer = self._idle.pop(worker, None)
        if timer is not None:
            timer.cancel()
        worker.kill()


class _Worker:
    """One process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> _Worker:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "assay.web.worker"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=None if os.environ.get("ASSAY_DEBUG") else DEVNULL,
                start_new_session=True,  # Ctrl-C is the server's
            )
        except OSError as error:
            raise HTTPException(503, f"the process that computes this cannot be started: {error.strerror}.") from None
        return cls(process)

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.returncode is None

    async def ask(self, message: bytes) -> Answer:
        """The answer to a task."""
        stdin, stdout = self._process.stdin, self._process.stdout
        stdin.write(message)  # type: ignore[union-attr]
        await stdin.drain()  # type: ignore[union-attr]
        size = int.from_bytes(await stdout.readexactly(HEAD), "big")  # type: ignore[union-attr]
        return msgspec.msgpack.decode(await stdout.readexactly(size), type=Answer)  # type: ignore[union-attr]

    async def ending(self) -> str:
        """Why the process ended, in words."""
        status = await self._process.wait()
        if status >= 0:
            return f"the process that computed this failed (exit status {status})"
        return f"the process that computed this was ended by {signal.Signals(-status).name}"

    def kill(self) -> None:
        """End the process now."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def gone(self) -> None:
        """Wait until a process that was ended is gone, and what it has left in its pipe."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.communicate(), 2)


def _result(answer: Answer) -> Any:
    if answer.error is not None:
        raise _error(*answer.error)
    if answer.fault:
        raise WorkerFault(answer.trace if os.environ.get("ASSAY_DEBUG") else answer.fault)
    return answer.result


def _error(name: str, words: str) -> AssayError:
    """The error of a task, as if it had come up here."""
    kind = getattr(assay.errors, name, AssayError)
    error: AssayError = kind.__new__(kind, words)  # not by calling it: some build their words from other arguments
    return error


async def compute(request: Request, task: str, *arguments: Any, seconds: float = LONGEST) -> Any:
    """What a task returns, for an endpoint: the work stops when the client goes away."""
    return await while_connected(request, request.app.state.workers.do(task, *arguments, seconds=seconds))


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of some work, which is cancelled when the client goes away."""
    await request.body()  # what comes after it is only the end
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
