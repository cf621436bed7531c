"""A comparison in terminals of different widths, and with very many systems."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay.comparison.comparing import Comparison, compare_scores
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.segments import Segmentation
from assay.report.comparison import text
from assay.report.comparison.documents import render_json, render_markdown
from assay.report.comparison.page import page_of
from assay.report.comparison.tables import queries_of
from assay.report.comparison.text import render_text
from assay.report.drawing.terminal import Detail


def comparison(systems: int = 2, measures: int = 1, **study) -> Comparison:
    rng = np.random.default_rng(1)
    queries = tuple(f"q{n}" for n in range(60))
    values = rng.random((measures, 60, systems))
    scores = SystemScores(
        tuple(f"system-{n}" for n in range(systems)), queries, tuple(f"measure-{n}" for n in range(measures)), values
    )
    kinds = Segmentation.from_labels("kind", {query: f"kind {n % 4}" for n, query in enumerate(queries)})
    return compare_scores(scores, Study(**study), segments=[kinds])


@pytest.mark.parametrize("width", [60, 80, 100, 120])
@pytest.mark.parametrize("options", [{}, {"margin": 0.01}])
def test_no_figure_is_cut_off(width, options, monkeypatch):
    monkeypatch.setattr(text, "terminal_width", lambda: width)
    found = comparison(**options)
    shown = render_text(found)

    assert max(map(len, shown.splitlines())) <= width
    assert "system-1" in shown
    assert f"{found.pairs[0].difference:+.4f}" in shown
    assert f"{found.segments[0].segments[0].pairs[0].difference:+.4f}" in shown
    if width >= 80:
        low, high = found.pairs[0].interval
        assert f"{low:+.4f} {high:+.4f}" in shown


def test_what_there_is_no_room_for_is_said(monkeypatch):
    monkeypatch.setattr(text, "terminal_width", lambda: 80)

    assert "Left out: mean, change, p, d_z. Widen the terminal, or use --format json.\n" in render_text(
        comparison(), Detail(verbose=True)
    )


def test_many_measures_stand_in_several_tables(monkeypatch):
    monkeypatch.setattr(text, "terminal_width", lambda: 80)
    found = comparison(4, 12)
    shown = render_text(found)

    assert max(map(len, shown.splitlines())) <= 80
    assert all(f"{mean:.4f}" in shown for mean in found.scores.values.mean(axis=1).ravel())


def test_of_many_pairs_the_first_are_shown_with_their_queries():
    found = comparison(8, 2, all_pairs=True)
    left = "Showing 12 of 28 pairs and measures; --format json has all."

    assert left in render_text(found, Detail(verbose=True))
    assert left in render_markdown(found)
    assert (12, left) == (len(page_of(found, queries_of(found)).moves), page_of(found, queries_of(found)).moves_left)
    assert "Showing 12 of 56 tests between segments; --format json has all." in render_text(found)


def test_hundreds_of_systems_fit_on_two_screens(monkeypatch):
    monkeypatch.setattr(text, "terminal_width", lambda: 80)
    found = comparison(60, 2, all_pairs=True)
    shown = render_text(found, Detail(hint="-v")).replace("\n", " ")

    assert "The 20 systems with the highest measure-0 of 60." in shown
    assert "The 20 largest of 1,770 differences, of which " in shown
    assert "; all with --format csv, or -v." in shown
    assert "After a plus: how many systems it is significantly better than; after a minus: worse than." in shown


def test_few_are_shown_whole():
    found = comparison(3)

    assert (2, "") == (len(page_of(found, queries_of(found)).moves), page_of(found, queries_of(found)).moves_left)


def test_simultaneous_intervals_hold_together_in_segments_too():
    assert "The 95% intervals (t) are Bonferroni's, so all of one family hold together." in " ".join(
        render_text(comparison(simultaneous=True), Detail(verbose=True)).split()
    )
    assert "p not corrected, intervals by bonferroni; alpha" in render_text(comparison(simultaneous=True))
    assert "intervals (t) are each for one comparison and not corrected for their number." in " ".join(
        render_text(comparison(), Detail(verbose=True)).split()
    )


def test_draws_are_told_where_only_the_second_measure_needed_them():
    values = np.zeros((2, 60, 2))
    values[0, :5, 1] = [0.1, 0.2, 0.3, 0.4, 0.6]
    values[1] = np.random.default_rng(1).random((60, 2))
    scores = SystemScores(("a", "b"), tuple(map(str, range(60))), ("few", "many"), values)

    assert "permutation, two-sided, 500 draws, seed 1;" in render_text(
        compare_scores(scores, Study(test="permutation", draws=500)), Detail(verbose=True)
    )


def test_simultaneous_intervals_from_resamples_have_their_limits():
    few, many = (comparison(systems, all_pairs=True, simultaneous=True, interval="percentile") for systems in (7, 8))

    assert "hardly reach" not in render_text(few)
    assert (
        "Corrected intervals of 28 comparisons need more extreme quantiles than 10,000 resamples can estimate"
        in " ".join(render_text(many).split())
    )


def test_a_plan_has_a_range_where_pairs_spread_differently():
    found = comparison(3, plan=0.05)
    low, high = sorted(pair.needed for pair in found.pairs)

    assert f"Detecting a difference of 0.05 with 80% power takes {low} to {high} queries." in render_text(found)


def test_anova_answers_for_all_systems_at_once():
    found = comparison(4, test="anova")
    overall = found.tests[0].overall

    assert f"measure-0: no significant difference between the systems (F(3, 177) = {overall.statistic:.2f}, p" in (
        " ".join(render_text(found).split())
    )
    assert {"statistic": overall.statistic, "p": overall.p, "degrees": [3, 177]} == json.loads(render_json(found))[
        "tests"
    ][0]["overall"]
