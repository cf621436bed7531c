"""Weighted differences: the plain ones with equal weights, the design's error with probabilities, corrections."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Study, compare, compare_scores, evaluate, sample_queries
from assay.comparison.weighted import weighted_p
from assay.errors import AssayError, QuerySetError
from assay.report.comparison import RENDERERS
from assay.weighting.estimating import WeightedMean
from docs.blocks import DOCS
from docs.schema import problems

OLD = {"q1": 0.2, "q2": 0.4, "q3": 0.6, "q4": 0.5}
NEW = {"q1": 0.9, "q2": 0.3, "q3": 0.5, "q4": 0.3}
OTHER = {"q1": 0.1, "q2": 0.5, "q3": 0.9, "q4": 0.6}
TRAFFIC = {"q1": 7, "q2": 1, "q3": 1, "q4": 1}
SCHEMA = json.loads((DOCS / "schemas" / "comparison-1.json").read_text(encoding="utf-8"))


def compared(weights, *others, **study):
    systems = {"old": OLD, "new": NEW, **dict(others)}
    return compare_scores(systems, Study(**study), query_weights=weights)


def test_a_frequent_query_decides():
    """By traffic: (7 x 0.7 - 0.1 - 0.1 - 0.2) / 10."""
    (pair,) = compared(TRAFFIC).pairs

    assert 0.075 == pytest.approx(pair.difference)
    assert 0.45 == pytest.approx(pair.weighted.difference)
    assert (0.29, 0.74) == pytest.approx((pair.weighted.baseline_mean, pair.weighted.system_mean))
    assert 100 / 52 == pytest.approx(pair.weighted.effective)


values = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=12)


@given(values, st.sampled_from(["two-sided", "greater", "less"]))
def test_equal_weights_give_the_plain_t_test(pairs, alternative):
    queries = [f"q{number}" for number in range(len(pairs))]
    systems = {
        name: dict(zip(queries, column, strict=True))
        for name, column in zip("ab", zip(*pairs, strict=True), strict=True)
    }
    study = Study(alternative=alternative)
    (pair,) = compare_scores(systems, study, query_weights=dict.fromkeys(queries, 3)).pairs

    assert pair.interval == pair.weighted.interval
    assert pair.difference == pytest.approx(pair.weighted.difference, abs=1e-15)
    assert pair.p == pytest.approx(pair.weighted.p, rel=1e-9)
    assert pair.verdict == pair.weighted.verdict


def test_weighted_p_values_are_corrected_as_a_family():
    found = compared(TRAFFIC, ("other", OTHER), baselines=("old",))
    plain, corrected = zip(*((pair.weighted.p, pair.weighted.p_corrected) for pair in found.pairs), strict=True)

    assert "holm" == found.correction
    assert max(min(plain) * 2, 0) == pytest.approx(min(corrected))


def test_simultaneous_intervals_are_wider():
    one, all_of_them = (
        compared(TRAFFIC, ("other", OTHER), simultaneous=simultaneous).pairs[0].weighted.interval
        for simultaneous in (False, True)
    )

    assert all_of_them[0] < one[0] < one[1] < all_of_them[1]


def test_a_log_that_is_known_entirely_leaves_nothing_to_chance():
    weights = {"query": list(OLD), "weight": [7, 1, 1, 1], "probability": [1.0] * 4}
    import pandas as pd

    (pair,) = compared(pd.DataFrame(weights)).pairs

    assert (0.0, 0.0, "better") == (pair.weighted.error, pair.weighted.p, pair.weighted.verdict)
    assert pair.weighted.interval == (pair.weighted.difference, pair.weighted.difference)


@pytest.mark.parametrize(
    ("mean", "alternative", "p"), [(0.1, "two-sided", 0), (0.1, "greater", 0), (0.1, "less", 1), (0.0, "two-sided", 1)]
)
def test_p_without_any_error(mean, alternative, p):
    assert p == weighted_p(WeightedMean(mean, (mean, mean), 0.0, None, 4, 4.0), alternative)


def test_p_with_an_unknown_error_is_1():
    assert 1 == weighted_p(WeightedMean(0.5, None, None, None, 2, 1.1), "two-sided")


def test_the_same_difference_everywhere_is_not_tested():
    (pair,) = compare_scores({"a": OLD, "b": OLD}, query_weights=TRAFFIC).pairs

    assert (1.0, "no significant difference") == (pair.weighted.p, pair.weighted.verdict)


def test_a_query_without_a_weight():
    with pytest.raises(QuerySetError, match=r"query weights: 1 of 4 queries have? no weight|has no weight \(q4\)"):
        compared({"q1": 1, "q2": 1, "q3": 1})


QRELS = {f"q{n}": {"a": 1} for n in range(60)}
RUNS = {
    "old": {query: (["a", "b"] if n % 2 else ["b", "a"]) for n, query in enumerate(QRELS)},
    "new": {query: (["a", "b"] if n % 3 else ["b", "c", "a"]) for n, query in enumerate(QRELS)},
}


def test_runs_by_a_sample():
    sample = sample_queries({f"text {n}": 1000 // (n + 1) for n in range(500)}, 60)
    rows = {"query": list(QRELS), "weight": sample.weights.weight, "probability": sample.weights.probability}
    import pandas as pd

    weights = pd.DataFrame({**rows, "stratum": sample.weights.strata})
    (pair,) = compare(QRELS, RUNS, ["RR"], query_weights=weights).pairs
    old, new = (evaluate(QRELS, RUNS[name], ["RR"], query_weights=weights).weighted()["RR"] for name in ("old", "new"))

    assert pair.weighted.difference == pytest.approx(new.mean - old.mean)
    assert pair.weighted.baseline_mean == pytest.approx(old.mean)


def test_undefined_values_are_left_out_of_both_means():
    table = {"old": {**OLD, "q1": math.nan}, "new": NEW}
    (pair,) = compare_scores(table, query_weights=TRAFFIC).pairs

    assert np.mean([-0.1, -0.1, -0.2]) == pytest.approx(pair.weighted.difference)


@pytest.mark.parametrize("weights", [None, TRAFFIC])
@pytest.mark.parametrize("form", list(RENDERERS))
def test_all_forms_show_weights_only_if_there_are_any(form, weights):
    text = re.sub("<style>.*?</style>", "", RENDERERS[form](compared(weights)), flags=re.DOTALL)

    assert (weights is not None) == ("eighted" in text)
    if form == "json":
        assert [] == list(problems(json.loads(text), SCHEMA))
        assert (weights is not None) == ("weighted" in json.loads(text)["pairs"][0])


def test_segments_say_that_they_are_not_weighted():
    found = compare_scores(
        {"old": OLD, "new": NEW}, query_weights=TRAFFIC, segments={"q1": "a", "q2": "a", "q3": "b", "q4": "b"}
    )

    assert "Segments are not weighted." in RENDERERS["markdown"](found)


def test_no_weights_no_weighted_means():
    with pytest.raises(AssayError, match="this evaluation has no weights; give them with `query_weights=`"):
        evaluate(QRELS, RUNS["old"], ["RR"]).weighted()
