"""The calculators in a browser: each input, by mouse and by keys, and every value is what the library gives for what stands there."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import pytest

import assay
from assay.measures.guide import propose
from web.browser import Tab, all_shown, shown, signed


@dataclass(frozen=True)
class Learn:
    """What stands in the calculators, as in their inputs. The page opens with these examples."""

    retrieved: int = 8
    relevant: int = 10
    hits: int = 5
    query: tuple[str, ...] = ("Python error handling", "Machine learning basics", "REST API design")
    ranks: tuple[str, ...] = ("1", "3", "2")
    at: int = 10
    lists: tuple[str, ...] = ("RNRNR",)
    totals: tuple[str, ...] = ("4",)
    depth: int = 100
    grades: tuple[str, ...] = ("3", "2", "0", "1", "2")
    missed: str = ""
    k: int = 5
    looking: str = "several"
    kind: str = "graded"
    judged: str = "complete"
    seen: int = 10

    def inputs(self) -> dict[str, list[str]]:
        fields = {name: each if isinstance(each, tuple) else [each] for name, each in asdict(self).items()}
        return {name: [str(value) for value in values] for name, values in fields.items() if values}

    def query_of_address(self) -> dict[str, list[str]]:
        """The fields that are not as in the beginning, as the address has them."""
        return {name: texts for name, texts in self._texts().items() if texts != Learn()._texts()[name]}

    def _texts(self) -> dict[str, list[str]]:
        found = {name: [str(value).replace(" ", "")] for name, value in asdict(self).items()}
        for name, empty in (("ranks", "0"), ("totals", "0"), ("grades", "u"), ("lists", "-")):
            found[name] = [",".join(each or empty for each in getattr(self, name))]
        names = "\n".join(self.query).rstrip("\n")  # empty ones at the end are not in the address
        return {**found, "query": names.split("\n")}

    def precision(self) -> dict[str, float]:
        found = [f"hit {n}" for n in range(self.hits)] + [f"wrong {n}" for n in range(self.retrieved - self.hits)]
        relevant = {f"hit {n}" for n in range(self.hits)} | {f"missed {n}" for n in range(self.relevant - self.hits)}
        return assay.score(found, relevant, ["SetP", "SetR", "SetF"])

    def mrr(self) -> dict[str, float]:
        measures = ["RR", f"RR@{self.at}", f"Success@{self.at}"]
        return means([ranking(int(rank or 0)) for rank in self.ranks], [["good"]] * len(self.ranks), measures)

    def rr(self) -> list[str]:
        return [shown(assay.score(ranking(int(rank or 0)), ["good"], ["RR"])["RR"]) for rank in self.ranks]

    def letters(self) -> list[tuple[list[str], list[str]]]:
        """Of each list: the documents, and those that are relevant."""
        found = []
        for letters, total in zip(self.lists, self.totals, strict=True):
            docs = [f"{letter} {n}" for n, letter in enumerate(letters)]
            relevant = [doc for doc in docs if doc.startswith("R")]
            found.append((docs, relevant + [f"missed {n}" for n in range(int(total or 0) - len(relevant))]))
        return found

    def map(self) -> dict[str, float]:
        measures = ["AP", f"AP@{self.depth}", f"AP(norm='cutoff')@{self.depth}"]
        return means(*zip(*self.letters(), strict=True), measures) if self.lists else dict.fromkeys(measures, 0.0)

    def ap(self) -> list[str]:
        return [shown(assay.score(docs, relevant, ["AP"])["AP"]) for docs, relevant in self.letters()]

    def ndcg(self) -> dict[str, float]:
        docs = [f"d{n}" for n in range(len(self.grades))]
        judged = {doc: float(grade) for doc, grade in zip(docs, self.grades, strict=True) if grade}
        judged |= {f"missed {n}": float(grade) for n, grade in enumerate(self.missed.replace(",", " ").split())}
        names = [f"{name}(gain='{gain}')" for gain in ("exp", "linear") for name in ("DCG", "iDCG", "nDCG")]
        return assay.score(docs, judged, [str(assay.parse_measure(f"{each}@{self.k}")) for each in (*names, "CG")])

    def values(self) -> dict[str, float]:
        """All values outside of rows."""
        return {**self.precision(), **self.mrr(), **self.map(), **self.ndcg()}

    def proposed(self) -> list[str]:
        answers = {"looking": self.looking, "grades": self.kind, "judged": self.judged}
        return [each.measure for each in propose(answers, self.seen)]


def ranking(rank: int) -> list[str]:
    """A list whose result at this rank is the good one; 0: it has none."""
    return [*(f"other {n}" for n in range(1, rank)), "good"] if rank else []


def means(rankings: Any, judgments: Any, measures: list[str]) -> dict[str, float]:
    return assay.score_many(rankings, judgments, measures).mean() if rankings else dict.fromkeys(measures, 0.0)


class Calculators:
    """The page, with what ought to stand in it."""

    def __init__(self, tab: Tab, state: Learn | None = None) -> None:
        self.tab, self.state = tab, state or Learn()
        self.agree()

    def agree(self) -> None:
        """Wait until the page shows the state: inputs, address and every value."""
        now = self.state
        expected = {
            "inputs": now.inputs(),
            "address": now.query_of_address(),
            "precision": all_shown(now.precision()),
            "mrr": all_shown(now.mrr()),
            "rr": now.rr(),
            "map": all_shown(now.map()),
            "ap": now.ap(),
            "ndcg": all_shown(now.ndcg()),
            "proposed": now.proposed(),
            "refusal": "",
        }
        self.tab.soon(expected, self._there)

    def _there(self) -> dict[str, Any]:
        tab = self.tab
        proposed = tab.page.get_by_role("table", name="Measures for these answers").get_by_role("rowheader")
        return {
            "inputs": tab.inputs(),
            "address": tab.query(),
            "precision": tab.figures("precision"),
            "mrr": tab.figures("mrr"),
            "rr": tab.rows("mrr"),
            "map": tab.figures("map"),
            "ap": tab.rows("map"),
            "ndcg": tab.figures("ndcg"),
            "proposed": [text.strip() for text in proposed.all_inner_texts()],
            "refusal": tab.refusal(),
        }

    def now(self, **changed: Any) -> None:
        """What was just done ought to have changed these inputs, and every value with them, on the same page."""
        self.state = replace(self.state, **changed)
        self.agree()

        assert self.tab.stayed()


@pytest.fixture
def learn(tab):
    def opened(address: str = "/", state: Learn | None = None, **context: Any) -> Calculators:
        return Calculators(tab(address, **context), state)

    return opened


# Precision and recall


def test_precision_and_recall_follow_their_counts(learn):
    page = learn()
    tab = page.tab
    tab.may_be_refused = True  # for a moment: on the way to 40, there are 4 relevant documents, and 5 were found
    assert {"SetP": "0.6250", "SetR": "0.5000"} == {name: tab.figures("precision")[name] for name in ("SetP", "SetR")}

    tab.by("button", "More: Both retrieved and relevant").click()
    page.now(hits=6)
    tab.by("button", "Less: Retrieved").click()
    page.now(retrieved=7)
    tab.by("button", "More: Relevant").press("Enter")
    page.now(relevant=11)
    tab.by("button", "Less: Relevant").press(" ")
    page.now(relevant=10)
    tab.by("spinbutton", "Retrieved").fill("1000")
    page.now(retrieved=1000)
    tab.by("spinbutton", "Both retrieved and relevant").press("ArrowDown")
    page.now(hits=5)
    tab.by("spinbutton", "Relevant").press("ControlOrMeta+a")
    tab.page.keyboard.type("40")
    page.now(relevant=40)

    assert (
        "5 of the 1,000 results are relevant, and 35 of the 40 relevant documents were missed."
        in tab.section("precision").inner_text()
    )


def test_the_picture_has_a_dot_for_each_document(learn):
    page = learn()
    dots = page.tab.section("precision").get_by_role("img")

    assert "5 hits, 3 false positives, 5 misses" == dots.get_attribute("aria-label")
    assert [5, 3, 5] == [dots.locator(f".{kind}").count() for kind in ("hit", "false", "miss")]
    page.tab.by("button", "Less: Both retrieved and relevant").click()
    page.now(hits=4)

    assert [4, 4, 6] == [dots.locator(f".{kind}").count() for kind in ("hit", "false", "miss")]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((5, 8, 10), ["0.6250", "0.5000", "0.5556"]),
        ((3, 5, 5), ["0.6000", "0.6000", "0.6000"]),
        ((9, 10, 90), ["0.9000", "0.1000", "0.1800"]),
        ((6, 100, 8), ["0.0600", "0.7500", "0.1111"]),
        ((0, 0, 0), ["0.0000", "0.0000", "0.0000"]),
        ((0, 1, 0), ["0.0000", "0.0000", "0.0000"]),
    ],
)
def test_known_figures_of_precision_recall_and_f1(learn, counts, expected):
    page = learn()
    tab = page.tab
    hits, retrieved, relevant = counts
    tab.by("spinbutton", "Both retrieved and relevant").fill("0")
    page.now(hits=0)
    tab.by("spinbutton", "Retrieved").fill(str(retrieved))
    page.now(retrieved=retrieved)
    tab.by("spinbutton", "Relevant").fill(str(relevant))
    page.now(relevant=relevant)
    tab.by("spinbutton", "Both retrieved and relevant").fill(str(hits))
    page.now(hits=hits)

    assert expected == [tab.figures("precision")[name] for name in ("SetP", "SetR", "SetF")]


def test_counts_that_cannot_be_are_refused_in_place_and_the_values_stay(learn):
    page = learn()
    tab = page.tab
    tab.may_be_refused = True
    before = tab.figures("precision")
    tab.by("spinbutton", "Both retrieved and relevant").fill("9")
    words = "9 documents cannot be both retrieved and relevant if only 8 documents are retrieved. Lower Both, or raise Retrieved."
    tab.soon(words, tab.refusal)

    assert words == tab.section("precision").get_by_role("alert").filter(has_text="9").inner_text()
    assert before == tab.figures("precision")
    assert {} == tab.query()
    tab.by("spinbutton", "Retrieved").fill("9")
    page.now(hits=9, retrieved=9)


def test_a_count_that_cannot_be_leaves_the_other_calculators_alone(learn):
    page = learn()
    tab = page.tab
    tab.may_be_refused = True
    tab.by("spinbutton", "Retrieved").fill("2")
    words = "5 documents cannot be both retrieved and relevant if only 2 documents are retrieved. Lower Both, or raise Retrieved."
    tab.soon(words, tab.refusal)
    tab.by("button", "Rank of query 1: more").click()
    after = replace(page.state, ranks=("2", "3", "2"))
    tab.soon((all_shown(after.mrr()), after.rr()), lambda: (tab.figures("mrr"), tab.rows("mrr")))
    tab.by("button", "Grade of result 3: more").click()
    after = replace(after, grades=("3", "2", "1", "1", "2"))
    tab.soon(all_shown(after.ndcg()), lambda: tab.figures("ndcg"))

    assert words == tab.section("precision").get_by_role("alert").filter(has_text="5").inner_text()
    assert (["precision"], "2") == (stale(tab), tab.by("spinbutton", "Retrieved").input_value())
    assert all_shown(page.state.precision()) == tab.figures("precision")
    assert after.query_of_address() == tab.query()

    tab.by("spinbutton", "Retrieved").fill("6")
    page.now(retrieved=6, ranks=after.ranks, grades=after.grades)
    assert [] == stale(tab)


def stale(tab: Tab) -> list[str]:
    """The sections whose values are not those of their inputs."""
    return list(tab.page.locator(".stale").evaluate_all("(all) => all.map((each) => each.id)"))


def test_counts_stop_at_each_other(learn):
    page = learn("/?retrieved=6", Learn(retrieved=6))
    tab = page.tab
    tab.by("button", "Less: Retrieved").click()
    page.now(retrieved=5)
    tab.by("button", "Less: Retrieved").click()
    page.now()
    tab.by("button", "More: Both retrieved and relevant").click()
    page.now()
    tab.by("button", "Less: Both retrieved and relevant").click()
    page.now(hits=4)
    tab.by("button", "Less: Retrieved").click()
    page.now(retrieved=4)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("List 1: R is relevant, N is not", "RNR,NNN", "Only one value fits here."),
        ("List 1: R is relevant, N is not", "RNX", "Write R for a relevant result and N for another"),
        ("Grade of result 2", "1,5", "Only one value fits here. A decimal takes a point, such as 1.5."),
        ("Grade of result 2", "1 5 6", "Only one value fits here."),
        ("Grade of result 4", "x", "'x' is not a grade: use a number from -60 to 60, or u for an unjudged result."),
    ],
)
def test_what_is_not_one_value_is_refused_at_its_input(learn, name, text, words):
    page = learn()
    tab = page.tab
    tab.may_be_refused = True
    place = tab.by("textbox", name)
    below = "(input) => { const part = input.closest('section'); return part.querySelector('.inputs').offsetTop - part.offsetTop; }"
    before = place.evaluate(below)
    place.fill(text)
    tab.soon(True, lambda: tab.refusal().startswith(words))

    note = tab.page.locator(f"#{place.get_attribute('aria-describedby')}")
    assert ("true", tab.refusal()) == (place.get_attribute("aria-invalid"), note.inner_text())
    assert before == place.evaluate(below)  # nothing moves
    tops = "(input) => [document.getElementById(input.getAttribute('aria-describedby')), input].map((each) => each.getBoundingClientRect().top)"
    note_top, input_top = place.evaluate(tops)
    assert 0 < note_top - input_top < 80
    assert ({}, text) == (tab.query(), place.input_value())
    place.fill(page.state.lists[0] if "List" in name else page.state.grades[int(name[-1]) - 1])
    page.now()
    assert place.get_attribute("aria-invalid") is None


def test_one_query_too_many_is_refused_at_its_row(learn):
    ranks = ("1",) * 20
    page = learn(f"/?ranks={','.join(ranks)}&query=", Learn(query=("",) * 20, ranks=ranks))
    tab = page.tab
    tab.may_be_refused = True
    tab.by("button", "Add a query").click()
    tab.soon("Use at most 20 queries; there are 21.", tab.refusal)

    tab.by("button", "Remove query 21").click()
    page.now()


@pytest.mark.parametrize("text", ["", "-1", "2.5", "1e3", "1001"])
def test_what_is_no_count_is_refused_in_place(learn, text):
    page = learn()
    tab = page.tab
    tab.may_be_refused = True
    tab.by("spinbutton", "Retrieved").fill(text)
    words = f"'{text}' is not a whole number from 0 to 1,000." if text else "Use a whole number from 0 to 1,000."
    tab.soon(words, tab.refusal)
    tab.by("spinbutton", "Retrieved").fill("12")
    page.now(retrieved=12)


# MRR


def test_mrr_follows_its_rows(learn):
    page = learn()
    tab = page.tab
    assert "0.6111" == tab.figures("mrr")["RR"]

    tab.by("spinbutton", "Rank of query 3").fill("1")
    page.now(ranks=("1", "3", "1"))
    assert "0.7778" == tab.figures("mrr")["RR"]

    tab.by("button", "Rank of query 2: less").click()
    page.now(ranks=("1", "2", "1"))
    tab.by("button", "Rank of query 1: more").press("Enter")
    page.now(ranks=("2", "2", "1"))
    tab.by("spinbutton", "Rank of query 1").press("ArrowUp")
    page.now(ranks=("3", "2", "1"))
    tab.by("spinbutton", "Rank of query 2").fill("")
    page.now(ranks=("3", "", "1"))
    assert ["0.3333", "0.0000", "1.0000"] == tab.rows("mrr")
    tab.by("button", "Rank of query 2: more").click()
    page.now(ranks=("3", "1", "1"))
    tab.by("textbox", "Name of query 2").fill("What is a cat's name?")
    page.now(query=("Python error handling", "What is a cat's name?", "REST API design"))
    tab.by("spinbutton", "Cutoff k of MRR and hit rate").fill("2")
    page.now(at=2)
    tab.by("button", "More: Cutoff k of MRR and hit rate").click()
    page.now(at=3)


def test_queries_are_added_and_removed_by_mouse_and_by_keys(learn):
    page = learn()
    tab = page.tab
    tab.by("button", "Add a query").click()
    names = page.state.query
    page.now(query=(*names, ""), ranks=("1", "3", "2", "1"))
    assert ("Name of query 4", "Added query 4") == (tab.focused(), tab.said())

    tab.page.keyboard.type("Fourth")
    page.now(query=(*names, "Fourth"))
    tab.by("button", "Remove query 1").click()
    page.now(query=(*names[1:], "Fourth"), ranks=("3", "2", "1"))
    assert ("Remove query 1", "Removed query 1") == (tab.focused(), tab.said())

    tab.page.keyboard.press("Enter")
    page.now(query=(names[2], "Fourth"), ranks=("2", "1"))
    tab.by("button", "Add a query").press("Enter")
    page.now(query=(names[2], "Fourth", ""), ranks=("2", "1", "1"))
    tab.by("button", "Remove query 3").press(" ")
    page.now(query=(names[2], "Fourth"), ranks=("2", "1"))
    assert "Remove query 2" == tab.focused()

    tab.page.keyboard.press(" ")
    page.now(query=(names[2],), ranks=("2",))
    tab.page.keyboard.press(" ")
    tab.soon("Add a query", tab.focused)
    tab.soon(dict.fromkeys(("RR", "RR@10", "Success@10"), shown(math.nan)), lambda: tab.figures("mrr"))
    assert [] == tab.rows("mrr")

    tab.page.keyboard.press("Enter")
    page.now(query=("",), ranks=("1",))


def test_the_first_hit_at_rank_12_counts_for_rr_and_not_for_mrr_at_10(learn):
    page = learn()
    tab = page.tab
    tab.by("link", "First hit at rank 12").click()
    page.now(query=("Late answer",), ranks=("12",))

    assert {"RR": "0.0833", "RR@10": "0.0000", "Success@10": "0.0000"} == tab.figures("mrr")
    tab.by("spinbutton", "Cutoff k of MRR and hit rate").fill("12")
    page.now(at=12)

    assert {"RR": "0.0833", "RR@12": "0.0833", "Success@12": "1.0000"} == tab.figures("mrr")


# MAP


def test_map_follows_letters_typed_and_clicked_and_totals(learn):
    page = learn()
    tab = page.tab
    assert "0.5667" == tab.figures("map")["AP"]

    tab.by("textbox", "List 1: R is relevant, N is not").fill("RRNRN")
    page.now(lists=("RRNRN",))
    precision = "Rank {rank} is relevant; P@{rank} is {value}"
    for rank, value in enumerate(["1.0000", "1.0000", "0.6667", "0.7500"], 1):
        assert tab.by("button", precision.format(rank=rank, value=value)).is_visible()

    tab.page.get_by_role("button", name="Rank 2 is relevant").click()
    page.now(lists=("RNNRN",))
    tab.page.get_by_role("button", name="Rank 5 is relevant").press("Enter")
    page.now(lists=("RNNRR",))
    assert tab.focused().startswith("Rank 5 is relevant")

    tab.page.keyboard.press(" ")
    page.now(lists=("RNNRN",))
    tab.by("button", "Relevant documents of list 1: less").click()
    page.now(totals=("3",))
    tab.by("spinbutton", "Relevant documents of list 1, found or not").fill("10")
    page.now(totals=("10",))
    tab.by("spinbutton", "Relevant documents of list 1, found or not").press("ArrowUp")
    page.now(totals=("11",))
    tab.by("spinbutton", "Cutoff k of MAP").fill("3")
    page.now(depth=3)
    tab.by("button", "More: Cutoff k of MAP").press("Enter")
    page.now(depth=4)


def test_small_letters_are_letters(learn):
    page = learn()
    page.tab.by("textbox", "List 1: R is relevant, N is not").fill("rnr")
    page.tab.soon(["0.4167"], lambda: page.tab.rows("map"))  # (1 + 2/3) / 4

    assert {"lists": ["RNR"]} == page.tab.query()


def test_lists_are_added_and_removed_by_mouse_and_by_keys(learn):
    page = learn()
    tab = page.tab
    tab.by("button", "Add a list").click()
    page.now(lists=("RNRNR", "RN"), totals=("4", "1"))
    assert ("List 2: R is relevant, N is not", "Added list 2") == (tab.focused(), tab.said())

    tab.by("textbox", "List 2: R is relevant, N is not").fill("NNRR")
    page.now(lists=("RNRNR", "NNRR"))
    tab.section("map").locator("[data-row]").nth(1).get_by_role("button", name="Rank 1 is relevant").click()
    page.now(lists=("RNRNR", "RNRR"))
    tab.by("button", "Remove list 1").press("Enter")
    page.now(lists=("RNRR",), totals=("1",))
    assert ("Remove list 1", "Removed list 1") == (tab.focused(), tab.said())


def test_a_list_without_results_is_a_list(learn):
    page = learn()
    tab = page.tab
    tab.by("textbox", "List 1: R is relevant, N is not").fill("")
    page.now(lists=("",))
    assert "1 list with 4 relevant documents" in tab.section("map").inner_text()
    tab.reload()
    page.agree()
    tab.by("button", "Add a list").click()
    page.now(lists=("", "RN"), totals=("4", "1"))
    tab.reload()
    page.agree()


def test_without_the_last_list_there_is_no_value(learn):
    page = learn()
    tab = page.tab
    tab.by("button", "Remove list 1").click()
    tab.soon(dict.fromkeys(("AP", "AP@100", "AP(norm='cutoff')@100"), shown(math.nan)), lambda: tab.figures("map"))
    tab.soon("Add a list", tab.focused)
    sentence = tab.page.locator("[data-live=map-sentence]").inner_text()
    tab.reload()

    assert ([], sentence) == (tab.rows("map"), tab.page.locator("[data-live=map-sentence]").inner_text())


def test_150_relevant_documents_on_top_of_a_list(learn):
    page = learn()
    tab = page.tab
    tab.by("link", "150 relevant, all at the top").click()
    page.now(lists=("R" * 150,), totals=("150",))

    assert {"AP": "1.0000", "AP@100": "0.6667", "AP(norm='cutoff')@100": "1.0000"} == tab.figures("map")


# nDCG


def test_the_known_example_of_ndcg(learn):
    found = learn().tab.figures("ndcg")

    assert ["10.4840", "10.8235", "0.9686"] == [found[f"{name}(gain='exp')@5"] for name in ("DCG", "iDCG", "nDCG")]
    assert "0.9602" == found["nDCG@5"]


def test_exact_substitute_and_complement(learn):
    page = learn()
    page.tab.by("link", "Exact, substitute, complement").click()
    page.now(grades=("3", "2", "1"), missed="3", k=3)

    assert ("0.7272", "0.8081") == tuple(page.tab.figures("ndcg")[name] for name in ("nDCG(gain='exp')@3", "nDCG@3"))


def test_ndcg_follows_its_cards(learn):
    page = learn()
    tab = page.tab
    tab.by("textbox", "Grade of result 3").fill("4")
    page.now(grades=("3", "2", "4", "1", "2"))
    tab.by("textbox", "Grade of result 1").fill("0.5")
    page.now(grades=("0.5", "2", "4", "1", "2"))
    tab.by("textbox", "Grade of result 2").fill("")
    page.now(grades=("0.5", "", "4", "1", "2"))
    tab.by("textbox", "Grade of result 4").fill("-2")
    page.now(grades=("0.5", "", "4", "-2", "2"))
    tab.by("button", "Grade of result 5: less").click()
    page.now(grades=("0.5", "", "4", "-2", "1"))
    tab.by("button", "Grade of result 1: more").press("Enter")
    page.now(grades=("1.5", "", "4", "-2", "1"))
    tab.by("button", "Grade of result 2: more").click()
    page.now(grades=("1.5", "0", "4", "-2", "1"))
    tab.by("textbox", "Grades of judged documents not in the list").fill("3, 2")
    page.now(missed="3, 2")
    tab.by("spinbutton", "Cutoff k of nDCG").fill("3")
    page.now(k=3)
    tab.by("button", "Less: Cutoff k of nDCG").click()
    page.now(k=2)


def test_grades_are_set_by_keys_on_a_handle(learn):
    page = learn()
    tab = page.tab
    tab.by("button", "Result 3, grade 0").focus()
    tab.page.keyboard.press("9")
    page.now(grades=("3", "2", "9", "1", "2"))
    assert ("Result 3, grade 9", "Result 3, grade 9") == (tab.focused(), tab.said())

    tab.page.keyboard.press("-")
    page.now(grades=("3", "2", "", "1", "2"))
    assert "Result 3, grade u" == tab.said()

    tab.page.keyboard.press("ArrowUp")
    page.now(grades=("3", "2", "0", "1", "2"))
    tab.page.keyboard.press("ArrowUp")
    page.now(grades=("3", "2", "1", "1", "2"))
    assert "Result 3, grade 1" == tab.said()

    tab.page.keyboard.press("ArrowDown")
    page.now(grades=("3", "2", "0", "1", "2"))


def test_arrow_keys_in_an_input_do_what_its_buttons_do(learn):
    page = learn()
    tab = page.tab
    tab.by("textbox", "Grade of result 3").press("ArrowUp")
    page.now(grades=("3", "2", "1", "1", "2"))
    assert "Grade of result 3" == tab.focused()

    tab.page.keyboard.press("ArrowDown")
    page.now(grades=("3", "2", "0", "1", "2"))
    tab.by("spinbutton", "Cutoff k of nDCG").press("ArrowDown")
    page.now(k=4)


def test_cards_are_added_and_removed_by_mouse_and_by_keys(learn):
    page = learn()
    tab = page.tab
    tab.section("ndcg").get_by_role("button", name="Add a result").click()
    page.now(grades=("3", "2", "0", "1", "2", "0"))
    assert ("Grade of result 6", "Added result 6") == (tab.focused(), tab.said())

    tab.page.keyboard.press("3")  # replaces the 0
    page.now(grades=("3", "2", "0", "1", "2", "3"))
    tab.by("button", "Remove result 1").click()
    page.now(grades=("2", "0", "1", "2", "3"))
    assert ("Remove result 1", "Removed result 1") == (tab.focused(), tab.said())

    tab.by("button", "Remove result 5").press("Enter")
    page.now(grades=("2", "0", "1", "2"))
    assert "Remove result 4" == tab.focused()


def test_the_table_rank_by_rank_adds_up_to_dcg(learn):
    page = learn("/?grades=3,u,2,0.5&missed=3&k=3", Learn(grades=("3", "", "2", "0.5"), missed="3", k=3))
    tab = page.tab
    tab.page.get_by_text("Rank by rank").click()
    rows = tab.section("ndcg").get_by_role("group", name="What each rank adds").get_by_role("row").all()
    columns = list(zip(*(row.get_by_role("cell").all_inner_texts() for row in rows[1:]), strict=True))

    assert ("3", "unjudged", "2", "0.5") == columns[0]
    expected = [page.state.ndcg()[each] for each in ("DCG(gain='exp')@3", "iDCG(gain='exp')@3", "DCG@3", "iDCG@3")]
    assert expected == pytest.approx([sum(map(float, column)) for column in columns[1:]], abs=2e-4)


# Which measure when


def test_measures_are_proposed_for_the_answers(learn):
    page = learn()
    tab = page.tab
    seen = {tuple(page.state.proposed())}
    questions = tab.section("choose").get_by_role("group").filter(has=tab.page.get_by_role("radio")).all()
    assert 3 == len(questions)

    for field, question in zip(("looking", "kind", "judged"), questions, strict=True):
        for answer in question.get_by_role("radio").all():
            answer.check()
            page.now(**{field: answer.get_attribute("value")})
            seen.add(tuple(page.state.proposed()))
        question.get_by_role("radio").first.focus()
        tab.page.keyboard.press("ArrowRight")
        page.now(**{field: question.get_by_role("radio").nth(1).get_attribute("value")})
    tab.by("spinbutton", "How many results do people see?").fill("3")
    page.now(seen=3)

    assert len(seen) > 3
    assert any(each.endswith("@3") for each in page.state.proposed())


# Examples, addresses and history


def test_every_example_has_the_values_of_the_library(learn):
    page = learn()
    tab = page.tab
    examples = tab.page.locator("a[data-go]")
    assert examples.count() > 10

    for number in range(examples.count()):
        examples.nth(number).click()
        tab.soon("true", lambda number=number: examples.nth(number).get_attribute("aria-current"))
        page.state = as_in(tab.inputs())
        page.agree()
    assert tab.stayed()


def as_in(inputs: dict[str, list[str]]) -> Learn:
    """The state that stands in the inputs."""
    start = asdict(Learn())
    read = {tuple: tuple, int: lambda texts: int(texts[0]), str: lambda texts: texts[0]}
    return Learn(**{name: read[type(start[name])](texts) for name, texts in inputs.items()})


def test_the_address_is_the_state(learn):
    page = learn()
    tab = page.tab
    tab.by("button", "Less: Retrieved").click()
    page.now(retrieved=7)
    tab.by("textbox", "Name of query 1").fill("a & b = c? #1 %20 +")
    page.now(query=("a & b = c? #1 %20 +", *page.state.query[1:]))
    tab.by("textbox", "Grade of result 2").fill("")
    page.now(grades=("3", "", "0", "1", "2"))
    tab.by("spinbutton", "Rank of query 2").fill("")
    page.now(ranks=("1", "", "2"))
    tab.reload()
    page.agree()


def test_back_forward_and_u_walk_through_states_and_inputs_follow(learn):
    page = learn()
    tab = page.tab
    states = [page.state]
    tab.by("button", "Less: Retrieved").click()
    page.now(retrieved=7)
    states.append(page.state)
    tab.by("button", "Grade of result 1: less").click()
    page.now(grades=("2", "2", "0", "1", "2"))
    states.append(page.state)
    tab.by("button", "Remove query 2").click()
    page.now(query=(states[0].query[0], states[0].query[2]), ranks=("1", "2"))
    states.append(page.state)
    tab.page.go_back()
    page.state = states[2]
    page.agree()
    tab.page.keyboard.press("u")
    page.state = states[1]
    page.agree()
    tab.page.go_forward()
    page.state = states[2]
    page.agree()
    tab.page.keyboard.press("u")
    page.state = states[1]
    page.agree()
    tab.page.keyboard.press("u")
    page.state = states[0]
    page.agree()
    tab.page.keyboard.press("u")  # there is no state before: the page stays
    page.agree()

    assert tab.stayed()


def test_differences_are_to_the_state_before(learn):
    page = learn()
    tab = page.tab
    assert {""} == set(tab.changes().values())

    def differ(before: Learn) -> None:
        now, then = list(page.state.values().items()), list(before.values().values())
        expected = {name: signed(value - old) for (name, value), old in zip(now, then, strict=True)}
        tab.soon(expected, tab.changes)

    first = page.state
    tab.by("button", "More: Both retrieved and relevant").click()
    page.now(hits=6)
    differ(first)
    assert "+0.1250" == tab.changes()["SetP"]

    second = page.state
    tab.by("textbox", "Grade of result 1").fill("0")
    page.now(grades=("0", "2", "0", "1", "2"))
    differ(second)
    assert "" == tab.changes()["SetP"]
    assert tab.changes()["nDCG@5"].startswith("-")

    third = page.state
    tab.by("spinbutton", "Cutoff k of nDCG").fill("2")
    page.now(k=2)
    differ(third)
    tab.page.go_back()
    page.state = third
    page.agree()
    differ(replace(third, k=2))


def test_steps_in_quick_succession_are_one_change(learn):
    """Three clicks on a button within a second: one step back undoes them, and the difference is to what was before them."""
    page = learn()
    tab = page.tab
    tab.page.evaluate(
        "for (let click = 0; click < 3; click++) document.querySelector('[aria-label=\"Less: Retrieved\"]').click()"
    )
    page.now(retrieved=5)
    tab.soon("+0.3750", lambda: tab.changes()["SetP"])
    tab.page.go_back()
    page.now(retrieved=8)
