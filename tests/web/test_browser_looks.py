"""What can be read: nothing is cut or covers something else, what belongs together stands in line, and print has the answers."""

from __future__ import annotations

import pytest

CUT = """() => [...document.querySelectorAll(".grade input")]
  .filter((input) => input.scrollWidth > input.clientWidth)
  .map((input) => input.value)"""
DEPTHS = """() => [...document.querySelectorAll(".card")].map((card) => Number(getComputedStyle(card, "::before").opacity))"""
TOPS = "(elements) => [...new Set(elements.map((each) => Math.round(each.getBoundingClientRect().top * 4)))].length"
COLUMNS = """(tables) => [...new Set(tables.map((table) =>
  JSON.stringify([...table.tHead.rows[0].cells].map((cell) => Math.round(cell.getBoundingClientRect().left)))))].length"""
NAME = "Bake sourdough on a tray: no dutch oven needed, and no steam either, if you know how"


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize(
    "address", ["/evaluator?grades=", "/evaluator?other=1,0.5&grades=", "/?grades=", "/measures/nDCG?grades="]
)
def test_grades_are_shown_whole(tab, address, width):
    page = tab(f"{address}0.25,-12.5,1.75,10,-0.125,0.333", viewport={"width": width, "height": 740})
    assert [] == page.page.evaluate(CUT)

    page.page.get_by_role("textbox", name="Grade of").first.fill("-0.3001")
    assert [] == page.page.evaluate(CUT)


def test_higher_grades_are_deeper(tab):
    found = tab("/evaluator?grades=u,-1,0,1e-07,0.5,1,1.5,2,2.5,3,4,5,10,60").page.evaluate(DEPTHS)

    assert [0, 0, 0] == found[:3]
    assert found == sorted(found)
    less, one, two, three, four, more = (found[place] for place in (4, 5, 7, 9, 10, 12))
    assert less < one < two < three < four < more


@pytest.mark.parametrize("width", [1280, 360])
def test_a_long_name_covers_no_numbers(tab, width):
    page = tab(f"/evaluator?grades=1,2&name=&name={NAME}", viewport={"width": width, "height": 740})
    name = page.section("moves").locator("tbody th")

    assert NAME == name.get_attribute("title")
    assert name.evaluate(
        "(cell) => cell.scrollWidth > cell.clientWidth && getComputedStyle(cell).overflow === 'hidden'"
    )


def test_what_belongs_together_stands_in_line(tab):
    page = tab("/evaluator")
    for kind in ("label, legend", ".stepper, div, input"):
        fields = page.page.locator(f".settings > :not(:has(#in-title)) > :is({kind})")
        assert 5 == fields.count()
        assert 1 == fields.evaluate_all(TOPS)
    page.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert 1 == page.page.locator("table.every").evaluate_all(COLUMNS)

    assert 1 == tab("/").section("map").locator(".figures .value").evaluate_all(TOPS)


def test_print_has_commands_and_no_buttons(tab):
    page = tab("/evaluator")
    page.page.emulate_media(media="print")

    for name in ("Move it", "Compare with a second list", "Add a result", "Point at a measure"):
        assert page.page.get_by_text(name).count(), name
        assert not page.page.get_by_text(name).first.is_visible(), name
    assert page.page.get_by_text("Binary relevance", exact=True).is_visible()
    assert not page.page.get_by_text("Counts", exact=True).is_visible()  # folded, so it is not printed

    page.page.emulate_media(media="screen")
    page.section("charts").scroll_into_view_if_needed()
    page.soon(2, page.page.locator(".plot svg").count)


def test_print_has_what_is_folded_and_no_frames_without_a_chart(tab):
    page = tab("/")
    command = page.page.locator("#ndcg-command")
    assert not command.is_visible()
    page.page.emulate_media(media="print")

    assert command.is_visible()
    assert "assay evaluate" in command.inner_text()
    assert [False, False] == [plot.is_visible() for plot in page.page.locator(".plot").all()]
    assert page.page.get_by_text("Bars: what each rank adds.").first.is_visible()
