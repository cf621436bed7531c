"""axe-core finds nothing on any page: light and dark, wide and narrow, with everything opened."""

from __future__ import annotations

from typing import Any

import pytest

from assay.measures import definitions
from web import fetch_axe
from web.browser import Tab

RUN = """async (only) => {
  const found = await axe.run(only ?? document, { resultTypes: ["violations"] });
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary.replace(/\\s+/g, " ")}`));
}"""
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => (each.open = true))"
PAGES = {
    "learn": "/",
    "learn, other values": "/?hits=0&ranks=0,12&query=&lists=RN,-&totals=1,0&grades=u,0.5,-1,2&k=2&missed=3&looking=one",
    "evaluator": "/evaluator",
    "evaluator, named": "/evaluator?title=bread&grades=2,u,0,3&name=a&name=&name=c&relevant=9&gain=exp&rel=2&move=3",
    "evaluator, two lists": "/evaluator?other=3,u,1&other_name=x",
    "evaluator, empty": "/evaluator?grades=",
    "measures": "/measures",
    "measures, searched": "/measures?search=rank",
    "graded measure": "/measures/nDCG",
    "measure by subtopic": "/measures/alpha_nDCG",
    "error": "/evaluator?grades=good",
    "not found": "/nothing/here",
}
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "light, 360 pixels": {"viewport": {"width": 360, "height": 740}},
    "dark, 360 pixels": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def axe() -> str:
    problem = fetch_axe.reason()
    if problem:
        pytest.skip(f"checking for accessibility needs axe-core: {problem}")
    return fetch_axe.script().read_text(encoding="utf-8")


@pytest.fixture
def checked(tab, axe):
    """Opens pages for axe: its script is not the workbench's, so the policy of the page is off. Nothing moves while it looks."""

    def opened(address: str, **context: Any) -> Tab:
        page = tab("/", bypass_csp=True, reduced_motion="reduce", **context)
        page.may_be_refused = True
        page.open(address)
        page.page.evaluate(axe)
        return page

    return opened


def violations(page: Tab) -> list[str]:
    return list(page.page.evaluate(RUN))


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_pages(checked, name, look):
    page = checked(PAGES[name], **LOOKS[look])
    page.page.evaluate(OPEN_ALL)
    for plot in page.page.locator(".plot").all():  # each is drawn when it comes into view
        plot.scroll_into_view_if_needed()
        page.soon(1, plot.locator("svg").count)

    assert [] == violations(page)


def test_pages_of_all_measures(checked):
    page = checked("/measures")
    wrong = {}
    for definition in definitions():
        page.page.goto(f"/measures/{definition.name}")
        page.ready()
        page.page.evaluate(fetch_axe.script().read_text(encoding="utf-8"))
        page.page.evaluate(OPEN_ALL)
        wrong |= {definition.name: found} if (found := violations(page)) else {}

    assert {} == wrong


@pytest.mark.parametrize("look", LOOKS)
def test_the_list_of_keys(checked, look):
    page = checked("/evaluator", **LOOKS[look])
    page.by("button", "Keys").click()

    assert [] == violations(page)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_while_a_result_is_lifted_and_a_value_is_refused(checked, look):
    page = checked("/evaluator", **LOOKS[look])
    page.by("button", "Result 2, grade 2").press(" ")
    assert [] == violations(page)

    page.page.keyboard.press(" ")
    page.by("textbox", "Grade of result 1").fill("good")
    page.soon(True, lambda: page.refusal() != "")
    assert [] == violations(page)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_after_changes(checked, look):
    """Differences, good and bad, and the marks of what has changed."""
    page = checked("/evaluator?other=1,2", **LOOKS[look])
    page.by("textbox", "Grade of list A result 1").fill("0")
    page.soon(True, lambda: "nDCG" in page.page.locator("[data-live=announcement]").inner_text())
    page.section("measures").get_by_role("row").nth(2).hover()
    page.page.evaluate(OPEN_ALL)

    assert [] == violations(page)


@pytest.mark.parametrize("look", LOOKS)
def test_the_page_after_saving(checked, look, data):
    page = checked("/evaluator", **LOOKS[look])
    name = f"accessible-{abs(hash(look))}"
    page.page.get_by_label("Save as qrels and run in the data folder").fill(name)
    with page.page.expect_navigation():
        page.by("button", "Save").click()
    page.page.evaluate(fetch_axe.script().read_text(encoding="utf-8"))
    for kind in ("qrels", "run"):
        (data / f"{name}.{kind}").unlink()

    assert [] == violations(page)
