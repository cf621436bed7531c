"""assay evaluate --report and --targets, and assay verify, as a user runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from assay.example import QRELS, RUNS
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

KEYWORD, HYBRID = RUNS
CHARTS = ["at-cutoff", "distribution", "first-relevant", "per-query", "precision-recall"]


@pytest.fixture
def here(tmp_path):
    """A folder with the example's files."""
    for path in (QRELS, KEYWORD, HYBRID):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def evaluate(folder, *arguments, **others):
    return assay("evaluate", "qrels.txt", *arguments, cwd=folder, **others)


def report_in(folder) -> dict:
    return json.loads((folder / "EvaluationReport.json").read_bytes())


def manifest_in(folder) -> dict:
    return json.loads((folder / "ExperimentManifest.json").read_bytes())


# Writing


def test_one_run_gets_a_folder_with_everything(here):
    done = evaluate(here, "keyword.run", "-m", "RR", "--report", "out")

    assert (0, "Report: out/EvaluationReport.html\n") == (done.returncode, done.stderr)
    assert ["keyword", "0.6250"] == done.stdout.splitlines()[2].split()
    assert {"EvaluationReport.html", "EvaluationReport.json", "EvaluationReport.md", "ExperimentManifest.json"} <= set(
        os.listdir(here / "out")
    )
    assert 0.625 == report_in(here / "out")["measures"][0]["mean"]
    page = (here / "out" / "EvaluationReport.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "keyword" in page


def test_charts_are_drawn_and_linked(here):
    pytest.importorskip("vl_convert")
    evaluate(here, "keyword.run", "--report", "out")
    markdown = (here / "out" / "EvaluationReport.md").read_text()

    assert [f"{name}.svg" for name in CHARTS] == sorted(os.listdir(here / "out" / "charts"))
    assert all(f"(charts/{name}.svg)" in markdown for name in CHARTS)
    assert all((here / "out" / "charts" / f"{name}.svg").read_text().startswith("<svg") for name in CHARTS)


def test_without_the_package_that_draws_there_are_no_charts_and_all_the_rest(here):
    (here / "vl_convert.py").write_text("raise ImportError")
    done = evaluate(
        here,
        "keyword.run",
        "--report",
        "out",
        env={"PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])},
    )

    assert 0 == done.returncode, done.stderr
    assert not (here / "out" / "charts").exists()
    markdown = (here / "out" / "EvaluationReport.md").read_text()
    assert "svg)" not in markdown
    assert "Charts are shown as text: the program that draws charts failed (exit status 1)." in markdown


def test_several_runs_get_a_folder_each(here):
    done = evaluate(here, "keyword.run", "new/one=hybrid.run", "--report", "out")

    assert "Report: out/index.html\n" == done.stderr
    assert ["ExperimentManifest.json", "index.html", "keyword", "new_one"] == sorted(os.listdir(here / "out"))
    assert ["keyword", "new/one"] == manifest_in(here / "out")["runs"]
    assert "new/one" == report_in(here / "out" / "new_one")["run"]["name"]


def test_one_page_lists_the_reports_of_several_runs_the_best_first(here):
    evaluate(here, "keyword.run", "new/one=hybrid.run", "-m", "nDCG@10", "--report", "out")
    page = (here / "out" / "index.html").read_text()
    means = {run: report_in(here / "out" / run)["measures"][0]["mean"] for run in ("keyword", "new_one")}
    links = [f"{run}/EvaluationReport.html" for run in sorted(means, key=means.__getitem__, reverse=True)]

    assert links == re.findall(r'href="([^"]*)"', page)
    assert all((here / "out" / link).exists() for link in links)
    assert all(f">{mean:.4f}<" in page for mean in means.values())
    assert "index.html" in [output["path"] for output in manifest_in(here / "out")["outputs"]]
    assert 0 == assay("verify", "out", cwd=here).returncode


def test_the_manifest_tells_what_was_done(here):
    evaluate(
        here,
        *("keyword.run", "-m", "RR", "--ties", "doc-asc", "--report", "out"),
        *("--set", "model=bm25", "--set", "dataset=cookbook", "--set", "index.recipes=v3", "--set", "k1=0.9"),
        *("--note", "first", "--note", "second"),
    )
    found = manifest_in(here / "out")

    assert ["assay", "evaluate", "qrels.txt", "keyword.run", "-m", "RR"] == found["command"][:6]
    assert ("bm25", "cookbook", {"recipes": "v3"}, {"k1": "0.9"}, ["first", "second"]) == tuple(
        found[name] for name in ("model", "dataset", "index_snapshots", "parameters", "notes")
    )
    assert (["RR"], {"ties": "doc-asc"}) == (found["config"]["measures"], found["config"]["rules"])


def test_a_report_is_replaced_by_the_next(here):
    evaluate(here, "keyword.run", "--report", "out")
    evaluate(here, "hybrid.run", "--report", "out")

    assert "hybrid" == report_in(here / "out")["run"]["name"]
    assert [] == [name for name in os.listdir(here) if name.startswith(".")]


def test_written_reports_are_what_the_schemas_say(here):
    evaluate(here, "keyword.run", "--report", "out", "--targets", "trec-rag", "--undefined", "nan")
    for name, schema in (
        ("EvaluationReport.json", "evaluation-report-1.json"),
        ("ExperimentManifest.json", "experiment-manifest-1.json"),
    ):
        document = json.loads((DOCS / "schemas" / schema).read_text())

        assert [] == list(problems(json.loads((here / "out" / name).read_bytes()), document))


def test_standard_input_has_no_digest_and_a_report_all_the_same(here):
    done = evaluate(here, "-", "-m", "RR", "--report", "out", stdin=KEYWORD.read_bytes())
    run = report_in(here / "out")["run"]

    assert 0 == done.returncode, done.stderr
    assert ("stdin", "-", None, None) == (run["name"], run["path"], run["sha256"], run["lines"])
    assert ["qrels.txt"] == [digest["path"] for digest in manifest_in(here / "out")["inputs"]]
    verified = assay("verify", "out", cwd=here)
    assert 1 == verified.returncode
    assert "unknown  all numbers  stdin came from standard input, which cannot be read again" in verified.stdout


def test_the_table_can_go_elsewhere(here):
    done = evaluate(here, "keyword.run", "--report", "out", "--format", "json", "-o", "table.json")

    assert ("", "Report: out/EvaluationReport.html\n") == (done.stdout, done.stderr)
    assert json.loads((here / "table.json").read_text())["runs"]


@pytest.mark.parametrize("like", ["trec_eval-9", "ir_measures", "beir", "msmarco"])
def test_every_convention_can_be_reported_and_verified(here, like):
    rules = ("--order", "score") if like == "msmarco" else ()
    done = evaluate(here, "keyword.run", "-m", "RR@10", "--like", like, *rules, "--report", "out")

    assert 0 == done.returncode, done.stderr
    assert 0 == assay("verify", "out", cwd=here).returncode


def test_hostile_ids_and_names_come_through(here):
    ids = [b"<script>alert(1)</script>", b"a|b", b"caf\xe9", b"\x1b[31mred", b"`x`", b"[x](y)", b"&amp;"]
    (here / "hostile.qrels").write_bytes(b"".join(b"%s 0 d 1\n" % query for query in ids))
    (here / "hostile.run").write_bytes(b"".join(b"%s Q0 d 1 1.0 <tag>\n" % query for query in ids))
    done = assay(
        "evaluate", "hostile.qrels", "<b>run</b>=hostile.run", "-m", "RR", "--report", "out", "--note", "<i>", cwd=here
    )

    assert 0 == done.returncode, done.stderr
    page = (here / "out" / "EvaluationReport.html").read_text(encoding="utf-8")
    markdown = (here / "out" / "EvaluationReport.md").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<b>run" not in page
    assert "<script>alert" not in markdown.replace("\\<", "")
    assert "\x1b" not in page + markdown
    assert len(ids) == len(report_in(here / "out")["queries"])
    assert 0 == assay("verify", "out", cwd=here).returncode


def test_no_planted_secret_is_in_any_file(here):
    run = here / "sk-hunter2-as-a-name.run"
    run.write_text("# ir_metadata.start\n# token: hunter2-header\n# ir_metadata.end\n" + KEYWORD.read_text())
    done = evaluate(
        here,
        *(run.name, "HYBRID_TOKEN=hybrid.run", "--report", "out"),
        *("--set", "api_key=hunter2-setting", "--set", "url=https://ann:hunter2-url@host/", "--set=pw=hunter2-header"),
        *("--note", "Authorization: Bearer hunter2.note1", "--note", "hunter2-setting again"),
        *("--note", "AKIAHUNTER2HUNTER2HU ghp_hunter2hunter2hunter2"),
    )
    files = [path for path in (here / "out").rglob("*") if path.is_file()]

    assert 0 == done.returncode, done.stderr
    assert 18 == len(files) or not (here / "out" / "HYBRID_TOKEN" / "charts").exists()
    for path in files:
        assert b"hunter2" not in path.read_bytes().lower(), path
        assert "hunter2" not in str(path.relative_to(here))


# Targets

PROFILE = """
name = "house"

[measures.RR]
good = 0.6
strong = 0.8

[measures."nDCG@5"]
uplift = 0.1
over = "keyword"

[measures."P@5"]
good = 0.5
"""


@pytest.fixture
def profile(here):
    (here / "house.toml").write_text(PROFILE)
    return here


def test_the_table_shows_a_status_for_each_measure(profile):
    done = evaluate(profile, "keyword.run", "hybrid.run", "-m", "AP", "-m", "RR", "--targets", "house.toml")
    lines = done.stdout.splitlines()

    assert (0, "") == (done.returncode, done.stderr)
    assert ["run", "AP", "RR", "nDCG@5", "P@5"] == lines[0].split()
    assert lines[0].index("P@5") + len("P@5") == lines[2].index("0.3000") + len("0.3000")  # not above the verdict
    assert ["keyword", "0.4160", "0.6250", "pass", "0.5214", "0.3000", "fail"] == lines[2].split()
    assert ["hybrid", "0.8542", "0.8750", "pass", "0.8920", "pass", "0.4750", "warn"] == lines[3].split()
    words = " ".join(done.stdout.split())
    assert "keyword: targets house: fail (1 fail, 1 pass): P@5 0.3000 of 0.5000 (good): 0.2000 short." in words
    assert "hybrid: targets house: warn (1 warn, 2 pass): P@5 0.4750 of 0.5000 (good): 0.0250 short." in words


def test_digits_stay_in_line_when_the_table_is_turned(profile):
    measures = [argument for k in range(1, 16) for argument in ("-m", f"R@{k}")]
    lines = evaluate(profile, "hybrid.run", *measures, "--targets", "house.toml").stdout.splitlines()
    cells = {line.split()[0]: line for line in lines[2:20] if len(line.split()) > 1}

    assert ["measure", "hybrid"] == lines[0].split()
    assert cells["R@1"].index(".") == cells["RR"].index(".") == cells["P@5"].index(".")


def test_per_query_rows_have_no_status(profile):
    lines = evaluate(profile, "hybrid.run", "-m", "RR", "--targets", "house.toml", "--per-query").stdout.splitlines()

    assert ["bread-no-knead", "1.0000"] == lines[2].split()[:2]
    assert ["all", "0.8750", "pass"] == lines[10].split()[:3]
    assert not any(word in lines[2] for word in ("pass", "warn", "fail"))
    assert lines[2].index(".") == lines[10].index(".")


def test_json_has_the_status_and_is_what_its_schema_says(profile):
    document = json.loads(
        evaluate(profile, "keyword.run", "hybrid.run", "-m", "RR", "--targets", "house.toml", "--format", "json").stdout
    )
    schema = json.loads((DOCS / "schemas" / "evaluation-1.json").read_text())
    keyword, hybrid = (run["targets"] for run in document["runs"])

    assert [] == list(problems(document, schema))
    assert ("house", "warn", "fail") == (hybrid["profile"], hybrid["status"], keyword["status"])
    assert {
        "status": "pass",
        "goal": 0.6,
        "words": "0.8750 of 0.6000 (good), also strong (0.8000)",
        "baseline": None,
        "reached": "strong",
    } == hybrid["measures"]["RR"]
    assert ("nDCG@5" in hybrid["measures"], "nDCG@5" in keyword["measures"]) == (True, False)


def test_without_targets_nothing_is_said_of_them(here):
    done = evaluate(here, "keyword.run", "-m", "RR", "--format", "json")

    assert "targets" not in json.loads(done.stdout)["runs"][0]


def test_an_uplift_without_its_baseline_is_unknown(profile):
    out = " ".join(evaluate(profile, "hybrid.run", "-m", "RR", "--targets", "house.toml").stdout.split())

    assert "nDCG@5 no baseline called 'keyword': evaluate that run too, or name another baseline" in out


def test_baselines_by_name_and_by_folder(profile):
    evaluate(profile, "keyword.run", "-m", "nDCG@5", "--report", "old")
    by_name = evaluate(
        profile, "a=keyword.run", "hybrid.run", "-m", "nDCG@5", "--targets", "house.toml", "--baseline", "a"
    )
    by_folder = evaluate(profile, "hybrid.run", "-m", "nDCG@5", "--targets", "house.toml", "--baseline", "old")

    assert ["hybrid", "0.8920", "pass"] == by_name.stdout.splitlines()[3].split()[:3]
    assert ["hybrid", "0.8920", "pass"] == by_folder.stdout.splitlines()[2].split()[:3]


def test_a_failed_target_is_no_failure_of_the_command(profile):
    done = evaluate(profile, "keyword.run", "--targets", "house.toml", "--report", "out")

    assert 0 == done.returncode
    assert "fail" == report_in(profile / "out")["status"]
    assert 0 == assay("verify", "out", cwd=profile).returncode


def test_the_profile_that_comes_with_assay(here):
    lines = evaluate(here, "hybrid.run", "--targets", "trec-rag").stdout.splitlines()

    assert (
        {
            "nDCG@10": ["0.8920", "pass"],
            "AP": ["0.8542"],
            "RR@10": ["0.8750", "pass"],
            "R@100": ["1.0000", "pass"],
            "MAP@100": ["0.8542", "unknown"],  # no baseline bm25
            "Recall@50": ["1.0000", "pass"],
            "HitRate@10": ["1.0000", "pass"],
        }
        == {name: values for name, *values in map(str.split, lines[2:9])}
    )


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--baseline", "x"], "Error: --baseline has no effect without --targets; add --targets.\n"),
        (["--set", "k=1"], "Error: --set is stored in a report's manifest; add --report DIR.\n"),
        (["--note", "x"], "Error: --note is stored in a report's manifest; add --report DIR.\n"),
        (["--report", "."], "Error: .: contains other files but no report (hybrid.run, keyword.run, qrels.txt)."),
        (["--report", "qrels.txt"], "Error: Invalid value for '--report': Directory 'qrels.txt' is a file.\n"),
        (["--report", "out", "--set", "k"], "Error: a setting is NAME=VALUE"),
        (["--targets", "trec-rga"], "Error: no target profile called 'trec-rga'; did you mean 'trec-rag'?"),
        (
            ["--targets", "trec-rag", "--baseline", "hybrd"],
            "Error: no run called 'hybrd'. A baseline is one of the runs",
        ),
        (["--targets", "trec-rag", "--like", "msmarco"], "Error: msmarco does not report nDCG@10"),
    ],
)
def test_mistakes_get_a_message_and_status_2(here, arguments, complaint):
    done = evaluate(here, "keyword.run", *arguments)

    assert (2, "") == (done.returncode, done.stdout)
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert ["hybrid.run", "keyword.run", "qrels.txt"] == sorted(os.listdir(here))


