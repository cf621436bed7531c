"""assay queries sample, and --query-weights of the other commands."""

from __future__ import annotations

import json

import pytest

from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

SAMPLE_SCHEMA = json.loads((DOCS / "schemas" / "queries-sample-1.json").read_text(encoding="utf-8"))
EVALUATION_SCHEMA = json.loads((DOCS / "schemas" / "evaluation-1.json").read_text(encoding="utf-8"))


@pytest.fixture
def here(tmp_path):
    """A log, a sample of 40 queries with weights, judgments and two runs."""
    (tmp_path / "log.tsv").write_text("".join(f"query {rank}\t{2000 // rank}\n" for rank in range(1, 300)))
    done = assay("queries", "sample", "log.tsv", "--size", "40", "-o", "queries.tsv", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    queries = [line.split("\t")[0] for line in (tmp_path / "queries.tsv").read_text().splitlines()]
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    for name, every in (("old", 2), ("new", 3)):
        lines = []
        for number, query in enumerate(queries):
            docs = ["a", "b"] if number % every else ["b", "a"]
            lines += [f"{query} Q0 {doc} {rank} {9 - rank} {name}\n" for rank, doc in enumerate(docs, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def run(here, *arguments, status=0):
    done = assay(*arguments, cwd=here)
    assert status == done.returncode, done.stderr
    return done


# Sampling


def test_a_sample_with_its_files(here):
    header = (here / "queries.weights.tsv").read_text().splitlines()

    assert 40 == len((here / "queries.tsv").read_text().splitlines())
    assert "# ir_metadata.start" == header[0]
    assert "#     seed: 1" in header
    assert any(line.startswith("#     sha256: ") for line in header)
    assert "query\tweight\tprobability\tstratum\tcount" in header


def test_the_sample_is_the_same_again(here):
    before = [(here / name).read_bytes() for name in ("queries.tsv", "queries.weights.tsv")]
    run(here, "queries", "sample", "log.tsv", "--size", "40", "-o", "queries.tsv")

    assert before == [(here / name).read_bytes() for name in ("queries.tsv", "queries.weights.tsv")]


@pytest.mark.parametrize("more", [(), ("-o", "other.tsv.gz"), ("--by", "uniform"), ("--size", "1000")])
def test_json(here, more):
    found = json.loads(run(here, "queries", "sample", "log.tsv", "--format", "json", *more).stdout)

    assert [] == list(problems(found, SAMPLE_SCHEMA))
    if "-o" in more:
        assert "other.weights.tsv.gz" == found["files"]["weights"]
        assert (here / "other.weights.tsv.gz").read_bytes().startswith(b"\x1f\x8b")


def test_from_standard_input_with_other_columns(here):
    done = assay(
        *("queries", "sample", "-", "--columns", "query=term,count=visits", "--size", "10"),
        stdin=b"term,visits\nshoes,3\nboots,2\n",
        cwd=here,
    )

    assert "Note: the log has 2 different queries, fewer than the 10 asked for: all are in the sample.\n" == done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("log.tsv", "-o", "log.tsv"), "log.tsv: this is also an input file; choose another output file."),
        (("log.tsv", "-o", "q.tsv", "--weights", "log.tsv"), "log.tsv: this is also an input file;"),
        (("log.tsv", "-o", "q.tsv", "--weights", "q.tsv"), "this is also an input file"),
        (("log.tsv", "--weights", "w.tsv"), "weights without the queries are of no use;"),
        (("log.tsv", "-o", "none/q.tsv"), "none/q.tsv: cannot be written: the folder does not exist."),
        (
            ("log.tsv", "--size", "3"),
            "a sample of 3 queries is too small: it takes 2 of each part of the traffic, --size 6",
        ),
        (("log.tsv", "--columns", "count=visits"), "log.tsv:2: no query field; the fields are query 1, 2000."),
        (("none.tsv",), "none.tsv: no such file"),
    ],
)
def test_what_is_refused(here, arguments, message):
    (here / "q.tsv").write_text("")

    assert message in run(here, "queries", "sample", *arguments, status=2).stderr


# Evaluating


@pytest.mark.parametrize("weights", ["new.tsv", "./new.tsv", "link.tsv"])
def test_queries_and_weights_are_two_files(here, weights):
    (here / "link.tsv").symlink_to("new.tsv")
    done = run(here, "queries", "sample", "log.tsv", "--size", "40", "-o", "new.tsv", "--weights", weights, status=2)

    assert f"{weights}: queries and weights cannot be in one file; name another one: --weights WEIGHTS." in done.stderr
    assert not (here / "new.tsv").exists()


