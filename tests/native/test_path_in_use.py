"""Which path is in use, how to turn the kernel off, and that only the speed depends on it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from assay import Evaluator, __version__, native
from assay.example import QRELS, RUNS
from assay.formats.unread import FileRun, open_run, read_judgments
from assay.tables import Run
from cli.command import assay
from native.paths import NEEDS_KERNEL, both_paths, kernel_and_numpy, values

OFF = {"ASSAY_NATIVE": "0"}
ON = {"ASSAY_NATIVE": "1"}


@NEEDS_KERNEL
def test_the_version_says_which_path_is_in_use() -> None:
    assert f"assay, version {__version__} (native kernel)\n" == assay("--version", env=ON).stdout
    assert f"assay, version {__version__} (NumPy, ASSAY_NATIVE=0)\n" == assay("--version", env=OFF).stdout


def test_a_kernel_that_is_not_built_is_no_error() -> None:
    with patch.object(native, "import_module", side_effect=ImportError):
        assert native._load() is None
    with patch.object(native, "kernel", None):
        assert "NumPy, kernel not built" == native.path_in_use()
        assert not native.enabled()


@NEEDS_KERNEL
def test_only_0_turns_the_kernel_off() -> None:
    for value in ("", "1", "yes"):
        assert "(native kernel)" in assay("--version", env={"ASSAY_NATIVE": value}).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--format", "json", "--per-query"),
        ("--format", "json", "--like", "trec_eval-9", "-m", "AP", "-m", "nDCG@5", "-m", "P@3"),
        ("--format", "json", "--ties", "expected", "-m", "nDCG@5", "-m", "RR"),
        ("--format", "json", "--preset", "beir", "--threads", "2"),
        ("--format", "table", "-m", "AP", "-m", "Hole@5"),
        ("--format", "trec", "-m", "official"),
    ],
)
@NEEDS_KERNEL
def test_the_command_prints_the_same_on_both_paths(arguments: tuple[str, ...]) -> None:
    by_kernel = assay("evaluate", QRELS, *RUNS, *arguments, env=ON)
    by_numpy = assay("evaluate", QRELS, *RUNS, *arguments, env=OFF)

    assert (0, "") == (by_numpy.returncode, by_numpy.stderr)
    assert (by_numpy.stdout, by_numpy.stderr) == (by_kernel.stdout, by_kernel.stderr)
    assert json.loads(by_kernel.stdout) if "json" in arguments else by_kernel.stdout


@NEEDS_KERNEL
def test_the_command_refuses_in_the_same_words(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.run"
    wrong.write_text(Path(RUNS[0]).read_text() + "q Q0 d 1 nan t\n")
    arguments = ("evaluate", QRELS, wrong)
    by_kernel, by_numpy = assay(*arguments, env=ON), assay(*arguments, env=OFF)

    assert f"{wrong}:" in by_numpy.stderr
    assert (2, by_numpy.stderr) == (by_kernel.returncode, by_kernel.stderr)


@NEEDS_KERNEL
def test_standard_input_is_read_on_both_paths() -> None:
    run = Path(RUNS[0]).read_bytes()
    for text in (run, run + run.splitlines(keepends=True)[0], run.replace(b"\n", b"\r\n"), b""):
        by_kernel, by_numpy = (
            assay("evaluate", QRELS, "-", "--format", "json", stdin=text, env=env) for env in (ON, OFF)
        )
        assert (by_numpy.returncode, by_numpy.stdout, by_numpy.stderr) == (
            by_kernel.returncode,
            by_kernel.stdout,
            by_kernel.stderr,
        )


WITHOUT_KERNEL = """
import sys
sys.modules["assay.native._kernel"] = None  # as if it was not built
from assay import evaluate
from assay.native import path_in_use
print(path_in_use(), evaluate(sys.argv[1], sys.argv[2], ["AP", "nDCG@5"]).values.tolist(), sep=";")
print(evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 2}}, ["RR"]).mean()["RR"])
"""


def test_everything_works_without_the_kernel() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_KERNEL, QRELS, RUNS[0]], capture_output=True, text=True, check=True
    )
    expected = values(QRELS, RUNS[0], ["AP", "nDCG@5"]).values.tolist()

    assert f"NumPy, kernel not built;{expected}\n0.5\n" == done.stdout


@NEEDS_KERNEL
def test_turned_off_it_is_not_called() -> None:
    with patch.object(native, "turned_off", True):
        assert isinstance(open_run(RUNS[0]), Run)
        assert read_judgments(QRELS).kept_index is None
        assert read_judgments(QRELS).index is None
    with patch.object(native, "turned_off", False):
        assert isinstance(open_run(RUNS[0]), FileRun)
        assert read_judgments(QRELS).kept_index is not None


@NEEDS_KERNEL
def test_judgments_of_one_path_serve_the_other() -> None:
    """A notebook may turn the kernel off between two cells."""
    with patch.object(native, "turned_off", False):
        evaluator = Evaluator(QRELS, ["AP", "nDCG@5"])
        runs = [RUNS[0], *(open_run(run) for run in RUNS)]
    for run in runs:
        by_kernel, by_numpy = kernel_and_numpy(lambda: evaluator.evaluate(run))  # noqa: B023
        assert by_numpy == by_kernel
    with patch.object(native, "turned_off", True):
        other = Evaluator(QRELS, ["AP", "nDCG@5"])
    by_kernel, by_numpy = both_paths(lambda: other.evaluate(RUNS[0]))
    assert by_numpy == by_kernel


@NEEDS_KERNEL
def test_judgments_can_be_sent_to_another_process() -> None:
    """The kernel's index cannot be pickled; it is rebuilt in the other process."""

    def sent() -> Any:
        evaluator = Evaluator(QRELS, ["AP", "nDCG@5"])
        evaluator.evaluate(RUNS[0])
        evaluator.judgments = pickle.loads(pickle.dumps(evaluator.judgments))
        return evaluator.evaluate(RUNS[0])

    by_kernel, by_numpy = both_paths(sent)
    assert by_numpy == by_kernel
