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
    assert [
        "hybrid against bm25, 60 queries",
        "measure    bm25  hybrid  difference     95% interval        p    w/t/l  verdict",
        "RR       0.5000  0.8333     +0.3333  +0.2719 +0.3947  <0.0001  40/20/0  better",
        "Queries that moved most by RR: up q1 (+0.5000), q10 (+0.5000), q11 (+0.5000).",
        "Test: t, two-sided; p not corrected; alpha 0.05; more with -v.",
        "! bm25 has RR 0.5000 on every query: is the run empty or constant?",
    ] == [line for line in done.stdout.splitlines() if "─" not in line]


def test_everything_on_request(files):
    done = assay("compare", "qrels", "bm25.run", "hybrid.run", "-m", "RR", "-v", cwd=files)

    assert "RR against bm25 (0.5000)" in done.stdout
    assert "hybrid   0.8333      +0.3333" in done.stdout
    assert "40/20/0   better" in done.stdout
    assert "Difference = system - baseline. Test: t, two-sided; p not corrected; alpha 0.05." in done.stdout


def test_json_is_what_its_schema_says(files):
    schema = json.loads((DOCS / "schemas" / "comparison-1.json").read_text())
    for options in (
        [],
        ["--margin", "0.1", "--plan", "0.02"],
        ["--test", "permutation", "--draws", "200"],
        ["--test", "anova"],
    ):
        done = assay("compare", "qrels", "bm25.run", "hybrid.run", "--format", "json", *options, cwd=files)
        assert [] == list(problems(json.loads(done.stdout), schema))


@pytest.mark.parametrize("output_format", ["table", "json", "markdown", "latex", "html"])
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
        assert "\n{[}red{]}\\$x\\$ & " in done.stdout  # a row starting with [ would be an argument of \\\\
        assert "a\\textbar{}b\\_\\textless{}i\\textgreater{}" in done.stdout


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
        (["qrels", "bm25.run"], "comparing needs QRELS and at least two RUNs, or --scores FILE."),
        (
            ["qrels", "bm25.run", "hybrid.run", "--baseline", "bm52"],
            "no system called 'bm52' for the baseline; did you mean 'bm25'?",
        ),
        (["qrels", "bm25.run", "--scores", "s.csv"], "give either QRELS and RUNs or --scores FILE, not both."),
        (["--scores", "s.csv"], "s.csv:3: 'x' of system b is not a number"),
        (
            ["--scores", "s.csv", "-m", "AP", "--agreement", "--score-type", "float32", "--depth", "5"],
            "--measure, --agreement, --score-type, --depth: does not apply to --scores, which has no runs or judgments; leave it out.",
        ),
    ],
)
def test_wrong_usage(files, arguments, message):
    (files / "s.csv").write_text("query,a,b\n1,0.5,0.6\n2,0.5,x\n")

    done = assay("compare", *arguments, cwd=files)

    assert (2, "") == (done.returncode, done.stdout)
    assert message in done.stderr


@pytest.fixture
def more(files):
    """A folder with runs, a segment file, and texts of queries and documents."""
    kinds = "".join(f"q{n},{'buy' if n % 2 else 'know'}\n" for n in range(60))
    (files / "kinds.csv").write_text(f"query,kind\n{kinds}")
    (files / "queries.tsv").write_text("".join(f"q{n}\t{'word ' * (n % 4 + 1)}\n" for n in range(60)))
    (files / "corpus.jsonl").write_text(
        '{"_id": "a", "title": "All of A", "text": "x"}\n{"_id": "b", "text": "Of <b>"}\n'
    )
    return files


LOOKS = [
    *("--segments", "kinds.csv", "--segments", "length", "--segments", "difficulty", "--segments", "relevant"),
    *("--queries", "queries.tsv", "--corpus", "corpus.jsonl", "--moves", "2", "--agreement"),
]


