"""Measure the wall time and peak memory of a process; run several in turn. Independent of tools and data."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

KIB = 1024
MB = 1_000_000


class ProcessFailed(Exception):
    """A measured process ended with an error."""


@dataclass(frozen=True)
class Sample:
    """One process: its wall time, or the times that it measured itself, and its peak memory."""

    wall: float  # seconds, from start to end
    seconds: tuple[float, ...]
    cpu: tuple[float, ...]  # CPU seconds, which do not include waiting
    peak_mb: float


@dataclass(frozen=True)
class Timing:
    """Several samples of the same work."""

    seconds: tuple[float, ...]
    cpu: tuple[float, ...]
    peak_mb: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def median_cpu(self) -> float:
        return statistics.median(self.cpu)

    @property
    def spread(self) -> tuple[float, float]:
        """Lowest and highest; of twenty or more, without the lowest and highest 5%."""
        ordered = sorted(self.seconds)
        cut = len(ordered) // 20
        return ordered[cut], ordered[len(ordered) - 1 - cut]


def run_process(command: Sequence[str], environ: dict[str, str], *, times_itself: bool) -> Sample:
    """Run a command. If it times itself, it prints its wall and CPU seconds as JSON."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()[-2000:]
            raise ProcessFailed(f"{' '.join(command)[:500]} ended with {process.returncode}:\n{said}")
        output.seek(0)
        found = json.loads(output.read()) if times_itself else ([wall], [usage.ru_utime + usage.ru_stime])
    return Sample(wall, *map(tuple, found), usage.ru_maxrss * KIB / MB)


def own_peak_mb() -> float:
    """The peak memory of this process. On Linux its children inherit it, so it must stay small."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB / MB


def in_turn(acts: dict[str, tuple[int, Callable[[], Sample]]]) -> dict[str, Timing]:
    """Run acts in turn, each the given number of times: first, second, first, second, and so on.

    Acts with fewer runs are spread over the rounds, so a noisy minute affects all of them.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in acts}
    rounds = max(repeats for repeats, _ in acts.values())
    for turn in range(rounds):
        for name, (repeats, act) in acts.items():
            if turn * repeats // rounds != (turn - 1) * repeats // rounds:
                show_progress(f"{name} {len(samples[name]) + 1}/{repeats}")
                samples[name].append(act())
    show_progress("")
    return {name: joined(found) for name, found in samples.items()}


def joined(samples: Sequence[Sample]) -> Timing:
    """All times of several samples, and the highest peak."""
    return Timing(
        tuple(seconds for sample in samples for seconds in sample.seconds),
        tuple(seconds for sample in samples for seconds in sample.cpu),
        max(sample.peak_mb for sample in samples),
    )


def show_progress(words: str) -> None:
    """Show progress on one line of the terminal; nothing if stderr is a file."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words}")
        sys.stderr.flush()
