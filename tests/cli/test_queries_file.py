"""--queries: answers of search engines get the ids of the queries, in every command that reads runs."""

from __future__ import annotations

import json

import pytest

from cli.command import assay


def answer(*hits):
    found = [{"_index": "shop", "_id": doc, "_score": score} for doc, score in hits]
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    total = {"value": len(found), "relation": "eq"}
    return {
        "took": 2,
        "timed_out": False,
        "_shards": shards,
        "hits": {"total": total, "max_score": None, "hits": found},
        "status": 200,
    }


@pytest.fixture
def here(tmp_path):
    """The relevant document is second for q1 and first for q2: RR is (1/2 + 1) / 2 = 0.75."""
    answers = [answer(("stone", 9.5), ("apple", 8.25)), answer(("pear", 0.5))]
    (tmp_path / "answers.json").write_text(json.dumps({"took": 4, "responses": answers}))
    (tmp_path / "turned.json").write_text(json.dumps({"took": 4, "responses": answers[::-1]}))
    (tmp_path / "queries.tsv").write_text("q1\tgreen fruit\nq2\tsoft fruit\n")
    (tmp_path / "qrels.txt").write_text("q1 0 apple 1\nq2 0 pear 1\n")
    (tmp_path / "ratings.csv").write_text("query,docid,rating\ngreen fruit,apple,1\nsoft fruit,pear,1\nmore,,\n")
    return tmp_path


RUN = ("answers.json", "--queries", "queries.tsv")


def means(done) -> dict[str, float]:
    assert (0, "") == (done.returncode, done.stderr)
    return {row.split(",")[0]: float(row.split(",")[2]) for row in done.stdout.splitlines()[1:]}


def test_answers_are_evaluated(here):
    csv = ("-m", "RR", "--format", "csv")

    assert {"answers": 0.75} == means(assay("evaluate", "qrels.txt", *RUN, *csv, cwd=here))
    assert {"answers": 0.75} == means(assay("evaluate", "ratings.csv", *RUN, *csv, cwd=here))
    assert {"answers": 0.0} == means(
        assay("evaluate", "qrels.txt", "answers=turned.json", *RUN[1:], *csv, "--unmatched", "zero", cwd=here)
    )


def test_the_message_names_the_option(here):
    done = assay("evaluate", "qrels.txt", "answers.json", cwd=here)

    assert (2, "") == (done.returncode, done.stdout)
    assert (
        "Error: answers.json: the answers have no query ids. List the queries in a file, in the order of the searches, "
        "and give it with --queries\n"
    ) == done.stderr


def test_findings_name_the_option(here):
    done = assay("runs", "validate", "answers.json", cwd=here, env={"COLUMNS": "200"})

    assert 1 == done.returncode
    assert "and give it with --queries\n" in done.stdout


def test_a_wrong_number_of_queries_names_both_files(here):
    (here / "queries.tsv").write_text("q1\tgreen fruit\n")
    done = assay("evaluate", "qrels.txt", *RUN, cwd=here)

    assert (
        "Error: answers.json: 2 answers but 1 query in queries.tsv. The answers have no query ids, so each query needs "
        "exactly one answer, in the same order.\n"
    ) == done.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ("gate", "--baseline", "answers.json", "--candidate", *RUN, "--qrels", "qrels.txt", "--rule", "RR >= -0.1"),
            "RR",
        ),
        (
            ("compare", "qrels.txt", "a=answers.json", "b=turned.json", *RUN[1:], "-m", "RR", "--moves", "2"),
            "soft fruit",
        ),
        (("diagnose", "qrels.txt", *RUN), "queries"),
        (("conventions", "qrels.txt", *RUN), "trec_eval"),
        (
            ("reproduce", "0.75", "qrels.txt", *RUN, "-m", "RR"),
            "assay evaluate qrels.txt answers.json -m RR --queries queries.tsv",
        ),
        (("runs", "info", *RUN), "q1      stone"),
        (("runs", "convert", *RUN, "-o", "-", "--to", "trec"), "q2 Q0 pear 1 0.5 answers"),
        (("runs", "validate", *RUN, "--qrels", "ratings.csv"), "run, qrels and queries          2  q1, q2"),
        (("runs", "fuse", *RUN, "-o", "-", "--to", "trec"), "queries.tsv"),
        (("runs", "collapse", *RUN, "--regex", "...", "-o", "-", "--to", "trec"), "q1 Q0 app"),
        (("qrels", "convert", "ratings.csv", *RUN[1:], "-o", "-", "--to", "trec"), "q2 0 pear 1"),
        (("qrels", "info", "ratings.csv", *RUN[1:]), "q1      apple"),
        (("qrels", "validate", "ratings.csv", *RUN[1:]), "q1, q2"),
    ],
)
def test_every_command_takes_the_queries(here, command, words):
    done = assay(*command, cwd=here, env={"COLUMNS": "150"})

    assert words in done.stdout
    assert "Error" not in done.stderr


def test_a_report_can_be_verified_with_its_queries(here):
    assay("evaluate", "qrels.txt", *RUN, "-m", "RR", "--report", "report", cwd=here)
    manifest = json.loads((here / "report" / "ExperimentManifest.json").read_bytes())

    assert "queries.tsv" == manifest["queries"]
    assert ["qrels.txt", "answers.json", "queries.tsv"] == [each["path"] for each in manifest["inputs"]]
    assert 0 == assay("verify", "report", cwd=here).returncode

    (here / "queries.tsv").write_text("q2\tsoft fruit\nq1\tgreen fruit\n")
    changed = assay("verify", "report", cwd=here)

    assert 1 == changed.returncode
    assert "DIFFERS  queries.tsv  has changed" in changed.stdout
    assert "DIFFERS  RR" in changed.stdout

    (here / "queries.tsv").unlink()
    gone = assay("verify", "report", cwd=here).stdout

    assert "unknown  all numbers  queries.tsv was not found" in gone


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "qrels.txt", *RUN, "-o", "queries.tsv"),
        ("runs", "fuse", *RUN, "-o", "queries.tsv"),
        ("runs", "convert", *RUN, "-o", "queries.tsv"),
        ("qrels", "convert", "ratings.csv", *RUN[1:], "-o", "queries.tsv"),
    ],
)
def test_queries_are_not_overwritten(here, command):
    done = assay(*command, cwd=here)

    assert "Error: queries.tsv: this is also an input file; choose another output file.\n" == done.stderr
