"""The arithmetic of a value: whoever computes the numbers that are shown gets the value that is shown."""

from __future__ import annotations

import ast
import math
import operator
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import MeasureError
from assay.evaluation import combined
from assay.measures import definitions, parse_measure
from assay.measures.core import Measure
from assay.worked import GradedList, Line, counted, first_relevant, mean_of, measures_for, values, worked
from assay.worked.formulas import MOST_TERMS, number
from laws.registry import EVERY
from worked.graded_lists import GRADED, GRADES, SEVERAL


def shown(name: str, ranked: GradedList) -> list[str]:
    """The lines, as on a page."""
    return [f"{line.name} = {line.numbers} = {line.value:.4f}" for line in worked(parse_measure(name), ranked)]


def formula(name: str, ranked: GradedList) -> str:
    return worked(parse_measure(name), ranked)[-1].formula


# Examples of the books

BOOK = GradedList((3, 2, 0, 1, 2))


def test_ndcg_with_the_exponential_gain():
    assert [
        "DCG(gain='exp')@5 = 7/1 + 3/1.585 + 0/2 + 1/2.3219 + 3/2.585 = 10.4840",
        "iDCG(gain='exp')@5 = 7/1 + 3/1.585 + 3/2 + 1/2.3219 + 0/2.585 = 10.8235",
        "nDCG(gain='exp')@5 = 10.484 / 10.8235 = 0.9686",
    ] == shown("nDCG(gain='exp')@5", BOOK)


def test_ndcg_with_the_grade_as_gain():
    assert [
        "DCG@5 = 3/1 + 2/1.585 + 0/2 + 1/2.3219 + 2/2.585 = 5.4662",
        "iDCG@5 = 3/1 + 2/1.585 + 2/2 + 1/2.3219 + 0/2.585 = 5.6925",
        "nDCG@5 = 5.4662 / 5.6925 = 0.9602",
    ] == shown("nDCG@5", BOOK)


def test_average_precision_with_one_document_that_was_missed():
    ranked = GradedList((1, 0, 1, 0, 1), missed=(1,))

    assert ["AP = (1/1 + 2/3 + 3/5 + 0) / 4 = 0.5667"] == shown("AP", ranked)
    assert (
        "sum of the precision at each relevant result / all relevant documents; each one that is not in the list adds 0"
        == formula("AP", ranked)
    )


def test_mean_reciprocal_rank():
    line = mean_of(parse_measure("RR"), [first_relevant(rank) for rank in (1, 3, 2)])

    assert ("RR", "sum of 1/rank over 3 lists / 3", "(1 + 0.3333 + 0.5) / 3") == (
        line.name,
        line.formula,
        line.numbers,
    )
    assert 0.6111 == pytest.approx(line.value, abs=0.00005)


def test_f1_of_high_precision_and_low_recall():
    assert [
        "SetP = 9 / 10 = 0.9000",
        "SetR = 9 / 90 = 0.1000",
        "SetF = 2 * 0.9 * 0.1 / (0.9 + 0.1) = 0.1800",
    ] == shown("SetF", counted(hits=9, retrieved=10, relevant=90))


