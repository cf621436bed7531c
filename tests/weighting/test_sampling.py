"""Samples of queries by traffic: known chances, all parts of the traffic kept, estimates that are right on average."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.weighting.estimating import weighted_mean
from assay.weighting.sampling import probabilities, sample_queries, strata_of
from assay.weighting.writing import queries_as_tsv, weights_as_tsv
from weighting.coverage import measured

LOG = {"shoes": 500, "boots": 300, **{f"torso {n}": 40 for n in range(10)}, **{f"tail {n}": 4 for n in range(100)}}


def test_a_log_by_hand():
    """1,600 searches: shoes and boots are half of them and so the head, the torso a quarter, the tail a quarter.

    The 20 queries are shared out by traffic: 10, 5 and 5. The head has only two, so the others share 18: 9 of 10, and 9 of
    100.
    """
    sample = sample_queries(LOG, 20)

    assert [("head", 2, 800, 2, 2), ("torso", 10, 400, 9, 0), ("tail", 100, 400, 9, 0)] == [
        (one.name, one.queries, one.traffic, one.sampled, one.certain) for one in sample.strata
    ]
    assert [1] * 2 + [0.9] * 9 + [0.09] * 9 == pytest.approx(sample.weights.probability.tolist())
    assert [500, 300, *[40 / 0.9] * 9, *[4 / 0.09] * 9] == pytest.approx(sample.weights.weight.tolist())
    assert 1600 == pytest.approx(sample.weights.weight.sum())


def test_files_by_hand():
    sample = sample_queries({"a": 6, "b": 3, "c": 2, "d": 1}, 4)

    assert "\ta\n" in queries_as_tsv(sample)
    assert "query\tweight\tprobability\tstratum\tcount" == weights_as_tsv(sample).splitlines()[0]
    assert weights_as_tsv(sample).splitlines()[1].endswith("\t6\t1\thead\t6")


def test_a_text_with_a_line_break_cannot_be_written():
    with pytest.raises(InputError, match=re.escape(r"'a\\nb' contains a tab or a line break")):
        queries_as_tsv(sample_queries({"a\nb": 1}, 1))


def test_the_sample_depends_on_the_seed_and_not_on_the_order_of_the_log():
    backwards = dict(reversed(LOG.items()))

    assert sample_queries(LOG, 30, seed=5).texts == sample_queries(backwards, 30, seed=5).texts
    assert sample_queries(LOG, 30, seed=5).texts != sample_queries(LOG, 30, seed=6).texts


def test_an_id_depends_on_the_text_only():
    first, second = (
        dict(zip(sample.texts, sample.weights.queries, strict=True))
        for sample in (sample_queries(LOG, 30, seed=1), sample_queries(LOG, 60, seed=2))
    )

    assert first.keys() & second.keys()
    assert all(first[text] == second[text] for text in first.keys() & second.keys())


def test_all_queries_are_taken_if_there_are_no_more():
    sample = sample_queries(LOG, 500)

    assert sample.complete
    assert len(LOG) == len(sample.texts)
    assert {1.0} == set(sample.weights.probability.tolist())


def test_equally_frequent_queries_are_one_stratum():
    sample = sample_queries({f"q{n}": 1 for n in range(50)}, 10)

    assert ["all"] == [one.name for one in sample.strata]
    assert [0.2] * 10 == pytest.approx(sample.weights.probability.tolist())


def test_uniform_weights_count_each_query_once():
    sample = sample_queries(LOG, 56, by="uniform")

    assert 112 == pytest.approx(sample.weights.weight.sum())
    assert {"head", "torso", "tail"} == set(sample.weights.strata)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 5}, "a sample of 5 queries is too small: it takes 2 of each part of the traffic, `size=6` or more."),
        ({"size": 0}, "size cannot be 0"),
        ({"size": 20, "by": "luck"}, "by cannot be 'luck'; it takes traffic or uniform."),
        ({"size": 20, "seed": -1}, "seed cannot be -1"),
    ],
)
def test_what_cannot_be_drawn(given, message):
    with pytest.raises(InputError, match=re.escape(message)):
        sample_queries(LOG, **given)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({}, "there are no queries to sample from."),
        ({"tent": 2, "red shoes": 0}, "the count of 'red shoes' cannot be 0; it takes a number greater than 0"),
        ({"tent": -1}, "the count of 'tent' cannot be -1; it takes"),
        ({"tent": math.nan}, "the count of 'tent' cannot be nan; it takes"),
        (
            {"tent": 1e308, "rope": 1e308},
            "the count of 'tent' cannot be 1e+308; it takes a number greater than 0 and at most",
        ),
        ({"tent": "many"}, "the count of 'tent' cannot be 'many'; it takes"),
        ({1: 2}, "a query cannot be 1; it takes a text."),
        (["tent", "rope"], "counts cannot be a list; it takes how often each query was asked: {'red shoes': 410}."),
    ],
)
def test_counts_that_are_none(counts, message):
    with pytest.raises(InputError, match=re.escape(message)):
        sample_queries(counts, 3)


counts_of_logs = st.lists(st.integers(1, 10_000), min_size=8, max_size=80)


@given(counts_of_logs, st.integers(6, 60), st.integers(0, 100))
def test_laws_of_every_sample(counts, size, seed):
    log = {f"query {number}": count for number, count in enumerate(counts)}
    sample = sample_queries(log, size, seed=seed)

    assert min(size, len(log)) == len(sample.texts) == len(set(sample.texts))
    assert sum(counts) == pytest.approx(sample.weights.weight.sum())  # so Horvitz-Thompson and the ratio are the same
    assert all(one.sampled >= min(2, one.queries) for one in sample.strata)
    assert sum(counts) == sample.traffic
    assert ((sample.weights.probability > 0) & (sample.weights.probability <= 1)).all()


@given(counts_of_logs, st.integers(6, 60))
def test_chances_add_up_to_the_size(counts, size):
    falling = np.sort(np.array(counts, float))[::-1]
    chance = probabilities(falling, strata_of(falling), size)

    assert min(size, len(counts)) == pytest.approx(chance.sum())


@pytest.mark.slow
def test_each_query_is_drawn_as_often_as_its_probability_says():
    draws, log = 20_000, {"a": 40, "b": 20, "c": 12, "d": 9, "e": 7, "f": 5, "g": 3, "h": 2, "i": 1, "j": 1}
    falling = np.array(sorted(log.values(), reverse=True), float)
    chance = dict(
        zip(sorted(log, key=lambda text: -log[text]), probabilities(falling, strata_of(falling), 6), strict=True)
    )
    drawn = Counter(text for seed in range(draws) for text in sample_queries(log, 6, seed=seed).texts)

    for text, expected in chance.items():
        assert abs(drawn[text] / draws - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / draws)


@pytest.mark.slow
def test_over_2000_seeds_the_estimate_is_unbiased_and_its_interval_covers():
    """The whole way from counts to an interval, as a user goes it."""
    random = np.random.default_rng(3)
    log = {f"query {rank}": float(2000 // rank + 1) for rank in range(1, 301)}
    value = {
        text: float(np.clip(0.3 + np.log(count) / 15 + random.normal(0, 0.25), 0, 1)) for text, count in log.items()
    }
    truth = sum(log[text] * value[text] for text in log) / sum(log.values())
    found = []
    for seed in range(2000):
        sample = sample_queries(log, 60, seed=seed)
        values = np.array([value[text] for text in sample.texts])
        found.append(weighted_mean(sample.weights, sample.weights.queries, values))
    means = np.array([one.mean for one in found])

    assert abs(means.mean() - truth) <= 3 * means.std(ddof=1) / np.sqrt(2000)
    assert 0.93 <= np.mean([one.interval[0] <= truth <= one.interval[1] for one in found]) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("size", [50, 200, 500])
@pytest.mark.parametrize(
    ("exponent", "kind"),
    [(0.8, "rising"), (1.0, "success"), (1.2, "falling"), (1.0, "difference"), (1.2, "reciprocal rank")],
)
def test_planted_logs(exponent, kind, size):
    """The requirement: within 3 standard errors over 2,000 samples, and 95% intervals that cover in 93 to 97%."""
    found = measured(exponent, kind, size, queries=5000)

    assert abs(found.bias) <= 3
    assert 0.93 <= found.covered <= 0.97
    assert 0.95 <= found.stated <= 1.05
