"""assay runs convert and assay qrels convert, as a user runs them."""

from __future__ import annotations

import itertools
import os

import pytest

from assay.example import QRELS, RUNS
from assay.formats.writing import OUTPUT_FORMATS
from cli.command import assay
from cli.test_hostile_ids import HOSTILE, NOT_UTF8


def values(*files, cwd):
    done = assay("evaluate", *files, "-m", "nDCG", "-m", "AP", "--per-query", "--format", "csv", cwd=cwd)

    assert (0, "") == (done.returncode, done.stderr)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("to", OUTPUT_FORMATS)
def test_values_are_the_same_in_every_format(tmp_path, to):
    run = assay("runs", "convert", RUNS[0], "-o", "out.run", "--to", to, cwd=tmp_path)
    qrels = assay("qrels", "convert", QRELS, "-o", "out.qrels", "--to", to, cwd=tmp_path)

    assert ((0, ""), (0, "", "")) == ((run.returncode, run.stdout), (qrels.returncode, qrels.stdout, qrels.stderr))
    assert (to in ("beir", "msmarco", "json")) == run.stderr.startswith("Note: left out ")
    assert values(QRELS, RUNS[0], cwd=tmp_path) == values("out.qrels", "out.run", cwd=tmp_path)


def test_there_and_back_again_gives_the_same_bytes(tmp_path):
    run, qrels = RUNS[0].read_bytes(), QRELS.read_bytes()
    endings = ["csv", "tsv.gz", "jsonl.bz2", "parquet.xz", "arrow.zst", "trec"]
    names = ["start.run", *(f"step{number}.{ending}" for number, ending in enumerate(endings))]
    assert 0 == assay("runs", "convert", RUNS[0], "-o", names[0], cwd=tmp_path).returncode
    for before, after in itertools.pairwise(names):
        done = assay("runs", "convert", before, "-o", after, cwd=tmp_path)
        assert (0, "", "") == (done.returncode, done.stdout, done.stderr)

    assert run.split() == (tmp_path / "step5.trec").read_bytes().split()
    assert (tmp_path / "start.run").read_bytes() == (tmp_path / "step5.trec").read_bytes()
    assay("qrels", "convert", QRELS, "-o", "qrels.jsonl", cwd=tmp_path)
    assay("qrels", "convert", "qrels.jsonl", "-o", "qrels.txt", cwd=tmp_path)
    assert qrels.split() == (tmp_path / "qrels.txt").read_bytes().split()


def test_pipes(tmp_path):
    done = assay("runs", "convert", "-", "-o", "-", "--to", "csv", "--tag", "mine", stdin=b"q1\ta\t1\n", cwd=tmp_path)

    assert (0, "query_id,doc_id,rank,score,tag\nq1,a,1,-1.0,mine\n", "") == (done.returncode, done.stdout, done.stderr)
    assert [] == list(tmp_path.iterdir())
    as_bytes = assay("runs", "convert", "-", "-o", "-", "--to", "parquet", stdin=b"q1\ta\t1\n").stdout
    again = assay(
        "runs", "convert", "-", "-o", "-", "--to", "msmarco", stdin=as_bytes.encode("utf-8", "surrogateescape")
    )
    assert ("q1\ta\t1\n", "") == (again.stdout, again.stderr)
    assert "--to" in assay("runs", "convert", RUNS[0], "-o", "-").stderr


def test_letters_become_grades(tmp_path):
    (tmp_path / "esci.csv").write_text("query_id,product_id,esci_label\nq1,a,E\nq1,b c,I\n")
    done = assay("qrels", "convert", "esci.csv", "-o", "out.json", "--grades", "E=3,I=0", cwd=tmp_path)

    assert (0, "") == (done.returncode, done.stderr)
    assert '{"q1": {"a": 3, "b c": 0}}\n' == (tmp_path / "out.json").read_text()


def test_refusals(tmp_path):
    (tmp_path / "odd.json").write_text('{"q1": {"a b": 1}}')
    (tmp_path / "out.txt").write_text("old")

    def complaint(*arguments):
        done = assay(*arguments, cwd=tmp_path)
        assert (2, "") == (done.returncode, done.stdout)
        return done.stderr

    assert (
        "Error: odd.json: document id 'a b' contains whitespace, which separates columns in trec files (query q1; 1 such row). "
        "Write json, jsonl, csv, tsv, parquet or arrow instead, or change it.\n"
    ) == complaint("qrels", "convert", "odd.json", "-o", "out.txt")
    assert complaint("runs", "convert", "odd.json", "-o", "out.dat").startswith(
        "Error: out.dat: cannot tell the format from the file name."
    )
    assert "Missing option '-o'" in complaint("runs", "convert", "odd.json")
    assert "is not one of" in complaint("runs", "convert", "odd.json", "-o", "x", "--to", "xml")
    assert (
        "Error: no/x.csv: cannot be written: No such file or directory. Create the folder first, or write to another one.\n"
        == complaint("runs", "convert", "odd.json", "-o", "no/x.csv")
    )
    assert "old" == (tmp_path / "out.txt").read_text()
    assert ["odd.json", "out.txt"] == sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize("link", ["same", "symbolic", "hard"])
def test_the_file_that_is_read_is_never_written_to(tmp_path, link):
    source, out = tmp_path / "my.json", tmp_path / "out.json"
    source.write_text('{"q1": {"a": 1}}')
    if link == "same":
        out = source
    else:
        (os.symlink if link == "symbolic" else os.link)(source, out)
    done = assay("runs", "convert", source, "-o", out)

    assert (2, f"Error: {out}: this is also an input file; choose another output file.\n") == (
        done.returncode,
        done.stderr,
    )
    assert '{"q1": {"a": 1}}' == source.read_text()


def test_hostile_ids_go_through_as_they_are(tmp_path):
    lines = [b"%s Q0 %s 1 1.0 t\n" % (text, text) for text in (*map(str.encode, HOSTILE), NOT_UTF8)]
    (tmp_path / "my.run").write_bytes(b"".join(lines))
    for to in ("csv", "tsv", "trec"):
        done = assay("runs", "convert", "my.run", "-o", f"out.{to}", cwd=tmp_path)
        back = assay("runs", "convert", f"out.{to}", "-o", f"back-{to}.run", cwd=tmp_path)
        assert (0, 0, "") == (done.returncode, back.returncode, back.stderr)
        assert (to != "trec") == ("a spreadsheet would run '=1+1'" in done.stderr)
        assert b"".join(lines) == (tmp_path / f"back-{to}.run").read_bytes()
    assert (
        f"Error: my.run:{len(lines)}: query id 'caf\\xe9' is not UTF-8, which json files require (1 such row). "
        "Write trec, beir, msmarco, csv or tsv instead, or change it.\n"
    ) == assay("runs", "convert", "my.run", "-o", "out.json", cwd=tmp_path).stderr
    (tmp_path / "my.run").write_bytes(b"".join(lines[:-1]))
    for to in ("json", "jsonl", "parquet", "arrow"):
        assert 0 == assay("runs", "convert", "my.run", "-o", f"out.{to}", cwd=tmp_path).returncode
        assay("runs", "convert", f"out.{to}", "-o", f"back-{to}.run", "--tag", "t", cwd=tmp_path)
        assert b"".join(lines[:-1]) == (tmp_path / f"back-{to}.run").read_bytes()
