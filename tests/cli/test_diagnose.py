"""assay diagnose, as a user runs it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from cli.command import assay
from diagnosis.worlds import World, ranked
from docs.blocks import DOCS
from docs.schema import problems

HOSTILE = ["[red]x[/red]", "a|b_<i>", "\x1b[31mred", "x\u202ey", "</script>", "caf\udce9", "w" * 90]


@pytest.fixture
def files(tmp_path):
    """Two systems, only one of them judged, with all optional inputs."""
    world = World(1, queries=30, docs=40)
    old, new = world.system(2.0), world.system(0.7)
    qrels = world.pool(old, depth=10)
    lines = [f"{query} 0 {doc} {grade}\n" for query, docs in qrels.items() for doc, grade in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, run in (("old", old), ("new", new)):
        rows = [f"{q} Q0 {d} {r} {-r} x\n" for q in run for r, d in enumerate(ranked(run[q]), 1)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    shown = [f"{query}\t{doc}\t{place}\n" for query in old for place, doc in enumerate(ranked(old[query]), 1)]
    (tmp_path / "shown.tsv").write_text("".join(shown))
    (tmp_path / "queries.tsv").write_text("".join(f"{q}\tlong query about thing {q}\n" for q in world.queries))
    (tmp_path / "log.tsv").write_text("shoes\t20\nhats\t4\nred wool coat\t1\n")
    (tmp_path / "kinds.csv").write_text("query,kind\n" + "".join(f"{q},{'ab'[n % 2]}\n" for n, q in enumerate(old)))
    corpus = [json.dumps({"_id": d, "text": f"the text of document {d[:3]} " * 3}) + "\n" for d in world.docs]
    (tmp_path / "corpus.jsonl").write_text("".join(corpus))
    return tmp_path


EVERYTHING = [
    *("--presented", "shown.tsv", "--queries", "queries.tsv", "--production", "log.tsv"),
    *("--segments", "kinds.csv", "--corpus", "corpus.jsonl"),
]


def test_a_page_of_findings(files):
    done = assay("diagnose", "qrels.txt", "old.run", "new.run", "-m", "nDCG@10", "-v", cwd=files)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("2 runs, 30 queries, 300 judgments: ")
    assert "Unjudged documents at the top [DIA001]\n         judged@10: new " in done.stdout
    assert "         Confidence: Intervals over queries. Equal in all runs: p <0.0001" in done.stdout
    assert "         What to do: Judge the documents of DIA006 first." in done.stdout
    assert "Not checked:\n- test queries that differ in length from real queries [DIA020]: needs" in done.stdout


def test_with_everything_given_nothing_is_left_out(files):
    done = assay("diagnose", "qrels.txt", "old.run", "new.run", *EVERYTHING, "--format", "json", cwd=files)
    found = json.loads(done.stdout)

    assert (0, "", []) == (done.returncode, done.stderr, found["not_looked_at"])
    assert 14 == len(found["findings"])
    assert {"problem", "warning", "note", "fine"} == set(found["counts"])


@pytest.mark.parametrize("options", [[], EVERYTHING, ["--only", "labels,gaming", "--like", "trec_eval-10"]])
def test_json_is_what_its_schema_says(files, options):
    schema = json.loads((DOCS / "schemas" / "diagnosis-1.json").read_text())
    for runs in (["old.run"], ["old.run", "new.run"]):
        done = assay("diagnose", "qrels.txt", *runs, *options, "--format", "json", cwd=files)
        assert [] == list(problems(json.loads(done.stdout), schema))


def test_the_schema_refuses_what_is_not_a_diagnosis(files):
    schema = json.loads((DOCS / "schemas" / "diagnosis-1.json").read_text())
    found = json.loads(assay("diagnose", "qrels.txt", "old.run", "--format", "json", cwd=files).stdout)

    assert list(problems({**found, "schema": "assay/comparison/1"}, schema))
    assert list(problems({**found, "more": 1}, schema))
    assert list(problems({key: value for key, value in found.items() if key != "findings"}, schema))


@pytest.mark.parametrize("output_format", ["table", "json", "markdown"])
def test_hostile_ids_are_data(tmp_path, output_format):
    """Ids of runs, queries, documents and segments, and texts, come out escaped."""
    qrels = "".join(f"{query}\t0\t{doc}\t{n % 2}\n" for query in HOSTILE for n, doc in enumerate(HOSTILE[:4]))
    run = "query\tdoc\tscore\n" + "".join(
        f"{query}\t{doc}\t{9 - n}\n" for query in HOSTILE for n, doc in enumerate(reversed(HOSTILE))
    )
    other = "query\tdoc\tscore\n" + "".join(f"{q}\t{d}\t{9 - n}\n" for q in HOSTILE for n, d in enumerate(HOSTILE))
    for name, text in (("q.tsv", "query\tx\tdoc\trel\n" + qrels), ("a.tsv", run), ("b.tsv", other)):
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    texts = "".join(json.dumps({"_id": d, "text": "\x1b[31m<b>|x_y " * 9}) + "\n" for d in HOSTILE if d.isprintable())
    (tmp_path / "corpus.jsonl").write_text(texts)
    queries = "".join(json.dumps({"_id": q, "text": "\x1b[31m <b>same</b>"}) + "\n" for q in HOSTILE if q.isprintable())
    (tmp_path / "queries.jsonl").write_text(queries)

    done = assay(
        *("diagnose", "q.tsv", "\x1b[31ma|=a.tsv", "[red]b=b.tsv", "-m", "P@5", "--corpus", "corpus.jsonl"),
        *("--queries", "queries.jsonl", "--format", output_format),
        cwd=tmp_path,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    if output_format == "json":
        assert "[red]b" in json.loads(done.stdout)["systems"]
    if output_format == "table":
        assert "[red]b" in done.stdout
    if output_format == "markdown":
        assert "\\[red\\]b" in done.stdout
        assert all(
            line.count(" | ") + 2 == line.replace("\\|", "").count("|")
            for line in done.stdout.splitlines()
            if line[:1] == "|"
        )


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit_the_terminal_and_no_figure_is_cut(files, width):
    """Run on a terminal of this width."""
    lines = on_terminal(
        files, width, "diagnose", "qrels.txt", "old.run", "new.run", *EVERYTHING, "--pool-depth", "10", "-v"
    )

    assert [] == [line for line in lines if len(line) > width]
    heads = [line.split() for line in lines if line.startswith(("  run ", "  measure "))]
    assert ["run", "judged@10", "95%", "interval", "queries", "all", "judged", "queries", "unjudged"] in heads
    assert any(line.rstrip().endswith(" then") for line in lines)  # the last column of a wide table


def on_terminal(folder, width, *arguments):
    """The output of a command on a terminal as lines, without colours."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "assay", *arguments]
    env = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1", "TERM": "dumb"}
    process = subprocess.Popen(command, stdout=slave, stderr=slave, stdin=slave, cwd=folder, env=env)
    os.close(slave)
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    assert 0 == process.wait()
    os.close(master)
    return data.decode().replace("\r\n", "\n").split("\n")


