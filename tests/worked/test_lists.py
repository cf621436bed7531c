"""Lists given by grades have the values that the same lists have with ids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.errors import InputError, ParameterError
from assay.measures import definitions, measure, parse_measure
from assay.measures.core import REGISTRY, Parameter
from assay.measures.explain import EXAMPLE_NOT_RETRIEVED, EXAMPLE_RANKING, EXAMPLE_SUBTOPICS, example_measure, page
from assay.topics import judge_topics
from assay.worked import GradedList, TopicList, judged, measures_for, topic_values, values
from laws.registry import EVERY
from strategies import ranking, run_of
from topic_cases import topic_qrels
from worked.graded_lists import GRADED, SEVERAL, scored

SINGLE = [measure for measure in EVERY if measure.definition.needs != "topics"]
BY_TOPIC = [measure for measure in EVERY if measure.definition.needs == "topics"]


def value(name: str, ranked: GradedList) -> float:
    return float(values([ranked], [parse_measure(name)]).table[0, 0])


@given(GRADED)
def test_a_list_has_the_values_that_it_has_with_ids(ranked):
    found = values([ranked], SINGLE)

    assert {} == found.problems
    np.testing.assert_array_equal([scored(ranked, SINGLE)], found.table)


@given(GRADED, st.integers(1, 20), st.sampled_from(["linear", "exp", "binary"]), st.sampled_from([0, 0.5, 1, 2, 9]))
def test_so_has_every_measure_of_a_page_of_values(ranked, cutoff, gain, rel):
    measures = measures_for(cutoff, gain, rel)

    np.testing.assert_array_equal([scored(ranked, measures)], values([ranked], measures).table)


# G adds up the gains of all lists before it subtracts those of others, which rounds fractions in another way.
SEPARATE = [measure for measure in SINGLE if measure.name != "G"]


@settings(max_examples=30)
@given(SEVERAL)
def test_lists_do_not_affect_one_another(lists):
    together, alone = values(lists, SINGLE).table, [values([ranked], SINGLE).table[0] for ranked in lists]

    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(
        [values([ranked], SEPARATE).table[0] for ranked in lists], values(lists, SEPARATE).table
    )


@pytest.mark.parametrize(
    ("name", "ranked", "expected"),
    [
        ("DCG(gain='exp')@5", GradedList((3, 2, 0, 1, 2)), 10.4840),
        ("iDCG(gain='exp')@5", GradedList((3, 2, 0, 1, 2)), 10.8235),
        ("nDCG(gain='exp')@5", GradedList((3, 2, 0, 1, 2)), 0.9686),
        ("nDCG@5", GradedList((3, 2, 0, 1, 2)), 0.9602),
        ("AP", GradedList((1, 0, 1, 0, 1), missed=(1,)), 0.5667),
        ("nDCG(gain='exp')@3", GradedList((3, 2, 1), missed=(3,)), 0.7272),
        ("nDCG@3", GradedList((3, 2, 1), missed=(3,)), 0.8081),
        ("AP@100", GradedList((1,) * 150), 0.6667),
        ("AP(norm='cutoff')@100", GradedList((1,) * 150), 1.0),
    ],
)
def test_the_examples_of_the_books(name, ranked, expected):
    assert expected == pytest.approx(value(name, ranked), abs=0.00005)


def test_each_list_has_its_own_scale_of_grades():
    """ERR takes the highest grade as certain to satisfy: the 1 of the first list and the 3 of the second."""
    err = parse_measure("ERR")

    assert [[0.5], [0.875]] == values([GradedList((1,)), GradedList((3,))], [err]).table.tolist()
    assert 3 == judged([GradedList((1,)), GradedList((3,))]).top_grade


def test_a_list_without_results_or_judgments_scores_0():
    found = values([GradedList(()), GradedList((), missed=(2,)), GradedList((None, None))], [parse_measure("nDCG")])

    assert [[0.0], [0.0], [0.0]] == found.table.tolist()


def test_no_lists_have_no_values():
    found = values([], SINGLE)

    assert (0, len(SINGLE)) == found.table.shape
    assert (0, len(BY_TOPIC)) == topic_values([], BY_TOPIC).table.shape


def test_a_measure_that_refuses_a_list_does_not_lose_the_others():
    measures = [parse_measure("DCG(gain='exp')"), parse_measure("P@1"), parse_measure("StRecall@1")]
    found = values([GradedList((3,)), GradedList((61, 1)), GradedList((70,))], measures)

    assert "[[7.0, 1.0, nan], [nan, 1.0, nan], [nan, 1.0, nan]]" == str(found.table.tolist())
    assert {
        measures[0]: "grade 61 is too high for gain='exp', which supports grades up to 60; use gain='linear'.",
        measures[2]: "StRecall needs judgments by subtopic: judge_topics(qrels, run, rules).",
    } == found.problems


def test_a_problem_is_that_of_the_first_list_that_has_it():
    """The lists are evaluated by highest grade, the last one before the first."""
    found = values([GradedList((70,)), GradedList((61,)), GradedList((1,))], [parse_measure("ERR")])

    assert "[[nan], [nan], [0.5]]" == str(found.table.tolist())
    assert ["ERR: grade 70 is higher than the limit of 60."] == list(found.problems.values())


@pytest.mark.parametrize("grade", [math.nan, math.inf])
@pytest.mark.parametrize("make", [lambda grade: GradedList((1, grade)), lambda grade: GradedList((None,), (grade,))])
def test_a_grade_is_a_finite_number(make, grade):
    with pytest.raises(InputError) as error:
        judged([make(grade)])

    assert f"grade {grade} is not a finite number; use None for a result that was not judged." == str(error.value)


# Which measures


def test_the_measures_for_a_cutoff_begin_with_those_that_people_know():
    names = [str(measure) for measure in measures_for(10)]

    assert [
        *["P@10", "R@10", "F@10", "RR@10", "RR", "Success@10", "AP@10", "AP", "nDCG@10", "nDCG", "DCG@10", "DCG"],
        *["ERR@10", "ERR", "RBP(rel=1)@10", "RBP@10", "RBP(rel=1)", "RBP", "R_cap@10", "ContextPrecision@10"],
    ] == names[:20]
    assert len(names) == len(set(names))


def test_all_measures_of_one_list_are_among_them():
    known = {definition.name for definition in definitions() if definition.needs != "topics"}

    assert known - {"NumQ", "GMAP", "GMBpref"} == {measure.name for measure in measures_for(10)}


def test_parameters_are_given_to_the_measures_that_take_them():
    names = {str(measure) for measure in measures_for(5, "exp", 2)}

    assert {"nDCG(gain='exp')@5", "P(rel=2)@5", "Judged@5", "IPrec(rel=2)@0.4", "RnDCG(gain='exp', rel=2)"} <= names
    assert {"CG(gain={1: 3})@5", "AP@5"} <= {str(measure) for measure in measures_for(5, {1: 3})}


@pytest.mark.parametrize("given", [{"cutoff": 0}, {"cutoff": 5, "gain": "log"}, {"cutoff": 5, "rel": "high"}])
def test_values_that_no_measure_takes_are_refused(given):
    with pytest.raises(ParameterError):
        measures_for(**given)


def test_a_cutoff_that_some_measures_do_not_support_leaves_those_out():
    names = {measure.name for measure in measures_for(2_000_000)}

    assert "P" in names
    assert "SDCG" not in names


@pytest.fixture
def own_measures():
    """Measures of a plug-in: one that depends on the scale of grades, one that fails, one that needs an own parameter."""

    def TopGrade(judged, *, cutoff: int | None = None):
        """The highest grade of all."""
        return np.full(len(judged), judged.top_grade)

    def Broken(judged, *, rel: float = 1):
        """Always fails."""
        raise ValueError("no")

    def Unknown(judged, *, mystery: int):
        """Has a parameter without a default that no other measure has."""
        return np.zeros(len(judged))

    mystery = {"mystery": Parameter("a number", int)}
    own = [measure(f.__name__, parameters=mystery if f is Unknown else {})(f) for f in (TopGrade, Broken, Unknown)]
    yield own
    for registered in own:
        del REGISTRY[registered.name]


def test_measures_of_plug_ins_are_among_them_and_do_no_harm(own_measures):
    measures = measures_for(10)
    top_grade, broken, _ = own_measures
    found = values([GradedList((1,)), GradedList((0, 4))], measures)

    assert [top_grade @ 10, top_grade, broken] == measures[-3:]
    assert "[[1.0, 1.0, nan], [4.0, 4.0, nan]]" == str(found.table[:, -3:].tolist())
    assert {broken: "measure Broken failed: ValueError: no"} == found.problems


# Subtopics


def test_the_examples_of_the_measures_by_subtopic():
    graded = EXAMPLE_RANKING, EXAMPLE_NOT_RETRIEVED
    results, missed = (
        [None if g is None else (*EXAMPLE_SUBTOPICS[d],) if g else () for d, g in docs] for docs in graded
    )
    measures = [example_measure(definition) for definition in definitions() if definition.needs == "topics"]
    found = topic_values([TopicList(tuple(results), tuple(missed))], measures)

    assert [page(measure.definition).example_value[1] for measure in measures] == found.table[0].tolist()


SUBTOPICS = st.lists(st.sampled_from(["0", "1", "2", "12"]), max_size=3).map(tuple)
BY_SUBTOPIC = st.builds(
    TopicList, st.lists(st.none() | SUBTOPICS, max_size=8).map(tuple), st.lists(SUBTOPICS, max_size=3).map(tuple)
)


@given(st.lists(BY_SUBTOPIC, min_size=1, max_size=3))
def test_lists_by_subtopic_do_not_affect_one_another(lists):
    found = topic_values(lists, BY_TOPIC)

    assert {} == found.problems
    np.testing.assert_array_equal([topic_values([ranked], BY_TOPIC).table[0] for ranked in lists], found.table)


@given(BY_SUBTOPIC)
def test_a_list_by_subtopic_has_the_values_that_it_has_with_ids(ranked):
    """Its documents, in their order: of tied documents, the ideal ranking takes the highest id."""
    docs = [f"d{number:02}" for number in range(len(ranked) + len(ranked.missed))]
    grades = {"q": {"0": {}, "1": {}, "2": {}, "12": {}}}
    for doc, covers in zip(docs, (*ranked.covers, *ranked.missed), strict=True):
        for subtopic in () if covers is None else covers or ("0",):
            grades["q"][subtopic][doc] = int(bool(covers))
    assume(ranked.covers and any(grades["q"].values()))
    judged = judge_topics(topic_qrels(grades), run_of({"q": ranking(docs[: len(ranked)])}), strays=True)

    expected = [measure.values(judged)[0] for measure in BY_TOPIC]
    assert expected == topic_values([ranked], BY_TOPIC).table[0].tolist()


def test_an_unjudged_result_is_not_one_without_subtopics():
    found = topic_values(
        [TopicList((None, ("a",))), TopicList(((), ("a",)))], [parse_measure("P_IA(judged_only=True)@1")]
    )

    assert [[1.0], [0.0]] == found.table.tolist()


def test_lists_by_subtopic_have_the_other_values_too():
    ranked = TopicList((("a", "b"), ()), missed=(("b",),))

    np.testing.assert_array_equal(
        values([GradedList((1, 0), missed=(1,))], SINGLE).table, topic_values([ranked], SINGLE).table
    )
