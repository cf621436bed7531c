"""The docs show the calibration that was measured, and it is within the required limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.comparison.significance import definition_of

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "bench" / "results" / "calibration.json").read_text())


def rate(part, case, queries):
    return next(r for r in RECORD["rates"] if (r["part"], r["case"], r["queries"]) == (part, case, queries))


def test_the_page_shows_what_was_measured():
    tables = (ROOT / "bench" / "results" / "calibration.md").read_text()

    assert RECORD["date"] in tables
    assert tables in (ROOT / "docs" / "statistics.md").read_text()


def test_there_are_draws_enough():
    assert all(found["draws"] >= 10_000 for found in RECORD["rates"])
    usual = [found for found in RECORD["rates"] if found["part"] not in ("few", "segments")]
    assert {25, 50, 100} == {found["queries"] for found in usual}


@pytest.mark.parametrize("queries", [25, 50, 100])
def test_with_labels_swapped(queries):
    for test in ("t", "permutation"):
        assert 0.04 <= rate("swapped", test, queries)["rate"] <= 0.06
    for test in ("sign", "wilcoxon"):
        assert rate("swapped", test, queries)["rate"] <= 0.06


def test_with_differences_centred():
    assert 0.04 <= rate("centred", "t", 50)["rate"] <= 0.06


def test_families():
    assert all(found["rate"] <= 0.055 for found in RECORD["rates"] if found["part"] == "family-wise")


@pytest.mark.parametrize("queries", [2, 3, 5, 10, 15, 20, 25])
def test_with_few_queries_tests_hold_and_the_bootstrap_is_refused_where_it_errs(queries):
    for test in ("t", "permutation"):
        assert rate("few", test, queries)["rate"] <= 0.05
    bootstrap = rate("few", "bootstrap", queries)["rate"]
    assert bootstrap <= 0.08 if queries >= definition_of("bootstrap").fewest else bootstrap > 0.07


@pytest.mark.parametrize("queries", [50, 100, 200])
def test_segments(queries):
    for case in ("any segment", "against the mean", "between segments"):
        assert rate("segments", f"{case}, swapped", queries)["rate"] <= 0.055
    assert rate("segments", "against the mean, centred", queries)["rate"] <= 0.01


@pytest.mark.parametrize("kind", ["t", "bca"])
@pytest.mark.parametrize("of", ["difference", "mean"])
def test_coverage(kind, of):
    assert 0.93 <= rate("coverage", f"{kind}, {of}", 50)["rate"] <= 0.97


def test_no_bound_fails():
    assert [] == [found for found in RECORD["rates"] if found["verdict"] == "fails"]
