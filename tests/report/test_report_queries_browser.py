"""A query of a report's page opens to its documents in a browser, by mouse and by key, and without scripts."""

from __future__ import annotations

from functools import cache

import pytest

from assay.report.drawing.charts import Drawings
from assay.report.evaluation.page import render_report_html
from report.samples import HOSTILE, report
from report.test_browser import browser, opened
from report.test_report_queries import ShownDocument, some_details
from web import fetch_axe
from web.test_browser_accessible import OPEN_ALL, RUN

__all__ = ["browser", "opened"]  # fixtures

WIDTHS = [1280, 390]


@cache
def html() -> str:
    some = report()
    texts = {query: f"camping tent for {query[1:]} persons" for query in some.queries}
    return render_report_html(some, Drawings(), some_details(*some.queries, texts=texts))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_query_opens_to_its_documents_by_mouse_and_by_key(opened, width):
    seen = opened(html(), viewport={"width": width, "height": 900}).page
    button = seen.locator("#queries").get_by_role("button", name="q7", exact=True)
    inside = seen.locator("#queries .below")
    button.click()

    assert "true" == button.get_attribute("aria-expanded")
    assert "camping tent for 7 persons" == inside.locator("p").first.inner_text()
    assert ["First 10 of 1,000 documents", "2 other relevant documents"] == inside.locator("h3").all_inner_texts()
    assert [*(f"d{rank}" for rank in range(1, 11)), "x", "d12"] == inside.locator("tbody th").all_inner_texts()
    assert width >= seen.evaluate("document.documentElement.scrollWidth")
    edge = seen.locator("#queries > .table > .scroll").bounding_box()
    for table in inside.locator(".scroll").all():
        box = table.bounding_box()
        assert edge["x"] <= box["x"]
        assert box["x"] + box["width"] <= edge["x"] + edge["width"]
    button.press("Enter")

    assert 0 == inside.count()
    button.press("Space")

    assert 1 == inside.count()


def test_its_documents_can_be_sorted(opened):
    seen = opened(html()).page
    seen.locator("#queries").get_by_role("button", name="q7", exact=True).click()
    first = seen.locator("#queries .below .table").first
    first.get_by_role("button", name="Grade").click()

    assert ["d2", "d1"] == first.locator("tbody th").all_inner_texts()[:2]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_measure_is_on_the_screen_beside_texts(opened, width):
    seen = opened(html(), viewport={"width": width, "height": 900}).page
    cell = seen.locator("#queries tbody td:nth-child(3)").first.bounding_box()
    edge = seen.locator("#queries .scroll").first.bounding_box()

    assert cell["x"] + cell["width"] <= edge["x"] + edge["width"]


def test_a_query_is_found_by_its_text(opened):
    seen = opened(html())
    seen.page.get_by_label("Search queries").fill("tent 17 persons")

    assert ["q17"] == seen.column(1)


def test_without_scripts_all_documents_can_be_read(opened):
    with_scripts = opened(html()).page
    seen = opened(html(), java_script_enabled=False).page
    seen.get_by_text("query q7 nDCG@10").click()

    assert 0 == with_scripts.get_by_text("query q7 nDCG@10").count()
    assert seen.get_by_text("camping tent for 7 persons").nth(1).is_visible()
    assert 12 == seen.locator("details[open] tbody th").count()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents_and_texts_run_nothing(opened, text):
    first, lacking = (ShownDocument(text, 1, None),), (ShownDocument(text, None, 1.0),)
    some = report(queries={text: (0.5,) * 4, "plain": (1.0,) * 4})
    details = some_details(text, texts={text: text}, first=first, lacking=lacking)
    seen = opened(render_report_html(some, Drawings(), details)).page
    seen.locator("#queries .opener").first.click()

    assert 2 == seen.locator("#queries .below tbody th").count()
    assert seen.evaluate("window.hacked === undefined")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(opened, width, scheme):
    problem = fetch_axe.reason()
    if problem:
        pytest.skip(f"checking for accessibility needs axe-core: {problem}")
    script = fetch_axe.script().read_text(encoding="utf-8")
    seen = opened(html(), bypass_csp=True, viewport={"width": width, "height": 900}, color_scheme=scheme).page
    for at in (0, 1):
        seen.locator("#queries .opener").nth(at).click()
    seen.evaluate(OPEN_ALL)
    seen.evaluate(script)

    assert [] == seen.evaluate(RUN)
