"""Corrections for multiple comparisons: against statsmodels, by hand, and laws for all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.comparison.corrections import CORRECTIONS, DEFAULT, corrected_p
from assay.errors import AssayError

STATSMODELS = {
    "holm": "holm",
    "bonferroni": "bonferroni",
    "benjamini-hochberg": "fdr_bh",
    "benjamini-yekutieli": "fdr_by",
    "sidak": "sidak",
}
P_VALUES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=40).map(np.array)
NAMES = st.sampled_from(sorted(CORRECTIONS))


@settings(max_examples=25)  # statsmodels' Holm takes a twelfth of a second
@given(P_VALUES)
@pytest.mark.parametrize("name", sorted(STATSMODELS))
def test_it_is_statsmodels(name, p):
    from statsmodels.stats.multitest import multipletests

    with np.errstate(divide="ignore"):  # statsmodels takes the logarithm of 1 - p for sidak
        expected = multipletests(p, method=STATSMODELS[name])[1]

    assert expected.tolist() == pytest.approx(corrected_p(p, name).tolist(), rel=1e-9, abs=1e-15)


@settings(max_examples=25)
@given(st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.5, 1.0]), min_size=1, max_size=20).map(np.array))
@pytest.mark.parametrize("name", sorted(STATSMODELS))
def test_equal_p_values_are_statsmodels_too(name, p):
    from statsmodels.stats.multitest import multipletests

    with np.errstate(divide="ignore"):
        expected = multipletests(p, method=STATSMODELS[name])[1]

    assert expected.tolist() == pytest.approx(corrected_p(p, name).tolist(), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", [0.01, 0.04, 0.03]),
        ("bonferroni", [0.03, 0.12, 0.09]),
        ("holm", [0.03, 0.06, 0.06]),  # 0.01 * 3, 0.03 * 2, 0.04 * 1 raised to 0.06
        ("benjamini-hochberg", [0.03, 0.04, 0.04]),  # 0.01 * 3, 0.03 * 3 / 2 lowered to 0.04, 0.04
        ("benjamini-yekutieli", [0.055, 0.04 * 11 / 6, 0.04 * 11 / 6]),
        ("sidak", [1 - 0.99**3, 1 - 0.96**3, 1 - 0.97**3]),
    ],
)
def test_three_p_values_by_hand(name, expected):
    assert expected == pytest.approx(corrected_p(np.array([0.01, 0.04, 0.03]), name).tolist())


def test_holm_is_the_default():
    p = np.array([0.01, 0.04, 0.03])

    assert "holm" == DEFAULT
    assert corrected_p(p, "holm").tolist() == corrected_p(p).tolist()


@given(NAMES, P_VALUES)
def test_none_becomes_smaller_nor_over_one(name, p):
    corrected = corrected_p(p, name)

    assert (corrected >= p * (1 - 1e-12)).all()
    assert (corrected <= 1).all()


@given(NAMES, P_VALUES)
def test_the_order_stays(name, p):
    corrected = corrected_p(p, name)
    order = np.argsort(p, kind="stable")

    assert (np.diff(corrected[order]) >= -1e-15).all()


@given(NAMES, P_VALUES, st.randoms())
def test_the_order_in_which_they_come_does_not_matter(name, p, random):
    places = list(range(len(p)))
    random.shuffle(places)

    assert corrected_p(p, name)[places].tolist() == pytest.approx(corrected_p(p[places], name).tolist(), rel=1e-12)


@given(NAMES, st.floats(0, 1, allow_subnormal=False))
def test_one_comparison_needs_no_correction(name, p):
    assert p == pytest.approx(corrected_p(np.array([p]), name)[0], rel=1e-12)


@given(P_VALUES)
def test_holm_is_never_weaker_than_bonferroni(p):
    assert (corrected_p(p, "holm") <= corrected_p(p, "bonferroni") + 1e-15).all()


@given(P_VALUES)
def test_the_share_of_false_findings_is_less_strict_than_any_false_finding(p):
    assert (corrected_p(p, "benjamini-hochberg") <= corrected_p(p, "holm") + 1e-15).all()
    assert (corrected_p(p, "benjamini-hochberg") <= corrected_p(p, "benjamini-yekutieli") + 1e-15).all()


@given(P_VALUES)
def test_sidak_is_a_little_less_strict_than_bonferroni(p):
    assert (corrected_p(p, "sidak") <= corrected_p(p, "bonferroni") + 1e-12).all()


@pytest.mark.parametrize("name", sorted(CORRECTIONS))
def test_what_is_no_number_stays_so_and_does_not_count(name):
    found = corrected_p(np.array([0.01, math.nan, 0.2]), name)

    assert math.isnan(found[1])
    assert corrected_p(np.array([0.01, 0.2]), name).tolist() == found[[0, 2]].tolist()


@pytest.mark.parametrize("name", sorted(CORRECTIONS))
def test_nothing_to_correct(name):
    assert [] == corrected_p(np.array([]), name).tolist()


@pytest.mark.parametrize("name", sorted(CORRECTIONS))
def test_a_family_of_pairs_and_measures_keeps_its_shape(name):
    p = np.array([[0.01, 0.2], [0.03, 0.5]])

    assert corrected_p(p.ravel(), name).tolist() == corrected_p(p, name).ravel().tolist()


@pytest.mark.parametrize("name", sorted(CORRECTIONS))
def test_what_is_given_is_not_changed(name):
    p = np.array([0.01, 0.04, 0.03])
    found = corrected_p(p, name)

    assert [0.01, 0.04, 0.03] == p.tolist()
    assert found is not p


@pytest.mark.parametrize("name", sorted(CORRECTIONS))
def test_every_correction_says_what_it_keeps(name):
    assert (CORRECTIONS[name].__doc__ or "").strip()


@pytest.mark.parametrize("p", [-0.1, 1.1, math.inf])
def test_p_lies_between_0_and_1(p):
    with pytest.raises(AssayError) as refused:
        corrected_p(np.array([0.5, p]))

    assert "p values must be between 0 and 1." == str(refused.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("homl", "no correction called 'homl'; did you mean 'holm'?"),
        (
            "zzz",
            "no correction called 'zzz'; there are holm, bonferroni, benjamini-hochberg, benjamini-yekutieli, sidak, none.",
        ),
    ],
)
def test_a_correction_that_is_not_there(name, message):
    with pytest.raises(AssayError) as refused:
        corrected_p(np.array([0.5]), name)

    assert message == str(refused.value)
