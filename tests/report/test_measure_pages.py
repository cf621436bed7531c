"""The page of each measure: its figures are what the library gives for the same example with ids."""

from __future__ import annotations

import math
import re
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.errors import AssayError, MeasureError
from assay.measures import Measure, definition_of, definitions
from assay.measures.explain import EXAMPLE_SETTING, example_in_words, page
from assay.report.evaluator import state_of as evaluator_state_of
from assay.report.interactive.fields import FieldError
from assay.report.measures.page import MeasurePage, list_page, page_of
from assay.report.measures.state import state_of
from laws.registry import EVERY
from report.states import MISSED, RESULTS, Judged, fields_in, scored, with_ids

NAMES = [each.name for each in definitions()]
BY_TOPIC = [each.name for each in definitions() if each.needs == "topics"]
SINGLE = [name for name in NAMES if name not in BY_TOPIC]
STEPS = settings(max_examples=15)


def opened(name: str, before: dict[str, str] | None = None, **fields: str) -> MeasurePage:
    """The page of a measure with these fields; `p_rel` is p.rel."""

    def state(given: dict[str, str]):
        return state_of(definition, {key.replace("p_", "p.", 1): [text] for key, text in given.items()})

    definition = definition_of(name)
    return page_of(definition, state(fields), None if before is None else state(before))


def graded(grades, missed=()) -> dict[str, str]:
    return {
        "grades": ",".join("u" if grade is None else repr(float(grade)) for grade in grades),
        "missed": ",".join(repr(float(grade)) for grade in missed),
    }


def parameters(measure: Measure) -> dict[str, str]:
    """The parameters of a measure as its page takes them."""
    given = {name: measure.param(name) for name in measure.definition.takes}
    return {f"p_{name}": "" if value is None else str(value) for name, value in given.items()}


# Values


@pytest.mark.parametrize("name", SINGLE)
def test_the_page_opens_with_the_example_of_the_docs(name):
    found = opened(name)
    definition = definition_of(name)

    judged = with_ids((None, 3, 2, 0, 1, 2), missed=(1,))[0]
    assert scored(judged, found.measures) == found.measures
    ((measure, value),) = found.measures.items()
    assert (measure, value, f"{value:.4f}") == (found.figure.measure, found.figure.value, found.figure.shown)
    if "cutoff" not in definition.required:  # the docs set it to 4, and so does the page
        assert page(definition).example_value == (measure, pytest.approx(value))
    assert page(definition) == found.explained


@pytest.mark.parametrize("name", SINGLE)
@STEPS
@given(grades=RESULTS, missed=MISSED)
def test_so_it_is_for_any_list(name, grades, missed):
    try:
        wanted = scored(with_ids(grades, missed=missed)[0], [_example(name)])
    except AssayError as error:
        with pytest.raises(MeasureError, match=re.escape(str(error))):
            opened(name, **graded(grades, missed))
        return

    assert wanted == pytest.approx(opened(name, **graded(grades, missed)).measures, nan_ok=True, rel=1e-15)


def _example(name: str) -> Measure:
    definition = definition_of(name)
    return Measure(name)(**{each: EXAMPLE_SETTING[each] for each in definition.required})


@pytest.mark.parametrize("measure", EVERY, ids=str)
def test_each_parameter_of_each_measure_can_be_set(measure, tmp_path):
    fields = parameters(measure)
    found = opened(measure.name, **fields)

    assert [str(measure)] == list(found.measures)
    for each in found.parameters:
        assert fields[f"p_{each.name}"] == each.text
        assert measure.definition.parameter(each.name).meaning == each.meaning
    if found.by_topics:
        assert by_files(found, tmp_path) == found.measures
    else:
        assert scored(with_ids((None, 3, 2, 0, 1, 2), missed=(1,))[0], [measure]) == found.measures


