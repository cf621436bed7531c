"""The fields of an address: what is read is what was written, and what cannot be read is refused in words."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from assay.errors import InputError
from assay.measures import Definition, definition_of, definitions
from assay.report import evaluator, learning
from assay.report.evaluator import EvaluatorState
from assay.report.interactive.fields import FieldError, Grades, Ranks, Texts, shortest
from assay.report.learning import LearnState
from assay.report.learning.state import Letters
from assay.report.measures.state import MeasureState, Subtopics, fields_of
from assay.report.measures.state import state_of as measure_state_of
from report.states import EVALUATED, GRADE, LEARNED, MISSED, RESULTS, fields_in

# There and back


def by_server(address: str) -> dict[str, list[str]]:
    """The fields as the workbench takes them from a request."""
    given: dict[str, list[str]] = {}
    for name, value in QueryParams(urlsplit(address).query).multi_items():
        given.setdefault(name, []).append(value)
    return given


@given(EVALUATED)
@example(EvaluatorState(title="a&b=c+d%20e#f?g;h", name=("", " ", "+", "é\r\n\t\u202e\U0001f600")))
def test_an_address_of_the_evaluator_stands_for_its_state(state):
    assert state == evaluator.state_of(by_server(state.address))
    assert state == evaluator.state_of(fields_in(state.address))


@given(LEARNED)
@example(LearnState(query=(), ranks=()))
def test_an_address_of_the_calculators_stands_for_its_state(state):
    assert state == learning.state_of(by_server(state.address))


COVERED = st.just(()) | st.frozensets(st.sampled_from("123456789")).map(lambda found: tuple(sorted(found)))


@st.composite
def measured(draw) -> tuple[Definition, MeasureState]:
    definition = draw(st.sampled_from(definitions()))
    parameters = {f"p.{name}": draw(st.text(max_size=8).filter(_can_be_sent)) for name in definition.takes}
    if definition.needs == "topics":
        covers = st.lists(st.none() | COVERED, max_size=6).map(tuple)
        ranked = {"covers": draw(covers), "missed": draw(st.lists(COVERED, max_size=4).map(tuple))}
    else:
        ranked = {"grades": draw(RESULTS), "missed": draw(MISSED)}
    return definition, MeasureState(definition.name, ranked | parameters)


def _can_be_sent(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


@given(measured())
def test_an_address_of_a_measure_stands_for_its_state(found):
    definition, state = found

    assert state == measure_state_of(definition, by_server(state.address))


def test_defaults_are_left_out():
    assert "/evaluator" == EvaluatorState().address
    assert "/" == LearnState().address
    assert "/evaluator?k=3&gain=exp" == EvaluatorState(k=3, gain="exp").address
    assert "/measures/AP" == measure_state_of(definition_of("AP"), {}).address


def test_nothing_differs_from_a_default():
    assert "/evaluator?grades=" == EvaluatorState(grades=()).address
    assert () == evaluator.state_of({"grades": [""]}).grades
    assert () == learning.state_of({"query": [""]}).query


# What people write


@pytest.mark.parametrize(
    ("texts", "grades"),
    [
        (["3,2,0"], (3, 2, 0)),
        (["3 2 0"], (3, 2, 0)),
        ([" 3,\t2 ;0\n"], (3, 2, 0)),
        (["3", "2", "0"], (3, 2, 0)),
        (["3,u,-,?,1"], (3, None, None, None, 1)),
        (["3,,1"], (3, None, 1)),
        (["u"], (None,)),
        ([""], ()),
        (["  "], ()),
        (["-1,0.5,+2,1e1"], (-1, 0.5, 2, 10)),
    ],
)
def test_grades_as_people_write_them(texts, grades):
    assert grades == Grades().read(texts)


def test_ranks_as_people_write_them():
    assert (1, None, 3, None) == Ranks(missing=True).read(["1,,3,0"])
    assert (1, 0, 3) == Ranks().read(["1 0 3"])


def test_rankings_as_people_write_them():
    assert ("RNR", "", "N") == Letters().read([" rnR ,,n"])
    assert ("R", "N") == Letters().read(["R", "N"])


def test_subtopics_as_people_write_them():
    assert (("1", "2"), (), None, None, ("3",)) == Subtopics().read(["2112,0,u,,3"])
    assert () == Subtopics().read([""])


def test_names_that_are_empty_at_the_end_are_left_out():
    assert ("a", "", "b") == Texts().read(["a", "", "b", "", ""])


@given(st.floats(-60, 60))
def test_numbers_are_written_as_short_and_as_exactly_as_they_are(number):
    assert number == Grades().read([shortest(number)])[0]
    assert len(shortest(number)) <= 24


# What is refused


@pytest.mark.parametrize(
    ("field", "texts", "words"),
    [
        ("k", ["0"], "k: '0' is not a whole number from 1 to 1,000."),
        ("k", ["1001"], "k: '1001' is not a whole number from 1 to 1,000."),
        ("k", ["5.0"], "k: '5.0' is not a whole number from 1 to 1,000."),
        ("k", ["٣"], "k: '٣' is not a whole number from 1 to 1,000."),
        ("k", ["9" * 5000], "...9999999999999' is not a whole number from 1 to 1,000."),
        ("k", ["5", "6"], "k: give this field once; it is there 2 times."),
        ("k", [""], "k: use a whole number from 1 to 1,000."),
        ("relevant", ["many"], "relevant: 'many' is not a whole number from 0 to 10,000."),
        ("rel", ["0"], "rel: '0' is not a number from 0.001 to 60."),
        ("rel", ["nan"], "rel: 'nan' is not a number from 0.001 to 60."),
        ("rel", ["1_0"], "rel: '1_0' is not a number from 0.001 to 60."),
        ("gain", ["log"], "gain: use 'linear' or 'exp' instead of 'log'."),
        (
            "grades",
            ["3,x"],
            "grades, value 2: 'x' is not a grade: use a number from -60 to 60, or u for an unjudged result.",
        ),
        (
            "grades",
            ["61"],
            "grades, value 1: '61' is not a grade: use a number from -60 to 60, or u for an unjudged result.",
        ),
        ("grades", ["inf"], "or u for an unjudged result."),
        ("grades", ["1," * 2000], "grades, value 1,001: use at most 1,000 grades; there are 2,001."),
        ("missed", ["u"], "missed, value 1: 'u' is not a grade: use a number from -60 to 60."),
        ("name", ["a" * 201], "name, value 1: use at most 200 characters; there are 201."),
        ("name", ["a"] * 1001, "name, value 1,001: use at most 1,000 names; there are 1,001."),
        ("title", ["a", "b"], "title: give this field once; it is there 2 times."),
        ("title", ["a\0b"], "title: remove the character NUL."),
        ("grade", ["3"], "no field called 'grade'; did you mean 'grades'?"),
        ("zzz", ["3"], "no field called 'zzz'; the fields are grades, name, other,"),
    ],
)
def test_what_a_field_does_not_take_is_refused_in_words(field, texts, words):
    with pytest.raises(InputError, match=re.escape(words)) as refused:
        evaluator.state_of({field: texts})

    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("field", "texts", "words"),
    [
        ("ranks", ["1.5"], "ranks, value 1: '1.5' is not a whole number from 0 to 1,000."),
        ("ranks", [",".join("1" * 21)], "ranks, value 21: use at most 20 queries; there are 21."),
        ("lists", ["R,RXN"], "lists, value 2: write R for a relevant result and N for another, without anything else."),
        ("lists", ["R" * 201], "lists, value 1: use at most 200 results; there are 201."),
        ("lists", [",".join("R" * 21)], "lists, value 21: use at most 20 lists; there are 21."),
        ("hits", ["-1"], "hits: '-1' is not a whole number from 0 to 1,000."),
        (
            "hits",
            ["9"],
            "hits: 9 documents cannot be both retrieved and relevant if only 8 documents are retrieved. Lower Both, or raise Retrieved.",
        ),
        (
            "relevant",
            ["1"],
            "hits: 5 documents cannot be both retrieved and relevant if only 1 document is relevant. Lower Both, or raise Relevant.",
        ),
        ("judged", ["perhaps"], "judged: use 'complete' or "),
    ],
)
def test_so_is_what_a_calculator_does_not_take(field, texts, words):
    with pytest.raises(InputError, match=re.escape(words)):
        learning.state_of({field: texts})


def test_so_are_subtopics():
    definition = next(each for each in definitions() if each.needs == "topics")
    words = "covers, value 2: 'a' is not a set of subtopics: use digits, such as 12; 0 for none, or u for an unjudged result."

    with pytest.raises(InputError, match=re.escape(words)):
        measure_state_of(definition, {"covers": ["1,a"]})
    with pytest.raises(InputError, match="use at most 100 results; there are 101"):
        measure_state_of(definition, {"covers": [",".join("1" * 101)]})


@given(st.lists(st.text(max_size=12), max_size=3))
def test_whatever_is_sent_is_read_or_refused(texts):
    for read, fields in (
        (evaluator.state_of, evaluator.FIELDS),
        (learning.state_of, learning.FIELDS),
        (lambda given: measure_state_of(definition_of("nDCG"), given), fields_of(definition_of("nDCG"))),
    ):
        for field in fields:
            try:
                state = read({field.name: texts})
            except FieldError as error:
                assert field.name == error.field or {"hits", "retrieved", "relevant"} >= {field.name, error.field}  # noqa: PT017
            else:
                assert state.address


# Descriptions


@given(RESULTS, st.lists(GRADE, max_size=4).map(tuple))
def test_what_is_written_is_what_the_description_says(grades, missed):
    assert re.search(Grades().schema["pattern"], Grades().write(grades)[0])
    assert re.search(Grades(unjudged=False).schema["pattern"], Grades(unjudged=False).write(missed)[0])


def test_every_example_of_a_field_can_be_read():
    for fields in (evaluator.FIELDS, learning.FIELDS, *map(fields_of, definitions())):
        for field in fields:
            if field.example:
                field.kind.read([field.example])
            assert field.meaning