MIXED = GradedList((3, None, 1, 0, 2), missed=(2, 0))  # 4 relevant documents, 2 judged not relevant


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("P@3", "2 / 3 = 0.6667"),
        ("P@8", "3 / 8 = 0.3750"),
        ("P(filled=False)@8", "3 / 5 = 0.6000"),
        ("P(judged_only=True)@3", "2 / 3 = 0.6667"),
        ("P(rel=2)@3", "1 / 3 = 0.3333"),
        ("R@3", "2 / 4 = 0.5000"),
        ("R(among='retrieved')@3", "2 / 3 = 0.6667"),
        ("F@3", "2 * 0.6667 * 0.5 / (0.6667 + 0.5) = 0.5714"),
        ("F(beta=2)@3", "(1 + 4) * 0.6667 * 0.5 / (4 * 0.6667 + 0.5) = 0.5263"),
        ("SetF(beta2=2)", "(1 + 2) * 0.6 * 0.75 / (2 * 0.6 + 0.75) = 0.6923"),
        ("SetP(relative=True)", "3 / 4 = 0.7500"),
        ("R_cap@3", "2 / 3 = 0.6667"),
        ("Rprec", "2 / 4 = 0.5000"),
        ("Judged@3", "2 / 3 = 0.6667"),
        ("Judged", "4 / 5 = 0.8000"),
        ("RR(rel=1)", "1 / 1 = 1.0000"),
        ("Success@3", "1 = 1.0000"),
        ("AP@3", "(1/1 + 2/3 + 0 + 0) / 4 = 0.4167"),
        ("AP(norm='cutoff')@3", "(1/1 + 2/3 + 0) / 3 = 0.5556"),
        ("Bpref", "(1 + 1 + (1 - 1/2) + 0) / 4 = 0.6250"),
        ("CG@4", "3 + 0 + 1 + 0 = 4.0000"),
        ("DCG(gain='binary')@3", "1/1 + 0/1.585 + 1/2 = 1.5000"),
        ("DCG(gain={0: -1, 1: 9})", "3/1 + 0/1.585 + 9/2 - 1/2.3219 + 2/2.585 = 7.8430"),
        ("iDCG@3", "3/1 + 2/1.585 + 2/2 = 5.2619"),
        ("ERR@3", "1/1 * 0.875 * 1 + 0 + 1/3 * 0.125 * 0.125 = 0.8802"),
        ("ERR(top=4)@1", "1/1 * 0.4375 * 1 = 0.4375"),
        ("RBP@3", "(1 - 0.8) * (3/3 * 1 + 0 + 1/3 * 0.64) = 0.2427"),
        ("RBP(rel=1, p=0.5)", "(1 - 0.5) * (1 + 0 + 0.25 + 0 + 0.0625) = 0.6562"),
        ("RBP(raw=True, p=0.5)@3", "(1 - 0.5) * (3 * 1 + 0 + 1 * 0.25) = 1.6250"),
        ("RBP(depth=2, p=0.5)", "(3/3 * 1 + 0) / 1.5 = 0.6667"),
        ("RBP(p=0.99999, rel=1)@1", "(1 - 0.99999) * (1) = 0.0000"),
    ],
)
def test_the_numbers_of_every_measure(name, last):
    assert f"{parse_measure(name)} = {last}" == shown(name, MIXED)[-1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P(rel=2)@3", "results of grade 2 or higher among the first 3 / 3"),
        ("P@1", "relevant results at rank 1 / 1"),
        ("R_cap@3", "relevant results among the first 3 / the smaller of 3 and the number of relevant documents, 4"),
        ("DCG@8", "sum of grade / log2(rank + 1), ranks 1 to 5 (there are no more)"),
        ("DCG@1", "sum of grade / log2(rank + 1), rank 1"),
        ("DCG(gain={1: 9})@2", "sum of gain / log2(rank + 1), ranks 1 to 2; the gain is 9 for grade 1, and the grade for others"),
        ("DCG(judged_only=True)@2", "sum of grade / log2(rank + 1), ranks 1 to 2; unjudged results are removed first"),
        ("iDCG(gain='exp')@2", "sum of (2^grade - 1) / log2(rank + 1) over the judged documents, best first, ranks 1 to 2"),
        ("Success@3", "1 if there is a relevant result among the first 3; the first is at rank 1"),
        ("RBP@2", "(1 - p) * sum of gain * p^(rank - 1), ranks 1 to 2; p = 0.8, the gain is grade / 3, the highest grade"),
    ],
)  # fmt: skip
def test_the_formula_says_what_is_put_in(name, expected):
    assert expected == formula(name, MIXED)


# Nothing relevant, nothing in the list