def by_files(found: MeasurePage, folder: Path) -> dict[str, float]:
    """What the library gives for the example by subtopic: 1 and 2 are the subtopics of the second result, and so on."""
    lines = ["q 1 r2 1", "q 2 r2 1", "q 1 r3 1", "q 0 r4 0", "q 2 r5 1", "q 3 r6 1", "q 3 missed 1"]
    (folder / "qrels").write_text("\n".join(lines) + "\n")
    (folder / "run").write_text("".join(f"q Q0 r{rank} {rank} {-rank} x\n" for rank in range(1, 7)))
    return dict(assay.evaluate(folder / "qrels", folder / "run", list(found.measures)).mean())


@pytest.mark.parametrize("name", BY_TOPIC)
def test_results_may_cover_subtopics(name, tmp_path):
    assert by_files(opened(name), tmp_path) == opened(name).measures
    assert ["", "12", "1", "0", "2", "3"] == [card.grade for card in opened(name).cards]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_parameter_can_be_is_offered(name):
    for parameter in opened(name).parameters:
        for value, _ in parameter.choices:
            now = {each.name: each for each in opened(name, **{f"p_{parameter.name}": value}).parameters}
            assert value == now[parameter.name].text
        if not parameter.open:
            assert len(parameter.choices) > 1
            with pytest.raises(FieldError, match=f"{parameter.name} cannot be 'other'"):
                opened(name, **{f"p_{parameter.name}": "other"})


def test_yes_and_no_and_words_are_choices_and_the_gain_takes_more():
    found = {each.name: each for each in opened("nDCG", p_ideal=" 'retrieved' ", p_gain="{1: 9}").parameters}

    assert ((("True", "yes"), ("False", "no")), "False") == (found["judged_only"].choices, found["judged_only"].text)
    assert ((("judged", "judged"), ("retrieved", "retrieved")), "retrieved") == (
        found["ideal"].choices,
        found["ideal"].text,
    )
    assert (["linear", "exp", "binary"], True, "{1: 9}") == (
        [value for value, _ in found["gain"].choices],
        found["gain"].open,
        found["gain"].text,
    )
    assert ((), True) == (found["cutoff"].choices, found["cutoff"].open)


def test_another_parameter_gives_another_value():
    best = 7 + 3 / math.log2(3)  # grades 3 and 2
    assert {"nDCG(gain='exp')@2": 7 / math.log2(3) / best} == opened("nDCG", p_gain="exp", p_cutoff="2").measures
    assert opened("nDCG").measures != opened("nDCG", p_gain="exp").measures
    assert {"P(rel=2)@5": 2 / 5} == opened("P", p_cutoff="5", p_rel="2").measures
    assert opened("ERR").figure.value > opened("ERR", p_top="10").figure.value


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("nDCG", {"p_gain": "log"}, "gain cannot be 'log'; it takes 'linear', 'exp'"),
        (
            "nDCG",
            {"p_gain": "import os"},
            "p.gain: gain cannot be 'import os': write a number, a word, True, False or a map such as {1: 3, 2: 9}.",
        ),
        ("nDCG", {"p_cutoff": "0"}, "cutoff"),
        ("nDCG", {"p_cutoff": "[" * 80}, "cutoff cannot be '[["),
        ("P", {"p_cutoff": ""}, "cutoff"),
        ("P", {"p_rel": "many"}, "rel"),
        ("RBP", {"p_p": "2"}, "p"),
        ("F", {"p_beta": "-1"}, "beta"),
        ("ERR", {"p_top": "2"}, "ERR: grade 3 is higher than top=2"),
        ("nDCG", {"p_gain": "{1: 'x'}"}, "gain"),
        ("nDCG", {"p_judged_only": "9"}, "judged_only"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_in_words(name, fields, words):
    with pytest.raises(AssayError, match=re.escape(words)) as refused:
        opened(name, **fields)

    assert isinstance(refused.value, FieldError | MeasureError)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.integers().map(str))
