"""A diagnosis as a whole, from Python."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import assay
from assay import diagnose, parse_run
from assay.diagnosis.model import AREAS, Settings
from assay.diagnosis.registry import all_looks, find_look
from assay.errors import AssayError, InputError
from assay.example import QRELS, RUNS
from assay.measures.conventions import CONVENTIONS
from diagnosis.worlds import World, ranked


def test_every_look_finds_something_to_say_or_says_what_it_lacks():
    found = diagnose(QRELS, list(RUNS))

    assert {look.code for look in all_looks()} == {
        *found.codes(),
        *(missing.code for missing in found.not_looked_at),
    }
    for finding in found:
        assert finding.measured.endswith(".")
        assert finding.sure.endswith(".")
        assert bool(finding.advice) == (finding.severity != "fine")
    for missing in found.not_looked_at:
        assert missing.reason


def test_the_gravest_comes_first():
    found = diagnose(QRELS, list(RUNS))
    order = [("problem", "warning", "note", "fine").index(finding.severity) for finding in found]

    assert sorted(order) == order
    assert len(found.findings) == sum(found.counts.values())
    assert found["dia001"].code == "DIA001"
    with pytest.raises(KeyError):
        found["DIA999"]


def test_only_some_areas():
    assert {"labels"} == {finding.area for finding in diagnose(QRELS, list(RUNS), only=["labels"])}
    with pytest.raises(AssayError, match=r"no area called 'label'; did you mean 'labels'\?"):
        diagnose(QRELS, list(RUNS), only=["label"])
    assert ("labels", "position", "queries", "gaming") == AREAS


def test_names_of_runs():
    run = {"q": {"a": 1.0}}
    qrels = {"q": {"a": 1}}

    assert ("bm25", "dense") == diagnose(qrels, {"bm25": run, "dense": run}, ["AP"]).systems
    assert ("run",) == diagnose(qrels, run, ["AP"]).systems
    assert ("keyword",) == diagnose(QRELS, RUNS[0]).systems
    with pytest.raises(AssayError, match="two runs are called 'run'; give them different names"):
        diagnose(qrels, [run, run], ["AP"])
    with pytest.raises(AssayError, match="a diagnosis needs at least one run"):
        diagnose(qrels, [], ["AP"])


def test_the_baseline():
    assert "hybrid" == diagnose(QRELS, list(RUNS), baseline="hybrid").baseline
    with pytest.raises(AssayError, match=r"no run called 'hybird' for the baseline; did you mean 'hybrid'\?"):
        diagnose(QRELS, list(RUNS), baseline="hybird")


@pytest.mark.parametrize("given", [{"k": 0}, {"alpha": 0.0}, {"draws": 0}, {"seed": -1}, {"pool_depth": 1.5}])
def test_impossible_settings(given):
    with pytest.raises(AssayError, match=f"{next(iter(given))} cannot be"):
        Settings(**given)


def test_settings_may_be_a_dict():
    assert Settings(k=3) == diagnose(QRELS, list(RUNS), settings={"k": 3}).settings
    with pytest.raises(AssayError, match=r"no setting called 'depth'; did you mean 'pool_depth'\?"):
        diagnose(QRELS, list(RUNS), settings={"depth": 3})


@pytest.mark.parametrize("like", list(CONVENTIONS))
def test_all_conventions_can_be_followed(like):
    """Conventions without bpref or infAP say so; additional measures never cause an error."""
    measure = "nDCG@10" if like in ("sklearn", "opensearch") else "RR@10"
    world = World(1, queries=10, docs=20)
    rows = [
        "".join(
            f"{query} Q0 {doc} {rank} {-rank} x\n" for query in run for rank, doc in enumerate(ranked(run[query]), 1)
        )
        for run in (world.system(1.0), world.system(1.0))
    ]

    found = diagnose(
        world.qrels(), [parse_run(text, name=name) for text, name in zip(rows, "ab", strict=True)], [measure], like=like
    )

    lacking = [missing.reason for missing in found.not_looked_at if missing.code == "DIA004"]
    assert all("; leave out `like=` and `ties=`" in reason for reason in lacking)
    assert ("DIA004" in found.codes()) != bool(lacking)
    assert {"DIA001", "DIA002", "DIA003", "DIA005", "DIA030"} <= set(found.codes())


def test_expected_values_under_ties():
    """Bpref has none; everything else is checked."""
    found = diagnose(QRELS, list(RUNS), ["nDCG@10"], rules={"ties": "expected"}, only=["labels", "gaming"])

    reasons = {missing.code: missing.reason for missing in found.not_looked_at}
    assert {"DIA004", "DIA031", "DIA032"} == set(reasons)
    assert reasons["DIA004"].startswith("there is no Bpref and no infAP under these conventions and rules")


def test_the_share_of_judged_documents_is_the_measure():
    world = World(2, queries=10, docs=20)
    run = world.system(1.0)
    qrels = world.pool(world.system(1.0), depth=4)

    found = diagnose(qrels, {"r": run}, ["P@5"], only=["labels"], settings=Settings(k=7))["DIA001"]

    assert pytest.approx(assay.evaluate(qrels, run, ["Judged@7"]).mean()["Judged@7"]) == found.evidence[0].value


def test_measures_that_reward_nothing_and_those_by_subtopic_are_passed_over():
    found = diagnose({"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}, ["NumRel"])

    assert "none of the requested measures rewards a good ranking" in {
        missing.reason for missing in found.not_looked_at
    }


def test_no_document_is_relevant_and_a_run_is_empty_for_some_queries():
    """Nothing divides by zero, and nothing is made up."""
    qrels = {"q1": {"a": 0}, "q2": {"a": 0, "b": 0}}
    found = diagnose(qrels, {"r": {"q1": {"a": 1.0}}, "s": {"q1": {"x": 1.0}, "q2": {"b": 1.0}}})

    values = [evidence.value for finding in found for evidence in finding.evidence]
    assert all(value is None or np.isfinite(value) for value in values)


@pytest.mark.parametrize("rules", [{"queries": "both"}, {"undefined": "nan"}, {"queries": "both", "undefined": "nan"}])
def test_queries_that_do_not_count_are_in_nobodys_way(rules):
    """One run lacks a query, and one query has nothing relevant."""
    world = World(5, queries=20, docs=30)
    runs = {"a": world.system(1.0), "b": world.system(1.5)}
    del runs["b"]["q004"]
    qrels = world.pool(runs["a"], depth=6)
    qrels["q007"] = dict.fromkeys(qrels["q007"], 0)

    found = diagnose(qrels, runs, ["nDCG@10", "AP"], rules=rules)

    for row in found["DIA002"].tables[0].records():
        expected = assay.evaluate(qrels, runs[row["run"]], ["nDCG@10", "AP"], rules=rules).mean()
        assert pytest.approx(expected[row["measure"]]) == row["none relevant"]
        assert row["lowest"] <= row["none relevant"] <= row["highest"]


def test_the_same_call_gives_the_same():
    world = World(3)
    runs = {"a": world.system(1.0), "b": world.system(2.0)}

    assert diagnose(world.pool(runs["a"], depth=5), runs) == diagnose(world.pool(runs["a"], depth=5), runs)


def test_swapping_the_runs_changes_no_figure_of_a_run():
    world = World(4)
    a, b = world.system(1.0), world.system(2.0)
    qrels = world.pool(a, depth=5)
    first, second = (diagnose(qrels, runs) for runs in ({"a": a, "b": b}, {"b": b, "a": a}))

    for code in ("DIA001", "DIA002", "DIA005", "DIA006", "DIA010"):
        rows = [sorted(found[code].tables[0].rows, key=str) for found in (first, second)]
        assert rows[0] == rows[1], code


@pytest.mark.parametrize("look", all_looks(), ids=lambda look: look.code)
def test_every_look_has_a_page(look):
    text = inspect.getdoc(look.function)

    assert look is find_look(look.code.lower())
    for section in ("Why: ", "Measured: ", "Limits: "):
        assert f"\n\n{section}" in text
    assert look.advice.endswith(".")
    assert not look.title.endswith(".")


def test_an_unknown_code():
    with pytest.raises(InputError, match="no finding has the code 'DIA0'; "):
        find_look("DIA0")


def test_real_judgments_and_runs(shared_data):
    """TREC-COVID: a run that was not pooled is distinguished from one that was."""
    names = ("sab20.1.meta.docs", "jlrecall", "Technion-RRF", "BERT", "run2")
    runs = {name: shared_data / "cases" / f"trec_covid_r1_{name}" / "run.gz" for name in names}

    found = diagnose(shared_data / "qrels" / "qrels.covid-round1.txt", runs, ["nDCG@10", "AP"])

    shares = {row["run"]: row["judged@10"] for row in found["DIA001"].tables[0].records()}
    assert "problem" == found["DIA001"].severity
    assert ("jlrecall", "sab20.1.meta.docs") == (min(shares, key=shares.get), max(shares, key=shares.get))
    assert found["DIA001"].measured.startswith("judged@10: jlrecall 24.7%, ")
    assert "note" == found["DIA010"].severity
