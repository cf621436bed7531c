"""Strict numbers, and the values of letter grades."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats import parse_grades, parse_qrels
from assay.formats.numbers import checked_grades, floats, number, ranks, show_value, whole_grade
from reading.rows import qrels_rows, refusal


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_that_python_writes_is_read_bit_for_bit(value: float) -> None:
    for written in (repr(value), f"{value:.17e}", f"{value:.17E}"):
        assert math.copysign(1, value) == math.copysign(1, number(written) or value)
        assert value == number(written) == number(written.encode())


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_a_column_is_read_as_its_numbers_are(values: list[float]) -> None:
    assert values == floats(list(map(repr, values))).tolist()  # type: ignore[union-attr]


@given(st.text())
def test_whatever_is_read_is_an_ordinary_decimal(text: str) -> None:
    value = number(text)

    assert value is None or (set(text) <= set("0123456789+-.eE") and math.isfinite(value))


@given(st.integers(0, 2**63 - 2))
def test_every_rank_is_read(rank: int) -> None:
    assert [rank, 1] == ranks([str(rank).encode(), b"1"]).tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", [b"", b"-1", b"+1", b"1.0", b"1e3", b"x", "١".encode(), b"9223372036854775807", b"9" * 30]
)
def test_other_ranks_are_not(text: bytes) -> None:
    assert ranks([b"1", text or b"-"]) is None


@given(st.decimals(-1000, 1000, places=3))
def test_whole_grades_are_cut_toward_zero(value: object) -> None:
    assert math.trunc(float(str(value))) == whole_grade(f"{value:f}")


def test_grades_are_written_as_letters_and_numbers() -> None:
    assert {"E": 3.0, "S": 0.1, "not relevant": -1.0, "a=b": 1.0} == parse_grades("E=3, S=0.1 ,not relevant=-1,a=b=1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "grades '': expected LETTER=NUMBER, found ''."),
        ("E", "grades 'E': expected LETTER=NUMBER, found 'E'."),
        ("E=3,", "grades 'E=3,': expected LETTER=NUMBER, found ''."),
        ("=3", "grades '=3': expected LETTER=NUMBER, found '=3'."),
        ("E=", "grades 'E=': '' is not a number."),
        ("E=three", "grades 'E=three': 'three' is not a number."),
        ("E=nan", "grades 'E=nan': 'nan' is not a number."),
        ("E=3,E=2", "grades 'E=3,E=2': 'E' is given twice."),
    ],
)
def test_grades_that_are_badly_written_are_refused(text: str, message: str) -> None:
    assert f"{message} Write it as E=3,S=2,C=1,I=0." == refusal(lambda: parse_grades(text))


def test_a_map_in_python_may_hold_numbers_too() -> None:
    assert {"E": 3.0, "1": 4.0, "0.5": 1.0} == checked_grades({"E": 3, 1: 4, "0.50": 1})  # type: ignore[dict-item]
    assert "grades: the value of 'E' 'three' is not a number. Write it as E=3,S=2,C=1,I=0." == refusal(
        lambda: checked_grades({"E": "three"})  # type: ignore[dict-item]
    )


def test_letters_are_grades_with_a_map_alone() -> None:
    text = "q1 0 a E\nq1 0 b I\nq1 0 c 0.5\n"

    assert [("q1", "a", 3.0), ("q1", "b", 0.0), ("q1", "c", 0.5)] == qrels_rows(
        parse_qrels(text, grades=parse_grades("E=3,S=2,C=1,I=0"))
    )
    assert refusal(lambda: parse_qrels(text)).startswith("<text>:1: grade 'E' is not a number (query q1, document a). ")
    assert "<text>:2: grade 'I' is not a number" in refusal(lambda: parse_qrels(text, grades={"E": 3}))


def test_codes_can_be_turned_around() -> None:
    text = "q1 0 a 1\nq1 0 b 4.0\nq1 0 c -1\n"

    assert [4.0, 1.0, 0.0] == parse_qrels(text, grades={"1": 4, "4": 1, "-1": 0}).rel.tolist()


def test_numbers_that_python_does_not_write_are_shown_in_words() -> None:
    assert "a number of over 4300 digits" == show_value(10**5000)
    assert "1" + "0" * 36 + "..." + "0" * 20 == show_value(10**400)
