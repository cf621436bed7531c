"""Many pairs are described at once; each gets what it gets alone, to the last bit."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.comparison import moves, paired
from assay.comparison.comparing import compare_scores
from assay.comparison.intervals import mean_interval, mean_intervals
from assay.comparison.moves import most_moved
from assay.comparison.paired import Paired, difference_moments
from assay.comparison.pairs import Study, SystemScores

VALUE = st.sampled_from([0.0, 0.1, 0.2, 0.30000000000000004, 0.5, 1.0, math.nan])


@st.composite
def systems(draw: st.DrawFn) -> SystemScores:
    queries, count = draw(st.integers(1, 8)), draw(st.integers(2, 5))
    rows = draw(st.lists(st.lists(VALUE, min_size=count, max_size=count), min_size=queries, max_size=queries))
    names = tuple(f"q{number}" for number in range(queries))
    return SystemScores(tuple("abcde"[:count]), names, ("nDCG@10",), np.array([rows]))


@given(systems())
def test_each_pair_is_as_it_is_alone(scores: SystemScores) -> None:
    together = compare_scores(scores, Study(all_pairs=True, correction="none"), moves=2)

    for pair, moved, (first, second) in zip(
        together.pairs, together.moves, combinations(range(len(scores.systems)), 2), strict=True
    ):
        both = SystemScores(
            (scores.systems[first], scores.systems[second]),
            scores.queries,
            scores.measures,
            scores.values[:, :, [first, second]],
        )
        alone = compare_scores(both, Study(correction="none"), moves=2)
        assert repr(alone.pairs[0]) == repr(pair)  # NaN equals itself as text
        assert repr(alone.moves[0]) == repr(moved)


@given(systems())
def test_moments_are_those_of_each_difference(scores: SystemScores) -> None:
    values = scores.values[0]
    pairs = tuple(combinations(range(values.shape[1]), 2))
    found = Paired(values, pairs).moments

    for number, (first, second) in enumerate(pairs):
        difference, expected = difference_moments(values[:, first], values[:, second])
        assert len(difference) == found.count[number]
        if expected is not None:
            assert (expected.mean, expected.deviation) == (found.mean[number], found.deviation[number])
        assert mean_interval(difference) == mean_intervals(found)[number]


def test_all_pairs_are_scipys_tests() -> None:
    values = np.random.default_rng(3).random((50, 6))
    names = tuple(f"q{number}" for number in range(50))
    found = compare_scores(SystemScores(tuple("abcdef"), names, ("AP",), values[None]), Study(all_pairs=True))

    for pair, (first, second) in zip(found.pairs, combinations(range(6), 2), strict=True):
        expected = stats.ttest_rel(values[:, second], values[:, first])
        assert expected.pvalue == pytest.approx(pair.p, rel=1e-9)


def test_blocks_of_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).random((1, 9, 6))
    values[0, 2, 3] = math.nan
    scores = SystemScores(tuple("abcdef"), tuple(f"q{number}" for number in range(9)), ("AP",), values)
    study = Study(all_pairs=True)
    at_once = compare_scores(scores, study)
    monkeypatch.setattr(paired, "_AT_ONCE", 20)  # two pairs
    monkeypatch.setattr(moves, "_AT_ONCE", 20)

    assert at_once.pairs == compare_scores(scores, study).pairs
    assert at_once.moves == most_moved(scores, study, 3)
