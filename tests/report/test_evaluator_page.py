"""The Search Result Evaluator: each figure of its page is what the library gives for the same lists with ids."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.errors import InputError
from assay.measures import definitions, parse_measure
from assay.report.evaluator import EvaluatorState, page_of, state_of
from assay.report.evaluator.page import EvaluatorPage, headline_measures
from assay.report.evaluator.presets import PRESETS
from assay.report.evaluator.state import MOST_RELEVANT
from report.states import EVALUATED, evaluated_with_ids, fields_in, scored

HERE = settings(max_examples=50)
START = EvaluatorState()  # 3, 2, 0, 1, 2
BOTH = replace(START, other=(0.0, 3.0, None), relevant=6)


def figures(page: EvaluatorPage):
    return [each.figure for each in page.headlines] + [row.figure for family in page.families for row in family.rows]


def shown(value: float) -> str:
    return f"{value:.4f}"


def signed(change: float) -> str:
    if abs(change) < 1e-12:  # G adds up the gains of all lists, so its last digit depends on others
        return "0"
    text = f"{change:+.4f}"
    return f"{text[0]}<0.0001" if text[1:] == "0.0000" else text


# Values


@HERE
@given(EVALUATED)
@example(START)
@example(BOTH)
def test_every_value_is_that_of_the_library(state):
    page = page_of(state)
    lists = evaluated_with_ids(state)

    assert {} == page.problems
    assert scored(lists[0], page.measures) == page.measures
    if state.other:
        assert scored(lists[1], page.other_measures) == pytest.approx(page.other_measures, rel=1e-12)
    else:
        assert {} == page.other_measures


def test_every_measure_of_a_single_list_is_there():
    left_out = {"NumQ"}  # always 1
    wanted = {each.name for each in definitions() if each.needs != "topics" and each.total != "geometric"} - left_out

    assert wanted == {parse_measure(name).name for name in page_of(START).measures}


@HERE
@given(EVALUATED)
@example(BOTH)
def test_what_is_shown_is_the_value(state):
    page = page_of(state)

    for each in figures(page):
        assert page.measures[each.measure] == each.value
        assert shown(each.value) == each.shown
    rows = [row for family in page.families for row in family.rows]
    assert list(page.measures) == sorted((row.figure.measure for row in rows), key=list(page.measures).index)
    for row in [*page.headlines, *rows]:
        name = row.figure.measure
        if state.other:
            assert shown(page.other_measures[name]) == row.other
            assert signed(page.other_measures[name] - page.measures[name]) == row.difference
        else:
            assert ("", "") == (row.other, row.difference)


@HERE
@given(EVALUATED)
def test_relevant_documents_are_counted(state):
    page = page_of(state)
    (ranking, grades), *_ = evaluated_with_ids(state)

    assert sum(grade >= state.rel for grade in grades.values()) == page.relevant
    assert sum(grades.get(doc, -1) >= state.rel for doc in ranking) == page.in_list


def test_fewer_relevant_documents_than_the_list_has_are_not_believed():
    page = page_of(replace(START, relevant=1))

    assert 4 == page.relevant
    assert (
        "You gave 1 relevant document, but the lists and the missed documents have 4, so 4 are counted.",
    ) == page.notes


def test_two_lists_are_judged_against_the_documents_of_both():
    a, b = (0.0, 2.0), (3.0, 2.0, 2.0)
    page = page_of(replace(START, grades=a, other=b))

    assert 3 == page.relevant  # one of grade 3, two of grade 2
    assert 1 / 3 == page.measures["R@5"]
    assert 1.0 == page.other_measures["R@5"]
    assert page.notes[-1].startswith("Both lists are judged against the same documents")


def test_documents_with_different_names_are_different():
    page = page_of(replace(START, grades=(3.0,), name=("doc1",), other=(3.0,), other_name=("doc2",)))

    assert 2 == page.relevant
    assert (0.5, 0.5) == (page.measures["R@5"], page.other_measures["R@5"])
    assert '{"doc1": 3, "doc2": 3}' in page.again.python


def test_a_document_with_two_grades_counts_as_two_and_is_named():
    both = replace(START, grades=(3.0, 0.0), name=("a", "b"), other=(3.0, 2.0), other_name=("a", "b"))

    page = page_of(both)
    assert 2 == page.relevant
    assert '"b" has different grades in the two lists, and so counts as different documents.' == page.notes[-1]
    assert '["a", "b"], ["a", "b-2"]' in page.again.python
    assert page_of(replace(both, other=(3.0, 0.0))).notes[-1].startswith("Both lists are judged")


# Known figures: 001, 003 and 004 of the seeds, with those that they have wrong put right


def preset(title: str) -> EvaluatorState:
    (found,) = [each.state for each in PRESETS if each.title == title]
    return found


@pytest.mark.parametrize(
    ("title", "gain", "measure", "value"),
    [
        ("Five graded results", "exp", "nDCG(gain='exp')@5", 0.9686),
        ("Five graded results", "linear", "nDCG@5", 0.9602),
        ("Five graded results", "exp", "DCG(gain='exp')@5", 10.4840),
        ("R N R N R, 4 relevant", "linear", "AP", 0.5667),
        ("Exact, substitute, complement", "linear", "nDCG@3", 0.8081),
        ("Exact, substitute, complement", "exp", "nDCG(gain='exp')@3", 0.7272),
    ],
)
def test_known_figures(title, gain, measure, value):
    assert value == round(page_of(replace(preset(title), gain=gain)).measures[measure], 4)


def test_each_example_is_marked_where_it_stands_and_says_its_own_figures():
    for each in PRESETS:
        page = page_of(each.state)
        assert [each.title] == [shown.title for shown in page.presets if shown.current]
        known = {value for gain in ("exp", "linear") for value in _shown(replace(each.state, gain=gain))}
        assert set(re.findall(r"\d+\.\d{4}", each.words)) <= known


def _shown(state: EvaluatorState) -> set[str]:
    return {shown(value) for value in page_of(state).measures.values()}


def test_the_precision_of_each_prefix():
    ranked = replace(START, grades=(1.0, 1.0, 0.0, 1.0, 0.0))

    assert [1.0, 1.0, 2 / 3, 0.75] == [page_of(replace(ranked, k=k)).measures[f"P@{k}"] for k in (1, 2, 3, 4)]


# The state before


@HERE
@given(EVALUATED, EVALUATED)
def test_a_change_is_the_difference_to_the_state_before(state, before):
    now, then = page_of(state, before), page_of(before)
    places = {name: place for place, name in enumerate(now.measures)}
    old = list(then.measures.values())

    for each in figures(now):
        change = each.value - old[places[each.measure]]
        assert change == pytest.approx(each.change, abs=1e-12)
        assert (signed(change) if abs(change) >= 1e-12 else "") == each.change_shown


def test_a_page_that_has_none_before_shows_no_change():
    assert {""} == {each.change_shown for each in figures(page_of(START))}
    assert "" == page_of(START).announcement


def test_changes_are_announced():
    page = page_of(START, replace(START, grades=(3.0, 2.0, 0.0, 1.0)))

    assert "nDCG 0.9602, -0.0252; Precision 0.8000, +0.2000; F1 0.8889, +0.1389" == page.announcement


# Moves


def after_move(state: EvaluatorState, start: int, end: int) -> dict[str, float]:
    """The values of the headline measures after a move, by the library."""
    (ranking, grades), *_ = evaluated_with_ids(state)
    ranking = list(ranking)
    ranking.insert(end - 1, ranking.pop(start - 1))
    return scored((ranking, grades), headline_measures(state).values())


@HERE
@given(EVALUATED)
@example(START)
def test_the_table_of_moves_says_what_each_move_gains(state):
    page = page_of(state)
    now = scored(evaluated_with_ids(state)[0], headline_measures(state).values())

    assert list(range(2, len(state.grades) + 1)) == [row.rank for row in page.moves]
    gains = [
        [value - now[name] for name, value in after_move(state, row.rank, row.rank - 1).items()] for row in page.moves
    ]
    most = [max(column) for column in zip(*gains, strict=True)]
    for row, gained in zip(page.moves, gains, strict=True):
        assert [signed(gain) for gain in gained] == list(row.cells)
        assert [gain > 0 and gain == top for gain, top in zip(gained, most, strict=True)] == list(row.best)
        assert (row.rank == page.chosen) == row.chosen


@HERE
@given(EVALUATED)
def test_the_address_of_a_move_is_the_list_after_it(state):
    for row in page_of(state).moves:
        there = state_of(fields_in(row.address))
        swapped = list(state.grades)
        swapped[row.rank - 2 : row.rank] = reversed(swapped[row.rank - 2 : row.rank])
        assert tuple(swapped) == there.grades
        assert replace(there, grades=(), name=()) == replace(state, grades=(), name=(), move=None)


def test_names_move_with_their_results():
    named = replace(START, name=("a", "b", "", "d"))

    assert ("a", "", "b", "d") == named.moved(3, 2).name
    assert ("a", "b", "d") == named.moved(4, 3).name
    assert () == START.moved(3, 2).name


@HERE
@given(EVALUATED)
@example(START)
def test_the_last_column_is_what_the_chosen_move_changes_for_every_measure(state):
    page = page_of(state)
    rows = [row for family in page.families for row in family.rows]
    if page.chosen is None:
        assert len(state.grades) < 2
        assert {""} == {row.moved for row in rows}
        return

    asked = state.move if state.move is not None and state.move <= len(state.grades) else None
    assert asked in (None, page.chosen)
    (ranking, grades), *_ = evaluated_with_ids(state)
    ranking[page.chosen - 2 : page.chosen] = reversed(ranking[page.chosen - 2 : page.chosen])
    after = scored((ranking, grades), page.measures)
    assert {name: signed(after[name] - value) for name, value in page.measures.items()} == {
        row.figure.measure: row.moved for row in rows
    }


def test_without_a_choice_it_is_the_first_move_that_gains_most():
    assert 4 == page_of(START).chosen  # 1 above 0 gains more than 2 above 1
    assert 2 == page_of(replace(START, move=2)).chosen
    assert 4 == page_of(replace(START, move=6)).chosen  # there is no sixth result


@settings(max_examples=30)
@given(EVALUATED)
@example(START)
def test_the_advice_is_the_best_move_of_all(state):
    page = page_of(state)
    named = headline_measures(state)
    now = scored(evaluated_with_ids(state)[0], named.values())
    ups = [(start, end) for start in range(2, len(state.grades) + 1) for end in range(1, start)]
    gains = {move: after_move(state, *move) for move in ups}

    told = {}
    for advice in page.advice:
        start, end = map(int, re.findall(r"^Moving result (\d+).* to rank (\d+) would", advice.words, re.DOTALL)[0])
        told[start, end] = advice
        assert state.moved(start, end).address == advice.address
        for name in ("nDCG", "Average precision", "Precision"):
            measure = named[name]
            cutoff = measure.param("cutoff")
            short = measure.name if cutoff is None else f"{measure.name}@{cutoff}"
            assert f"{short} {signed(gains[start, end][str(measure)] - now[str(measure)])}" in advice.words
    for name in ("nDCG", "Average precision"):
        key = str(named[name])
        most = max((after[key] - now[key] for after in gains.values()), default=0)
        found = [gains[move][key] - now[key] for move in told]
        assert max(most, 0) == pytest.approx(max(found, default=0), abs=1e-11)


def test_there_is_no_advice_for_the_best_order():
    assert () == page_of(replace(START, grades=(3.0, 2.0, 2.0, 1.0, 0.0))).advice


def test_in_long_lists_the_best_move_is_looked_for_at_the_top():
    late = (1.0,) * 30 + (0.0, 1.0)
    later = (1.0,) * 299 + (0.0, 1.0)

    (advice,) = page_of(replace(START, grades=late, k=40)).advice
    assert advice.words.startswith("Moving result 32 to rank 31 would give ")
    page = page_of(replace(START, grades=later, k=400))
    assert () == page.advice
    assert "The best move is looked for among the first 20 results." in page.notes


# What depends on what


@settings(max_examples=30)
@given(EVALUATED)
@example(START)
def test_results_that_count_for_a_measure_are_those_that_it_would_miss(state):
    (ranking, grades), *_ = evaluated_with_ids(state)
    measures = headline_measures(state)
    now = scored((ranking, grades), measures.values())
    without = [
        scored(([*ranking[:place], "somebody new", *ranking[place + 1 :]], grades), measures.values())
        for place in range(len(ranking))
    ]

    for headline in page_of(state).headlines:
        name = headline.figure.measure
        wanted = [rank for rank, values in enumerate(without, 1) if values[name] != now[name]]
        assert wanted == list(headline.ranks)


@settings(max_examples=30)
@given(EVALUATED.filter(lambda state: state.k < 100))
@example(START)
@example(replace(START, k=20))
def test_values_by_cutoff_are_those_at_each_cutoff(state):
    page = page_of(state)
    judged = evaluated_with_ids(state)[0]
    deepest = min(max(len(state.grades), state.k), 30)

    def at_each_cutoff(name: str) -> list[float]:
        measure = headline_measures(state)[name]
        found = scored(judged, [measure(cutoff=cutoff) for cutoff in range(1, deepest + 1)])
        return list(found.values())

    rows = page.charts[1].spec["data"]["values"]
    for name in ("nDCG", "Precision", "Recall", "F1"):
        line = [(row["cutoff"], row["value"]) for row in rows if row["measure"] == name]
        assert list(enumerate(at_each_cutoff(name), 1)) == line
    for headline in page.headlines:
        if headline.figure.name in ("Average precision", "Reciprocal rank") or deepest == 1:
            assert "" == headline.line
            continue
        values = at_each_cutoff(headline.figure.name)
        points = [tuple(map(float, point.split(","))) for point in headline.line.split()]
        top = max(1, *values)
        assert [20 - value / top * 18 for value in values] == pytest.approx([y for _, y in points], abs=0.06)
        assert all(left < right for (left, _), (right, _) in pairwise(points))
        assert (2, 82) == (points[0][0], points[-1][0])


@settings(max_examples=30)
@given(EVALUATED)
@example(BOTH)
def test_the_curve_has_the_precision_and_recall_of_each_rank(state):
    chart = page_of(state).charts[0]
    rel = f"rel={state.rel:g}"
    for name, judged in zip(("List A", "List B"), evaluated_with_ids(state), strict=False):
        ranks = range(1, len(judged[0]) + 1)
        wanted = scored(judged, ["RR", *(f"{measure}({rel})@{rank}" for rank in ranks for measure in ("R", "P"))])
        points = [row for row in chart.spec["data"]["values"] if row["list"] == name]
        assert list(ranks) == [row["rank"] for row in points]
        assert list(wanted.values())[1:] == [value for row in points for value in (row["recall"], row["precision"])]
        levels = scored(judged, [f"IPrec({rel})@{level / 10:g}" for level in range(11)])
        steps = [row["best"] for row in chart.spec["layer"][0]["data"]["values"] if row["list"] == name]
        assert list(levels.values()) == steps


# Words


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (START, "nDCG@5 is 0.9602; 4 of 5 results are relevant."),
        (
            replace(START, relevant=5),
            "nDCG@5 is 0.8991; 4 of 5 results are relevant, and 1 relevant document is missing.",
        ),
        (replace(START, grades=(1.0,)), "nDCG@5 is 1.0000; 1 of 1 result is relevant."),
        (replace(START, grades=()), "The list is empty: add a result, or paste a list."),
        (replace(START, other=START.grades), "List B is as good as list A on nDCG@5: 0.9602 and 0.9602."),
        (
            replace(START, other=(3.0, 2.0, 2.0, 1.0, 0.0)),
            "List B is better than list A on nDCG@5 by 0.0398: 1.0000 and 0.9602.",
        ),
        (
            replace(START, other=(0.0, 1.0, 2.0, 2.0, 3.0)),
            "List B is worse than list A on nDCG@5 by 0.3186: 0.6417 and 0.9602.",
        ),
    ],
)
def test_the_answer_in_words(state, words):
    assert words == page_of(state).answer


def test_hostile_names_are_shown_harmlessly():
    page = page_of(replace(START, name=("", "b\x1b[31m\n<script>" + "x" * 100)))

    assert "\x1b" not in page.moves[0].name
    assert page.moves[0].name.endswith("x" * 100)  # the table of moves shows as much as has room


def test_long_lists_have_a_card_for_the_first_hundred_and_the_rest_as_text():
    long = replace(START, grades=(1.0,) * 1000, name=("a",) * 1000)
    page = page_of(long)

    assert 100 == len(page.cards)
    assert 899 == page.settings.listed.rest.count(",")
    assert 900 == len(page.settings.listed.rest_names)
    assert 20 == len(page.moves) + 1
    assert "Only the first 100 results have a card; change the others as text." in page.notes


def test_too_many_results_are_refused():
    with pytest.raises(InputError, match=r"grades, value 1,001: use at most 1,000 grades; there are 1,001"):
        state_of({"grades": [",".join(["1"] * 1001)]})
    with pytest.raises(InputError, match=f"a whole number from 0 to {MOST_RELEVANT:,}"):
        state_of({"relevant": [str(MOST_RELEVANT + 1)]})


@given(st.sampled_from(["", "a", "a b"]))
def test_a_list_as_text(name):
    text = page_of(replace(START, grades=(3.0, None), name=(name,) if name else ())).settings.listed.as_text

    assert (f"3 {name}\nu" if name else "3, u") == text
