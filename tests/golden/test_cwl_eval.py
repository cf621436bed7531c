"""The same values as cwl_eval and ir_measures, including residuals, on random rankings without ties."""

from __future__ import annotations

import math

import ir_measures
import pytest
from cwl.ruler import cwl_ruler
from cwl.ruler.ranking import Ranking
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules, evaluate, judge, parse_measure
from assay.measures.families.overlap import Compat  # noqa: F401
from strategies import cases, qrels_of, ranking, run_of

CWL = {
    "RBP(depth=1000)": cwl_ruler.RBPCWLMetric(0.8),
    "RBP(p=0.99, depth=1000)": cwl_ruler.RBPCWLMetric(0.99),
    "INST": cwl_ruler.INSTCWLMetric(1),
    "INST(T=0.5)": cwl_ruler.INSTCWLMetric(0.5),
    "INST(T=3)": cwl_ruler.INSTCWLMetric(3),
    "INSQ": cwl_ruler.INSQCWLMetric(1),
    "INSQ(T=0.25)": cwl_ruler.INSQCWLMetric(0.25),
    "INSQ(T=4)": cwl_ruler.INSQCWLMetric(4),
    "BPM@10": cwl_ruler.BPMCWLMetric(1, 10),
    "BPM(T=2)@3": cwl_ruler.BPMCWLMetric(2, 3),
    "BPM(T=2.25)@100": cwl_ruler.BPMCWLMetric(2.25, 100),
    "SDCG@10": cwl_ruler.NDCGCWLMetric(10),
    "SDCG@1000": cwl_ruler.NDCGCWLMetric(1000),
    "NERR8@10": cwl_ruler.NERReq8CWLMetric(10),
    "NERR9@10": cwl_ruler.NERReq9CWLMetric(10),
    "NERR9@1": cwl_ruler.NERReq9CWLMetric(1),
    "NERR10": cwl_ruler.NERReq10CWLMetric(0.9),
    "NERR10(p=0.99)": cwl_ruler.NERReq10CWLMetric(0.99),
    "NERR11": cwl_ruler.NERReq11CWLMetric(1),
    "NERR11(T=2)": cwl_ruler.NERReq11CWLMetric(2),
}
TOP = 4  # quarters add up without rounding: cwl_eval's BPM adds fractions


@st.composite
def graded_rankings(draw):
    """Grades from the first rank down, None for unjudged: dense at the top, or few over a thousand ranks."""
    if draw(st.booleans()):
        return draw(st.lists(st.sampled_from([None, 0, 1, 2, 3, TOP]), min_size=1, max_size=30))
    grades = draw(st.dictionaries(st.integers(0, 1200), st.integers(0, TOP), max_size=15))
    length = max(grades, default=0) + 1 + draw(st.integers(0, 50))
    return [grades.get(place) for place in range(length)]


def ours(measures, grades):
    docs = [f"d{place:04}" for place in range(len(grades))]
    known = {doc: grade for doc, grade in zip(docs, grades, strict=True) if grade is not None}
    judged = judge(qrels_of({"q": known | {"best": TOP}}), run_of({"q": ranking(docs)}))
    return [measure.values(judged)[0] for measure in measures]


@settings(max_examples=80)
@given(graded_rankings())
def test_values_and_residuals_of_cwl_eval(grades):
    gains = [math.nan if grade is None else grade / TOP for grade in grades]
    measures = [parse_measure(name) for name in CWL]
    values = ours(measures, grades)
    residuals = ours([measure(residual=True) for measure in measures], grades)
    for metric, name, value, residual in zip(CWL.values(), CWL, values, residuals, strict=True):
        metric.residuals = True

        assert metric.measure(Ranking("q", gains, [math.nan] * len(gains))) == pytest.approx(value, abs=1e-10), name
        assert metric.residual_expected_utility == pytest.approx(residual, abs=1e-10), name


