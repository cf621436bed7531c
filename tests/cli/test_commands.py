"""Every command: help with an example, start-up, measures, demo, trec_eval."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import click
import pytest

from assay import __version__
from assay.cli import SECTIONS, CommandFolder, group
from assay.example import QRELS, RUNS
from assay.measures import definitions
from assay.native import path_in_use
from cli.command import assay


def all_commands(
    command: click.Command = group, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            found += all_commands(child, (*path, name))
    return found


@pytest.mark.parametrize(
    ("path", "command"), all_commands(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_has_help_with_an_example(path, command):
    assert command.help
    assert (command.epilog or "").startswith("Example: assay ")


def test_help_lists_the_commands():
    out = assay("--help").stdout

    assert all(name in out for name in ("evaluate", "trec_eval", "measures", "demo"))


def test_version():
    assert f"assay, version {__version__} ({path_in_use()})\n" == assay("--version").stdout


def test_an_unknown_command_is_wrong_usage():
    done = assay("evalaute")

    assert (2, "") == (done.returncode, done.stdout)
    assert "No such command 'evalaute'" in done.stderr


def test_a_command_is_a_module_of_its_folder():
    folder = CommandFolder("some", package="assay.cli.commands.runs")
    context = click.Context(folder)

    assert ["collapse", "convert", "diff", "fetch", "fuse", "info", "validate"] == folder.list_commands(context)
    assert "info" == folder.get_command(context, "info").name
    assert [None] * 4 == [folder.get_command(context, name) for name in ("nothing", "info.x", "", "__init__")]


@pytest.mark.parametrize("group_name", ["runs", "qrels"])
def test_the_commands_of_a_group_are_imported_when_they_are_used(group_name):
    package = f"assay.cli.commands.{group_name}"
    modules = ("numpy", "rich", f"{package}.info", f"{package}.convert", "assay.formats")

    assert [] == loaded_by(f"import {package}", modules)
    done = assay(group_name, "covnert")
    assert (2, "") == (done.returncode, done.stdout)
    assert "No such command 'covnert'" in done.stderr
    listed = assay(group_name, "--help").stdout
    assert all(f"\n  {name} " in listed for name in ("info", "convert"))


def test_help_groups_the_commands_and_fits_one_screen():
    lines = assay("--help", env={"COLUMNS": "80"}).stdout.splitlines()
    listed = [line for line in lines if re.match(r"  (\w+ +| {9})[a-z_]+  ", line)]

    assert list(SECTIONS) == [line.split()[0] for line in listed if line[2] != " "]
    assert len(group.list_commands(click.Context(group))) == len(listed)
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(("evalute",), "evaluate"), (("runs", "valdate"), "validate"), (("measures", "explian"), "explain")],
)
def test_a_misspelt_command_gets_a_suggestion(typed, meant):
    done = assay(*typed)

    assert (2, "") == (done.returncode, done.stdout)
    assert f"Error: No such command '{typed[-1]}'; did you mean '{meant}'?\n" in done.stderr
    assert "Error: No such command 'xyz'.\n" in assay("xyz").stderr


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--format", "cvs"), "; did you mean 'csv'?"),
        (("--preset", "roboost"), "; did you mean 'robust'?"),
        (("--format", "xlsx"), ", 'trec'."),
    ],
)
def test_a_misspelt_value_of_an_option_gets_a_suggestion(options, hint):
    done = assay("evaluate", "qrels.txt", "a.run", *options)

    assert 2 == done.returncode
    assert f"Error: Invalid value for '{options[0]}': '{options[1]}' is not one of " in done.stderr
    assert done.stderr.endswith(f"{hint}\n")


@pytest.mark.parametrize(
    ("command", "wrong", "hint"),
    [
        (("runs", "info", "urns/bm25.run"), "urns/bm25.run: no such file", "; did you mean 'runs/bm25.run'?"),
        (("runs", "info", "urns/bn25.run"), "urns/bn25.run: no such file", "; did you mean 'runs/bm25.run'?"),
        (("runs", "info", "weights.run"), "weights.run: no such file", ""),  # .run alone is no likeness
        (("verify", "rnus"), "rnus: no such folder", "; did you mean 'runs'?"),
        (("collections", "check", "rnus"), "rnus: no such folder", "; did you mean 'runs'? Embedded collections: "),
    ],
)
def test_a_misspelt_folder_gets_a_suggestion(tmp_path, command, wrong, hint):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "bm25.run").write_text("1 Q0 a 1 2 t\n")
    (tmp_path / "qrels.run").touch()

    assert assay(*command, cwd=tmp_path).stderr.startswith(f"Error: {wrong}{hint}")


@pytest.mark.parametrize(
    "command",
    [("evaluate", "qrel.txt", "bm25.run"), ("evaluate", "qrels.txt", "bm2.run"), ("runs", "info", "bm25.rum")],
)
def test_a_misspelt_file_gets_a_suggestion(tmp_path, command):
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    (tmp_path / "bm25.run").write_text("q Q0 d 1 1.0 x\n")
    wrong = next(word for word in command if not (tmp_path / word).exists() and "." in word)
    meant = {"qrel.txt": "qrels.txt"}.get(wrong, "bm25.run")

    assert f"Error: {wrong}: no such file; did you mean '{meant}'?\n" == assay(*command, cwd=tmp_path).stderr
    elsewhere = assay("runs", "info", str(tmp_path / "bm26.run")).stderr
    assert elsewhere.endswith(f"bm26.run: no such file; did you mean '{tmp_path / 'bm25.run'}'?\n")


@pytest.mark.parametrize("path", [path for path, command in all_commands() if isinstance(command, click.Group)])
def test_each_command_is_listed_on_one_line(path):
    listed = assay(*path, "--help", env={"COLUMNS": "80"}).stdout.partition("\nCommands:\n")[2].partition("\n\n")[0]
    names = [name for child, _ in all_commands() if child[:-1] == path and (name := child[-1:])]

    assert len(names) == len(listed.splitlines())
    assert "..." not in listed


def test_measures_list_names_them_all():
    out = assay("measures", "list").stdout

    assert all(f"  {definition.name} " in out for definition in definitions())
    listed = json.loads(assay("measures", "list", "--format", "json").stdout)["measures"]
    assert [definition.name for definition in definitions()] == [entry["name"] for entry in listed]


@pytest.mark.parametrize("name", ["nDCG", "ndcg", "ndcg_cut", "ndcg_cut_10", "NDCG", "nDCG@10", "nDCG(gain='exp')@10"])
def test_explain_takes_any_name(name):
    out = assay("measures", "explain", name).stdout

    assert out.startswith("nDCG\n====\nDiscounted gain of the ranking, divided by that of the best possible ranking.\n")
    for part in (
        "Formula",
        "Edges",
        "Parameters",
        "gain (default 'linear')",
        "Names",
        "ranx:",
        "Paper",
        "Järvelin",
        "0.6567",
    ):
        assert part in out


def test_explain_suggests():
    done = assay("measures", "explain", "nDGC")

    assert (2, "Error: no measure called 'nDGC'; did you mean 'nDCG'?\n") == (done.returncode, done.stderr)


def test_demo_tells_what_it_does():
    out = assay("demo").stdout

    assert "Which system is better?" in " ".join(out.split())
    assert "assay evaluate " in out
    assert "How to read it" in out


def test_demo_leaves_its_files(tmp_path):
    done = assay("demo", "--save", "cook", cwd=tmp_path)

    assert ["hybrid.run", "keyword.run", "qrels.txt"] == sorted(path.name for path in (tmp_path / "cook").iterdir())
    command = next(line.split()[1:] for line in done.stdout.splitlines() if line.startswith("  assay evaluate"))
    assert 0 == assay(*command, cwd=tmp_path).returncode


def test_trec_eval_is_the_program():
    done = assay("trec_eval", "-m", "map", QRELS, RUNS[0])

    assert (0, "map                   \tall\t0.4754\n") == (done.returncode, done.stdout)
    assert 1 == assay("trec_eval", "-m", "nonsense", QRELS, RUNS[0]).returncode
    assert "Usage: assay trec_eval" in assay("trec_eval", "-h").stdout
    assert "Usage: assay trec_eval" in assay("trec_eval", "--help").stdout


def test_a_reader_that_goes_away_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m assay measures list | head -1", shell=True, capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)


def loaded_by(code: str, modules: tuple[str, ...]) -> list[str]:
    code += f"\nimport sys; print(*[m for m in {modules!r} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


HEAVY = ("scipy", "pandas", "polars", "pyarrow", "narwhals", "rich", "click", "hypothesis", "zstandard")


def test_importing_assay_loads_numpy_and_the_standard_library_only():
    assert [] == loaded_by("from assay import *", HEAVY)


def test_the_version_and_the_name_cost_no_numpy():
    assert [] == loaded_by("import assay, assay.cli", ("numpy", "assay.evaluation"))


# Each takes a millisecond or more to import unless NumPy has loaded it; the first np.unique loads numpy.ma.
RARE = ("numpy.ma", "pathlib", "csv", "json", "gzip", "bz2", "lzma", "difflib", "assay.topics", "assay.measures.ties")


def test_a_plain_evaluation_loads_only_what_it_needs():
    names = ["P@10", "R@100", "AP", "RR", "nDCG@10", "nDCG@100"]
    code = f"import assay; assay.evaluate({str(QRELS)!r}, {str(RUNS[0])!r}, {names!r}).mean()"

    assert loaded_by("import numpy", RARE) == loaded_by(code, RARE)


@pytest.mark.parametrize(
    "command",
    [
        "evaluate qrels.txt new=keyword.run -o keyword.run",
        "compare qrels.txt keyword.run hybrid.run -o qrels.txt",
        "gate --baseline keyword.run --candidate hybrid.run --qrels qrels.txt --rule RR>=0 -o keyword.run",
        "diagnose qrels.txt keyword.run -o keyword.run",
        "conventions qrels.txt keyword.run -o keyword.run",
        "runs validate keyword.run -o keyword.run",
        "qrels validate qrels.txt -o qrels.txt",
        "runs convert keyword.run --to jsonl -o keyword.run",
        "runs fuse keyword.run hybrid.run -o hybrid.run",
        "runs collapse keyword.run --regex (.*) -o keyword.run",
    ],
)
def test_no_command_writes_over_a_file_that_it_reads(tmp_path, command):
    assay("demo", "--save", ".", cwd=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = assay(*command.split(), cwd=tmp_path)

    assert 2 == done.returncode
    assert "choose another output file" in done.stderr
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
