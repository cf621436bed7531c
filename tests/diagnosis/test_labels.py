"""Unjudged documents, and measures that ignore them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.multitest import multipletests

from assay import diagnose, evaluate
from diagnosis.worlds import World, ranked


def test_judged_share_by_hand():
    """r has 1 of 2 judged for q1, and nothing for q2, which is left out of its mean."""
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    runs = {"r": {"q1": {"a": 2.0, "x": 1.0}}, "s": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0, "y": 0.5}}}

    found = diagnose(qrels, runs, ["P@2"], only=["labels"])["DIA001"]

    rows = found.tables[0].records()
    assert [("r", 0.5, 0, 1, 1), ("s", 0.75, 1, 2, 1)] == [
        (row["run"], row["judged@10"], row["queries all judged"], row["queries"], row["unjudged"]) for row in rows
    ]
    assert ("judged@10: r 50.0%, s 75.0%. 2 documents in the first 10 of a run are unjudged.") == found.measured


def test_uneven_judging_is_tested_as_statsmodels_does():
    world = World(2)
    runs = {"old": world.system(0.5), "older": world.system(0.8), "new": world.system(3.0)}
    found = diagnose(world.pool(runs["old"], runs["older"], depth=10), runs, ["nDCG@10"], only=["labels"])["DIA001"]

    import pandas

    qrels = world.pool(runs["old"], runs["older"], depth=10)
    rows = [
        {"query": query, "run": name, "share": np.mean([doc in qrels[query] for doc in ranked(run[query])[:10]])}
        for name, run in runs.items()
        for query in world.queries
    ]
    expected = AnovaRM(pandas.DataFrame(rows), "share", "query", within=["run"]).fit().anova_table["Pr > F"].iloc[0]
    p = next(evidence for evidence in found.evidence if evidence.what == "judged@k equal in all runs").p
    assert pytest.approx(expected, rel=1e-9) == p
    assert found.severity in ("problem", "warning")


def test_severity_grows_with_what_is_unknown():
    def severity(judged: int) -> str:
        qrels = {f"q{n}": {f"d{rank}": int(rank > 0) for rank in range(judged)} for n in range(10)}
        run = {f"q{n}": {f"d{rank}": 10.0 - rank for rank in range(10)} for n in range(10)}
        return diagnose(qrels, {"r": run}, ["P@10"], only=["labels"])["DIA001"].severity

    assert ["problem", "warning", "note", "fine"] == [severity(judged) for judged in (4, 7, 9, 10)]


def test_complete_judgments_raise_no_alarm_about_labels():
    world = World(4)
    found = diagnose(world.qrels(), {"a": world.system(0.5), "b": world.system(1.0)}, only=["labels"])

    assert ["DIA001", "DIA002", "DIA003", "DIA006"] == [
        code for code in found.codes("fine") if code not in ("DIA004", "DIA005")
    ]
    assert 0 == found.count("problem") + found.count("warning")


def test_bpref_and_ap_in_opposite_order_are_found():
    """`new` ranks relevant documents well but unjudged ones above them; `old` was judged completely."""
    queries = [f"q{number}" for number in range(30)]
    qrels = {query: {"r1": 1, "r2": 1, "n1": 0, "n2": 0, "n3": 0, "n4": 0} for query in queries}
    rng = np.random.default_rng(1)

    def run(*choices):
        """Each query gets one of the rankings."""
        chosen = [choices[number].split() for number in rng.integers(0, len(choices), len(queries))]
        return {
            query: {doc: float(-rank) for rank, doc in enumerate(docs)}
            for query, docs in zip(queries, chosen, strict=True)
        }

    runs = {
        "old": run("n1 r1 n2 r2 n3", "n1 r1 r2 n2 n3", "n1 n2 r1 r2"),
        "new": run("u1 u2 u3 r1 u4 u5 r2 n1", "u1 u2 u3 u4 r1 n1 r2", "u1 u2 u3 u4 u5 r1 r2"),
    }
    found = diagnose(qrels, runs, ["AP"], only=["labels"])["DIA004"]

    row = found.tables[1].records()[0]
    values = {name: evaluate(qrels, given, ["AP", "Bpref"]).values for name, given in runs.items()}
    p = [stats.ttest_rel(values["old"][:, column], values["new"][:, column]).pvalue for column in (0, 1)]
    assert ("old", "new") == (row["first"], row["second"])
    np.testing.assert_allclose(multipletests(p, method="holm")[1], [row["p of AP"], row["p of bpref"]], rtol=1e-9)
    assert ("warning", True) == (found.severity, row["AP"] * row["bpref"] < 0)
    assert "AP and bpref put 1 of 1 pair of runs in opposite order (Kendall's tau -1.00)" in found.measured


def test_tau_is_kendalls():
    world = World(5)
    runs = {f"s{number}": world.system(noise) for number, noise in enumerate((0.5, 0.8, 1.2, 2.0, 4.0))}
    found = diagnose(world.pool(runs["s0"], depth=5), runs, only=["labels"])["DIA004"]

    table = found.tables[0].records()
    expected = stats.kendalltau([row["AP"] for row in table], [row["Bpref"] for row in table]).statistic
    assert pytest.approx(expected) == found.evidence[0].value


def test_one_run_has_no_order():
    found = diagnose({"q": {"a": 1, "b": 0}}, {"r": {"q": {"a": 1.0}}}, ["AP"], only=["labels"])

    assert "note" == found["DIA004"].severity
    assert (
        "AP 1.0000, bpref 1.0000, infAP 1.0000. With one run there is no order to compare." == found["DIA004"].measured
    )
