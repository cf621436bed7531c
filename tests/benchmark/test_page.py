"""The page of a benchmark in an offline browser, on desktop and phone."""

from __future__ import annotations

import pytest

from assay.report.benchmark.page import render_html
from assay.report.drawing.charts import Drawings
from benchmark.test_report import HOSTILE, renamed, report
from benchmark.test_stage_table import PIPELINE, whole
from report.test_browser import browser, opened

__all__ = ["browser", "opened"]  # fixtures


def test_it_shows_the_table_and_nothing_goes_wrong(opened):
    page = opened(render_html(report())).page

    assert "kitchen" == page.locator("h1").inner_text()
    assert ["Measure", "Best mode", "lexical", "vector", "hybrid"] == page.locator(
        "#result th[scope=col]"
    ).all_inner_texts()
    assert ["0.3800", "0.8100", "0.8100", "0.50", "1.00"] == page.locator("#result strong").all_inner_texts()


def test_hostile_names_are_shown_and_not_run(opened):
    page = opened(render_html(renamed(HOSTILE))).page

    assert "<script>alert(1)</script>" in page.locator("h1").inner_text()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("told", [report(), whole(*PIPELINE)], ids=["modes", "stages"])
def test_it_fits_the_screen(opened, width, scheme, told):
    page = opened(render_html(told), viewport={"width": width, "height": 800}, color_scheme=scheme).page

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_stages_come_with_their_table_and_the_queries_they_rescued(opened):
    page = opened(render_html(whole(*PIPELINE))).page

    assert ["words", "meaning", "hybrid", "again"] == page.locator("#stages table.stages").first.locator(
        "th[scope=row]"
    ).all_inner_texts()
    assert ["again rescued 10 queries"] == page.locator("#stages summary").all_inner_texts()
    page.locator("#stages summary").click()
    assert page.get_by_text('q02 "text of q02": 0.4307 to 1.0000').is_visible()


def test_it_stands_without_charts(opened, monkeypatch):
    monkeypatch.setattr("assay.report.benchmark.page.draw", lambda charts: Drawings(missing="no ink."))
    page = opened(render_html(report())).page

    assert 0 == page.locator("svg").count()
    assert "Charts are shown as text: no ink." in page.locator("#charts").inner_text()