def test_a_folder_that_cannot_be_written_is_said(here):
    if os.getuid() == 0:
        target = "/proc/out"
    else:
        (here / "locked").mkdir(mode=0o500)
        target = "locked/out"
    done = evaluate(here, "keyword.run", "--report", target)

    assert (2, "") == (done.returncode, done.stdout)
    assert f"Error: {target}: the report cannot be written: " in done.stderr


# Verifying


@pytest.fixture
def reported(here):
    evaluate(here, "keyword.run", "hybrid.run", "-m", "RR", "-m", "nDCG@5", "--report", "out")
    return here


def test_a_report_that_holds_has_status_0(reported):
    done = assay("verify", "out", cwd=reported)

    assert (0, "") == (done.returncode, done.stderr)
    assert "\nnumbers of hybrid, recomputed: 9 checks passed\n" in done.stdout
    assert done.stdout.endswith(" checks passed.\n")


def test_one_changed_byte_has_status_1(reported):
    data = (reported / "hybrid.run").read_bytes()
    (reported / "hybrid.run").write_bytes(data.replace(b"0.", b"1.", 1))
    done = assay("verify", "out", cwd=reported)

    assert (1, "") == (done.returncode, done.stderr)
    assert "  DIFFERS  hybrid.run  has changed: sha256 is " in done.stdout


