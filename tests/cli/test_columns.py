"""--columns on every command that reads runs or qrels."""

from __future__ import annotations

import json

import click
import pytest

from cli.command import assay
from cli.test_commands import all_commands

READS = {
    *(("evaluate",), ("compare",), ("leaderboard",), ("gate",), ("diagnose",), ("conventions",), ("reproduce",)),
    *(("runs", name) for name in ("validate", "info", "convert", "fuse", "collapse", "diff")),
    *(("qrels", name) for name in ("validate", "info", "convert", "sample")),
    *(("collections", "check"), ("benchmark", "run"), ("queries", "sample")),
}
ALL = "query=search_term,doc=sku,rel=stars,rank=position"


@pytest.fixture
def files(tmp_path):
    """The relevant document is second by position and first by score."""
    (tmp_path / "judged.csv").write_text("search_term,locale,sku,stars\nred shoes,de,x1,1\nred shoes,us,x9,1\n")
    (tmp_path / "export.csv").write_text(
        "search_term,locale,sku,position,score\nred shoes,de,x2,1,0.1\nred shoes,de,x1,2,0.9\nred shoes,us,x9,3,0.5\n"
    )
    (tmp_path / "trec.run").write_text("red Q0 x1 1 1.0 t\n")
    return tmp_path


def test_every_command_that_reads_them_has_the_option():
    options = {path: {option for each in command.params for option in each.opts} for path, command in all_commands()}

    assert READS == {path for path, given in options.items() if "--columns" in given}
    assert all(
        option.multiple
        for _, command in all_commands()
        for option in command.params
        if isinstance(option, click.Option) and option.name == "columns"
    )


@pytest.mark.parametrize(
    "columns",
    [[f"--columns={ALL}"], [f"--columns={part}" for part in ALL.split(",")]],
)
def test_pairs_by_comma_or_repeated(files, columns):
    done = assay("evaluate", "judged.csv", "export.csv", "-m", "RR", "--format", "csv", *columns, cwd=files)

    assert ("run,query,RR\nexport,all,0.5\n", 0) == (done.stdout, done.returncode)


def test_joined_columns(files):
    given = ["--columns", "query=search_term+locale,doc=sku,rel=stars", "--columns", "run.rank=position"]
    done = assay(
        "evaluate", "judged.csv", "export.csv", "-m", "RR", "--per-query", "--format", "csv", *given, cwd=files
    )

    assert "run,query,RR\nexport,red shoes|de,0.5\nexport,red shoes|us,1.0\nexport,all,0.75\n" == done.stdout


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["conventions", "judged.csv", "export.csv", "-m", "RR"], "0.5000"),
        (["diagnose", "judged.csv", "export.csv", "-m", "RR", "--only", "labels", "-v"], "red shoes"),
        (["compare", "judged.csv", "export.csv", "b=export.csv", "-m", "RR", "--format", "json"], '"export"'),
        (["runs", "info", "export.csv"], "red shoes"),
        (["runs", "validate", "export.csv", "--qrels", "judged.csv"], "red shoes"),
        (["runs", "convert", "export.csv", "-o", "-", "--to", "csv"], "red shoes,x2,1,-1.0\n"),
        (["runs", "fuse", "export.csv", "trec.run", "-o", "-", "--to", "csv"], "red shoes,x2,"),
        (["runs", "collapse", "export.csv", "--regex", "^(.)", "-o", "-", "--to", "csv"], "red shoes,x,-1"),
        (["qrels", "info", "judged.csv"], "red shoes"),
        (["qrels", "validate", "judged.csv"], "2 rows, 1 query"),
        (["qrels", "convert", "judged.csv", "-o", "-", "--to", "csv"], "red shoes,x1,1\n"),
    ],
)
def test_commands_read_the_named_columns(files, command, expected):
    roles = {"runs": "query=search_term,doc=sku,rank=position", "qrels": "query=search_term,doc=sku,rel=stars"}
    columns = ALL if "validate" in command and "runs" in command else roles.get(command[0], ALL)
    done = assay(*command, "--columns", columns, cwd=files)

    assert "" == "".join(line for line in done.stderr.splitlines(True) if line.startswith("Error"))
    assert expected in done.stdout


def test_the_gate_reads_them_too(files):
    sides = ["--baseline", "export.csv", "--candidate", "new=export.csv", "--qrels", "judged.csv"]
    columns = "query=search_term+locale,doc=sku,rel=stars,rank=position"
    done = assay("gate", *sides, "--rule", "RR >= -0.1", "--columns", columns, "--format", "json", cwd=files)

    assert (0.75, 0) == (json.loads(done.stdout)["rules"][0]["candidate_mean"], done.returncode)


