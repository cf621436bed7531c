"""Results are moved by mouse, by touch and by keys: the values follow, each move is said, and the focus stays where it was."""

from __future__ import annotations

from typing import Any

import pytest

import assay
from web.browser import Tab, shown

PAGES = {"/": "ndcg", "/evaluator": "list", "/measures/nDCG?grades=3,2,0,1,2&missed=": "example"}
START = ("3", "2", "0", "1", "2")


class Cards:
    """The results of a page."""

    def __init__(self, tab: Tab, section: str) -> None:
        self.tab, self.section = tab, tab.section(section)

    def handle(self, rank: int) -> Any:
        return self.section.locator("[data-handle]").nth(rank - 1)

    def middle(self, rank: int) -> tuple[float, float]:
        """Where a pointer takes a handle."""
        box = self.handle(rank).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def beyond(self, rank: int, later: bool) -> tuple[float, float]:
        """Where a pointer is past the middle of a card, coming from the start of the list, or from its end."""
        box = self.section.locator("[data-list] > [data-row]").nth(rank - 1).bounding_box()
        share = 0.9 if later else 0.1
        return box["x"] + box["width"] * share, box["y"] + box["height"] * share

    def grades(self) -> tuple[str, ...]:
        return tuple(
            self.section.locator("[data-list] [data-joined]").evaluate_all("(all) => all.map((each) => each.value)")
        )

    def agree(self, *grades: str) -> None:
        """Wait until the cards have these grades in this order, and nDCG follows."""
        docs = [f"d{n}" for n in range(len(grades))]
        judged = {doc: float(grade) for doc, grade in zip(docs, grades, strict=True)}
        value = shown(assay.score(docs, judged, ["nDCG@5"])["nDCG@5"])
        address = {} if grades == START and "measures" not in self.tab.page.url else {"grades": [",".join(grades)]}
        self.tab.soon((grades, value, address), lambda: (self.grades(), self._value(), self._address()))

    def _value(self) -> str:
        return str(
            self.tab.page.locator("main output[data-measure^=nDCG]:not([data-measure*=exp])").first.text_content()
        )

    def _address(self) -> dict[str, list[str]]:
        return {name: texts for name, texts in self.tab.query().items() if name == "grades"}


@pytest.fixture(params=PAGES)
def cards(tab, request):
    return Cards(tab(request.param), PAGES[request.param])


def drag(cards: Cards, start: int, end: int) -> None:
    """Take a handle, go past the card at another rank in steps, as hands do, and let go."""
    mouse = cards.tab.page.mouse
    mouse.move(*cards.middle(start))
    mouse.down()
    mouse.move(*cards.beyond(end, later=end > start), steps=8)
    mouse.up()


def test_results_are_dragged_by_mouse(cards):
    cards.handle(1).scroll_into_view_if_needed()
    drag(cards, 3, 1)
    cards.agree("0", "3", "2", "1", "2")
    assert "Dropped at 1" == cards.tab.said()
    assert cards.tab.focused().startswith("Result 1, grade 0")

    drag(cards, 1, 5)
    cards.agree("3", "2", "1", "2", "0")
    assert "Dropped at 5" == cards.tab.said()
    assert cards.tab.focused().startswith("Result 5, grade 0")

    drag(cards, 4, 3)
    cards.agree("3", "2", "2", "1", "0")
    assert cards.tab.stayed()
    assert 0 == cards.section.locator(".moving").count()

    for expected in (("3", "2", "1", "2", "0"), ("0", "3", "2", "1", "2"), START):
        cards.tab.page.keyboard.press("u")  # a drag is one step, however many cards it passed
        cards.agree(*expected)


def test_a_short_movement_of_the_mouse_is_no_drag(cards):
    cards.handle(2).scroll_into_view_if_needed()
    x, y = cards.middle(2)
    mouse = cards.tab.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 3, y + 2)
    mouse.up()

    cards.agree(*START)
    assert "" == cards.tab.said()


