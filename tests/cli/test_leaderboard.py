"""assay leaderboard, as a user runs it."""

from __future__ import annotations

import csv
import json
import os

import pytest

from assay.report.leaderboard import RENDERERS
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

QUERIES = 40
SCHEMA = json.loads((DOCS / "schemas" / "leaderboard-1.json").read_text(encoding="utf-8"))


def run_text(good):
    """A run that finds the relevant document first for the queries whose number is in `good`, else second."""
    lines = []
    for n in range(QUERIES):
        lines += [f"q{n} Q0 {doc} {rank} {9 - rank} x\n" for rank, doc in enumerate("ab" if n in good else "ba", 1)]
    return "".join(lines)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 a 1\nq{n} 0 b 0\n" for n in range(QUERIES)))
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "poor.run").write_text(run_text(range(4)))
    (tmp_path / "runs" / "best.run").write_text(run_text(range(36)))
    (tmp_path / "runs" / "good.run").write_text(run_text(range(2, 36)))
    return tmp_path


def test_the_table_is_the_answer(files):
    done = assay("leaderboard", "qrels", "runs", "-m", "RR", "-m", "P@1", cwd=files)
    lines = done.stdout.splitlines()

    assert (0, "") == (done.returncode, done.stderr)
    assert ["rank", "system", "RR", "±95%", "ranks", "tier", "P@1"] == lines[0].split()
    assert ["1", "best", "0.9500", "0.0486", "1", "1", "0.9000"] == lines[2].split()
    assert ["2", "good", "0.9250", "0.0578", "1–2", "1", "0.8500"] == lines[3].split()
    assert ["3", "poor", "0.5500", "0.0486", "3", "2", "0.1000"] == lines[4].split()
    assert (
        "Means of 40 queries ±95%; ranks in 95% of 2,000 resamples (seed 1); no system in a tier is "
        "significantly worse than its best (alpha 0.05); more with -v." == " ".join(lines[5:7])
    )
    assert len(lines) <= 25


def test_rules_that_are_not_the_usual_ones_are_named(files):
    options = ("--like", "trec_eval-9", "--depth", "1")
    done = assay("leaderboard", "qrels", "runs", "-m", "RR", *options, cwd=files)

    assert "(alpha 0.05); as in trec_eval-9" in " ".join(done.stdout.split())
    assert "depth=1" in done.stdout


def test_measures_that_do_not_fit_are_named(files):
    measures = [
        word
        for name in ("RR", "P@1", "P@2", "P@3", "P@4", "AP", "nDCG", "nDCG@1", "nDCG@2", "R@1", "R@2")
        for word in ("-m", name)
    ]
    done = assay("leaderboard", "qrels", "runs", *measures, cwd=files)

    assert "Left out: " in done.stdout.replace("\n", " ")
    assert "R@2. Widen the terminal, or use --format json." in done.stdout.replace("\n", " ")


def test_many_systems_are_cut_with_a_word_on_how_to_see_all(files):
    header = "query," + ",".join(f"s{n}" for n in range(30))
    rows = "".join(f"{q}," + ",".join(str(1 - n / 100 + (q * n) % 7 / 50) for n in range(30)) + "\n" for q in range(9))
    (files / "scores.csv").write_text(f"{header}\n{rows}")
    short = assay("leaderboard", "--scores", "scores.csv", cwd=files).stdout
    three = assay("leaderboard", "--scores", "scores.csv", "--top", "3", "--format", "markdown", cwd=files).stdout
    whole = assay("leaderboard", "--scores", "scores.csv", "--top", "30", cwd=files).stdout

    assert "Showing the best 20 of 30 systems; --top 30 shows all." in short
    assert 20 == sum(line.split()[:1] != [] and line.split()[0].isdigit() for line in short.splitlines())
    assert "Showing the best 3 of 30 systems." in three
    assert 30 == sum(line.split()[:1] != [] and line.split()[0].isdigit() for line in whole.splitlines())


def test_json_is_what_its_schema_says(files):
    done = assay("leaderboard", "qrels", "runs", "-m", "RR", "--format", "json", cwd=files)
    found = json.loads(done.stdout)

    assert [] == list(problems(found, SCHEMA))
    assert ["best", "good", "poor"] == [each["system"] for each in found["standings"]]
    assert {"draws": 2000, "seed": 1, "alpha": 0.05, "resample": "queries"} == found["method"]
    assert (
        "best has the highest mean RR (0.9500). 1 of the other 2 is not significantly worse (good)." == found["answer"]
    )


def test_csv_has_every_number(files):
    done = assay("leaderboard", "qrels", "runs", "-m", "RR,P@1", "--format", "csv", cwd=files)
    first, *_ = csv.DictReader(done.stdout.splitlines())

    assert ("1", "best", "1", "1", "1") == tuple(
        first[name] for name in ("rank", "system", "tier", "rank low", "rank high")
    )
    assert (0.95, 0.9) == (float(first["RR"]), float(first["P@1"]))
    assert 0.95 == pytest.approx((float(first["mean low"]) + float(first["mean high"])) / 2)


def two_collections(files, *systems):
    """Collections web and news; news has only these systems."""
    (files / "web.qrels").write_text((files / "qrels").read_text())
    (files / "news").mkdir()
    for name in systems:
        (files / "news" / f"{name}.run").write_text((files / "runs" / f"{name}.run").read_text())
    return ("--collection", "web=web.qrels:runs", "--collection", "news=qrels:news", "-m", "RR")


