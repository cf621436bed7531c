"""Measure which lines and branches the tests run, of the package and of the kernel: `make coverage`.

    python tests/covering/run.py [--kernel | --package] [--add] [PYTEST_ARGUMENT ...]

Writes tests/covering/results.json, from which `make docs` takes the figures of docs/quality.md. Everything else is in
build/coverage: `coverage html` shows the lines. After new tests, `--add tests/FOLDER` adds what they run to what is there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "coverage"
RESULTS = HERE / "results.json"
# Properties with few examples: more of them run the same lines again.
PYTEST = ("-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--hypothesis-profile=coverage")
KERNEL_TESTS = ("tests/native",)
LEFT_OUT = (
    # They take long and run in processes that are killed, in other environments or, for the most part, in the kernel.
    *("--ignore=tests/faults", "--ignore=tests/packaging", "--ignore=tests/native"),
    "--ignore=tests/unit/test_interrupted_writes.py",  # traces the code itself, so that nothing after it is measured
    # What they measure changes with the measuring: the time that a command takes, and what is imported.
    "--deselect=tests/cli/test_bombs.py::test_text_of_strange_shapes_is_refused",
    "--deselect=tests/cli/test_report.py::test_an_evaluation_without_a_report_loads_nothing_of_it",
)
COUNTED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def run(*command: object, **variables: str) -> None:
    subprocess.run(list(map(str, command)), cwd=ROOT, env={**os.environ, **variables}, check=True)


def package(arguments: list[str], *, add: bool) -> bool:
    """Run the tests of src/assay, without those that take long unless asked for; whether they passed."""
    if not add:
        shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    try:
        run(sys.executable, "-m", "coverage", "run", *PYTEST, "-n", "2", "-m", "not slow", *LEFT_OUT, *arguments)
    except subprocess.CalledProcessError as error:
        if error.returncode != 1:  # 1: some tests failed, and what they ran counts all the same
            raise
        return False
    return True


def report() -> dict[str, Any]:
    """The lines and branches of src/assay that were run, all and by folder."""
    coverage = (sys.executable, "-m", "coverage")
    if parts := list(WORK.glob("data.*")):
        run(*coverage, "combine", "-q", "--append")
        for part in parts:
            part.unlink(missing_ok=True)  # torn, as its process was killed
    run(*coverage, "json", "-q", "-o", WORK / "report.json")
    files = json.loads((WORK / "report.json").read_text())["files"]
    folders: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTED, 0))
    for path, found in files.items():
        inside = Path(path).relative_to("src/assay")
        for folder in ("all", inside.parts[0] if len(inside.parts) > 1 else "modules without a folder"):
            for name in COUNTED:
                folders[folder][name] += found["summary"][name]
    return {folder: folders[folder] for folder in sorted(folders)}


def kernel() -> dict[str, int]:
    """The lines and branches of the kernel, by tests on a build that counts them."""
    place = WORK / "kernel"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "src/assay", place / "assay", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    native = place / "assay" / "native"
    include = f"-I{sysconfig.get_path('include')}"
    objects = []
    for source in sorted(native.glob("*.cpp")):
        objects.append(source.with_suffix(".o"))
        flags = ("-std=c++17", "-O0", "--coverage", "-fprofile-update=atomic", "-fPIC", "-pthread", include)
        # Nothing is inlined, so that a branch is counted where it is written and not wherever the compiler copies it.
        run("g++", *flags, "-Dalways_inline=unused", "-c", source, "-o", objects[-1])
    run("g++", "--coverage", "-shared", "-pthread", *objects, "-o", native / "_kernel.abi3.so")
    run(sys.executable, *PYTEST, *KERNEL_TESTS, PYTHONPATH=str(place))
    # Branches to the handling of exceptions, which the compiler adds to every call, are nobody's code. The instances of a
    # template count as one.
    options = ("--exclude-throw-branches", "--exclude-unreachable-branches", "--merge-lines")
    run(sys.executable, "-m", "gcovr", "-r", native, *options, "--json-summary", WORK / "kernel.json", place)
    found = json.loads((WORK / "kernel.json").read_text())
    return {
        "num_statements": found["line_total"],
        "covered_lines": found["line_covered"],
        "num_branches": found["branch_total"],
        "covered_branches": found["branch_covered"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kernel", action="store_true", help="only the kernel")
    parser.add_argument("--package", action="store_true", help="only the package")
    parser.add_argument("--add", action="store_true", help="add to what the last run of the package left")
    parser.add_argument("--report", action="store_true", help="only count what the last run of the package left")
    given, arguments = parser.parse_known_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    passed = True
    if not given.kernel:
        passed = given.report or package(arguments, add=given.add)
        results["package"] = {"date": today, "folders": report()}
    if not (given.package or given.add or given.report):
        results["kernel"] = {"date": today, **kernel()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    sys.stdout.write(json.dumps(results, indent=1) + "\n")
    if not passed:
        sys.exit("Some tests failed; what they ran is counted.")


if __name__ == "__main__":
    main()
