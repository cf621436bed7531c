"""Every normalisation by hand, and its edges: equal scores, one document, negative and huge scores."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.fusion import NORMALISATIONS
from fusion.small import fused, scores_of, tables
from strategies import run_of

RUN = {"q": {"a": 2.0, "b": 4.0, "c": 10.0}}


def normalised(table, norm):
    return fused(table, method="combsum", norm=norm)


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("none", {"c": 10.0, "b": 4.0, "a": 2.0}),
        (None, {"c": 10.0, "b": 4.0, "a": 2.0}),
        ("min-max", {"c": 1.0, "b": 0.25, "a": 0.0}),
        ("sum", {"c": 0.8, "b": 0.2, "a": 0.0}),
        ("rank", {"c": 1.0, "b": 0.6667, "a": 0.3333}),
        ("borda", {"c": 1.0, "b": 0.6667, "a": 0.3333}),
        # mean 16/3, deviations 14/3, -4/3, -10/3: variance (196 + 16 + 100) / 27
        ("z-score", {"c": 1.3728, "b": -0.3922, "a": -0.9806}),
    ],
)
def test_by_hand(norm, expected):
    assert expected == {doc: round(score, 4) for doc, score in normalised(RUN, norm).items()}


def test_z_score_of_the_example():
    values = normalised({"q": {"a": 2, "b": 4, "c": 6}}, "z-score")

    assert {"c": 1.2247, "b": 0.0, "a": -1.2247} == {doc: round(score, 4) for doc, score in values.items()}


def test_borda_gives_a_score_to_documents_that_a_run_lacks():
    """4 candidates, of which the first run has 2: (2 + 1) / 2 points of 4 for each other; the second has them all."""
    two, four = {"q": {"a": 9, "b": 8}}, {"q": {"d": 4, "c": 3, "b": 2, "a": 1}}

    assert {"d": 1.375, "c": 1.125, "b": 1.25, "a": 1.25} == fused(two, four, method="combsum", norm="borda")
    assert {"d": 0.375, "c": 0.375, "b": 0.5, "a": 0.25} == fused(two, four, method="combmin", norm="borda")
    assert {"d": 2.75, "c": 2.25, "b": 2.5, "a": 2.5} == fused(two, four, method="combmnz", norm="borda")


@pytest.mark.parametrize(
    ("norm", "one", "two"), [("min-max", 1.0, 1.0), ("sum", 1.0, 0.5), ("z-score", 0.0, 0.0), ("none", 5.0, 5.0)]
)
def test_equal_scores(norm, one, two):
    """With min-max, a retrieved document ranks above a missing one, as in Pyserini."""
    assert {"a": one} == normalised({"q": {"a": 5}}, norm)
    assert {"a": two, "b": two} == normalised({"q": {"a": 5, "b": 5}}, norm)


def test_equal_scores_are_ranked_by_document_id_descending():
    assert {"b": 1.0, "a": 0.5} == normalised({"q": {"a": 5, "b": 5}}, "rank")


def test_negative_scores():
    below = {"q": {"a": -3, "b": -1, "c": -2}}

    assert {"b": 1.0, "c": 0.5, "a": 0.0} == normalised(below, "min-max")
    assert {"b": 2 / 3, "c": 1 / 3, "a": 0.0} == pytest.approx(normalised(below, "sum"))


@pytest.mark.parametrize("norm", ["min-max", "sum", "z-score"])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e300, 4e307])
def test_tiny_and_huge_scores(norm, scale):
    expected = normalised({"q": {"a": -4, "b": 0, "c": 4}}, norm)

    assert expected == pytest.approx(normalised({"q": {"a": -4 * scale, "b": 0, "c": 4 * scale}}, norm))


def test_each_query_of_each_run_is_normalised_by_itself():
    table = {"q": {"a": 2, "b": 1}, "p": {"a": 200, "b": 150, "c": 100}}
    values = scores_of(fuse_one(table, "min-max"))

    assert {"q": {"a": 1.0, "b": 0.0}, "p": {"a": 1.0, "b": 0.5, "c": 0.0}} == values


def fuse_one(table, norm):
    from assay import fuse

    return fuse([run_of(table)], "combsum", norm=norm)


@pytest.mark.parametrize("norm", NORMALISATIONS)
@given(table=tables())
def test_no_normalisation_turns_two_documents_round(norm, table):
    values = scores_of(fuse_one(table, norm))

    for query, docs in table.items():
        for one, other in itertools.combinations(docs, 2):
            if docs[one] > docs[other]:
                assert values[query][one] >= values[query][other]


@given(table=tables(st.floats(allow_nan=False, allow_infinity=False)))
@pytest.mark.parametrize("norm", ["min-max", "sum", "rank", "borda"])
def test_bounds(norm, table):
    for docs in scores_of(fuse_one(table, norm)).values():
        assert all(0 <= score <= 1 for score in docs.values())
        if norm == "sum":
            assert 1 == pytest.approx(math.fsum(docs.values()))
        else:
            assert 1 == max(docs.values())


@given(table=tables())
def test_z_scores_have_mean_0_and_deviation_1(table):
    for query, docs in scores_of(fuse_one(table, "z-score")).items():
        constant = len(set(table[query].values())) == 1

        assert 0 == pytest.approx(math.fsum(docs.values()), abs=1e-9)
        assert (0 if constant else len(docs)) == pytest.approx(math.fsum(score**2 for score in docs.values()))


@given(table=tables(), factor=st.sampled_from([0.5, 3.0, 1000.0]), shift=st.sampled_from([-7.0, 0.0, 100.0]))
@pytest.mark.parametrize("norm", ["min-max", "sum", "z-score", "rank", "borda"])
def test_scale_and_zero_point_of_a_run_do_not_matter(norm, table, factor, shift):
    moved = {query: {doc: score * factor + shift for doc, score in docs.items()} for query, docs in table.items()}
    one, other = scores_of(fuse_one(table, norm)), scores_of(fuse_one(moved, norm))

    for query, docs in one.items():
        assert docs == pytest.approx(other[query], abs=1e-9)


@pytest.mark.parametrize("entry", NORMALISATIONS.values(), ids=lambda entry: entry.name)
def test_every_normalisation_says_what_it_does(entry):
    assert entry.summary.endswith(".")
    assert entry.paper or entry.name == "none"
