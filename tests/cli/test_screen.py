"""What a command prints for two runs fits on one screen: 80 columns, and 25 lines unless more was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

from assay.example import QRELS, RUNS
from assay.report.drawing.terminal import FALLBACK_WIDTH
from benchmark.collection import write_collection
from cli.command import assay, on_terminal
from cli.test_commands import all_commands

WIDTH, HEIGHT = 80, 25
SIZE = {"COLUMNS": str(WIDTH)}

LONG_NAME = "all-settings-of-a-system-with-many-parts-in-its-name-and-then-its-depth"
WIDE_NAME = "全文検索とベクトル検索を組み合わせたシステム"  # each character takes two columns

# The usual call of each command; what it prints for two runs has at most 25 lines
ON_ONE_SCREEN = {
    "evaluate": ("qrels.txt", "keyword.run", "hybrid.run"),
    "compare": ("qrels.txt", "keyword.run", "hybrid.run"),
    "leaderboard": ("qrels.txt", "keyword.run", "hybrid.run"),
    "diagnose": ("qrels.txt", "keyword.run", "hybrid.run"),
    "gate": (
        *("--qrels", "qrels.txt", "--baseline", "keyword.run", "--candidate", "hybrid.run"),
        *("--rule", "nDCG@10 >= -0.01", "--rule", "AP >= -0.01"),
    ),
    "reproduce": ("0.52", "qrels.txt", "keyword.run"),
    "conventions": ("qrels.txt", "keyword.run"),
    "demo": (),
    "verify": ("report",),
    "runs validate": ("keyword.run", "--qrels", "qrels.txt"),
    "runs info": ("keyword.run",),
    "runs diff": ("keyword.run", "hybrid.run", "--qrels", "qrels.txt"),
    "runs convert": ("keyword.run", "-o", "out.csv"),
    "runs fuse": ("keyword.run", "hybrid.run", "-o", "fused.run"),
    "runs collapse": ("keyword.run", "--regex", ".+", "-o", "collapsed.run"),
    "runs fetch": ("--command", "echo a", "--queries", "queries.tsv", "-o", "fetched.run"),
    "qrels validate": ("qrels.txt",),
    "qrels info": ("qrels.txt",),
    "qrels convert": ("qrels.txt", "-o", "out-qrels.csv"),
    "qrels sample": ("qrels.txt", "--share", "0.5", "-o", "dev.txt"),
    "queries sample": ("log.tsv", "--size", "6", "-o", "sample.tsv"),
    "collections list": (),
    "collections check": ("kitchen",),
    "models list": (),
    "models path": ("no-such-model",),
    "models show": ("no-such-model",),
    "models get": ("no-such-model",),
    "models add": ("no-such-folder",),
    "measures choose": ("--looking", "one", "--grades", "binary", "--judged", "sparse"),
    "measures presets": (),
    "benchmark init": ("recipe.toml",),
    "benchmark run": ("--collection", "kitchen", "--modes", "lexical", "--output", "bench"),
    "explain": ("RUN020",),
}
# Lists and pages to read, which are longer by nature
LONGER = {
    "measures list": (),
    "measures explain": ("nDCG", "Compat"),
    "explain": (),
    "conventions": ("qrels.txt", "keyword.run", "-v"),
}
# In addition: what -v gives, long names, and many runs
ALSO = [
    ("evaluate", "qrels.txt", "keyword.run", "hybrid.run", "-v", "--per-query"),
    ("evaluate", "qrels.txt", f"{'long' * 20}=keyword.run", "hybrid.run", "--preset", "kpi"),
    ("evaluate", "qrels.txt", *(f"run-{number}=keyword.run" for number in range(12)), "-m", "official"),
    ("compare", "qrels.txt", "keyword.run", "hybrid.run", "-v"),
    ("compare", "qrels.txt", f"{'long-name-' * 5}=keyword.run", "hybrid.run", "--margin", "0.01", "--plan", "0.05"),
    ("compare", "qrels.txt", "keyword.run", "hybrid.run", "third.run", "--all-pairs", "-v"),
    ("compare", "qrels.txt", "keyword.run", "hybrid.run", "third.run", "--moves", "2"),
    ("diagnose", "qrels.txt", "keyword.run", "hybrid.run", "-v"),
    ("reproduce", "0.52", "qrels.txt", "keyword.run", "-v"),
    (
        "gate",
        "--qrels",
        "qrels.txt",
        "--baseline",
        "keyword.run",
        "--candidate",
        "hybrid.run",
        "--rule",
        "AP >= 0",
        "-v",
    ),
    ("runs", "validate", "broken.run"),
    *(
        (command, "qrels.txt", f"{LONG_NAME}-100=keyword.run", f"{LONG_NAME}-200=hybrid.run", f"{WIDE_NAME}=third.run")
        for command in ("evaluate", "compare", "leaderboard", "diagnose")
    ),
]


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("screen")
    for path in (QRELS, *RUNS):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "third.run").write_bytes(RUNS[1].read_bytes().replace(b" 5 ", b" 6 "))
    (folder / "broken.run").write_text("".join(f"{'q' * 50}{n} Q0 {'d' * 90} 1 nan x\n" for n in range(3)))
    (folder / "queries.tsv").write_text("q1\tlamp\n")
    (folder / "log.tsv").write_text("".join(f"query number {n}\t{n + 1}\n" for n in range(40)))
    write_collection(folder / "kitchen")
    done = assay("evaluate", "qrels.txt", "keyword.run", "--report", "report", cwd=folder)
    assert 0 == done.returncode, done.stderr
    return folder


@pytest.mark.parametrize("name", ON_ONE_SCREEN)
def test_the_answer_fits_on_one_screen(here, name):
    done = assay(*name.split(), *ON_ONE_SCREEN[name], cwd=here, env={**SIZE, "ASSAY_OFFLINE": "1"})
    lines = done.stdout.splitlines()

    assert done.returncode in (0, 1, 3) or name.startswith("models"), done.stderr
    assert [] == [line for line in lines if len(line) > WIDTH]
    assert HEIGHT >= len(lines)


@pytest.mark.parametrize(
    "command",
    [*ALSO, *((*name.split(), *given) for name, given in LONGER.items())],
    ids=lambda command: " ".join(command)[:60],
)
def test_what_is_longer_is_no_wider(here, command):
    done = assay(*command, cwd=here, env=SIZE)

    assert done.stdout, done.stderr
    assert [] == [line for line in done.stdout.splitlines() if cell_len(line) > WIDTH]


def test_long_names_stay_different(here):
    done = assay("compare", "qrels.txt", f"{LONG_NAME}-100=keyword.run", f"{LONG_NAME}-200=hybrid.run", cwd=here)

    assert 2 == done.stdout.count("d-then-its-depth-200 against") + done.stdout.count("d-then-its-depth-100, 8 queries")


def test_every_command_is_among_them():
    leaves = {" ".join(path) for path, command in all_commands() if not isinstance(command, click.Group)}

    assert leaves - {"trec_eval", "serve"} == {
        *ON_ONE_SCREEN,
        *LONGER,
    }  # one is trec_eval's, the other runs until it is stopped


@pytest.mark.parametrize("path", [path for path, _ in all_commands() if path != ("trec_eval",)], ids=" ".join)
def test_help_is_no_wider(path):
    done = assay(*path, "--help", env=SIZE)

    assert [] == [line for line in done.stdout.splitlines() if len(line) > WIDTH]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_the_width_is_that_of_columns_wherever_the_output_goes(here):
    command = "measures", "explain", "nDCG"
    _, screen = on_terminal(*command, cwd=here, env={"COLUMNS": "60"})
    piped = assay(*command, cwd=here, env={"COLUMNS": "60"}).stdout
    free = assay(*command, cwd=here, env={"COLUMNS": ""}).stdout

    assert screen.decode() == piped
    assert 60 >= max(map(len, piped.splitlines()))
    assert 60 < max(map(len, free.splitlines())) <= FALLBACK_WIDTH