def test_collections_count_equally_and_are_shown(files):
    collections = two_collections(files, "best", "good", "poor")
    (files / "news" / "good.run").write_text(run_text(range(QUERIES)))
    done = assay("leaderboard", *collections, cwd=files)
    found = json.loads(assay("leaderboard", *collections, "--format", "json", cwd=files).stdout)

    assert ["1", "good", "0.9625"] == done.stdout.splitlines()[2].split()[:3]  # (0.925 + 1) / 2
    assert "Means of 2 collections, which count equally (80 queries) ±95%; ranks in 95% of" in done.stdout
    assert {"web": {"RR": 0.925}, "news": {"RR": 1.0}} == found["standings"][0]["by_collection"]
    assert [] == list(problems(found, SCHEMA))
    rows = list(csv.DictReader(assay("leaderboard", *collections, "--format", "csv", cwd=files).stdout.splitlines()))
    assert ("0.925", "1.0") == (rows[0]["web: RR"], rows[0]["news: RR"])


def test_a_system_that_lacks_a_collection_is_refused_or_left_out(files):
    collections = two_collections(files, "best", "good")
    refused = assay("leaderboard", *collections, cwd=files)
    done = assay("leaderboard", *collections, "--incomplete", "leave-out", cwd=files)

    assert 2 == refused.returncode
    assert (
        "Error: 'poor' has no run in collection news. A mean over fewer collections is not comparable: add the runs, or "
        "leave such systems out with --incomplete leave-out.\n" == refused.stderr
    )
    assert "! 1 system is left out, since it lacks a collection (poor lacks news)." in done.stdout
    assert "poor  " not in done.stdout


@pytest.mark.parametrize("folder", ["a:b", "a=b", "C:x"])
def test_paths_may_have_colons_and_equals_signs(files, folder):
    os.rename(files / "runs", files / folder)
    (files / folder / "q:1=x").write_text((files / "qrels").read_text())
    done = assay(
        "leaderboard", "--collection", f"web={folder}/q:1=x:{folder}", "-m", "RR", "--format", "csv", cwd=files
    )

    assert 0 == done.returncode
    assert "1,best," in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["qrels", "runs/best.run"], "a leaderboard needs at least two systems."),
        (["qrels", "runs", "-m", "nDGC"], "no measure called 'nDGC'; did you mean 'nDCG'?"),
        (["qrels", "runs", "-m", "Unjudged@5"], "Unjudged@5 cannot rank systems, since a higher value is not better"),
        (["qrels", "runs/best.run", "best=runs/good.run"], "two runs are called 'best' (runs/best.run and runs/good.run)"),
        ([], "give either QRELS and RUNs, or --collection NAME=QRELS:FOLDER, or --scores FILE."),
        (["qrels", "runs", "--scores", "x.csv"], "give either QRELS and RUNs, or --collection NAME=QRELS:FOLDER"),
        (["--scores", "x.csv", "-m", "RR"], "--measure: does not apply to --scores"),
        (["--collection", "qrels:runs"], "--collection takes NAME=QRELS:FOLDER, such as web=web.qrels:runs, not 'qrels:runs'."),
        (["--collection", "web=no:runs"], "collection web: there is no file of judgments 'no'."),
        (["--collection", "web=C:\\q:D:\\runs"], "collection web: there is no file of judgments 'C:\\q'."),
        (["--collection", "web=qrels:nowhere"], "collection web: there is no folder of runs 'nowhere'."),
        (["--collection", "a=qrels:runs", "--collection", "a=qrels:runs"], "two collections are called 'a'"),
        (["--collection", "web=qrels:bad"], "collection web: bad/x.run:1: "),
        (["--collection", "web=other:runs"], "collection web: "),
        (["--collection", "web=qrels:runs", "--resample", "collections"], "resampling collections takes at least 5 of them, and there is 1; use --resample queries."),
        (["qrels", "runs", "-o", "runs/best.run"], "runs/best.run: this is also an input file; choose another output file."),
        (["--collection", "web=qrels:runs", "-o", "qrels"], "qrels: this is also an input file; choose another output file."),
        (["qrels", "runs", "--spreadsheet"], "--spreadsheet is for csv and tsv, not for table; leave it out."),
    ],
)  # fmt: skip
def test_errors_in_words(files, arguments, words):
    (files / "bad").mkdir()
    (files / "bad" / "x.run").write_text("q1 Q0 a 1 high x\n")
    (files / "other").write_text("another 0 z 1\n")
    (files / "x.csv").write_text("query,a,b\n1,0.5,0.6\n2,0.7,0.8\n")
    done = assay("leaderboard", *arguments, cwd=files)

    assert 2 == done.returncode
    assert f"Error: {words}" in done.stderr


@pytest.mark.parametrize("output_format", RENDERERS)
def test_hostile_names_are_data(files, output_format):
    names = ("a|b_<i>\x1b[31m", "[red]$x$", "@1+1")
    runs = [f"{name}=runs/{run}.run" for name, run in zip(names, ("best", "good", "poor"), strict=True)]
    done = assay("leaderboard", "qrels", *runs, "-m", "RR", "--format", output_format, cwd=files)

    assert 0 == done.returncode
    assert (output_format in ("csv", "tsv")) == ("Note: a spreadsheet would run '@1+1' as a formula." in done.stderr)
    assert ("\x1b" in done.stdout) == (output_format in ("csv", "tsv"))
    if output_format == "markdown":
        assert "a\\|b\\_\\<i\\>" in done.stdout
    if output_format == "latex":
        assert "{[}red{]}\\$x\\$" in done.stdout
    if output_format == "html":
        assert "<i>" not in done.stdout
    if output_format in ("csv", "tsv"):
        safe = assay("leaderboard", "qrels", *runs, "-m", "RR", "--format", output_format, "--spreadsheet", cwd=files)
        assert "'@1+1" in safe.stdout
        assert "" == safe.stderr
