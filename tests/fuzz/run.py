"""Give all readers damaged and hostile input, and look for anything but a value or an error of our own.

    python tests/fuzz/run.py --seconds 600                 all readers, some time for each
    python tests/fuzz/run.py --executions 100000           all readers, as often
    python tests/fuzz/run.py --only json,dicts             some of them
    python tests/fuzz/run.py --replay                      only the seeds, in all ways
    python tests/fuzz/run.py --input FILE --only json      one input, in all ways

Inputs are made from the seeds by random changes that depend on --seed alone. An input that does something new is kept to
start from. Each reader has a process of its own, so that a crash ends only that one. What is found is written into a folder
with the input; copy that into seeds/READER when it is mended. The exit code is 0 only if nothing was found.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from assay.errors import NameWarning

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for the modules of this folder
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")

HANGS = 5.0  # seconds of the processor for one input
STUCK = 120  # seconds of waiting after which a process that does not answer is ended
MEMORY = 3 << 30  # bytes beyond those of the start
MOST_NEW = 400  # inputs that are kept because they do something new
MOST_FINDINGS = 20  # of one reader
FORGOTTEN = re.compile(r"'[^']*'|\"[^\"]*\"|[0-9.]+|\\x..|b'[^']*'")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Hang(BaseException):
    """An input took too long."""


# One reader


def fuzz_reader(name: str, seconds: float, given: argparse.Namespace, findings: Path, folder: Path) -> None:
    """Fuzz one reader; writes its findings and its figures."""
    from fuzz import readers
    from fuzz.mutating import Mutator

    warnings.simplefilter("error")  # those of libraries would surprise users
    warnings.filterwarnings("ignore", category=NameWarning)  # for users
    reader = readers.READERS[name]
    os.chdir(folder)
    desk = readers.Desk(folder, always_in_full=given.replay)
    seeds = readers.seeds_of(reader, desk)
    chance = Random(f"{given.seed} {name}")
    mutator = Mutator(seeds, reader.tokens, chance)
    limit_memory()
    box, found = Box(folder / "last-input"), Findings(findings, name)
    known: set[str] = set()
    start = time.monotonic()
    executions = 0
    for data, way in (
        replayed(seeds, reader.ways, given)
        if given.replay
        else made(mutator, reader.ways, given.executions, start + seconds)
    ):
        box.put(data, way)
        new = found.watch(lambda: reader.act(desk, data, way), data, way)  # noqa: B023
        executions += 1
        if new is not None and len(known) < MOST_NEW and new not in known:
            known.add(new)
            mutator.keep(data)
    figures = {"executions": executions, "seconds": round(time.monotonic() - start, 1), "findings": found.count}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    row = {"reader": name, "seeds": len(seeds), **figures, "kinds": len(known), "peak_mb": peak}
    (folder / "figures").write_text(json.dumps(row))


def replayed(seeds: list[bytes], ways: int, given: argparse.Namespace) -> Iterator[tuple[bytes, int]]:
    inputs = [Path(given.input).read_bytes()] if given.input else seeds
    yield from ((data, way) for data in inputs for way in range(ways))


def made(mutator: Any, ways: int, executions: int, end: float) -> Iterator[tuple[bytes, int]]:
    """New inputs; the way depends on the input, so that it can be found again."""
    for number in range(executions or sys.maxsize):
        if not executions and number % 16 == 0 and time.monotonic() > end:
            return
        data = mutator.next()
        yield data, zlib.crc32(data) % ways


def limit_memory() -> None:
    if SANITIZED:
        return  # it reserves all the address space
    used = int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text())[1]) << 10  # type: ignore[index]
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


class Box:
    """The last input, in a file that outlives a crash."""

    SIZE = 1 << 16

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"\0" * self.SIZE)
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), self.SIZE)

    def put(self, data: bytes, way: int) -> None:
        head = b"%d %d\n" % (way, len(data))
        self._memory[: len(head)] = head
        self._memory[len(head) : len(head) + len(data)] = data

    @staticmethod
    def content(path: Path) -> tuple[bytes, int]:
        head, _, rest = path.read_bytes().partition(b"\n")
        way, size = map(int, head.split())
        return rest[:size], way


class Findings:
    """Watches each input, and writes down what should not happen, once for each place."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._known: set[str] = set()
        signal.signal(signal.SIGPROF, self._ring)

    @property
    def count(self) -> int:
        return len(self._known)

    @staticmethod
    def _ring(*_: Any) -> None:
        raise Hang(f"takes more than {HANGS:g} seconds")

    def watch(self, act: Any, data: bytes, way: int) -> str | None:
        """What kind of outcome it is, or None for a finding."""
        signal.setitimer(signal.ITIMER_PROF, HANGS * (10 if SANITIZED else 1))
        try:
            result = act()
        except (Exception, Hang) as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._write(error, data, way)
            return None
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return kind_of(result)

    def _write(self, error: BaseException, data: bytes, way: int) -> None:
        place = "".join(traceback.format_tb(error.__traceback__)[-1:])
        key = f"{type(error).__name__} {place} {kind_of(str(error))[:60]}"
        if key in self._known or len(self._known) >= MOST_FINDINGS:
            return
        self._known.add(key)
        trace = "".join(traceback.format_exception(error))
        write_finding(self._folder, self._name, data, way, trace)


