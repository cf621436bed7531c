"""assay gate, as a user and a CI server run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems
from gate.files import edit, write_files


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


def gate(folder, candidate, *options, baseline="main.run", qrels="qrels.txt"):
    return assay("gate", "--baseline", baseline, "--candidate", candidate, "--qrels", qrels, *options, cwd=folder)


@pytest.mark.parametrize(
    ("candidate", "rules", "status", "first"),
    [
        ("better.run", ["RR >= 0"], 0, "Gate: pass (1 passes): better against main, 60 queries"),
        ("main.run", ["RR >= 0"], 0, "Gate: unchanged (1 is unchanged): main against main, 60 queries"),
        (
            "worse.run",
            ["RR >= -0.01", "RR >= -0.5"],
            1,
            "Gate: fail (1 fails, 1 passes): worse against main, 60 queries",
        ),
        (
            "worse.run",
            ["RR >= -0.12", "R@10 >= 0"],
            3,
            "Gate: inconclusive (1 is inconclusive, 1 is unchanged): worse against main, 60 queries",
        ),
        (
            "worse.run",
            ["RR >= -0.12", "RR >= 0"],
            1,
            "Gate: fail (1 fails, 1 is inconclusive): worse against main, 60 queries",
        ),
    ],
)
@pytest.mark.parametrize("output_format", ["table", "json", "github", "junit", "markdown"])
def test_the_exit_status_is_the_decision_in_every_format(files, candidate, rules, status, first, output_format):
    done = gate(files, candidate, *(part for rule in rules for part in ("--rule", rule)), "--format", output_format)

    assert (status, "") == (done.returncode, done.stderr)
    if output_format == "table":
        assert first == done.stdout.splitlines()[0]
    if output_format == "json":
        found = json.loads(done.stdout)
        assert status == found["exit_code"]
        assert [] == list(problems(found, json.loads((DOCS / "schemas" / "gate-1.json").read_text())))


def test_a_report_of_assay_evaluate_is_a_baseline(files):
    made = assay("evaluate", "qrels.txt", "main.run", "-m", "RR", "--report", "base", cwd=files)
    assert 0 == made.returncode
    by_run = gate(files, "better.run", "--rule", "RR >= 0", "--format", "json")
    by_report = gate(files, "better.run", "--rule", "RR >= 0", "--format", "json", baseline="base")

    assert (0, "") == (by_report.returncode, by_report.stderr)
    assert json.loads(by_run.stdout)["rules"] == json.loads(by_report.stdout)["rules"]
    assert [] == json.loads(by_report.stdout)["warnings"]

    edit(files / "base" / "EvaluationReport.json", created="2020-02-29T00:00:00Z")
    old = gate(files, "better.run", "--rule", "RR >= 0", "--ties", "doc-asc", "--max-age", "365", baseline="base")

    assert 0 == old.returncode
    assert " days old (made on 2020-02-29; the limit is 365 days)" in old.stdout
    assert "warning       OTHER RULES: the baseline was evaluated under ties=doc-desc, this" in old.stdout


def test_a_file_gets_the_output_and_the_terminal_the_decision(files):
    done = gate(files, "worse.run", "--rule", "RR >= 0", "--format", "junit", "-o", "gate.xml")

    assert (1, "") == (done.returncode, done.stdout)
    assert "Gate: fail (1 fails): worse against main, 60 queries\n" == done.stderr
    assert "1" == ElementTree.parse(files / "gate.xml").getroot().get("failures")


@pytest.mark.parametrize(("rule", "status"), [("RR >= -0.5", 0), ("RR >= 0", 1), ("RR >= -0.12", 3)])
def test_the_decision_stands_when_the_reader_has_gone(files, rule, status):
    """`assay gate ... | head -1` under pipefail."""
    reader, writer = os.pipe()
    os.close(reader)
    command = ["gate", "--baseline", "main.run", "--candidate", "worse.run", "--qrels", "qrels.txt", "--rule", rule]
    done = subprocess.run([sys.executable, "-m", "assay", *command], stdout=writer, cwd=files, check=False)
    os.close(writer)

    assert status == done.returncode


@pytest.mark.parametrize(("choice", "status", "said"), [("pass", 0, ""), ("warn", 0, "inconclusive"), ("fail", 1, "")])
def test_an_inconclusive_result_can_be_taken_for_another(files, choice, status, said):
    done = gate(files, "worse.run", "--rule", "RR >= -0.12", "--inconclusive", choice)
    clear = gate(files, "worse.run", "--rule", "RR >= 0", "--inconclusive", choice)

    assert status == done.returncode
    assert done.stdout.startswith("Gate: inconclusive")
    assert said in done.stderr
    assert bool(said) == bool(done.stderr)
    assert 1 == clear.returncode


@pytest.mark.parametrize(
    ("choice", "counts"), [("warn", ("0", "0", "1")), ("fail", ("1", "0", "0")), (None, ("0", "1", "0"))]
)
def test_a_report_of_tests_says_the_same(files, choice, counts):
    options = () if choice is None else ("--inconclusive", choice)
    done = gate(files, "worse.run", "--rule", "RR >= -0.12", "--format", "junit", *options)
    suite = ElementTree.fromstring(done.stdout).find("testsuite")

    assert counts == (suite.get("failures"), suite.get("errors"), suite.get("skipped"))


def test_a_strict_gate_fails_by_a_warning(files):
    few = (files / "better.run").read_text().replace("q0 ", "gone ")
    (files / "few.run").write_text(few)
    usual, strict = (gate(files, "few.run", "--rule", "RR >= -0.1", *more) for more in ((), ("--strict",)))

    assert (0, 1) == (usual.returncode, strict.returncode)
    assert "warning       the candidate is missing 1 of 60 judged queries (q0), counted as 0." in usual.stdout
    words = " ".join(strict.stdout.split())
    assert words.startswith("Gate: fail (1 fails, 1 passes): few against main, 60 queries")
    assert "fail warning, and the gate is strict: the candidate is missing 1 of 60 judged queries" in words
    assert 0 == gate(files, "better.run", "--rule", "RR >= -0.1", "--strict").returncode


def test_a_strict_gate_refuses_what_decides_nothing(files):
    (files / "half.run").write_text("".join((files / "better.run").read_text().splitlines(keepends=True)[:20]))
    same = gate(files, "main.run", "--rule", "RR >= 0", "--strict")
    half = gate(files, "half.run", "--rule", "RR >= 0", "--strict")

    assert (2, "") == (same.returncode, same.stdout)
    assert "Error: main.run: baseline and candidate are the same file, so there is nothing to decide." in same.stderr
    assert (2, "") == (half.returncode, half.stdout)
    assert re.match(r"Error: half.run: the candidate lacks \d+ of 60 judged queries \(q", half.stderr)


def test_targets_count(files):
    (files / "house.toml").write_text("[measures.RR]\ngood = 0.99\n")

    done = gate(files, "better.run", "--rule", "RR >= 0", "--targets", "house.toml")

    assert (1, "") == (done.returncode, done.stderr)
    assert "fail          target RR: 0.8750 of 0.9900 (good): 0.1150 short.\n" in done.stdout


def test_options_of_evaluation_reach_it(files):
    lenient = gate(
        files, "better.run", "--rule", "P@1 >= 0", "--depth", "1", "--like", "trec_eval-9", "--alpha", "0.2", "-v"
    )

    assert (0, "") == (lenient.returncode, lenient.stderr)
    assert "only the first document of each query" in lenient.stdout
    assert "Each bound is one-sided at 80%" in lenient.stdout


def test_runs_have_names_and_come_from_anywhere(files):
    done = assay(
        *("gate", "--baseline", "old=main.run", "--candidate", "new=-", "--qrels", "qrels.txt", "--rule", "RR >= 0"),
        stdin=(files / "better.run").read_bytes(),
        cwd=files,
    )

    assert "Gate: pass (1 passes): new against old, 60 queries" == done.stdout.splitlines()[0]


@pytest.mark.parametrize("output_format", ["table", "json", "github", "junit", "markdown"])
def test_hostile_names_and_ids_are_data(files, output_format):
    for name in ("qrels.txt", "main.run", "better.run"):
        data = (files / name).read_bytes().replace(b"q7 ", b"\x1b[31m<i>|::error::\xe9 ")
        (files / name).write_bytes(data)
    (files / "short.run").write_bytes((files / "better.run").read_bytes().split(b"\x1b")[0])

    done = gate(
        files,
        "[red]\x1b[31m]]>|x=short.run",
        *("--rule", "RR >= -0.01", "--query-set", "both", "--format", output_format),
        baseline="<b>\r\n::error::=main.run",
    )

    assert (3, "") == (done.returncode, done.stderr)
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout
    assert "::error::" not in [line[:9] for line in done.stdout.splitlines()]
    if output_format == "junit":
        ElementTree.fromstring(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rule", "nDGC@10 >= 0"], "Error: rule 'nDGC@10 >= 0': no measure called 'nDGC'; did you mean 'nDCG'?"),
        (["--rule", "RR"], "Error: rule 'RR': has no >=; a rule is MEASURE >= NUMBER, such as 'nDCG@10 >= -0.01'."),
        ([], "Error: nothing to decide; give a rule with --rule 'nDCG@10 >= -0.01', or targets with --targets."),
        (["--rule", "RR >= 0", "--alpha", "0.5"], "0.5 is not in the range 0<x<=0.25"),
        (["--rule", "RR >= 0", "--targets", "nothing"], "no target profile called 'nothing'"),
        (["--rule", "RR >= 0", "--baseline", "gone.run"], "gone.run"),
        (["--rule", "RR >= 0", "--baseline", "."], "is not a report: it has no EvaluationReport.json."),
        (["--rule", "RR >= 0", "--baseline", "-", "--candidate", "-"], "standard input (-) can be read only once"),
        (["--rule", "RR >= 0", "-o", "gone/gate.xml"], "cannot be written"),
    ],
)
def test_what_cannot_be_decided_for_a_mistake_ends_with_2(files, arguments, message):
    done = gate(files, "better.run", *arguments)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr


@pytest.mark.parametrize("left_out", ["--baseline", "--candidate", "--qrels"])
def test_all_three_are_needed(files, left_out):
    given = {"--baseline": "main.run", "--candidate": "better.run", "--qrels": "qrels.txt"}
    arguments = [part for name, value in given.items() if name != left_out for part in (name, value)]

    done = assay("gate", *arguments, "--rule", "RR >= 0", cwd=files)

    assert 2 == done.returncode
    assert f"Missing option '{left_out}'" in done.stderr
