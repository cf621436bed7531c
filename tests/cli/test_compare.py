"""assay compare, as a user runs it."""

from __future__ import annotations

import csv
import json

import pytest

from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 a 1\nq{n} 0 b 0\n" for n in range(60)))
    (tmp_path / "bm25.run").write_text("".join(f"q{n} Q0 b 1 2.0 x\nq{n} Q0 a 2 1.0 x\n" for n in range(60)))
    better = "".join(f"q{n} Q0 a 1 {2.0 if n % 3 else 0.5} x\nq{n} Q0 b 2 1.0 x\n" for n in range(60))
    (tmp_path / "hybrid.run").write_text(better)
    return tmp_path


def test_a_table_in_words(files):
    done = assay("compare", "qrels", "bm25.run", "hybrid.run", "-m", "RR", cwd=files)

    assert (0, "") == (done.returncode, done.stderr)
    assert "RR against bm25 (0.5000)" in done.stdout
    assert "hybrid   0.8333      +0.3333   +66.7%" in done.stdout
    assert "40/20/0   better" in done.stdout
    assert "Difference = system - baseline. Test: t, two-sided; p not corrected over 1 comparison" in done.stdout


def test_json_is_what_its_schema_says(files):
    schema = json.loads((DOCS / "schemas" / "comparison-1.json").read_text())
    for options in ([], ["--margin", "0.1", "--plan", "0.02"], ["--test", "permutation", "--draws", "200"]):
        done = assay("compare", "qrels", "bm25.run", "hybrid.run", "--format", "json", *options, cwd=files)
        assert [] == list(problems(json.loads(done.stdout), schema))


@pytest.mark.parametrize("output_format", ["table", "json", "markdown", "latex"])
def test_hostile_names_are_data(files, output_format):
    done = assay(
        "compare",
        "qrels",
        "a|b_<i>\x1b[31m=bm25.run",
        "[red]$x$=hybrid.run",
        "-m",
        "RR",
        "--format",
        output_format,
        cwd=files,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "\x1b" not in done.stdout
    if output_format == "markdown":
        assert "a\\|b\\_\\<i\\>" in done.stdout
    if output_format == "latex":
        assert "{[}red]" in done.stdout or "[red]\\$x\\$" in done.stdout


def test_published_p_values(shared_data, tmp_path):
    """Urbano, Lima and Hanjalic 2019: columns 125 and 126 of their matrix of TREC 8."""
    folder = shared_data / "statistics" / "urbano2019"
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / expected["data"]).open() as file:
        rows = list(csv.reader(file))
    columns = [expected[name] - 1 for name in ("baseline_column", "experimental_column")]
    table = [["query", "baseline", "experimental"]] + [
        [str(n), *(row[c] for c in columns)] for n, row in enumerate(rows[1:])
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(",".join(row) for row in table))

    for test, name, options in (
        ("t", "paired_t", []),
        ("wilcoxon", "wilcoxon", []),
        ("sign", "sign_min_d_0.01", ["--minimum", "0.01"]),
    ):
        one_tailed, two_tailed = expected["p_values_one_tailed_two_tailed"][name]
        for published, alternative in ((one_tailed, "greater"), (two_tailed, "two-sided")):
            done = assay(
                "compare", "--scores", path, "--test", test, *options, "--alternative", alternative, "--format", "json"
            )
            p = json.loads(done.stdout)["pairs"][0]["p"]
            assert published == float(f"{p:.10f}") or published == pytest.approx(p, abs=5.1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels", "bm25.run"], "comparing takes QRELS and two RUNs or more, or --scores FILE."),
        (
            ["qrels", "bm25.run", "hybrid.run", "--baseline", "bm52"],
            "no system called 'bm52' to be the baseline; did you mean 'bm25'?",
        ),
        (["qrels", "bm25.run", "--scores", "s.csv"], "give either QRELS and RUNs or --scores FILE, not both."),
        (["--scores", "s.csv"], "s.csv:3: 'x' of b is not a number"),
    ],
)
def test_wrong_usage(files, arguments, message):
    (files / "s.csv").write_text("query,a,b\n1,0.5,0.6\n2,0.5,x\n")

    done = assay("compare", *arguments, cwd=files)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr
