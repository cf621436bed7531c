"""The calculators: each of their figures is what the library gives for the same lists with ids."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import example, given, settings
from msgspec.structs import replace

from assay.errors import InputError
from assay.measures import definitions
from assay.report.learning import LearnState, page_of, state_of
from assay.report.learning.page import LearnPage
from assay.report.learning.presets import PRESETS, Preset
from report.states import LEARNED, Judged, fields_in, mean, scored, with_ids

HERE = settings(max_examples=50)
START = LearnState()
CALCULATORS = ("precision", "mrr", "map", "ndcg")


def shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def lists_of(state: LearnState) -> dict[str, list[Judged]]:
    """The lists of each calculator with ids."""
    found = with_ids((1.0,) * state.hits + (0.0,) * (state.retrieved - state.hits), relevant=state.relevant)
    first = [with_ids((0.0,) * (rank - 1) + (1.0,))[0] if rank else ([], {"missed": 1.0}) for rank in state.ranks]
    totals = [*state.totals, *[0] * len(state.lists)]
    letters = [
        with_ids([float(letter == "R") for letter in each], relevant=total)[0]
        for each, total in zip(state.lists, totals, strict=False)
    ]
    graded = with_ids(state.grades, missed=state.missed)
    return dict(zip(CALCULATORS, (found, first, letters, graded), strict=True))


def test_counts_are_in_words():
    dots = page_of(LearnState(hits=1, retrieved=2, relevant=2)).dots

    assert ("1 hit", "1 false positive", "1 miss") == dots.legend
    assert "1 hit, 1 false positive, 1 miss" == dots.words
    assert "0 hits, 2 false positives, 2 misses" == page_of(LearnState(hits=0, retrieved=2, relevant=2)).dots.words


# Values


@HERE
@given(LEARNED)
@example(START)
@example(LearnState(hits=0, retrieved=0, relevant=0, ranks=(), query=(), lists=("",), totals=(), grades=()))
def test_every_value_is_that_of_the_library(state):
    page = page_of(state)

    for name, judged in lists_of(state).items():
        measures = getattr(page, name).measures
        if judged:
            assert mean(judged, measures) == measures
        else:
            assert all(map(math.isnan, measures.values()))


@pytest.mark.parametrize(
    ("lists", "totals", "sentence"),
    [
        ((), (), "Add a list."),
        (("NN",), (0,), "1 list with 0 relevant documents."),
        (("RN",), (), "1 list with 1 relevant document, all found."),
        (
            ("RN",),
            (0,),
            "1 list with 1 relevant document, all found. List 1 itself has 1 relevant result, so 1 is counted instead of 0.",
        ),
        (("RN", "NR"), (1, 1), "2 lists with 2 relevant documents, all found."),
        (("RN",), (2,), "1 list with 2 relevant documents; 1 of them was not found and adds 0."),
        (
            ("RN", "RRR"),
            (1, 2),
            "2 lists with 4 relevant documents, all found. List 2 itself has 3 relevant results, so 3 are counted instead of 2.",
        ),
    ],
)
def test_lists_of_letters_in_words(lists, totals, sentence):
    assert sentence == page_of(LearnState(lists=lists, totals=totals)).map.sentence


@HERE
@given(LEARNED)
def test_what_is_shown_is_the_value(state):
    page = page_of(state)

    for name in CALCULATORS:
        calculator = getattr(page, name)
        assert calculator.measures == {each.measure: each.value for each in calculator.figures}
        assert [shown(value) for value in calculator.measures.values()] == [each.shown for each in calculator.figures]
    assert [each.shown for _, figures in page.gains for each in figures] == [
        each.shown for each in page.ndcg.figures[:6]
    ]


@HERE
@given(LEARNED)
def test_rows_have_their_own_values(state):
    page, lists = page_of(state), lists_of(state)

    assert [scored(judged, ["RR"])["RR"] for judged in lists["mrr"]] == [row.value for row in page.rank_rows]
    assert [scored(judged, ["AP"])["AP"] for judged in lists["map"]] == [row.value for row in page.letter_rows]
    for row, judged in zip(page.letter_rows, lists["map"], strict=True):
        assert row.shown == shown(row.value)
        assert row.letters == "".join("R" if place.relevant else "N" for place in row.places)
        assert row.found == row.letters.count("R")
        assert row.total == sum(judged[1].values())
        depths = range(1, len(row.letters) + 1)
        if depths:
            precision = scored(judged, [f"P@{rank}" for rank in depths])
            assert [shown(value) for value in precision.values()] == [place.precision for place in row.places]


@HERE
@given(LEARNED)
def test_what_each_rank_adds_makes_up_dcg(state):
    page, (judged,) = page_of(state), lists_of(state)["ndcg"]

    assert [rank <= state.k for rank in range(1, len(state.grades) + 1)] == [row.counts for row in page.grade_rows]
    for place, (chart, gain) in enumerate(zip(page.ndcg.charts, ("exp", "linear"), strict=True)):
        rows = chart.spec["data"]["values"]
        for key, measure in (("part", "DCG"), ("ideal", "iDCG")):
            depths = range(1, min(state.k, len(rows)) + 1)
            totals = scored(judged, [f"{measure}(gain='{gain}')@{rank}" for rank in depths])
            parts = [row[key] for row in rows]
            sums = [sum(parts[:rank]) for rank in depths]
            assert list(totals.values()) == pytest.approx(sums, rel=1e-12)
            assert not any(parts[state.k :])
            cells = [getattr(row.parts[place], key) for row in page.grade_rows]
            assert [shown(part) for part in parts[: len(cells)]] == cells


@HERE
@given(LEARNED)
def test_dots_stand_for_hits_false_positives_and_misses(state):
    dots = page_of(state).dots
    counts = {
        "hit": state.hits,
        "false": state.retrieved - state.hits,
        "miss": state.relevant - state.hits,
    }

    assert counts == dict(dots.groups)
    assert list(counts.values()) == [int(words.split()[0]) for words in dots.legend]


def test_many_documents_share_dots():
    dots = page_of(replace(START, hits=500, retrieved=1000, relevant=600)).dots

    assert (("hit", 84), ("false", 84), ("miss", 17)) == dots.groups
    assert "500 hits, 500 false positives, 100 misses; a dot stands for up to 6 documents" == dots.words


def test_queries_may_have_no_name():
    page = page_of(replace(START, query=("one",), ranks=(1, None)))

    assert ["one", ""] == [row.name for row in page.rank_rows]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"hits": 9}, "9 relevant results, but only 8 results in all. Lower `hits=` or raise `retrieved=`."),
        (
            {"relevant": 4},
            "5 relevant results, but only 4 relevant documents in all. Lower `hits=` or raise `relevant=`.",
        ),
    ],
)
def test_more_hits_than_documents_are_refused(counts, words):
    with pytest.raises(InputError, match=re.escape(words)):
        page_of(replace(START, **counts))


# The state before


@HERE
@given(LEARNED, LEARNED)
def test_a_change_is_the_difference_to_the_state_before(state, before):
    now, then = page_of(state, before), page_of(before)
    for name in CALCULATORS:
        for new, old in zip(getattr(now, name).figures, getattr(then, name).figures, strict=True):
            change = new.value - old.value
            assert (0.0 if math.isnan(change) else change) == pytest.approx(new.change, abs=1e-12)
            assert bool(new.change) == bool(new.change_shown)


def test_a_page_that_has_none_before_shows_no_change():
    assert "" == page_of(START).announcement
    assert "" == page_of(START, START).announcement


def test_changes_are_announced():
    assert "MRR 0.4444, -0.1667; MRR@10 0.4444, -0.1667; Hit rate@10 0.6667, -0.3333" == (
        page_of(replace(START, ranks=(1, 3, None)), START).announcement
    )


# Known figures: those of the seeds, with those that they have wrong put right


def example_called(title: str) -> LearnState:
    (found,) = [each for each in PRESETS if each.title == title]
    return replace(START, **found.fields)


@pytest.mark.parametrize(
    ("title", "calculator", "measure", "value"),
    [
        ("5 of 8, 10 in all", "precision", "SetP", 0.625),
        ("5 of 8, 10 in all", "precision", "SetR", 0.5),
        ("Both 0.60", "precision", "SetF", 0.6),
        ("Precise but incomplete", "precision", "SetF", 0.18),
        ("6 of 8 in the first 100", "precision", "SetR", 0.75),
        ("Ranks 1, 3 and 2", "mrr", "RR", 0.6111),
        ("Ranks 1, 3 and 1", "mrr", "RR", 0.7778),
        ("First hit at rank 12", "mrr", "RR", 0.0833),
        ("First hit at rank 12", "mrr", "RR@10", 0.0),
        ("R N R N R, 4 relevant", "map", "AP", 0.5667),
        ("150 relevant, all at the top", "map", "AP@100", 0.6667),
        ("150 relevant, all at the top", "map", "AP(norm='cutoff')@100", 1.0),
        ("3, 2, 0, 1, 2", "ndcg", "DCG(gain='exp')@5", 10.484),
        ("3, 2, 0, 1, 2", "ndcg", "iDCG(gain='exp')@5", 10.8235),
        ("3, 2, 0, 1, 2", "ndcg", "nDCG(gain='exp')@5", 0.9686),
        ("3, 2, 0, 1, 2", "ndcg", "nDCG@5", 0.9602),
        ("Exact, substitute, complement", "ndcg", "nDCG(gain='exp')@3", 0.7272),
        ("Exact, substitute, complement", "ndcg", "nDCG@3", 0.8081),
        ("Relevant or not", "ndcg", "CG@5", 3.0),
    ],
)
def test_known_figures(title, calculator, measure, value):
    assert value == round(getattr(page_of(example_called(title)), calculator).measures[measure], 4)


def test_the_precision_of_each_prefix():
    (row,) = page_of(example_called("R R N R N")).letter_rows

    assert ["1.0000", "1.0000", "0.6667", "0.7500", "0.6000"] == [place.precision for place in row.places]


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.title)
def test_each_example_is_marked_where_it_stands_and_says_its_own_figures(preset: Preset):
    page = page_of(example_called(preset.title))
    calculator = getattr(page, preset.calculator)

    assert [preset.title] == [each.title for each in calculator.presets if each.current]
    known = _shown(page)
    assert set(re.findall(r"\d+\.\d{4}", preset.words)) <= known


def _shown(page: LearnPage) -> set[str]:
    figures = {each.shown for name in CALCULATORS for each in getattr(page, name).figures}
    return figures | {place.precision for row in page.letter_rows for place in row.places}


def test_an_example_leaves_the_other_calculators_as_they_are():
    (there,) = [
        each.address for each in page_of(replace(START, hits=1)).ndcg.presets if each.title == "Relevant or not"
    ]

    assert LearnState(hits=1, grades=(1.0, 1.0, 0.0, 1.0, 0.0)) == state_of(fields_in(there))


# Which measure when


def test_the_guide_has_every_measure_that_answers_a_question():
    answering = [
        each.name for each in definitions() if "\n    Answers:" in f"\n    {each.text}" or "Answers:" in each.text
    ]

    assert answering == [row.measure for row in page_of(START).guide]
    for row in page_of(START).guide:
        assert row.answers
        assert f"/measures/{row.measure}" == row.address


def test_each_wanted_answer_leads_to_its_calculator():
    assert {f"#{name}" for name in CALCULATORS} == {each.address for each in page_of(START).wanted}


def test_the_answers_that_were_chosen_decide_what_is_proposed():
    one = page_of(replace(START, looking="one", kind="binary", seen=3))

    assert [("looking", "one"), ("kind", "binary"), ("judged", "complete")] == [
        (each.field, each.value) for each in one.asked
    ]
    assert [each.measure for each in page_of(START).proposed] != [each.measure for each in one.proposed]
    assert "@3" in one.command