def test_evaluate_shows_both_means(here):
    done = run(
        here, "evaluate", "qrels.txt", "old.run", "new.run", "-m", "RR", "--query-weights", "queries.weights.tsv", "-v"
    )

    assert "weighted" in done.stdout
    assert "Effective sample size: " in done.stdout
    assert "certain to be in the sample" in " ".join(done.stdout.split())


@pytest.mark.parametrize("form", ["json", "csv", "tsv", "markdown", "latex"])
def test_every_format_has_them(here, form):
    weighted, plain = (
        run(here, "evaluate", "qrels.txt", "old.run", "-m", "RR,NumRet", "--format", form, *more).stdout
        for more in (("--query-weights", "queries.weights.tsv"), ())
    )

    assert "eighted" in weighted
    assert "eighted" not in plain
    if form == "json":
        assert [] == list(problems(json.loads(weighted), EVALUATION_SCHEMA))
        assert {"RR"} == set(json.loads(weighted)["runs"][0]["weighted"])
    if form == "csv":
        rows = [line.split(",") for line in weighted.splitlines()]
        assert ["query", "all", "all low", "all high", "weighted", "weighted low", "weighted high"] == [
            r[1] for r in rows
        ]
        assert "" == rows[-1][-1]  # a sum has no weighted mean


def test_trec_eval_has_no_place_for_them(here):
    options = ("--query-weights", "queries.weights.tsv", "--format", "trec")

    assert "has no place for weighted means" in run(here, "evaluate", "qrels.txt", "old.run", *options, status=2).stderr


def test_a_judged_query_without_a_weight(here):
    (here / "few.tsv").write_text("query\tweight\nx\t1\n")
    done = run(here, "evaluate", "qrels.txt", "old.run", "--query-weights", "few.tsv", status=2)

    assert "few.tsv: 40 of 40 judged queries have no weight (" in done.stderr
    assert "The weights are for x: other query ids?" in done.stderr


def test_a_weight_without_judgments_is_said(here):
    lines = (here / "qrels.txt").read_text().splitlines(keepends=True)
    (here / "fewer.txt").write_text("".join(lines[:30]))
    done = run(here, "evaluate", "fewer.txt", "old.run", "--query-weights", "queries.weights.tsv")

    assert "10 of 40 weights are for queries without judgments (" in done.stdout.replace("\n", " ")


def test_a_report_is_verified_with_its_weights(here):
    options = ("--query-weights", "queries.weights.tsv", "--report", "report")
    run(here, "evaluate", "qrels.txt", "old.run", "-m", "RR", *options)
    report = json.loads((here / "report" / "EvaluationReport.json").read_text())

    assert "Weighted" in (here / "report" / "EvaluationReport.html").read_text()
    assert "| weighted |" in (here / "report" / "EvaluationReport.md").read_text()
    assert report["measures"][0]["weighted"]["interval"]
    run(here, "verify", "report")

    weights = (here / "queries.weights.tsv").read_text()
    (here / "queries.weights.tsv").write_text(
        weights.replace("\t1\thead\t2000", "\t1\thead\t2000").replace("2000\t", "9000\t")
    )
    done = run(here, "verify", "report", status=1)
    assert "queries.weights.tsv  has changed" in done.stdout
    assert "weighted.mean is" in done.stdout


# Comparing and deciding


def test_compare_and_gate(here):
    options = ("--query-weights", "queries.weights.tsv")
    compared = run(here, "compare", "qrels.txt", "old.run", "new.run", "-m", "RR", *options)
    assert "\nWeighted\nmeasure" in compared.stdout
    assert (
        "RR against old, weighted ("
        in run(here, "compare", "qrels.txt", "old.run", "new.run", "-m", "RR", *options, "-v").stdout
    )

    done = assay(
        *("gate", "--baseline", "old.run", "--candidate", "new.run", "--qrels", "qrels.txt", "--rule", "RR >= -0.5"),
        *options,
        cwd=here,
    )
    assert "40 queries, weighted" in done.stdout
    assert 0 == done.returncode


def test_scores_from_a_table(here):
    (here / "scores.csv").write_text("query,old,new\nq1,0.1,0.9\nq2,0.5,0.4\nq3,0.5,0.3\n")
    (here / "w.csv").write_text("q1,7\nq2,1\nq3,1\n")
    done = run(here, "compare", "--scores", "scores.csv", "--query-weights", "w.csv", "-v")

    assert "score against old, weighted (0.1889)" in done.stdout
