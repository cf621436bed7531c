"""The page of a leaderboard: the verdict first, all systems, charts of the best, and hostile names as data."""

from __future__ import annotations

import numpy as np
import pytest

from assay.comparison.leaderboard import Leaderboard, leaderboard_scores
from assay.comparison.pairs import SystemScores
from assay.report.drawing.charts import draw
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

    assert "Of 3 systems, 2 others are not significantly worse (" in few
    assert many.endswith("Of 40 systems, 39 others are not significantly worse.")


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
