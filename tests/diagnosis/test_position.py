"""Grades that decrease with the position shown: against other programs, with planted bias, and without."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay import diagnose
from assay.diagnosis import position as module
from assay.diagnosis.model import Settings
from assay.diagnosis.position import partial_correlation, within_ranks
from diagnosis.alarms import alarms, good_order_and_true_grades, shuffled, shuffled_order_and_true_grades
from diagnosis.worlds import World, ranked

FEW_DRAWS = Settings(draws=300)


def by_system(world, noise=1.0):
    run = world.system(noise)
    return {query: {doc: place + 1 for place, doc in enumerate(ranked(run[query]))} for query in world.queries}


def with_bias(world, shown, strength):
    """The true grades, lowered by one more often the lower a document was shown."""
    rng = np.random.default_rng(5)
    return {
        query: {
            doc: grade - int(grade > 0 and rng.random() < strength * shown[query][doc] / len(world.docs))
            for doc, grade in docs.items()
        }
        for query, docs in world.qrels().items()
    }


def found_in(world, qrels, shown, **options):
    runs = {"a": world.system(1.0), "b": world.system(1.0)}
    return diagnose(qrels, runs, ["nDCG@10"], presented=shown, only=["position"], **options)["DIA010"]


def test_ranks_within_queries_are_scipys():
    rng = np.random.default_rng(1)
    query = np.repeat(np.arange(20), rng.integers(1, 12, 20))
    values = rng.integers(0, 4, len(query)).astype(float)

    expected = np.empty(len(values))
    for number in range(20):
        own = query == number
        ranks = stats.rankdata(values[own])
        expected[own] = (ranks - ranks.mean()) / own.sum()
    np.testing.assert_allclose(expected, within_ranks(values, query), atol=1e-15)


def test_of_one_query_it_is_the_partial_rank_correlation():
    """Spearman correlations by SciPy, combined by the textbook formula."""
    rng = np.random.default_rng(2)
    relevance = rng.normal(size=80)
    grade = np.round(relevance + rng.normal(size=80))
    position = stats.rankdata(-relevance + rng.normal(size=80)).astype(np.int64)
    proxy = relevance + rng.normal(size=80)

    found = partial_correlation(np.zeros(80, np.int64), grade, position, proxy, 500, 1)

    gp, gx, px = (stats.spearmanr(a, b).statistic for a, b in ((grade, position), (grade, -proxy), (position, -proxy)))
    assert pytest.approx((gp - gx * px) / np.sqrt((1 - gx**2) * (1 - px**2))) == found.partial
    assert (pytest.approx(gp), pytest.approx(px)) == (found.raw, found.with_proxy)
    assert found.interval is None  # one query cannot be resampled


def test_of_several_queries_it_is_the_correlation_of_residuals():
    """By least squares with query dummies: the textbook within transformation."""
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(6), 15)
    x, noise = rng.normal(size=90), rng.normal(size=(2, 90))
    grade, position = np.round(x + noise[0]), stats.rankdata(-x + noise[1])

    found = partial_correlation(query, grade, position.astype(np.int64), x, 500, 1)

    design = np.column_stack([within_ranks(-x, query), *(query == number for number in range(6))]).astype(float)

    def residual(values):
        ranks = within_ranks(values, query)
        return ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0]

    assert pytest.approx(np.corrcoef(residual(grade), residual(position))[0, 1]) == found.partial
    assert found.interval[0] < found.partial < found.interval[1]


def test_drawn_and_computed_chances_agree(monkeypatch):
    rng = np.random.default_rng(4)
    query = np.repeat(np.arange(10), 20)
    grade, position = rng.integers(0, 3, 200).astype(float), rng.permutation(200)
    x = rng.normal(size=200)

    drawn = partial_correlation(query, grade, position, x, 20_000, 1)
    monkeypatch.setattr(module, "MOST", 0)
    computed = partial_correlation(query, grade, position, x, 20_000, 1)

    assert pytest.approx(drawn.p, abs=0.015) == computed.p
    assert "permutation within queries, 20,000 draws, seed 1" == drawn.test
    assert "permutation within queries, by its exact variance" == computed.test


def test_bias_is_found_where_the_order_was_shuffled():
    world = World(1, queries=30)
    shown = shuffled(world, 1)

    found = found_in(world, with_bias(world, shown, 0.8), shown, settings=FEW_DRAWS)

    assert "problem" == found.severity
    assert found.evidence[0].value < 0
    assert found.evidence[0].interval[1] < 0
    assert (
        "The order shown is nearly unrelated to relevance as estimated from the runs: this is bias." in found.measured
    )
    grades = [row["mean grade"] for row in found.tables[0].records()]
    assert grades[0] > grades[-1]


def test_without_bias_the_alarm_rate_is_the_level():
    """Shuffled orders and true grades: one in twenty, give or take what 120 seeds allow (three deviations)."""
    found = alarms(shuffled_order_and_true_grades, 120)

    assert found["DIA010"] <= 6 + 3 * np.sqrt(120 * 0.05 * 0.95)


def test_a_good_order_without_bias_is_no_more_than_a_note():
    """It cannot be distinguished from bias; the finding says that the runs correlate with the grades as much."""
    assert alarms(good_order_and_true_grades, 40)["DIA010"] <= 3

    world = World(1, queries=20, docs=40)
    found = found_in(world, world.qrels(), by_system(world), settings=FEW_DRAWS)
    assert "note" == found.severity
    assert "any good order would show this." in found.measured


def test_an_order_that_goes_with_the_grades_more_than_any_run_is_a_warning():
    world = World(2, queries=40)
    shown = by_system(world)
    qrels = {
        query: {doc: 2 if shown[query][doc] <= 5 else 1 if shown[query][doc] <= 15 else 0 for doc in docs}
        for query, docs in world.qrels().items()
    }

    found = found_in(world, qrels, shown, settings=FEW_DRAWS)

    assert "warning" == found.severity
    assert "bias, or an order far better than the runs." in found.measured


def test_a_run_that_is_the_order_itself_says_nothing_about_relevance():
    world = World(3)
    run = world.system(1.0)
    shown = {query: {doc: place + 1 for place, doc in enumerate(ranked(docs))} for query, docs in run.items()}

    alone = diagnose(world.qrels(), {"shown": run}, presented=shown, only=["position"])
    both = diagnose(world.qrels(), {"shown": run, "other": world.system(1.0)}, presented=shown, only=["position"])

    assert "add a run of another system" in alone.not_looked_at[0].reason
    assert "after controlling for relevance as estimated from 1 run." in both["DIA010"].measured


def test_without_a_presentation_runs_take_its_place_and_it_stays_a_note():
    world = World(4)
    runs = {name: world.system(1.0) for name in "abc"}

    found = diagnose(world.qrels(), runs, only=["position"])["DIA010"]

    assert "note" == found.severity
    assert "Grades decrease with rank beyond what the other runs explain in 3 of 3 runs" in found.measured
    assert "Without the order shown to assessors, bias cannot be distinguished from a good ranking." in found.measured
    assert "Give a file of what was presented" in found.advice


def test_what_cannot_be_looked_at():
    world = World(5, queries=3, docs=10)
    one = diagnose(world.qrels(), {"a": world.system(1.0)}, only=["position"])
    stranger = diagnose(
        world.qrels(), {"a": world.system(1.0)}, only=["position"], presented={"other": {"x": 1, "y": 2}}
    )

    assert one.not_looked_at[0].reason.startswith("needs `presented=` (query, document, position")
    assert "does it use the same ids as the judgments?" in stranger.not_looked_at[0].reason
