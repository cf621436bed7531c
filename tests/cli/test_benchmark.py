"""assay benchmark, as a user runs it."""

from __future__ import annotations

import json
import os

import pytest

from assay.collections import embedded_collections
from benchmark.collection import RECIPE, write_collection, write_kitchen
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

pytest.importorskip("tantivy")
pytest.importorskip("bm25s")


@pytest.fixture
def here(tmp_path):
    """A folder with a collection and a recipe."""
    write_kitchen(tmp_path)
    return tmp_path


@pytest.fixture
def offline(tmp_path):
    """The environment of a machine without models and without a network."""
    return {"ASSAY_OFFLINE": "1", "ASSAY_CACHE": str(tmp_path / "cache"), "ASSAY_MODELS": ""}


def run(folder, *arguments, **others):
    return assay("benchmark", "run", *arguments, cwd=folder, **others)


def test_a_recipe_is_run(here):
    done = run(here, "benchmark.toml")

    lines = done.stdout.splitlines()
    assert 0 == done.returncode
    assert "Benchmark of kitchen (test): 80 documents, 8 queries, 3 modes" == lines[0]
    assert ["measure", "lexical", "bm25s", "both", "best", "mode"] == lines[2].split()
    assert ["nDCG@10", "AP", "R@10"] == [line.split()[0] for line in lines[4:7]]
    assert done.stderr.endswith("Report: benchmark-kitchen/BenchmarkReport.html\n")
    assert {
        "BenchmarkComparison.md",
        "BenchmarkReport.html",
        "BenchmarkReport.json",
        "ExperimentManifest.json",
        "evaluations",
        "qrels.txt",
        "runs",
        "work",
    } == set(os.listdir(here / "benchmark-kitchen"))
    assert {"EvaluationReport.html", "EvaluationReport.json", "EvaluationReport.md"} <= set(
        os.listdir(here / "benchmark-kitchen" / "evaluations" / "both")
    )


def test_what_is_written_can_be_verified_and_evaluated_again(here):
    run(here, "benchmark.toml", "--output", "out")

    verified = assay("verify", "out", cwd=here)
    kinds = ("manifest", "report files", "input files")
    numbers = [f"numbers of {name}, recomputed" for name in ("bm25s", "both", "lexical")]
    assert (0, [*kinds, *numbers, "Verified"]) == (
        verified.returncode,
        [line.partition(":")[0] for line in verified.stdout.splitlines()],
    )
    again = assay("evaluate", "out/qrels.txt", "out/runs/both.run", "-m", "AP", "--format", "json", cwd=here)
    report = json.loads((here / "out" / "BenchmarkReport.json").read_bytes())
    assert json.loads(again.stdout)["runs"][0]["mean"]["AP"] == report["modes"][2]["metrics"]["AP"]


def test_options_describe_a_benchmark_without_a_recipe(here):
    done = run(
        here,
        *("--collection", "kitchen", "--modes", "bm25s", "-m", "AP", "-m", "R@100", "--depth", "5"),
        *("--output", "out", "--repeats", "1", "--format", "json"),
    )

    report = json.loads(done.stdout)
    schema = json.loads((DOCS / "schemas" / "benchmark-1.json").read_text(encoding="utf-8"))
    assert [] == list(problems(report, schema))
    assert (["bm25s"], ["AP", "R@100"], 5) == (
        [m["name"] for m in report["modes"]],
        report["measures"],
        report["depth"],
    )
    assert report == json.loads((here / "out" / "BenchmarkReport.json").read_bytes())


def test_the_folder_is_called_by_the_collection_wherever_one_stands(here):
    done = run(here / "kitchen", "--collection", ".", "--modes", "lexical", "--repeats", "1")

    assert (0, True) == (
        done.returncode,
        (here / "kitchen" / "benchmark-kitchen" / "BenchmarkReport.json").is_file(),
    )


def test_options_win_over_the_recipe(here):
    done = run(here, "benchmark.toml", "--modes", "both", "-m", "P@5", "--format", "markdown")

    assert "| measure | both | best mode |\n| --- | ---: | --- |\n| P@5 |" in done.stdout
    assert ["both.run", "bm25s.run", "lexical.run"] == sorted(os.listdir(here / "benchmark-kitchen" / "runs"), key=len)


def test_a_recipe_that_init_wrote_runs_as_it_is(here, offline):
    done = assay("benchmark", "init", cwd=here / "kitchen")
    ran = run(here / "kitchen", "benchmark.toml", "--repeats", "1", "--allow-missing", env=offline)

    assert "Recipe: benchmark.toml. Run it with `assay benchmark run benchmark.toml`.\n" == done.stderr
    assert (0, True) == (ran.returncode, ran.stdout.startswith("Benchmark of insurance (test):")), ran.stderr


def test_a_chosen_mode_that_cannot_run_stops_it_before_anything_is_searched(here, offline):
    done = run(here, "--collection", "kitchen", "--modes", "lexical,vector", "--output", "out", env=offline)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(
        "Error: a mode of this benchmark cannot run. vector: the model minilm is not installed"
    )
    assert done.stderr.endswith("To run the others, use --allow-missing.\n")
    assert not (here / "out").exists()


def test_init_writes_over_nothing_unless_told_to(here):
    done = assay("benchmark", "init", cwd=here)

    assert (2, "Error: benchmark.toml: file already exists. Overwrite it with --force.\n") == (
        done.returncode,
        done.stderr,
    )
    assert RECIPE == (here / "benchmark.toml").read_text()
    assert 0 == assay("benchmark", "init", "--force", cwd=here).returncode
    assert RECIPE != (here / "benchmark.toml").read_text()