def test_a_drag_that_leaves_the_list_keeps_the_last_place(cards):
    cards.handle(1).scroll_into_view_if_needed()
    mouse = cards.tab.page.mouse
    mouse.move(*cards.middle(1))
    mouse.down()
    mouse.move(*cards.beyond(2, later=True), steps=8)
    mouse.move(2, 2, steps=3)
    mouse.up()

    cards.agree("2", "3", "0", "1", "2")
    mouse.move(*cards.beyond(5, later=True), steps=3)
    cards.agree("2", "3", "0", "1", "2")


def test_results_are_moved_by_keys(cards):
    press, tab = cards.tab.page.keyboard.press, cards.tab
    cards.handle(5).focus()
    press(" ")
    assert ("Lifted result 5 of 5. Arrow keys move it.", "true") == (
        tab.said(),
        cards.handle(5).get_attribute("aria-pressed"),
    )

    press("ArrowUp")
    cards.agree("3", "2", "0", "2", "1")
    assert ("4 of 5", "Result 4, grade 2") == (tab.said(), tab.focused())

    press("ArrowLeft")
    cards.agree("3", "2", "2", "0", "1")
    press("ArrowDown")
    cards.agree("3", "2", "0", "2", "1")
    press("ArrowRight")
    press("ArrowRight")  # there is no further place
    cards.agree("3", "2", "0", "1", "2")
    press("ArrowUp")
    press(" ")
    cards.agree("3", "2", "0", "2", "1")
    assert ("Dropped at 4", "Result 4, grade 2") == (tab.said(), tab.focused())
    assert "false" == cards.handle(4).get_attribute("aria-pressed")

    press("Enter")
    press("ArrowUp")
    press("Enter")
    cards.agree("3", "2", "2", "0", "1")
    assert tab.stayed()


def test_escape_puts_a_result_back(cards):
    press, tab = cards.tab.page.keyboard.press, cards.tab
    cards.handle(1).focus()
    press(" ")
    press("ArrowDown")
    press("ArrowDown")
    cards.agree("2", "0", "3", "1", "2")
    press("Escape")
    cards.agree(*START)

    assert ("Put back at 1", "Result 1, grade 3") == (tab.said(), tab.focused())
    assert 0 == cards.section.locator(".moving").count()


def test_what_was_put_back_is_no_step_of_the_history(cards):
    press, tab = cards.tab.page.keyboard.press, cards.tab
    tab.by("button", "Grade of result 2: more").first.click()
    changed = ("3", "3", "0", "1", "2")
    cards.agree(*changed)
    cards.handle(1).focus()
    press(" ")
    press("ArrowDown")
    press("ArrowDown")
    cards.agree("3", "0", "3", "1", "2")
    tab.page.wait_for_timeout(1100)  # longer than changes that belong together may be apart
    press("Escape")
    cards.agree(*changed)
    press("u")
    cards.agree(*START)


def test_escape_puts_back_what_a_pointer_drags(cards):
    tab, mouse = cards.tab, cards.tab.page.mouse
    cards.handle(1).scroll_into_view_if_needed()
    mouse.move(*cards.middle(1))
    mouse.down()
    mouse.move(*cards.beyond(3, later=True), steps=8)
    cards.agree("2", "0", "3", "1", "2")
    tab.page.keyboard.press("Escape")
    cards.agree(*START)
    assert "Put back at 1" == tab.said()
    mouse.move(*cards.beyond(2, later=True), steps=3)
    mouse.up()

    cards.agree(*START)
    assert ("Put back at 1", 0) == (tab.said(), cards.section.locator(".moving").count())


