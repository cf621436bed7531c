"""`reproduce`: which tool, measure and rules give a published number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules, evaluate, parse_measure, parse_qrels, parse_run, reproduce
from assay.errors import (
    DuplicateError,
    InputError,
    MeasureError,
    ParameterError,
    QuerySetError,
    RulesError,
    UnknownMeasureError,
)
from assay.measures.conventions import CONVENTIONS
from assay.reproducing import CHOICES, SHOWN
from strategies import cases

pytestmark = pytest.mark.slow  # each search tries some 20,000 combinations

# q1: the relevant document is second of two; q2: a and b are tied, a is relevant; q3 is not answered.
QRELS = parse_qrels("q1 0 right 1\nq2 0 a 1\nq3 0 x 1")
RUN = parse_run("q1 Q0 other 1 2 t\nq1 Q0 right 2 1 t\nq2 Q0 a 1 5 t\nq2 Q0 b 2 5 t\n")
# One relevant document at rank 3 of 3: RR is 1/3, nDCG 1 / log2(4) = 0.5.
THIRD = {"q": {"c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


def by_measure(found) -> dict:
    return {candidate.measure: candidate for candidate in found.candidates if candidate.matches}


def test_a_tool_that_leaves_queries_out_is_named():
    """RR of q1 and q2 is 1/2 each, b before a: (1/2 + 1/2) / 3 = 0.3333 over all queries, 0.5 over those answered."""
    all_queries = reproduce("0.3333", QRELS, RUN, ["RR"]).candidates[0]
    answered = [candidate for candidate in reproduce("0.5000", QRELS, RUN, ["RR"]).candidates if candidate.matches]

    assert ("RR", "assay", {}, True) == (
        all_queries.measure,
        all_queries.convention,
        all_queries.rules,
        all_queries.matches,
    )
    # 0.5 also comes from a before b over all queries: (1/2 + 1) / 3, which three tools give for a cutoff.
    assert [
        ("RR", ("trec_eval-9", "beir")),
        ("RR@10", ("ir_measures", "beir", "mteb", "msmarco", "sentence-transformers")),
    ] == [(candidate.measure, candidate.conventions) for candidate in answered][:2]


def test_rules_that_no_tool_has_are_named():
    """Expected RR of q2 is (1 + 1/2) / 2 = 0.75, so the mean over q1 and q2 is (0.5 + 0.75) / 2 = 0.625."""
    first = reproduce("0.625", QRELS, RUN, ["RR"]).candidates[0]

    assert ("assay", {"queries": "both", "ties": "expected"}) == (first.convention, first.rules)
    assert 0.625 == first.value
    assert () == first.conventions


@pytest.mark.parametrize(
    ("number", "found"),
    [("0.33", 1), ("0.333", 1), ("0.3333", 1), (".3333", 1), ("3.333e-1", 1), (0.3333, 1), ("0.3334", 0), ("0.34", 0)],
)
def test_a_value_gives_the_number_that_it_rounds_to(number, found):
    assert found == reproduce(number, *THIRD, ["RR"]).matches


@pytest.mark.parametrize(("number", "found"), [("0.062", 1), ("0.063", 1), ("0.061", 0), ("0.064", 0)])
def test_a_half_may_be_rounded_either_way(number, found):
    ranked = {"q": {f"d{place:02}": 16.0 - place for place in range(16)}}  # d15 is at rank 16: RR is 0.0625

    assert found == reproduce(number, {"q": {"d15": 1}}, ranked, ["RR"]).matches


def test_a_number_that_nothing_gives_as_it_is_may_be_a_percentage():
    percent = reproduce("33.33", *THIRD, ["RR"])
    sign = reproduce("33.3%", *THIRD, ["RR"])
    neither = reproduce("33.43", *THIRD, ["RR"])

    assert [(True, 1)] * 2 == [(found.percent, found.matches) for found in (percent, sign)]
    assert 1 / 3 == percent.candidates[0].value
    assert (True, 0, False) == (neither.percent, neither.matches, neither.found)
    assert 0.3343 - 1 / 3 == pytest.approx(neither.candidates[0].distance)


def test_a_number_above_1_is_first_tried_as_it_is():
    """DCG of grades 3, 2 is 3 + 2 / log2(3) = 4.2619; two documents are retrieved."""
    graded = {"q": {"a": 3, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}

    assert (False, "DCG") == (
        (found := reproduce("4.2619", *graded)).percent,
        found.candidates[0].measure,
    )
    assert {"NumRet", "NumRel"} <= by_measure(reproduce("2", *graded)).keys()


def test_the_simplest_explanation_comes_first():
    """Of everything that is 0.5 here, nDCG without cutoff, by all tools, is the simplest."""
    found = reproduce("0.50", *THIRD)

    assert ("nDCG", "assay", {}) == (
        found.candidates[0].measure,
        found.candidates[0].convention,
        found.candidates[0].rules,
    )
    assert {"nDCG@10", "nDCG@3"} <= set(found.candidates[0].same)
    assert "nDCG@1" not in found.candidates[0].same


def test_matches_come_before_the_nearest_and_ten_are_shown():
    found = reproduce("0.33", *THIRD, ["RR", "AP", "R", "nDCG", "P"])
    distances = [candidate.distance for candidate in found.candidates if not candidate.matches]

    assert (SHOWN, 5) == (len(found.candidates), found.matches)
    assert found.matches == sum(candidate.matches for candidate in found.candidates)
    assert [True] * found.matches == [candidate.matches for candidate in found.candidates[: found.matches]]
    assert sorted(distances) == distances


def test_nothing_gives_a_number_out_of_reach():
    found = reproduce("0.4321", *THIRD)

    assert (0, False) == (found.matches, found.found)
    assert not any(candidate.matches for candidate in found.candidates)


def test_a_measure_narrows_the_search_and_leaves_open_what_it_does_not_name():
    graded = {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}

    def tried(name: str) -> set[str]:
        found = reproduce("0.1234", *graded, [name])
        return {name for candidate in found.candidates for name in (candidate.measure, *candidate.same)}

    assert {"nDCG@10", "nDCG(gain='exp')@10"} == tried("nDCG@10")
    assert {"P@10", "P@15", "P(rel=2)@10"} < tried("P")
    assert {"AP(rel=2)@5", "AP(norm='cutoff', rel=2)@5"} == tried("AP(rel=2)@5")
    assert {"Rprec", "Rprec(rel=2)"} == tried("Rprec")


def test_grades_up_to_1_leave_no_choice_of_gain_and_level():
    found = reproduce("0.1234", *THIRD, ["nDCG@10", "AP@10"])

    assert {"nDCG@10", "AP@10", "AP(norm='cutoff')@10"} == {
        name for candidate in found.candidates for name in (candidate.measure, *candidate.same)
    }


def test_what_a_tool_computes_instead_is_said():
    """The relevant document is at rank 11: MRR@10 is 0, but trec_eval has no cutoff and gives 1/11."""
    ranked = {"q": {f"d{place:02}": 20.0 - place for place in range(11)}}
    asked = reproduce("0.0909", {"q": {"d10": 1}}, ranked, ["MRR@10"])
    free = reproduce("0.0909", {"q": {"d10": 1}}, ranked, ["MRR"])

    assert ("RR@10", "trec_eval-9", "recip_rank has no cutoff and ignores one") == (
        asked.candidates[0].measure,
        asked.candidates[0].convention,
        asked.candidates[0].note,
    )
    assert ("RR", "assay", "") == (
        free.candidates[0].measure,
        free.candidates[0].convention,
        free.candidates[0].note,
    )


def test_means_that_beir_rounds_are_not_another_explanation():
    found = reproduce("0.3333", *THIRD, ["RR"])

    assert 1 == found.matches
    assert "beir" in found.candidates[0].conventions


def test_subtopics_are_judged_if_there_are_any():
    by_topic = parse_qrels("q 1 a 1\nq 2 a 1\nq 2 b 1")
    run = {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}

    assert "StRecall" in by_measure(reproduce("1.0000", by_topic, run))
    assert not any("StRecall" in candidate.measure for candidate in reproduce("0.5", *THIRD, ()).candidates)


@settings(max_examples=40)
@given(
    cases(grades=st.sampled_from([0, 1, 1.5, 2, 3])),
    st.sampled_from(["nDCG@10", "RR", "AP", "P", "ERR", "RBP", "Bpref", "Hole", "Judged", "SetF", "Compat"]),
)
def test_the_shown_way_gives_the_value_again(case, name):
    """A law: `evaluate` with the convention, measure and rules of a candidate gives its value."""
    for candidate in reproduce("0.4334", case.grades, case.scores, [name], unmatched="zero").candidates:
        for convention in (candidate.convention, *candidate.conventions):
            again = evaluate(
                case.grades, case.scores, [candidate.measure], rules=candidate.rules, like=convention, unmatched="zero"
            ).mean()[candidate.measure]

            assert candidate.value == pytest.approx(again, abs=1.1e-5 if CONVENTIONS[convention].decimals else 1e-15)


@settings(max_examples=25)
@given(cases(grades=st.integers(0, 3)), st.sampled_from([*CONVENTIONS]), st.sampled_from(["nDCG@5", "RR@10", "R@3"]))
def test_whatever_a_tool_reports_is_found(case, like, measure):
    try:
        value = evaluate(case.grades, case.scores, [measure], like=like, unmatched="zero").mean()[measure]
    except (MeasureError, QuerySetError, RulesError):  # the tool reports nothing
        return
    if not math.isnan(value):
        assert reproduce(f"{value:.4f}", case.grades, case.scores, [measure], unmatched="zero").found


@pytest.mark.parametrize("rules", [Rules(queries="both", undefined="nan"), Rules(scores="float32", ties="doc-asc")])
def test_two_rules_at_once_are_found(rules):
    qrels = parse_qrels("q1 0 a 1\nq2 0 b 0\nq3 0 c 1\nq4 0 d 1\nq4 0 e 0")
    run = parse_run("q1 Q0 z 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 b 1 1 t\nq4 Q0 e 1 0.900000001 t\nq4 Q0 d 2 0.9 t\n")
    value = evaluate(qrels, run, ["RR"], rules=rules).mean()["RR"]
    found = reproduce(f"{value:.6f}", qrels, run, ["RR"])

    assert found.found
    assert value == found.candidates[0].value


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("about half", "'about half' is not a number; write it as it was published, such as 0.4334 or 43.3%."),
        ("nan", "'nan' is not a finite number; write it as it was published, such as 0.4334."),
        ("1", "'1' has no decimals, so nearly everything rounds to it; write it as it was published, such as 1.0000."),
    ],
)
def test_what_is_no_published_number_is_refused(number, message):
    with pytest.raises(InputError) as raised:
        reproduce(number, *THIRD)

    assert message == str(raised.value)


def test_files_that_cannot_be_evaluated_are_an_error():
    twice = parse_run("q1 Q0 right 1 2 t\nq1 Q0 right 2 1 t\n")

    with pytest.raises(DuplicateError):
        reproduce("0.5", QRELS, twice)
    assert reproduce("0.33333", QRELS, twice, duplicates="first").found
    with pytest.raises(QuerySetError):
        reproduce("0.5", QRELS, {"other": {"a": 1.0}})
    with pytest.raises(UnknownMeasureError, match="no measure called 'nDGC'; did you mean 'nDCG'"):
        reproduce("0.5", QRELS, RUN, ["nDGC"])
    with pytest.raises(ParameterError, match="P has no parameter 'cut'"):
        reproduce("0.5", QRELS, RUN, ["P(cut=3)"])


def test_the_values_to_try_are_values_of_the_parameters():
    assert {10, 100, 1000, 20, 5, 1, 3, 50} <= set(CHOICES["cutoff"])
    for measure in ("AP(norm='cutoff', rel=2)@50", "nDCG(gain='exp')@3", "RBP(p=0.95)", "IPrec@0.3"):
        assert parse_measure(measure).complete()
