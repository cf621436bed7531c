"""The keys of the workbench: what they do, where they do nothing, and that they can be turned off; what a screen reader hears."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from assay.measures import definitions

PLACES = {"l": "/", "e": "/evaluator", "m": "/measures"}


def path(tab) -> str:
    return str(urlsplit(tab.page.url).path)


def test_a_question_mark_shows_the_keys(tab):
    page = tab()
    keys = page.by("dialog", "Keys")
    page.page.keyboard.press("?")
    assert keys.is_visible()
    assert 4 <= keys.locator("kbd").filter(has_text="g").count() + 1

    page.page.keyboard.press("Escape")
    assert not keys.is_visible()
    page.by("button", "Keys").click()
    assert keys.is_visible()
    page.by("button", "Close").click()
    assert not keys.is_visible()
    assert "Keys" == page.focused()


@pytest.mark.parametrize("key", PLACES)
@pytest.mark.parametrize("start", PLACES.values())
def test_g_and_a_letter_go_to_a_page(tab, start, key):
    page = tab(start)
    page.page.keyboard.press("g")
    with page.page.expect_navigation():
        page.page.keyboard.press(key)

    assert PLACES[key] == path(page)
    assert 1 == page.page.locator("nav a[aria-current=page]").count()


def test_keys_listed_for_places_are_those_that_lead_there(tab):
    page = tab()
    page.page.keyboard.press("?")
    rows = page.by("dialog", "Keys").locator("div").filter(has_text="go to")

    assert ["g l", "g e", "g m"] == [" ".join(row.locator("kbd").all_inner_texts()) for row in rows.all()]


def test_a_slash_goes_to_the_search(tab):
    page = tab("/measures")
    page.page.keyboard.press("/")
    page.page.keyboard.type("rank/bias")  # the second slash is typed

    assert "rank/bias" == page.by("searchbox", "Search").input_value()


def test_j_and_k_go_through_results(tab):
    page = tab("/evaluator")
    reached = []
    for key in "jjkjkkjjjjjjk":
        page.page.keyboard.press(key)
        reached.append(int(page.focused().split(",")[0].split()[-1]))

    assert [1, 2, 1, 2, 1, 1, 2, 3, 4, 5, 5, 5, 4] == reached
    page.page.evaluate("document.activeElement.blur()")
    page.page.keyboard.press("k")
    assert page.focused().startswith("Result 5")


def test_j_and_k_go_through_the_measures_that_were_found(tab):
    page = tab("/measures?search=ndcg")
    page.page.keyboard.press("j")
    first = page.focused()
    page.page.keyboard.press("j")
    second = page.focused()
    assert first != second
    assert {True} == {"ndcg" in page.page.evaluate("document.activeElement.closest('tr').textContent").lower()}

    page.page.keyboard.press("k")
    assert first == page.focused()
    with page.page.expect_navigation():
        page.page.keyboard.press("Enter")
    assert f"/measures/{first}" == path(page)


def test_digits_grade_where_j_went_and_u_undoes(tab):
    page = tab("/evaluator")
    for key in ("j", "j", "0"):
        page.page.keyboard.press(key)
    page.soon({"grades": ["3,0,0,1,2"]}, page.query)
    assert ("Result 2, grade 0", "Result 2, grade 0") == (page.focused(), page.said())

    page.page.keyboard.press("u")
    page.soon(({}, ["3", "2", "0", "1", "2"]), lambda: (page.query(), page.inputs()["grades"]))
    assert "Result 2, grade 2" == page.focused()


def test_keys_do_nothing_while_someone_types(tab):
    page = tab("/evaluator")
    page.by("textbox", "Grade of result 1").fill("2")
    page.soon({"grades": ["2,2,0,1,2"]}, page.query)
    title = page.by("textbox", "Query")
    title.press_sequentially("?u/jgl0-ge")

    page.soon(["?u/jgl0-ge"], lambda: page.query().get("title"))
    assert ("/evaluator", "?u/jgl0-ge", ["2,2,0,1,2"]) == (path(page), title.input_value(), page.query()["grades"])
    assert not page.by("dialog", "Keys").is_visible()
    assert page.stayed()

    page.page.get_by_text("Type or paste a list").click()
    area = page.page.get_by_role("textbox", name="One result per line")
    area.fill("")
    area.press_sequentially("u ?jk\n/")
    assert "u ?jk\n/" == area.input_value()


def test_keys_with_a_modifier_belong_to_the_browser(tab):
    page = tab("/measures")
    for key in ("Control+/", "Alt+j", "Meta+u", "Control+j"):
        page.page.keyboard.press(key)
    page.page.keyboard.press("g")
    page.page.keyboard.press("Control+e")

    assert "BODY" == page.page.evaluate("document.activeElement.tagName")
    assert "/measures" == path(page)
    assert page.stayed()


def test_other_keys_between_two_take_back_the_first(tab):
    page = tab("/evaluator")
    for key in "egxl":  # a letter alone goes nowhere
        page.page.keyboard.press(key)

    assert "/evaluator" == path(page)
    assert page.stayed()


def test_single_keys_are_turned_off_and_stay_off(tab):
    page = tab("/measures")
    page.page.keyboard.press("?")
    page.by("checkbox", "Keys without Ctrl or Alt are on").uncheck()
    page.by("button", "Close").click()

    def nothing_happens() -> None:
        page.page.evaluate("document.activeElement.blur()")
        for key in "?/jgl":
            page.page.keyboard.press(key)
        assert not page.by("dialog", "Keys").is_visible()
        assert ("/measures", "BODY") == (path(page), page.page.evaluate("document.activeElement.tagName"))

    nothing_happens()
    page.reload()
    nothing_happens()
    page.by("button", "Keys").click()
    page.by("checkbox", "Keys without Ctrl or Alt are on").check()
    page.by("button", "Close").click()
    page.page.keyboard.press("/")
    assert "Search" == page.focused()


def test_keys_that_are_off_do_not_grade_by_accident_while_moving_by_keys_still_works(tab):
    """Moving a result needs its handle in focus and is the only way without a mouse; speech that says "two" must not grade it."""
    page = tab("/evaluator")
    page.by("button", "Keys").click()
    page.by("checkbox", "Keys without Ctrl or Alt are on").uncheck()
    page.by("button", "Close").click()
    page.by("button", "Result 2, grade 2").focus()
    for key in ("0", "-", " ", "ArrowUp", " "):
        page.page.keyboard.press(key)

    page.soon({"grades": ["2,3,0,1,2"]}, page.query)


def test_changes_of_values_are_said(tab):
    """Live regions speak when their content changes, so they must stay the same elements."""
    page = tab("/evaluator")
    page.page.evaluate("window.region = document.querySelector('main [role=status]')")
    assert "" == page.page.evaluate("window.region.textContent")

    page.by("textbox", "Grade of result 1").fill("0")
    page.soon(True, lambda: page.page.evaluate("window.region.textContent.includes('nDCG ')"))
    words = page.page.evaluate("window.region.textContent")
    assert words.startswith(f"nDCG {page.figures('measures')['nDCG@5']}, -")
    assert page.page.evaluate("window.region.isConnected")


def test_a_refusal_is_an_alert(tab):
    page = tab("/evaluator")
    page.may_be_refused = True
    page.by("textbox", "Grade of result 1").fill("good")

    page.soon("'good' is not a grade: use a number from -60 to 60, or u for an unjudged result.", page.refusal)
    assert page.refusal() == page.page.get_by_role("alert").filter(has_text="good").inner_text()
    assert "Grade of result 1" == page.focused()
    page.by("textbox", "Grade of result 1").fill("1")
    page.soon("", page.refusal)


def test_the_skip_link_leads_to_the_content(tab):
    page = tab("/evaluator")
    page.page.keyboard.press("Tab")
    assert "Skip to the content" == page.focused()
    page.page.keyboard.press("Enter")
    page.page.keyboard.press("Tab")

    assert page.page.evaluate("document.querySelector('main').contains(document.activeElement)")


@pytest.mark.parametrize("address", ["/", "/evaluator?other=3,2", "/measures/nDCG"])
def test_everything_that_can_be_changed_is_reached_by_tab(tab, address):
    page = tab(address)
    wanted = page.page.evaluate(
        "new Set([...document.querySelectorAll('main button, main input:not([type=hidden]):not([type=radio]), main a[href]')]"
        ".filter((each) => each.checkVisibility())).size"
    )
    reached = (
        "const seen = (window.seen ??= new Set()); seen.add(document.activeElement); document.activeElement.tagName"
    )
    page.page.keyboard.press("Tab")
    number = 0
    while page.page.evaluate(reached) != "BODY" and number < 1000:
        page.page.keyboard.press("Tab")
        number += 1

    inside = "[...window.seen].filter((each) => each.matches('main :is(button, a[href]), main input:not([type=radio])')).length"
    assert wanted == page.page.evaluate(inside)


@pytest.mark.parametrize("address", ["/", "/evaluator", "/measures/nDCG"])
def test_what_has_the_focus_is_seen(tab, address):
    """The outline of what the keyboard has reached differs from that of the same element without it."""
    page = tab(address)
    outline = "(() => { const style = getComputedStyle(document.activeElement.matches('.choice input') ? document.activeElement.nextElementSibling : document.activeElement); return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2; })()"
    for _ in range(40):
        page.page.keyboard.press("Tab")
        if not page.page.evaluate("document.activeElement === document.body"):
            assert page.page.evaluate(outline), page.focused()


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("map@10", ["AP"]),
        ("MRR@10", ["RR"]),
        ("P_5", ["P"]),
        ("ndcg_cut.10", ["nDCG"]),
        ("hit_rate@10", ["Success"]),
        ("gm_map", ["GMAP"]),
        ("nothing@10", []),
    ],
)
def test_measures_are_found_by_any_of_their_names_with_a_cutoff(tab, search, found):
    page = tab("/measures")
    page.by("searchbox", "Search").fill(search)

    page.soon(found, page.page.locator("tr[data-row]:visible th").all_inner_texts)
    assert f"{len(found)} of {len(definitions())}" == page.page.locator("#found").inner_text()
