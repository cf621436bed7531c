"""assay reproduce."""

from __future__ import annotations

import json
import shlex

import pytest

from assay.example import QRELS, RUNS
from assay.measures.conventions import CONVENTIONS
from assay.report.reproducing import SCHEMA
from assay.reproducing import SHOWN
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import changed, problems

KEYWORD = RUNS[0]
DOCUMENT = json.loads((DOCS / "schemas" / "reproduction-1.json").read_text(encoding="utf-8"))


def printed(*options: object) -> dict:
    return json.loads(assay("reproduce", *options, "--format", "json").stdout)


def test_what_gives_the_number_comes_first():
    """0.5959 is nDCG@10 over the 7 queries with results (docs/conventions.md)."""
    done = assay("reproduce", "0.5959", QRELS, KEYWORD, "-m", "nDCG@10", env={"COLUMNS": "300"})
    lines = done.stdout.splitlines()

    assert (0, "") == (done.returncode, done.stderr)
    assert lines[0].startswith("1 explanation for 0.5959; ")
    assert lines[0].endswith(" combinations of measure, tool and rules were tried.")
    assert ["0.5959", "=", "nDCG@10", "trec_eval-9,", "beir,", "mteb"] == lines[4].split()
    assert f"assay evaluate {QRELS} {KEYWORD} -m nDCG@10 --like trec_eval-9" == lines[5].strip()


def test_nothing_gives_it():
    done = assay("reproduce", "0.4321", QRELS, KEYWORD, "-m", "nDCG@10")

    assert (1, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("Nothing gives 0.4321; ")
    assert " were tried. The nearest:\n" in done.stdout


def test_a_percentage_is_said_to_be_one():
    done = assay("reproduce", "59.6", QRELS, KEYWORD, "-m", "nDCG@10")

    assert 0 == done.returncode
    assert "1 explanation for 59.6 (as a percentage); " in done.stdout
    assert "   59.59%         =  nDCG@10 " in done.stdout


def test_a_number_with_more_decimals_is_shown_with_them():
    done = assay("reproduce", "0.595870", QRELS, KEYWORD, "-m", "nDCG@10")

    assert 1 == done.returncode
    assert " 0.595864  0.000006  nDCG@10 " in done.stdout


def test_every_command_that_is_shown_gives_its_value():
    document = printed("0.5", QRELS, KEYWORD, "-m", "RR", "-m", "nDCG(gain='exp')@10", "-m", "P(rel=2)@5")

    assert SHOWN == len(document["candidates"])
    assert any(candidate["rules"] for candidate in document["candidates"])
    for candidate in document["candidates"]:
        program, *words = shlex.split(candidate["command"])
        again = json.loads(assay(*words, "--format", "json").stdout)["runs"][0]["mean"]

        assert "assay" == program
        assert {candidate["measure"]: candidate["value"]} == again


def test_the_command_repeats_how_the_files_are_read(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a E\nq1 0 b I\n")
    (tmp_path / "my.run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq1 Q0 a 3 1 t\n")
    done = assay(
        *("reproduce", "0.500", "qrels.txt", "my.run", "-m", "RR", "--grades", "E=1,I=0", "--duplicates", "first"),
        cwd=tmp_path,
    )

    assert 0 == done.returncode, done.stderr
    assert "assay evaluate qrels.txt my.run -m RR --duplicates first --grades E=1,I=0\n" in done.stdout


def test_markdown_is_a_table():
    lines = assay("reproduce", "0.5959", QRELS, KEYWORD, "-m", "nDCG@10", "--format", "markdown").stdout.splitlines()

    assert "| value | distance | measure | given by | command |" == lines[2]
    assert lines[4].startswith("| 0.5959 | = | nDCG@10 | trec\\_eval-9, beir, mteb | assay evaluate ")


@pytest.mark.parametrize(
    ("number", "options", "message"),
    [
        ("half", (), "'half' is not a number; write it as it was published, such as 0.4334 or 43.3%."),
        ("0.5", ("-m", "nDGC"), "no measure called 'nDGC'; did you mean 'nDCG'"),
    ],
)
def test_wrong_usage(number, options, message):
    done = assay("reproduce", number, QRELS, KEYWORD, *options)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr


@pytest.mark.parametrize("number", ["0.5959", "59.6", "0.43210"])
def test_the_output_matches_its_schema(number):
    document = printed(number, QRELS, KEYWORD)

    assert [] == list(problems(document, DOCUMENT))
    assert SCHEMA == DOCUMENT["$id"] == document["schema"]
    assert {name for one in document["candidates"] for name in one["conventions"]} <= set(CONVENTIONS)


@pytest.mark.parametrize(
    ("path", "to", "problem"),
    [
        (("candidates",), [], "$.candidates: [] should be non-empty"),
        (("candidates", 0, "value"), "0.5", "$.candidates[0].value: '0.5' is not of type 'number'"),
        (("candidates", 0, "rules"), {"ties": "random"}, "$.candidates[0].rules.ties: 'random' is not one of "),
        (("extra",), 1, "$: Additional properties are not allowed ('extra' was unexpected)"),
    ],
)
def test_other_output_does_not(path, to, problem):
    document = printed("0.5959", QRELS, KEYWORD, "-m", "nDCG@10")

    assert any(found.startswith(problem) for found in problems(changed(document, *path, to=to), DOCUMENT))
