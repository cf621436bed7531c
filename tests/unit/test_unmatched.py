"""Runs that have no document in common with the judgments: an error that says how the ids differ, unless told to score 0."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.describing import anomalies_in_words, coverage_in_words
from assay.errors import DocumentSetError, RulesError

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}


def run(write) -> dict[str, dict[str, float]]:
    """Documents d2 and d1 for q1 and d3 for q2, with their ids written in another way: RR is 0.75 when they match."""
    return {"q1": {write("d2"): 2.0, write("d1"): 1.0}, "q2": {write("d3"): 1.0}}


def refusal(given, **options) -> str:
    with pytest.raises(DocumentSetError) as refused:
        assay.evaluate(QRELS, given, ["RR"], **options)
    return str(refused.value)


@pytest.mark.parametrize(
    ("write", "example", "what", "regex"),
    [
        ("{}#3", "d2#3", "a suffix", r"^(.+)#\d+$"),
        ("{}_chunk2", "d2_chunk2", "a suffix", r"^(.+)_chunk_?\d+$"),
        ("{}:0-512", "d2:0-512", "a suffix", r"^(.+):\d+-\d+$"),
        ("{}-p7", "d2-p7", "a suffix", r"^(.+)[#_:.-](?:chunk|passage|part|p)?[-_]?\d+$"),
    ],
)
def test_a_suffix_is_named_with_the_command_that_removes_it_and_what_that_is_worth(write, example, what, regex):
    given = run(write.format)

    assert (
        f"0 of 3 document ids of run 'run' occur in the qrels; the run has {example!r}, the qrels have 'd2'. "
        f"The run's ids have {what}; without that, RR would be 0.7500 instead of 0.0000. "
        f"Remove it: assay runs collapse RUN --regex '{regex}' --by max -o DOCUMENTS.run. "
        "To score the run anyway, use `unmatched='zero'`."
    ) == refusal(given)
    collapsed = assay.collapse(assay.Run.from_columns(*columns(given)), regex, by="max")
    assert {"RR": 0.75} == dict(assay.evaluate(QRELS, collapsed, ["RR"]).mean())


def columns(given):
    rows = [(query, doc, score) for query, docs in given.items() for doc, score in docs.items()]
    return [list(column) for column in zip(*rows, strict=True)]


FIX_RUN = "assay runs validate RUN --qrels QRELS --fix OUT --policy"
FIX_QRELS = "assay qrels validate QRELS --fix OUT --policy"


@pytest.mark.parametrize(
    ("ours", "theirs", "what", "command"),
    [
        ("docs/{}", "{}", "The run's ids have the prefix 'docs/'", f"Remove it: {FIX_RUN} ids=strip-prefix=docs/"),
        ("{}", "docs/{}", "The qrels' ids have the prefix 'docs/'", f"Remove it: {FIX_QRELS} ids=strip-prefix=docs/"),
        ("0{}", "{}", "The ids differ in leading zeros", f"Rewrite them: {FIX_RUN} ids=strip-zeros"),
        ("{}", "00{}", "The ids differ in leading zeros", f"Rewrite them: {FIX_RUN} ids=as-qrels"),
        ("A{}", "a{}", "The ids differ in letter case", f"Rewrite them: {FIX_RUN} ids=lower"),
        ("a{}", "A{}", "The ids differ in letter case", f"Rewrite them: {FIX_RUN} ids=as-qrels"),
        ("aB{}", "Ab{}", "The ids differ in letter case", f"Rewrite them: {FIX_RUN} ids=as-qrels"),
        ("\u00a0{}", "{}", "The ids differ in surrounding blanks", f"Rewrite them: {FIX_RUN} blanks=trim"),
    ],
)
def test_other_differences_are_named_with_the_policy_that_removes_them(ours, theirs, what, command, tmp_path):
    """RR is 0.75 when the ids match; the commands are run in the last lines."""
    qrels = {"q1": {theirs.format(1): 1, theirs.format(2): 0}, "q2": {theirs.format(3): 1}}
    given = {"q1": {ours.format(2): 2.0, ours.format(1): 1.0}, "q2": {ours.format(3): 1.0}}
    with pytest.raises(DocumentSetError) as refused:
        assay.evaluate(qrels, given, ["RR"])

    assert f"{what}; without that, RR would be 0.7500 instead of 0.0000. {command}. To score" in str(refused.value)
    policies = dict([command.rpartition("--policy ")[2].split("=", 1)])
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, ds in given.items() for d, s in ds.items()))
    (tmp_path / "q.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, ds in qrels.items() for d, g in ds.items()))
    run_file, qrels_file = tmp_path / "a.run", tmp_path / "q.txt"
    if "assay runs" in command:
        partner = {} if " and " in command else {"qrels": qrels_file}
        assay.fix_run(run_file, tmp_path / "b.run", policies=policies, **partner)
        run_file = tmp_path / "b.run"
    if "assay qrels" in command:
        assay.fix_qrels(qrels_file, tmp_path / "r.txt", policies=policies)
        qrels_file = tmp_path / "r.txt"
    assert {"RR": 0.75} == dict(assay.evaluate(qrels_file, run_file, ["RR"]).mean())


def test_ids_that_have_nothing_in_common():
    assert (
        "0 of 3 document ids of run 'mine' occur in the qrels; the run has 'xd2x', the qrels have 'd1'. Check that the run "
        "belongs to these qrels and writes ids in the same way. To score the run anyway, use `unmatched='zero'`."
    ) == refusal(run("x{}x".format), name="mine")


def test_a_run_can_be_scored_all_the_same():
    assert {"RR": 0.0} == dict(assay.evaluate(QRELS, run("x{}".format), ["RR"], unmatched="zero").mean())
    with pytest.raises(RulesError, match=r"unmatched cannot be .maybe.; it takes error, zero\."):
        assay.evaluate(QRELS, run(str), ["RR"], unmatched="maybe")


def test_a_run_without_rows_is_no_question_of_ids():
    empty = assay.Run(("q1", "q2"), np.empty(0, np.int64), np.empty(0, object), np.empty(0))

    assert {"RR": 0.0} == dict(assay.evaluate(QRELS, empty, ["RR"]).mean())


def test_hostile_ids_are_escaped_in_the_message():
    message = refusal(run("\x1b[31m'$(x)/{}".format))

    assert message.isprintable()
    assert "--policy 'ids=strip-prefix=\\x1b" in message


def test_documents_judged_for_other_queries_are_a_match():
    swapped = {"q1": {"d3": 1.0}, "q2": {"d1": 1.0}}

    assert {"RR": 0.0} == dict(assay.evaluate(QRELS, swapped, ["RR"]).mean())


def test_parts_of_the_queries_are_not_refused():
    evaluator = assay.Evaluator(QRELS, ["RR"])
    parts = [evaluator.part([query]).evaluate({"q1": {"x": 1.0}, "q2": {"d3": 1.0}}) for query in QRELS]

    assert {"RR": 0.5} == dict(assay.concat(parts).mean())


def test_lists_and_drop_ins_keep_zero():
    from assay.compat import pytrec_eval

    assert {"RR": 0.0} == dict(assay.score(["x"], ["a"], ["RR"]))
    assert {"RR": 0.0} == dict(assay.score_many([["x"]], [["a"]], ["RR"]).mean())
    found = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate({"q": {"x": 1.0}})
    assert {"q": {"recip_rank": 0.0}} == found


def test_validation_says_so(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1#0 1 9 x\n")
    found = assay.validate_run(tmp_path / "a.run", qrels=tmp_path / "qrels.txt")

    assert not found.valid
    assert ["RUN073"] == [finding.code for finding in found.findings if finding.severity == "error"]


def test_a_diagnosis_is_refused_too():
    with pytest.raises(DocumentSetError, match="0 of 3 document ids of run 'a'"):
        assay.diagnose(QRELS, {"a": run("{}#1".format)}, ["RR"])

    assert assay.diagnose(QRELS, {"a": run("{}#1".format)}, ["RR"], unmatched="zero").systems == ("a",)


def test_a_share_of_judged_documents_says_nothing_where_only_relevant_ones_are_listed(tmp_path):
    """MS MARCO lists about one relevant passage for each query and nothing else."""
    sparse, full = {"q1": {"d1": 1}}, {"q1": {"d1": 1, "d9": 0}}
    found = {"q1": {"d1": 3.0, **{f"x{n}": 1.0 / n for n in range(1, 30)}}}
    (tmp_path / "a.run").write_text("".join(f"q1 Q0 {doc} 1 {score} x\n" for doc, score in found["q1"].items()))

    for qrels, shown in ((sparse, False), (full, True)):
        evaluation = assay.evaluate(qrels, found, ["P@10"])
        assert shown is not evaluation.coverage.only_relevant
        words = coverage_in_words(evaluation.coverage, evaluation.rules, evaluation.requests)
        assert shown == ("judged documents:" in words)
        assert shown != ("only relevant documents are listed, so the share of judged ones says nothing" in words)
        assert shown == ("RUN057" in assay.validate_run(tmp_path / "a.run", qrels=qrels).codes())
        assert shown == ("DIA001" in assay.diagnose(qrels, {"a": found}, ["P@10"]).codes())


def test_measures_of_judged_documents_say_nothing_where_only_relevant_ones_are_listed():
    sparse, full = {"q1": {"d1": 1}}, {"q1": {"d1": 1, "d9": 0}}
    for qrels, said in ((sparse, True), (full, False)):
        evaluation = assay.evaluate(qrels, {"q1": ["x", "d1"]}, ["nDCG@10", "Judged@10", "Bpref"])
        found = list(anomalies_in_words({"a": evaluation.coverage}, evaluation.rules, evaluation.requests))
        note = (
            "The judgments list relevant documents only, as most of BEIR do, so Judged@10 and Bpref say nothing: whether a "
            "document is judged is whether it is relevant."
        )
        assert said == (note in found)
    usual = assay.evaluate(sparse, {"q1": ["d1"]}, ["nDCG@10"])
    assert not any(
        "list relevant" in each for each in anomalies_in_words({"a": usual.coverage}, usual.rules, usual.requests)
    )


def test_no_look_depends_on_judged_documents_where_only_relevant_ones_are_listed():
    """Two runs of which one finds more that is listed: its judged share is its precision, and no reason to doubt it."""
    qrels = {f"q{n}": {f"r{n}": 1, f"s{n}": 1} for n in range(40)}
    runs = {
        "a": {query: {"x": 2.0, f"s{query[1:]}": 1.0} for query in qrels},
        "b": {f"q{n}": {f"r{n}": 3.0, f"s{n}": 2.0, "y": 1.0} if n % 3 else {"z": 1.0} for n in range(40)},
    }
    found = assay.diagnose(qrels, runs, ["nDCG@10"])
    codes = {"DIA001", "DIA002", "DIA003", "DIA004"}

    assert not codes & set(found.codes())
    reasons = {each.reason for each in found.not_looked_at if each.code in codes}
    assert {"the qrels list relevant documents only, so whether a document is judged says nothing"} == reasons
