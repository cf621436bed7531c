"""The command and the lines of Python that a page shows: both are run, and give the numbers of the page."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

import assay
from assay.errors import InputError
from assay.measures import definition_of, definitions, parse_measure
from assay.report import evaluator, learning
from assay.report.evaluator import EvaluatorState
from assay.report.evaluator.saving import saved
from assay.report.interactive.again import EMPTY_LIST, NO_LIST, Again
from assay.report.learning import LearnState
from assay.report.measures.page import page_of as measure_page
from assay.report.measures.state import state_of as measure_state_of
from report.states import EVALUATED, LEARNED, fields_in

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="the commands are for a POSIX shell; bash is not installed")

START = EvaluatorState()
CALCULATORS = ("precision", "mrr", "map", "ndcg")


def in_shell(command: str, folder: Path) -> str:
    """What a command prints in a folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [BASH, "-eu"], input=command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def printed(table: str) -> list[list[str]]:
    """The figures of each run in a table for the terminal: a row for each run, or where that is too wide, a column."""
    head, rest = re.split(r"\n─+\n", table, maxsplit=1)
    rows = [re.findall(r"(?<=\s)-?\d+(?:\.\d+)?(?=\*?$|\*?\s)", row) for row in _until_words(rest.splitlines())]
    return rows if head.startswith("run ") else [list(column) for column in zip(*rows, strict=True)]


def _until_words(lines: list[str]) -> list[str]:
    return list(takewhile(lambda line: not line.startswith(("*", "Conventions")), lines))


def as_printed(value: float, text: str) -> str:
    """A value with as many decimals as a text has: counts have none."""
    return f"{value:.{len(text.partition('.')[2])}f}"


def exact(command: str, folder: Path) -> list[dict[str, float]]:
    """The values of each run, from the same command with a report for programs."""
    report = json.loads(in_shell(f"{command} --format json", folder))
    return [run["mean"] for run in report["runs"]]


def in_python(code: str, folder: Path) -> list[dict[str, float]]:
    """What lines of Python give: what they print, or the value of the last one."""
    tree = ast.parse(code)
    last = tree.body.pop()
    out = io.StringIO()
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(out), contextlib.chdir(folder):
        exec(compile(tree, "<page>", "exec"), names)
        if isinstance(last, ast.Expr):
            return [dict(eval(compile(ast.Expression(last.value), "<page>", "eval"), names))]
        exec(compile(ast.Module([last], []), "<page>", "exec"), names)
    return [ast.literal_eval(line) for line in out.getvalue().splitlines()]


def check(again: Again, values: list[Mapping[str, float]], folder: Path) -> None:
    """Hold what is shown against the values of the page, in a folder that is empty."""
    figures = printed(in_shell(again.command, folder))
    assert [len(each) for each in values] == [len(row) for row in figures]
    for each, row in zip(values, figures, strict=True):
        assert [as_printed(*pair) for pair in zip(each.values(), row, strict=True)] == row
    assert values == exact(again.command, folder)
    assert values == in_python(again.python, folder)


# The evaluator


def evaluated(state: EvaluatorState) -> tuple[Again, list[dict[str, float]]]:
    page = evaluator.page_of(state)
    names = [each.figure.measure for each in page.headlines]
    lists = [page.measures, *([page.other_measures] if state.other else [])]
    return page.again, [{name: values[name] for name in names} for values in lists]


EVALUATIONS = {
    "a list": START,
    "unjudged results": replace(START, grades=(None, 3.0, None, 1.0)),
    "fractions and negative grades": replace(
        START, grades=(0.5, -2.0, 1.25, 1e-7, -0.5, 1.5), missed=(0.3, -1.0), rel=0.5
    ),
    "missed documents and a gain": replace(START, missed=(3.0, 2.0), relevant=12, gain="exp", rel=2.0, k=3),
    "nothing relevant": replace(START, grades=(0.0, 0.0)),
    "nothing judged": replace(START, grades=(None, None)),
    "the same names": replace(
        START, name=("rye", "rye", "m1", "d3"), other=(2.0, 3.0, 1.0), other_name=("rye", "", "m1"), missed=(3.0,)
    ),
    "names with quotes": replace(START, name=("'$(rm x)'", '"', "\nEND\n"), title="END\n"),
    "two lists": replace(START, other=(0.0, 3.0, None, 2.0, 2.0, 2.0), missed=(1.0,), relevant=9),
    "two lists, one without judged results": replace(START, grades=(None,), other=(1.0,)),
    "a thousand results": replace(START, grades=(3.0, 2.0, 0.0, None) * 250, k=1000, relevant=700),
}