BY_NAME = [
    *("INST(max_rel=4)", "INST(T=2.0, min_rel=1, max_rel=4)", "INSQ(max_rel=4)", "INSQ(T=3.0, min_rel=1, max_rel=3)"),
    *("BPM(max_rel=4)@5", "BPM(T=2.0, min_rel=1, max_rel=3)@10", "SDCG(max_rel=4)@5", "SDCG(dcg='log2', max_rel=2)@3"),
    *("NERR8(max_rel=4)@5", "NERR8(min_rel=1, max_rel=3)@2", "NERR9(max_rel=4)@5", "NERR9(max_rel=2)@7"),
    *("NERR10(max_rel=4)", "NERR10(p=0.5, max_rel=3)", "NERR11(max_rel=4)", "NERR11(T=2.5, max_rel=3)"),
    *("RBP(rel=1)", "RBP(p=0.5, rel=2)", "Compat", "Compat(p=0.5)", "Compat(normalize=False)"),
]
THEIRS = [ir_measures.parse_measure(name) for name in BY_NAME]


def untied(case):
    """The same documents, in the order of their ids."""
    return {query: ranking(sorted(docs)) for query, docs in case.scores.items()}


@settings(max_examples=60)
@given(cases())
def test_values_of_ir_measures_by_the_names_its_users_write(case):
    scores = untied(case)
    judged = judge(qrels_of(case.grades), run_of(scores), Rules(queries="both"))
    theirs: dict[str, dict[str, float]] = {str(measure): {} for measure in THEIRS}
    for row in ir_measures.iter_calc(THEIRS, case.grades, scores):
        theirs[str(row.measure)][row.query_id] = row.value
    for name, measure in zip(BY_NAME, THEIRS, strict=True):
        found = dict(zip(judged.queries, parse_measure(name).values(judged).tolist(), strict=True))

        assert {query: theirs[str(measure)][query] for query in found} == pytest.approx(found, abs=1e-10), name


@pytest.mark.parametrize("name", ["Accuracy", "Accuracy@1", "Accuracy@4", "Accuracy(rel=2)@6"])
@given(case=cases(max_queries=1))
def test_accuracy_of_ir_measures_where_it_has_one(name, case):
    """It leaves out queries without a relevant document retrieved, and divides by zero if all are relevant."""
    scores = {"q0": untied(case)["q0"]}
    found = evaluate(case.grades, scores, [name], unmatched="zero").mean()[name]
    try:
        theirs = [row.value for row in ir_measures.iter_calc([ir_measures.parse_measure(name)], case.grades, scores)]
    except ZeroDivisionError:
        theirs = [1.0]

    assert (theirs or [0.0]) == [found]


def test_compat_of_ir_measures_puts_what_was_not_retrieved_before_negative_scores():
    """Of two documents of the same grade, its ideal ranking puts the missing one first; ours the retrieved one."""
    grades, scores = {"q": {"found": 1, "missed": 1}}, {"q": {"found": -1.0, "other": -2.0}}
    theirs = next(iter(ir_measures.iter_calc([ir_measures.Compat], grades, scores))).value
    best = 1 + 0.95 * 2 / 2

    assert (0.95 * 1 / 2) / best == pytest.approx(theirs)
    assert (1 + 0.95 * 1 / 2) / best == pytest.approx(evaluate(grades, scores, ["Compat"]).mean()["Compat"])


def test_bpm_of_cwl_eval_misses_a_goal_by_a_rounding_error():
    """Ten gains of 0.1 add up to 0.9999999999999999 there, so its user continues."""
    grades = [1] * 10 + [10, 10]
    theirs = cwl_ruler.BPMCWLMetric(1, 20).measure(Ranking("q", [grade / 10 for grade in grades], [math.nan] * 12))
    docs = [f"d{place:02}" for place in range(12)]
    found = evaluate({"q": dict(zip(docs, grades, strict=True))}, {"q": ranking(docs)}, ["BPM@20"]).mean()["BPM@20"]

    assert 2 / 11 == pytest.approx(theirs)
    assert 1 / 10 == pytest.approx(found)


def test_cwl_eval_stops_at_rank_1000_however_high_the_cutoff():
    gains = [0.0] * 1200
    gains[0] = gains[1100] = 1.0
    theirs = cwl_ruler.NDCGCWLMetric(1200).measure(Ranking("q", gains, [math.nan] * 1200))
    docs = [f"d{place:04}" for place in range(1200)]
    found = evaluate({"q": {"d0000": 1, "d1100": 1}}, {"q": ranking(docs)}, ["SDCG@1000", "SDCG@1200"]).mean()

    assert theirs == pytest.approx(found["SDCG@1000"])
    assert theirs > found["SDCG@1200"] + 1e-4
