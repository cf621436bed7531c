"""Heavy work is done by processes that can be stopped, and that end with the server whatever happens to it."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.exceptions import HTTPException

from assay.errors import AssayError, UnknownMeasureError
from assay.web.workers import MOST, MOST_WAITING, WorkerFault, Workers
from web.servers import (
    TASKS,
    Server,
    assert_safe,
    eventually,
    is_running,
    serving_parts,
    workers_of,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


def with_workers(work: Callable[[Workers], Awaitable[Any]], **given: Any) -> Any:
    """What some work with the processes returns; they have ended then."""

    async def main() -> Any:
        workers = Workers(TASKS, **given)
        try:
            return await work(workers)
        finally:
            await workers.close()

    return asyncio.run(main())


def done(task: str, *arguments: Any, **given: Any) -> Any:
    return with_workers(lambda workers: workers.do(task, *arguments, **given))


async def gone(pid: int) -> bool:
    """Whether a process ends in time."""
    return await asyncio.to_thread(eventually, lambda: not is_running(pid))


@pytest.fixture(scope="module")
def computing(data: Path) -> Iterator[Server]:
    """A server of this module only, whose workers are counted."""
    with serving_parts(data) as server:
        yield server
    assert "Traceback" not in server.err


# What a task gives


def test_a_result_is_what_the_function_returns():
    async def work(workers: Workers) -> list[Any]:
        given = [
            ("sum", [1, 2]),
            ("list", [[1, None, "é", b"\0\xff", {"a": 0.1}]]),
            ("number", "nan"),
            ("number", "-inf"),
        ]
        return [await workers.do(task, *(each if task == "list" else (each,))) for task, each in given]

    total, values, nan, infinite = with_workers(work)
    assert 3 == total
    assert [1, None, "é", b"\0\xff", {"a": 0.1}] == values
    assert math.isnan(nan)
    assert -math.inf == infinite


def test_an_error_of_users_is_the_same_error_here():
    with pytest.raises(UnknownMeasureError) as error:
        done("measure", "nDGC")

    assert "no measure called 'nDGC'; did you mean 'nDCG'?" == str(error.value)


def test_a_fault_is_no_error_of_users(monkeypatch):
    monkeypatch.delenv("ASSAY_DEBUG", raising=False)
    with pytest.raises(WorkerFault) as error:
        done("fail", 1, 0)
    assert "ZeroDivisionError: division by zero" == str(error.value)

    monkeypatch.setenv("ASSAY_DEBUG", "1")
    with pytest.raises(WorkerFault, match=r"Traceback .*\n(.*\n)*ZeroDivisionError: division by zero"):
        done("fail", 1, 0)


def test_a_result_that_cannot_be_sent_is_a_fault_and_the_process_goes_on():
    async def work(workers: Workers) -> tuple[int, int]:
        before = await workers.do("pid")
        with pytest.raises(WorkerFault, match=r"TypeError: Encoding objects of type object is unsupported"):
            await workers.do("object")
        with pytest.raises(AssayError, match=r"the result is larger than 32 MB\."):
            await workers.do("many", 33 << 20)
        return before, await workers.do("pid")

    before, after = with_workers(work)
    assert before == after


def test_too_much_memory_is_an_error_and_others_keep_theirs():
    with pytest.raises(AssayError) as error:
        done("memory", 3 << 30)

    assert "this takes more than 2 GB of memory." == str(error.value)


def test_a_process_that_dies_is_an_error_with_its_reason_and_the_next_task_has_another():
    async def work(workers: Workers) -> tuple[int, list[str], int]:
        before, reasons = await workers.do("pid"), []
        for task, arguments in (("exit", [3]), ("abort", [])):
            with pytest.raises(HTTPException) as error:
                await workers.do(task, *arguments)
            assert 500 == error.value.status_code
            reasons.append(error.value.detail)
        return before, reasons, await workers.do("pid")

    before, reasons, after = with_workers(work)
    assert before != after
    assert [
        "the process that computed this failed (exit status 3). Try again, or with less data.",
        "the process that computed this was ended by SIGABRT. Try again, or with less data.",
    ] == reasons


def test_tasks_reach_neither_the_stream_of_tasks_nor_that_of_answers():
    async def work(workers: Workers) -> tuple[Any, Any]:
        printed = await workers.do("print", "\0\0\0\4 this would be an answer")
        with pytest.raises(WorkerFault, match="EOFError"):
            await workers.do("input")
        return printed, await workers.do("sum", [1, 2])

    assert (None, 3) == with_workers(work)


def test_only_tasks_of_the_table_are_done():
    with pytest.raises(KeyError):
        done("os:getpid")


# When it is stopped


def test_a_task_whose_time_is_up_ends_with_its_process():
    async def work(workers: Workers) -> tuple[bool, str, int]:
        pid = await workers.do("pid")
        with pytest.raises(HTTPException) as error:
            await workers.do("sleep", 60, seconds=0.3)
        return await gone(pid), error.value.detail, error.value.status_code

    ended, words, status = with_workers(work)
    assert ended
    assert (503, "this took longer than 0.3 seconds and was stopped.") == (status, words)


def test_a_task_that_nobody_waits_for_ends_with_its_process_and_makes_room():
    async def work(workers: Workers) -> tuple[bool, int]:
        pid = await workers.do("pid")
        asked = asyncio.create_task(workers.do("sleep", 60))
        await asyncio.sleep(0)
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
        return await gone(pid), await asyncio.wait_for(workers.do("sum", [1]), 20)

    assert (True, 1) == with_workers(work, most=1)


def test_a_few_tasks_wait_for_a_process_and_more_are_refused():
    async def work(workers: Workers) -> tuple[HTTPException, list[int]]:
        first = asyncio.create_task(workers.do("sleep", 60))
        waiting = [asyncio.create_task(workers.do("sum", [number])) for number in range(MOST_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(HTTPException) as error:
            await workers.do("sum", [1])
        first.cancel()
        return error.value, await asyncio.wait_for(asyncio.gather(*waiting), 20)

    error, results = with_workers(work, most=1)
    assert (503, "the workbench is busy: too much is being computed. Try again in a minute.") == (
        error.status_code,
        error.detail,
    )
    assert list(range(MOST_WAITING)) == results  # first come, first served


def test_a_process_is_kept_for_the_next_task_and_ends_when_there_is_none():
    async def work(workers: Workers) -> tuple[int, int, bool, int]:
        first, second = await workers.do("pid"), await workers.do("pid")
        ended = await gone(first)
        return first, second, ended, await workers.do("pid")

    first, second, ended, third = with_workers(work, unused=0.5)
    assert first == second != third
    assert ended


def test_a_process_that_was_killed_while_it_did_nothing_is_not_asked():
    async def work(workers: Workers) -> tuple[int, int]:
        before = await workers.do("pid")
        os.kill(before, signal.SIGKILL)
        assert await gone(before)
        await asyncio.sleep(0.1)  # the loop hears of it
        return before, await workers.do("pid")

    before, after = with_workers(work)
    assert before != after


def test_no_process_is_left_when_all_is_closed():
    async def work(workers: Workers) -> list[int]:
        pids = [await workers.do("pid")]
        asked = asyncio.create_task(workers.do("sleep", 60))
        await asyncio.sleep(0)  # it takes that process
        pids.append(await workers.do("pid"))
        await workers.close()
        with pytest.raises(HTTPException):
            await asked
        return pids

    pids = with_workers(work)
    assert 2 == len(set(pids))
    assert [] == [pid for pid in pids if is_running(pid)]


# Over HTTP


def ask_computed(server: Server, task: str, *arguments: Any, **given: Any) -> Any:
    fields = "&".join(f"{name}={value}" for name, value in given.items())
    return server.ask(f"/compute/{task}?arguments={quote(json.dumps(arguments))}&{fields}")


@contextmanager
def asking(server: Server, task: str, *arguments: Any) -> Iterator[None]:
    """Somebody who waits for a task until the end of the block, and goes away then."""
    with server.connect() as connection:
        target = f"/compute/{task}?arguments={quote(json.dumps(arguments))}"
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        yield


def test_errors_of_tasks_are_answers_in_words_and_faults_show_nothing(computing: Server):
    for task, arguments, status, words in (
        ("measure", ["nDGC"], 400, "no measure called &#x27;nDGC&#x27;"),
        ("memory", [3 << 30], 400, "this takes more than 2 GB of memory."),
        ("exit", [3], 500, "the process that computed this failed (exit status 3)."),
        ("fail", [1, 0], 500, "a fault in assay; the terminal has it."),
    ):
        answer = ask_computed(computing, task, *arguments)
        assert status == answer.status, task
        assert words in answer.text
        assert_safe(answer)
        assert [] == [word for word in ("Traceback", "Zero", "WorkerFault", ".py") if word in answer.text]
    assert eventually(lambda: "(WorkerFault: ZeroDivisionError: division by zero)" in computing.err)
    assert "3" == ask_computed(computing, "sum", [1, 2]).text


def test_when_its_client_goes_away_a_task_is_stopped(computing: Server):
    ask_computed(computing, "exit", 3)
    assert eventually(lambda: len(workers_of(computing)) < MOST)
    before = set(workers_of(computing))
    with asking(computing, "sleep", 60), asking(computing, "sleep", 60):
        assert eventually(lambda: len(workers_of(computing)) == MOST)
        working = set(workers_of(computing))
        assert before <= working
    assert eventually(lambda: not working & set(workers_of(computing)))
    assert "3" == ask_computed(computing, "sum", [1, 2]).text


def test_work_keeps_nobody_from_pages(computing: Server):
    with ExitStack() as stack:
        for _ in range(MOST):
            stack.enter_context(asking(computing, "sleep", 60))
        assert eventually(lambda: len(workers_of(computing)) == MOST)
        assert 200 == computing.ask().status
        assert MOST == len(workers_of(computing))
    assert "3" == ask_computed(computing, "sum", [1, 2]).text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_server_however_it_ends(data: Path, number):
    with serving_parts(data) as server:
        assert "3" == ask_computed(server, "sum", [1, 2]).text
        idle = workers_of(server)
        with asking(server, "sleep", 60), asking(server, "sleep", 60):
            assert eventually(lambda: len(workers_of(server)) == MOST)
            pids = workers_of(server)
            status = server.end(number)
        assert (-number if number == signal.SIGKILL else 128 + number) == status
        assert 1 == len(idle)
        assert eventually(lambda: not any(map(is_running, [*idle, *pids])))
        assert "" == server.err
