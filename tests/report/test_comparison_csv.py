"""A comparison as CSV: every value reads back exactly, whatever the ids are."""

from __future__ import annotations

import csv
import io

from assay import compare_scores
from assay.comparison.comparing import Comparison
from assay.report.comparison.delimited import render_csv

OLD = {"1": 0.4, "2": 0.3, "3": 0.5, "4": 0.2}
NEW = {"1": 0.9, "2": 0.5, "3": 0.8, "4": 0.6}


def rows(comparison: Comparison) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render_csv(comparison), newline="")))


def test_a_row_has_every_figure_of_a_pair_in_full():
    found = compare_scores({"old": OLD, "new": NEW})
    (pair,) = found.pairs
    (row,) = rows(found)

    assert ("score", "old", "new", "better") == (row["measure"], row["baseline"], row["system"], row["verdict"])
    assert (pair.difference, pair.p, pair.effect_size) == tuple(
        float(row[name]) for name in ("difference", "p", "effect_size")
    )
    assert pair.interval == (float(row["low"]), float(row["high"]))
    assert ("4", "0", "0", "4") == tuple(row[name] for name in ("wins", "ties", "losses", "queries"))


def test_a_figure_that_does_not_exist_is_empty():
    (row,) = rows(compare_scores({"old": {"1": 0.0}, "new": {"1": 1.0}}))

    assert ("", "", "", "", "true") == tuple(
        row[name] for name in ("relative", "low", "high", "detectable", "constant")
    )


def test_weighted_figures_stand_beside_the_others():
    found = compare_scores({"old": OLD, "new": NEW}, query_weights={"1": 5, "2": 1, "3": 1, "4": 1})
    (pair,) = found.pairs
    (row,) = rows(found)

    assert pair.weighted is not None
    assert pair.weighted.difference == float(row["weighted_difference"])
    assert pair.weighted.interval == (float(row["weighted_low"]), float(row["weighted_high"]))
    assert pair.difference == float(row["difference"])


def test_the_pairs_of_segments_follow_those_of_all_queries():
    kinds = {"1": "buy", "2": "buy", "3": "know", "4": "know"}
    found = rows(compare_scores({"old": OLD, "new": NEW}, segments={"kind": kinds}))

    assert [("", "", "4"), ("kind", "buy", "2"), ("kind", "know", "2")] == [
        (row["segmentation"], row["segment"], row["queries"]) for row in found
    ]
    assert ["better", "not tested", "not tested"] == [row["verdict"] for row in found]


def test_names_of_any_characters_read_back():
    names = ['a,"b"\nc', "=1+1"]
    (row,) = rows(compare_scores({names[0]: OLD, names[1]: NEW}))

    assert names == [row["baseline"], row["system"]]


def test_a_name_that_a_spreadsheet_would_run_is_a_text():
    found = compare_scores({"=1+1": OLD, "b": NEW})
    (row,) = csv.DictReader(io.StringIO(render_csv(found, spreadsheet=True)))

    assert ("'=1+1", "b") == (row["baseline"], row["system"])
    assert found.pairs[0].difference == float(row["difference"])