@needs_bash
@pytest.mark.parametrize("state", EVALUATIONS.values(), ids=EVALUATIONS)
def test_the_command_and_the_lines_give_the_figures_of_the_evaluator(state, tmp_path):
    check(*evaluated(state), tmp_path)


@settings(max_examples=25)
@given(state=EVALUATED)
def test_so_do_the_lines_for_any_list(state):
    again, values = evaluated(state)

    assert values == [pytest.approx(each, rel=1e-12) for each in in_python(again.python, Path.cwd())]


# The calculators


LESSONS = {
    "as it opens": LearnState(),
    "nothing found": LearnState(
        hits=0, retrieved=3, relevant=4, ranks=(None, 2, None), lists=("NNN", "R"), totals=(1, 1)
    ),
    "lists without results": LearnState(lists=("", "NNR"), totals=(0, 3), grades=(None, 0.5, -1.0), missed=(2.0,), k=2),
    "many queries": LearnState(ranks=tuple(range(1, 21)), at=5, lists=("RN" * 100,) * 20, totals=(150,) * 20, depth=50),
}


@needs_bash
@pytest.mark.parametrize("state", LESSONS.values(), ids=LESSONS)
def test_the_command_and_the_lines_give_the_figures_of_each_calculator(state, tmp_path):
    page = learning.page_of(state)
    for name in CALCULATORS:
        folder = tmp_path / name
        folder.mkdir()
        calculator = getattr(page, name)
        check(calculator.again, [calculator.measures], folder)


@settings(max_examples=25)
@given(state=LEARNED)
def test_so_do_the_lines_for_anything_in_them(state):
    page = learning.page_of(state)
    for name in CALCULATORS:
        calculator = getattr(page, name)
        if calculator.again.python != NO_LIST:
            assert [calculator.measures] == in_python(calculator.again.python, Path.cwd())


@settings(max_examples=25)
@given(state=LEARNED)
def test_every_proposed_measure_is_one(state):
    page = learning.page_of(state)

    for each in page.proposed:
        assert each.measure == str(parse_measure(each.measure))
        assert f"/measures/{parse_measure(each.measure).name}" == each.address
    assert [each.measure for each in page.proposed] == re.findall(r"-m (\S+)", page.command)