def test_judgments_are_sampled_by_the_joined_id(files):
    columns = "query=search_term+locale,doc=sku,rel=stars"
    done = assay("qrels", "sample", "judged.csv", "--size", "1", "-o", "dev.csv", "--columns", columns, cwd=files)

    assert 0 == done.returncode, done.stderr
    assert (files / "dev.csv").read_text() in (
        "query_id,doc_id,relevance\nred shoes|de,x1,1\n",
        "query_id,doc_id,relevance\nred shoes|us,x9,1\n",
    )


def test_the_command_that_gives_a_number_again_reads_the_same(files):
    done = assay("reproduce", "0.5", "judged.csv", "export.csv", "-m", "RR", "--columns", ALL, cwd=files)

    assert f"--columns {ALL}" in done.stdout


def test_a_report_is_verified_with_the_same_columns(files):
    assay("evaluate", "judged.csv", "export.csv", "-m", "RR", "--columns", ALL, "--report", "report", cwd=files)
    done = assay("verify", "report", cwd=files)

    assert 0 == done.returncode, done.stdout
    assert "Verified: all" in done.stdout


def test_a_name_that_no_table_has_leaves_no_output_behind(files):
    (files / "qrels.csv").write_text("query_id,doc_id,rel\nq,a,1\n")
    (files / "run.csv").write_text("query_id,doc_id,sku,score\nq,a,b,1\n")
    message = (
        "Error: --columns doc=skuu: no table has a column 'skuu'; did you mean 'sku'? qrels.csv has query_id, doc_id, rel; "
        "run.csv has query_id, doc_id, sku, score.\n"
    )
    for more in ([], ["--report", "report"]):
        done = assay("evaluate", "qrels.csv", "run.csv", "--columns", "doc=skuu", *more, cwd=files)

        assert (2, "", message) == (done.returncode, done.stdout, done.stderr)
    assert not (files / "report").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["evaluate", "judged.csv", "export.csv"],
            "judged.csv:1: no query, document or grade column; the columns are search_term, locale, sku, stars. "
            "Say which ones they are with --columns query=NAME,doc=NAME,rel=NAME.",
        ),
        (
            [
                "evaluate",
                "judged.csv",
                "trec.run",
                "--columns",
                "run.doc=sku,qrels.doc=sku,query=search_term,rel=stars",
            ],
            "trec.run: --columns run.doc=sku: there is no header with such a column: the first line is "
            "'red Q0 x1 1 1.0 t'. Add a header line, or leave run.doc out.",
        ),
        (
            ["runs", "info", "export.csv", "--columns", "rel=stars"],
            "--columns rel=stars: this command reads a run only, with the roles query, doc, score, rank, tag.",
        ),
        (
            ["qrels", "info", "judged.csv", "--columns", "run.doc=sku"],
            "--columns run.doc=sku: this command reads qrels only, with the roles query, doc, rel, iteration.",
        ),
        (
            ["qrels", "info", "judged.csv", "--columns", "query=search_term,doc=sku,rel=Star Rating"],
            "judged.csv:1: --columns 'rel=Star Rating': the table has no column 'Star Rating'. The columns are "
            "search_term, locale, sku, stars.",
        ),
        (
            ["evaluate", "judged.csv", "export.csv", "--columns", "query=search_term,sku"],
            "--columns 'query=search_term,sku': 'sku' names no role; write ROLE=COLUMN, such as query=search_term, "
            "run.doc=sku, doc=sku+lang. A column whose name contains a comma needs quotes.",
        ),
        (
            ["compare", "--scores", "export.csv", "--columns", "doc=sku"],
            "--columns: does not apply to --scores, which has no runs or judgments; leave it out.",
        ),
    ],
)
def test_refusals_name_the_option(files, arguments, message):
    done = assay(*arguments, cwd=files)

    assert (2, f"Error: {message}\n") == (done.returncode, done.stderr)


def test_a_column_named_for_search_results_is_refused_as_they_have_none(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "found.jsonl").write_text('{"query_id": "q1", "hits": [{"id": "a", "score": 1.0}]}\n')
    done = assay("evaluate", "qrels.txt", "found.jsonl", "--columns", "run.doc=sku", cwd=tmp_path)

    assert 2 == done.returncode
    assert "found.jsonl: --columns run.doc=sku: there is no header with such a column." in done.stderr
