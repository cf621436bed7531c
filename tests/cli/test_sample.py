"""assay qrels sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import read_qrels
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

QRELS = "".join(f"q{n} 0 d{m} {int(m > 0)}\n" for n in range(20) for m in range(2 + n % 2))


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path / "qrels.txt"


def test_both_parts_are_written_and_counted(qrels: Path) -> None:
    done = assay(
        "qrels",
        "sample",
        "qrels.txt",
        "--share",
        0.2,
        "--seed",
        1,
        *("-o", "dev.txt", "--rest", "test.tsv.gz"),
        cwd=qrels.parent,
    )
    dev, test = read_qrels(qrels.parent / "dev.txt"), read_qrels(qrels.parent / "test.tsv.gz")

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout == (
        """\
relevant   queries   sampled   rest
1               10         2      8
2               10         2      8
all             20         4     16

seed 1; relevant: grade 1 or more
dev.txt: 4 queries, 10 judgments
test.tsv.gz: 16 queries, 40 judgments
"""
    )
    assert sorted(read_qrels(qrels).queries) == sorted(dev.queries + test.queries)
    assert set((qrels.parent / "dev.txt").read_text().splitlines()) < set(QRELS.splitlines())


def test_the_same_seed_gives_the_same_bytes(qrels: Path) -> None:
    written = []
    for name in ("a.txt", "b.txt"):
        assay("qrels", "sample", qrels, "--size", 5, "--seed", 7, "-o", qrels.parent / name)
        written.append((qrels.parent / name).read_bytes())

    assert written[0] == written[1]
    assert 5 == len(read_qrels(qrels.parent / "a.txt").queries)


def test_counts_alone(qrels: Path) -> None:
    done = assay("qrels", "sample", qrels, "--size", 5)

    assert 0 == done.returncode
    assert [qrels] == list(qrels.parent.iterdir())
    assert done.stdout.endswith("seed 1; relevant: grade 1 or more\n")


def test_json_is_as_its_schema_says(qrels: Path) -> None:
    value = json.loads(assay("qrels", "sample", qrels, "--share", 0.5, "--format", "json").stdout)
    schema = json.loads((DOCS / "schemas" / "qrels-sample-1.json").read_text(encoding="utf-8"))

    assert [] == list(problems(value, schema))
    assert {"queries": 10, "judgments": 25} == value["sampled"]


def test_letters(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("query_id\tproduct_id\tesci_label\n" + "".join(f"{n}\td\tE\n" for n in range(4)))
    done = assay("qrels", "sample", tmp_path / "a.tsv", "--share", 0.5, "--grades", "E=3", "--rel", 3)

    assert done.stdout.startswith("relevant   queries   sampled   rest\n1                4         2      2\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "Error: give either a share (--share 0.2) or a number of queries (--size 50) to sample.",
        ),
        (["--share", "2"], "Error: the share cannot be 2; it takes a number between 0 and 1."),
        (["--queries", "5"], "Error: No such option '--queries'; it is now called '--size'."),
        (["--size", "20"], "Error: a sample of 20 of 20 queries leaves one part empty; each part needs a query."),
        (["--share", "0.5", "-o", "qrels.txt"], "Error: qrels.txt: this file is named twice"),
        (["--share", "0.5", "-o", "a.txt", "--rest", "a.txt"], "Error: a.txt: this file is named twice"),
        (["--share", "0.5", "-o", "dev"], "Error: dev: cannot tell the format from the file name."),
    ],
)
def test_wrong_usage(qrels: Path, arguments: list[str], message: str) -> None:
    done = assay("qrels", "sample", "qrels.txt", *arguments, cwd=qrels.parent)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr
    assert [qrels] == list(qrels.parent.iterdir())


def test_nothing_is_written_if_one_part_cannot_be(qrels: Path) -> None:
    done = assay("qrels", "sample", qrels, "--share", 0.5, "-o", "a.txt", "--rest", "no/b.txt", cwd=qrels.parent)

    assert (2, "Error: no/b.txt: cannot be written: the folder does not exist.\n") == (done.returncode, done.stderr)
    assert [qrels] == list(qrels.parent.iterdir())


def test_what_comes_as_beir_goes_as_beir(tmp_path: Path) -> None:
    rows = "".join(f"q{n}\td{n}\t1\n" for n in range(8))
    (tmp_path / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    assay("qrels", "sample", "test.tsv", "--share", "0.5", "-o", "dev.tsv", "--rest", "rest.tsv", cwd=tmp_path)

    assert "query-id\tcorpus-id\tscore" == (tmp_path / "dev.tsv").read_text().splitlines()[0]
    assert 8 + 2 == sum(len((tmp_path / name).read_text().splitlines()) for name in ("dev.tsv", "rest.tsv"))