EMPTY = {
    "P@5": "relevant results among the first 5 / 5",
    "P(filled=False)@5": "no result: 0",
    "R@5": "no relevant document: 0",
    "R(rel=2, among='retrieved')@5": "no result of grade 2 or higher: 0",
    "F@5": "no relevant result among the first 5: 0",
    "R_cap@5": "no relevant document: 0",
    "Rprec": "no relevant document: 0",
    "SetP": "no result: 0",
    "SetP(relative=True)": "no result: 0",
    "SetR": "no relevant document: 0",
    "SetF": "no relevant result in the list: 0",
    "Judged@5": "no result: 0",
    "RR@5": "no relevant result among the first 5: 0",
    "RR": "no relevant result in the list: 0",
    "Success@1": "no relevant result at rank 1: 0",
    "AP": "no relevant document: 0",
    "Bpref": "no relevant document: 0",
    "CG": "no result: 0",
    "DCG": "no result: 0",
    "iDCG": "no judged document has a gain: 0",
    "nDCG": "no judged document has a gain: 0",
    "ERR": "no result: 0",
    "RBP": "no result: 0",
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_list_without_relevant_documents(name):
    line = worked(parse_measure(name), GradedList(()))[-1]

    assert (EMPTY[name], 0.0) == (line.formula, line.value)
    assert line.numbers in {"0", "0 / 5"}


def test_a_list_that_misses_everything():
    ranked = GradedList((None, 0), missed=(1,))

    assert ["AP = (0) / 1 = 0.0000"] == shown("AP", ranked)
    assert ["DCG = 0/1 + 0/1.585 = 0.0000", "iDCG = 1/1 + 0/1.585 = 1.0000", "nDCG = 0 / 1 = 0.0000"] == shown(
        "nDCG", ranked
    )
    assert ["RBP = (1 - 0.8) * (0 + 0) = 0.0000"] == shown("RBP", ranked)
    assert ["RBP = (1 - 0.8) * (0 + 0) = 0.0000"] == shown("RBP", GradedList((0, None)))


def test_negative_grades_gain_nothing_and_are_removed_with_unjudged_results():
    ranked = GradedList((-1, 2))

    assert "DCG = 0/1 + 2/1.585 = 1.2619" == shown("nDCG", ranked)[0]
    assert "DCG(judged_only=True) = 2/1 = 2.0000" == shown("nDCG(judged_only=True)", ranked)[0]


def test_the_ideal_ranking_of_the_results_alone():
    lines = worked(parse_measure("nDCG(ideal='retrieved')@3"), GradedList((1, 2), missed=(3,)))

    assert ["1/1 + 2/1.585", "2/1 + 1/1.585", "2.2619 / 2.6309"] == [line.numbers for line in lines]
    assert lines[1].formula.endswith("; only documents in the list")


def test_fractions_of_grades():
    assert ["CG = 0.5 + 1.25 = 1.7500"] == shown("CG", GradedList((0.5, 1.25)))
    assert ["P(rel=0.5)@2 = 1 / 2 = 0.5000"] == shown("P(rel=0.5)@2", GradedList((0.5, 0.25)))


def test_a_tiny_ideal_is_not_shown_as_0():
    assert "nDCG = 0.00001 / 0.00001 = 1.0000" == shown("nDCG", GradedList((0.00001,)))[-1]


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_measure_that_cannot_be_computed_has_no_lines():
    assert () == worked(parse_measure("DCG(gain='exp')"), GradedList((61,)))
    assert () == worked(parse_measure("Bpref(edges='ranx')"), GradedList((0,)))
    assert () == worked(parse_measure("SetF(beta=2, beta2=3)"), GradedList((1,)))
    assert () == worked(parse_measure("nDCG"), GradedList((1,), missed=(1e308,) * 5))


def test_losses_of_results_alone_are_not_worked_out():
    """Their ideal ranking ends with the losses, which no list has: iDCG leaves them out."""
    assert () == worked(parse_measure("nDCG(ideal='retrieved', gain={0: -1})"), GradedList((0, 2)))


# Many terms


def test_the_zeros_of_a_long_list_are_left_out():
    ranked = GradedList((1, *[0] * 20, 2))

    assert ["DCG = 1/1 + 2/4.5236 = 1.4421"] == shown("DCG", ranked)
    assert "sum of grade / log2(rank + 1), ranks 1 to 22; terms of 0 are not shown" == formula("DCG", ranked)


def test_of_many_terms_the_last_number_is_the_sum_of_the_rest():
    (line,) = worked(parse_measure("CG"), GradedList((1,) * 20))

    assert (" + ".join(["1"] * 11 + ["9"]), 9) == (line.numbers, line.left_out)


def test_the_divisor_comes_first_so_that_the_rest_is_the_last_number():
    (line,) = worked(parse_measure("AP"), GradedList((1,) * 13))
    mean = mean_of(parse_measure("RR"), [first_relevant(1)] * 14)

    assert line.numbers.startswith("1/13 * (1/1 + 2/2 + ")
    assert line.numbers.endswith("11/11 + 2)")
    assert ("1/14 * (" + "1 + " * 11 + "3)", 3) == (mean.numbers, mean.left_out)


@pytest.mark.parametrize("name", ["DCG", "iDCG", "CG", "AP", "ERR", "RBP", "RBP(depth=50)", "Bpref"])
@given(ranked=st.builds(GradedList, st.lists(st.none() | GRADES, min_size=30, max_size=60).map(tuple)))
@settings(max_examples=20)
def test_no_line_is_long(name, ranked):
    for line in worked(parse_measure(name), ranked):
        assert line.numbers.count(" + ") + line.numbers.count(" - ") <= 2 * MOST_TERMS  # 1 - 1/2 is a term of Bpref
        check(line)


# The law


class Interval:
    """The numbers that one printed with some decimals can stand for."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __repr__(self) -> str:
        return f"{self.low} to {self.high}"


def combine(operation, a: Interval, b: Interval) -> Interval:
    if operation is operator.truediv and b.low <= 0 <= b.high:
        raise ZeroDivisionError
    ends = [operation(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(min(ends), max(ends))


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def computed(numbers: str) -> Interval:
    """What the arithmetic gives, whatever was lost when its numbers were rounded."""
    assert re.fullmatch(r"[0-9.+\-*/() ]+", numbers)
    assert "**" not in numbers
    assert "//" not in numbers
    return _computed(ast.parse(numbers, mode="eval").body, numbers)


def _computed(node: ast.expr, text: str) -> Interval:
    if isinstance(node, ast.BinOp):
        return combine(OPERATIONS[type(node.op)], _computed(node.left, text), _computed(node.right, text))
    if isinstance(node, ast.UnaryOp):
        return combine(operator.sub, Interval(0, 0), _computed(node.operand, text))
    decimals = len((ast.get_source_segment(text, node) or "").partition(".")[2])
    lost = 0.5 * 10.0 ** -max(decimals, 4)
    return Interval(node.value - lost, node.value + lost)


def check(line: Line) -> None:
    """The numbers give the value, and not by being vague."""
    found = computed(line.numbers)
    assert found.low - 1e-9 <= line.value <= found.high + 1e-9, line
    assert found.high - found.low <= 0.005 * max(1, abs(line.value)), line


NAMES = (
    *("P", "R", "R_cap", "F", "AP", "RR", "Rprec", "Success", "CG", "DCG", "iDCG", "nDCG", "ERR", "Bpref", "Judged"),
    *("SetP", "SetR", "SetF", "RBP"),
)
MORE = [
    *("AP(norm='cutoff')", "AP(norm='cutoff', rel=2)@3", "Bpref(edges='ranx')", "Bpref(rel=-1)", "Bpref(rel=2)"),
    *("R(among='retrieved', judged_only=True)@3", "P(filled=False, judged_only=True, rel=2)@4"),
    *("F(beta=0)@3", "F(beta=0.3, rel=2, judged_only=True)@4", "SetF(beta2=3)", "SetP(relative=True, rel=2)"),
    *("DCG(gain={-1: 2, 0: -1.5, 3: 0})", "nDCG(gain={-1: 2, 0: -1.5, 3: 0})@4", "iDCG(gain={-1: 2, 3: 0})@4"),
    *("nDCG(gain={-1: 2, 3: 0}, ideal='retrieved')@4", "nDCG(gain={-1: -2, 3: 1}, ideal='retrieved')"),
    *("nDCG(ideal='retrieved', judged_only=True, gain='exp')@3", "nDCG(gain={-1: 2, 3: 0}, judged_only=True)"),
    *(
        "ERR(top=4)",
        "ERR(top=7, judged_only=True)@3",
        "RBP(p=0.01)",
        "RBP(p=0.99999, depth=1)",
        "RBP(p=0.95, depth=3)@2",
    ),
    *(
        "RBP(rel=-1)",
        "RBP(raw=True, judged_only=True)@4",
        "RBP(rel=2, depth=4, judged_only=True)",
        "RBP(residual=True)",
    ),
]
VARIANTS = [*(m for m in EVERY if m.definition.needs != "topics"), *map(parse_measure, MORE)]


def check_all(measures: list[Measure], ranked: GradedList) -> None:
    table = values([ranked], measures).table[0].tolist()
    for measure, value in zip(measures, table, strict=True):
        lines = worked(measure, ranked)
        for line in lines:
            check(line)
        if lines:
            assert (str(measure), value) == (lines[-1].name, lines[-1].value)


@given(
    GRADED, st.integers(1, 20), st.sampled_from(["linear", "exp", "binary", {1: 3}]), st.sampled_from([0, 0.5, 1, 2, 9])
)
@settings(max_examples=60)
def test_the_numbers_give_the_value(ranked, cutoff, gain, rel):
    check_all(measures_for(cutoff, gain, rel), ranked)


@given(GRADED)
@settings(max_examples=60)
def test_so_they_do_under_all_conventions(ranked):
    check_all(VARIANTS, ranked)


@given(GRADED)
def test_every_step_is_a_value_of_the_library(ranked):
    for name in ("F@3", "SetF", "nDCG(gain='exp')@4"):
        for line in worked(parse_measure(name), ranked):
            assert values([ranked], [parse_measure(line.name)]).table[0, 0] == line.value


@given(SEVERAL)
def test_the_numbers_of_a_mean_give_the_mean(lists):
    for measure in measures_for(3):
        line = mean_of(measure, lists)
        check(line)

        assert (str(measure), combined(measure, values(lists, [measure]).table[:, 0])) == (line.name, line.value)


def test_these_measures_are_worked_out():
    ranked = GradedList((1, 0, 2), missed=(1,))
    found = {measure.name for measure in VARIANTS if worked(measure, ranked)}

    assert set(NAMES) == found
    assert found <= {definition.name for definition in definitions()}


@given(GRADED)
@settings(max_examples=20)
def test_they_are_worked_out_for_every_list(ranked):
    """All but the residual of RBP."""
    for measure in VARIANTS:
        refused = math.isnan(values([ranked], [measure]).table[0, 0])
        losses = measure.param("ideal") == "retrieved" and "-2" in str(measure)
        if measure.name in NAMES and not measure.param("residual") and not refused and not losses:
            assert worked(measure, ranked), measure


def test_another_name_of_a_measure_is_worked_out_too():
    assert ["AP = (1/1) / 1 = 1.0000"] == shown("MAP", GradedList((1,)))
    assert worked(Measure("MAP"), GradedList((1,)))


# Means


def test_the_mean_of_one_list_and_of_none():
    assert ("sum of 1/rank over 1 list / 1", "(0.5) / 1") == (
        (line := mean_of(parse_measure("RR"), [first_relevant(2)])).formula,
        line.numbers,
    )
    assert Line("RR", "no list: 0", "0", 0.0) == mean_of(parse_measure("RR"), [])


def test_the_mean_says_what_it_is_of():
    def formula(name: str) -> str:
        return mean_of(parse_measure(name), [GradedList((1, 0))] * 2, "query").formula

    assert "sum of 1/rank (0 beyond rank 10) over 2 queries / 2" == formula("RR@10")
    assert "sum of hits (1 or 0) over 2 queries / 2" == formula("Success@10")
    assert "sum of average precision over 2 queries / 2" == formula("AP")
    assert "sum of P over 2 queries / 2" == formula("P@5")


def test_counts_are_added_up():
    line = mean_of(parse_measure("NumRet"), [GradedList((1, 0)), GradedList((None,))])

    assert ("sum of NumRet over 2 lists", "2 + 1", 3.0) == (line.formula, line.numbers, line.value)


def test_a_mean_that_cannot_be_worked_out():
    with pytest.raises(MeasureError) as geometric:
        mean_of(parse_measure("GMAP"), [GradedList((1,))])
    with pytest.raises(MeasureError) as refused:
        mean_of(parse_measure("DCG(gain='exp')"), [GradedList((1,)), GradedList((61,))])

    assert "GMAP has a geometric mean over queries, which is not worked out. Use AP or Bpref." == str(geometric.value)
    assert "grade 61 is too high for gain='exp', which supports grades up to 60; use gain='linear'." == str(
        refused.value
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0"), (-0.0, "0"), (100.0, "100"), (0.25, "0.25"), (2 / 3, "0.6667"), (-1.5, "-1.5"), (0.99999, "1"), (3e-7, "0.0000003")],
)  # fmt: skip
def test_numbers_are_short(value, expected):
    assert expected == number(value)
