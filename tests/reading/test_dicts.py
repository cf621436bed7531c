"""Dicts of dicts."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from assay import Rules, evaluate
from assay.formats import as_qrels, as_run
from assay.formats.readings import Reading
from reading.rows import qrels_rows, refusal, run_rows

ADVICE = "Scores must be plain decimal numbers such as 12.5 or 1.2e-3: fix or remove these rows."


def test_the_order_of_insertion_is_kept() -> None:
    assert [("q2", "b", 1.0), ("q2", "a", 2.0), ("q1", "c", 0.5)] == run_rows(
        as_run({"q2": {"b": 1, "a": 2}, "q1": {"c": 0.5}})
    )


@pytest.mark.parametrize(
    "value",
    [2, 2.0, np.int8(2), np.uint64(2), np.float16(2), np.float64(2), np.array(2.0), Decimal(2), Fraction(2)],
)
def test_any_numeric_type_will_do(value: Any) -> None:
    assert [("q1", "a", 2.0)] == run_rows(as_run({"q1": {"a": value}}))
    assert [("q1", "a", 2.0)] == qrels_rows(as_qrels({"q1": {"a": value}}))


@pytest.mark.parametrize("value", [True, np.True_])
def test_true_is_one(value: Any) -> None:
    assert [("q1", "a", 1.0)] == qrels_rows(as_qrels({"q1": {"a": value}}))


@pytest.mark.parametrize("query", ["51", 51, np.int32(51), np.str_("51"), b"51"])
def test_ids_are_text_or_whole_numbers(query: Any) -> None:
    run = as_run({query: {query: 1}})

    assert [("51", "51", 1.0)] == run_rows(run)
    assert str is type(run.doc[0])


@pytest.mark.parametrize("mapping", [dict, OrderedDict, MappingProxyType, lambda pairs: defaultdict(dict, pairs)])
def test_any_mapping_will_do(mapping: Any) -> None:
    assert [("q1", "a", 1.0)] == run_rows(as_run(mapping({"q1": mapping({"a": 1})})))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", "'1' (str)"),
        (None, "None (NoneType)"),
        ([1], "[1] (list)"),
        (1j, "1j (complex)"),
        (np.array([1.0]), "array([1.]) (ndarray)"),
        (10**400, f"1{'0' * 36}...{'0' * 20} (int)"),
    ],
)
def test_other_values_are_named_with_query_document_and_type(value: Any, shown: str) -> None:
    assert f"run: score {shown} is not a number (query q1, document b). {ADVICE}" == refusal(
        lambda: as_run({"q1": {"a": 1, "b": value}})
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float32("nan"), np.float64("-inf")])
def test_numbers_that_are_not_finite_are_refused(value: Any) -> None:
    assert "is not a finite number (query q1, document b)." in refusal(lambda: as_run({"q1": {"a": 1, "b": value}}))


@pytest.mark.parametrize("doc", [1.5, None, True, "", ("a",), float("nan")])
def test_other_ids_are_refused(doc: Any) -> None:
    assert "run: document id " in refusal(lambda: as_run({"q1": {"a": 1, doc: 2}}))
    assert "run: query id " in refusal(lambda: as_run({doc: {"a": 1}}))


@pytest.mark.parametrize(
    ("one", "other", "named"),
    [
        (1, "1", "1 (int) and '1' (str)"),
        ("7", np.int64(7), "'7' (str) and 7 (int64)"),
        (b"a", "a", "b'a' (bytes) and 'a' (str)"),
    ],
)
@pytest.mark.parametrize(("read", "source"), [(as_run, "run"), (as_qrels, "qrels")])
def test_ids_that_are_the_same_as_text_are_refused(read: Any, source: str, one: Any, other: Any, named: str) -> None:
    advice = "are the same as text. Use one type for all ids, and each id once."

    assert f"{source}: the query ids {named} {advice}" == refusal(lambda: read({one: {"x": 1}, other: {"y": 2}}))
    assert f"{source}: the document ids {named} of query q1 {advice}" == refusal(
        lambda: read({"q1": {one: 1, "x": 0, other: 2}})
    )


@pytest.mark.parametrize("duplicates", ["error", "first", "best"])
def test_no_rule_merges_ids_that_are_the_same_as_text(duplicates: Any) -> None:
    rules, plain, twice = Rules(duplicates=duplicates), {"1": {"a": 1}}, {1: {"b": 1}, "1": {"a": 1}}

    assert "run: the query ids 1 (int)" in refusal(lambda: evaluate(plain, twice, ["AP"], rules=rules))
    assert "qrels: the query ids 1 (int)" in refusal(lambda: evaluate(twice, plain, ["AP"], rules=rules))


@pytest.mark.parametrize("value", [{}, {"q1": {}}])
def test_an_empty_dict_is_refused(value: dict[str, dict[str, int]]) -> None:
    assert "qrels: the dict is empty" == refusal(lambda: as_qrels(value))


def test_a_query_without_documents_adds_nothing() -> None:
    assert ("q2",) == as_run({"q1": {}, "q2": {"a": 1}}).queries


def test_letters_need_a_map() -> None:
    value = {"q1": {"a": "E", "b": 1, "c": "I"}}

    assert [3.0, 1.0, 0.0] == as_qrels(value, Reading(grades={"E": 3, "I": 0})).rel.tolist()
    assert "qrels: grade 'S' (str) is not a number (query q1, document a)." in refusal(
        lambda: as_qrels({"q1": {"a": "S"}}, Reading(grades={"E": 3}))
    )
