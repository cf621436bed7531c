"""Folders and patterns of runs."""

from __future__ import annotations

import gzip

import pytest

from assay.cli.run_files import run_files
from assay.errors import InputError
from cli.command import assay

RUN = "q1 Q0 a 1 2.0 x\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    folder = tmp_path / "runs"
    (folder / "older").mkdir(parents=True)
    for name in ("run-10.run", "run-2.run", "run-1.csv", "dense.tsv", "older/bm25.run"):
        (folder / name).write_text(RUN)
    (folder / "packed.txt.gz").write_bytes(gzip.compress(RUN.encode()))
    (folder / ".hidden.run").write_text("damaged")
    return tmp_path


def test_a_folder_stands_for_its_runs_in_natural_order(files, capsys):
    assert [
        "runs/dense.tsv",
        "runs/packed.txt.gz",
        "runs/run-1.csv",
        "runs/run-2.run",
        "runs/run-10.run",
    ] == run_files("runs")
    assert "" == capsys.readouterr().err


def test_files_that_do_not_end_like_a_run_are_left_out_with_a_note(files, capsys):
    for name in ("notes.md", "test.qrels", "README"):
        (files / "runs" / name).write_text("")

    assert 5 == len(run_files("runs"))
    assert (
        "Note: left out runs/notes.md, runs/README, runs/test.qrels, which do not end like a run; "
        "a pattern such as 'runs/*' takes every file.\n"
    ) == capsys.readouterr().err


def test_a_pattern_is_expanded_in_natural_order(files):
    assert ["runs/run-2.run", "runs/run-10.run"] == run_files("runs/*.run")
    assert ["runs/run-1.csv"] == run_files("runs/run-[0-1].csv")
    assert ["runs/older/bm25.run", "runs/run-2.run", "runs/run-10.run"] == run_files("runs/**/*.run")
    assert ["new=runs/run-1.csv"] == run_files("new=runs/*1.csv")


def test_an_existing_file_is_never_a_pattern(files):
    (files / "a[1]*.run").write_text(RUN)
    (files / "a1.run").write_text(RUN)

    assert ["a[1]*.run"] == run_files("a[1]*.run")
    assert ["x=a[1]*.run"] == run_files("x=a[1]*.run")
    assert ["-"] == run_files("-")
    assert ["missing.run"] == run_files("missing.run")  # opening it says that it is missing


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("runs/*.rn", "no file matches 'runs/*.rn'."),
        ("x=runs/*.run", "'x' cannot name several runs: runs/run-2.run, runs/run-10.run. Leave the name out."),
        ("empty", "empty: the folder has no file that ends like a run (.run, .res, "),
        ("report", "report: this is a folder with a report, not with runs."),
    ],
)
def test_what_gives_no_runs_is_refused(files, argument, message):
    (files / "empty" / "sub").mkdir(parents=True)
    (files / "report").mkdir()
    (files / "report" / "ExperimentManifest.json").write_text("{}")

    with pytest.raises(InputError) as caught:
        run_files(argument)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("command", ["evaluate", "compare", "diagnose"])
def test_commands_take_folders_and_patterns(files, command):
    one_by_one = ["runs/dense.tsv", "runs/packed.txt.gz", "runs/run-1.csv", "runs/run-2.run", "runs/run-10.run"]
    plain = assay(command, "qrels.txt", *one_by_one, "-m", "RR", "--format", "json", cwd=files)
    folder = assay(command, "qrels.txt", "runs", "-m", "RR", "--format", "json", cwd=files)

    assert plain.stdout == folder.stdout
    assert (0, "") == (folder.returncode, folder.stderr)


def test_runs_are_fused_from_a_folder(files):
    done = assay("runs", "fuse", "runs/*.run", "-o", "-", "--to", "csv", cwd=files)

    assert "query_id,doc_id,score" in done.stdout
    assert "Error" not in done.stderr


def test_a_file_of_a_folder_is_not_overwritten(files):
    done = assay("evaluate", "qrels.txt", "runs", "-o", "runs/run-2.run", cwd=files)

    assert "Error: runs/run-2.run: this is also an input file; choose another output file.\n" == done.stderr


def test_a_report_on_a_folder_can_be_verified(files):
    assay("evaluate", "qrels.txt", "runs", "-m", "RR", "--report", "report", cwd=files)
    done = assay("verify", "report", cwd=files)

    assert "input files: 6 checks passed" in done.stdout


def test_two_runs_of_the_same_name_are_refused(files):
    (files / "runs" / "run-2.txt").write_text(RUN)
    done = assay("evaluate", "qrels.txt", "runs", cwd=files)

    assert done.stderr.startswith("Error: two runs are called 'run-2' (runs/run-2.run and runs/run-2.txt)")
