"""Expected values and bounds under ties, compared with every order of the tied documents."""

from __future__ import annotations

from itertools import chain, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules, evaluate, judge, parse_measure
from assay.errors import MeasureError
from assay.measures.ties import EXPECTED, ORDER_FREE, bounds, expected_values
from laws.registry import EVERY
from strategies import judged_docs, qrels_of, ranking, run_of

RANKED = [m for m in EVERY if m.definition.needs == "ranking" and not m.param("residual")]
MEASURES = [m for m in RANKED if m.name in EXPECTED.keys() | ORDER_FREE and not (m.name == "RBP" and m.param("depth"))]
NOT_MONOTONE = {
    "nDCG_rel",
    "RnDCG",
    "infAP",
    "G",
    "BPM",
    "Accuracy",
    "ContextPrecision",
}  # their bounds cover only some arrangements


def all_orders(scores: dict[str, float]) -> list[list[str]]:
    """Every ranking that these scores allow."""
    groups = [[doc for doc in scores if scores[doc] == score] for score in sorted(set(scores.values()), reverse=True)]
    return [list(chain(*choice)) for choice in product(*(permutations(group) for group in groups))]


TIED = st.dictionaries(st.sampled_from(["d0", "d1", "d2", "zz"]), st.sampled_from([1.0, 2.0]), min_size=1)


@settings(max_examples=25)
@given(judged_docs(), TIED)
def test_expected_values_are_the_mean_over_all_orders(grades, scores):
    orders = [judge(qrels_of({"q": grades}), run_of({"q": ranking(order)})) for order in all_orders(scores)]
    tied = judge(qrels_of({"q": grades}), run_of({"q": scores}), Rules(ties="expected"))
    for measure in MEASURES:
        every = [measure.values(judged)[0] for judged in orders]

        assert np.mean(every) == pytest.approx(expected_values(measure, tied)[0], abs=1e-12), measure


@settings(max_examples=25)
@given(judged_docs(), TIED)
def test_bounds_hold_every_order_and_are_reached(grades, scores):
    orders = [judge(qrels_of({"q": grades}), run_of({"q": ranking(order)})) for order in all_orders(scores)]
    tied = judge(qrels_of({"q": grades}), run_of({"q": scores}))
    for measure in RANKED:
        every = [measure.values(judged)[0] for judged in orders]
        low, high = bounds(measure, tied)
        if measure.name not in NOT_MONOTONE:
            assert min(every) == pytest.approx(low[0], abs=1e-12), measure
            assert max(every) == pytest.approx(high[0], abs=1e-12), measure


@given(judged_docs(), st.permutations([f"d{n}" for n in range(8)]))
def test_without_ties_nothing_changes(grades, docs):
    judged = judge(qrels_of({"q": grades}), run_of({"q": ranking(docs)}), Rules(ties="expected"))
    for measure in MEASURES:
        np.testing.assert_allclose(measure.values(judged), expected_values(measure, judged), rtol=1e-13, atol=0)


def test_the_measures_with_a_closed_form():
    assert {"P", "R", "AP", "RR", "DCG", "nDCG", "Success", "Rprec", "RBP", "F", "R_cap", "CG", "Judged"} == set(
        EXPECTED
    )


def test_a_constant_scorer_is_worth_a_random_ranking():
    """One relevant document of four: the mean of 1, 1/2, 1/3 and 1/4."""
    result = evaluate({"q": {"a": 1}}, {"q": dict.fromkeys("abcd", 1.0)}, ["RR", "P@1"], rules=Rules(ties="expected"))

    assert (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4 == pytest.approx(result.mean()["RR"])
    assert 0.25 == result.mean()["P@1"]


def test_measures_without_a_closed_form_say_so():
    with pytest.raises(
        MeasureError,
        match=r"^Bpref has no closed form for its expected value under ties; these measures have one: AP, ",
    ):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["Bpref"], rules=Rules(ties="expected"))


def test_bounds_of_a_pair():
    judged = judge(qrels_of({"q": {"a": 1}}), run_of({"q": {"a": 1.0, "b": 1.0}}))
    low, high = bounds(parse_measure("RR"), judged)

    assert ([0.5], [1.0]) == (low.tolist(), high.tolist())


def test_an_unjudged_document_in_a_tie_matters_where_bounds_are_not_exact():
    """ERR looks at every rank: which of the two comes first changes it, although only one of them is judged."""
    from assay import judge, parse_measure, parse_qrels, parse_run
    from assay.measures.ties import undecided

    qrels = parse_qrels("q 0 a 1")
    measure = parse_measure("ERR")
    assert ("q",) == undecided(measure, judge(qrels, parse_run("q Q0 a 1 1.0 t\nq Q0 b 2 1.0 t")))
    assert () == undecided(measure, judge(qrels, parse_run("q Q0 a 1 1.0 t\nq Q0 b 2 0.5 t")))
