"""Run the contestants of a case: first to check that their values agree, then in turn to time them."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cases import PROGRAMS, Case, Contestant
from datasets import FOLDER, Dataset, read_anew
from environments import OURS, plain_environ
from measure import ProcessFailed, Sample, Timing, in_turn, run_process, show_progress

LEAST = 3  # runs, however slow

# How the values of a contestant are compared with ours, and whether they must agree bit for bit.
CHECKS: dict[str, tuple[str, bool]] = {
    "all": ("every query, bit for bit", True),
    "untied": ("queries without equal scores, within 1e-9 (it orders equal scores in its own way)", False),
    "means": ("means, within 1e-9", False),
}
TOLERANCE = 1e-9  # for all means too: tools add in different orders


@dataclass(frozen=True)
class Agreement:
    """How far the values of a contestant agree with ours."""

    case: str
    contestant: str
    how: str
    values: int
    identical: int
    largest_difference: float
    agrees: bool


@dataclass(frozen=True)
class Machinery:
    """Interpreters and limits for a contest."""

    interpreters: Mapping[str, str]  # by environment
    repeats: int  # most runs of a contestant
    seconds: float  # approximate total time per contestant: slow ones run less often

    def run(self, case: Case, contestant: Contestant, data: Dataset, kept: str = "-") -> Sample:
        """One run of a contestant; with `kept`, it writes its values there and does not time itself."""
        command = contestant.command(self.interpreters[contestant.environment], data, kept)
        environ = {**plain_environ(), **contestant.environ}
        return run_process(command, environ, times_itself=case.warm and kept == "-")


def check(case: Case, data: Dataset, machinery: Machinery) -> tuple[list[Agreement], dict[str, float]]:
    """How far the values agree, and the seconds that one run of each contestant took."""
    found: list[Agreement] = []
    took: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        ours, theirs = str(Path(folder) / "ours.npz"), str(Path(folder) / "theirs")
        for contestant in case.contestants:
            show_progress(f"checking {case.name}: {contestant.name}")
            if contestant.check is None:
                took[contestant.name] = machinery.run(case, contestant, data).wall
                continue
            kept = ours if contestant.check == "reference" else theirs
            took[contestant.name] = machinery.run(case, contestant, data, kept).wall
            if contestant.check != "reference":
                found.append(agreement(case, contestant, machinery, [ours, theirs, *data.runs]))
    show_progress("")
    return found, took


def agreement(case: Case, contestant: Contestant, machinery: Machinery, paths: list[str]) -> Agreement:
    """Compare two files of values in a separate process, to keep this one small (see measure.own_peak_mb)."""
    how = str(contestant.check)
    command = [machinery.interpreters[OURS], str(PROGRAMS / "compare_values.py"), how, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words, exact = CHECKS[how]
    if done.returncode:
        raise ProcessFailed(f"{case.name}, {contestant.name}: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    agrees = report["largest_difference"] <= TOLERANCE and (not exact or report["identical"] == report["values"])
    return Agreement(case=case.name, contestant=contestant.name, how=words, agrees=agrees, **report)


def race(case: Case, data: Dataset, machinery: Machinery, took: Mapping[str, float]) -> dict[str, Timing]:
    """The times of all contestants of a case, run in turn."""
    read_anew(data)

    def act(contestant: Contestant) -> Callable[[], Sample]:
        return lambda: machinery.run(case, contestant, data)

    return in_turn({one.name: (repeats(took[one.name], machinery), act(one)) for one in case.contestants})


def repeats(seconds: float, machinery: Machinery) -> int:
    """The number of runs for a contestant that takes this long.

    >>> [repeats(seconds, Machinery({}, 15, 30)) for seconds in (0.2, 7, 40)]
    [15, 5, 3]
    """
    return min(machinery.repeats, max(LEAST, math.ceil(machinery.seconds / seconds)))
