"""The workbench under load, on this machine only: clients that ask the Search Result Evaluator, each one list after the other.

python bench/serve.py                              50 clients for a minute, then one alone
python bench/serve.py --clients 10 --seconds 5

The peer is the same server (uvicorn, starlette) with an application that answers a constant; the two take turns in slices
of a few seconds, so a busy machine slows both. Every list is another one. The clients share the processors with the
server. Exit status 1 means that a request failed, that a client alone waits for 50 ms or longer (median), or that the
first answer takes more than a second of processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median, quantiles
from time import perf_counter

SLICE = 5.0  # seconds of a turn
STARTS = 5
ALONE, FIRST = 0.050, 1.0  # seconds: the targets
PEER = """
import asyncio, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def answer(request):
    return JSONResponse({"schema": "constant"})

app = Starlette(routes=[Route("/evaluator.json", answer)])
config = uvicorn.Config(app, port=0, log_level="error", access_log=False)
listening = config.bind_socket()
listening.listen(200)
print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
asyncio.run(uvicorn.Server(config).serve([listening]))
"""


def main() -> int:
    """Measure, print a table, and compare with the targets."""
    given = _arguments()
    starts = [_first_answer() for _ in range(STARTS)]
    programs = {"assay serve": _serve(), "a constant, by the same server": [sys.executable, "-c", PEER]}
    times: dict[str, list[float]] = {name: [] for name in programs}
    alone: dict[str, list[float]] = {name: [] for name in programs}
    failed = dict.fromkeys(programs, 0)
    turns = max(1, round(given.seconds / SLICE))
    with _running(programs["assay serve"]) as ours, _running(programs["a constant, by the same server"]) as peer:
        ports = dict(zip(programs, (ours, peer), strict=True))
        for turn in range(turns):
            for name in list(programs) if turn % 2 else reversed(programs):
                found, wrong = asyncio.run(_load(ports[name], given.clients, given.seconds / turns, turn))
                times[name] += found
                failed[name] += wrong
        for name in programs:
            found, wrong = asyncio.run(_load(ports[name], 1, min(SLICE, given.seconds), turns))
            alone[name], failed[name] = found, failed[name] + wrong
    print(f"{given.clients} clients for {given.seconds:g} s, in turns of {given.seconds / turns:g} s")
    print(f"{'':<34}{'requests':>9}{'per second':>12}{'median':>10}{'p99':>10}{'alone':>10}{'failed':>8}")
    for name, found in times.items():
        waited = f"{median(found) * 1000:7.1f} ms{quantiles(found, n=100)[98] * 1000:7.0f} ms"
        print(
            f"{name:<34}{len(found):>9,}{len(found) / given.seconds:>12,.0f}{waited}"
            f"{median(alone[name]) * 1000:7.1f} ms{failed[name]:>8}"
        )
    ratio = len(times["assay serve"]) / len(times["a constant, by the same server"])
    print(f"assay serve has {ratio:.2f} of the throughput of a constant answer")
    print(f"first answer: {median(starts):.2f} s of processor time (median of {STARTS}: {_range(starts)})")
    slow = median(alone["assay serve"]) >= ALONE or median(starts) > FIRST
    return 1 if slow or sum(failed.values()) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    if not (1 <= given.clients <= 200 and 1 <= given.seconds <= 600):
        parser.error("1 to 200 clients, 1 to 600 seconds")
    return given


def _serve() -> list[str]:
    folder = tempfile.mkdtemp(prefix="assay-bench-")
    return [sys.executable, "-m", "assay", "serve", "--no-open", "--data", folder]


@contextmanager
def _running(command: list[str]) -> Iterator[int]:
    """The port of a server, which ends with the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout or ():
                if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                    break
            else:
                sys.exit(f"the server did not start: {' '.join(command)}")
            yield int(found[1])
        finally:
            process.terminate()


async def _load(port: int, clients: int, seconds: float, seed: int) -> tuple[list[float], int]:
    """How long each answer took, and how many were wrong."""
    end = perf_counter() + seconds
    work = [_client(port, end, random.Random(seed * 1000 + number)) for number in range(clients)]
    found = await asyncio.gather(*work)
    return [each for times, _ in found for each in times], sum(wrong for _, wrong in found)


async def _client(port: int, end: float, draw: random.Random) -> tuple[list[float], int]:
    """Ask for one list after the other, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times, wrong = [], 0
    while perf_counter() < end:
        grades = ",".join(str(draw.randrange(4)) for _ in range(10))
        start = perf_counter()
        writer.write(f"GET /evaluator.json?grades={grades}&k=5 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(size[1])) if size else b"null"
        times.append(perf_counter() - start)
        wrong += not head.startswith(b"HTTP/1.1 200") or "schema" not in (json.loads(body) or {})
    writer.close()
    return times, wrong


def _first_answer() -> float:
    """Seconds of processor time from nothing to the first answer of the workbench, with its end."""
    before = _used()
    with _running(_serve()) as port:
        _, wrong = asyncio.run(_client(port, perf_counter() + 0.001, random.Random(1)))
    if wrong:
        sys.exit("the first answer was wrong")
    return _used() - before


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _range(times: list[float]) -> str:
    return f"{min(times):.2f} to {max(times):.2f}"


if __name__ == "__main__":
    sys.exit(main())
