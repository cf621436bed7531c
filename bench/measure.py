"""Run a process and take its wall time and peak memory; run several in turn. Knows no tool and no data."""

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
    """What one process took: its wall time, or the times that it took of itself, and the most memory it held."""

    wall: float  # seconds, from start to end
    seconds: tuple[float, ...]
    cpu: tuple[float, ...]  # seconds on processors, which waiting for a busy machine does not raise
    peak_mb: float


@dataclass(frozen=True)
class Timing:
    """Several samples of the same thing as one."""

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
        """Lowest and highest; of twenty and more, without the highest and lowest twentieth."""
        ordered = sorted(self.seconds)
        cut = len(ordered) // 20
        return ordered[cut], ordered[len(ordered) - 1 - cut]


def run_process(command: Sequence[str], environ: dict[str, str], *, times_itself: bool) -> Sample:
    """Run a command to its end. One that times itself prints JSON: its seconds, and its seconds on processors."""
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
    """The most memory of this process. Linux gives it to its children as their least, so it must stay small."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB / MB


def in_turn(acts: dict[str, tuple[int, Callable[[], Sample]]]) -> dict[str, Timing]:
    """Run acts in turn, each as often as it says: first, second, first, second, and so on.

    What is run less often is spread over the rounds, so that a noisy minute strikes all alike.
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
    """All times of several samples, and the highest of their peaks."""
    return Timing(
        tuple(seconds for sample in samples for seconds in sample.seconds),
        tuple(seconds for sample in samples for seconds in sample.cpu),
        max(sample.peak_mb for sample in samples),
    )


def show_progress(words: str) -> None:
    """Say what is going on, in one line of the terminal; nothing where stderr is a file."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{words}")
        sys.stderr.flush()
