"""With weights, a gate decides on the weighted difference."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.gate import decide
from assay.gate.averaging import Averaging
from assay.gate.deciding import decide_rule
from assay.gate.grammar import parse_rule
from assay.report.gate import RENDERERS
from assay.weighting.estimating import weighted_mean
from assay.weighting.weights import QueryWeights
from docs.blocks import DOCS
from docs.schema import problems

QRELS = {f"q{n}": {"a": 1} for n in range(60)}
BEST, SECOND = ["a", "b"], ["b", "a"]
# New is worse on the ten frequent queries, and better on the others.
OLD = {query: BEST if n < 10 else SECOND if n % 2 else BEST for n, query in enumerate(QRELS)}
NEW = {query: SECOND if n < 10 and n % 5 else BEST for n, query in enumerate(QRELS)}
TRAFFIC = {query: 100 if n < 10 else 1 for n, query in enumerate(QRELS)}


def test_weights_turn_the_decision():
    plain = decide(QRELS, OLD, NEW, "RR >= 0")
    weighted = decide(QRELS, OLD, NEW, "RR >= 0", query_weights=TRAFFIC)

    assert ("pass", "fail") == (plain.status, weighted.status)
    (decision,) = weighted.decisions
    assert plain.decisions[0].difference == decision.plain_difference
    assert decision.difference < 0 < decision.plain_difference


def test_the_bounds_are_those_of_the_weighted_difference():
    """60 values of 0.5 steps; both ends of the 90% interval."""
    (decision,) = decide(QRELS, OLD, NEW, "RR >= -0.01", query_weights=TRAFFIC).decisions
    value = {tuple(BEST): 1.0, tuple(SECOND): 0.5}
    difference = np.array([value[tuple(NEW[query])] - value[tuple(OLD[query])] for query in QRELS])
    found = weighted_mean(
        QueryWeights(tuple(QRELS), np.array(list(TRAFFIC.values()), float)), tuple(QRELS), difference, 0.9
    )

    assert found.mean == pytest.approx(decision.difference)
    # A little wider: the differences that weigh most are few, and they are skewed.
    assert decision.lower == pytest.approx(found.interval[0], abs=0.01)
    assert 0.02 < decision.upper - found.interval[1] < 0.06
    assert found.effective == pytest.approx(decision.effective)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=12),
    st.sampled_from(["AP >= -0.1", "AP >= 0", "AP >= -5%", "Unjudged@5 <= 0.05"]),
)
def test_equal_weights_decide_as_none(pairs, rule):
    queries = tuple(f"q{number}" for number in range(len(pairs)))
    before, after = (np.array([pair[side] for pair in pairs], float) for side in (0, 1))
    plain = decide_rule(parse_rule(rule), before, after)
    if not pairs:
        return
    equal = QueryWeights(queries, np.full(len(pairs), 4.0))
    weighted = decide_rule(parse_rule(rule), before, after, averaging=Averaging(equal, queries))

    assert (plain.status, plain.words) == (weighted.status, weighted.words)
    for before_, after_ in ((plain.lower, weighted.lower), (plain.upper, weighted.upper)):
        assert (before_ is None and after_ is None) or before_ == pytest.approx(after_, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("heaviest", [1e6, 1e300])
@pytest.mark.parametrize("query", ["q0", "q59"])
def test_one_query_with_nearly_all_of_the_weight_settles_nothing(query, heaviest):
    """Eight of sixty changed, but one query counts, whether it changed or not."""
    old = dict.fromkeys(QRELS, BEST)
    new = {each: SECOND if n < 8 else BEST for n, each in enumerate(QRELS)}
    weights = {**dict.fromkeys(QRELS, 1.0), query: heaviest}
    (decision,) = decide(QRELS, old, new, "RR >= -0.01", query_weights=weights).decisions
    (unlimited,) = decide(QRELS, old, new, "DCG@5 >= -0.01", query_weights=weights).decisions

    assert ("inconclusive", "betting") == (decision.status, decision.method)
    assert -1 <= decision.lower < -0.9 < 0.9 < decision.upper <= 1
    assert "which are wide, since a few queries have most of the weight; " in decision.words
    assert "a few queries have most of the weight, and DCG@5 has no upper limit" == unlimited.words


def test_what_more_queries_would_say_follows_the_weighted_difference():
    """Four light queries lose, two heavy ones gain more."""
    old = {query: SECOND if n >= 58 else BEST for n, query in enumerate(QRELS)}
    new = {query: SECOND if n < 4 else BEST for n, query in enumerate(QRELS)}
    weights = {query: 8 if n >= 58 else 1 for n, query in enumerate(QRELS)}
    (decision,) = decide(QRELS, old, new, "RR >= -0.01", query_weights=weights).decisions

    assert decision.plain_difference < -0.01 < decision.difference
    assert ("betting", "inconclusive", "pass") == (decision.method, decision.status, decision.needed_for)


def test_a_log_that_is_known_entirely_settles_every_rule():
    import pandas as pd

    frame = pd.DataFrame({"query": list(QRELS), "weight": list(TRAFFIC.values()), "probability": [1.0] * 60})
    (decision,) = decide(QRELS, OLD, NEW, "RR >= -0.5", query_weights=frame).decisions

    assert "pass" == decision.status
    assert decision.lower == decision.upper == pytest.approx(decision.difference)


def test_an_error_that_cannot_be_estimated_is_inconclusive():
    import pandas as pd

    frame = pd.DataFrame({"query": list(QRELS), "weight": [1.0] * 60, "probability": [0.5] + [1.0] * 59})
    (decision,) = decide(QRELS, OLD, NEW, "RR >= 0", query_weights=frame).decisions

    assert "inconclusive" == decision.status
    assert decision.words.startswith("how far the weighted difference may be off cannot be estimated")


def test_weights_without_a_rule_are_refused():
    with pytest.raises(InputError, match=r"`query_weights=` is for rules, and there are none"):
        decide(QRELS, OLD, NEW, targets="trec-rag", query_weights=TRAFFIC)


@pytest.mark.parametrize("weights", [None, TRAFFIC])
@pytest.mark.parametrize("form", ["table", "json", "markdown", "github", "junit"])
def test_all_forms_say_that_it_is_weighted(form, weights):
    text = RENDERERS[form](decide(QRELS, OLD, NEW, "RR >= 0", query_weights=weights))

    assert (weights is not None) == ("eighted" in text)
    if form == "json":
        assert [] == list(problems(json.loads(text), json.loads((DOCS / "schemas" / "gate-1.json").read_text())))
