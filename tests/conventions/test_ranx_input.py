"""Objects of ranx as input, in an environment of its own because of its size: `make test-conventions TOOL=ranx`."""

from __future__ import annotations

import pytest

from assay import compare, evaluate, evaluate_runs
from assay.errors import InputError
from assay.formats import as_qrels, as_run

ranx = pytest.importorskip(
    "ranx", reason="needs ranx, which has an environment of its own: make test-conventions TOOL=ranx"
)

GRADES = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
SCORES = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 1.0, "y": 0.5}}


def test_values_are_those_of_ranx():
    qrels, run = ranx.Qrels(GRADES), ranx.Run(SCORES, name="bm25")
    ours = evaluate(qrels, run, ["nDCG@10", "AP", "RR"])

    assert list(ranx.evaluate(qrels, run, ["ndcg@10", "map", "mrr"]).values()) == pytest.approx(
        list(ours.mean().values()), abs=1e-12
    )
    assert "bm25" == ours.run


def test_runs_keep_their_names():
    runs = [ranx.Run(SCORES, name="bm25"), ranx.Run(SCORES, name="dense"), ranx.Run(SCORES)]

    assert ["bm25", "dense", "run 3"] == list(evaluate_runs(ranx.Qrels(GRADES), runs, ["AP"]))
    assert ("bm25", "dense") == compare(ranx.Qrels(GRADES), runs[:2], ["AP"]).scores.systems
    assert ("new", "run") == (as_run(runs[0], name="new").name, as_run(runs[2]).name)


def test_the_two_are_not_confused():
    with pytest.raises(InputError, match=r"cannot read a value of type Run as qrels: .* Are qrels and run swapped\?"):
        as_qrels(ranx.Run(SCORES))
    with pytest.raises(InputError, match=r"cannot read a value of type Qrels as a run: .* Are qrels and run swapped\?"):
        as_run(ranx.Qrels(GRADES))
