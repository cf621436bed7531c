"""What options and arguments of several commands mean."""

from __future__ import annotations

import click
import pytest

from assay.cli.reading import split_name
from assay.rules import RULES_IN_WORDS
from cli.command import assay
from cli.test_commands import all_commands

WITH_RULES = {
    "evaluate": ("qrels", "a.run"),
    "compare": ("qrels", "a.run", "b.run"),
    "diagnose": ("qrels", "a.run", "b.run"),
    "leaderboard": ("qrels", "a.run", "b.run"),
    "gate": ("--qrels", "qrels", "--baseline", "a.run", "--candidate", "b.run", "--rule", "RR >= 0"),
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 a 1 0.900000001 x\nq1 Q0 b 2 0.9 x\n")
    (tmp_path / "b.run").write_text("q1 Q0 b 1 3 x\nq1 Q0 a 2 2 x\nq2 Q0 b 1 1 x\n")
    return tmp_path


def test_queries_and_scores_take_a_file_on_every_command():
    options = [option for _, command in all_commands() for option in command.params]
    named = [option for option in options if {"--queries", "--scores"} & {*option.opts}]

    assert {"--queries", "--scores"} == {option.opts[0] for option in named}
    assert [] == [option for option in named if not isinstance(option.type, click.Path)]


def test_the_rules_have_the_same_options_on_every_command():
    takes = {path[0]: {o: p for p in command.params for o in p.opts} for path, command in all_commands() if path}

    assert {*WITH_RULES} == {name for name, options in takes.items() if "--query-set" in options}
    for options in map(takes.get, WITH_RULES):
        assert [*map(list, (texts.choices for texts in RULES_IN_WORDS.values()))] == [
            list(options[texts.option].type.choices) for texts in RULES_IN_WORDS.values()
        ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "--queries", "both"], "--queries takes a file with queries; did you mean --query-set both?"),
        (["evaluate", "--scores=float32"], "No such option '--scores'; it is now called '--score-type'."),
        (["gate", "--queries=strict"], "--queries takes a file with queries; did you mean --query-set strict?"),
        (["gate", "--scores", "float32"], "No such option '--scores'; it is now called '--score-type'."),
        (
            ["diagnose", "--queries", "judged"],
            "--queries takes a file with queries; did you mean --query-set judged?",
        ),
        (["diagnose", "--scores", "float64"], "No such option '--scores'; it is now called '--score-type'."),
        (["compare", "--queries=both"], "--queries takes a file with queries; did you mean --query-set both?"),
        (
            ["compare", "--scores", "float32"],
            "--scores takes a file with per-query values; did you mean --score-type float32?",
        ),
    ],
)
def test_the_old_option_of_a_rule_names_the_new_one(files, words, message):
    done = assay(words[0], *WITH_RULES[words[0]], *words[1:], cwd=files)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.endswith(f"Error: {message}\n")


def test_a_file_may_be_called_like_the_value_of_a_rule(files):
    (files / "both").write_text("q1\tshort\nq2\tthis one is longer\n")
    (files / "float32").write_text("query,a,b\nq1,0.5,1\nq2,0.25,1\n")
    by_length = assay("compare", *WITH_RULES["compare"], "-m", "RR", "--queries", "both", "--moves", "2", cwd=files)
    of_table = assay("compare", "--scores", "float32", "-v", cwd=files)

    assert (0, 0) == (by_length.returncode, of_table.returncode)
    assert "this one is longer" in by_length.stdout
    assert "score against a (0.3750)" in of_table.stdout


def test_score_type_is_the_precision_of_scores(files):
    # Both documents of q1 tie as 32-bit floats, and b comes before a: RR of q1 is 1/2 instead of 1.
    options = ("-m", "RR", "--query-set", "both")
    full, half = (
        assay("compare", *WITH_RULES["compare"], *options, "--score-type", kind, "-v", cwd=files).stdout
        for kind in ("float64", "float32")
    )

    assert "RR against a (1.0000)" in full
    assert "RR against a (0.5000)" in half
    assert "scores=float32, queries=both" in " ".join(half.split())


@pytest.mark.parametrize("command", WITH_RULES)
def test_messages_of_the_library_name_the_options_of_rules(files, command):
    missing = assay(command, *WITH_RULES[command], "--query-set", "strict", cwd=files)
    both = assay(command, *WITH_RULES[command], "--ties", "expected", "--depth", "2", cwd=files)

    assert (2, 2) == (missing.returncode, both.returncode)
    assert (
        "Error: 1 of 2 judged queries is missing from run 'a' (first: q2). Complete the run, count them as 0 "
        "(--query-set judged), or leave them out (--query-set both).\n"
    ) == missing.stderr
    assert "Error: --ties expected does not work with --depth; use measures with a cutoff" in both.stderr


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("bm25.run", (None, "bm25.run")),
        ("new=bm25.run", ("new", "bm25.run")),
        ("new=k1=0.9.run", ("new", "k1=0.9.run")),  # the first = ends the name
        ("new=-", ("new", "-")),
        ("=bm25.run", (None, "=bm25.run")),  # no name: a path that starts with =
        ("new=", (None, "new=")),
        ("k1=0.9.run", (None, "k1=0.9.run")),  # this file exists
        ("b=0.4/bm25.run", (None, "b=0.4/bm25.run")),  # this one too
        ("k1=1.2.run", ("k1", "1.2.run")),  # this one does not
    ],
)
def test_a_name_is_what_comes_before_the_first_equals_sign_unless_such_a_file_exists(
    tmp_path, monkeypatch, argument, expected
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k1=0.9.run").touch()
    (tmp_path / "b=0.4").mkdir()
    (tmp_path / "b=0.4" / "bm25.run").touch()

    assert expected == split_name(argument)
