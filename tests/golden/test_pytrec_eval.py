"""The same values as pytrec_eval, which is trec_eval 9's own C code, on random judged rankings, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
import pytrec_eval_ext
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Evaluator, Rules
from assay.measures import parse_measures
from assay.measures.bundles import FAMILIES
from golden.trec import trec_eval
from strategies import cases

TREC_EVAL_9 = Rules(scores="float32", queries="both")

# Measures without a per-query value in pytrec_eval, or with a different meaning of the name.
LEFT_OUT = {"num_q", "gm_map", "gm_bpref", "unj", "dcg", "ideal_dcg", "rbp", "rbp_resid", "yaap"}
NAMES = sorted(name for name in FAMILIES if name not in LEFT_OUT and name in pytrec_eval.supported_measures)


def test_the_comparison_is_about_nearly_all_of_trec_eval():
    assert 29 == len(NAMES)


def compare(case, level: int) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(case.grades, set(NAMES), relevance_level=level)
    theirs = evaluator.evaluate(case.scores)
    requests = [
        request
        for name in NAMES
        for request in parse_measures([name if name != "P" else "P.5,10,15,20,30,100,200,500,1000"])
    ]
    measures = [request.label for request in requests]
    ours = Evaluator(case.qrels, measures, TREC_EVAL_9, unmatched="zero")
    levelled = [
        request.measure(rel=level)
        if "rel" in request.measure.definition.takes and request.label != "num_ret"
        else request.measure
        for request in ours.requests
    ]
    result = Evaluator(case.qrels, levelled, TREC_EVAL_9, unmatched="zero").evaluate(case.run)

    assert set(theirs) == set(result.queries)
    columns = dict(zip(measures, result.values.T, strict=True))
    for place, query in enumerate(result.queries):
        for name, value in theirs[query].items():
            np.testing.assert_array_equal(value, columns[name][place], err_msg=f"{query} {name}")


@settings(max_examples=150)
@given(cases(), st.sampled_from([1, 2, 3]))
def test_every_measure_agrees_to_the_last_bit(case, level):
    compare(case, level)


@settings(max_examples=60)
@given(cases(scores=st.floats(-1e6, 1e6, width=32)))
def test_it_does_so_for_all_kinds_of_scores(case):
    compare(case, 1)


def test_scores_that_differ_beyond_32_bits_are_tied():
    """trec_eval issue 34: its scores are 32-bit floats, so 0.9 and 0.900000001 are equal and the ids decide."""
    grades, scores = {"q": {"a": 1}}, {"q": {"a": 0.900000001, "b": 0.9}}
    theirs = pytrec_eval.RelevanceEvaluator(grades, {"recip_rank"}).evaluate(scores)["q"]["recip_rank"]

    assert 0.5 == theirs
    assert 0.5 == Evaluator(grades, ["RR"], TREC_EVAL_9).evaluate(scores).mean()["RR"]
    assert 1.0 == Evaluator(grades, ["RR"]).evaluate(scores).mean()["RR"]


@pytest.mark.parametrize("gain", ["ndcg", "ndcg_cut_5"])
def test_fractional_grades_are_kept_where_pytrec_eval_refuses_them(gain):
    grades = {"q": {"a": 0.5, "b": 1.5}}
    with pytest.raises((TypeError, ValueError)):
        pytrec_eval.RelevanceEvaluator(grades, {"ndcg"}).evaluate({"q": {"a": 1.0}})

    assert 0 < Evaluator(grades, [gain]).evaluate({"q": {"a": 1.0}}).mean()[gain] < 1


FORMS = [
    *("ndcg.1=0.5,2=1", "ndcg.1=0.5,2=1,3=0.2", "ndcg.2=0.3,1=0.9", "ndcg.0=1,1=0", "ndcg.1=-1,2=2", "ndcg.5=7,1=1.5"),
    *(
        "ndcg_rel.1=0.5,2=1",
        "ndcg_rel.3=0.5,2=0.6",
        "Rndcg.1=3,2=0.4",
        "Rndcg.3=0.1,1=2",
        "G.1=0.5,2=1.5,3=0.7",
        "G.1=2.5",
    ),
    *(
        "11pt_avg.0.75,0.25",
        "11pt_avg..2,.5,.8",
        "set_F.0.25",
        "utility.2,-1,1,0",
        "Rprec_mult.0.3,5",
        "iprec_at_recall..33",
    ),
]


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(case=cases(grades=st.integers(0, 3)))
def test_every_form_of_parameters_prints_the_same(tmp_path_factory, form, case):
    """With trec_eval's quirks: gains closer than 1 count as equal, and recall levels of 11pt_avg are not sorted."""
    theirs = pytrec_eval_ext.RelevanceEvaluator(
        query_relevance=case.grades, measures={form}, relevance_level=1, judged_docs_only_flag=False
    ).evaluate(case.scores)
    folder = tmp_path_factory.mktemp("forms")
    judged = [f"{query} 0 {doc} {grade}\n" for query, docs in case.grades.items() for doc, grade in docs.items()]
    found = [f"{query} Q0 {doc} 0 {score} t\n" for query, docs in case.scores.items() for doc, score in docs.items()]
    (folder / "qrels").write_text("".join(judged))
    (folder / "run").write_text("".join(found))
    _, out, _ = trec_eval("-q", "-n", "-m", form, folder / "qrels", folder / "run")

    # C prints the sign of 0 / 0, Python does not.
    expected = [
        f"{query} {value:6.4f}".replace(" nan", "-nan") for query in sorted(theirs) for value in theirs[query].values()
    ]
    assert expected == [" ".join(line.split("\t")[1:]) for line in out.splitlines()]
