"""Stored baselines: reading a report, and cautions about it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from assay._version import __version__
from assay.errors import InputError
from assay.formats.readings import Reading, Readings
from assay.gate.baselines import is_report
from assay.gate.gating import decide
from gate.files import edit, write_files, write_report

RULE = "RR >= -0.01"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(write_files(tmp_path))
    return tmp_path


def cautions(gate, *kinds):
    return [caution.words for caution in gate.cautions if caution.kind in kinds]


# Kinds of baselines


def test_a_folder_a_file_and_a_copy_of_it_are_the_same_baseline(folder):
    report = write_report()
    (folder / "kept.json").write_bytes((report / "EvaluationReport.json").read_bytes())

    gates = [
        decide("qrels.txt", source, "better.run", RULE)
        for source in ("base", "base/EvaluationReport.json", "kept.json", "main.run")
    ]

    assert ["report", "report", "report", "run"] == [gate.baseline.kind for gate in gates]
    assert ["main"] * 4 == [gate.baseline.name for gate in gates]
    assert [__version__, __version__, None, None] == [gate.baseline.version for gate in gates]
    assert len({gate.decisions for gate in gates}) == 1  # a report gives the same bits as its run
    assert [] == cautions(gates[0], "age", "qrels", "rules", "like", "grades", "version")


def test_runs_are_not_taken_for_reports(folder):
    (folder / "run.json").write_text('{"q1": {"a": 1.0}}')

    assert [False] * 5 == [is_report(source) for source in ("main.run", "run.json", "-", "nothing", {"q1": {"a": 1.0}})]
    assert [True] * 2 == [is_report(source) for source in (folder, "nothing/EvaluationReport.json")]


def test_one_of_several_runs_is_named(folder):
    write_report(runs=("main.run", "worse.run"))

    with pytest.raises(InputError) as refused:
        decide("qrels.txt", "base", "better.run", RULE)

    assert "base: contains the reports of several runs (main, worse); give one of them, such as base/main." == str(
        refused.value
    )
    gate = decide("qrels.txt", "base/worse", "better.run", RULE)
    assert ("worse", __version__, "pass") == (gate.baseline.name, gate.baseline.version, gate.status)


# Invalid baselines


def test_a_measure_that_the_report_lacks_is_an_error_with_the_command_that_makes_it(folder):
    write_report()

    with pytest.raises(InputError) as refused:
        decide("qrels.txt", "base", "better.run", ["nDCG@10 >= 0", RULE, "AP(rel=2) >= 0"])

    assert (
        "base: the report has no nDCG@10, AP(rel=2) (it has RR, P@1, R@10). Recreate it: assay evaluate qrels.txt "
        "main.run -m RR -m P@1 -m R@10 -m nDCG@10 -m 'AP(rel=2)' --report base"
    ) == str(refused.value)


def test_another_name_of_the_same_measure_is_found(folder):
    write_report()

    assert "pass" == decide("qrels.txt", "base", "better.run", ["recip_rank >= 0", "P_1 >= 0"]).status


def test_a_report_without_values_of_queries_is_an_error(folder):
    edit(write_report() / "EvaluationReport.json", queries={})

    with pytest.raises(InputError, match="the report has means but no per-query values, so nothing can be paired"):
        decide("qrels.txt", "base", "better.run", RULE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": {"q1": [0.5]}}, "the report is damaged: a query does not have one value per measure"),
        ({"queries": 3}, "does not match schema 'assay/evaluation-report/1'"),
        ({"schema": "assay/evaluation-report/9"}, "has schema 'assay/evaluation-report/9'; this version of assay"),
    ],
)
def test_a_damaged_report_is_an_error(folder, changes, message):
    edit(write_report() / "EvaluationReport.json", **changes)

    with pytest.raises(InputError, match=message):
        decide("qrels.txt", "base", "better.run", RULE)


def test_a_copy_of_another_version_is_an_error(folder):
    (folder / "kept.json").write_text('{"schema": "assay/evaluation-report/9"}')

    with pytest.raises(InputError, match=r"kept\.json: is not a report that this version of assay can read"):
        decide("qrels.txt", "kept.json", "better.run", RULE)


def test_a_folder_without_a_report_is_an_error(folder):
    with pytest.raises(InputError, match=r"is not a report: it has no EvaluationReport\.json"):
        decide("qrels.txt", str(folder), "better.run", RULE)


def test_no_query_in_common_is_an_error(folder):
    report = write_report() / "EvaluationReport.json"
    values = json.loads(report.read_text())["queries"]
    edit(report, queries={f"other{query}": row for query, row in values.items()})

    with pytest.raises(InputError) as refused:
        decide("qrels.txt", "base", "better.run", RULE)

    assert str(refused.value).startswith(
        "baseline and candidate have no query in common (baseline: otherq0, otherq1, otherq10, ...; candidate: q0, q1, "
    )


# Cautions


NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "max_age", "words"),
    [
        (timedelta(days=90), 90, []),
        (timedelta(days=-1), 90, []),  # clocks differ
        (
            timedelta(days=91),
            90,
            ["the baseline is 91 days old (made on 2025-03-02; the limit is 90 days): documents, judgments and queries may have "
             "changed. Make a new one from the system in use."],
        ),
        (timedelta(days=1, hours=1), 0, ["the baseline is 1 days old"]),
        (timedelta(days=-9), 90, ["the baseline is dated in the future (2025-06-10): one of the clocks is wrong."]),
    ],
)  # fmt: skip
def test_an_old_baseline_is_said(folder, age, max_age, words):
    created = (NOW - age).strftime("%Y-%m-%dT%H:%M:%SZ")
    edit(write_report() / "EvaluationReport.json", created=created)

    gate = decide("qrels.txt", "base", "better.run", RULE, max_age=max_age, now=NOW)
    found = cautions(gate, "age")

    assert len(words) == len(found)
    assert all(text.startswith(start) for text, start in zip(found, words, strict=True))
    assert "pass" == gate.status  # a warning does not change the decision


@pytest.mark.parametrize(("created", "count"), [("yesterday", 1), ("2025-05-31", 0), ("2025-05-31T10:00:00+02:00", 0)])
def test_times_are_read_as_they_come(folder, created, count):
    edit(write_report() / "EvaluationReport.json", created=created)

    gate = decide("qrels.txt", "base", "better.run", RULE, now=NOW)

    assert ["the age of the baseline is unknown: 'yesterday' is not a date."][:count] == cautions(gate, "age")


def test_other_judgments_are_said_strongly(folder):
    write_report()
    (folder / "more.txt").write_text((folder / "qrels.txt").read_text() + "q0 0 c 1\n")

    (words,) = cautions(decide("more.txt", "base", "better.run", RULE), "qrels")

    assert words.startswith("OTHER JUDGMENTS: the baseline was evaluated with qrels.txt (sha256 ")
    assert "this candidate with more.txt (" in words
    assert words.endswith("The difference may come from the judgments alone. Evaluate the baseline run again.")


def test_judgments_without_a_file_cannot_be_held_against_those_of_the_report(folder):
    write_report()
    judgments = {f"q{number}": {"a": 1, "b": 0} for number in range(60)}

    assert [
        "cannot check that the baseline was evaluated with the same judgments: there is no file to compare."
    ] == cautions(decide(judgments, "base", "better.run", RULE), "qrels")


def test_other_rules_and_conventions_are_said_strongly(folder):
    write_report()

    gate = decide("qrels.txt", "base", "better.run", RULE, rules={"ties": "doc-asc", "depth": 5}, like="trec_eval-9")
    rules, like = cautions(gate, "rules", "like")

    assert (
        "OTHER RULES: the baseline was evaluated under ties=doc-desc, scores=float64, queries=judged, depth=None, this "
        "candidate under ties=doc-asc, scores=float32, queries=both, depth=5. The difference may come from the rules "
        "alone. Evaluate the baseline run again."
    ) == rules
    assert like.startswith(
        "OTHER CONVENTIONS: the baseline was evaluated with the conventions of assay, this candidate with those of trec_eval-9"
    )


def test_other_grades_are_said(folder):
    (folder / "qrels.txt").write_text(
        (folder / "qrels.txt").read_text().replace(" 1\n", " S\n").replace(" 0\n", " I\n")
    )
    conduct = {"readings": Readings(Reading(grades={"S": 2.0, "I": 0.0}))}
    write_report(**conduct)

    gate = decide("qrels.txt", "base", "better.run", RULE, readings=Readings(Reading(grades={"S": 1, "I": 0})))

    assert [] == cautions(decide("qrels.txt", "base", "better.run", RULE, **conduct), "grades")
    assert [
        "OTHER GRADES: the baseline was evaluated with other values for letter grades (S=2.0, I=0.0; here S=1.0, I=0.0), so the two "
        "are not comparable. Evaluate the baseline run again."
    ] == cautions(gate, "grades")


def test_other_columns_are_said(folder):
    rows = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    table = "".join(f"{query},{doc},{doc}x,{rel}\n" for query, _, doc, rel in rows)
    (folder / "qrels.txt").write_text(f"query_id,doc_id,sku,rel\n{table}")
    reading = Reading(columns={"qrels.doc": "doc_id"})
    write_report(readings=Readings(reading, reading))

    gate = decide("qrels.txt", "base", "better.run", RULE)

    assert [] == cautions(
        decide("qrels.txt", "base", "better.run", RULE, readings=Readings(reading, reading)), "columns"
    )
    assert [
        "OTHER COLUMNS: the baseline was read with other columns (qrels.doc=doc_id; here none), so the two may not be "
        "comparable. Evaluate the baseline run again."
    ] == cautions(gate, "columns")


def test_another_version_of_assay_is_said(folder):
    edit(write_report() / "ExperimentManifest.json", assay_version="0.0.1")

    gate = decide("qrels.txt", "base", "better.run", RULE)

    assert [f"the baseline was made by assay 0.0.1; this is {__version__}. Evaluate the baseline run again."] == (
        cautions(gate, "version")
    )


def test_a_manifest_of_another_experiment_says_nothing(folder):
    edit(write_report() / "ExperimentManifest.json", assay_version="0.0.1", experiment="another")

    gate = decide("qrels.txt", "base", "better.run", RULE)

    assert (None, []) == (gate.baseline.version, cautions(gate, "version"))


def test_an_incomplete_baseline_is_said(folder):
    (folder / "main.run").write_text((folder / "main.run").read_text().replace("q7 ", "x7 "))
    write_report()

    (words,) = cautions(decide("qrels.txt", "base", "better.run", RULE), "incomplete")

    assert "the baseline is incomplete: 1 of 60 judged queries is missing from the run (q7) and counts as 0." == words


def test_ids_that_are_not_utf8_are_paired_all_the_same(folder):
    for name in ("qrels.txt", "main.run", "better.run"):
        path = folder / name
        path.write_bytes(path.read_bytes().replace(b"q7 ", b"caf\xe9\\7 "))
    write_report()

    gate = decide("qrels.txt", "base", "better.run", RULE)

    assert 60 == gate.decisions[0].queries
    assert gate.decisions == decide("qrels.txt", "main.run", "better.run", RULE).decisions
