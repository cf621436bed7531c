"""--spreadsheet, on every command that writes CSV or TSV."""

from __future__ import annotations

import click
import pytest

from cli.command import assay
from cli.test_commands import all_commands

NOTE = "Note: a spreadsheet would run '{}' as a formula. To open the file in one, write it with --spreadsheet.\n"


@pytest.fixture
def here(tmp_path):
    (tmp_path / "qrels.txt").write_text("=1+1 0 @a 1\nq2 0 b 1\n")
    (tmp_path / "scores.csv").write_text("query,=1+1,@a\n1,0.9,0.1\n2,0.8,0.3\n")
    (tmp_path / "x.run").write_text("=1+1 Q0 @a 1 -2.0 -t\nq2 Q0 b 1 -3.0 -t\n")
    (tmp_path / "queries.tsv").write_text("=1+1\tlamp\n")
    return tmp_path


COMMANDS = {
    "evaluate": ("qrels.txt", "@x=x.run", "-m", "RR", "--per-query", "--format", "csv"),
    "leaderboard": ("--scores", "scores.csv", "--format", "csv"),
    "compare": ("--scores", "scores.csv", "--format", "csv"),
    "runs convert": ("x.run", "--to", "csv", "-o", "-"),
    "runs fuse": ("x.run", "x.run", "--to", "tsv", "--no-metadata", "-o", "-"),
    "runs collapse": ("x.run", "--regex", ".+", "--to", "csv", "--no-metadata", "-o", "-"),
    "runs fetch": ("--command", "echo @a", "--queries", "queries.tsv", "--to", "csv", "-o", "-"),
    "qrels convert": ("qrels.txt", "--to", "tsv", "-o", "-"),
    "qrels sample": ("qrels.txt", "--size", "1", "--to", "csv", "-o", "dev.csv", "--rest", "rest.csv"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_with_it_no_cell_is_a_formula(here, command):
    done = assay(*command.split(), *COMMANDS[command], "--spreadsheet", cwd=here)
    text = done.stdout + "".join(
        (here / name).read_text() for name in ("dev.csv", "rest.csv") if (here / name).exists()
    )

    assert 0 == done.returncode
    assert "as a formula" not in done.stderr
    assert "'=1+1" in text
    assert [] == [cell for cell in text.replace("\t", ",").replace("\n", ",").split(",") if cell[:1] in ("=", "@")]


@pytest.mark.parametrize("command", COMMANDS)
def test_without_it_a_note_says_so(here, command):
    done = assay(*command.split(), *COMMANDS[command], cwd=here)

    assert 0 == done.returncode
    assert done.stderr.endswith(NOTE.format("@x" if command == "evaluate" else "=1+1"))


def test_every_command_that_writes_such_files_has_it():
    having = {
        " ".join(path) for path, command in all_commands() for option in command.params if option.name == "spreadsheet"
    }
    writing = {
        " ".join(path)
        for path, command in all_commands()
        for option in command.params
        if isinstance(option.type, click.Choice)
        and {"csv", "tsv"} & set(option.type.choices)
        and option.name in ("to", "output_format")
    }

    assert set(COMMANDS) == having == writing


def test_a_format_for_programs_is_refused_before_anything_is_read(here):
    done = assay("evaluate", "no-qrels", "x.run", "--format", "json", "--spreadsheet", cwd=here)

    assert (2, "Error: --spreadsheet is for csv and tsv, not for json; leave it out.\n") == (
        done.returncode,
        done.stderr,
    )