def write_finding(folder: Path, name: str, data: bytes, way: int, words: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{hashlib.sha256(data).hexdigest()[:10]}"
    path.write_bytes(data)
    path.with_name(path.name + ".txt").write_text(f"reader {name}, way {way}\n{words}", errors="backslashreplace")
    last = words.strip().splitlines()[-1][:300] if words.strip() else ""
    say(f"fuzz: {name}: FOUND {last.encode('ascii', 'backslashreplace').decode()} ({path})")


def kind_of(result: Any) -> str:
    """An outcome without what differs from input to input."""
    if isinstance(result, str):
        return FORGOTTEN.sub("", result)[:200]
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], str):
        return f"{kind_of(result[0])} {result[1]}"
    if hasattr(result, "unjudged"):
        counts = len(result.queries), len(result.columns[1]) // 8, len(result.missing), len(result.unjudged)
        return f"ranked {[min(count, 6) for count in counts]} {result.tag != ''}"
    if hasattr(result, "coverage"):
        coverage = result.coverage
        return f"values {coverage.tied} {coverage.without_relevant} {coverage.answered} {min(coverage.longest, 12)}"
    try:
        return FORGOTTEN.sub("", repr(result))[:200]
    except ValueError:  # a number of thousands of digits
        return type(result).__name__


# All readers


def run_all(given: argparse.Namespace) -> int:
    from fuzz import readers

    names = given.only.split(",") if given.only else list(readers.READERS)
    unknown = [name for name in names if name not in readers.READERS]
    if unknown:
        raise SystemExit(f"fuzz: no reader called {unknown[0]}; they are {', '.join(readers.READERS)}")
    findings = Path(given.findings or tempfile.mkdtemp(prefix="assay-fuzz-findings-")).resolve()
    share = given.seconds / len(names)
    found, rows = 0, []
    for name in names:
        figures, failed = run_one(name, share, given, findings)
        found += failed
        rows.append(figures)
        if figures:
            say(
                "fuzz: {reader:10} {executions:8} executions in {seconds:6} s, {kinds} kinds of outcome".format(
                    **figures
                )
            )
    if given.figures:
        Path(given.figures).write_text("".join(json.dumps(row) + "\n" for row in rows if row))
    total = sum(row["executions"] for row in rows if row)
    if found:
        say(f"fuzz: FOUND SOMETHING in {found} of {len(names)} readers, {total} executions; see {findings}")
    else:
        say(f"fuzz: nothing found in {total} executions of {len(names)} readers, seed {given.seed}")
        if not given.findings:
            shutil.rmtree(findings)
    return 1 if found else 0


def run_one(name: str, seconds: float, given: argparse.Namespace, findings: Path) -> tuple[dict[str, Any], bool]:
    """A reader in a process of its own; its figures, and whether it found something."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix=f"assay-fuzz-{name}-", dir=memory if memory.is_dir() else None
    ) as made_folder:
        folder = Path(made_folder)
        child = multiprocessing.get_context("fork").Process(
            target=fuzz_reader, args=(name, seconds, given, findings, folder), daemon=True
        )
        child.start()
        child.join(None if given.executions or given.replay else seconds + STUCK)
        if child.exitcode is None:
            child.kill()
            child.join()
        if (folder / "figures").exists():
            figures = json.loads((folder / "figures").read_text())
            return figures, figures["findings"] > 0
        if not (folder / "last-input").exists():
            say(f"fuzz: {name}: could not be started: exit code {child.exitcode}")
            return {}, True
        data, way = Box.content(folder / "last-input")
        write_finding(findings, name, data, way, f"the process ended with exit code {child.exitcode}")
        return {}, True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="for all readers together (default: 600)")
    parser.add_argument("--executions", type=int, default=0, help="for each reader, however long that takes")
    parser.add_argument("--only", help="names of readers, with commas")
    parser.add_argument("--seed", type=int, default=1, help="of all random changes (default: 1)")
    parser.add_argument("--findings", help="the folder for what is found")
    parser.add_argument("--figures", help="a file for the figures, one line of JSON for each reader")
    parser.add_argument("--replay", action="store_true", help="only the seeds, each in all ways")
    parser.add_argument("--input", help="a file to try in all ways")
    given = parser.parse_args()
    given.replay = given.replay or bool(given.input)
    given.input = given.input and os.path.abspath(given.input)
    return run_all(given)


if __name__ == "__main__":
    sys.exit(main())