def test_any_text_as_a_parameter_is_a_value_or_refused(name, text):
    for parameter in definition_of(name).takes:
        try:
            found = opened(name, **{f"p_{parameter}": text})
        except AssayError as error:
            assert str(error)  # noqa: PT017
        else:
            assert found.figure.shown


@pytest.mark.parametrize("name", [name for name in NAMES if "cutoff" in definition_of(name).takes])
@pytest.mark.parametrize("cutoff", [1_000_000, 2**53 - 1])
def test_no_cutoff_takes_much_memory(name, cutoff):
    """Otherwise an address could end the workbench, and a command the machine."""
    opened(name)
    tracemalloc.start()
    try:
        with suppress(AssayError):
            opened(name, p_cutoff=str(cutoff))
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


# What the results do


@pytest.mark.parametrize("name", SINGLE)
def test_what_each_result_adds_is_what_would_be_lost_without_it(name):
    found = opened(name)
    ranking, grades = with_ids((None, 3, 2, 0, 1, 2), missed=(1,))[0]

    def value(docs: list[str]) -> float:
        return scored((docs, grades), found.measures)[found.figure.measure]

    without = [[*ranking[:place], "somebody new", *ranking[place + 1 :]] for place in range(len(ranking))]
    adds = [value(ranking) - value(docs) for docs in without]
    assert [_signed(add) for add in adds] == list(found.adds)


def _signed(add: float) -> str:
    if abs(add) < 1e-12:
        return "0"
    text = f"{add:.4f}"
    return text if float(text) else f"{'-' * (add < 0)}<0.0001"


@STEPS
@given(RESULTS, RESULTS)
def test_a_change_is_the_difference_to_the_state_before(now, before):
    found = opened("nDCG", graded(before), **graded(now))
    change = found.figure.value - opened("nDCG", **graded(before)).figure.value

    assert change == pytest.approx(found.figure.change, abs=1e-12)
    assert bool(found.figure.change_shown) == bool(found.announcement)


def test_a_state_before_without_a_value_shows_no_change():
    assert "" == opened("ERR", {"p_top": "2"}).figure.change_shown


# Around the measure


def test_each_page_leads_to_the_next():
    pages = [opened(name) for name in NAMES]

    assert [None, *NAMES[:-1]] == [each.previous.name if each.previous else None for each in pages]
    assert [*NAMES[1:], None] == [each.following.name if each.following else None for each in pages]
    assert len(set(NAMES)) == len({each.path for each in pages})


@STEPS
@given(RESULTS, MISSED)
def test_the_same_list_is_opened_in_the_evaluator(grades, missed):
    there = evaluator_state_of(fields_in(opened("AP", **graded(grades, missed)).evaluator))

    assert (grades, missed) == (there.grades, there.missed)


def test_all_measures_are_in_the_list_with_the_value_of_the_example():
    found = list_page()
    entries = {each.name: each for family in found.families for each in family.entries}

    assert len(NAMES) == found.count
    assert sorted(NAMES) == sorted(entries)
    assert example_in_words() == found.example
    for name in SINGLE:
        judged: Judged = with_ids((None, 3, 2, 0, 1, 2), missed=(1,))[0]
        assert f"{scored(judged, [_example(name)])[entries[name].label]:.4f}" == entries[name].value
        assert f"/measures/{name}" == entries[name].address
    assert "recip_rank" in entries["RR"].names


def test_every_definition_has_a_family_with_a_name():
    unnamed = {each.family for each in definitions()} & {family.name for family in list_page().families}

    assert set() == unnamed


def test_other_names_are_others():
    entries = {each.name: each for family in list_page().families for each in family.entries}

    assert "Precision, precision@k, precision_at_k" == entries["P"].names  # not P of trec_eval, nor P@k of BEIR
    assert "RPrec, RPrecision, r-precision" == entries["Rprec"].names
    assert "" == entries["nERR"].names