def test_segments_moves_and_agreement_in_a_table(more):
    done = assay(
        "compare", "qrels", "bm25.run", "hybrid.run", "-m", "RR", "-m", "P@1", *LOOKS, cwd=more, env={"COLUMNS": "120"}
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "Segments by kind\nRR against bm25\n" in done.stdout
    assert "buy            30   0.5000     hybrid   0.8333      +0.3333" in done.stdout
    assert "no significant difference between segments" in done.stdout
    assert "Segments by query length" in done.stdout
    assert "regression to the mean" in done.stdout
    assert "up q1 +0.5000 (0.5000 to 1.0000): word word\n" in done.stdout
    assert "entered      2 → 1  grade 1   a  All of A" in done.stdout  # only the first document counts for P@1
    assert "bm25     hybrid               100%    0.9333         -0.3333        60" in done.stdout
    assert "RR        P@1        100% of 40" in done.stdout


def test_everything_that_is_looked_at_is_in_the_json_and_in_its_schema(more):
    schema = json.loads((DOCS / "schemas" / "comparison-1.json").read_text())
    done = assay("compare", "qrels", "bm25.run", "hybrid.run", *LOOKS, "--format", "json", cwd=more)
    found = json.loads(done.stdout)

    assert [] == list(problems(found, schema))
    assert ["kind", "query length", "difficulty for bm25", "relevant documents"] == [
        each["name"] for each in found["segments"]
    ]
    assert "Of <b>" == found["moves"][0]["up"][0]["moved"][1]["text"]
    assert 60 == found["runs_alike"][0]["queries"]
    assert "judged" == found["rules"]["queries"]


def test_three_systems_stand_in_one_table_with_letters(files):
    (files / "third.run").write_text((files / "hybrid.run").read_text())
    args = ("compare", "qrels", "bm25.run", "hybrid.run", "third.run", "-m", "RR", "--all-pairs")
    done = assay(*args, cwd=files)
    markdown = assay(*args, "--format", "markdown", cwd=files)
    latex = assay(*args, "--format", "latex", cwd=files)

    assert "bm25 (a)     0.5000 -b,c" in done.stdout
    assert "hybrid (b)      0.8333 a" in done.stdout
    assert "| bm25 (a) | 0.5000<sup>-b,c</sup> |" in markdown.stdout
    assert r"hybrid (b) & 0.8333\textsuperscript{a} \\" in latex.stdout
    assert r"bm25 (a) & 0.5000\textsubscript{b,c} \\" in latex.stdout
    assert r"\begin{tabular}{lr}" in latex.stdout


def test_a_query_that_a_run_lacks_is_said(files):
    lines = (files / "hybrid.run").read_text().splitlines(keepends=True)
    (files / "hybrid.run").write_text("".join(lines[2:]))
    counted = assay("compare", "qrels", "bm25.run", "hybrid.run", "-m", "RR", "-v", cwd=files)
    short = assay("compare", "qrels", "bm25.run", "hybrid.run", "-m", "RR", cwd=files)
    left_out = assay("compare", "qrels", "bm25.run", "hybrid.run", "-m", "RR", "--query-set", "both", cwd=files)

    assert "! hybrid lacks 1 of 60 judged queries, which counts as 0: q0." in short.stdout
    assert "hybrid: 60 queries judged, 59 answered, 1 missing (counted as 0: q0)" in " ".join(counted.stdout.split())
    assert (
        "Queries missing from one of the two systems are left out of their comparison (hybrid: 1 missing)."
        in " ".join(left_out.stdout.split())
    )


def test_a_table_of_values_can_be_cut_into_segments_too(tmp_path):
    (tmp_path / "scores.csv").write_text("query,a,b\n" + "".join(f"{n},0.{n % 9},0.{n % 7}\n" for n in range(40)))
    (tmp_path / "kinds.csv").write_text("".join(f"{n},{n % 2}\n" for n in range(40)))
    done = assay("compare", "--scores", "scores.csv", "--segments", "kinds.csv", cwd=tmp_path)
    refused = assay("compare", "--scores", "scores.csv", "--segments", "relevant", cwd=tmp_path)

    assert "Segments by segment\nscore against a\n" in done.stdout
    assert (2, "Error: segments by relevant documents need judgments, which a table of values does not have.\n") == (
        refused.returncode,
        refused.stderr,
    )


def test_a_table_takes_what_it_has_a_use_for(tmp_path):
    (tmp_path / "scores.csv").write_text("query,a,b,c\n" + "".join(f"{n},0.{n},0.5,0.{9 - n}\n" for n in range(10)))
    (tmp_path / "queries.tsv").write_text("".join(f"{n}\tquery {n}\n" for n in range(10)))
    options = ["--all-pairs", "--test", "sign", "--margin", "0.1", "--moves", "1", "--queries", "queries.tsv"]

    done = assay("compare", "--scores", "scores.csv", *options, "--segments", "length", cwd=tmp_path)

    assert (0, "") == (done.returncode, done.stderr)
    assert "query 9" in done.stdout


def test_values_that_no_arithmetic_holds_are_refused(tmp_path):
    (tmp_path / "scores.csv").write_text("query,a,b\n1,1e308,-1e308\n2,0,1\n")

    done = assay("compare", "--scores", "scores.csv", cwd=tmp_path)

    assert (2, "Error: values up to 1e+308 are too large to compare; scale them first.\n") == (
        done.returncode,
        done.stderr,
    )
