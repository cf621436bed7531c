"""The Search Result Evaluator in a browser: whatever is changed, every value is what the library gives for documents with ids."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

import pytest

import assay
from assay.errors import AssayError
from assay.worked import measures_for
from web.browser import Tab, all_shown, shown, signed

HEADLINES = ("nDCG(gain='{gain}')@{k}", "P(rel={rel})@{k}", "R(rel={rel})@{k}", "F(rel={rel})@{k}", "AP(rel={rel})")
HEADLINES += ("RR(rel={rel})", "Success(rel={rel})@{k}", "DCG(gain='{gain}')@{k}", "ERR@{k}")


@dataclass(frozen=True)
class Evaluated:
    """What stands in the inputs."""

    grades: tuple[str, ...] = ("3", "2", "0", "1", "2")
    name: tuple[str, ...] = ("",) * 5
    other: tuple[str, ...] = ()
    other_name: tuple[str, ...] = ()
    k: str = "5"
    relevant: str = ""
    missed: str = ""
    gain: str = "linear"
    rel: str = "1"
    move: str = ""
    title: str = ""

    def inputs(self) -> dict[str, list[str]]:
        fields = {name: list(each) if isinstance(each, tuple) else [each] for name, each in asdict(self).items()}
        return {name: values for name, values in fields.items() if values}

    def query_of_address(self) -> dict[str, list[str]]:
        """The fields that are not as in the beginning, as the address has them."""
        return {name: texts for name, texts in self._texts().items() if texts != Evaluated()._texts()[name]}

    def _texts(self) -> dict[str, list[str]]:
        found = {name: [str(value)] for name, value in asdict(self).items()}
        for name in ("grades", "other"):
            found[name] = [",".join(each or "u" for each in getattr(self, name))]
        for name in ("name", "other_name"):
            found[name] = "\n".join(getattr(self, name)).rstrip("\n").split("\n")
        return {**found, "missed": [self.missed.replace(" ", "")]}

    def judged(self) -> tuple[list[list[str]], dict[str, float]]:
        """The documents of each list, and the judgments: the n-th document of a grade is the same in both lists."""
        lists, judged = [], {}
        for which, grades in enumerate([self.grades, self.other]):
            seen: Counter[str] = Counter()
            docs = []
            for grade in grades:
                seen[grade] += 1
                docs.append(f"{grade} number {seen[grade]}" if grade else f"unjudged {which} {seen[grade]}")
                judged |= {docs[-1]: float(grade)} if grade else {}
            lists.append(docs)
        judged |= {f"missed {n}": float(grade) for n, grade in enumerate(self.missed.replace(",", " ").split())}
        relevant = sum(grade >= float(self.rel) for grade in judged.values())
        extra = int(self.relevant or 0) - relevant
        return lists, judged | {f"somewhere {n}": float(self.rel) for n in range(extra)}

    def values(self, measures: list[str], which: int = 0) -> dict[str, float]:
        """The values of one of the lists; nan where the library refuses."""
        lists, judged = self.judged()
        try:
            return dict(assay.score(lists[which], judged, measures))
        except AssayError:
            return {each: value_of(lists[which], judged, each) for each in measures}

    def headlines(self) -> list[str]:
        given = {"k": self.k, "rel": self.rel, "gain": self.gain}
        return [str(assay.parse_measure(each.format(**given))) for each in HEADLINES]

    def every(self) -> list[str]:
        return [str(measure) for measure in measures_for(int(self.k), self.gain, float(self.rel))]

    def moved(self, start: int, end: int) -> Evaluated:
        return replace(self, grades=moved(self.grades, start, end), name=moved(self.name, start, end), move="")


def value_of(docs: list[str], judged: dict[str, float], measure: str) -> float:
    try:
        return assay.score(docs, judged, [measure])[measure]
    except AssayError:
        return float("nan")


def moved(items: tuple[str, ...], start: int, end: int) -> tuple[str, ...]:
    rest = [*items[: start - 1], *items[start:]]
    return (*rest[: end - 1], items[start - 1], *rest[end - 1 :])


class Evaluator:
    """The page, with what ought to stand in it."""

    def __init__(self, tab: Tab, state: Evaluated | None = None) -> None:
        self.tab, self.state = tab, state or Evaluated()
        self.agree()

    def agree(self) -> None:
        """Wait until the page shows the state: inputs, address and every value."""
        now = self.state
        expected = {
            "inputs": now.inputs(),
            "address": now.query_of_address(),
            "measures": all_shown(now.values(now.headlines())),
            "all": all_shown(now.values(now.every())),
            "refusal": "",
        }
        self.tab.soon(expected, self._there)

    def _there(self) -> dict[str, Any]:
        tab = self.tab
        values = {key: tab.figures(key) for key in ("measures", "all")}
        return {"inputs": tab.inputs(), "address": tab.query(), **values, "refusal": tab.refusal()}

    def now(self, **changed: Any) -> None:
        """What was just done ought to have changed these inputs, and every value with them, on the same page."""
        self.state = replace(self.state, **changed)
        self.agree()

        assert self.tab.stayed()

    def table(self, key: str) -> list[dict[str, str]]:
        return self.tab.table(self.tab.section(key).locator("table"))


@pytest.fixture
def evaluator(tab):
    def opened(address: str = "/evaluator", state: Evaluated | None = None, **context: Any) -> Evaluator:
        return Evaluator(tab(address, **context), state)

    return opened


def test_settings_change_every_value(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("spinbutton", "Cutoff k").fill("3")
    page.now(k="3")
    tab.by("button", "More: Cutoff k").click()
    page.now(k="4")
    tab.by("button", "Less: Cutoff k").press("Enter")
    page.now(k="3")
    tab.by("radio", "2^grade - 1").check()
    page.now(gain="exp")
    tab.page.keyboard.press("ArrowLeft")
    page.now(gain="linear")
    tab.by("spinbutton", "Relevant in the collection").fill("10")
    page.now(relevant="10")
    tab.by("button", "Less: Relevant in the collection").click()
    page.now(relevant="9")
    tab.by("spinbutton", "Relevant from grade").fill("2")
    page.now(rel="2")
    tab.by("button", "More: Relevant from grade").press(" ")
    page.now(rel="3")
    tab.by("textbox", "Grades of judged documents not listed").fill("3, 1")
    page.now(missed="3, 1")
    tab.by("spinbutton", "Relevant in the collection").fill("")
    page.now(relevant="")
    tab.by("spinbutton", "Relevant from grade").fill("0.5")
    page.now(rel="0.5")


def test_the_number_of_relevant_documents_counts_from_those_that_are_there(evaluator):
    """The empty input shows how many the list has; the button goes on from there."""
    page = evaluator()
    page.tab.by("button", "More: Relevant in the collection").click()

    page.now(relevant="5")


def test_the_number_of_relevant_documents_that_an_empty_input_shows_follows(evaluator):
    page = evaluator()
    tab = page.tab
    relevant = tab.by("spinbutton", "Relevant in the collection")
    assert "4" == relevant.get_attribute("placeholder")
    tab.by("textbox", "Grade of result 1").fill("0")
    page.now(grades=("0", "2", "0", "1", "2"))
    assert "3" == relevant.get_attribute("placeholder")

    tab.by("button", "More: Relevant in the collection").click()
    page.now(relevant="4")


@pytest.mark.parametrize("keys", [False, True])
def test_one_step_down_and_up_leads_back_to_the_lowest_relevant_grade(evaluator, keys):
    page = evaluator()
    tab = page.tab
    steps = [("ArrowDown", "Less", "0.001"), ("ArrowUp", "More", "1"), ("ArrowUp", "More", "2")]
    for key, button, rel in steps:
        if keys:
            tab.by("spinbutton", "Relevant from grade").press(key)
        else:
            tab.by("button", f"{button}: Relevant from grade").click()
        page.now(rel=rel)


def test_two_grades_in_one_card_are_refused_there(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("textbox", "Grade of result 2").fill("1,5")
    tab.soon("Only one value fits here. A decimal takes a point, such as 1.5.", tab.refusal)
    asked = len(tab.requests)
    tab.by("button", "More: Cutoff k").click()  # the values are of one form: nothing else goes on before

    assert ({}, asked, 5) == (tab.query(), len(tab.requests), tab.page.locator("[data-handle]").count())
    tab.by("textbox", "Grade of result 2").fill("1.5")
    page.now(grades=("3", "1.5", "0", "1", "2"), k="6")


def test_the_words_of_a_refusal_stand_at_the_result_where_the_reader_is(evaluator):
    grades = ("1",) * 60
    page = evaluator(f"/evaluator?grades={','.join(grades)}", Evaluated(grades=grades, name=("",) * 60))
    tab = page.tab
    tab.may_be_refused = True
    place = tab.by("textbox", "Grade of result 51")
    place.scroll_into_view_if_needed()
    place.fill("x")
    tab.soon("'x' is not a grade: use a number from -60 to 60, or u for an unjudged result.", tab.refusal)

    top, bottom, height = place.evaluate(
        "(input) => { const box = document.getElementById(input.getAttribute('aria-describedby')).getBoundingClientRect();"
        " return [box.top, box.bottom, innerHeight]; }"
    )
    assert 0 <= top <= bottom <= height
    assert ["Grade of result 51"] == tab.page.locator("[aria-invalid=true]").evaluate_all(
        "(all) => all.map((each) => each.getAttribute('aria-label'))"
    )


def test_nothing_moves_while_a_cutoff_is_typed(evaluator):
    page = evaluator()
    tab = page.tab
    tab.may_be_refused = True
    tab.page.evaluate(
        "window.shifts = 0; new PerformanceObserver((list) => { for (const each of list.getEntries()) window.shifts += each.value; })"
        ".observe({ type: 'layout-shift' })"
    )
    tab.by("spinbutton", "Cutoff k").fill("")
    tab.soon("Use a whole number from 1 to 1,000.", tab.refusal)
    heights = tab.section("list").bounding_box()["y"]
    tab.page.wait_for_timeout(600)  # what follows an input does not count as a shift before
    tab.by("spinbutton", "Cutoff k").fill("12")
    page.now(k="12")

    assert heights == tab.section("list").bounding_box()["y"]
    assert 0 == tab.page.evaluate("window.shifts")


def test_what_was_refused_is_no_step_of_the_history(evaluator):
    page = evaluator()
    tab = page.tab
    tab.may_be_refused = True
    tab.by("spinbutton", "Cutoff k").fill("")
    tab.soon("Use a whole number from 1 to 1,000.", tab.refusal)
    tab.by("spinbutton", "Cutoff k").fill("3")  # at once
    page.now(k="3")
    tab.by("heading", "Measures").click()
    tab.page.keyboard.press("u")

    page.now(k="5")


def test_grades_and_names_follow(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("textbox", "Name of result 2").fill("Loaf & crumb")
    page.now(name=("", "Loaf & crumb", "", "", ""))
    tab.by("textbox", "Query").fill("bread?")
    page.now(title="bread?")
    assert "bread?" == tab.page.title()

    tab.by("textbox", "Grade of result 3").fill("1.5")
    page.now(grades=("3", "2", "1.5", "1", "2"))
    tab.by("button", "Grade of result 1: more").click()
    page.now(grades=("4", "2", "1.5", "1", "2"))
    tab.by("button", "Result 4, grade 1").focus()
    tab.page.keyboard.press("0")
    page.now(grades=("4", "2", "1.5", "0", "2"))
    tab.page.keyboard.press("-")
    page.now(grades=("4", "2", "1.5", "", "2"))
    tab.by("button", "Remove result 1").click()
    page.now(grades=("2", "1.5", "", "2"), name=("Loaf & crumb", "", "", ""))
    tab.section("list").get_by_role("button", name="Add a result").click()
    page.now(grades=("2", "1.5", "", "2", "0"), name=("Loaf & crumb", "", "", "", ""))
    tab.by("textbox", "Grade of result 5").fill("-1")
    page.now(grades=("2", "1.5", "", "2", "-1"))
    tab.reload()
    page.agree()


def test_an_empty_list_has_values_too(evaluator):
    page = evaluator("/evaluator?grades=1", Evaluated(grades=("1",), name=("",)))
    tab = page.tab
    tab.by("button", "Remove result 1").click()
    page.now(grades=(), name=())

    assert "The list is empty: add a result, or paste a list." == tab.page.get_by_role("heading", level=1).inner_text()
    tab.reload()
    page.agree()


def test_a_list_is_typed_as_text(evaluator):
    page = evaluator()
    tab = page.tab
    tab.page.get_by_text("Type or paste a list").click()
    area = tab.page.get_by_role("textbox", name="One result per line")
    assert "3, 2, 0, 1, 2" == area.input_value()

    area.fill("2 Steam, step by step\n\nu, Forum: is it needed?\n0\n  3;Trays")
    tab.by("button", "Use this list").click()
    page.now(grades=("2", "", "0", "3"), name=("Steam, step by step", "Forum: is it needed?", "", "Trays"))
    area.fill("1 0 u,0.5;  2")
    tab.by("button", "Use this list").press("Enter")
    page.now(grades=("1", "0", "", "0.5", "2"), name=("",) * 5)
    area.fill("3,2,1\n1,0")
    tab.by("button", "Use this list").click()
    page.now(grades=("3", "2", "1", "1", "0"), name=("",) * 5)
    area.fill("3\tTwo columns\n1\tas sheets have them")
    tab.by("button", "Use this list").click()
    page.now(grades=("3", "1"), name=("Two columns", "as sheets have them"))
    area.fill("3 Only one result")
    tab.by("button", "Use this list").click()
    page.now(grades=("3",), name=("Only one result",))
    assert "3 Only one result" == area.input_value()


def test_text_that_is_no_list_is_refused_in_place(evaluator):
    page = evaluator()
    tab = page.tab
    tab.may_be_refused = True
    tab.page.get_by_text("Type or paste a list").click()
    tab.page.get_by_role("textbox", name="One result per line").fill("good\nbad")
    tab.by("button", "Use this list").click()
    words = "Result 1: 'good' is not a grade: use a number from -60 to 60, or u for an unjudged result."
    tab.soon(words, tab.refusal)
    assert (list(page.state.grades), {}) == (tab.inputs()["grades"], tab.query())  # the list is still there
    assert 0 == tab.page.locator(".stale").count()
    tab.page.get_by_role("textbox", name="One result per line").fill("1\t2\tthree")
    tab.by("button", "Use this list").click()
    tab.soon("Line 1 has more than two columns. Leave a grade and a name in each line.", tab.refusal)
    assert list(page.state.grades) == tab.inputs()["grades"]
    tab.page.get_by_role("textbox", name="One result per line").fill("1 good\n0 bad")
    tab.by("button", "Use this list").click()
    page.now(grades=("1", "0"), name=("good", "bad"))


def test_a_long_list_keeps_its_results_without_a_card(evaluator, tab):
    grades = tuple("3210u"[n % 5] for n in range(130))
    address = f"/evaluator?grades={','.join(grades)}&k=120"
    opened = tab(address)
    assert 100 == opened.page.locator("[data-handle]").count()

    opened.by("textbox", "Grade of result 1").fill("0")
    after = Evaluated(grades=("0", *(grade.replace("u", "") for grade in grades[1:])), k="120")
    opened.soon(all_shown(after.values(after.headlines())), lambda: opened.figures("measures"))
    assert [",".join(("0", *grades[1:]))] == opened.query()["grades"]


def test_a_result_is_added_at_the_end_also_of_a_list_that_is_longer_than_its_cards(evaluator):
    grades = ("1",) * 99 + ("2",)
    page = evaluator(f"/evaluator?grades={','.join(grades)}", Evaluated(grades=grades, name=("",) * 100))
    tab = page.tab
    add = tab.section("list").get_by_role("button", name="Add a result")
    add.click()
    tab.soon([",".join((*grades, "0"))], lambda: tab.query().get("grades"))
    tab.soon((0, 100), lambda: (add.count(), tab.page.locator("[data-handle]").count()))
    assert "More results follow." in tab.section("list").inner_text()

    tab.by("button", "Remove result 1").click()
    tab.soon([",".join((*grades[1:], "0"))], lambda: tab.query().get("grades"))
    tab.soon(1, add.count)
    add.click()
    tab.soon([",".join((*grades[1:], "0", "0"))], lambda: tab.query().get("grades"))


def test_a_long_second_list_keeps_its_results_without_a_card(tab):
    grades = ["3210"[n % 4] for n in range(130)]
    page = tab(f"/evaluator?grades=1,2&other={','.join(grades)}")
    page.by("spinbutton", "Cutoff k").fill("120")

    page.soon(["120"], lambda: page.query().get("k"))
    assert [",".join(grades)] == page.query()["other"]


def test_more_than_an_address_holds_is_refused_before_anything_is_replaced(evaluator):
    page = evaluator()
    tab = page.tab
    tab.page.get_by_text("Type or paste a list").click()
    name = "a name of about forty characters, or so"
    tab.page.get_by_role("textbox", name="One result per line").fill("\n".join(f"1 {name} {n}" for n in range(1000)))
    tab.by("button", "Use this list").click()

    tab.soon("This is more than an address can hold. Shorten the names, or leave out some results.", tab.refusal)
    assert (list(page.state.grades), {}) == (tab.inputs()["grades"], tab.query())


INVISIBLE = 'a\u200cb \U0001f469\u200d\U0001f4bb \u200f \u00ad c\td & "quoted" <b>\\u200c'


def test_every_character_of_a_name_stays_what_it_is(evaluator):
    address = f"/evaluator?{urlencode({'grades': '2,1', 'title': INVISIBLE, 'name': INVISIBLE})}"
    page = evaluator(address, Evaluated(grades=("2", "1"), name=(INVISIBLE, ""), title=INVISIBLE))
    tab = page.tab
    assert f"2 {INVISIBLE}\n1" == tab.page.locator("textarea").first.input_value()
    tab.by("textbox", "Grade of result 2").fill("0")
    page.now(grades=("2", "0"))
    tab.reload()
    page.agree()
    tab.by("link", "Compare with a second list").click()
    page.now(other=("2", "0"), other_name=(INVISIBLE, ""))


# Two lists


def test_two_lists_side_by_side(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("link", "Compare with a second list").click()
    page.now(other=("3", "2", "0", "1", "2"), other_name=("",) * 5)
    tab.by("textbox", "Grade of list B result 3").fill("3")
    page.now(other=("3", "2", "3", "1", "2"))
    sides_agree(page)
    tab.by("textbox", "Grade of list A result 1").fill("")
    page.now(grades=("", "2", "0", "1", "2"))
    sides_agree(page)
    tab.by("textbox", "Name of list B result 2").fill("Second")
    page.now(other_name=("", "Second", "", "", ""))
    tab.by("button", "Remove list B result 1").click()
    page.now(other=("2", "3", "1", "2"), other_name=("Second", "", "", ""))
    tab.section("other").get_by_role("button", name="Add a result").click()
    page.now(other=("2", "3", "1", "2", "0"), other_name=("Second", "", "", "", ""))
    tab.by("spinbutton", "Relevant in the collection").fill("9")
    page.now(relevant="9")
    tab.by("spinbutton", "Cutoff k").fill("2")
    page.now(k="2")
    sides_agree(page)
    tab.reload()
    page.agree()
    sides_agree(page)
    tab.by("link", "Remove list B").click()
    page.now(other=(), other_name=())


def test_links_to_a_second_list_and_back_keep_what_was_changed(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("textbox", "Grade of result 3").fill("1")
    page.now(grades=("3", "2", "1", "1", "2"))
    tab.by("spinbutton", "Cutoff k").fill("4")
    page.now(k="4")
    tab.by("link", "Compare with a second list").click()
    page.now(other=page.state.grades, other_name=("",) * 5)
    tab.by("textbox", "Name of list A result 1").fill("First")
    page.now(name=("First", "", "", "", ""))
    tab.by("link", "Remove list B").click()
    page.now(other=(), other_name=())


def test_the_focus_and_the_words_of_a_screen_reader_follow_what_becomes_another_page(evaluator):
    page = evaluator("/evaluator?grades=1,2,3", Evaluated(grades=("1", "2", "3"), name=("",) * 3))
    tab = page.tab
    tab.by("link", "Compare with a second list").press("Enter")
    page.now(other=("1", "2", "3"), other_name=("",) * 3)
    assert "List A" == tab.focused()
    assert tab.said().startswith("List B is as good as list A on nDCG@5")

    tab.by("link", "Remove list B").press("Enter")
    page.now(other=(), other_name=())
    assert "Results" == tab.focused()

    tab.page.get_by_role("link", name="Move it").first.press("Enter")
    page.now(grades=("3", "1", "2"))
    value = tab.figures("measures")["nDCG@5"]
    assert tab.said().startswith(f"nDCG {value}, +")
    assert tab.focused().startswith("Move it")

    tab.page.keyboard.press("u")
    page.now(grades=("1", "2", "3"))
    assert tab.said().startswith("nDCG ")
    tab.by("link", "Five graded results").press("Enter")
    tab.soon("Five graded results", tab.focused)
    tab.soon(True, lambda: "nDCG" in tab.said())


def test_a_second_list_is_pasted(evaluator):
    page = evaluator("/evaluator?other=1", Evaluated(other=("1",), other_name=("",)))
    tab = page.tab
    tab.section("other").get_by_text("Type or paste a list").click()
    tab.section("other").get_by_role("textbox", name="One result per line").fill("2 First\n0 Second")
    tab.by("button", "Use this list as list B").click()

    page.now(other=("2", "0"), other_name=("First", "Second"))


def sides_agree(page: Evaluator) -> None:
    """The values of the second list, and the differences, are those of the library."""
    now = page.state
    for key, names in (("measures", now.headlines()), ("all", now.every())):
        a, b = now.values(names), now.values(names, which=1)
        expected = [(shown(a[name]), shown(b[name]), signed(b[name] - a[name]) or none(a[name])) for name in names]
        assert expected == [(row["List A"], row["List B"], row["B - A"]) for row in page.table(key)] or key == "all"
        assert sorted(expected) == sorted((row["List A"], row["List B"], row["B - A"]) for row in page.table(key))


def none(value: float) -> str:
    """What is shown in place of a difference of 0."""
    return "–" if math.isnan(value) else "0"


def test_the_last_result_of_list_b_takes_the_list_with_it(evaluator):
    state = Evaluated(other=("1",), other_name=("",))
    page = evaluator("/evaluator?other=1", state)
    page.tab.by("button", "Remove list B result 1").click()
    page.now(other=(), other_name=())

    assert "Results" == page.tab.focused()
    assert 0 == page.tab.by("heading", "List B").count()
    assert page.tab.by("link", "Compare with a second list").is_visible()


def test_the_better_list_is_named_first(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("link", "Before and after").click()
    tab.by("heading", "List B").wait_for()
    headline = tab.page.get_by_role("heading", level=1).inner_text()
    grades, other = ("0", "2", "1", "3", "0"), ("3", "2", "1", "0", "0")
    state = Evaluated(grades=grades, other=other)
    a, b = (state.values(["nDCG@5"], which)["nDCG@5"] for which in (0, 1))

    assert f"List B is better than list A on nDCG@5 by {b - a:.4f}: {b:.4f} and {a:.4f}." == headline


# What a move would do


def test_the_table_of_moves_has_the_gain_of_each_move(evaluator):
    page = evaluator("/evaluator?gain=exp&missed=2", Evaluated(gain="exp", missed="2"))
    now, names = page.state, page.state.headlines()
    before = now.values(names)
    rows = page.table("moves")
    assert [f"{rank} ↑ result {rank}" for rank in range(2, 6)] == [row["Result"] for row in rows]

    gains = [now.moved(rank, rank - 1).values(names) for rank in range(2, 6)]
    gains = [{name: after[name] - before[name] for name in names} for after in gains]
    for row, gained in zip(rows, gains, strict=True):
        assert [signed(gain) or "0" for gain in gained.values()] == list(row.values())[1:]
    most = {name: max(gained[name] for gained in gains) for name in names}
    best = [[0 < gained[name] == most[name] for name in names] for gained in gains]
    bold = "(rows) => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.querySelector('strong') !== null))"
    assert best == page.tab.section("moves").locator("tbody tr").evaluate_all(bold)


def test_links_of_moves_move_and_values_follow(evaluator):
    page = evaluator("/evaluator?name=a&name=b&name=c&name=d", Evaluated(name=("a", "b", "c", "d", "")))
    tab = page.tab
    tab.by("link", "Move d from rank 4 to 3").click()
    page.state = page.state.moved(4, 3)
    page.agree()
    assert ("a", "b", "d", "c", "") == page.state.name
    tab.by("link", "Move b from rank 2 to 1").press("Enter")
    page.state = page.state.moved(2, 1)
    page.agree()
    tab.page.keyboard.press("u")
    page.state = page.state.moved(2, 1)
    page.agree()

    assert tab.stayed()


def test_the_advice_is_the_best_of_all_moves(evaluator):
    page = evaluator("/evaluator?grades=0,2,u,1,3&k=3", Evaluated(grades=("0", "2", "", "1", "3"), k="3"))
    now = page.state
    gains = {
        (start, end): now.moved(start, end).values(["nDCG@3"])["nDCG@3"] - now.values(["nDCG@3"])["nDCG@3"]
        for start in range(1, 6)
        for end in range(1, 6)
    }
    link = page.tab.page.get_by_role("link", name="Move it").first
    words = link.get_attribute("aria-label")
    assert f"to rank 1 would give nDCG@3 {signed(max(gains.values()))}" in words

    link.click()
    page.state = now.moved(5, 1)
    page.agree()
    assert max(gains, key=gains.__getitem__) == (5, 1)


def test_the_move_that_is_chosen_is_shown_for_every_measure(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("spinbutton", "Result that moves up").fill("5")
    page.now(move="5")
    assert "if result 5 moved up by one rank" in tab.section("all").inner_text()
    names = page.state.every()
    before, after = page.state.values(names), page.state.moved(5, 4).values(names)
    expected = {name: signed(after[name] - before[name]) or none(before[name]) for name in names}
    assert expected == {row["Measure"]: row["If it moves"] for row in page.table("all")}
    assert "" != expected["nDCG@5"]

    tab.by("button", "Less: Result that moves up").click()
    page.now(move="4")
    tab.by("spinbutton", "Result that moves up").fill("")
    page.now(move="")


# The rest of the page follows


def test_differences_are_to_the_state_before(evaluator):
    page = evaluator()
    tab = page.tab
    first = page.state
    tab.by("textbox", "Grade of result 1").fill("0")
    page.now(grades=("0", "2", "0", "1", "2"))
    names = first.every()
    then, now = first.values(names), page.state.values(names)
    expected = {name: signed(now[name] - then[name]) for name in names}
    tab.soon(expected, lambda: {name: text for name, text in tab.changes().items() if name in expected})
    assert any(text.startswith("+") for text in expected.values())
    assert any(text.startswith("-") for text in expected.values())
    assert expected["nDCG@5"] in tab.page.locator("[data-live=announcement]").inner_text()

    tab.by("textbox", "Name of result 1").fill("no value changes")
    page.now(name=("no value changes", "", "", "", ""))
    tab.soon({""}, lambda: set(tab.changes().values()))


def test_formulas_with_the_numbers_put_in_end_in_the_values(evaluator):
    page = evaluator(
        "/evaluator?grades=2,u,0,1&k=3&relevant=5", Evaluated(("2", "", "0", "1"), ("",) * 4, k="3", relevant="5")
    )
    tab = page.tab
    values = page.state.values(page.state.headlines())
    lines = tab.section("formulas").locator(".working").all()
    found = {line.locator("strong").first.inner_text(): line.locator("code").inner_text() for line in lines}

    assert {name: found[name].rpartition(" = ")[2] for name in found if name in values} == {
        name: shown(value) for name, value in values.items() if name in found
    }
    assert len([name for name in found if name in values]) >= 8


def test_pointing_at_a_measure_shows_the_results_that_count(evaluator):
    page = evaluator("/evaluator?k=2", Evaluated(k="2"))
    tab = page.tab
    marked = "[...document.querySelectorAll('[data-list=grades] > .counts')].map((card) => [...card.parentElement.children].indexOf(card) + 1)"
    tab.section("measures").get_by_role("row").filter(has=tab.by("link", "Precision")).hover()
    assert [1, 2] == tab.page.evaluate(marked)

    tab.section("measures").get_by_role("link", name="Reciprocal rank").focus()
    assert [1] == tab.page.evaluate(marked)

    tab.page.mouse.move(0, 0)
    tab.by("spinbutton", "Cutoff k").focus()
    assert [] == tab.page.evaluate(marked)


@pytest.mark.parametrize(
    ("name", "measure", "value"),
    [
        ("Five graded results", "nDCG(gain='exp')@5", "0.9686"),
        ("Five graded results", "DCG(gain='exp')@5", "10.4840"),
        ("R N R N R, 4 relevant", "AP", "0.5667"),
        ("Exact, substitute, complement", "nDCG@3", "0.8081"),
    ],
)
def test_examples_have_their_known_figures(evaluator, name, measure, value):
    tab = evaluator().tab
    tab.by("link", name).click()

    tab.soon(value, lambda: tab.figures("measures").get(measure))


def test_a_name_that_cannot_be_saved_is_refused_in_place_and_the_list_stays(evaluator, data):
    taken = data / "taken.run"
    taken.write_text("")
    page = evaluator()
    tab = page.tab
    tab.may_be_refused = True
    tab.by("textbox", "Grade of result 1").fill("1")
    page.now(grades=("1", "2", "0", "1", "2"))
    name = tab.by("textbox", "Save as qrels and run in the data folder")
    for text, words in (
        ("taken", "'taken.run' exists already."),
        ("my list", "a file cannot be called 'my list' here"),
    ):
        name.fill(text)
        tab.soon("", tab.refusal)
        name.press("Enter")
        tab.soon(True, lambda words=words: words in tab.refusal())

        assert tab.stayed()
        assert tab.query() == {"grades": ["1,2,0,1,2"]}
    taken.unlink()


def test_commands_and_python_follow(evaluator):
    page = evaluator()
    tab = page.tab
    tab.by("spinbutton", "Cutoff k").fill("2")
    page.now(k="2")
    tab.by("textbox", "Grade of result 1").fill("1")
    page.now(grades=("1", "2", "0", "1", "2"))
    python = tab.section("again").get_by_role("group", name="Python").inner_text()
    space: dict[str, Any] = {}
    exec(python.replace("assay.score", "found = assay.score"), space)

    assert tab.figures("measures") == all_shown(space["found"])


# Pages of measures


@dataclass(frozen=True)
class Example:
    """What stands in the example of a measure, and which measure that is."""

    grades: tuple[str, ...]
    missed: str
    measure: str

    def value(self) -> float:
        docs = [f"d{n}" for n in range(len(self.grades))]
        judged = {doc: float(grade) for doc, grade in zip(docs, self.grades, strict=True) if grade}
        judged |= {f"missed {n}": float(grade) for n, grade in enumerate(self.missed.replace(",", " ").split())}
        return assay.score(docs, judged, [self.measure])[self.measure]


@dataclass(frozen=True)
class TopicExample(Example):
    """Results by subtopic."""

    def value(self) -> float:
        lines = [f"q {t} d{n} 1" for n, topics in enumerate(self.grades) for t in topics if t != "0"]
        lines += [f"q 0 d{n} 0" for n, topics in enumerate(self.grades) if topics == "0"]
        lines += [f"q {t} m{n} 1" for n, topics in enumerate(self.missed.split(",")) for t in topics if t != "0"]
        run = [f"q Q0 d{n} {n + 1} {len(self.grades) - n} x" for n in range(len(self.grades))]
        found = assay.evaluate(assay.parse_qrels("\n".join(lines)), assay.parse_run("\n".join(run)), [self.measure])
        return found.mean()[self.measure]


def follows(tab: Tab, field: str, example: Example) -> None:
    """The page shows the example and its value, and a reload shows the same."""
    expected = ({example.measure: shown(example.value())}, list(example.grades), [example.missed], "")
    tab.soon(
        expected, lambda: (tab.figures("example"), *(tab.inputs()[each] for each in (field, "missed")), tab.refusal())
    )


def test_the_example_of_a_graded_measure(tab):
    page = tab("/measures/nDCG")
    now = Example(("", "3", "2", "0", "1", "2"), "1", "nDCG")
    follows(page, "grades", now)
    page.by("textbox", "Grade of result 1").fill("1")
    now = replace(now, grades=("1", "3", "2", "0", "1", "2"))
    follows(page, "grades", now)
    page.by("button", "Grade of result 4: more").click()
    now = replace(now, grades=("1", "3", "2", "1", "1", "2"))
    follows(page, "grades", now)
    page.by("button", "Remove result 1").press("Enter")
    now = replace(now, grades=("3", "2", "1", "1", "2"))
    follows(page, "grades", now)
    page.section("example").get_by_role("button", name="Add a result").click()
    now = replace(now, grades=("3", "2", "1", "1", "2", "0"))
    follows(page, "grades", now)
    page.by("textbox", "Grades of judged documents not in the list").fill("3, 2")
    now = replace(now, missed="3, 2")
    follows(page, "grades", now)
    page.page.get_by_role("textbox", name="cutoff:").fill("4")
    now = replace(now, measure="nDCG@4")
    follows(page, "grades", now)
    page.page.get_by_role("combobox", name="gain:").fill("exp")
    now = replace(now, measure="nDCG(gain='exp')@4")
    follows(page, "grades", now)
    page.page.get_by_role("group", name="judged_only:").get_by_role("radio", name="yes").check()
    now = replace(now, measure="nDCG(gain='exp', judged_only=True)@4")
    follows(page, "grades", now)
    assert page.stayed()

    page.reload()
    follows(page, "grades", replace(now, missed="3,2"))
    page.by("link", "All measures of this list").click()
    page.ready()
    assert {"grades": ["3,2,1,1,2,0"], "missed": ["3,2"]} == page.query()


def test_the_example_of_a_measure_with_parameters(tab):
    page = tab("/measures/RBP")
    now = Example(("", "3", "2", "0", "1", "2"), "1", "RBP")
    follows(page, "grades", now)
    page.page.get_by_role("textbox", name="p:", exact=False).first.fill("0.95")
    now = replace(now, measure="RBP(p=0.95)")
    follows(page, "grades", now)
    page.page.get_by_role("textbox", name="rel:").fill("2")
    now = replace(now, measure="RBP(p=0.95, rel=2)")
    follows(page, "grades", now)
    page.page.go_back()
    now = replace(now, measure="RBP(p=0.95)")
    follows(page, "grades", now)


def test_a_parameter_that_the_measure_does_not_take_is_refused_in_place(tab):
    page = tab("/measures/RBP")
    page.may_be_refused = True
    page.page.get_by_role("textbox", name="p:").first.fill("2")
    page.soon(True, lambda: "p" in page.refusal() and "2" in page.refusal())
    page.page.get_by_role("textbox", name="p:").first.fill("0.5")
    follows(page, "grades", Example(("", "3", "2", "0", "1", "2"), "1", "RBP(p=0.5)"))


def test_the_example_of_a_measure_by_subtopic(tab):
    page = tab("/measures/alpha_nDCG")
    now = TopicExample(("", "12", "1", "0", "2", "3"), "3", "alpha_nDCG")
    follows(page, "covers", now)
    page.by("textbox", "Subtopics of result 1").fill("23")
    now = replace(now, grades=("23", "12", "1", "0", "2", "3"))
    follows(page, "covers", now)
    page.by("button", "Result 2, subtopics 12").focus()
    page.page.keyboard.press("3")
    now = replace(now, grades=("23", "3", "1", "0", "2", "3"))
    follows(page, "covers", now)
    page.by("button", "Subtopics of result 4: less").click()  # less than none is none
    page.by("button", "Remove result 3").click()
    now = replace(now, grades=("23", "3", "0", "2", "3"))
    follows(page, "covers", now)
    page.by("textbox", "Subtopics of judged documents not in the list").fill("1,4")
    now = replace(now, missed="1,4")
    follows(page, "covers", now)
    page.page.get_by_role("textbox", name="alpha:").fill("0.9")
    now = replace(now, measure="alpha_nDCG(alpha=0.9)")
    follows(page, "covers", now)
    page.page.get_by_role("textbox", name="cutoff:").fill("2")
    now = replace(now, measure="alpha_nDCG(alpha=0.9)@2")
    follows(page, "covers", now)
    page.reload()
    follows(page, "covers", now)


def test_the_difference_of_an_example_is_to_the_state_before(tab):
    page = tab("/measures/AP")
    page.by("textbox", "Grade of result 1").fill("1")
    before, after = (Example((grade, "3", "2", "0", "1", "2"), "1", "AP").value() for grade in ("", "1"))

    page.soon({"AP": signed(after - before)}, page.changes)
    assert signed(after - before) in page.page.locator("[data-live=announcement]").inner_text()


def test_the_measures_are_searched(tab):
    page = tab("/measures")
    search = page.by("searchbox", "Search")
    rows = page.page.locator("main [data-row]:visible")
    everything = rows.count()
    search.fill("ndcg")
    found = rows.count()
    assert 0 < found < everything
    assert f"{found} of {everything}" == page.page.locator("#found").inner_text()
    assert {"search": ["ndcg"]} == page.query()

    page.reload()
    assert (found, "ndcg") == (rows.count(), search.input_value())
    search.fill("nothing like it")
    assert f"0 of {everything}" == page.page.locator("#found").inner_text()
    assert 0 == page.page.locator("section[data-group]:visible").count()
    search.fill("")
    assert (everything, "", {}) == (rows.count(), page.page.locator("#found").inner_text(), page.query())
