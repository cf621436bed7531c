"""A whole benchmark with a stage that asks a language model: interrupted, capped, gone on with, and without a trace of keys."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from click.testing import CliRunner

from assay.benchmark.preparing import prepare
from assay.benchmark.recipe import read_recipe
from assay.benchmark.running import run_benchmark
from assay.cli.commands.benchmark import command
from assay.errors import CapError
from assay.formats import read_run
from benchmark.collection import QUERIES, write_kitchen
from llm.serving import FakeServer, Reply, serving

pytest.importorskip("tantivy")

RECIPE = """\
collection = "kitchen"
modes = ["lexical", "graded"]
measures = ["nDCG@10"]
repeats = 1

[[mode]]
name = "graded"
kind = "llm-pointwise"
of = "lexical"
top = 3
model = "m"
endpoint = "{address}"
concurrency = 4
price_in = 1.0
price_out = 10.0
{more}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def plain_pages(monkeypatch):
    for files in ("evaluation_files", "benchmark_files"):
        monkeypatch.setattr(f"assay.benchmark.running.{files}", lambda report, details=None: {})


def by_length(prompt: str, before: int) -> Reply:
    """A model that likes short passages."""
    return Reply(str(3 - min(len(prompt.split("Passage: ")[1]) // 60, 3)))


def kitchen(folder, fake: FakeServer, more: str = ""):
    recipe = folder / "benchmark.toml"
    if not recipe.exists():
        write_kitchen(folder)
    recipe.write_text(RECIPE.format(address=fake.address, more=more))
    return recipe


def run(recipe, folder):
    return run_benchmark(prepare(read_recipe(recipe)), folder)


def work_of(report):
    return next(mode.work for mode in report.modes if mode.name == "graded")


def test_a_stage_that_reached_its_cap_goes_on_when_it_is_raised(tmp_path, plain_pages):
    with serving(by_length) as fake:
        for cap, asked in ((5, 5), (5, 5), (9, 9)):
            with pytest.raises(CapError, match=f"stopped before `max_requests` = {cap}"):
                run(kitchen(tmp_path, fake, f"max_requests = {cap}"), tmp_path / "out")
            assert asked == len(fake.requests)
        work = work_of(run(kitchen(tmp_path, fake, "max_requests = 100"), tmp_path / "out"))

        assert work.documents == work.requests == len(fake.requests) == len(set(fake.prompts))
        assert pytest.approx(work.requests * (100 + 10 * 10) / 1e6) == work.cost
        assert 0 == work.repaired


def test_another_benchmark_with_the_same_questions_asks_nothing(tmp_path, plain_pages):
    with serving(by_length) as fake:
        first = run(kitchen(tmp_path, fake), tmp_path / "one")
        asked = len(fake.requests)
        second = run(kitchen(tmp_path, fake), tmp_path / "two")

        assert asked == len(fake.requests)
        assert work_of(first) == work_of(second)
        runs = [(tmp_path / name / "runs/graded.run").read_bytes() for name in ("one", "two")]
        assert runs[0] == runs[1]


def test_the_key_is_in_no_file_and_no_output(tmp_path, key, capfd):
    with serving(lambda prompt, before: Reply(f"key {key}: 2") if before else Reply(key, status=500)) as fake:
        result = CliRunner().invoke(command, ["run", str(kitchen(tmp_path, fake)), "--output", str(tmp_path / "out")])

    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert 0 == result.exit_code, result.output
    assert len(written) > 20
    assert not [path for path, content in written.items() if key.encode() in content]
    assert key not in "".join([result.output, *capfd.readouterr()])
    assert {f"Bearer {key}"} == {headers["Authorization"] for headers in fake.headers}


@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_a_server_that_never_answers(tmp_path):
    with serving(Reply(hangs=True)) as fake:
        program = [sys.executable, "-m", "assay", "benchmark", "run", str(kitchen(tmp_path, fake)), "--output", "out"]
        process = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not fake.requests and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)

            assert 130 == process.wait(timeout=60)  # the time-out of a request is 120 seconds
        finally:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_benchmark_that_is_killed_asks_no_answered_question_again(tmp_path):
    """Killed twice while requests are on their way: only those may be asked twice, and the cap is kept."""
    questions = 3 * len(QUERIES)
    with serving(lambda prompt, before: Reply(by_length(prompt, before).text, seconds=0.05)) as fake:
        program = [sys.executable, "-m", "assay", "benchmark", "run", str(kitchen(tmp_path, fake, "max_requests = 60"))]
        program += ["--output", str(tmp_path / "out")]
        for asked in (2, 12):
            process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while len(fake.requests) < asked and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.wait()
        assert 0 == subprocess.run(program, check=False, stdout=subprocess.DEVNULL).returncode

        assert len(fake.requests) <= min(60, questions + 2 * 4)
        again = [prompt for prompt, times in Counter(fake.prompts).items() if times > 1]
        assert len(again) <= 2 * 4
        account = next((tmp_path / "out").rglob("spent.jsonl")).read_text()
        assert len(fake.requests) <= len(re.findall(r"^\[1,", account, re.MULTILINE))
        assert read_run(tmp_path / "out/runs/graded.run").queries