@needs_bash
def test_the_command_and_the_lines_for_proposed_measures_run(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\n")
    (tmp_path / "my.run").write_text("q1 Q0 c 1 2.0 x\nq1 Q0 a 2 1.0 x\n")
    page = learning.page_of(LearnState())

    values = exact(page.command, tmp_path)
    assert values == in_python(page.python, tmp_path)
    assert {each.measure for each in page.proposed} == set(values[0])


# The measures


@pytest.mark.parametrize("name", [each.name for each in definitions()])
def test_the_lines_give_the_value_of_each_measure(name, tmp_path):
    definition = definition_of(name)
    page = measure_page(definition, measure_state_of(definition, {}))
    if page.by_topics:
        _write(page.again.command, tmp_path)

    assert [page.measures] == in_python(page.again.python, tmp_path)


def _write(command: str, folder: Path) -> None:
    """The files of a command, as a shell writes them."""
    for name, content in re.findall(r"cat > (\S+) <<'END'\n(.*?)END\n", command, re.DOTALL):
        (folder / name).write_text(content)


MEASURED = {
    "by subtopics": "/measures/alpha_nDCG?covers=12,0,u,3,1&missed=2,34&p.alpha=0.3",
    "by subtopics, nothing judged": "/measures/StRecall?covers=u,u&missed=",
    "a gain for each grade": "/measures/nDCG?grades=3,1,u,2&p.gain=%7B1:%203,%202:%209%7D",
    "a count": "/measures/NumRelRet",
    "words as a parameter": "/measures/nDCG?p.ideal=retrieved&p.cutoff=3",
}


@needs_bash
@pytest.mark.parametrize("address", MEASURED.values(), ids=MEASURED)
def test_the_command_and_the_lines_give_the_value_of_a_measure(address, tmp_path):
    definition = definition_of(address.partition("?")[0].rpartition("/")[2])
    page = measure_page(definition, measure_state_of(definition, fields_in(address)))

    check(page.again, [page.measures], tmp_path)


# What no file can hold


@pytest.mark.parametrize("state", [replace(START, grades=()), replace(START, grades=(), other=(1.0,))])
def test_an_empty_list_has_no_command_but_lines(state):
    again, values = evaluated(state)

    assert EMPTY_LIST == again.command
    assert values == in_python(again.python, Path.cwd())


def test_where_there_is_no_list_there_is_neither():
    mrr = learning.page_of(LearnState(ranks=(), query=())).mrr

    assert Again(NO_LIST, NO_LIST) == mrr.again
    assert ["RR", "RR@10", "Success@10"] == [name for name, value in mrr.measures.items() if math.isnan(value)]


# Saved lists


@needs_bash
@pytest.mark.parametrize("state", EVALUATIONS.values(), ids=EVALUATIONS)
def test_saved_files_give_the_figures_of_the_page(state, tmp_path):
    files = saved(state, "my.list-1")
    for name, content in files.contents.items():
        (tmp_path / name).write_bytes(content)
    _, values = evaluated(state)

    assert values == exact(files.command, tmp_path)
    runs = sorted(name for name in files.contents if name.endswith(".run"))
    assert (["my.list-1-a.run", "my.list-1-b.run"] if state.other else ["my.list-1.run"]) == runs
    for run, each in zip(runs, values, strict=True):
        found = assay.evaluate(tmp_path / "my.list-1.qrels", tmp_path / run, list(each), unmatched="zero")
        assert each == dict(found.mean())
    assert state.address == files.address


def test_saved_files_have_the_names_of_the_page_as_far_as_ids_can():
    state = replace(
        START, grades=(3.0, None, 1.0, 0.0), name=("Rye bread", "", "Rye bread", "d1 (old)"), title="How to?"
    )

    assert {
        "bread.qrels": b"How-to 0 Rye-bread 3\nHow-to 0 Rye-bread-2 1\nHow-to 0 d1-old 0\n",
        "bread.run": b"How-to Q0 Rye-bread 1 4 list\nHow-to Q0 d2 2 3 list\nHow-to Q0 Rye-bread-2 3 2 list\n"
        b"How-to Q0 d1-old 4 1 list\n",
    } == saved(state, "bread").contents


def test_what_was_saved_in_words():
    assert "Saved bread.qrels and bread.run in the data folder." == saved(START, "bread").words
    assert (
        "Saved bread.qrels and bread-a.run and bread-b.run in the data folder."
        == saved(replace(START, other=(1.0,)), "bread").words
    )


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", "a\\b", ".hidden", "-m", "a b", "a\n", "é", "a" * 81, "a\0", "$(x)", "CON "]
)
def test_names_that_could_be_anything_else_are_refused(name):
    with pytest.raises(InputError, match=r"^a file cannot be called .* here: use up to 80 letters, digits, dots"):
        saved(START, name)


def test_an_empty_list_cannot_be_saved():
    for state in (replace(START, grades=()), replace(START, grades=(), other=(1.0,))):
        with pytest.raises(InputError, match=r"^an empty list cannot be saved as a run\. Add a result to it\.$"):
            saved(state, "bread")


def test_figures_are_compared_to_the_last_digit(tmp_path):
    """The comparison of these tests can fail."""
    again, values = evaluated(START)
    wrong = [{name: math.nextafter(value, 2) for name, value in values[0].items()}]

    assert wrong != in_python(again.python, tmp_path)
