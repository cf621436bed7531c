"""P values published for real data: TREC-8 ad hoc, average precision, two systems, 50 topics (Urbano et al. 2019)."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from assay.comparison.paired import PairedOptions
from assay.comparison.significance import significance_of


@pytest.fixture(scope="module")
def urbano(shared_data):
    folder = shared_data / "statistics" / "urbano2019"
    expected = json.loads((folder / "expected.json").read_text())
    values = np.genfromtxt(folder / expected["data"], delimiter=",", skip_header=1)
    pair = (expected["experimental_column"] - 1, expected["baseline_column"] - 1)
    return values, [pair], expected["p_values_one_tailed_two_tailed"]


def p_of(urbano, test, alternative, **options):
    values, pairs, _ = urbano
    return float(significance_of(values, pairs, test, PairedOptions(alternative, **options)).p[0])


@pytest.mark.parametrize(
    ("test", "name", "options"),
    [("t", "paired_t", {}), ("wilcoxon", "wilcoxon", {}), ("sign", "sign_min_d_0.01", {"minimum": 0.01})],
)
@pytest.mark.parametrize(("place", "alternative"), [(0, "greater"), (1, "two-sided")])
def test_every_printed_digit(urbano, test, name, options, place, alternative):
    printed = urbano[2][name][place]
    found = p_of(urbano, test, alternative, **options)
    digits = len(repr(printed).partition(".")[2]) if "e" not in repr(printed) else 10

    assert printed == round(found, digits)


@pytest.mark.parametrize(("test", "name"), [("permutation", "permutation_1e6"), ("bootstrap", "bootstrap_shift_1e6")])
@pytest.mark.parametrize(("place", "alternative"), [(0, "greater"), (1, "two-sided")])
def test_within_the_error_of_chance(urbano, test, name, place, alternative):
    printed = urbano[2][name][place]
    draws = 400_000
    found = p_of(urbano, test, alternative, draws=draws)
    error = math.sqrt(printed * (1 - printed) * (1 / 1_000_000 + 1 / draws))  # theirs and ours

    assert printed == pytest.approx(found, abs=4 * error)


def test_wilcoxon_counted_exactly_is_another_number(urbano):
    # SciPy's default for up to 50 queries: not what R and the paper print, 0.003445188.
    assert 0.0028963 == pytest.approx(p_of(urbano, "wilcoxon-exact", "two-sided"), abs=5e-8)


def test_sizes_that_are_equal_but_for_rounding_are_not_ties(urbano):
    values, pairs, expected = urbano
    rounded = np.round(values[:, pairs[0][0]] - values[:, pairs[0][1]], 10)
    found = significance_of(np.column_stack((rounded, np.zeros(50))), [(0, 1)], "wilcoxon").p[0]

    assert 0.0033919 == pytest.approx(found, abs=5e-8)
    assert abs(found - expected["wilcoxon"][1]) > 5e-5


def test_the_other_direction_is_as_far_from_one(urbano):
    for test in ("t", "sign"):
        greater, less = p_of(urbano, test, "greater"), p_of(urbano, test, "less")

        assert greater < 0.05
        assert less > 0.95


def test_bonferroni_as_pyterrier_printed_it(shared_data):
    # PyTerrier counts the baseline too: it multiplies two comparisons by three.
    from assay.comparison.corrections import corrected_p

    systems = json.loads((shared_data / "statistics" / "pyterrier_vaswani" / "expected.json").read_text())["systems"]
    for measure in ("map", "ndcg"):
        p = np.array([1.0, systems["BM25"][f"{measure}_p"], systems["PL2"][f"{measure}_p"]])
        printed = [systems[name][f"{measure}_p_bonferroni"] for name in ("BM25", "PL2")]

        assert printed == pytest.approx(corrected_p(p, "bonferroni")[1:].tolist(), abs=2e-6)
