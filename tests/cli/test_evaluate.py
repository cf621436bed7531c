"""assay evaluate."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys

import pytest

from assay.example import QRELS, RUNS
from cli.command import assay

KEYWORD, HYBRID = RUNS
MEASURES = ("-m", "nDCG@5", "-m", "RR", "-m", "num_ret")


def test_several_runs_side_by_side_with_the_best_marked():
    done = assay("evaluate", QRELS, KEYWORD, HYBRID, *MEASURES)

    assert 0 == done.returncode, done.stderr
    lines = done.stdout.splitlines()
    assert ["run", "nDCG@5", "RR", "num_ret"] == lines[0].split()
    assert ["keyword", "0.5214", "0.6250", "26"] == lines[2].split()
    assert ["hybrid", "0.8920", "0.8750", "29"] == lines[3].split()
    assert "*" not in done.stdout  # which readers take for significance


def test_what_is_best_is_bold_where_there_are_styles():
    files = QRELS, KEYWORD, HYBRID, "-m", "RR"
    coloured = assay("evaluate", *files, env={"FORCE_COLOR": "1"}).stdout

    assert "\x1b[1;32m0.8750\x1b[0m" in coloured
    assert "\x1b[1;32m0.6250" not in coloured
    assert "\x1b[33m! keyword lacks" in coloured
    assert "\x1b" not in assay("evaluate", *files, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b" not in assay("evaluate", *files, env={"FORCE_COLOR": "0"}).stdout


def test_one_line_on_the_conventions_and_what_is_unusual_stand_under_the_table():
    lines = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "RR@10").stdout.splitlines()

    assert [
        "Conventions: ties as in trec_eval, all 8 judged queries; more with -v",
        "! keyword lacks 1 of 8 judged queries, which counts as 0: vegan-gelatine.",
        "! Both runs: no query has more than 5 documents, so RR@10 looks no deeper.",
        "! Ties change the printed digits of keyword: RR@10 from 0.5625 to 0.6250.",
    ] == lines[4:]


def test_quiet_prints_the_table_alone():
    out = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "RR", "--quiet").stdout

    assert ["run", "keyword", "hybrid"] == [line.split()[0] for line in out.splitlines() if "─" not in line]
    both = assay("evaluate", QRELS, KEYWORD, "--quiet", "-v")
    assert (2, True) == (both.returncode, "--quiet and --verbose exclude each other" in both.stderr)


def test_runs_can_be_sorted_by_any_name_of_a_measure_and_cut(tmp_path):
    files = QRELS, KEYWORD, HYBRID, "-m", "nDCG@10"
    out = assay("evaluate", *files, "--sort", "nDCG@10", "--top", "1").stdout
    document = json.loads(assay("evaluate", *files, "--sort", "ndcg_cut_10", "--format", "json").stdout)

    assert ["hybrid", "0.8920"] == out.splitlines()[2].split()
    assert "1 of 2 runs." == out.splitlines()[3]
    assert "keyword" not in out
    assert ["hybrid", "keyword"] == [run["name"] for run in document["runs"]]
    wrong = assay("evaluate", *files, "--sort", "AP")
    assert "--sort cannot be 'AP', which is not a measure of the table; it takes nDCG@10." in wrong.stderr


def test_digits_are_for_printed_values(tmp_path):
    files = QRELS, KEYWORD, "-m", "nDCG@5", "--digits", "2"

    assert ["keyword", "0.52"] == assay("evaluate", *files).stdout.splitlines()[2].split()
    assert "| keyword | 0.52 |" in assay("evaluate", *files, "--format", "markdown").stdout
    assert "0.521380734269884" in assay("evaluate", *files, "--format", "json").stdout
    assert "\tall\t0.5214" in assay("evaluate", *files, "--format", "trec").stdout


def test_queries_stand_in_natural_order_for_people(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{query} 0 d 1\n" for query in (1, 2, 10)))
    (tmp_path / "run").write_text("".join(f"{query} Q0 d 1 1.0 x\n" for query in (1, 2, 10)))
    command = "evaluate", "qrels", "run", "-m", "RR", "--per-query"
    table = assay(*command, cwd=tmp_path).stdout.splitlines()[2:6]
    data = assay(*command, "--format", "csv", cwd=tmp_path).stdout.splitlines()[1:]

    assert ["1", "2", "10", "all"] == [line.split()[0] for line in table]
    assert ["1", "10", "2", "all"] == [line.split(",")[1] for line in data]  # by bytes, as trec_eval


def test_wide_tables_are_printed_in_parts(tmp_path):
    runs = [f"{'a-very-long-name-' * 3}{number}={KEYWORD}" for number in range(3)]
    out = assay("evaluate", QRELS, *runs, "-m", "official", env={"COLUMNS": "80"}).stdout

    assert 80 >= max(map(len, out.splitlines()))
    assert 2 <= out.count("run  ")
    assert all(label in out for label in ("num_ret", "P_1000", "iprec_at_recall_0.50"))


def test_many_runs_share_their_remarks(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"q{n} 0 d 1\nq{n} 0 e 0\n" for n in range(4)))
    for number in range(30):
        lines = [f"q{n} Q0 d 1 2.0 x\nq{n} Q0 e 2 1.0 x\n" for n in range(1 + number % 4)]
        (tmp_path / f"run-{number:02}.run").write_text("".join(lines))
    out = assay("evaluate", "qrels", *(f"run-{n:02}.run" for n in range(30)), "-m", "RR", cwd=tmp_path).stdout

    assert (
        "! 23 of 30 runs lack judged queries, which count as 0: run-00 (3 of 4), run-04 (3 of 4), run-08 (3 of 4) and 20 more."
        in " ".join(out.split())
    )
    assert 2 + 30 + 4 > len(out.splitlines())


def test_a_missed_target_can_fail_the_command(tmp_path):
    (tmp_path / "low.toml").write_text('[measures]\n"RR" = 0.5\n')
    (tmp_path / "high.toml").write_text('[measures]\n"RR" = 0.99\n')
    command = "evaluate", QRELS, KEYWORD, "-m", "RR", "--fail-on-target"

    assert 0 == assay(*command, "--targets", tmp_path / "low.toml").returncode
    assert 1 == assay(*command, "--targets", tmp_path / "high.toml").returncode
    assert 0 == assay(*command[:-1], "--targets", tmp_path / "high.toml").returncode
    assert (2, True) == (assay(*command).returncode, "add --targets." in assay(*command).stderr)


def test_conventions_and_coverage_in_full_stand_under_the_table_on_request():
    out = " ".join(assay("evaluate", QRELS, KEYWORD, "-m", "P@1", "-v").stdout.split())

    assert "Conventions: ties broken by document id, descending; mean over all judged queries" in out
    assert (
        "(order=score, ties=doc-desc, scores=float64, queries=judged, duplicates=error, judges=error, self_match=keep, undefined=zero)"
        in out
    )
    assert "keyword: 8 queries judged, 7 answered, 1 missing (counted as 0: vegan-gelatine)" in out
    assert (
        "0 without relevant documents; judged documents: 100% of the top 1; judged documents are tied in 1 query, "
        "across rank 1 in 1." in out
    )


@pytest.mark.parametrize(
    ("measures", "words"),
    [
        (["R@100"], "; no query has more than 5 documents, so R@100 looks no deeper."),
        (["R@5", "P@6", "nDCG@10"], "; no query has more than 5 documents, so P@6, nDCG@10 look no deeper."),
        (["R@5", "P@1"], None),
        (["AP"], None),  # its judged share is that of the top 10, but it has no cutoff
    ],
)
def test_measures_that_are_deeper_than_the_run_are_named(tmp_path, measures, words):
    """keyword returns at most 5 documents for a query."""
    asked = [part for measure in measures for part in ("-m", measure)]
    out = assay("evaluate", QRELS, KEYWORD, *asked, "--report", str(tmp_path / "report"), "-v").stdout
    table, page = (" ".join(text.split()) for text in (out, (tmp_path / "report/EvaluationReport.md").read_text()))

    assert (words is not None, words is not None) == ("no deeper" in table, "no deeper" in page)
    assert words is None or (words in table and words in page)


def test_diversity_without_subtopics_is_doubted_in_table_and_report(tmp_path):
    (tmp_path / "qrels").write_text("q1 0.5 a 1\nq1 1 b 0\nq2 0.5 a 0\nq2 1 c 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1.0 t\nq2 Q0 c 1 1.0 t\n")
    files = str(tmp_path / "qrels"), str(tmp_path / "run")
    done = assay("evaluate", *files, "-m", "alpha_nDCG@1", "--report", str(tmp_path / "report"))
    report = json.loads((tmp_path / "report/EvaluationReport.json").read_text())
    words = "olumn 2 of the qrels looks like rounds, not subtopics"

    assert f"C{words}" in " ".join(done.stdout.split())
    assert report["incomplete_because"][0].startswith(f"c{words}")


def test_per_query_rows_come_before_the_total():
    lines = assay("evaluate", QRELS, KEYWORD, "-m", "RR", "--per-query").stdout.splitlines()

    assert ["query", "RR"] == lines[0].split()
    assert ["bread-no-knead", "0.5000"] == lines[2].split()
    assert ["all", "0.6250"] == lines[10].split()
    both = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "RR", "--per-query").stdout.splitlines()
    assert [["run", "query", "RR"], ["hybrid", "bread-no-knead", "1.0000"]] == [both[0].split(), both[3].split()]


def test_many_measures_turn_the_table_around_to_fit():
    out = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "official").stdout

    assert ["measure", "keyword", "hybrid"] == out.splitlines()[0].split()
    assert max(map(len, out.splitlines())) <= 100


def test_json_has_rules_measures_means_coverage_and_queries():
    document = json.loads(
        assay("evaluate", QRELS, f"new={HYBRID}", "-m", "MRR@10", "--per-query", "--format", "json").stdout
    )

    assert "assay/evaluation/1" == document["schema"]
    assert "doc-desc" == document["rules"]["ties"]
    assert [{"name": "MRR@10", "canonical": "RR@10"}] == document["measures"]
    (run,) = document["runs"]
    assert ("new", {"MRR@10": 0.875}) == (run["name"], run["mean"])
    assert 8 == run["coverage"]["judged"] == len(run["queries"])
    assert {"MRR@10": 0.5} == run["queries"]["soup-too-salty"]


@pytest.mark.parametrize(("name", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited_values_keep_full_precision(name, delimiter):
    out = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "nDCG@5", "--format", name).stdout
    rows = list(csv.reader(io.StringIO(out), delimiter=delimiter))

    assert [["run", "query", "nDCG@5"], ["keyword", "all"]] == [rows[0], rows[1][:2]]
    assert 0.8920 == pytest.approx(float(rows[2][2]), abs=0.00005)
    assert 10 < len(rows[2][2])


def test_markdown_and_latex_set_the_best_in_bold():
    markdown = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "RR", "--format", "markdown").stdout
    latex = assay("evaluate", QRELS, KEYWORD, HYBRID, "-m", "RR", "--format", "latex").stdout

    assert "| run | RR |\n| --- | ---: |\n| keyword | 0.6250 |\n| hybrid | **0.8750** |\n" in markdown
    assert "hybrid & \\textbf{0.8750} \\\\\n\\bottomrule" in latex


def test_trec_format_has_trec_evals_three_columns():
    out = assay("evaluate", QRELS, KEYWORD, "-m", "RR", "-m", "num_ret", "--format", "trec").stdout

    assert (
        "runid                 \tall\tkeyword\nRR                    \tall\t0.6250\nnum_ret               \tall\t26\n"
        == out
    )


def test_output_goes_to_a_file_whole(tmp_path):
    target = tmp_path / "result.json"
    done = assay("evaluate", QRELS, KEYWORD, "--format", "json", "-o", target)

    assert (0, "") == (done.returncode, done.stdout)
    assert json.loads(target.read_text())["runs"]
    assert [target] == list(tmp_path.iterdir())
    assert 2 == assay("evaluate", QRELS, KEYWORD, "-o", tmp_path / "no" / "where").returncode


def test_standard_input_and_compression(tmp_path):
    packed = tmp_path / "hybrid.run.gz"
    packed.write_bytes(gzip.compress(HYBRID.read_bytes()))
    done = assay("evaluate", QRELS, "-", packed, "-m", "RR", stdin=KEYWORD.read_bytes())

    assert ["stdin", "0.6250"] == done.stdout.splitlines()[2].split()
    assert ["hybrid", "0.8750"] == done.stdout.splitlines()[3].split()


def test_letters_as_grades(tmp_path):
    qrels = tmp_path / "esci.csv"
    qrels.write_text("query_id,product_id,esci_label\nq,a,E\nq,b,S\nq,c,I\n")
    run = tmp_path / "shop.run"
    run.write_text("q Q0 c 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")
    done = assay("evaluate", qrels, run, "-m", "RR(rel=3)", "--grades", "E=3,S=2,C=1,I=0")

    assert ["shop", "0.3333"] == done.stdout.splitlines()[2].split()
    assert 2 == assay("evaluate", qrels, run).returncode


def test_what_undefined_values_leave_out_is_said():
    out = assay("evaluate", QRELS, HYBRID, "-m", "AP(rel=2)", "-m", "AP(rel=3)", "--undefined", "nan").stdout

    assert "! AP(rel=3) of hybrid is undefined for 8 queries, which are left out of the mean." in out


def test_formats_of_qrels_and_runs_may_be_named_apart(tmp_path):
    run = tmp_path / "whole.run"
    run.write_text("soup-too-salty potato-soup 95\nsoup-too-salty rescue-salty-soup 85\n")

    assert 2 == assay("evaluate", QRELS, run).returncode
    out = assay("evaluate", QRELS, run, "-m", "RR", "--run-format", "beir", "--query-set", "both").stdout
    assert ["whole", "0.5000"] == out.splitlines()[2].split()


def test_rules_are_options(tmp_path):
    out = assay(
        "evaluate", QRELS, KEYWORD, "-m", "RR", "--query-set", "both", "--ties", "doc-asc", "--depth", "2", "-v"
    ).stdout

    assert ["keyword", "0.6429"] == out.splitlines()[2].split()
    assert "ties=doc-asc, scores=float64, queries=both" in " ".join(out.split())
    assert "depth=2" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([QRELS, "nowhere.run"], "Error: nowhere.run: "),
        ([QRELS, KEYWORD, KEYWORD], "Error: two runs are called 'keyword'"),
        ([QRELS, KEYWORD, "-m", "nDGC"], "Error: no measure called 'nDGC'; did you mean 'nDCG'?\n"),
        ([QRELS, KEYWORD, "--ties", "none"], "Invalid value for '--ties'"),
        ([QRELS], "Missing argument 'RUN...'"),
        ([QRELS, QRELS], "qrels.txt"),
        ([QRELS, KEYWORD, "--grades", "E"], "E"),
        (["-", "-"], "Error: standard input (-) can be read only once; give the other files by path."),
        ([QRELS, KEYWORD, "-m", "R_cap@99999999999999999999"], "it takes a whole number from 1"),
        ([QRELS, KEYWORD, "--depth", "99999999999999999999"], "rule depth cannot be"),
        ([QRELS, KEYWORD, "--query-set", "strict"], "Error: 1 of 8 judged queries is missing from run 'keyword'"),
    ],
)
def test_mistakes_get_a_message_and_status_2(arguments, complaint):
    done = assay("evaluate", *arguments)

    assert (2, "") == (done.returncode, done.stdout)
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_over_different_queries_are_not_compared(tmp_path):
    one, other = tmp_path / "one.run", tmp_path / "other.run"
    one.write_text("soup-too-salty Q0 rescue-salty-soup 1 1 t\n")
    other.write_text("curry-mild Q0 vindaloo 1 2 t\ncurry-mild Q0 korma-chicken 2 1 t\n")
    out = assay("evaluate", QRELS, one, other, "-m", "RR", "--query-set", "both", env={"FORCE_COLOR": "1"}).stdout

    assert "\x1b[1;32m" not in out
    assert "The runs are averaged over different queries, so no value is marked as best." in out


def test_equal_values_are_not_called_the_best(tmp_path):
    runs = f"a={KEYWORD}", f"b={KEYWORD}"

    assert "\x1b[1;32m" not in assay("evaluate", QRELS, *runs, "-m", "RR", env={"FORCE_COLOR": "1"}).stdout


def test_output_that_cannot_be_written_is_said():
    done = subprocess.run(
        f"{sys.executable} -m assay evaluate {QRELS} {KEYWORD} > /dev/full",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (
        2,
        "Error: the result cannot be written: No space left on device. Free some space, or write to another disk.\n",
    ) == (done.returncode, done.stderr)


def test_query_sets_that_do_not_meet_say_so(tmp_path):
    (tmp_path / "q").write_text("".join(f"{n} 0 d 1\n" for n in range(51, 101)))
    (tmp_path / "r").write_text("".join(f"{n:03} Q0 d 1 1.0 t\n" for n in range(51, 100)))
    done = assay("evaluate", tmp_path / "q", tmp_path / "r")

    assert 2 == done.returncode
    assert "0 of 50 query ids match: run 'r' has '051', the qrels have '51'." in done.stderr