@pytest.mark.parametrize("name", embedded_collections())
def test_without_network_and_model_the_lexical_mode_runs(tmp_path, offline, name):
    done = run(tmp_path, "--collection", name, "--repeats", "1", env=offline)

    assert 0 == done.returncode
    assert (f"Report: benchmark-{name}/BenchmarkReport.html",) == tuple(
        line for line in done.stderr.splitlines() if "warning" not in line
    )
    assert f"Benchmark of {name} (test)" in done.stdout
    words = " ".join(done.stdout.split())
    assert "vector has no results: the model minilm is not installed and could not be fetched" in words
    assert "run: assay models get minilm" in words
    assert "hybrid has no results: it stands on vector, which cannot run." in words
    report = json.loads((tmp_path / f"benchmark-{name}" / "BenchmarkReport.json").read_bytes())
    assert (["lexical"], ["vector", "hybrid"]) == (
        [mode["name"] for mode in report["modes"]],
        [mode["name"] for mode in report["missing"]],
    )


def test_a_folder_whose_files_are_compressed_and_called_otherwise(tmp_path):
    import gzip

    folder = write_collection(tmp_path / "dishes")
    corpus = folder / "corpus.jsonl"
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    corpus.unlink()
    done = run(tmp_path, "--collection", "dishes", "--modes", "lexical", "--repeats", "1")

    assert (0, True) == (done.returncode, "80 documents" in done.stdout), done.stderr


def test_a_folder_whose_files_and_fields_are_named_on_the_command_line(here):
    folder = here / "kitchen"
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    table = "".join(f"{row['_id']},{row['title']},{row['text']}\n" for row in rows)
    (folder / "items.csv").write_text(f"sku,label,blurb\n{table}")
    (folder / "corpus.jsonl").unlink()
    named = ("--file", "corpus=items.csv", "--columns", "corpus.id=sku", "--columns", "corpus.text=label,blurb")
    done = run(here, "benchmark.toml", "--modes", "lexical", *named)

    assert (0, True) == (done.returncode, "80 documents" in done.stdout), done.stderr
    wrong = run(here, "--collection", "kitchen", "--columns", "sku")
    assert (2, True) == (
        wrong.returncode,
        "--columns 'sku': 'sku' names no role; write ROLE=COLUMN, such as corpus.id=sku" in wrong.stderr,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.toml",), "Error: no.toml: no such recipe. `assay benchmark init` writes one.\n"),
        (("kitchen",), "Error: kitchen: is a folder; a recipe is a TOML file. To search a collection, use --collection kitchen.\n"),
        (("--modes", "lexicl"), "Error: no mode called 'lexicl'; did you mean 'lexical'?\n"),
        (("--modes", ","), "Error: no modes given. A benchmark needs at least one, such as lexical.\n"),
        (("benchmark.toml", "-m", "nDGC"), "Error: no measure called 'nDGC'; did you mean 'nDCG'?\n"),
        (("benchmark.toml", "--targets", "trec-rg"), "Error: no target profile called 'trec-rg'; did you mean 'trec-rag'?"),
        (
            ("benchmark.toml", "--output", "kitchen"),
            "Error: kitchen: contains other files (corpus.jsonl, qrels, queries.jsonl) and no benchmark. "
            "Choose a new folder.\n",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_before_anything_is_searched(here, arguments, message):
    done = run(here, *arguments)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr
    assert not (here / "benchmark-kitchen").exists()


def test_a_bad_collection_is_refused_with_file_and_line(here):
    with (here / "kitchen" / "corpus.jsonl").open("a") as corpus:
        corpus.write("{broken\n")
    done = run(here, "benchmark.toml")

    assert 2 == done.returncode
    assert "kitchen/corpus.jsonl:81" in done.stderr
    assert not (here / "benchmark-kitchen").exists()


def test_every_command_shows_an_example():
    for name in ("run", "init"):
        assert "Example: assay benchmark" in assay("benchmark", name, "--help").stdout


def test_ids_with_blanks_are_kept_in_another_format(tmp_path):
    folder = write_collection(tmp_path / "dishes")
    for path in (folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels" / "test.tsv"):
        path.write_text(path.read_text().replace("lentil-soup", "lentil soup").replace("q1", "q 1"))
    done = run(tmp_path, "--collection", "dishes", "--modes", "lexical", "--repeats", "1", "--output", "out")

    assert (0, ["lexical.jsonl"]) == (done.returncode, os.listdir(tmp_path / "out" / "runs"))
    assert (tmp_path / "out" / "qrels.jsonl").exists()
    assert 0 == assay("verify", "out", cwd=tmp_path).returncode


def test_a_collection_that_nobody_has_seen(tmp_path, shared_data):
    done = run(
        tmp_path,
        *("--collection", shared_data / "collections" / "vaswani", "--modes", "lexical,bm25s"),
        *("-m", "AP", "-m", "nDCG@10", "-m", "R@100", "--output", "out", "--repeats", "1", "--format", "json"),
    )

    report = json.loads(done.stdout)
    assert ["AP", "nDCG@10", "R@100"] == report["measures"]
    assert 0.28 <= report["modes"][0]["metrics"]["AP"]
    assert (11429, 93) == (report["collection"]["documents"], report["collection"]["queries"])


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of its own")
def test_bars_are_shown_on_a_terminal_and_nowhere_else(here):
    import pty
    import subprocess
    import sys

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "assay", "benchmark", "run", "benchmark.toml"],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 65536):
                shown += some
        except OSError:  # on Linux this means that all writers have closed it
            pass
        told = process.communicate()[0]

    assert 0 == process.returncode
    for step in (b"lexical: indexing", b"lexical: searching", b"timing", b"reporting"):
        assert step in shown
        assert step not in told
    assert b"indexing" not in run(here, "benchmark.toml", "--output", "again").stderr.encode()
