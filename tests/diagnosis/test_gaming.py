"""Spurious gains: trades between measures, and gains from a single segment."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.oneway import anova_oneway

from assay import diagnose, evaluate
from assay.diagnosis.gaming import WITNESSES
from diagnosis.alarms import alarms, equal_systems, kinds, the_same_gain_everywhere
from diagnosis.worlds import World, ranked


def moved(run, world, best_first: bool):
    """The same run with its best document first, or with all but its first ten gone."""
    new = {}
    for number, query in enumerate(world.queries):
        docs = ranked(run[query])
        if best_first:
            best = max(docs[:15], key=lambda doc: world.grades[number, world.docs.index(doc)])
            docs = [best, *(doc for doc in docs if doc != best)][:8]
        new[query] = {doc: float(-rank) for rank, doc in enumerate(docs)}
    return new


def test_a_gain_at_the_top_that_is_paid_with_recall_is_found():
    """The new run puts the best document first and shows eight: RR rises, recall falls."""
    world = World(1, queries=50)
    base = world.system(3.0)
    runs = {"base": base, "gamed": moved(base, world, best_first=True)}

    found = diagnose(world.qrels(), runs, ["RR@10"], only=["gaming"])["DIA030"]

    rows = {row["measure"]: row for row in found.tables[0].records()}
    assert "warning" == found.severity
    assert ("up", "down") == (rows["RR@10"]["goes"], rows["R@100"]["goes"])
    assert "Against base, gamed gains by one measure and loses by another." == found.measured


def test_p_values_are_those_of_other_programs():
    world = World(2, queries=50)
    base = world.system(3.0)
    runs = {"base": base, "gamed": moved(base, world, best_first=True), "same": world.system(3.0)}

    found = diagnose(world.qrels(), runs, ["nDCG@10"], only=["gaming"])["DIA030"]

    values = {name: evaluate(world.qrels(), run, WITNESSES).values for name, run in runs.items()}
    p = [
        stats.ttest_rel(values[name][:, column], values["base"][:, column]).pvalue
        for column in range(len(WITNESSES))
        for name in ("gamed", "same")
    ]
    p += [1.0, 1.0]  # judged@10 is 1 for all: nothing to test
    corrected = dict(zip(WITNESSES, multipletests(p, method="holm")[1][::2], strict=False))
    for row in found.tables[0].records():
        assert pytest.approx(corrected[row["measure"]], rel=1e-9) == row["corrected p"]


def test_a_gain_with_fewer_judged_documents_is_a_note():
    """Both were pooled except for the last documents of the new run, which are unjudged; it is still better."""
    world = World(3, queries=50)
    base, new = world.system(3.0), world.system(0.4)
    qrels = world.pool(base, depth=60)
    for query in world.queries:
        for doc in ranked(new[query])[7:10]:
            qrels[query].pop(doc, None)

    found = diagnose(qrels, {"base": base, "new": new}, ["P@5"], only=["gaming"])["DIA030"]

    assert "note" == found.severity
    assert "Against base, new gains while fewer of the documents shown are judged." == found.measured
    assert found.advice.startswith("The gain is based on fewer judged documents and is, if anything, too low")


def test_equal_systems_raise_no_alarms():
    """It takes two significant differences of opposite sign, so the rate is far below the level."""
    assert alarms(equal_systems, 60)["DIA030"] <= 1


def test_a_system_that_is_better_by_all_measures_is_fine():
    world = World(4, queries=50)
    found = diagnose(world.qrels(), {"a": world.system(3.0), "b": world.system(0.5)}, only=["gaming"])["DIA030"]

    assert ("fine", ()) == (found.severity, found.tables)


# Segments


def tuned(world, seed=0):
    """Base, and a system that is better on product codes only."""
    codes = np.array([kind == "code" for kind in kinds(world).values()])
    state = world.rng.bit_generator.state
    base = world.system(2.0, gain=0.6)
    world.rng.bit_generator.state = state  # the same noise: nothing else changes
    return {"base": base, "new": world.system(2.0, gain=np.where(codes, 8.0, 0.6))}


def test_a_gain_from_one_segment_is_found():
    world = World(5, queries=60)

    found = diagnose(world.qrels(), tuned(world), ["nDCG@10"], segments=kinds(world), only=["gaming"])["DIA031"]

    row = found.tables[0].records()[0]
    assert "warning" == found.severity
    assert ("code", 12, 0.0) == (row["segment"], row["queries"], row["elsewhere"])
    assert "12 of 60 queries account for 100% of the gain." in found.measured


def test_the_test_between_segments_is_statsmodels():
    world = World(6, queries=60)
    runs = tuned(world)
    found = diagnose(world.qrels(), runs, ["nDCG@10"], segments={"kind": kinds(world)}, only=["gaming"])["DIA031"]

    base, new = (evaluate(world.qrels(), run, ["nDCG@10"]).values[:, 0] for run in runs.values())
    labels = np.array(list(kinds(world).values()))
    groups = [(new - base)[labels == kind] for kind in ("code", "words")]
    expected = anova_oneway(groups, use_var="bf", welch_correction=False).pvalue2
    assert pytest.approx(expected, rel=1e-6) == found.tables[0].records()[0]["differs, p"]


def test_a_gain_everywhere_is_fine():
    world = World(7, queries=60)
    runs = {"base": world.system(3.0), "new": world.system(0.5)}

    found = diagnose(world.qrels(), runs, ["nDCG@10"], segments=kinds(world), only=["gaming"])["DIA031"]

    assert ("fine", "0 of 1 gains over base come from a single segment.") == (found.severity, found.measured)


def test_gains_everywhere_seldom_look_like_one_segment():
    assert alarms(the_same_gain_everywhere, 60)["DIA031"] <= 3 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_what_segments_need():
    world = World(8, queries=6)
    runs = {"a": world.system(1.0), "b": world.system(1.0)}

    def reason(**options):
        found = diagnose(world.qrels(), runs, only=["gaming"], **options)
        return next(missing.reason for missing in found.not_looked_at if missing.code == "DIA031")

    assert "needs `segments=` (query and its segment)" == reason()
    assert "no column of `segments=` has two segments with at least 5 judged queries" == reason(segments=kinds(world))
