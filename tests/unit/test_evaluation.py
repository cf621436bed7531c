"""evaluate gives values by query and measure, with their coverage."""

from __future__ import annotations

import math

import numpy as np
import pyarrow
import pytest

import assay
from assay import Evaluator, Rules, concat, evaluate
from assay.errors import AssayError, MeasureError, RulesError
from assay.formats import as_qrels, as_run

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q3": {"x": 0}}
RUN = {"q1": {"a": 2.0, "b": 2.0, "z": 1.0, "c": 0.5}, "q3": {"x": 1.0}, "other": {"a": 1.0}}


def test_means_are_over_all_judged_queries_and_keyed_as_written():
    result = evaluate(QRELS, RUN, ["MRR@10", "ndcg_cut_2", "num_ret"])

    assert ["MRR@10", "ndcg_cut_2", "num_ret"] == list(result.mean())
    assert 0.5 / 3 == pytest.approx(result.mean()["MRR@10"])
    assert 5.0 == result.mean()["num_ret"]


def test_lookups_take_any_name_of_the_measure():
    means = evaluate(QRELS, RUN, ["MRR@10"]).mean()

    assert means["MRR@10"] == means["RR@10"] == means[assay.measures.RR @ 10]
    for other in ("RR@5", "nonsense", "AP"):
        with pytest.raises(KeyError):
            means[other]


def test_values_per_query():
    assert {"q1": 0.5, "q2": 0.0, "q3": 0.0} == {
        query: scores["RR"] for query, scores in evaluate(QRELS, RUN, ["RR"]).per_query().items()
    }


def test_undefined_values_can_be_left_out_of_the_mean():
    result = evaluate(QRELS, RUN, ["RR", "RR(rel=2)", "Judged@1"], rules=Rules(undefined="nan"))

    assert 0.25 == result.mean()["RR"]  # q3 has no relevant document
    assert 0.25 == result.mean()["RR(rel=2)"]  # and for grade 2, q2 has none either
    assert 2 / 3 == result.mean()["Judged@1"]  # not about relevance: nothing is undefined
    assert [1, 2, 0] == list(result.undefined().values())
    assert math.isnan(evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, ["RR"], rules=Rules(undefined="nan")).mean()["RR"])


def test_coverage_counts_what_meets_and_what_does_not():
    coverage = evaluate(QRELS, RUN, ["P@1", "P@2", "P@3"]).coverage

    assert (3, 2, ("q2",), ("other",), 1, 3) == (
        coverage.judged,
        coverage.answered,
        coverage.missing,
        coverage.unjudged,
        coverage.without_relevant,
        coverage.evaluated,
    )
    assert {1: 1.0, 2: 1.0, 3: 0.75} == coverage.judged_share
    assert ({1: 1, 2: 0, 3: 0}, 1) == (coverage.straddling, coverage.tied)  # a and b are equal at ranks 1 and 2
    assert 4 == coverage.longest


def test_any_grade_above_0_makes_a_document_relevant_to_coverage():
    coverage = evaluate({"q1": {"a": 0.5}, "q2": {"a": 0}, "q3": {"a": -1}}, {"q1": {"a": 1.0}}, ["nDCG"]).coverage

    assert 2 == coverage.without_relevant


def test_ties_have_no_bounds_where_rankings_are_cut():
    """b is second of three with the same score; with the third cut away, what it could have changed is not known."""
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}

    assert {"RR": (1 / 3, 1.0)} == Evaluator(qrels, ["RR"]).evaluate(run, tie_bounds=True).tie_bounds
    assert {} == Evaluator(qrels, ["RR"], Rules(depth=2)).evaluate(run, tie_bounds=True).tie_bounds


def test_geometric_means_have_a_floor():
    result = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}, ["GMAP", "AP"])

    assert math.sqrt(0.00001) == pytest.approx(result.mean()["GMAP"])
    assert 0.5 == result.mean()["AP"]


def test_means_do_not_depend_on_the_order_of_queries():
    random = np.random.default_rng(3)
    qrels = {f"q{n}": {f"d{m}": int(random.integers(0, 3)) for m in range(9)} for n in range(101)}
    run = {q: {d: float(random.random()) for d in docs} for q, docs in qrels.items()}
    renamed = {f"{'zyx'[n % 3]}{q}": (qrels[q], run[q]) for n, q in enumerate(qrels)}
    other = evaluate({q: v[0] for q, v in renamed.items()}, {q: v[1] for q, v in renamed.items()}, ["nDCG", "AP"])

    assert dict(evaluate(qrels, run, ["nDCG", "AP"]).mean()) == dict(other.mean())


