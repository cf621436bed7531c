"""Check the measurements against targets.toml. Measures nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from environments import OURS
from measure import Timing

Timings = Mapping[str, Mapping[str, Timing]]  # case -> contestant -> timing
TABLE = Path(__file__).resolve().parent / "targets.toml"


@dataclass(frozen=True)
class Target:
    """A target for one case; exactly one of the last four fields is set."""

    case: str
    ours: str = OURS
    against: str | None = None
    times_faster: float | None = None
    times_slower: float | None = None
    memory_mb: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Verdict:
    """A target in words, the measured value, and whether it was met."""

    what: str
    wanted: str
    found: str
    by_cpu: str  # the ratio of CPU times, for information: a busy machine affects it less
    holds: bool


def read_targets() -> list[Target]:
    """All targets, in the order of the file."""
    return [Target(**entry) for entry in tomllib.loads(TABLE.read_text())["target"]]


def verdicts(timings: Timings, slack: float = 1.0) -> list[Verdict]:
    """The verdict on each target that was measured. With a slack of 2, half of a ratio is enough."""
    return [verdict(target, timings[target.case], slack) for target in read_targets() if measured(target, timings)]


def measured(target: Target, timings: Timings) -> bool:
    """Whether all contestants of the target were measured."""
    return {target.ours, target.against or target.ours} <= set(timings.get(target.case, {}))


def verdict(target: Target, timings: Mapping[str, Timing], slack: float) -> Verdict:
    """The verdict on one target."""
    ours = timings[target.ours]
    what = target.case if target.ours == OURS else f"{target.case}, {target.ours.removeprefix(OURS + ', ')}"
    if target.memory_mb is not None:
        most = target.memory_mb * slack
        return Verdict(f"{what}: peak memory", f"≤ {most:g} MB", f"{ours.peak_mb:.0f} MB", "", ours.peak_mb <= most)
    if target.seconds is not None:
        longest, took = target.seconds * slack, ours.median
        return Verdict(what, f"≤ {longest:g} s", f"{took:.3g} s", f"{ours.median_cpu:.3g} s", took <= longest)
    theirs = timings[str(target.against)]
    what = f"{what} against {target.against}"
    if target.times_slower is not None:
        most = target.times_slower * slack
        ratio, by_cpu = ours.median / theirs.median, ours.median_cpu / theirs.median_cpu
        return Verdict(what, f"≤ {most:g}x its time", f"{ratio:.3g}x", f"{by_cpu:.3g}x", ratio <= most)
    least = float(target.times_faster or 0) / slack
    ratio, by_cpu = theirs.median / ours.median, theirs.median_cpu / ours.median_cpu
    return Verdict(what, f"≥ {least:g}x as fast", f"{ratio:.3g}x", f"{by_cpu:.3g}x", ratio >= least)
