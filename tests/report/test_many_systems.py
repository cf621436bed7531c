"""Pages of 2, 12 and 300 systems in a browser, at 1280 and 390 pixels: no verdict is off-screen, and all of it can be read."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from assay.comparison.comparing import compare_scores
from assay.comparison.pairs import Study, SystemScores
from assay.report.benchmark.page import render_html as benchmark_page
from assay.report.comparison import render_html
from assay.report.evaluation.index import render_index
from benchmark.test_report import report as benchmark_report
from benchmark.test_stage_table import PIPELINE, whole
from report.samples import identity, measure, report
from report.test_browser import browser, opened
from web import fetch_axe
from web.test_browser_accessible import OPEN_ALL, RUN

__all__ = ["browser", "opened"]  # fixtures

COUNTS = [2, 12, 300]
WIDTHS = [1280, 390]
# Every cell that says a verdict and is not fully inside the window, with its table scrolled to both ends.
OFF_SCREEN = """() => [...document.querySelectorAll(".table")].flatMap((box) => {
  const heads = [...box.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  const column = heads.findIndex((name) => ["Verdict", "Best mode"].includes(name));
  const scroll = box.querySelector(".scroll");
  const hidden = [0, 1e6].flatMap((left) => {
    scroll.scrollLeft = left;
    return column < 0 ? [] : [...box.querySelectorAll("tbody tr")].map((row) => row.cells[column]).filter((cell) => {
      const { left, right } = cell.getBoundingClientRect();
      const edge = scroll.getBoundingClientRect();
      return left < edge.left || right > Math.min(innerWidth, edge.right);
    });
  });
  scroll.scrollLeft = 0;
  return hidden.map((cell) => cell.textContent);
})"""


@cache
def scores(count: int) -> SystemScores:
    """Systems whose values rise by their number, so that some are better than the first and some worse."""
    dice = np.random.default_rng(5)
    skill = np.r_[0.5, np.linspace(0.3, 0.8, count - 1)]
    noise = dice.normal(0, 0.12, (3, 50, count)) + dice.normal(0, 0.1, (1, 50, 1))
    names = ("bm25", *(f"team-{at // 10:02}-cross-encoder-{at}" for at in range(1, count)))
    queries = tuple(f"q{at}" for at in range(1, 51))
    return SystemScores(names, queries, ("nDCG@10", "AP", "P@10"), np.clip(skill + noise, 0, 1))


@cache
def page(count: int, all_pairs: bool = False) -> str:
    texts = {f"q{at}": f"camping tent {at} person" for at in range(1, 51)}
    return render_html(compare_scores(scores(count), Study(all_pairs=all_pairs), queries=texts))


@cache
def index(count: int) -> str:
    runs = {f"run{at}": report(run=identity(f"run{at}"), measures=(measure("AP", at / count),)) for at in range(count)}
    return render_index(runs)


def pages(count: int) -> dict[str, str]:
    return {"one baseline": page(count), "index": index(count)} | (
        {"all pairs": page(count, all_pairs=True)} if count < 300 else {}
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_no_verdict_is_off_screen_and_no_page_is_wider_than_the_window(opened, count, width):
    for name, html in pages(count).items():
        seen = opened(html, viewport={"width": width, "height": 900}).page

        assert [] == seen.evaluate(OFF_SCREEN), name
        assert width >= seen.evaluate("document.documentElement.scrollWidth"), name


@pytest.mark.parametrize("width", WIDTHS)
def test_the_verdicts_of_a_benchmark_are_never_off_screen(opened, width):
    for html in (benchmark_page(benchmark_report()), benchmark_page(whole(*PIPELINE))):
        assert [] == opened(html, viewport={"width": width, "height": 900}).page.evaluate(OFF_SCREEN)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_heading_runs_into_the_next(opened, width):
    html = benchmark_page(benchmark_report()).replace("<bdi>Measure</bdi>", "<bdi>Relevant documents</bdi>")
    seen = opened(html, viewport={"width": width, "height": 900}).page

    assert [] == seen.evaluate(
        "() => [...document.querySelectorAll('thead th:first-child')].filter((head) => head.querySelector('button')"
        "?.getBoundingClientRect().right > head.getBoundingClientRect().right).map((head) => head.textContent)"
    )


def test_the_check_finds_what_is_off_screen(opened):
    """Otherwise the tests above would prove nothing."""
    seen = opened(page(12), viewport={"width": 390, "height": 900}).page
    seen.evaluate("document.querySelectorAll('.fixed').forEach((cell) => cell.classList.remove('fixed'))")

    assert "better" in seen.evaluate(OFF_SCREEN)


# How many pixels of the table of systems are hidden.
HIDDEN = "() => document.querySelector('#systems .scroll').scrollWidth - document.querySelector('#systems .scroll').clientWidth"


@pytest.mark.parametrize("hidden", [12, 40])
def test_a_table_that_scrolls_by_a_few_pixels_has_a_cue(opened, hidden):
    seen = opened(page(2), viewport={"width": 390, "height": 900}).page
    over = seen.evaluate(HIDDEN)
    seen.set_viewport_size({"width": 390 + over - hidden, "height": 900})
    edge = seen.locator("#systems .scroll").bounding_box()
    strip = {"x": edge["x"] + edge["width"] - 8, "y": edge["y"] + edge["height"] - 8, "width": 1, "height": 1}
    cued = seen.screenshot(clip=strip)
    seen.locator("#systems .scroll").evaluate("(box) => (box.style.background = 'var(--paper)')")

    assert hidden == seen.evaluate(HIDDEN)
    assert cued != seen.screenshot(clip=strip)


def test_long_names_and_texts_without_spaces_leave_room_for_the_figures(opened):
    names = ("bm25", *(f"{'dense-e5-base-v2-' * 8}v{at}" for at in range(1, 3)))
    some = replace(scores(3), systems=names)
    texts = dict.fromkeys(some.queries, "x" * 300)
    seen = opened(render_html(compare_scores(some, queries=texts))).page
    names_shown = seen.locator("#differences tbody th").all_inner_texts()

    assert {name[-3:] for name in names[1:]} == {name[-3:] for name in names_shown}
    assert 190 < seen.locator("#differences tbody th").first.bounding_box()["width"]
    assert 600 > seen.locator("#queries td.wide").first.bounding_box()["width"]


def test_300_systems_make_a_leaderboard(opened):
    seen = opened(page(300)).page
    verdicts = compare_scores(scores(300)).of("nDCG@10")
    better, worse = (sum(pair.verdict == verdict for pair in verdicts) for verdict in ("better", "worse"))

    assert "299 systems against bm25" == seen.inner_text("h1")
    assert (
        f"{better} of 299 systems are significantly better than bm25 by nDCG@10 over 50 queries; {worse} are worse."
        == seen.inner_text(".lede")
    )
    assert 50 == seen.locator("#systems tbody tr").count()
    assert "1 to 50 of 300 systems, by nDCG@10, highest first" == seen.inner_text("#systems .shown")
    assert 16_000 > seen.evaluate("document.documentElement.scrollHeight")
    assert "Of its 299 comparisons, the 24 with the largest difference are here." in seen.inner_text("#charts")
    seen.get_by_label("Search systems").fill("encoder-299")

    assert ["team-29-cross-encoder-299"] == seen.locator("#systems tbody th").all_inner_texts()


def test_a_query_opens_to_the_values_of_all_systems_the_best_first(opened):
    seen = opened(page(12)).page
    seen.locator("#queries").get_by_role("button", name="q7", exact=True).click()
    expected = sorted(zip(scores(12).values[0, 6].tolist(), scores(12).systems, strict=True), reverse=True)

    assert [name for _, name in expected] == seen.locator("#queries .below tbody th").all_inner_texts()
    assert [f"{value:.4f}" for value, _ in expected] == seen.locator(
        "#queries .below tbody td:nth-child(2)"
    ).all_inner_texts()
    seen.locator("#queries").get_by_role("button", name="q7", exact=True).press("Enter")

    assert 0 == seen.locator("#queries .below").count()


def test_what_is_open_stays_with_its_query(opened):
    seen = opened(page(2)).page
    seen.locator("#queries").get_by_role("button", name="q7", exact=True).click()
    seen.locator("#queries > .table > .scroll > table > thead").get_by_role("button", name="Query").click()

    assert "q7" == seen.locator("#queries tr:has(+ .below) > th").inner_text()


def test_won_tied_and_lost_queries(opened):
    seen = opened(page(2)).page
    difference = scores(2).column(0, 1) - scores(2).column(0, 0)
    for words, expected in (("won", difference[difference > 0]), ("lost", difference[difference < 0])):
        seen.locator("#queries").get_by_label("Show").select_option(words)

        assert [f"{value:+.4f}" for value in sorted(expected)] == seen.locator(
            "#queries tbody td:nth-child(3)"
        ).all_inner_texts()


def test_hovering_names_a_point(opened):
    seen = opened(page(2)).page
    point = seen.locator("#charts .mark-symbol path").first
    pair = compare_scores(scores(2)).pairs[0]
    assert pair.interval is not None
    point.hover()

    assert (
        f"nDCG@10, {pair.system}: {pair.difference:+.4f} ({pair.interval[0]:+.4f} to {pair.interval[1]:+.4f})"
        == seen.locator(".tip").inner_text()
    )
    seen.keyboard.press("Escape")

    assert not seen.locator(".tip").is_visible()


def test_what_a_page_has_no_room_for_is_said():
    many = replace(
        scores(12),
        queries=tuple(f"q{at}" for at in range(10_500)),
        values=np.resize(scores(12).values, (3, 10_500, 12)),
    )
    html = render_html(compare_scores(many))

    assert "Only the first 10,000 of 10,500 queries are here. Opening a query shows the values of nDCG@10 only." in html


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", COUNTS)
def test_axe_finds_nothing(opened, count, width, scheme):
    problem = fetch_axe.reason()
    if problem:
        pytest.skip(f"checking for accessibility needs axe-core: {problem}")
    script = fetch_axe.script().read_text(encoding="utf-8")
    for name, html in pages(count).items():
        looks: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        seen = opened(html, bypass_csp=True, **looks).page
        if name != "index":
            seen.locator("#queries .opener").first.click()
        seen.evaluate(OPEN_ALL)
        seen.evaluate(script)

        assert [] == seen.evaluate(RUN), name
