"""Runs matched by query and document, on a case that is easy to follow."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import FusionError
from assay.fusion.pooled import pool_runs, total_of
from assay.fusion.registry import METHODS, NORMALISATIONS, MethodParameter, find_method, find_normalisation
from fusion.small import runs

ONE = {"q": {"a": 2.0, "b": 1.0}, "p": {"a": 5.0}}
TWO = {"q": {"b": 0.5, "c": 0.9}}


def pooled():
    return pool_runs(runs(ONE, TWO), np.ones(2))


def rows(found):
    """Run, query, document, rank and score of each row."""
    return [
        (run, found.queries[found.pair_query[pair]], found.pair_doc[pair], rank, score)
        for run, pair, rank, score in zip(
            found.run.tolist(), found.pair.tolist(), found.rank.tolist(), found.score.tolist(), strict=True
        )
    ]


def test_rows_keep_what_the_runs_say():
    assert [
        (0, "q", "a", 1, 2.0),
        (0, "q", "b", 2, 1.0),
        (0, "p", "a", 1, 5.0),
        (1, "q", "b", 2, 0.5),
        (1, "q", "c", 1, 0.9),
    ] == rows(pooled())


def test_counts():
    found = pooled()

    assert ("p", "q") == found.queries
    assert [1, 3] == found.candidates.tolist()
    assert [1, 2, 0, 2] == found.retrieved.tolist()  # first run: p, q; second run: p, q
    assert {"pa": 1, "qa": 1, "qb": 2, "qc": 1} == {
        found.queries[query] + doc: number
        for query, doc, number in zip(found.pair_query, found.pair_doc, found.found, strict=True)
    }


def test_pairs_lie_in_the_order_of_their_queries():
    assert sorted(pooled().pair_query.tolist()) == pooled().pair_query.tolist()


def test_completed_has_a_row_for_every_run_and_pair():
    found = pooled().completed(np.array([0.0, -1.0, -2.0, -3.0]))

    assert [(0, "q", "c", 3, -1.0), (1, "p", "a", 1, -2.0), (1, "q", "a", 3, -3.0)] == rows(found)[5:]
    assert [2, 2, 2, 2] == found.found.tolist()


def test_sums_start_with_the_smallest():
    values = np.array([1e16, 1.0, 1.0])  # 1e16 + 1 is 1e16 again

    assert [1e16 + 2] == total_of(values, np.zeros(3, np.int64), 1).tolist()
    assert [1e16 + 2] == total_of(values[::-1], np.zeros(3, np.int64), 1).tolist()
    assert [0.0, 0.0] == total_of(np.empty(0), np.empty(0, np.int64), 2).tolist()


def test_parameters_say_what_they_allow():
    assert ("a number from 0", True, False) == (
        MethodParameter("", 0).allowed,
        *map(MethodParameter("", 0).allows, (0, -0.1)),
    )
    inside = MethodParameter("", 0, 1, open_ends=True)
    assert ("a number between 0 and 1", True, False, False) == (inside.allowed, *map(inside.allows, (0.5, 0, 1)))
    assert "a number from 0 to 1" == MethodParameter("", 0, 1).allowed


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_declared_parameters_are_those_of_the_function(method):
    assert list(method.parameters) == list(method.defaults)
    assert method.defaults == method.checked({})
    assert all(parameter.allows(method.defaults[name]) for name, parameter in method.parameters.items())


def test_no_name_means_two_things():
    for known, find in ((METHODS, find_method), (NORMALISATIONS, find_normalisation)):
        words = [word for entry in known.values() for word in (entry.name, *entry.aliases)]

        assert len(words) == len(set(words))
        assert [entry.name for entry in known.values() for _ in (entry.name, *entry.aliases)] == [
            find(word.upper()).name for word in words
        ]


def test_none_is_a_normalisation_and_no_method():
    assert "none" == find_normalisation(None).name
    with pytest.raises(FusionError, match="no fusion method called None"):
        find_method(None)
