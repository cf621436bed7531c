"""A report contains the whole evaluation, unrounded, and says why it is incomplete."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings

from assay.comparison.intervals import mean_interval
from assay.evaluation import Evaluator, evaluate
from assay.records.building import as_text, build_report, timestamp, written_ids
from assay.records.curves import NO_CURVES
from assay.records.identity import unread_identity
from assay.records.model import EvaluationReport, Example, FindingRecord
from assay.records.targets import check_targets, parse_targets
from assay.secrets import Secrets
from strategies import cases, ranking

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 1}}
RUN = {"q1": ranking(["b", "a"]), "q2": ranking(["c", "d"])}


def finding(code: str, severity: str = "error", **others) -> FindingRecord:
    usual = {"title": "t", "message": "m", "fix": "f", "file": "run.txt"}
    return FindingRecord(code=code, severity=severity, **{**usual, **others})


def read_again(report: EvaluationReport) -> EvaluationReport:
    return msgspec.json.decode(msgspec.json.encode(report), type=EvaluationReport)


def test_two_queries_by_hand():
    report = build_report(evaluate(QRELS, RUN, ["RR", "P@1"], name="mine"))
    rr, p = report.measures

    assert ("mine", "assay/evaluation-report/1") == (report.run.name, report.schema)
    assert ("RR", "RR", 0.75, 2, 0, "mean", 0.95) == (
        rr.name,
        rr.canonical,
        rr.mean,
        rr.queries,
        rr.undefined,
        rr.total,
        rr.confidence,
    )
    assert (0.0, 1.0) == rr.interval  # of two queries: -2.43 to 3.93, and RR lies between 0 and 1
    assert 0.5 == p.mean
    assert {"q1": (0.5, 0.0), "q2": (1.0, 1.0)} == report.queries
    assert (True, ()) == (report.complete, report.incomplete_because)
    assert (None, None) == (report.targets, report.status)
    assert NO_CURVES == report.curves


@settings(max_examples=30)
@given(cases())
def test_what_was_written_is_read_again_bit_for_bit(case):
    evaluation = Evaluator(case.qrels, ["nDCG@3", "AP", "NumRet", "GMAP"], unmatched="zero").evaluate(
        case.run, tie_bounds=True
    )
    report = build_report(evaluation)
    again = read_again(report)

    assert report == again
    assert evaluation.values.tolist() == [list(values) for values in again.queries.values()]
    assert list(evaluation.mean().values()) == [result.mean for result in again.measures]


def test_names_are_as_the_user_wrote_them():
    (result,) = build_report(evaluate(QRELS, RUN, ["MRR@10"])).measures

    assert ("MRR@10", "RR@10") == (result.name, result.canonical)


def test_undefined_values_are_none_and_counted():
    qrels = {**QRELS, "q3": {"e": 0}}
    report = build_report(evaluate(qrels, {**RUN, "q3": ranking(["e"])}, ["RR"], rules={"undefined": "nan"}))

    assert (2, 1) == (report.measures[0].queries, report.measures[0].undefined)
    assert (None,) == report.queries["q3"]
    assert report == read_again(report)


def test_a_measure_that_no_query_has_is_none():
    report = build_report(evaluate(QRELS, RUN, ["RR(rel=9)"], rules={"undefined": "nan"}))

    assert (None, None, 0) == (report.measures[0].mean, report.measures[0].interval, report.measures[0].queries)


def test_sums_have_no_interval_and_one_query_has_none():
    report = build_report(evaluate(QRELS, RUN, ["NumRet"]))
    single = build_report(evaluate({"q1": {"a": 1}}, RUN, ["RR"]))

    assert (4.0, "sum", None) == (report.measures[0].mean, report.measures[0].total, report.measures[0].interval)
    assert None is single.measures[0].interval


def test_a_geometric_mean_has_its_interval_by_way_of_logarithms():
    (result,) = build_report(evaluate(QRELS, RUN, ["GMAP"])).measures
    low, high = mean_interval(np.log([0.5, 1.0]))

    assert math.exp(high) > 1
    assert (math.exp(low), 1.0) == pytest.approx(result.interval)
    assert result.interval[0] < result.mean < result.interval[1]


def test_the_confidence_can_be_chosen():
    evaluation = evaluate(QRELS, RUN, ["RR"])
    (usual,), (low,) = build_report(evaluation).measures, build_report(evaluation, confidence=0.5).measures

    assert (0.95, 0.5) == (usual.confidence, low.confidence)
    assert usual.interval[0] < low.interval[0]


def test_rules_conventions_and_coverage_stand_in_it_in_words_and_as_values():
    evaluation = evaluate(QRELS, RUN, ["P@1"], rules={"ties": "doc-asc"})
    report = build_report(evaluation)

    assert "doc-asc" == report.rules["ties"]
    assert report.conventions.startswith("Conventions: ties broken by document id, ascending;")
    assert report.coverage_words.startswith("2 queries judged, 2 answered, 0 missing")
    assert {"1": 1.0} == report.coverage["judged_share"]
    assert (2, 2, [], 0) == tuple(report.coverage[name] for name in ("judged", "answered", "missing", "unjudged"))


def test_tie_bounds_are_kept():
    evaluation = Evaluator({"q": {"a": 1}}, ["RR"]).evaluate({"q": {"a": 1.0, "b": 1.0}}, tie_bounds=True)

    assert (0.5, 1.0) == build_report(evaluation).measures[0].tie_bounds


def test_targets_stand_beside_their_measures():
    evaluation = evaluate(QRELS, RUN, ["RR", "P@1"])
    targets = check_targets(parse_targets('name = "t"\n[measures.RR]\ngood = 0.7'), evaluation)
    report = build_report(evaluation, targets=targets)

    assert ("t", "pass") == (report.targets, report.status)
    assert "0.7500 of 0.7000 (good)" == report.measures[0].target.words
    assert None is report.measures[1].target
    assert report == read_again(report)


# Reasons why a report is incomplete


def test_a_missing_query_makes_it_incomplete():
    report = build_report(evaluate(QRELS, {"q2": ranking(["c"])}, ["RR"]))

    assert not report.complete
    assert ("1 of 2 judged queries is missing from the run (q1) and counts as 0.",) == report.incomplete_because


def test_several_missing_queries_that_are_left_out():
    qrels = {f"q{number}": {"a": 1} for number in range(6)}
    report = build_report(evaluate(qrels, {"q5": ranking(["a"])}, ["RR"], rules={"queries": "both"}))

    assert ("5 of 6 judged queries are missing from the run (q0, q1, q2, ...) and left out of the means.",) == (
        report.incomplete_because
    )


def test_errors_of_validation_make_it_incomplete_and_warnings_do_not():
    evaluation = evaluate(QRELS, RUN, ["RR"])
    findings = [finding("RUN004"), finding("RUN009", "warning"), finding("RUN004"), finding("QRELS002")]
    report = build_report(evaluation, findings=findings)

    assert ("validation found errors: RUN004, QRELS002.",) == report.incomplete_because
    assert tuple(findings) == report.findings
    assert build_report(evaluation, findings=findings[1:2]).complete


def test_errors_that_a_rule_has_dealt_with_do_not():
    findings = [finding("RUN020"), finding("QRL020"), finding("QRL021"), finding("RUN004")]
    reports = [
        build_report(evaluate(QRELS, RUN, ["RR"], rules=rules), findings=findings)
        for rules in ({}, {"judges": "mean"}, {"duplicates": "first"}, {"judges": "best", "duplicates": "best"})
    ]

    assert [
        ("validation found errors: RUN020, QRL020, QRL021, RUN004.",),
        ("validation found errors: RUN020, RUN004.",),
        ("validation found errors: QRL020, QRL021, RUN004.",),
        ("validation found errors: RUN004.",),
    ] == [report.incomplete_because for report in reports]


def test_shallow_pools_make_it_incomplete():
    run = {"q1": ranking(["a", *(f"x{number}" for number in range(9))])}
    report = build_report(evaluate({"q1": {"a": 1, "n": 0}}, run, ["RR@10"]))

    assert (
        "only 10% of the documents in the top 10 are judged; the others count as not relevant, though some may be.",
    ) == report.incomplete_because


@pytest.mark.parametrize(
    ("measures", "looked_at"), [(["P@5", "P@10", "P@20"], 10), (["P@5", "P@20", "P@30"], 20), (["P@3", "P@5"], 5)]
)
def test_the_top_10_is_looked_at_or_what_comes_nearest(measures, looked_at):
    run = {"q1": ranking([f"x{number}" for number in range(40)])}
    (reason,) = build_report(evaluate({"q1": {"a": 1, "n": 0}}, run, measures, unmatched="zero")).incomplete_because

    assert f"only 0% of the documents in the top {looked_at} are judged" in reason


def test_half_of_the_documents_judged_is_enough():
    run = {"q1": ranking(["a", "x"])}

    assert build_report(evaluate({"q1": {"a": 1}}, run, ["RR@10"])).complete


def test_a_run_without_a_single_document_within_the_depth():
    report = build_report(evaluate(QRELS, RUN, ["RR@10"], rules={"depth": 0}))

    assert report.complete
    assert report == read_again(report)


# Names, paths, ids, time


def test_files_are_named_if_they_are_known():
    evaluation = evaluate(QRELS, RUN, ["RR"])
    known = build_report(
        evaluation, run=unread_identity("bm25", "runs/bm25.run", 2), qrels=unread_identity("dev", "-", 2)
    )
    unknown = build_report(evaluation)

    assert ("bm25", "runs/bm25.run", "dev", "-") == (
        known.run.name,
        known.run.path,
        known.qrels.name,
        known.qrels.path,
    )
    assert ("run", "", None, 2) == (
        unknown.run.name,
        unknown.run.path,
        unknown.run.sha256,
        unknown.run.queries,
    )


def test_secrets_are_hidden_in_names_paths_tags_and_findings():
    evaluation = evaluate(QRELS, RUN, ["RR"])
    report = build_report(
        evaluation,
        run=unread_identity("sk-abcdefgh12345678", "runs/sk-abcdefgh12345678.run", 2),
        findings=[
            finding("RUN001", message="token=topsecret1", examples=(Example(text="line with topsecret1"),)),
        ],
        secrets=Secrets(["topsecret1"]),
    )
    text = msgspec.json.encode(report).decode()

    assert ("***", "runs/***.run") == (report.run.name, report.run.path)
    assert "sk-abc" not in text
    assert "topsecret1" not in text


def test_findings_about_ids_that_are_no_utf_8_can_be_written():
    found = finding("RUN001", query="caf\udce9", examples=(Example(text="caf\udce9 Q0", query="caf\udce9"),))
    report = build_report(evaluate(QRELS, RUN, ["RR"]), findings=[found])

    assert report == read_again(report)
    assert ("caf\\xe9", "caf\\xe9") == (report.findings[0].query, report.findings[0].examples[0].query)


def test_hostile_ids_come_through_and_can_be_read_again():
    ids = ["<script>", '"quoted"', "tab\there", "back\\slash", "é", "\x00", "😀", "x" * 10_000]
    qrels = {query: {"d": 1} for query in ids}
    report = build_report(evaluate(qrels, {query: {"d": 1.0} for query in ids}, ["RR"]))

    assert set(ids) == set(read_again(report).queries)


def test_ids_that_are_no_utf_8_are_escaped_and_stay_apart():
    ids = ["caf\udce9", "caf\\xe9", "caf\\\\xe9", "a\\b"]
    qrels = {query: {"d": 1} for query in ids}
    report = build_report(evaluate(qrels, {"a\\b": {"d": 1.0}}, ["RR"]))

    assert {"caf\\xe9", "caf\\\\xe9", "caf\\\\\\\\xe9", "a\\\\b"} == set(report.queries)
    assert report == read_again(report)
    assert 3 == len(report.coverage["missing"])


def test_ids_that_are_utf_8_stay_as_they_are():
    assert ["a\\b", "é", "\\xe9"] == written_ids(["a\\b", "é", "\\xe9"])


def test_text_that_is_no_utf_8_can_be_written():
    assert "caf\\xe9" == as_text("caf\udce9")
    assert "C:\\runs" == as_text("C:\\runs")


def test_the_time_is_that_of_greenwich():
    berlin = datetime(2025, 1, 31, 10, 30, 5, 999, tzinfo=timezone(timedelta(hours=1)))

    assert "2025-01-31T09:30:05Z" == timestamp(berlin) == timestamp(berlin.astimezone(UTC))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", build_report(evaluate(QRELS, RUN, ["RR"])).created)
