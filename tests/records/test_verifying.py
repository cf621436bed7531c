"""Verification: every digest, and every number recomputed."""

from __future__ import annotations

import gzip
import json
import shutil

import msgspec
import pytest

from assay.errors import InputError
from assay.evaluation import Evaluator
from assay.formats.readings import Reading, Readings
from assay.formats.unread import open_run
from assay.records.encoding import encode_record
from assay.records.identity import digest_of
from assay.records.recording import begin_experiment
from assay.records.storing import MANIFEST_FILE, REPORT_FILE, read_manifest, read_report
from assay.records.verifying import Check, candidates, verify
from assay.report.evaluation.verification import verdict, verification_as_json, verification_as_text
from docs.blocks import DOCS
from docs.schema import problems
from records.samples import conduct, render, write_files


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)


@pytest.fixture
def report(here):
    """The report of one run with targets."""
    (here / "t.toml").write_text('[measures."P@1"]\ngood = 0.5\n')
    conduct("qrels.txt", ["plain.run"], report="report", targets="t.toml", settings=["k=60"])
    return here / "report"


def differing(folder="report") -> list[tuple[str, str, str]]:
    return [(check.kind, check.name, check.words) for check in verify(folder).checks if check.holds is not True]


def change(path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def forge(folder, **changes) -> None:
    """Change the report and its digest in the manifest, as a forger would."""
    forged = encode_record(msgspec.structs.replace(read_report(folder), **changes))
    (folder / REPORT_FILE).write_bytes(forged)
    manifest = read_manifest(folder)
    outputs = tuple(
        digest_of(output.path, forged) if output.path == REPORT_FILE else output for output in manifest.outputs
    )
    (folder / MANIFEST_FILE).write_bytes(encode_record(msgspec.structs.replace(manifest, outputs=outputs)))


# All checks pass


def test_a_fresh_report_holds_to_the_last_check(report):
    found = verify("report")

    assert [] == differing()
    assert (True, "report") == (found.holds, found.folder)
    assert [
        "settings",
        "experiment",
        REPORT_FILE,
        "EvaluationReport.html",
        "EvaluationReport.md",
        "charts/first.svg",
        "qrels.txt",
        "plain.run",
        *("P@1", "P@1 by query", "RR", "RR by query", "AP", "AP by query"),
        *("rules", "status", "coverage", "complete", "curves"),
    ] == [check.name for check in found.checks]


def test_it_says_each_number(report):
    words = {check.name: check.words for check in verify("report").checks}

    assert ("0.5000 [0.0000, 1.0000]", "2 queries") == (words["P@1"], words["P@1 by query"])


def test_several_runs(here):
    conduct("qrels.txt", ["plain.run", "better.run"], report="report")
    found = verify("report")

    assert found.holds
    assert ["plain", "better"] == list(dict.fromkeys(check.run for check in found.checks if check.kind == "number"))


@pytest.mark.parametrize(
    ("rules", "like"),
    [
        ({"ties": "expected"}, "assay"),
        ({"undefined": "nan", "depth": 1}, "assay"),
        ({}, "trec_eval-9"),
        ({}, "ir_measures"),
        ({"ties": "doc-asc"}, "beir"),
    ],
)
def test_rules_and_conventions_are_followed_again(here, rules, like):
    begin_experiment("qrels.txt", ["plain.run"], report="report").evaluate(
        Evaluator("qrels.txt", ["nDCG@10", "RR", "P@1"], rules, like=like), [open_run("plain.run")], render
    )

    assert [] == differing()


def test_formats_and_grades_are_followed_again(here):
    (here / "esci.csv").write_text("query_id,product_id,esci_label\nq1,a,E\nq1,b,I\nq2,c,S\n")
    (here / "plain.tsv").write_text("q1 b 2.0\nq1 a 1.0\nq2 c 1.0\n")
    conduct(
        "esci.csv",
        ["plain.tsv"],
        measures=("nDCG@2", "RR(rel=2)"),
        report="report",
        readings=Readings(Reading(grades={"E": 3, "S": 2, "C": 1, "I": 0}), Reading("beir")),
    )

    assert [] == differing()
    assert {"E": 3.0, "S": 2.0, "C": 1.0, "I": 0.0} == read_manifest("report").config.grades


def test_columns_are_followed_again(here):
    """The run has the usual names, too, and under these nothing would match."""
    (here / "judged.csv").write_text("term,lang,sku,stars\nshoes,de,a,1\nshoes,us,b,1\n")
    (here / "export.csv").write_text(
        "term,lang,sku,position,doc_id,score\nshoes,de,b,1,7,1\nshoes,de,a,2,8,2\nshoes,us,b,1,7,1\n"
    )
    reading = Reading(columns={"query": "term+lang", "doc": "sku", "rel": "stars", "run.rank": "position"}).shared()
    conduct("judged.csv", ["export.csv"], measures=("RR",), report="report", readings=Readings(reading, reading))

    assert [] == differing()
    assert 0.75 == read_report("report").measures[0].mean
    assert {
        "query": ("term", "lang"),
        "doc": ("sku",),
        "rel": ("stars",),
        "run.rank": ("position",),
    } == read_manifest("report").config.columns


def test_compressed_inputs(here):
    (here / "packed.run.gz").write_bytes(gzip.compress((here / "plain.run").read_bytes()))
    conduct("qrels.txt", ["packed.run.gz"], report="report")

    assert [] == differing()


def test_a_report_over_an_earlier_one(here):
    (here / "t.toml").write_text('[measures.RR]\nuplift = 0.1\nover = "x"')
    conduct("qrels.txt", ["plain.run"], report="old")
    conduct("qrels.txt", ["better.run"], report="report", targets="t.toml", baseline="old")

    assert [] == differing()
    change(here / "old" / REPORT_FILE, "0.75", "0.76")
    assert [("input", "old/EvaluationReport.json")] == [found[:2] for found in differing()]


def test_ids_that_are_no_utf_8(here):
    (here / "bytes.qrels").write_bytes(b"caf\xe9 0 a 1\n")
    (here / "bytes.run").write_bytes(b"caf\xe9 Q0 a 1 1.0 t\n")
    conduct("bytes.qrels", ["bytes.run"], report="report")

    assert [] == differing()


# Where files are found


def test_inputs_may_lie_beside_the_report_and_the_report_anywhere(report, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    shutil.move(report, elsewhere)
    for name in ("qrels.txt", "plain.run"):
        shutil.move(tmp_path / name, elsewhere / name)
    monkeypatch.chdir("/")

    assert [] == differing(elsewhere)


def test_of_two_files_the_one_that_has_not_changed_counts(report, here):
    shutil.copy(here / "plain.run", report / "plain.run")
    (here / "plain.run").write_text("q1 Q0 a 1 1.0 other\n")

    assert [] == differing()


def test_places_of_a_path(tmp_path):
    assert ["/a/b"] == candidates(tmp_path, "/a/b")
    assert ["a/b", str(tmp_path / "a/b")] == candidates(tmp_path, "a/b")


def test_intervals_of_earlier_versions_went_beyond_the_bounds_of_the_measure(report):
    measures = read_report("report").measures
    forge(report, measures=tuple(msgspec.structs.replace(each, interval=(-2.4, 3.9)) for each in measures))

    assert {(0.0, 1.0)} == {each.interval for each in measures}
    assert [] == [found for found in differing() if found[0] == "number"]


# A check fails


def test_one_changed_byte_in_a_run_is_caught(report, here):
    change(here / "plain.run", "q2 Q0 c 1 1.0", "q2 Q0 d 1 1.0")
    found = differing()

    assert found[0][:2] == ("input", "plain.run")
    assert "has changed: sha256 is " in found[0][2]
    assert ("number", "RR by query", "q2 is 0, was 1") in found
    assert (
        "number",
        "RR",
        "mean is 0.25, was 0.75",
    ) in found


@pytest.mark.parametrize("old", ["2.0 sample", "sample"])
def test_one_changed_byte_that_changes_no_number_is_caught_too(report, here, old):
    change(here / "plain.run", old, old.replace("2.0", "2.1").replace("samp", "simp"))

    assert [("input", "plain.run")] == [found[:2] for found in differing()]


@pytest.mark.parametrize("position", range(0, 60, 7))
def test_no_byte_of_a_run_can_be_changed_unseen(report, here, position):
    data = bytearray((here / "plain.run").read_bytes())
    data[position] ^= 1
    (here / "plain.run").write_bytes(data)

    assert ("input", "plain.run") in [found[:2] for found in differing()]


def test_a_changed_judgment_is_caught(report, here):
    change(here / "qrels.txt", "q1 0 a 1", "q1 0 a 0")
    names = [found[:2] for found in differing()]

    assert ("input", "qrels.txt") in names
    assert ("number", "AP") in names
    assert ("number", "curves") in names


@pytest.mark.parametrize("name", ["EvaluationReport.html", "EvaluationReport.md", "charts/first.svg"])
def test_a_changed_page_is_caught(report, name):
    with (report / name).open("a") as file:
        file.write(" ")
    ((kind, found, words),) = differing()

    assert ("output", name) == (kind, found)
    size = (report / name).stat().st_size
    assert words.endswith(f", {size} bytes instead of {size - 1}")


def test_a_missing_page_is_caught(report):
    (report / "charts" / "first.svg").unlink()

    assert [("output", "charts/first.svg", "no such file")] == differing()


def test_a_number_that_was_changed_in_the_report_is_caught_even_with_a_new_digest(report):
    measures = read_report(report).measures
    forge(report, measures=(msgspec.structs.replace(measures[0], mean=0.9), *measures[1:]))

    assert [("number", "P@1", "mean is 0.5, was 0.9")] == differing()


def test_a_value_of_a_query_that_was_changed_is_caught(report):
    forge(report, queries={"q1": (1.0, 0.5, 0.5), "q2": (1.0, 1.0, 1.0)})

    assert [("number", "P@1 by query", "q1 is 0, was 1")] == differing()


def test_a_query_that_was_left_out_is_caught(report):
    forge(report, queries={"q2": (1.0, 1.0, 1.0)})

    assert ("number", "RR by query", "q1 is 0.5, was absent") in differing()


def test_a_status_that_was_changed_is_caught(report):
    forge(report, status="fail")

    assert [("number", "status", "status is pass, was fail")] == differing()


def test_a_coverage_that_was_changed_is_caught(report):
    forge(report, coverage={**read_report(report).coverage, "judged": 3}, complete=False)

    assert [
        ("number", "coverage", "coverage.judged is 2, was 3"),
        ("number", "complete", "complete is True, was False"),
    ] == differing()


def test_many_differences_are_shown_by_their_first(report):
    curves = read_report(report).curves
    forge(report, curves=msgspec.structs.replace(curves, precision_at_recall=(0.0,) * 11))

    ((_, _, words),) = differing()
    assert (
        "curves.precision_at_recall[0] is 0.75, was 0; curves.precision_at_recall[1] is 0.75, was 0; "
        "curves.precision_at_recall[2] is 0.75, was 0; and 8 more" == words
    )


def test_settings_that_were_changed_are_caught(report):
    change(report / MANIFEST_FILE, '"k": "60"', '"k": "61"')
    ((kind, name, words),) = differing()

    assert ("manifest", "settings") == (kind, name)
    assert words.startswith("config hash is ")


def test_a_report_of_another_experiment_is_caught(report):
    forge(report, experiment="other")

    assert [("manifest", "experiment")] == [found[:2] for found in differing()]


def test_a_measure_that_means_something_else_today_is_caught(report):
    measures = read_report(report).measures
    forge(report, measures=(msgspec.structs.replace(measures[0], canonical="P@7"), *measures[1:]))

    assert [("number", "P@1", "no longer means P@7")] == differing()


def test_last_bits_of_another_machine_do_not_matter(report):
    measures = read_report(report).measures
    forge(report, measures=(msgspec.structs.replace(measures[0], mean=0.5 + 1e-13), *measures[1:]))

    assert [] == differing()


def test_what_a_later_version_adds_does_not_matter(report):
    rules = read_report(report).rules
    forge(report, rules={name: value for name, value in rules.items() if name != "self_match"})

    assert [] == differing()


def test_words_of_targets_may_be_put_in_another_way(report):
    measures = read_report(report).measures
    target = msgspec.structs.replace(measures[0].target, words="fine")
    forge(report, measures=(msgspec.structs.replace(measures[0], target=target), *measures[1:]))

    assert [] == differing()


@pytest.mark.parametrize("output", ["charts/first.svg", REPORT_FILE])
def test_a_path_that_no_system_can_open_is_damage(report, output):
    change(report / MANIFEST_FILE, f'"{output}"', f'"a\\u0000/{output}"')

    with pytest.raises(InputError, match="is damaged: the path of an output contains a NUL character"):
        verify(report)


def test_a_wrong_value_before_one_that_is_nested_too_deeply_is_damage(report):
    (report / MANIFEST_FILE).write_text('{"schema": 1, "more": ' + "[" * 100_000)

    with pytest.raises(InputError, match="is damaged: Expected `str`, got `int`"):
        verify(report)


def test_a_manifest_that_names_files_elsewhere_is_not_followed(report):
    change(report / MANIFEST_FILE, '"charts/first.svg"', '"../qrels.txt"')

    assert ("output", "../qrels.txt", "points outside the folder") in differing()


# A check cannot be run


def test_a_missing_input_leaves_its_numbers_unchecked(report, here):
    (here / "plain.run").unlink()
    found = verify("report")

    assert [
        Check("input", "plain.run", False, "no such file (also tried report/plain.run)"),
        Check("number", "all numbers", None, "plain.run was not found", run="plain"),
    ] == [check for check in found.checks if check.holds is not True]
    assert not found.holds


@pytest.mark.parametrize("damage", ["missing", "unreadable"])
def test_a_run_that_cannot_be_read_leaves_the_others_checked(here, damage):
    """The baseline is the one that is lost: the uplift over it is checked with its recorded mean."""
    (here / "t.toml").write_text('[measures."P@1"]\nuplift = { good = 0.1 }\nover = "plain"\n')
    conduct("qrels.txt", ["plain.run", "better.run"], report="report", targets="t.toml")
    if damage == "missing":
        (here / "plain.run").unlink()
    else:
        (here / "plain.run").write_text("nonsense\n")
    numbers = [check for check in verify("report").checks if check.kind == "number"]

    assert ["all numbers"] == [check.name for check in numbers if check.run == "plain"]
    assert {True} == {check.holds for check in numbers if check.run == "better"}
    assert {"P@1", "P@1 by query", "status", "coverage"} <= {check.name for check in numbers if check.run == "better"}


def test_judgments_that_are_missing_leave_all_runs_unchecked(here):
    conduct("qrels.txt", ["plain.run", "better.run"], report="report")
    (here / "qrels.txt").unlink()

    assert [("plain", None), ("better", None)] == [
        (check.run, check.holds) for check in verify("report").checks if check.kind == "number"
    ]


def test_an_input_that_can_no_longer_be_read_is_said(report, here):
    (here / "plain.run").write_text("nonsense\n")
    found = {name: words for _, name, words in differing()}

    assert found["all numbers"].startswith("cannot be recomputed: plain.run: ")


def test_standard_input_cannot_be_checked(report):
    run = msgspec.structs.replace(read_report(report).run, path="-", sha256=None)
    forge(report, run=run)

    assert [("number", "all numbers", "plain came from standard input, which cannot be read again")] == differing()


def test_a_path_with_a_secret_was_not_recorded(here):
    (here / "sk-hunter2hunter2.run").write_bytes((here / "plain.run").read_bytes())
    conduct("qrels.txt", ["sk-hunter2hunter2.run"], report="report")

    assert [
        ("input", "***.run", "its path contains a secret and was not recorded"),
        ("number", "all numbers", "***.run was not found"),
    ] == differing()


# No report to check


def test_a_folder_without_a_report(here):
    with pytest.raises(InputError, match=r"is not a report: it has no ExperimentManifest\.json"):
        verify(".")


def test_a_report_that_cannot_be_read(report):
    (report / REPORT_FILE).write_text("{")
    with pytest.raises(InputError) as refused:
        verify("report")

    assert "report: this folder has no readable report; make the report again." == str(refused.value)


def test_one_damaged_report_of_two(here):
    conduct("qrels.txt", ["plain.run", "better.run"], report="report")
    (here / "report" / "plain" / REPORT_FILE).write_text("{")

    assert [("output", f"plain/{REPORT_FILE}")] == [found[:2] for found in differing()]


def test_one_of_several_runs_points_to_the_manifest(here):
    conduct("qrels.txt", ["plain.run", "better.run"], report="report")
    with pytest.raises(InputError) as refused:
        verify("report/plain")

    assert "report/plain: is one of several reports that share a manifest; verify report instead." == str(refused.value)


# In words and as JSON


def test_text(report, here):
    whole = verification_as_text(verify("report"))
    change(here / "plain.run", "sample", "simple")
    less = verification_as_text(verify("report"))

    assert [
        "manifest: 2 checks passed",
        "report files: 4 checks passed",
        "input files: 2 checks passed",
        "numbers of plain, recomputed: 11 checks passed",
        "Verified: all 19 checks passed.",
    ] == whole.splitlines()
    assert "\ninput files: 1 of 2 checks passed\n  DIFFERS  plain.run  has changed: sha256 is " in less
    assert "\nnumbers of plain, recomputed: 11 checks passed\n" in less
    assert less.endswith("Not verified: of 19 checks, 1 failed.\n")
    (here / "plain.run").unlink()
    assert "\nnumbers of plain, recomputed: 0 of 1 check passed\n  unknown  all numbers  " in verification_as_text(
        verify("report")
    )


def test_verdicts(report, here):
    change(here / "qrels.txt", "q1 0 a 1", "q1 0 a 0")
    (report / "charts" / "first.svg").unlink()
    assert "Not verified: of 19 checks, 8 failed." == verdict(verify("report"))

    (here / "plain.run").unlink()
    assert "Not verified: of 9 checks, 3 failed, 1 could not be run." == verdict(verify("report"))


def test_hostile_names_are_data(here):
    (here / "t.toml").write_text("measures.RR = 0.5")
    conduct("qrels.txt", ["plain.run"], report="rep\x1b[31m", targets="t.toml")
    change(here / "plain.run", "q2 Q0", "q\x1b[31m2 Q0")
    text = verification_as_text(verify("rep\x1b[31m"))

    assert "\x1b" not in text


def test_json_is_what_its_schema_says(report, here):
    schema = json.loads((DOCS / "schemas" / "verification-1.json").read_text())
    whole = json.loads(verification_as_json(verify("report")))
    (here / "plain.run").unlink()
    less = json.loads(verification_as_json(verify("report")))

    assert ([], []) == (list(problems(whole, schema)), list(problems(less, schema)))
    assert (True, False) == (whole["holds"], less["holds"])
    assert {"kind": "input", "run": None, "name": "qrels.txt", "holds": True} == {
        name: value for name, value in whole["checks"][6].items() if name != "words"
    }
