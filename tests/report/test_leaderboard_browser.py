"""Pages of leaderboards of 2, 12 and 300 systems in a browser, at 1280 and 390 pixels."""

from __future__ import annotations

from typing import Any

import pytest

from assay.report.leaderboard import render_html
from report.test_browser import browser, opened
from report.test_leaderboard_page import board
from report.test_many_systems import OFF_SCREEN
from web import fetch_axe
from web.test_browser_accessible import RUN

__all__ = ["browser", "opened"]  # fixtures

COUNTS = [2, 12, 300]
WIDTHS = [1280, 390]
# Where the columns begin: in the head, and in the first row.
BEGIN = "() => [...document.querySelectorAll('#systems tr')].slice(0, 2).map((row) => [...row.cells].map((cell) => Math.round(cell.getBoundingClientRect().left)))"
RANKS_OFF_SCREEN = OFF_SCREEN.replace('["Verdict", "Best mode"]', '["Rank"]')


def page(count: int) -> str:
    return render_html(board(count, name="team-cross-encoder-", step=0.8 / count))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_no_rank_is_off_screen_and_no_page_is_wider_than_the_window(opened, count, width):
    seen = opened(page(count), viewport={"width": width, "height": 900}).page

    assert [] == seen.evaluate(RANKS_OFF_SCREEN)
    assert width >= seen.evaluate("document.documentElement.scrollWidth")
    assert min(count, 50) == seen.locator("#systems tbody tr").count()
    head, row = seen.evaluate(BEGIN)
    assert head == row
    assert 6_000 > seen.evaluate("document.documentElement.scrollHeight")


def test_systems_can_be_sorted_and_found(opened):
    seen = opened(page(300)).page
    seen.get_by_role("button", name="Rank", exact=True).click()

    assert "300" == seen.locator("#systems tbody tr td").first.inner_text()
    seen.get_by_label("Search systems").fill("encoder-123")

    assert ["team-cross-encoder-123"] == seen.locator("#systems tbody th").all_inner_texts()


def test_hovering_names_a_system(opened):
    seen = opened(page(2)).page
    seen.locator("#charts .mark-symbol path").first.hover()

    assert "team-cross-encoder-0: rank 1 (1), tier 1" == seen.locator(".tip").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_axe_finds_nothing(opened, count, width, scheme):
    problem = fetch_axe.reason()
    if problem:
        pytest.skip(f"checking for accessibility needs axe-core: {problem}")
    looks: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    seen = opened(page(count), bypass_csp=True, **looks).page
    seen.evaluate(fetch_axe.script().read_text(encoding="utf-8"))

    assert [] == seen.evaluate(RUN)