def test_what_moves_is_called_by_its_name(tab):
    page = tab("/evaluator?name=Loaf&name=&name=Crumb")
    press = page.page.keyboard.press
    assert [
        "Result 1, Loaf, grade 3",
        "Result 2, grade 2",
        "Result 3, Crumb, grade 0",
    ] == page.page.locator("[data-handle]").evaluate_all(
        "(all) => all.slice(0, 3).map((each) => each.getAttribute('aria-label'))"
    )
    page.by("button", "Result 1, Loaf, grade 3").press(" ")
    assert "Lifted result 1 of 5, Loaf. Arrow keys move it." == page.said()
    press("ArrowDown")
    press(" ")
    page.soon("Result 2, Loaf, grade 3", page.focused)
    page.by("textbox", "Name of result 2").fill("Roll")
    assert page.by("button", "Result 2, Roll, grade 3").is_visible()


def test_a_lifted_result_is_dropped_when_the_focus_leaves(cards):
    press, tab = cards.tab.page.keyboard.press, cards.tab
    cards.handle(1).focus()
    press(" ")
    press("ArrowDown")
    press("Tab")

    cards.agree("2", "3", "0", "1", "2")
    assert "Dropped at 2" == tab.said()
    assert "false" == cards.handle(2).get_attribute("aria-pressed")


def test_names_move_with_their_results(tab):
    page = tab("/evaluator?name=a&name=b&name=c&name=d&name=e")
    cards = Cards(page, "list")
    cards.handle(1).scroll_into_view_if_needed()
    drag(cards, 1, 3)
    cards.agree("2", "0", "3", "1", "2")
    cards.handle(5).press(" ")
    page.page.keyboard.press("ArrowUp")
    cards.agree("2", "0", "3", "2", "1")

    page.soon(["b", "c", "a", "e", "d"], lambda: page.query()["name"])
    assert ["b", "c", "a", "e", "d"] == page.inputs()["name"]


def test_each_of_two_lists_is_moved_on_its_own(tab):
    page = tab("/evaluator?other=1,2,3")
    other = page.section("other").locator("[data-handle]")
    other.nth(2).press(" ")
    page.page.keyboard.press("ArrowUp")
    page.page.keyboard.press(" ")

    page.soon({"other": ["1,3,2"]}, page.query)
    assert ("List B result 2, grade 3", "Dropped at 2") == (page.focused(), page.said())
    other.nth(0).scroll_into_view_if_needed()
    onto = page.section("list").locator("[data-row]").first.bounding_box()
    other.nth(0).hover()
    page.page.mouse.down()
    page.page.mouse.move(onto["x"] + 10, onto["y"] + 10, steps=4)
    page.page.mouse.up()

    page.soon({"other": ["1,3,2"]}, page.query)  # it does not go into the other list


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("address", ["/", "/evaluator"])
def test_results_are_dragged_by_touch(tab, address, width):
    """Touches as the browser gets them from a screen: a list that scrolls under the finger would end the drag."""
    viewport = {"width": width, "height": 800}
    page = tab(address, has_touch=True, is_mobile=True, viewport=viewport, reduced_motion="reduce")
    cards = Cards(page, PAGES[address])
    cards.section.locator("[data-list]").evaluate("(list) => list.scrollIntoView({ block: 'center' })")
    (x, y), (to_x, to_y) = cards.middle(1), cards.beyond(3, later=True)
    session = page.context.new_cdp_session(page.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    touch("touchStart", (x, y))
    for step in range(1, 9):
        touch("touchMove", (x + (to_x - x) * step / 8, y + (to_y - y) * step / 8))
    touch("touchEnd")

    cards.agree("2", "0", "3", "1", "2")
    assert "Dropped at 3" == page.said()


def test_buttons_can_be_touched(tab):
    page = tab("/evaluator", has_touch=True, is_mobile=True, viewport={"width": 360, "height": 800})
    cards = Cards(page, "list")
    page.by("button", "Grade of result 3: more").tap()
    cards.agree("3", "2", "1", "1", "2")
    page.by("link", "Move result 5 from rank 5 to 4").tap()
    cards.agree("3", "2", "1", "2", "1")
