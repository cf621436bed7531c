"""Results as a value, JSON and Markdown. Measures nothing."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cases import CASES, GROWTH, Case
from contest import Agreement
from datasets import DATASETS, GROWTH_LINES
from environments import PROJECT
from measure import Timing
from targets import Verdict


@dataclass(frozen=True)
class Results:
    """All results of one bench run."""

    about: Mapping[str, Any]
    agreements: Sequence[Agreement]
    timings: Mapping[str, Mapping[str, Timing]]  # case -> contestant -> timing
    verdicts: Sequence[Verdict]


def machine() -> dict[str, Any]:
    """The machine, its system and its load before the start."""
    with open("/proc/cpuinfo") as lines:
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 1e9),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
    }


def commit() -> str:
    """The commit of the work tree, with "-dirty" if files differ from it."""
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def as_json(results: Results) -> str:
    """All results with every single time, as JSON."""
    timings = {
        case: {
            name: {
                "median": timing.median,
                "spread": timing.spread,
                "peak_mb": timing.peak_mb,
                "seconds": [round(seconds, 7) for seconds in timing.seconds],
                "cpu": [round(seconds, 7) for seconds in timing.cpu],
            }
            for name, timing in contestants.items()
        }
        for case, contestants in results.timings.items()
    }
    document = {
        "schema": "assay/bench/1",
        **results.about,
        "verdicts": [asdict(verdict) for verdict in results.verdicts],
        "agreements": [asdict(agreement) for agreement in results.agreements],
        "timings": timings,
    }
    # A list of numbers on one line.
    return (
        re.sub(r"\[[\d\s.,e-]+\]", lambda found: re.sub(r"\s+", " ", found[0]), json.dumps(document, indent=1)) + "\n"
    )


def as_markdown(results: Results) -> str:
    """The results as Markdown."""
    parts = ["# Bench\n", about_lines(results.about)]
    if results.verdicts:
        parts += ["## Targets\n", verdict_table(results.verdicts)]
    for group in dict.fromkeys(case.group for case in CASES):
        cases = [case for case in CASES if case.group == group and case.name in results.timings]
        if cases:
            table = growth_table(results) if group == GROWTH else timing_table(cases, results)
            parts += [f"## {group}\n", table]
    parts += ["## Values\n", agreement_table(results.agreements)]
    return "\n".join(parts)


def about_lines(about: Mapping[str, Any]) -> str:
    """Date, machine and versions."""
    machine = about["machine"]
    versions = [
        f"- {name}: {', '.join(f'{package} {version}' for package, version in found.items())}"
        for name, found in about["versions"].items()
    ]
    return "\n".join(
        [
            f"{about['date']}, commit {about['commit']}. {machine['cpu']}, {machine['cores']} cores,"
            f" {machine['memory_gb']} GB, {machine['system']}; load before the start {machine['load']}.",
            f"Peak memory below {about['bench_memory_mb']} MB cannot be distinguished.\n",
            *versions,
            "",
        ]
    )


def verdict_table(verdicts: Iterable[Verdict]) -> str:
    """The targets and whether they were met."""
    rows = [(one.what, one.wanted, one.found, one.by_cpu, "pass" if one.holds else "**FAIL**") for one in verdicts]
    return table(["target", "wanted", "found", "by CPU time", ""], rows)


def timing_table(cases: Iterable[Case], results: Results) -> str:
    """A row per contestant; the last column is its time divided by ours."""
    rows = []
    for case in cases:
        found = results.timings[case.name]
        ours = found[case.ours.name].median
        for name, timing in found.items():
            low, high = timing.spread
            data = title_of(case) if name == case.ours.name else ""
            spread = f"{as_time(low)} to {as_time(high)}"
            ratio = "" if name == case.ours.name else f"{timing.median / ours:.3g}x"
            memory = f"{timing.peak_mb:,.0f} MB"
            times = as_time(timing.median), spread, as_time(timing.median_cpu), str(len(timing.seconds))
            rows.append((data, name, *times, memory, ratio))
    return table(["data", "", "median", "spread", "CPU time", "times", "peak memory", "to ours"], rows)


def title_of(case: Case) -> str:
    """The name of the case, and its data if it has any."""
    return case.name if case.ours.check is None else f"{case.name}: {DATASETS[case.dataset].about}"


def growth_table(results: Results) -> str:
    """Medians by the number of lines."""
    found = {lines: results.timings.get(f"growth {lines}", {}) for lines in GROWTH_LINES}
    names = list(dict.fromkeys(name for contestants in found.values() for name in contestants))
    rows = [
        (f"{lines:,}", *(as_time(contestants[name].median) if name in contestants else "" for name in names))
        for lines, contestants in found.items()
        if contestants
    ]
    return table(["lines", *names], rows) + "\n![Time against number of lines](growth.svg)\n"


def agreement_table(agreements: Iterable[Agreement]) -> str:
    """How the values of each contestant were compared with ours before timing; one row per contestant."""
    together: dict[tuple[str, str], list[Agreement]] = {}
    for one in agreements:
        together.setdefault((one.contestant, one.how), []).append(one)
    rows = []
    for (contestant, how), found in together.items():
        identical, values = sum(one.identical for one in found), sum(one.values for one in found)
        largest = max(one.largest_difference for one in found)
        cases = ", ".join(one.case for one in found)
        rows.append((contestant, how, f"{identical:,} of {values:,}", f"{largest:.1e}", cases))
    return table(["", "compared with ours", "identical values", "largest difference, means too", "cases"], rows)


def as_time(seconds: float) -> str:
    """Three digits and a unit.

    >>> as_time(0.000123), as_time(0.0456), as_time(7.891), as_time(123.4)
    ('0.123 ms', '45.6 ms', '7.89 s', '123 s')
    """
    value, unit = (seconds * 1000, "ms") if seconds < 1 else (seconds, "s")
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its columns aligned."""
    lines = [list(header), *map(list, rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "".join("| " + " | ".join(map(str.ljust, line, widths)) + " |\n" for line in lines)


def write(results: Results, folder: Path) -> list[Path]:
    """Write <date>.json and latest.md into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{results.about['date']}.json", folder / "latest.md"]
    paths[0].write_text(as_json(results))
    paths[1].write_text(as_markdown(results))
    return paths
