"""Signals at random moments: a command ends quietly or is done, and what it writes is old or new."""

from __future__ import annotations

import random
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from benchmark.collection import write_collection
from faults.injecting import Stage, files_in, temporary_in
from faults.test_commands import GATE, INPUTS, ONE_MODE, whole_report

EVALUATE = ("evaluate", "qrels.txt", "my.run")
COMMANDS = {
    "evaluate": (*EVALUATE, "--report", "report", "-m", "AP"),
    "convert": ("runs", "convert", "my.run", "-o", "out.jsonl.gz"),
    "compare": ("compare", "qrels.txt", "my.run", "other.run", "--format", "html", "-o", "out.html"),
    "gate": (*GATE, "-o", "gate.txt"),
    "benchmark": ("benchmark", "run", "benchmark.toml", "--output", "out"),
}
SIGNALS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129, "SIGPIPE": None}
MOMENTS = 4  # of each signal


@pytest.fixture
def model(tmp_path, stage: Stage) -> Path:
    """The inputs, and an older report to replace and to compare with."""
    folder = tmp_path / "model"
    write_collection(folder / "kitchen")
    (folder / "benchmark.toml").write_text(ONE_MODE)
    for name, text in INPUTS.items():
        (folder / name).write_text(text)
    for report in ("report", "base"):
        assert 0 == stage.do((*EVALUATE, "-m", "RR", "-m", "AP", "--report", report), folder).status
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_it_in_order(name, model, stage, tmp_path):
    if name == "benchmark":
        pytest.importorskip("bm25s")
    folder = shutil.copytree(model, tmp_path / "whole")
    old = files_in(model)
    begun = time.monotonic()
    assert 0 == stage.do(COMMANDS[name], folder).status
    whole, new = time.monotonic() - begun, files_in(folder)
    draw = random.Random(name)

    for which, status in [(which, SIGNALS[which]) for which in SIGNALS for _ in range(MOMENTS)]:
        folder = shutil.copytree(model, tmp_path / "interrupted")
        after = draw.uniform(0, whole)
        met = stage.do(COMMANDS[name], folder, signal=int(signal.Signals[which]), after=after)

        # Before the first line of the command a signal has its usual effect.
        assert met.status in {0, status, -signal.Signals[which] if which != "SIGPIPE" else 0}, (which, after, met)
        assert not re.search("Traceback|Exception ignored|a fault in assay", met.err), (which, after, met)
        assert [] == temporary_in(folder), (which, after, met)
        assert_old_or_new(name, folder, old, new)
        if name == "benchmark":
            assert (0, 0) == (stage.do(COMMANDS[name], folder).status, stage.do(("verify", "out"), folder).status)
        shutil.rmtree(folder)


def assert_old_or_new(name: str, folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> None:
    found = files_in(folder)
    if name == "evaluate":
        assert whole_report(folder / "report") in ("RR", "AP")
    elif name != "benchmark":
        assert found in (old, new)
