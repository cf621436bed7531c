"""Run the bench: install the tools, generate the data, check that values agree, measure times, and check the targets.

usage: python bench/run.py [--short | --large] [--only CASE,...] [--peers NAME,...] [--repeats N] [--out FOLDER]

This process loads no data and imports only the standard library: its own peak is the lowest memory that can be measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import datasets
import environments
import report
from cases import CASES, GROWTH, PEERS, Case
from contest import Machinery, check, race
from environments import OURS
from measure import ProcessFailed, own_peak_mb
from targets import verdicts

RESULTS = Path(__file__).resolve().parent / "results"
SECONDS, SHORT_SECONDS = 30, 4  # approximate total time of each contestant of a case
SHORT_NAMES = ("assay", "pytrec_eval")
SHORT_SLACK = 2.0  # half of a ratio is enough on noisy machines


def main() -> int:
    """Run the bench; exit code 1 if a target is missed or values differ."""
    options = parse_options()
    cases = chosen_cases(options)
    interpreters = chosen_interpreters(options, cases)
    machinery = Machinery(interpreters, options.repeats, SHORT_SECONDS if options.short else SECONDS)
    about = {
        "date": datetime.now().date().isoformat(),
        "commit": report.commit(),
        "machine": report.machine(),
        "versions": {name: environments.versions(python) for name, python in interpreters.items()},
    }
    data = {name: make_data(name, interpreters[OURS]) for name in dict.fromkeys(case.dataset for case in cases)}

    agreements, took = [], {}
    for case in cases:
        say(f"Checking {case.name} ...")
        found, took[case.name] = check(case, data[case.dataset], machinery)
        agreements += found
    wrong = [one for one in agreements if not one.agrees]
    if wrong:
        sys.stdout.write(report.agreement_table(wrong))
        say("The values above differ; nothing was timed.")
        return 1

    timings = {}
    for case in cases:
        say(f"Timing {case.name} ...")
        timings[case.name] = race(case, data[case.dataset], machinery, took[case.name])
    about["bench_memory_mb"] = round(own_peak_mb())
    results = report.Results(about, agreements, timings, verdicts(timings, SHORT_SLACK if options.short else 1.0))
    sys.stdout.write(report.as_markdown(results))
    keep(results, options)
    return 0 if all(one.holds for one in results.verdicts) else 1


def parse_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--short",
        action="store_true",
        help="one minute, with this interpreter's pytrec_eval; accepts half of each target",
    )
    size.add_argument(
        "--large", action="store_true", help="add L: a million queries, 1.3 GB; pytrec_eval needs 6 GB of memory"
    )
    parser.add_argument(
        "--large-peers", action="store_true", help="run L with ir_measures and ranx too: many minutes, 12 GB"
    )
    parser.add_argument("--no-growth", action="store_true", help="skip the growth cases (time by number of lines)")
    parser.add_argument(
        "--only", metavar="CASE,...", help="run only these cases: " + ", ".join(case.name for case in CASES)
    )
    parser.add_argument("--peers", default=",".join(PEERS), help="compare only with these (default: %(default)s)")
    parser.add_argument("--repeats", type=int, help="most runs of each contestant (default: 25, short 8)")
    parser.add_argument("--assay-python", metavar="PATH", help="an interpreter with assay, instead of installing it")
    parser.add_argument(
        "--out", type=Path, help="folder for the results (default: bench/results, only if all cases ran)"
    )
    options = parser.parse_args()
    options.repeats = options.repeats or (8 if options.short else 25)
    return options


def chosen_cases(options: argparse.Namespace) -> list[Case]:
    """The requested cases, each with its contestants."""
    modes = {"short", "only-short"} if options.short else {"short", "full"}
    modes |= {"large"} if options.large or options.large_peers else set()
    modes |= {"growth"} if not options.no_growth and not options.short else set()
    only = options.only.split(",") if options.only else None
    unknown = set(only or ()) - {case.name for case in CASES}
    if unknown:
        sys.exit(
            f"no case called {', '.join(sorted(unknown))}; the cases are: {', '.join(case.name for case in CASES)}."
        )
    cases = [case for case in CASES if (case.name in only if only else case.mode in modes)]
    return [with_contestants(case, options) for case in cases]


def with_contestants(case: Case, options: argparse.Namespace) -> Case:
    """The case with its contestants: ours and the requested peers; in the short bench only pytrec_eval."""
    environments_asked = {OURS, *options.peers.split(",")}
    if case.mode == "large" and not options.large_peers:
        environments_asked -= {"ir_measures", "ranx"}
    taking_part = [one for one in case.contestants if one.environment in environments_asked]
    if options.short:
        taking_part = [one for one in taking_part if one.name in SHORT_NAMES]
    return replace(case, contestants=tuple(taking_part))


def chosen_interpreters(options: argparse.Namespace, cases: list[Case]) -> dict[str, str]:
    """The interpreter of each environment in use. The short bench installs nothing and uses this one."""
    needed = dict.fromkeys([OURS, *(one.environment for case in cases for one in case.contestants)])
    given = dict.fromkeys(needed, sys.executable) if options.short else {}
    given |= {OURS: options.assay_python} if options.assay_python else {}
    return {name: given.get(name) or environments.ready(name) for name in needed}


def make_data(name: str, python: str) -> datasets.Dataset:
    """The data set; says so if it must be generated first."""
    if not datasets.DATASETS[name].folder.exists():
        say(f"Generating data {name} ...")
    return datasets.make(name, python)


def keep(results: report.Results, options: argparse.Namespace) -> None:
    """Write the results and the chart; for a subset of the cases only if a folder was given."""
    folder = options.out or (None if options.short or options.only else RESULTS)
    if folder is None:
        return
    written = report.write(results, folder)
    if any(case.group == GROWTH for case in CASES if case.name in results.timings):
        written.append(folder / "growth.svg")
        plot = Path(__file__).resolve().parent / "plot.py"
        subprocess.run([environments.ready("plot"), str(plot), str(written[0]), str(written[-1])], check=True)
    say("Written: " + ", ".join(map(str, written)))


def say(words: str) -> None:
    """Print a message to the user."""
    sys.stderr.write(words + "\n")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ProcessFailed as error:
        sys.exit(str(error))
