"""The page of a leaderboard: the verdict first, all systems, charts of the best, and hostile names as data."""

from __future__ import annotations

import numpy as np
import pytest

from assay.comparison.leaderboard import Leaderboard, leaderboard_scores
from assay.comparison.pairs import SystemScores
from assay.report.drawing.charts import draw
from assay.report.drawing.tables import Cell
from assay.report.leaderboard import render_html
from assay.report.leaderboard.charts import MOST_ROWS, charts_of
from assay.report.leaderboard.page import page_of
from assay.report.leaderboard.words import answer_of
from report.pages import Page
from report.samples import HOSTILE

SVG = {"text", "tspan", "/text", "/tspan", "path", "g", "/g", "title", "/title"}  # chart marks depend on names


def board(systems: int = 3, name: str = "s", step: float = 0.2) -> Leaderboard:
    """Systems that fall by `step` each, over 30 queries."""
    rng = np.random.default_rng(1)
    values = 0.9 - step * np.arange(systems) + rng.normal(0, 0.05, (30, systems))
    names = tuple(f"{name}{n}" for n in range(systems))
    return leaderboard_scores(SystemScores(names, tuple(f"q{n}" for n in range(30)), ("AP",), values[None]), draws=200)


def board_of(values) -> Leaderboard:
    """Systems s0, s1 and so on with these values, a row for each query."""
    queries, systems = values.shape
    names = tuple(f"s{n}" for n in range(systems))
    scores = SystemScores(names, tuple(f"q{n}" for n in range(queries)), ("AP",), values[None])
    return leaderboard_scores(scores, draws=200)


def test_the_verdict_stands_in_the_first_columns():
    found = page_of(board())

    assert "3 systems by AP" == found.title
    assert ["System", "Rank", "Tier", "Ranks", "AP", "±95%"] == [column.name for column in found.systems.columns]
    assert [("s0", "1", "1", "1"), ("s1", "2", "2", "2"), ("s2", "3", "3", "3")] == [
        row[:4] for row in found.systems.rows
    ]
    assert found.lede == answer_of(board())
    assert "s0 has the highest mean AP (0.8990). It is significantly better than all others." == found.lede


def test_the_answer_names_few_and_counts_many():
    few, many = answer_of(board(3, step=0.0)), answer_of(board(40, step=0.0))

    assert "None of the other 2 is significantly worse (" in few
    assert many.endswith("None of the other 39 is significantly worse.")


def test_the_answer_of_some_that_are_not_worse():
    values = np.array([[0.9, 0.8, 0.1], [0.5, 0.6, 0.0], [0.7, 0.6, 0.2], [0.8, 0.7, 0.1]])

    assert "s0 has the highest mean AP (0.7250). 1 of the other 2 is not significantly worse (s1)." == answer_of(
        board_of(values)
    )


def test_systems_that_share_the_best_mean_are_not_said_to_be_better_than_all_others():
    """Only the first of them was compared with the others for the tiers."""
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 0.1, 40)
    values = np.stack([low + 0.5, (low + 0.5)[::-1], rng.uniform(0, 0.1, 40)], axis=1)

    assert answer_of(board_of(values)).endswith(
        "share the highest mean AP (0.5501). The other one is significantly worse than s0."
    )


def test_a_single_query_has_means_without_intervals():
    found = board_of(np.array([[0.5, 0.4]]))
    means = charts_of(found)[1]

    assert "The mean AP of each system: s0 0.5000; s1 0.4000." == means.words
    assert "s0: 0.5000, tier 1" == means.spec["data"]["values"][0]["words"]
    assert "With a single query no mean has an interval, and no difference can be significant." in found.notes


def test_nothing_is_bold_where_all_are_equal():
    values = np.array([[[0.5, 0.4]] * 3, [[0.3, 0.3]] * 3])
    scores = SystemScores(("a", "b"), ("1", "2", "3"), ("AP", "P@10"), values)
    first, second = page_of(leaderboard_scores(scores, draws=20)).systems.rows

    assert (Cell("0.5000", bold=True), "0.3000") == (first[4], *first[6:])
    assert ("0.4000", "0.3000") == (second[4], *second[6:])


def test_all_systems_are_in_the_table_and_the_best_in_the_charts():
    found = board(300, step=0.001)
    charts = charts_of(found)
    page = Page(render_html(found))

    assert 300 == len(page_of(found).systems.rows)
    assert ["ranks", "means"] == [chart.name for chart in charts]
    assert all(chart.words.endswith(f" Showing the best {MOST_ROWS} of 300 systems.") for chart in charts)
    assert all(MOST_ROWS == len(chart.spec["data"]["values"]) for chart in charts)
    assert "s299" in page.texts


def test_the_charts_are_drawn():
    charts = charts_of(board())
    drawn = draw(charts).svgs

    assert set(drawn) in ({"ranks", "means"}, set())  # none without vl-convert
    assert all(svg.startswith("<svg") for svg in drawn.values())


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_names_add_no_tag(kind):
    plain = Page(render_html(board(name="plain"))).tags
    found = Page(render_html(board(name=HOSTILE[kind]))).tags

    assert [tag for tag in plain if tag[0] not in SVG] == [tag for tag in found if tag[0] not in SVG]
