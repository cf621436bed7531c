"""Change the code in many small ways, one at a time, and see whether a test notices: `make mutants`.

All tests of some folders are collected once and run once, to know which lines each of them runs. Then each mutant is made in
a forked process: the code of the functions that are already there is replaced, and the tests that run the changed line are
run, the fastest first, until one fails. So a mutant costs a fraction of a second.

    ASSAY_NATIVE=0 PYTHONPATH=tests python -m mutation.run [--sample N] [--seed N] [--only PART_OF_A_PATH] [--again] [--known]

Documents are joined by NumPy here: the kernel is fuzzed instead. Writes tests/mutation/results.json, from which `make docs` takes the figures of docs/quality.md. Survivors that are no gap in the
tests are listed in equivalent.toml, each with a reason.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import gc
import json
import os
import random
import resource
import signal
import stat
import sys
import time
import tomllib
import types
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import coverage
import pytest

from mutation.mutants import Mutant, mutants_of, mutated

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

GROUPS = {  # what is mutated, and the share of the sample
    "measures": (("measures",), 0.40),
    "joining": (("marking.py", "ranking.py", "judged.py", "sorting.py", "judges.py", "judgments.py"), 0.15),
    "comparison": (("comparison",), 0.25),
    "gate": (("gate",), 0.14),
    "files": (("files.py", "records/storing.py"), 0.06),
}
TESTS = ("unit", "laws", "golden", "comparison", "gate", "records/test_storing.py")
MOST_TESTS, SECONDS = 250, 30  # for one mutant: tests, and seconds of the processor
EXAMPLES = 15  # of each property
KILLED, SURVIVED, UNSEEN, EQUIVALENT, GONE = "killed", "survived", "not covered", "equivalent", "gone"


class Runner:
    """Runs the mutants where pytest would run the tests."""

    def __init__(self, mutants: list[tuple[str, Mutant]], *, known: bool) -> None:
        self.mutants, self.known = mutants, known
        self.found: list[dict[str, Any]] = []
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Fewer examples of each property: most mutants fall at the first."""
        import hypothesis  # its plugin wants to be imported by pytest first

        hypothesis.settings.register_profile(
            "mutation", hypothesis.settings.get_profile("assay"), max_examples=EXAMPLES
        )
        hypothesis.settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        seconds, tests_of = self.forked(lambda: self.survey(session.items))
        sys.stderr.write(f"{len(seconds)} tests pass, in {sum(seconds.values()):.0f} seconds\n")
        functions = [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]
        caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
        gc.freeze()
        for number, (group, mutant) in enumerate(self.mutants):
            names = {name for line in mutant.lines for name in tests_of.get(mutant.path, {}).get(line, ())}
            chosen = self.chosen_tests(names, seconds)
            outcome = self.outcome(mutant, [items[name] for name in chosen], functions, caches)
            self.found.append({"group": group, "outcome": outcome, "path": mutant.path, "key": mutant.key})
            if not stat.S_ISCHR(os.stat(os.devnull).st_mode):
                sys.exit(
                    f"{os.devnull} is not a device any more: mutant {mutant.key}. Never let a test write to a real device."
                )
            done = Counter(each["outcome"] for each in self.found)
            sys.stderr.write(
                f"{number + 1}/{len(self.mutants)} {dict(done)} {outcome}: {mutant.line} {mutant.key[:150]}\n"
            )
        return True

    def chosen_tests(self, names: set[str], seconds: dict[str, float]) -> list[str]:
        """The fastest ones, and for the last fifth some of the others, as tests of one function are not always fast."""
        ordered = sorted(names, key=lambda name: (seconds[name], name))
        fastest, others = ordered[: MOST_TESTS * 4 // 5], ordered[MOST_TESTS * 4 // 5 :]
        return fastest + random.Random(len(others)).sample(others, min(len(others), MOST_TESTS // 5))

    def survey(self, items: list[pytest.Item]) -> tuple[dict[str, float], dict[str, dict[int, list[str]]]]:
        """How long each test that passes takes, and the tests that run each line."""
        seconds: dict[str, float] = {}
        measured = coverage.Coverage(data_file=None, include=[str(ROOT / "src" / "*")], config_file=False)
        measured.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.failed = False
            measured.switch_context(item.nodeid)
            begun = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not self.failed:
                seconds[item.nodeid] = time.process_time() - begun
        measured.stop()
        data = measured.get_data()
        tests_of = {}
        for path in data.measured_files():
            lines = data.contexts_by_lineno(path).items()
            tests_of[str(Path(path).relative_to(ROOT))] = {
                line: [name for name in names if name in seconds] for line, names in lines
            }
        return seconds, tests_of

    def outcome(self, mutant: Mutant, items: list[pytest.Item], functions: list, caches: list) -> str:
        if not items:
            return UNSEEN
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            return SURVIVED if status == 0 else KILLED
        try:
            silence = os.open(os.devnull, os.O_RDWR)
            for number in (1, 2):
                os.dup2(silence, number)
            limit = int(time.process_time()) + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
            signal.alarm(10 * SECONDS)
            put_in_place(mutant, functions)
            for cached in caches:
                cached.cache_clear()
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    os._exit(1)
            os._exit(0)
        except BaseException:
            os._exit(1)  # it could not even be put in place, or tests came to a stop

    def forked(self, act):
        """What a function returns, in a process of its own, so that nothing of it stays in this one."""
        place = HERE / "survey.json"
        if not (self.known and place.exists()):
            child = os.fork()
            if not child:
                place.write_text(json.dumps(act()))
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        seconds, tests_of = json.loads(place.read_text())
        return seconds, {path: {int(line): names for line, names in lines.items()} for path, lines in tests_of.items()}


def put_in_place(mutant: Mutant, functions: list[types.FunctionType]) -> None:
    """Give all functions of the module their changed code."""
    path = str(ROOT / mutant.path)
    new: dict[tuple[str, int], types.CodeType] = {}

    def gather(code: types.CodeType) -> None:
        new[code.co_qualname, code.co_firstlineno] = code
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                gather(inner)

    gather(compile(mutated(Path(path).read_text(), mutant.place), path, "exec", dont_inherit=True))
    for function in functions:
        code = function.__code__
        if code.co_filename == path and (code.co_qualname, code.co_firstlineno) in new:
            function.__code__ = new[code.co_qualname, code.co_firstlineno]


def chosen_mutants(sample: int, seed: int, only: str) -> list[tuple[str, Mutant]]:
    """A sample of each group."""
    draw = random.Random(seed)
    chosen = []
    for group, (places, share) in GROUPS.items():
        paths = [path for place in places for path in sorted((ROOT / "src/assay").glob(place))]
        files = [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
        mutants = [mutant for file in files if only in str(file) for mutant in mutants_of(file, ROOT)]
        size = min(len(mutants), round(share * sample))
        chosen += [(group, mutant) for mutant in draw.sample(mutants, size)]
        sys.stderr.write(f"{group}: {size} of {len(mutants):,} mutants\n")
    draw.shuffle(chosen)  # so that a part of the sample is one too
    return chosen


def survivors_of(summary: dict[str, Any]) -> list[tuple[str, Mutant]]:
    """The survivors of the last time, found by what stays when lines move."""
    known = {
        mutant.key: mutant
        for path in {each["path"] for each in summary["survivors"]}
        for mutant in mutants_of(ROOT / path, ROOT)
    }
    return [(each["group"], known[each["key"]]) for each in summary["survivors"] if each["key"] in known]


def summarised(found: list[dict[str, Any]], seed: int, before: dict[str, Any] | None) -> dict[str, Any]:
    """Counts by group and the survivors; those of another time are replaced by what was found about them now."""
    equivalent = tomllib.loads((HERE / "equivalent.toml").read_text())["equivalent"]
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    if before is not None:
        groups |= {group: Counter(counts) for group, counts in before["groups"].items()}
        for each in before["survivors"]:
            groups[each["group"]][each["outcome"]] -= 1
        gone = {each["key"] for each in before["survivors"]} - {each["key"] for each in found}
        found = found + [{**each, "outcome": GONE} for each in before["survivors"] if each["key"] in gone]
    for each in found:
        if each["outcome"] != KILLED and each["key"] in equivalent:
            each["outcome"] = EQUIVALENT
        if each["outcome"] != GONE:
            groups[each["group"]][each["outcome"]] += 1
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seed": seed,
        "groups": {
            group: {name: count for name, count in sorted(counts.items()) if count} for group, counts in groups.items()
        },
        "survivors": [each for each in found if each["outcome"] in (SURVIVED, UNSEEN)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=800)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--only", default="", help="only modules with this in their path; the results are not kept")
    parser.add_argument("--again", action="store_true", help="only the survivors of the last time")
    parser.add_argument("--tests", nargs="*", default=TESTS, help="files and folders of tests/ to run")
    parser.add_argument("--known", action="store_true", help="which test runs which line is known from the last time")
    parser.add_argument("--most", type=int, help="stop after so many mutants")
    given = parser.parse_args()
    results = HERE / ("part.json" if given.only else "results.json")
    before = json.loads(results.read_text()) if given.again else None
    mutants = survivors_of(before) if before else chosen_mutants(given.sample, given.seed, given.only)
    runner = Runner(mutants[: given.most], known=given.known)
    options = ["-q", "--tb=no", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "addopts=", "-m", "not slow"]
    pytest.main(
        [*options, f"--rootdir={ROOT}", *(str(ROOT / "tests" / name) for name in given.tests)], plugins=[runner]
    )
    summary = summarised(runner.found, given.seed, before)
    results.write_text(json.dumps(summary, indent=1) + "\n")
    sys.stdout.write(json.dumps(summary["groups"], indent=1) + "\n")


if __name__ == "__main__":
    main()
