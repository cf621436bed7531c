"""How much runs owe to documents that only they contributed to the pool."""

from __future__ import annotations

import pytest
from scipy import stats

from assay import diagnose, evaluate
from assay.diagnosis.model import Settings
from diagnosis.worlds import World, ranked


def test_the_loss_is_that_of_an_evaluation_without_the_own_finds():
    world = World(8, queries=25)
    runs = {f"s{number}": world.system(noise) for number, noise in enumerate((0.5, 1.0, 2.0))}
    qrels = world.pool(*runs.values(), depth=6)
    measures = ["nDCG@10", "AP", "R@20"]

    found = diagnose(qrels, runs, measures, only=["labels"], settings=Settings(pool_depth=6))["DIA005"]

    rows = {(row["measure"], row["run"]): row for row in found.tables[0].records()}
    for name, run in runs.items():
        others = [other for other in runs if other != name]
        fewer = {
            query: {
                doc: grade
                for doc, grade in docs.items()
                if not grade
                or doc not in ranked(run[query])[:6]
                or any(doc in ranked(runs[other][query])[:6] for other in others)
            }
            for query, docs in qrels.items()
        }
        before, after = evaluate(qrels, run, measures), evaluate(fewer, run, measures)
        for column, measure in enumerate(measures):
            row = rows[measure, name]
            loss = before.values[:, column] - after.values[:, column]
            interval = stats.ttest_1samp(loss, 0).confidence_interval()
            assert pytest.approx(after.mean()[measure]) == row["without"]
            assert pytest.approx(loss.mean()) == row["loss"]
            assert pytest.approx((interval.low, interval.high)) == row["95% interval"]
            assert sum(map(len, qrels.values())) - sum(map(len, fewer.values())) == row["unique"]


def test_a_run_that_lives_on_its_own_finds_is_named():
    """Five runs see the same half of the documents; `odd` sees the other half, and all tops were judged."""
    world = World(9, queries=40, docs=80)
    half = {doc for number, doc in enumerate(world.docs) if number % 2}
    alike = {f"s{number}": world.system(0.5) for number in range(5)}
    alike = {
        name: {q: {d: s for d, s in docs.items() if d in half} for q, docs in run.items()}
        for name, run in alike.items()
    }
    odd = {query: {d: s for d, s in docs.items() if d not in half} for query, docs in world.system(0.4).items()}
    runs = {**alike, "odd": odd}

    found = diagnose(world.pool(*runs.values(), depth=10), runs, ["nDCG@10"], only=["labels"])["DIA005"]

    row = next(row for row in found.tables[0].records() if row["run"] == "odd")
    assert "warning" == found.severity
    assert "odd loses 100.0% of its nDCG@10" in found.measured
    assert (0.0, 6) == (row["without"], row["then"])


def test_runs_that_find_the_same_owe_nothing():
    world = World(10)
    run = world.system(0.5)
    found = diagnose(world.pool(run, depth=10), {"a": run, "b": run}, ["AP"], only=["labels"])["DIA005"]

    assert ("fine", "0 relevant documents were found by only one of the 2 runs ") == (
        found.severity,
        found.measured[:58],
    )


def test_one_run_cannot_be_left_out_of_the_pool():
    found = diagnose({"q": {"a": 1, "n": 0}}, {"r": {"q": {"a": 1.0}}}, ["AP"], only=["labels"])

    assert {"DIA003", "DIA005"} == {missing.code for missing in found.not_looked_at}
