"""Tables are columns; ids are text in byte order."""

from __future__ import annotations

import pytest

from assay import Qrels, Run
from assay.errors import InputError
from assay.tables import in_byte_order


def test_queries_are_distinct_and_in_byte_order():
    qrels = Qrels.from_columns(["b", "é", "a", "b", "B"], ["x"] * 5, [1, 2, 3, 4, 5])

    assert ("B", "a", "b", "é") == qrels.queries
    assert [2, 3, 1, 2, 0] == qrels.query.tolist()


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(InputError, match=r"columns have different lengths: \[1, 2\]"):
        Qrels.from_columns(["q", "q"], ["a"], [1, 1])


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(score):
    with pytest.raises(InputError, match=r"score .* is not a finite number \(query q, document b; 1 such rows\)"):
        Run.from_columns(["q", "q"], ["a", "b"], [1.0, score])


def test_byte_order_of_undecodable_ids():
    assert ["a", "é", "\ue000", "\udcf5"] == in_byte_order(["\udcf5", "é", "a", "\ue000"])
    assert ["b", "a"] == in_byte_order(["a", "b"], reverse=True)


def test_a_run_can_be_named():
    assert "new" == Run.from_columns(["q"], ["a"], [1]).named("new").name


def test_ids_are_text():
    with pytest.raises(InputError, match=r"ids must be text, not int; use str\(id\)"):
        Run.from_columns(["q"], [5], [1.0])
    with pytest.raises(InputError, match="columns must be one-dimensional: one value per row"):
        Run.from_columns(["q"], ["a"], [[1.0]])
