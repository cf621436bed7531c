"""States of a page as steps that can be walked back, whatever comes in between: slow answers, links, other pages, no server."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from web.browser import Tab
from web.servers import serving


class Held:
    """Answers of the server to requests with this text in their address; they wait until they are let go."""

    def __init__(self, tab: Tab, text: str) -> None:
        self.routes: list[Any] = []
        tab.page.route(lambda url: text in url, self._hold)
        self.tab = tab

    def _hold(self, route: Any) -> None:
        self.routes.append(route)

    def wait(self, number: int = 1) -> Held:
        """Wait until the page has asked so often."""
        self.tab.soon(number, lambda: len(self.routes))
        return self

    def let_go(self) -> None:
        route = self.routes.pop(0)
        with self.tab.page.expect_response(lambda answer: answer.url == route.request.url):
            route.continue_()


def state(tab: Tab) -> tuple[str, str, str]:
    """The cutoff in the address, in the input and in the first measure."""
    address = tab.query().get("k", ["5"])[0]
    return address, tab.inputs()["k"][0], next(iter(tab.figures("measures"))).partition("@")[2]


def all_at(k: int) -> tuple[str, str, str]:
    return (str(k),) * 3


def test_a_state_that_comes_late_does_not_undo_a_step_back(tab):
    page = tab("/evaluator")
    k = page.by("spinbutton", "Cutoff k")
    k.fill("2")
    page.soon(all_at(2), lambda: state(page))
    held = Held(page, "&k=9")
    page.by("textbox", "Name of result 1").focus()  # another source: what follows is a step of its own
    k.fill("9")
    held.wait()
    page.page.go_back(wait_until="commit")
    page.soon(all_at(5), lambda: state(page))
    held.let_go()
    page.page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done)))")

    assert all_at(5) == state(page)
    page.page.go_forward(wait_until="commit")
    page.soon(all_at(2), lambda: state(page))


def test_what_is_typed_while_the_server_is_asked_comes_next(tab):
    page = tab("/evaluator")
    held = Held(page, "&k=2")
    k = page.by("spinbutton", "Cutoff k")
    k.fill("2")
    held.wait()
    for value in ("3", "4", "6"):
        k.fill(value)
    asked = len(page.requests)
    held.let_go()
    page.soon(all_at(6), lambda: state(page))

    assert ["6"] == [parse_qs(urlsplit(url).query)["k"][0] for url in page.requests[asked:]]


def test_an_example_that_comes_late_does_not_undo_what_is_typed(tab):
    page = tab("/evaluator")
    link = page.by("link", "R N R N R, 4 relevant")
    held = Held(page, link.get_attribute("href"))
    link.click()
    held.wait()
    page.by("spinbutton", "Cutoff k").fill("2")
    page.soon(all_at(2), lambda: state(page))
    held.let_go()
    page.page.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(done)))")

    assert (all_at(2), ["3", "2", "0", "1", "2"]) == (state(page), page.inputs()["grades"])


def test_a_change_right_after_a_step_back_is_a_step_of_its_own(tab):
    page = tab("/evaluator")
    more = page.by("button", "More: Cutoff k")
    more.click()
    page.soon(all_at(6), lambda: state(page))
    page.page.keyboard.press("u")
    page.soon(all_at(5), lambda: state(page))
    more.click()
    page.soon(all_at(6), lambda: state(page))
    page.page.keyboard.press("u")

    page.soon(all_at(5), lambda: state(page))


def test_a_link_to_a_part_of_the_page_changes_no_value_and_leads_the_keyboard_there(tab):
    page = tab("/?k=3")
    asked = len(page.requests)
    page.page.get_by_role("link", name="MRR").first.press("Enter")
    page.soon("#mrr", lambda: page.page.evaluate("location.hash"))
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.querySelector('#mrr').contains(document.activeElement)")
    assert asked == len(page.requests)

    page.by("button", "Rank of query 3: more").click()
    page.soon({"k": ["3"], "ranks": ["1,3,3"]}, page.query)
    page.page.go_back()
    page.soon({"k": ["3"]}, page.query)
    page.soon(["1", "3", "2"], lambda: page.inputs()["ranks"])
    assert page.stayed()


def test_back_from_another_page_shows_the_state_that_was_left(tab):
    page = tab("/evaluator")
    page.by("spinbutton", "Cutoff k").fill("2")
    page.by("radio", "2^grade - 1").check()
    page.soon({"k": ["2"], "gain": ["exp"]}, page.query)
    page.by("link", "Measures").click()
    page.ready()
    page.page.go_back()
    page.ready()
    page.soon(("2", "2", "2"), lambda: state(page))
    assert ["exp"] == page.inputs()["gain"]

    page.page.keyboard.press("u")  # the states before are still there
    page.soon({"k": ["2"]}, page.query)
    page.soon((["linear"], "2"), lambda: (page.inputs()["gain"], state(page)[2]))


def test_an_address_that_is_written_differently_shows_its_state(tab):
    page = tab("/evaluator?grades=3+2;0&k=5&name=a&name=")

    assert ["3", "2", "0"] == page.inputs()["grades"]
    page.by("spinbutton", "Cutoff k").fill("2")
    page.soon({"grades": ["3,2,0"], "k": ["2"], "name": ["a"]}, page.query)


def test_what_is_open_stays_open_over_steps(tab):
    page = tab("/evaluator")
    page.page.get_by_text("Type or paste a list").click()
    page.by("link", "R N R N R, 4 relevant").click()
    page.soon(["1", "0", "1", "0", "1"], lambda: page.inputs()["grades"])

    assert page.by("button", "Use this list").is_visible()
    assert "1, 0, 1, 0, 1" == page.page.get_by_role("textbox", name="One result per line").input_value()


def test_the_title_and_the_data_of_the_page_follow(tab):
    page = tab("/evaluator")
    page.by("textbox", "Query").fill("bread")
    page.soon("bread", page.page.title)
    twin = page.by("link", "JSON").get_attribute("href")

    assert "/evaluator.json?title=bread" == twin
    answer = page.page.evaluate("(address) => fetch(address).then((answer) => answer.json())", twin)
    assert page.figures("measures") == {name: f"{answer['measures'][name]:.4f}" for name in page.figures("measures")}


def test_a_server_that_has_ended_is_told(browser, tmp_path):
    with serving(tmp_path) as server:
        page = Tab(browser, server).open("/evaluator")
        server.end()
        page.by("spinbutton", "Cutoff k").fill("2")
        page.soon("The workbench does not answer. Is assay serve still running?", page.refusal)

        assert page.page.locator(".stale output").count()
        assert page.query() == {}
        page.trouble = [text for text in page.trouble if not re.search("ERR_CONNECTION_REFUSED", text)]
        page.close()


@pytest.mark.parametrize(
    "address", ["/evaluator?grades=x", "/?hits=9", "/measures/nDCG?p.gain=1", "/measures/XYZ", "/nothing"]
)
def test_the_page_of_an_error_says_what_is_wrong_and_leads_on(tab, address):
    page = tab("/")
    page.may_be_refused = True
    page.open(address)
    assert page.page.locator("[data-error]").inner_text()
    page.by("link", "Back to Learn").click()
    page.ready()
    assert "/" == page.page.evaluate("location.pathname")
