"""Measure which lines and branches the tests run, of the package and of the kernel: `make coverage`.

    python tests/covering/run.py [--kernel | --package] [PYTEST_ARGUMENT ...]

Writes tests/covering/results.json, from which `make docs` takes the figures of docs/quality.md. Everything else is in
build/coverage: `coverage html` shows the lines.
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
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
KERNEL_TESTS = ("tests/native", "tests/golden", "tests/unit/test_judged.py", "tests/unit/test_evaluation.py")
COUNTED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def run(*command: object, **variables: str) -> None:
    subprocess.run(list(map(str, command)), cwd=ROOT, env={**os.environ, **variables}, check=True)


def package(arguments: list[str]) -> dict[str, Any]:
    """The lines and branches of src/assay, all and by folder; tests that take long are left out, unless asked for."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    coverage = (sys.executable, "-m", "coverage")
    run(*coverage, "run", *PYTEST, *(arguments or ["-n", "2", "-m", "not slow"]))
    return report()


def report() -> dict[str, Any]:
    """The figures of the tests that were run."""
    coverage = (sys.executable, "-m", "coverage")
    if not (WORK / "data").exists():
        run(*coverage, "combine", "-q")
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
        run("g++", *flags, "-c", source, "-o", objects[-1])
    run("g++", "--coverage", "-shared", "-pthread", *objects, "-o", native / "_kernel.abi3.so")
    run(sys.executable, *PYTEST, *KERNEL_TESTS, PYTHONPATH=str(place))
    # Branches to the handling of exceptions, which the compiler adds to every call, are nobody's code.
    options = ("--exclude-throw-branches", "--exclude-unreachable-branches", "--json-summary", WORK / "kernel.json")
    run(sys.executable, "-m", "gcovr", "-r", native, *options, place)
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
    parser.add_argument("--report", action="store_true", help="only count what the last run of the package left")
    given, arguments = parser.parse_known_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    if not given.kernel:
        results["package"] = {"date": today, "folders": report() if given.report else package(arguments)}
    if not (given.package or given.report):
        results["kernel"] = {"date": today, **kernel()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    sys.stdout.write(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