def test_parts_of_the_queries_can_be_put_together():
    measures = ["AP", "nDCG@2", "RBP", "ERR", "Hole@2"]  # the last three depend on the whole qrels
    evaluator = Evaluator(QRELS, measures)
    whole = evaluator.evaluate(RUN)
    parts = [evaluator.part(queries).evaluate(RUN) for queries in (["q2", "q3"], ["q1"])]
    joined = concat(parts)

    assert whole.queries == joined.queries
    np.testing.assert_array_equal(whole.values, joined.values)
    assert whole.coverage == joined.coverage
    with pytest.raises(AssayError, match="a query appears in more than one part"):
        concat([parts[0], parts[0]])
    both = Evaluator(QRELS, measures, Rules(queries="both"))
    with pytest.raises(AssayError, match="a query appears in more than one part"):  # q2, which the run lacks
        concat([both.part(queries).evaluate(RUN) for queries in (["q1", "q2"], ["q2", "q3"])])
    with pytest.raises(AssayError, match="different measures or rules"):
        concat([parts[0], evaluate(QRELS, RUN, ["AP"])])
    with pytest.raises(
        AssayError, match=r"different highest grades, which changes RBP and ERR; split with Evaluator.part"
    ):
        concat([evaluate({q: QRELS[q]}, {q: {"a": 1.0}}, ["RBP"]) for q in ("q1", "q2")])
    with pytest.raises(AssayError, match="no evaluations to combine"):
        concat([])


def test_missing_queries_of_parts_come_in_byte_order():
    qrels = {query: {"a": 1} for query in ("q1", "q2", "q3", "q4")}
    run = {query: {"a": 1.0} for query in ("q2", "q3", "x2", "x1")}
    evaluator = Evaluator(qrels, ["RR"])
    joined = concat([evaluator.part(queries).evaluate(run) for queries in (["q3", "q4"], ["q1", "q2"])])

    assert (("q1", "q4"), ("x1", "x2")) == (joined.coverage.missing, joined.coverage.unjudged)
    assert evaluator.evaluate(run).coverage == joined.coverage


def test_shares_of_judged_documents_are_added_as_counts():
    """Of 49 documents shown for each query 1 and 2 are judged; 1 / 49 * 49 + 2 / 49 * 49 is a little less than 3."""
    run = {query: {f"d{n:02}": float(n) for n in range(49)} for query in ("q1", "q2")}
    evaluator = Evaluator({"q1": {"d01": 1}, "q2": {"d01": 1, "d02": 1}}, ["P@49"])

    joined = concat([evaluator.part([query]).evaluate(run) for query in run])

    assert {49: 3 / 98} == joined.coverage.judged_share
    assert evaluator.evaluate(run).coverage == joined.coverage


def test_what_measures_share_cannot_be_changed():
    judged = assay.judge(as_qrels(QRELS), as_run(RUN))
    with pytest.raises(ValueError, match="read-only"):
        assay.parse_measure("iDCG").values(judged).sort()


def test_one_evaluator_serves_many_runs():
    evaluator = Evaluator(QRELS, ["RR"])

    assert [0.5, 1.0] == [evaluator.evaluate(run).per_query()["q1"]["RR"] for run in (RUN, {"q1": {"c": 1.0}})]


def test_arrow_tables_come_out():
    table = evaluate(QRELS, RUN, ["RR"]).to_arrow()

    assert isinstance(table, pyarrow.Table)
    assert {"query": ["q1", "q2", "q3"], "RR": [0.5, 0.0, 0.0]} == table.to_pydict()


def test_hole_gets_the_documents_of_other_queries():
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"x": 2.0, "b": 1.0}}

    assert 0.5 == evaluate(qrels, run, ["Hole@2"]).per_query()["q1"]["Hole@2"]
    assert 1.0 == evaluate(qrels, run, ["Unjudged@2"]).per_query()["q1"]["Unjudged@2"]
    with pytest.raises(MeasureError, match="Hole needs a ranking judged with strays=True"):
        assay.parse_measure("Hole@2").values(assay.judge(as_qrels(qrels), as_run(run)))


def test_nothing_that_is_given_is_changed():
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 1.0, "a": 0.5}}
    evaluate(qrels, run, ["RR"], rules=Rules(self_match="drop"))

    assert ({"q": {"a": 1}}, {"q": {"q": 1.0, "a": 0.5}}) == (qrels, run)


def test_an_evaluation_shows_itself_in_a_line():
    assert "<Evaluation of 'run' over 3 queries: RR=0.1667>" == repr(evaluate(QRELS, RUN, ["RR"]))


def test_letters_have_the_value_that_is_given():
    result = evaluate({"q": {"a": "S", "b": "E"}}, {"q": {"a": 2.0, "b": 1.0}}, ["RR(rel=3)"], grades={"E": 3, "S": 2})

    assert 0.5 == result.mean()["RR(rel=3)"]


def test_rules_are_rules():
    with pytest.raises(RulesError, match=r"rules must be Rules\(ties=...\) or a dict, not list"):
        evaluate(QRELS, RUN, ["RR"], rules=["ties"])
    with pytest.raises(RulesError, match=r"`Rules\(ties='expected'\)` does not work with `depth=`"):
        Rules(ties="expected", depth=2)


def test_public_names():
    expected = {"evaluate", "Evaluator", "Evaluation", "Rules", "Qrels", "Run", "read_run", "read_qrels", "concat"}

    assert expected <= set(assay.__all__)
    assert all(hasattr(assay, name) for name in assay.__all__)


@pytest.mark.parametrize("threads", [0, -1, "2", 1.5, True])
def test_threads_are_a_whole_number_from_one(threads):
    with pytest.raises(RulesError, match=r"threads cannot be .*; it must be a whole number of at least 1"):
        evaluate(QRELS, RUN, threads=threads)


def test_any_number_of_threads_will_do():
    assert evaluate(QRELS, RUN, threads=1).values.tolist() == evaluate(QRELS, RUN, threads=2**40).values.tolist()
