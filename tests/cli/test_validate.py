"""assay runs validate, assay qrels validate, assay explain, as a user runs them."""

from __future__ import annotations

import gzip
import json

import pytest

from cli.command import assay
from docs.schema import problems
from validation.cases import GOOD_QRELS, GOOD_RUN, QRELS_CASES, RUN_CASES


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def test_a_page_of_findings(write, tmp_path):
    write("a.run", GOOD_RUN + "3 Q0 a 1 2.0 x\n3 Q0 a 2 1.0 x\n")

    done = assay("runs", "validate", "a.run", cwd=tmp_path)

    assert 1 == done.returncode
    assert (
        "a.run: not valid (1 error, 0 warnings, 0 notes)\n"
        "run (trec), 7 lines, 7 rows, 3 queries\n"
        "\n"
        "error    1 document is listed more than once for a query [RUN020]\n"
        "         - line 7, query 3: a with score 1; already in line 6 with score 2\n"
        "         List each document once per query. If the rows are passages of the same document, collapse\n"
        "         them first (`assay runs collapse`). --fix removes duplicates with the same score; with\n"
        "         --policy duplicates=best, it keeps the best of the others too.\n"
    ) == done.stdout


def test_exit_status(write, tmp_path):
    good, bad = write("good.run", GOOD_RUN), write("bad.run", "")

    assert 0 == assay("runs", "validate", good).returncode
    assert 1 == assay("runs", "validate", bad).returncode
    assert 2 == assay("runs", "validate", tmp_path / "nowhere").returncode
    assert 2 == assay("runs", "validate", tmp_path).returncode
    assert 2 == assay("runs", "validate", good, "--qrels", tmp_path / "nowhere").returncode
    assert 2 == assay("runs", "validate", good, "--profile", "trec").returncode


def test_strict_counts_warnings(write):
    run = write("a.run", GOOD_RUN + "3 Q0 a 1 2.0 other\n")

    assert 0 == assay("runs", "validate", run).returncode
    assert 1 == assay("runs", "validate", run, "--strict").returncode
    assert json.loads(assay("runs", "validate", run, "--format", "json").stdout)["valid"]
    assert not json.loads(assay("runs", "validate", run, "--strict", "--format", "json").stdout)["valid"]


@pytest.mark.parametrize("content", [b"", GOOD_RUN.encode("utf-16"), b"\x00\xff\x13garbage", b"\x1f\x8bcut", b"{]"])
def test_whatever_can_be_opened_gets_json(write, content):
    for kind in ("runs", "qrels"):
        done = assay(kind, "validate", write("any", content), "--format", "json")

        assert (1, "") == (done.returncode, done.stderr)
        assert not json.loads(done.stdout)["valid"]


def test_a_compressed_run_and_standard_input(write):
    run = write("a.run.gz", gzip.compress(GOOD_RUN.encode()))

    assert "valid, no findings" in assay("runs", "validate", run).stdout
    assert "valid, no findings" in assay("runs", "validate", "-", stdin=GOOD_RUN.encode()).stdout


def test_the_json_is_what_its_schema_says(write, schema):
    for _, content, _, _ in RUN_CASES[::6]:
        done = assay("runs", "validate", write("a.run", content), "--format", "json", "--qrels", write("q", GOOD_QRELS))
        assert [] == list(problems(json.loads(done.stdout), schema))
    for _, content, _, _ in QRELS_CASES[::6]:
        done = assay("qrels", "validate", write("a.qrels", content), "--format", "json")
        assert [] == list(problems(json.loads(done.stdout), schema))


@pytest.fixture(scope="module")
def schema():
    from docs.blocks import DOCS

    return json.loads((DOCS / "schemas" / "validation-1.json").read_text())


def test_annotations_for_github(write, tmp_path):
    write("a,b.run", GOOD_RUN + "3 Q0 100%\x1b 1\n")

    done = assay("runs", "validate", "a,b.run", "--format", "github", cwd=tmp_path)
    error = done.stdout.splitlines()[0]

    assert error.startswith("::error file=a%2Cb.run,line=6,title=RUN009 Wrong number of columns::")
    assert "3 Q0 100%25\\x1b 1" in error


def test_sarif(write):
    done = assay("runs", "validate", write("a.run", GOOD_RUN + "oh\n"), "--format", "sarif")
    run = json.loads(done.stdout)["runs"][0]

    assert ["RUN009"] == [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [("RUN009", "error", 6)] == [
        (r["ruleId"], r["level"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in run["results"]
    ]


def test_a_repaired_copy(write, tmp_path):
    run = write("a.run", GOOD_RUN.replace("\n", "\n\n") + "3 Q0 a 1\n")

    done = assay("runs", "validate", run, "--fix", tmp_path / "b.run")

    assert 1 == done.returncode
    assert "b.run: 5 repairs\n  - blank lines removed (lines 2, 4, 6, 8, 10)\n" in done.stdout
    assert "The repaired copy is not valid (1 error, 0 warnings, 0 notes)." in done.stdout
    assert GOOD_RUN + "3 Q0 a 1\n" == (tmp_path / "b.run").read_text()


def test_judgments(write):
    done = assay("qrels", "validate", write("a.qrels", GOOD_QRELS.replace("d 2", "d E")), "--grades", "E=2")

    assert 0 == done.returncode
    assert "only 2 judged queries; 50 or more are recommended [QRL041]" in done.stdout


def test_explain():
    page, everything, unknown = assay("explain", "run004"), assay("explain"), assay("explain", "RUN999")

    assert page.stdout.startswith("RUN004  Blank lines (note)\n\nWhy: A blank line may mark")
    assert "What to do: Harmless here" in page.stdout
    assert "RUN020  error    Duplicate document in a query\n" in everything.stdout
    assert (2, "") == (unknown.returncode, unknown.stdout)
    assert "no rule has the code 'RUN999'" in unknown.stderr


HOSTILE = [
    "[red]x[/red]",
    "</script><script>alert(1)</script>",
    "::error::x",
    "\x1b[31mred",
    "%0A::warning::x",
    "a\u202eb",
]


@pytest.mark.parametrize("output_format", ["table", "json", "github", "sarif"])
def test_hostile_ids_are_data(write, output_format):
    rows = "".join(f"{text} Q0 {text} 1 nan {text}\n{text} Q0 {text} 1 2.0 {text}\n" for text in HOSTILE)
    done = assay("runs", "validate", write("a.run", rows.encode() + b"caf\xe9 Q0 d 1 x t\n"), "--format", output_format)

    assert (1, "") == (done.returncode, done.stderr)
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    if output_format == "table":
        assert "[red]x[/red]" in done.stdout
    if output_format == "github":
        assert all(
            line.startswith(("::error file=", "::warning file=", "::notice file=")) for line in done.stdout.splitlines()
        )
    if output_format in ("json", "sarif"):
        json.loads(done.stdout)
