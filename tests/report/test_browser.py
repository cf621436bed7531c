"""The HTML report in an offline browser: it sorts, searches, and runs only our script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.report.comparison import render_html
from assay.report.drawing.sheets import Sheet, SheetTable, Strong, sheet_as_page
from assay.report.evaluation.charts import draw_charts
from assay.report.evaluation.page import render_report_html
from report.samples import HOSTILE, hostile_report, large_report, measure, report
from report.test_comparison_page import comparison

CHROMIUM = Path("/usr/bin/chromium")
sync_api = pytest.importorskip("playwright.sync_api", reason="opening pages needs playwright")
if not CHROMIUM.exists():
    pytest.skip(f"opening pages needs {CHROMIUM} (apt-get install chromium)", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page and its errors."""

    def __init__(self, browser: Any, folder: Path, html: str, **context: Any) -> None:
        file = folder / "page.html"
        file.write_text(html, encoding="utf-8")
        self.context = browser.new_context(**context)
        self.context.set_offline(True)
        self.trouble: list[str] = []
        self.context.route("**/*", self._answer)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.add_init_script(
            "window.violations = []; document.addEventListener("
            "'securitypolicyviolation', (event) => window.violations.push(event.violatedDirective))"
        )
        self.page.goto(file.as_uri())

    def _answer(self, route: Any) -> None:
        if route.request.url.startswith("file:") and route.request.is_navigation_request():
            route.continue_()
        else:
            self.trouble.append(f"asked for {route.request.url}")
            route.abort()

    def check(self) -> None:
        assert [] == self.trouble
        if self.page.evaluate("typeof window.violations") == "object":
            assert [] == self.page.evaluate("window.violations")

    def column(self, number: int) -> list[str]:
        """The cells of a column of the queries."""
        return self.page.locator(f"#queries tbody tr > :nth-child({number})").all_inner_texts()

    def shown(self) -> str:
        """Which queries are shown, in words."""
        return str(self.page.inner_text("#queries .shown"))

    def sort(self, name: str) -> None:
        self.page.locator("#queries").get_by_role("button", name=name, exact=True).click()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    pages: list[Opened] = []

    def open_page(some_report: Any, **context: Any) -> Opened:
        html = (
            some_report if isinstance(some_report, str) else render_report_html(some_report, draw_charts(some_report))
        )
        pages.append(Opened(browser, tmp_path, html, **context))
        return pages[-1]

    yield open_page
    for each in pages:
        each.check()
        each.context.close()


def values(some_report: Any, column: int) -> list[str]:
    return sorted(f"{row[column]:.4f}" for row in some_report.queries.values())


def test_sorting_by_any_measure_both_ways(opened):
    some = report()
    seen = opened(some)

    assert values(some, 0) == seen.column(2)
    assert "50 queries, by nDCG@10, lowest first" == seen.shown()
    seen.sort("AP")

    assert values(some, 1)[::-1] == seen.column(3)
    assert "descending" == seen.page.get_by_role("columnheader", name="AP").get_attribute("aria-sort")
    seen.page.get_by_role("button", name="AP", exact=True).press("Enter")

    assert values(some, 1) == seen.column(3)
    assert "50 queries, by AP, lowest first" == seen.shown()
    seen.sort("Query")

    assert [f"q{number}" for number in range(1, 51)] == seen.column(1)
    assert "50 queries, by Query, A to Z" == seen.shown()


def test_queries_of_one_kind(opened):
    some = report()
    seen = opened(some)
    seen.page.get_by_label("Show").select_option("at 0")

    assert {"0.0000"} == set(seen.column(2))
    seen.page.get_by_label("Show").select_option("below the mean")

    assert [value for value in values(some, 0) if float(value) < 0.3812] == seen.column(2)


def test_searching_6980_queries(opened):
    seen = opened(large_report())

    assert "1 to 50 of 6,980 queries, by nDCG@10, lowest first" == seen.shown()
    seen.page.get_by_label("Search queries").fill("Q6979")

    assert ["q6979"] == seen.column(1)
    assert "1 of 6,980 queries, by nDCG@10, lowest first" == seen.shown()
    seen.page.get_by_label("Search queries").fill("nothing like it")

    assert [] == seen.column(1)
    assert "No queries match." == seen.shown()


def test_paging(opened):
    seen = opened(large_report())
    seen.sort("Query")
    seen.page.get_by_label("Rows").select_option("100")
    seen.page.get_by_role("button", name="Next").click()

    assert ["q101", "q200"] == [seen.column(1)[0], seen.column(1)[-1]]
    seen.page.get_by_role("button", name="Last").click()

    assert ["q6901", "q6980"] == [seen.column(1)[0], seen.column(1)[-1]]
    assert seen.page.get_by_role("button", name="Next").is_disabled()
    seen.page.get_by_role("button", name="First").click()

    assert "q1" == seen.column(1)[0]
    assert seen.page.get_by_role("button", name="Previous").is_disabled()


