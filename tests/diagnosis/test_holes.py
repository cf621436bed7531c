"""Unjudged documents that decide a comparison, and those to judge first."""

from __future__ import annotations

import numpy as np
import pytest

from assay import diagnose, evaluate
from diagnosis.worlds import World, ranked


def test_a_comparison_that_holes_can_make_equal_but_not_turn_stands():
    """b has one relevant document fewer than a in its first two, and one unjudged document more."""
    queries = [f"q{number}" for number in range(8)]
    qrels = {query: {"r1": 1, "r2": 1, "n": 0} for query in queries}
    a = {query: {"r1": 3.0, "r2": 2.0} for query in queries}
    b = {query: {"r1": 3.0, f"x{query}": 2.0} for query in queries}

    found = diagnose(qrels, {"a": a, "b": b}, ["P@2"], only=["labels"])["DIA003"]

    row = found.tables[0].records()[0]
    assert (-0.5, -0.5, 0.0, "stands") == (
        row["difference"], row["if holes favour the baseline"], row["if they favour the run"], row["it"],
    )  # fmt: skip
    assert "fine" == diagnose(qrels, {"a": a, "c": a}, ["P@2"], only=["labels"])["DIA003"].severity


# For each of 8 queries, how many of the first 4 documents of a are relevant. The first 4 of b are unjudged or not relevant.
SURE, UNSURE = [2] * 7 + [3], [2, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("relevant", "unjudged", "verdict"),
    [
        pytest.param(SURE, [4] * 7 + [3], "can be reversed", id="both are significant"),
        pytest.param(SURE, [4] * 5 + [0] * 3, "open", id="only the difference as judged is significant"),
        pytest.param(UNSURE, [1, 2, 1, 1, 1, 1, 1, 1], "open", id="only the opposite difference is significant"),
        pytest.param(UNSURE, [3, 0, 0, 0, 0, 0, 0, 0], "open", id="neither is significant"),
    ],
)
def test_a_comparison_is_reversed_only_if_it_is_significant_both_ways(relevant, unjudged, verdict):
    qrels, a, b = {}, {}, {}
    for number, (good, holes) in enumerate(zip(relevant, unjudged, strict=True)):
        query = f"q{number}"
        qrels[query] = {f"r{n}": 1 for n in range(4)} | {f"n{n}": 0 for n in range(4)}
        a[query] = {doc: -float(n) for n, doc in enumerate([f"r{n}" for n in range(good)] + ["n0", "n1", "n2", "n3"])}
        b[query] = {doc: -float(n) for n, doc in enumerate([f"x{n}" for n in range(holes)] + ["n0", "n1", "n2", "n3"])}

    row = diagnose(qrels, {"a": a, "b": b}, ["P@4"], only=["labels"])["DIA003"].tables[0].records()[0]

    assert row["difference"] < 0 < row["if they favour the run"]
    assert verdict == row["it"]


def test_labels_that_favour_one_side_are_the_worst_for_the_other_by_precision():
    """Against all labels: the difference by P@2 cannot be lower or higher."""
    qrels = {"q": {"a": 1}, "p": {"a": 0, "b": 1}}
    runs = {
        "base": {"q": {"a": 3.0, "x": 2.0}, "p": {"y": 2.0, "b": 1.0}},
        "new": {"q": {"y": 3.0, "x": 2.0, "a": 1.0}, "p": {"b": 2.0, "x": 1.0}},
    }
    row = diagnose(qrels, runs, ["P@2"], only=["labels"], settings=_settings(k=2))["DIA003"].tables[0].records()[0]

    differences = []
    for labels in np.ndindex(2, 2, 2, 2):
        q = {
            "q": qrels["q"] | dict(zip("xy", labels[:2], strict=True)),
            "p": qrels["p"] | dict(zip("xy", labels[2:], strict=True)),
        }
        base, new = (evaluate(q, runs[name], ["P@2"]).mean()["P@2"] for name in ("base", "new"))
        differences.append(new - base)
    assert (min(differences), max(differences)) == (row["if holes favour the baseline"], row["if they favour the run"])
    assert (-0.25, "open") == (row["difference"], row["it"])


def _settings(**given):
    from assay.diagnosis.model import Settings

    return Settings(**given)


def test_judging_by_one_system_alone_can_reverse_a_comparison():
    """The new system is better, but only what the old one shows was judged: the diagnosis says that it is open."""
    world = World(6, queries=50)
    old, new = world.system(2.5), world.system(0.6)
    runs = {"old": old, "new": new}
    qrels = world.pool(old, depth=5)
    assert evaluate(world.qrels(), new, ["P@5"]).mean()["P@5"] > evaluate(world.qrels(), old, ["P@5"]).mean()["P@5"]

    found = diagnose(qrels, runs, ["P@5"], only=["labels"])

    row = found["DIA003"].tables[0].records()[0]
    assert row["difference"] < 0 < row["if they favour the run"]
    assert ("problem", "can be reversed") == (found["DIA003"].severity, row["it"])
    against = found["DIA003"].tables[1].records()[0]
    assert 0 < against["enough to turn it"] <= against["holes against it"]


def test_what_a_hole_would_change_is_what_evaluating_with_it_gives():
    world = World(7, queries=6, docs=20)
    runs = {"a": world.system(0.5), "b": world.system(1.5)}
    qrels = world.pool(runs["a"], depth=8)

    rows = diagnose(qrels, runs, ["nDCG@10"], only=["labels"])["DIA006"].tables[0].records()

    assert len(rows) > 3
    for row in rows:
        with_it = {query: dict(docs) for query, docs in qrels.items()}
        with_it[row["query"]][row["document"]] = 2
        gains = [
            evaluate(with_it, run, ["nDCG@10"]).per_query()[row["query"]]["nDCG@10"]
            - evaluate(qrels, run, ["nDCG@10"]).per_query()[row["query"]]["nDCG@10"]
            for run in runs.values()
        ]
        assert pytest.approx(max(gains), abs=1e-12) == row["nDCG@10 up to"]
        ranks = [ranked(run[row["query"]]).index(row["document"]) + 1 for run in runs.values()]
        assert pytest.approx(sum(0.2 * 0.8 ** (rank - 1) for rank in ranks)) == row["weight"]
        assert (min(ranks), 2) == (row["best rank"], row["runs"])
    assert sorted((row["weight"] for row in rows), reverse=True) == [row["weight"] for row in rows]


def test_texts_are_shown_where_there_are_any():
    qrels, runs = {"q": {"a": 1}}, {"r": {"q": {"x": 2.0, "a": 1.0}}}

    rows = diagnose(qrels, runs, ["P@2"], only=["labels"], corpus={"x": "a  text\nof words " + "long " * 50})["DIA006"]

    text = rows.tables[0].records()[0]["text"]
    assert text.startswith("a text of words long")
    assert (120, True) == (len(text), text.endswith("..."))
