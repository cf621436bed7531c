"""assay runs validate, assay qrels validate, assay explain, as a user runs them."""

from __future__ import annotations

import gzip
import json

import pytest

from assay.cli.validation import progress_bar
from assay.validation.validating import validate_run
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

    assert "valid, no findings" in " ".join(assay("runs", "validate", run).stdout.split())
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


PADDED = GOOD_RUN.replace("1 Q0", "001 Q0").replace("2 Q0", "002 Q0")


def test_policies_with_what_they_touched_and_what_they_are_worth(write, tmp_path):
    write("a.run", PADDED)
    write("q.txt", GOOD_QRELS)
    options = ("--policy", "ids=strip-zeros", "--policy", "cut=1", "--fix", "b.run")  # in any order

    done = assay("runs", "validate", "a.run", "--qrels", "q.txt", *options, cwd=tmp_path)

    assert 1 == done.returncode  # the file itself is not valid
    assert (
        "error    leading zeros: 2 query ids would match if written the same way [RUN054]\n"
        "         - query 001: '001' here, '1' in the other file (leading zeros)\n"
        "         - query 002: '002' here, '2' in the other file (leading zeros)\n"
        "         This explains 3 more findings: RUN050, RUN051, RUN056.\n"
        "         Rewrite them: assay runs validate RUN --qrels QRELS --fix OUT --policy ids=strip-zeros.\n"
    ) in done.stdout
    assert (
        "b.run: 8 repairs\n"
        "  - ids=strip-zeros: leading zeros of query ids removed (lines 1, 2, 3, 4, 5); nDCG@10 is 0.8801;\n"
        "    before, the run could not be scored\n"
        "  - cut=1: documents below rank 1 removed (lines 2, 3, 5); nDCG@10 stays at 0.8801\n"
        "The repaired copy is valid"
    ) in done.stdout
    assert (tmp_path / "b.run").read_text().endswith("# ir_metadata.end\n1 Q0 a 1 9.5 x\n2 Q0 d 1 4.0 x\n")
    again = assay("runs", "validate", "a.run", *options, "--no-metadata", cwd=tmp_path)
    assert "before" not in again.stdout  # without judgments, there is no measure
    assert "1 Q0 a 1 9.5 x\n2 Q0 d 1 4.0 x\n" == (tmp_path / "b.run").read_text()


def test_policies_as_json(write, tmp_path, schema):
    run, qrels = write("a.run", PADDED), write("q.txt", GOOD_QRELS)
    options = ("--fix", tmp_path / "b.run", "--policy", "ids=strip-zeros", "--format", "json")

    found = json.loads(assay("runs", "validate", run, "--qrels", qrels, *options).stdout)

    assert [] == list(problems(found, schema))
    assert [("RUN054", "ids=strip-zeros", ["RUN050", "RUN051", "RUN056"])] == [
        (each["code"], each["policy"], each["explains"]) for each in found["findings"]
    ]
    (policy,) = found["policies"]
    assert ("ids=strip-zeros", 5, "nDCG@10", None) == tuple(policy[k] for k in ("policy", "count", "measure", "before"))
    assert (True, []) == (found["left"]["valid"], [code for code in found["left"]["codes"] if code == "RUN054"])