def test_all_controls_are_reached_by_the_keyboard(opened):
    seen = opened(large_report(120))
    seen.page.get_by_label("Search queries").focus()
    reached = []
    for _ in range(11):
        reached.append(
            seen.page.evaluate(
                "(({ labels, innerText }) => labels?.[0]?.innerText ?? innerText)(document.activeElement)"
            )
        )
        seen.page.keyboard.press("Tab")

    assert ["Search queries", "Show", "Rows"] == [words.split("\n")[0].strip() for words in reached[:3]]
    assert ["Query", "nDCG@10", "AP", "RR@10", "R@100", "Next", "Last"] == reached[4:]


def test_numbers_are_those_of_python(opened):
    """JavaScript rounds an exact half up, Python to the even digit."""
    numbers = [at / 32 for at in range(33)] + [1 / 3, 2 / 3, 0.00005, 0.99995]
    some = report(queries={f"q{at}": (value,) for at, value in enumerate(numbers)}, measures=(measure("AP", 0.5),))

    assert values(some, 0) == opened(some).column(2)


def test_undefined_values_stand_last_both_ways(opened):
    some = report(queries={"a": (None,), "b": (0.5,), "c": (0.25,)}, measures=(measure("AP", 0.375),))
    seen = opened(some)

    assert ["c", "b", "a"] == seen.column(1)
    seen.sort("AP")

    assert ["b", "c", "a"] == seen.column(1)


def test_no_queries_and_no_measures(opened):
    assert [] == opened(report(queries={}, measures=(measure("AP", None),))).column(1)
    assert [] == opened(report(queries={}, measures=())).column(1)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_do_nothing(opened, text):
    seen = opened(hostile_report(text))
    seen.sort("Query")
    seen.page.locator("#queries thead button").nth(1).click()

    assert 3 == len(seen.column(1))
    assert seen.page.evaluate("window.hacked === undefined")
    assert 1 == seen.page.locator("script").count()
    assert 0 == seen.page.locator("img").count()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("text", ["long", "pipes"])
def test_the_page_fits_the_screen(opened, tmp_path, scheme, width, text):
    seen = opened(hostile_report(HOSTILE[text]), viewport={"width": width, "height": 900}, color_scheme=scheme)

    assert width == seen.page.evaluate("document.documentElement.scrollWidth")
    seen.page.screenshot(path=tmp_path / "page.png", full_page=True)


def test_dark_paper_has_light_ink(opened):
    seen = opened(report(), color_scheme="dark")
    ink = "getComputedStyle(document.querySelector('.chart text')).fill"

    assert "rgb(162, 173, 187)" == seen.page.evaluate(ink)
    seen.page.emulate_media(media="print")

    assert "rgb(86, 96, 112)" == seen.page.evaluate(ink)


def test_without_javascript_everything_but_the_controls_is_there(opened):
    seen = opened(large_report(), java_script_enabled=False)

    assert 6980 == seen.page.locator("#queries tbody tr").count()
    assert 0 == seen.page.locator("button, input, select").count()
    assert 5 == seen.page.locator(".chart svg").count()


def test_a_comparison_opens_without_a_network_and_its_details_open(opened):
    script = HOSTILE["script"]
    page = opened(render_html(comparison(script, "q", script, script))).page
    charts = page.locator(".chart svg")

    assert 4 == charts.count()
    assert all(charts.nth(at).bounding_box()["width"] > 300 for at in range(4))
    page.locator("details summary").first.click()
    assert page.locator("details[open] td").first.is_visible()
    assert page.screenshot(full_page=True).startswith(b"\x89PNG")


def test_a_comparison_fits_a_telephone(opened):
    page = opened(render_html(comparison()), viewport={"width": 390, "height": 844}).page

    assert 390 >= page.evaluate("document.documentElement.scrollWidth")


def test_a_comparison_on_paper_shows_the_queries_that_moved_and_cuts_no_table(opened):
    page = opened(render_html(comparison()), viewport={"width": 794, "height": 1123}).page
    page.emulate_media(media="print")

    assert page.locator("#moves summary").first.is_visible()
    assert [] == page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((part) => part.scrollWidth > part.clientWidth).map((p) => p.id)"
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_page_of_tables_runs_nothing(opened, text):
    table = SheetTable((text, "value"), ((text, Strong(text)),), title=text, note=text)
    found = opened(sheet_as_page(Sheet("Evaluation", text, (table,), remarks=(text,), notes=(text,))))

    assert 1 == found.page.locator("tbody tr").count()
    assert None is found.page.evaluate("window.hacked ?? null")
