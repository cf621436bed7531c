"""--judges: which grade counts if a document has several judgments, and how far the judges agree."""

from __future__ import annotations

import json
import math

import pytest

from cli.command import assay

# d1: 2 and 0; d2: 1 and 1; d3: 0. Two judges, in column 2; one of two pairs agrees. The mid-ranks of the four paired grades
# are 3.5, 0.5, 2 and 2, so alpha = 1 - (3 / 4) * (2 * 4.5) / 4.5 = -0.5.
QRELS = "q1 ann d1 2\nq1 bob d1 0\nq1 ann d2 1\nq1 bob d2 1\nq1 ann d3 0\n"
RUN = "q1 Q0 d1 1 3.0 x\nq1 Q0 d3 2 2.0 x\nq1 Q0 d2 3 1.0 x\n"
WORDS = "2 of 3 judged documents have several judgments; 50% of pairs agree (Krippendorff's alpha, ordinal: -0.500)."


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "b.run").write_text(RUN.replace("3.0", "0.5"))
    return tmp_path


def test_an_error_names_the_flag(folder):
    done = assay("evaluate", "qrels.txt", "a.run", cwd=folder)

    assert (2, "") == (done.returncode, done.stdout)
    assert (
        "Error: qrels.txt:2: document d1 is judged twice for query q1, with grades 2, 0 (lines 1, 2). In all, 2 documents "
        "have several judgments, 1 of them with different grades. Column 2 differs (ann, bob); if it holds subtopics, use "
        "measures such as alpha_nDCG. Choose which grade counts: --judges mean, median, majority, best or first.\n"
    ) == done.stderr


def test_the_rule_for_duplicates_is_about_runs(folder):
    done = assay("evaluate", "qrels.txt", "a.run", "--duplicates", "best", cwd=folder)

    assert 2 == done.returncode
    assert "is judged twice" in done.stderr


@pytest.mark.parametrize(("judges", "value"), [("first", 1.0), ("best", 1.0), ("mean", 1.0), ("majority", 1 / 3)])
def test_the_values_and_one_line_on_the_agreement(folder, judges, value):
    """RR: d1 is relevant for the first, the best and the mean grade, 1; the majority takes the lower grade of d1, 0."""
    options = ("-m", "RR", "--judges", judges)
    shown = assay("evaluate", "qrels.txt", "a.run", "b.run", *options, "-v", cwd=folder, env={"COLUMNS": "120"}).stdout
    document = json.loads(assay("evaluate", "qrels.txt", "a.run", *options, "--format", "json", cwd=folder).stdout)

    assert 1 == shown.count(f"\nJudges: {WORDS}\n")
    assert f"judges={judges}" in shown
    assert value == document["runs"][0]["mean"]["RR"]
    assert {"documents": 3, "several": 2, "disputed": 1, "judgments": 4, "equal_pairs": 0.5, "alpha": -0.5} == document[
        "runs"
    ][0]["coverage"]["agreement"]


def test_a_comparison_has_the_same_line(folder):
    done = assay("compare", "qrels.txt", "a.run", "b.run", "-m", "RR", "--judges", "mean", "-v", cwd=folder)

    assert 1 == " ".join(done.stdout.split()).count(f"Judges: {WORDS}")


def test_conversion_writes_one_row_per_document(folder):
    done = assay("qrels", "convert", "qrels.txt", "--judges", "mean", "-o", "mean.txt", cwd=folder)
    whole = assay("qrels", "convert", "qrels.txt", "-o", "all.json", cwd=folder)

    assert "q1 0 d1 1\nq1 0 d2 1\nq1 0 d3 0\n" == (folder / "mean.txt").read_text()
    assert (
        f"Note: {WORDS}\n"
        "Note: column 2 (iteration, subtopic or judge) differs between judgments of a document and was left out.\n"
    ) == done.stderr
    assert 2 == whole.returncode  # JSON has room for one grade of a document


def test_conversion_without_the_option_keeps_all_rows(folder):
    done = assay("qrels", "convert", "qrels.txt", "-o", "all.txt", cwd=folder)

    assert (0, "") == (done.returncode, done.stderr)
    assert QRELS == (folder / "all.txt").read_text()
    assert 2 == assay("qrels", "convert", "qrels.txt", "--judges", "error", "-o", "x.txt", cwd=folder).returncode


def test_evaluating_converted_judgments_gives_the_same_values(folder):
    for like in ("assay", "trec_eval-9"):
        for judges in ("first", "best", "mean", "median", "majority"):
            assay("qrels", "convert", "qrels.txt", "--judges", judges, "-o", "one.txt", cwd=folder)
            shown = [
                json.loads(assay("evaluate", *arguments, "--like", like, "--format", "json", cwd=folder).stdout)
                for arguments in (
                    ("one.txt", "a.run", "-m", "nDCG"),
                    ("qrels.txt", "a.run", "-m", "nDCG", "--judges", judges),
                )
            ]
            assert shown[0]["runs"][0]["mean"] == shown[1]["runs"][0]["mean"]


def test_a_summary_says_how_far_judges_agree(folder):
    (folder / "one.txt").write_text(QRELS.replace("ann", "0").replace("bob", "0"))
    shown, single = (
        " ".join(assay("qrels", "info", name, cwd=folder).stdout.split()) for name in ("qrels.txt", "one.txt")
    )

    assert f"judges {WORDS[:-1]}; if the iterations are subtopics, these are not several judges iterations" in shown
    assert f"judges {WORDS[:-1]} iterations" in single


def test_tools_and_published_numbers(folder):
    """d1 and d2 are at ranks 1 and 3. The mean 1.5 of d1 is 1 for trec_eval."""
    (folder / "half.txt").write_text("q1 0 d1 2\nq1 0 d1 1\nq1 0 d2 1\n")
    shown = assay("conventions", "half.txt", "a.run", "-m", "nDCG", "--judges", "mean", "--format", "json", cwd=folder)
    again = assay("reproduce", "0.9386", "half.txt", "a.run", "-m", "nDCG", "--judges", "mean", cwd=folder)
    values = {row["convention"]: row["value"] for row in json.loads(shown.stdout)["rows"]}

    assert (1.5 + 1 / 2) / (1.5 + 1 / math.log2(3)) == pytest.approx(values["assay"])
    assert (1 + 1 / 2) / (1 + 1 / math.log2(3)) == pytest.approx(values["trec_eval-9"])
    assert 0 == again.returncode
    assert "--judges mean" in again.stdout


def test_a_report_has_the_agreement_and_can_be_verified(folder):
    assay("evaluate", "qrels.txt", "a.run", "-m", "RR", "--judges", "median", "--report", "out", cwd=folder)
    reports = [json.loads(path.read_text()) for path in (folder / "out").rglob("*.json")]
    (report,) = [found for found in reports if found["schema"] == "assay/evaluation-report/1"]

    assert "median" == report["rules"]["judges"]
    assert 0.5 == report["coverage"]["agreement"]["equal_pairs"]
    assert report["coverage_words"].endswith(f"Judges: {WORDS}")
    assert 0 == assay("verify", "out", cwd=folder).returncode


def test_trec_eval_still_refuses(folder):
    done = assay("trec_eval", "qrels.txt", "a.run", cwd=folder)

    assert 4 == done.returncode
    assert done.stderr.startswith("trec_eval.form_res_rels: duplicate docs d")
