"""assay runs info and assay qrels info, as a user runs them."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys

import pytest

from assay.example import QRELS, RUNS
from cli.command import assay
from cli.test_hostile_ids import HOSTILE, NOT_UTF8


def test_a_run_on_one_screen():
    done = assay("runs", "info", RUNS[0])

    assert (0, "") == (done.returncode, done.stderr)
    assert "queries     7\nrows        26\n" in done.stdout
    assert "tag         keyword\n" in done.stdout
    assert "bread-no-knead   bread-pudding         1     8.1\n" in done.stdout
    assert len(done.stdout.splitlines()) < 24


def test_qrels_on_one_screen():
    done = assay("qrels", "info", QRELS)

    assert (0, "") == (done.returncode, done.stderr)
    assert "queries         8\njudgments       30; 3 to 5 per query, median 3\n" in done.stdout
    assert "    2          11   36.7%   ████" in done.stdout
    assert len(done.stdout.splitlines()) < 26


@pytest.mark.parametrize(("group", "file"), [("runs", RUNS[0]), ("qrels", QRELS)])
def test_json_has_a_schema_and_standard_input_no_size(group, file):
    whole = json.loads(assay(group, "info", file, "--format", "json").stdout)
    piped = json.loads(assay(group, "info", "-", "--format", "json", stdin=gzip.compress(file.read_bytes())).stdout)

    assert f"assay/{group.removesuffix('s') if group == 'runs' else group}-info/1" == whole["schema"]
    assert {"path": str(file), "format": "trec", "compression": None, "size": file.stat().st_size} == whole["file"]
    assert {"path": "<stdin>", "format": "trec", "compression": "gzip", "size": None} == piped["file"]
    assert {**whole, "file": None} == {**piped, "file": None}


def test_letters_and_formats_can_be_named(tmp_path):
    (tmp_path / "esci.csv").write_text("query_id,product_id,esci_label\nq1,a,E\nq1,b,I\n")
    (tmp_path / "scores.run").write_text("q1 a 9\nq1 b 8\n")

    assert 2 == assay("qrels", "info", tmp_path / "esci.csv").returncode
    assert "    3           1   50.0%" in assay("qrels", "info", tmp_path / "esci.csv", "--grades", "E=3,I=0").stdout
    assert "do not start at 1" in assay("runs", "info", tmp_path / "scores.run").stderr
    assert "8.0 to 9.0" in assay("runs", "info", tmp_path / "scores.run", "--input-format", "beir").stdout


def test_hostile_ids_are_shown_as_data(tmp_path):
    ids = [text.encode() for text in HOSTILE] + [NOT_UTF8]
    for text in ids:
        (tmp_path / "run").write_bytes(b"%s Q0 %s 1 1.0 %s\n" % (text, text, text))
        (tmp_path / "qrels").write_bytes(b"%s %s %s 1\n" % (text, text, text))
        for group, file in (("runs", "run"), ("qrels", "qrels")):
            done = assay(group, "info", tmp_path / file)
            shown = text.decode("utf-8", "surrogateescape").replace("\x1b", "\\x1b").replace("\udce9", "\\xe9")

            assert (0, "") == (done.returncode, done.stderr)
            assert 3 <= done.stdout.count(shown)  # query, document, and tag or iteration
            assert "\x1b" not in done.stdout
            first = json.loads(assay(group, "info", tmp_path / file, "--format", "json").stdout)["first_rows"][0]
            assert text.decode("utf-8", "surrogateescape") == first["query"] == first["document"]


@pytest.mark.parametrize("terminal", ["dumb", "xterm-256color"])
def test_a_narrow_terminal(tmp_path, terminal):
    (tmp_path / "my.run").write_text("".join(f"{'q' * 70} Q0 {'d' * 70}{row} 1 1.0 x\n" for row in range(9)))
    master, slave = os.openpty()
    command = [sys.executable, "-m", "assay", "runs", "info", "my.run"]
    environment = {**os.environ, "COLUMNS": "50", "TERM": terminal}
    subprocess.run(command, stdout=slave, cwd=tmp_path, env=environment, check=True)
    os.close(slave)
    shown = re.sub(r"\x1b\[[\d;]*m|\r", "", os.read(master, 100_000).decode())
    os.close(master)

    assert "queries     1\n" in shown
    assert "…   ddd" in shown
    assert "…      1     1.0\n" in shown
    assert max(map(len, shown.splitlines())) <= 50


def test_a_missing_file():
    assert (2, "Error: nowhere.run: no such file\n") == (
        (done := assay("runs", "info", "nowhere.run")).returncode,
        done.stderr,
    )