@pytest.mark.parametrize("output_format", ["github", "sarif"])
def test_what_a_finding_explains_is_said_but_not_listed(write, output_format):
    options = ("--qrels", write("q.txt", GOOD_QRELS), "--format", output_format)

    done = assay("runs", "validate", write("a.run", PADDED), *options)

    assert "This explains 3 more findings: RUN050, RUN051, RUN056." in done.stdout
    assert "Judged query missing" not in done.stdout


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("runs", ["--policy", "cut=1"], "--policy says what to repair, so it needs --fix OUT for the repaired copy."),
        ("runs", ["--fix", "b", "--policy", "cot=1"], "no policy called 'cot'; did you mean 'cut'? --policy takes blanks=trim, "),
        ("runs", ["--fix", "b", "--policy", "cut"], "policy 'cut' needs a value. --policy takes cut=N, where N is a whole number"),
        ("runs", ["--fix", "b", "--policy", "grades=clip"], "policy 'grades' is for judgments, and this file holds a run."),
        ("qrels", ["--fix", "b", "--policy", "cut=1"], "policy 'cut' is for runs, and this file holds judgments."),
        ("runs", ["--fix", "b", "--policy", "ids=lwoer"], "policy 'ids' cannot be 'lwoer'; did you mean 'lower'? --policy takes ids="),
    ],
)  # fmt: skip
def test_policies_that_cannot_be_used(write, tmp_path, command, options, message):
    write("a", GOOD_RUN if command == "runs" else GOOD_QRELS)

    done = assay(command, "validate", "a", *options, cwd=tmp_path)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(f"Error: {message}")
    assert ["a"] == [path.name for path in tmp_path.iterdir()]


def test_ids_that_become_one_name_the_flag(write, tmp_path):
    write("a.run", "1 Q0 01 1 9 x\n1 Q0 1 2 8 x\n")

    done = assay("runs", "validate", "a.run", "--fix", "b.run", "--policy", "ids=strip-zeros", cwd=tmp_path)

    assert (2, "") == (done.returncode, done.stdout)
    assert "a.run:2: the policies turn the document ids '01' and '1' of query 1 into one." in done.stderr
    assert "listed twice: --policy duplicates=best, or 'first'." in done.stderr


def test_standard_input_cannot_be_repaired(tmp_path):
    done = assay("runs", "validate", "-", "--fix", "b.run", stdin=GOOD_RUN.encode(), cwd=tmp_path)

    assert (2, "Error: --fix needs a file: standard input (-) can be read only once.\n") == (
        done.returncode,
        done.stderr,
    )
    assert [] == list(tmp_path.iterdir())


def test_the_manifest_of_a_report_says_how_its_files_were_repaired(write, tmp_path):
    write("a.run", PADDED)
    write("q.txt", GOOD_QRELS + "2 0 f 2\n")
    assay("runs", "validate", "a.run", "--fix", "b.run", "--policy", "ids=strip-zeros", cwd=tmp_path)
    assay("qrels", "validate", "q.txt", "--fix", "r.txt", "--policy", "duplicates=best", cwd=tmp_path)

    done = assay("evaluate", "r.txt", "b.run", "--report", "report", cwd=tmp_path)
    manifest = json.loads((tmp_path / "report" / "ExperimentManifest.json").read_text())

    assert 0 == done.returncode
    assert [{"policy": "ids=strip-zeros", "lines": 5}] == manifest["metadata"]["b"]["repairs"][0]["policies"]
    assert [{"policy": "duplicates=best", "lines": 1}] == manifest["qrels_metadata"]["repairs"][0]["policies"]
    assert 0 == assay("verify", "report", cwd=tmp_path).returncode


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


def test_a_large_file_has_a_bar_where_somebody_watches(tmp_path, monkeypatch):
    """The bar is full when the whole file has been read; elsewhere there is none."""
    path = tmp_path / "large.run"
    path.write_text("".join(f"q{number} Q0 a 1 1 t\n" for number in range(1000)))
    advanced = []
    monkeypatch.setattr("rich.progress.Progress.advance", lambda self, task, more: advanced.append(more))
    with progress_bar(str(path)) as progress:
        assert progress is None
    monkeypatch.setattr("assay.cli.validation.is_watched", lambda: True)
    with progress_bar(str(path)) as progress:
        assert progress is None  # too small for one
    monkeypatch.setattr("assay.cli.validation.WORTH_A_BAR", 1)
    with progress_bar(str(path)) as progress:
        validate_run(path, progress=progress)

    assert path.stat().st_size == sum(advanced)