def test_markdown(files):
    done = assay("diagnose", "qrels.txt", "old.run", "new.run", *EVERYTHING, "--format", "markdown", cwd=files)

    assert done.stdout.startswith("# Diagnosis\n\n2 runs, 30 queries")
    assert "\n## Problem: Unjudged documents at the top (DIA001)\n" in done.stdout or (
        "\n## Warning: Unjudged documents at the top (DIA001)\n" in done.stdout
    )
    assert "\n| run | judged@10 | 95% interval |" in done.stdout


def test_a_file_is_written_whole(files):
    done = assay("diagnose", "qrels.txt", "old.run", "--only", "labels", "-v", "-o", "out.txt", cwd=files)

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert "[DIA001]" in (files / "out.txt").read_text()


def test_explain():
    page, listed, unknown = assay("explain", "dia003"), assay("explain"), assay("explain", "DIA999")

    assert page.stdout.startswith("DIA003  Comparisons that depend on unjudged documents (labels)\n\nWhy: ")
    assert "\nWhat to do: Judge the documents listed here" in page.stdout
    assert "DIA032  gaming   Near-duplicate documents at the top\n" in listed.stdout
    assert (2, "") == (unknown.returncode, unknown.stdout)
    assert "no finding has the code 'DIA999'" in unknown.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "nwe"], "no run called 'nwe' for the baseline; did you mean 'new'?"),
        (["--only", "labels,qeries"], "no area called 'qeries'; did you mean 'queries'?"),
        (["--presented", "nowhere"], "nowhere: no such file"),
        (["--production", "bad.csv"], "bad.csv:2: count 'x' is not a whole number, 1 or more"),
        (["--k", "0"], "Invalid value for '--k'"),
        (["-m", "nDGC"], "no measure called 'nDGC'; did you mean 'nDCG'?"),
    ],
)
def test_wrong_usage(files, options, message):
    (files / "bad.csv").write_text("query,count\nshoes,x\n")

    done = assay("diagnose", "qrels.txt", "old.run", "new.run", *options, cwd=files)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr
