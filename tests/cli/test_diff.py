"""assay runs diff, as a user runs it."""

from __future__ import annotations

import json

import pytest

from cli.command import assay, on_terminal
from cli.test_hostile_ids import HOSTILE, NOT_UTF8
from docs.blocks import DOCS
from docs.schema import problems

FORMATS = ["table", "json", "markdown", "html"]


def lines(query: str, docs: str, tag: str = "t") -> str:
    return "".join(f"{query} Q0 {doc} {rank} {100 - rank} {tag}\n" for rank, doc in enumerate(docs, 1))


WIDE = {"COLUMNS": "120"}


@pytest.fixture
def files(tmp_path):
    """Of 20 queries, q0 gets another first document, and q1 has its first two swapped."""
    (tmp_path / "before.run").write_text("".join(lines(f"q{n}", "abcdef") for n in range(20)))
    changed = {0: "xbcdef", 1: "bacdef"}
    (tmp_path / "after.run").write_text("".join(lines(f"q{n}", changed.get(n, "abcdef")) for n in range(20)))
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 a 1\nq{n} 0 b 0\n" for n in range(20)))
    return tmp_path


def test_the_answer_comes_first(files):
    done = assay("runs", "diff", "before.run", "after.run", "-v", cwd=files, env=WIDE)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(
        "2 of 20 queries changed in the first 10 documents: other documents in 1, another order in 1. Worst: q0 (overlap 0.83),\n"
        "q1 (overlap 1.00).\n"
    )
    assert "overlap@10          0.9917   0.9742 to 1.0000   1.0000     0.9917\n" in done.stdout
    assert "    entered     >100 → 1  x\n    left        1 → >100  a\n" in done.stdout
    assert (
        "First 10 documents: 18 of 20 queries unchanged, 1 has the same documents in another order, and" in done.stdout
    )


def test_identical_runs_are_one_sentence_and_no_failure(files):
    done = assay("runs", "diff", "before.run", "again=before.run", cwd=files)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("All 20 queries are identical in the first 100 documents. So are their scores.\n")
    assert "figure" not in done.stdout


def test_other_scores_of_the_same_ranking(files):
    text = (files / "before.run").read_text().replace(" 99 t", " 99.5 t")
    (files / "scores.run").write_text(text)
    done = assay("runs", "diff", "before.run", "scores.run", "-v", cwd=files, env=WIDE)

    assert done.stdout.startswith(
        "All 20 queries are identical in the first 100 documents. Scores differ for 20 of 120 documents, by up to 0.5.\n"
    )


def test_a_change_below_the_first_cutoff(files):
    done = assay("runs", "diff", "before.run", "after.run", "-k", "1,6", cwd=files)
    deep = assay("runs", "diff", "deep=before.run", "other.run", "-k", "2,6", "-v", cwd=files, env=WIDE)

    assert done.stdout.startswith("2 of 20 queries changed in the first document. Worst: q0")
    assert 2 == deep.returncode
    (files / "other.run").write_text("".join(lines(f"q{n}", "abcdfe" if n == 3 else "abcdef") for n in range(20)))
    deep = assay("runs", "diff", "before.run", "other.run", "-k", "2,6", "-v", cwd=files, env=WIDE)
    assert deep.stdout.startswith(
        "All 20 queries are identical in the first 2 documents; 1 of 20 queries changed in the first 6. Worst at 6: q3 (overlap\n"
        "1.00).\n"
    )


def test_cutoffs_may_be_repeated(files):
    once = assay("runs", "diff", "before.run", "after.run", "-k", "1,6", cwd=files)
    twice = assay("runs", "diff", "before.run", "after.run", "-k", "6", "-k", "1", cwd=files)

    assert (once.stdout, "") == (twice.stdout, twice.stderr)


@pytest.mark.parametrize("cutoffs", ["0", "1.5", "", "1,,2", "99999999999999999999", "9" * 5000])
def test_cutoffs_that_are_none(files, cutoffs):
    done = assay("runs", "diff", "before.run", "after.run", "-k", cutoffs, cwd=files)

    assert 2 == done.returncode
    assert "expected whole numbers of documents from 1 to 2,147,483,647, such as 10,100." in " ".join(
        done.stderr.split()
    )


def test_other_documents_at_the_first_rank(files):
    (files / "other.run").write_text("".join(lines(f"q{n}", "zabc") for n in range(20)))
    done = assay("runs", "diff", "before.run", "other.run", "-k", "1", cwd=files)

    assert done.stdout.startswith("The runs have no document in common in the first document of any query:")


def test_what_was_lost_and_the_recall(files):
    """RR falls from 1 to 0 in q0 and to 1/2 in q1: 1.5 / 20 = 0.075."""
    options = ("--qrels", "qrels", "-m", "RR", "--exact", "exact=before.run", "-k", "1")
    done = assay("runs", "diff", "before.run", "after.run", *options, "-v", cwd=files)
    words = " ".join(done.stdout.split())

    assert (0, "") == (done.returncode, done.stderr)
    assert "RR: 0.0750 lost (95% interval -0.0395 to 0.1895, no significant loss), from 1.0000 to 0.9250" in words
    assert "2 queries lost, 0 gained, of 20." in words
    assert "In judged queries, 2 documents entered the first document, 1 of them unjudged (these count as not" in words
    assert "Recall@1 against exact: 1.0000 for before (5th percentile 1.0000), 0.9000 for after (0.0000)." in words
    assert "left 1 → >1 grade 1 a" in words


def test_a_gain_is_called_a_gain(files):
    done = assay("runs", "diff", "after.run", "before.run", "--qrels", "qrels", "-m", "RR", "-v", cwd=files, env=WIDE)

    assert "RR: 0.0750 gained (95% interval -0.0395 to 0.1895, no significant difference)" in " ".join(
        done.stdout.split()
    )


@pytest.mark.parametrize("options", [[], ["--qrels", "qrels", "-m", "RR,AP"], ["--exact", "before.run"], ["-k", "3"]])
def test_json_is_what_its_schema_says(files, options):
    schema = json.loads((DOCS / "schemas" / "run-diff-1.json").read_text())
    for other in ("after.run", "before.run"):
        done = assay("runs", "diff", "before.run", other, "--format", "json", *options, cwd=files)
        assert [] == list(problems(json.loads(done.stdout), schema))
        assert (other == "before.run") == json.loads(done.stdout)["identical"]


def test_json_has_all_queries_that_changed(files):
    found = json.loads(assay("runs", "diff", "before.run", "after.run", "--format", "json", cwd=files).stdout)

    assert ["q0", "q1"] == [query["query"] for query in found["queries"]]
    assert [{"doc": "x", "before": None, "after": 1, "rel": None}] == found["queries"][0]["entered"]
    assert (20, "before", "after") == (found["compared"], found["first"], found["second"])


def test_markdown_for_a_pull_request(files):
    done = assay("runs", "diff", "before.run", "after.run", "--format", "markdown", "--worst", "1", cwd=files)

    assert "| overlap@10 | 0.9917 | 0.9742 to 1.0000 | 1.0000 | 0.9917 |" in done.stdout
    assert "| x (\\>100 → 1) | a (1 → \\>100) |" in done.stdout
    assert "Showing 1 of 2 changed queries" in done.stdout


def test_a_page_in_a_file(files):
    done = assay("runs", "diff", "before.run", "after.run", "--format", "html", "-o", "diff.html", cwd=files)
    page = (files / "diff.html").read_text()

    assert (0, "") == (done.returncode, done.stdout)
    assert "2 of 20 queries changed in the first 10 documents" in page
    assert "Changed queries, worst first" in page


@pytest.mark.parametrize("output_format", FORMATS)
def test_hostile_ids_are_data(tmp_path, output_format):
    ids = [text.replace(" ", "").encode() for text in HOSTILE] + [NOT_UTF8]
    for name, first in (("a", 0), ("b", 1)):
        rows = [b"%s Q0 %s 1 1.0 t\n" % (query, ids[(place + first) % len(ids)]) for place, query in enumerate(ids)]
        (tmp_path / name).write_bytes(b"".join(rows))
    (tmp_path / "qrels").write_bytes(b"".join(b"%s 0 %s 1\n" % (each, each) for each in ids))
    named = ("[bold]\x1b[31m|<i>=a", "a|b_$x$=b")
    done = assay("runs", "diff", *named, "--qrels", "qrels", "--worst", "20", "--format", output_format, cwd=tmp_path)

    assert (0, "") == (done.returncode, done.stderr)
    assert "\x1b" not in done.stdout
    if output_format in ("markdown", "html"):
        assert "<script>alert" not in done.stdout.replace("\\<", "")
        assert "<i>" not in done.stdout.replace("\\<", "")
    if output_format == "markdown":
        assert "a\\|b" in done.stdout
    if output_format == "table":
        assert "[red]x[/red]" in done.stdout
        assert "caf\\xe9" in done.stdout
    if output_format == "json":
        found = json.loads(done.stdout)
        assert {text.replace(" ", "") for text in HOSTILE} < {query["query"] for query in found["queries"]}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["before.run", "after.run", "-k", "0"], "Error: -k 0: expected whole numbers of documents"),
        (["before.run", "after.run", "-k", "1;2"], "Error: -k 1;2: expected whole numbers of documents"),
        (["before.run", "after.run", "-m", "AP"], "Error: -m has no effect without --qrels"),
        (["-", "-"], "Error: standard input (-) can be read only once"),
        (["before.run", "twice.run"], "Error: twice.run:2: document a is retrieved more than once for query q0"),
        (["before.run", "upper.run"], "Error: no query is in both runs: 'before' has 'q0', 'upper' has 'Q0'."),
        (["before.run", "none.run"], "Error: none.run"),
        (["before.run", "after.run", "-o", "after.run"], "Error: after.run: this is also an input file"),
        (["before.run", "after.run", "--exact", "upper.run"], "Error: the exact run has no query in common"),
    ],
)
def test_what_cannot_be_used_is_refused(files, arguments, problem):
    (files / "twice.run").write_text("q0 Q0 a 1 2 t\nq0 Q0 a 2 1 t\n")
    (files / "upper.run").write_text("Q0 Q0 a 1 2 t\n")
    done = assay("runs", "diff", *arguments, cwd=files)

    assert (2, "") == (done.returncode, done.stdout)
    assert problem in done.stderr


def test_a_run_from_standard_input_is_read_once_for_everything(files):
    text = (files / "after.run").read_bytes()
    done = assay("runs", "diff", "before.run", "-", "--qrels", "qrels", stdin=text, cwd=files)

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("2 of 20 queries changed")


def test_80_columns_are_enough(files):
    status, screen = on_terminal(
        *("runs", "diff", "before.run", "after.run", "--qrels", "qrels"), cwd=files, env={"COLUMNS": "80"}
    )
    shown = screen.decode().replace("\x1b[1m", "").replace("\x1b[0m", "")

    assert 0 == status
    assert 80 >= max(map(len, shown.splitlines()))
    assert "query   nDCG@10 lost   overlap@10   overlap@100      RBO" in shown


def test_no_page_on_a_terminal(files):
    status, screen = on_terminal("runs", "diff", "before.run", "after.run", "--format", "html", cwd=files)

    assert 2 == status
    assert b"write it to a file: -o diff.html" in screen


def test_only_queries_that_lost_are_the_worst(files):
    """q0 loses its relevant document, q1 has it one rank lower; the other way round, nothing is lost."""
    one = assay("runs", "diff", "before.run", "after.run", "--qrels", "qrels", "-m", "RR", "-v", cwd=files, env=WIDE)
    other = assay("runs", "diff", "after.run", "before.run", "--qrels", "qrels", "-m", "RR", "-v", cwd=files, env=WIDE)

    assert "Worst: q0 (RR lost 1.00), q1 (RR lost 0.50)." in one.stdout.replace("\n", " ")
    assert "Worst: " not in other.stdout
