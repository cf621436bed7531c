"""An experiment from its files to its reports."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from assay.errors import InputError
from assay.evaluation import Evaluator
from assay.formats.unread import open_run
from assay.records import recording
from assay.records.curves import NO_CURVES
from assay.records.model import FindingRecord
from assay.records.recording import begin_experiment, find_baseline, measure_run, path_of
from assay.records.storing import read_manifest, read_report
from records.samples import MEASURES, conduct, files_below, manifest, render, write_files


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)


def sha256(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# One run


def test_one_run_by_hand(here):
    outcome = conduct("qrels.txt", ["plain.run"], report="report")
    report = read_report("report")

    assert {"P@1": 0.5, "RR": 0.75, "AP": 0.75} == dict(outcome.evaluations[0].mean())
    assert [0.5, 0.75, 0.75] == [result.mean for result in report.measures]
    assert {"q1": (0.0, 0.5, 0.5), "q2": (1.0, 1.0, 1.0)} == report.queries
    assert {"1": 1, "2": 1} == {name: count for name, count in report.curves.first_relevant.items() if count}
    assert ("plain", "plain.run", sha256(here / "plain.run"), 3, 2) == (
        report.run.name,
        report.run.path,
        report.run.sha256,
        report.run.lines,
        report.run.queries,
    )
    assert ("qrels", "qrels.txt", sha256(here / "qrels.txt"), 3, 2) == (
        report.qrels.name,
        report.qrels.path,
        report.qrels.sha256,
        report.qrels.lines,
        report.qrels.queries,
    )
    assert "sample" == report.tag
    assert 0 < report.seconds < 60


def test_report_and_manifest_belong_together(here):
    conduct("qrels.txt", ["plain.run"], report="report", settings=["model=e5", "k=60"], notes=["first try"])
    found, report = read_manifest("report"), read_report("report")

    assert found.experiment == report.experiment
    assert found.created == report.created
    assert re.fullmatch(rf"\d{{8}}T\d{{6}}Z-{found.config_hash[:8]}", found.experiment)
    assert ("assay", "evaluate", "qrels.txt", "plain.run") == found.command
    assert ("e5", {"k": "60"}, ("first try",), ("plain",)) == (
        found.model,
        found.parameters,
        found.notes,
        found.runs,
    )
    assert ["qrels.txt", "plain.run"] == [digest.path for digest in found.inputs]
    assert [sha256(here / "qrels.txt"), sha256(here / "plain.run")] == [digest.sha256 for digest in found.inputs]
    assert MEASURES == found.config.measures


def test_without_a_folder_nothing_is_written_and_no_curves_are_computed(here):
    outcome = conduct("qrels.txt", ["plain.run"])

    assert ["better.run", "plain.run", "qrels.txt"] == files_below(here)
    assert {} == outcome.targets
    evaluator = Evaluator("qrels.txt", ["RR"])
    assert NO_CURVES == measure_run(evaluator, open_run("plain.run"), curves=False).curves


def test_chosen_rules_are_kept_apart_from_all_rules(here):
    conduct("qrels.txt", ["plain.run"], report="report", rules={"ties": "doc-asc"})

    assert {"ties": "doc-asc"} == read_manifest("report").config.rules
    assert "judged" == read_report("report").rules["queries"]


def test_findings_come_through_by_run(here):
    experiment = begin_experiment("qrels.txt", ["plain.run", "better.run"], report="report")
    finding = FindingRecord(
        code="RUN004", severity="error", title="t", message="m", fix="f", file="better.run", count=2
    )
    experiment.evaluate(
        Evaluator("qrels.txt", ["RR"]),
        [open_run("plain.run"), open_run("better.run")],
        render,
        find=lambda measured: [finding] if measured.path == "better.run" else [],
    )

    assert () == read_report("report/plain").findings
    assert (finding,) == read_report("report/better").findings
    assert (False, True) == (read_report("report/better").complete, read_report("report/plain").complete)


def test_the_header_of_a_run_stands_in_the_manifest(here):
    (here / "plain.run").write_text(
        "# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n" + (here / "plain.run").read_text()
    )
    conduct("qrels.txt", ["plain.run"], report="report")

    assert {"plain": {"tag": "bm25"}} == read_manifest("report").metadata


# Several runs


def test_several_runs_share_a_manifest(here):
    conduct("qrels.txt", ["plain.run", "better.run"], report="report")
    found = read_manifest("report")

    assert ("plain", "better") == found.runs
    assert ["qrels.txt", "plain.run", "better.run"] == [digest.path for digest in found.inputs]
    assert [0.5, 1.0] == [read_report(f"report/{run}").measures[0].mean for run in found.runs]
    assert {found.experiment} == {read_report(f"report/{run}").experiment for run in found.runs}


# Targets


PROFILE = '[measures."P@1"]\ngood = 0.6\n[measures.RR]\nuplift = 0.2\nover = "plain"\n'


def test_targets_are_recorded_whole_and_beside_each_measure(here):
    (here / "t.toml").write_text(PROFILE)
    outcome = conduct("qrels.txt", ["plain.run", "better.run"], report="report", targets="t.toml")

    assert {"plain": "fail", "better": "pass"} == {run: found.status for run, found in outcome.targets.items()}
    assert ("t", "pass") == (read_report("report/better").targets, read_report("report/better").status)
    p, rr, ap = read_report("report/better").measures
    assert ("1.0000 of 0.6000 (good)", "1.0000 of 0.9500 (0.2000 over plain, which has 0.7500)", None) == (
        p.target.words,
        rr.target.words,
        ap.target,
    )
    assert None is read_report("report/plain").measures[1].target
    assert [("P@1", None), ("RR", "plain")] == [
        (target.measure, target.over) for target in read_manifest("report").config.targets.measures
    ]


def test_measures_of_the_targets_are_added(here):
    (here / "t.toml").write_text(PROFILE)
    outcome = conduct("qrels.txt", ["better.run"], measures=("AP", "MRR"), targets="t.toml")

    assert ["AP", "MRR", "P@1"] == list(outcome.evaluations[0].mean())
    assert {"MRR": "unknown", "P@1": "pass"} == {
        name: result.status for name, result in outcome.targets["better"].results.items()
    }


def test_an_earlier_report_is_a_baseline(here):
    (here / "t.toml").write_text(PROFILE)
    conduct("qrels.txt", ["plain.run"], report="old")
    outcome = conduct("qrels.txt", ["better.run"], report="new", targets="t.toml", baseline="old")

    assert "1.0000 of 0.9500 (0.2000 over plain, which has 0.7500)" == outcome.targets["better"].results["RR"].words
    config = read_manifest("new").config
    assert ("plain", "old", 0.75) == (config.baseline.name, config.baseline.path, config.baseline.means["RR"])
    assert "old/EvaluationReport.json" == read_manifest("new").inputs[-1].path


def test_an_earlier_report_of_the_same_run_is_a_baseline_too(here):
    (here / "t.toml").write_text('[measures.RR]\nuplift = 0.0\nover = "somebody"')
    conduct("qrels.txt", ["plain.run"], report="old")
    outcome = conduct("qrels.txt", ["plain.run"], targets="t.toml", baseline="old")

    assert "0.7500 of 0.7500 (0.0000 over plain, which has 0.7500)" == outcome.targets["plain"].results["RR"].words


def test_a_folder_of_several_runs_is_no_baseline_but_each_of_them_is(here):
    conduct("qrels.txt", ["plain.run", "better.run"], report="old")

    assert "better" == find_baseline("old/better", ["x"]).name
    with pytest.raises(InputError) as refused:
        find_baseline("old", ["x"])
    assert "old: contains the reports of several runs; name one of them, such as old/better." == str(refused.value)


# Errors before anything is evaluated


@pytest.mark.parametrize(
    ("wishes", "complaint"),
    [
        ({"report": "."}, "contains other files but no report"),
        ({"targets": "trec"}, "no target profile called 'trec'"),
        ({"settings": ["k"]}, "a setting is NAME=VALUE"),
    ],
)
def test_mistakes_are_seen_before_a_file_is_read(here, wishes, complaint):
    with pytest.raises(InputError, match=complaint):
        begin_experiment("nowhere.txt", ["nowhere.run"], **wishes)


def test_a_run_that_changes_while_it_is_evaluated_gets_no_report(here, monkeypatch):
    def slow(evaluator, run, **others):
        found = measure_run(evaluator, run, **others)
        (here / "plain.run").write_text("q1 Q0 a 1 1.0 other\n")
        return found

    monkeypatch.setattr(recording, "measure_run", slow)
    with pytest.raises(InputError, match=r"plain\.run: the file changed while it was evaluated"):
        conduct("qrels.txt", ["plain.run"], report="report")

    assert not (here / "report").exists()


# Sources without a file


def test_values_in_memory_have_no_path_and_no_digest(here):
    (here / "run").write_text("a file that has nothing to do with it")
    experiment = begin_experiment("", [], report="report")
    evaluator = Evaluator({"q": {"a": 1}}, ["RR"])
    experiment.evaluate(evaluator, [open_run({"q": {"a": 1.0}}, name="mine")], render)

    assert (None, "mine") == (read_report("report").run.sha256, read_report("report").run.name)
    assert () == read_manifest("report").inputs


def test_standard_input_is_called_by_its_sign():
    assert ("-", "a/b.run") == (path_of("<stdin>"), path_of("a/b.run"))


# Secrets

PLANTED = {
    "option": "hunter2-option",
    "setting": "hunter2-setting",
    "note": "sk-proj-hunter2note12345",
    "url": "hunter2-url",
    "bearer": "hunter2.bearer1",
    "header": "hunter2-header",
    "raw": "hunter2 raw words",
    "path": "sk-hunter2path1234",
    "profile": "AKIAHUNTER2PROFILE00",
    "tag": "ghp_hunter2taghunter2tag",
}


def test_a_planted_secret_appears_in_no_file(here):
    run = f"runs-{PLANTED['path']}.run"
    (here / run).write_text(
        f"# ir_metadata.start\n# tag: x\n# api_key: {PLANTED['header']}\n# cmd: curl https://me:{PLANTED['url']}@h/\n"
        f"# ir_metadata.end\nq1 Q0 a 1 1.0 {PLANTED['tag']}\n"
    )
    raw = "raw.run"
    (here / raw).write_text(
        f"# ir_metadata.start\n# password: &p |\n#   {PLANTED['raw']}\n# ir_metadata.end\nq2 Q0 c 1 1.0 t\n"
    )
    profile = f"{PLANTED['profile']}.toml"
    (here / profile).write_text(f'[measures.RR]\ngood = 0.1\nnote = "see {PLANTED["url"]}"\n')
    command = [
        *("assay", "evaluate", "qrels.txt", run, raw, "--api-key", PLANTED["option"]),
        *("--set", f"db_password={PLANTED['setting']}", "--targets", profile),
        *("--note", f"Authorization: Bearer {PLANTED['bearer']}"),
    ]
    conduct(
        "qrels.txt",
        [run, raw],
        report="report",
        targets=profile,
        settings=[
            f"db_password={PLANTED['setting']}",
            f"url=https://me:{PLANTED['url']}@host/",
            f"seen={PLANTED['option']}",
        ],
        notes=[
            f"Authorization: Bearer {PLANTED['bearer']}",
            f"again {PLANTED['setting']} and {PLANTED['note']}",
        ],
        command=command,
    )
    written = b"\n".join(path.read_bytes() for path in sorted((here / "report").rglob("*")) if path.is_file())
    names = "\n".join(files_below(here / "report"))

    assert [] == [kind for kind, secret in PLANTED.items() if secret.encode() in written]
    assert [] == [kind for kind, secret in PLANTED.items() if secret in names]
    assert b"hunter2" not in written.lower().replace(b"***", b"")
    shown = manifest(here / "report")
    assert {"db_password": "***", "url": "https://***@host/", "seen": "***"} == shown["parameters"]


def test_what_is_no_secret_is_all_there(here):
    conduct(
        "qrels.txt",
        ["plain.run"],
        report="report",
        settings=["max_tokens=512", "keyword_weight=0.3", "url=https://host/path?q=1"],
        notes=["keyword and dense, k = 60"],
    )
    shown = manifest(here / "report")

    assert {"max_tokens": "512", "keyword_weight": "0.3", "url": "https://host/path?q=1"} == shown["parameters"]
    assert ["keyword and dense, k = 60"] == shown["notes"]
    assert "***" not in json.dumps(shown)
