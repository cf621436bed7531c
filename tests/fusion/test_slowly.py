"""Fusion by columns gives the same result as plain Python, document by document."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import fuse
from assay.fusion import METHODS, NORMALISATIONS
from fusion import slowly
from fusion.small import runs, scores_of, several

WEIGHTS = st.lists(st.integers(1, 9).map(lambda number: number / 4), min_size=4, max_size=4)


def test_there_is_a_slow_twin_of_everything():
    assert set(METHODS) == set(slowly.METHODS)
    assert set(NORMALISATIONS) == set(slowly.NORMALISATIONS)
    assert set(slowly.BY_RANK) == {name for name, method in METHODS.items() if method.uses == "ranks"}


@pytest.mark.parametrize("norm", NORMALISATIONS)
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(parts=several, weights=WEIGHTS, weigh=st.booleans())
def test_fast_is_slow(method, norm, parts, weights, weigh):
    parts = parts[: METHODS[method].runs]
    takes = METHODS[method].weights
    given_weights = weights[: len(parts)] if takes == "required" or (takes == "optional" and weigh) else None
    fast = scores_of(fuse(runs(*parts), method, norm, given_weights))
    slow = slowly.fuse_slowly(parts, method, norm, given_weights)

    assert set(slow) == set(fast)
    for query, docs in slow.items():
        assert docs == pytest.approx(fast[query], rel=1e-9, abs=1e-9)