def test_verify_as_json(reported):
    done = assay("verify", "out", "--format", "json", "-o", "checked.json", cwd=reported)
    document = json.loads((reported / "checked.json").read_text())
    schema = json.loads((DOCS / "schemas" / "verification-1.json").read_text())

    assert (0, "", True) == (done.returncode, done.stdout, document["holds"])
    assert [] == list(problems(document, schema))


@pytest.mark.parametrize("folder", ["nowhere", ".", "qrels.txt", "out/keyword"])
def test_no_report_has_status_2(reported, folder):
    done = assay("verify", folder, cwd=reported)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(f"Error: {folder}: ")


def test_measures_of_ones_own_are_verified_with_their_plug_in(here):
    (here / "mine.py").write_text(
        "from assay import measure\n\n@measure('Mine')\ndef Mine(judged, *, cutoff: int):\n"
        "    '''Mine.\n\n    Formula: P.\n    '''\n    return judged.count(judged.relevant(1, cutoff)) / cutoff\n"
    )
    done = assay(
        "--plugin", "mine.py", "evaluate", "qrels.txt", "keyword.run", "-m", "Mine@3", "--report", "out", cwd=here
    )

    assert 0 == done.returncode, done.stderr
    assert 0 == assay("--plugin", "mine.py", "verify", "out", cwd=here).returncode
    without = assay("verify", "out", cwd=here)
    assert 1 == without.returncode
    assert "cannot be recomputed: no measure called 'Mine'" in without.stdout


# Unused features cost nothing


def loaded(*arguments: object) -> list[str]:
    """The heavy packages that a command loads."""
    code = (
        "import sys; from assay.cli import main; sys.argv = ['assay', *sys.argv[1:]]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('assay.records', 'scipy', 'jinja2', 'vl_convert', 'tomllib') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return eval(done.stderr.splitlines()[-1])


def test_an_evaluation_without_a_report_loads_nothing_of_it(tmp_path):
    assert [] == loaded("evaluate", QRELS, KEYWORD)
    assert ["assay.records", "tomllib"] == loaded("evaluate", QRELS, KEYWORD, "--targets", "trec-rag")
    assert {"assay.records", "scipy", "jinja2"} <= set(loaded("evaluate", QRELS, KEYWORD, "--report", tmp_path / "out"))
