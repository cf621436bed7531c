"""Error messages and notes of fusion, word for word, and odd input."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay import Run, fuse, parse_run
from assay.errors import DuplicateError, FusionError, InputError
from assay.fusion import METHODS, fuse_with_notes
from fusion.small import ONE, THREE, TWO, runs, scores_of
from strategies import run_of


def refusal(*given, **options) -> str:
    with pytest.raises(FusionError) as caught:
        fuse(*given, **options)
    return str(caught.value)


KNOWN = "rrf, isr, logisr, rbc, borda, condorcet, combsum, weighted, combmnz, combanz, combmax, combmin, combmed, "
KNOWN += "average, interpolation"


def test_unknown_names():
    both = runs(ONE, TWO)

    assert f"no fusion method called 'comsum'; did you mean 'combsum'? Choose from {KNOWN}." == refusal(both, "comsum")
    assert f"no fusion method called 'x'. Choose from {KNOWN}." == refusal(both, "x")
    assert f"no fusion method called 7. Choose from {KNOWN}." == refusal(both, 7)
    assert (
        "no normalisation called 'minmx'; did you mean 'min-max'? Choose from none, min-max, sum, z-score, rank, borda."
    ) == refusal(both, norm="minmx")
    assert "ranks cannot be 'rank'; it takes score or column." == refusal(both, ranks="rank")


def test_parameters():
    both = runs(ONE, TWO)

    assert "combsum has no parameter 'k'. It takes no parameters." == refusal(both, "combsum", k=60)
    assert "rbc has no parameter 'ph'; did you mean 'phi'? It takes phi." == refusal(both, "rbc", ph=0.5)
    assert "rrf: k cannot be -1; it takes a number from 0." == refusal(both, k=-1)
    assert "rrf: k cannot be '60'; it takes a number from 0." == refusal(both, k="60")
    assert "rrf: k cannot be True; it takes a number from 0." == refusal(both, k=True)
    assert "rrf: k cannot be inf; it takes a number from 0." == refusal(both, k=float("inf"))
    assert "rbc: phi cannot be 1; it takes a number between 0 and 1." == refusal(both, "rbc", phi=1)
    assert "interpolation: alpha cannot be 1.5; it takes a number from 0 to 1." == refusal(
        both, "interpolation", alpha=1.5
    )
    assert "interpolation: alpha cannot be nan; it takes a number from 0 to 1." == refusal(
        both, "interpolation", alpha=float("nan")
    )


def test_weights():
    both = [run.named(name) for run, name in zip(runs(ONE, TWO), ("bm25", "dense"), strict=True)]

    assert "1 weight for 2 runs (bm25, dense): give one for each, in the same order." == refusal(both, weights=[1])
    assert "3 weights for 1 run (bm25): give one for each, in the same order." == refusal(both[:1], weights=[1, 2, 3])
    assert "weighted needs a weight for each run: 2 numbers, 0 or more." == refusal(both, "weighted")
    assert "combmax takes no weights; use weighted, combsum or rrf instead." == refusal(both, "combmax", weights=[1, 2])
    assert "interpolation takes no weights; set alpha instead." == refusal(both, "interpolation", weights=[1, 2])
    assert "weights cannot be -1.0, 2.0; they must be 0 or more, and not all 0." == refusal(both, weights=[-1, 2])
    assert "weights cannot be 0.0, 0.0; they must be 0 or more, and not all 0." == refusal(both, weights=[0, 0])
    assert "weights cannot be nan, 1.0; they must be 0 or more, and not all 0." == refusal(
        both, weights=[float("nan"), 1]
    )
    assert "weights cannot be 3; it takes a number for each run, 0 or more." == refusal(both, weights=3)
    assert "weights cannot be ['1', 'x']; it takes a number for each run, 0 or more." == refusal(
        both, weights=["1", "x"]
    )


def test_runs():
    assert "no runs to fuse; give at least one." == refusal([])
    for one in (run_of(ONE), "bm25.run", ONE, [("q", "a", 1.0)]):
        assert "fuse takes several runs: fuse([run, other]), or a dict by name." == refusal(one)
    assert (
        "interpolation takes exactly 2 runs, not 3. For more runs, use weighted with a weight for each."
    ) == refusal(runs(ONE, TWO, THREE), "interpolation")
    with pytest.raises(InputError) as caught:
        fuse([0.5, 0.25])
    assert str(caught.value).startswith(
        "cannot read a value of type float as a run: pass a path or an open file, a dict"
    )


@pytest.mark.parametrize("depth", [0, -1, 2.5, True, "3"])
def test_depth(depth):
    assert f"depth cannot be {depth!r}; it takes a whole number from 1." == refusal(runs(ONE, TWO), depth=depth)


def test_a_document_twice_in_a_run():
    twice = parse_run("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\np Q0 a 1 1 t\n")
    with pytest.raises(DuplicateError) as caught:
        fuse([run_of(ONE), twice])

    assert (
        "<text>:3: document a is retrieved more than once for query q (1 such row in all). Collapse the run first with "
        "`assay runs collapse`, or assay.collapse in Python."
    ) == str(caught.value)
    assert (("q", "a"),) == caught.value.pairs


def test_scores_too_large_to_be_added():
    huge = {"q": {"a": 1.7e308, "b": 1.0}}

    assert ("combsum overflows with these scores. Normalise them: norm='min-max'.") == refusal(
        runs(huge, huge), "combsum"
    )
    assert {"a": 2.0, "b": 0.0} == scores_of(fuse(runs(huge, huge), "combsum", norm="min-max"))["q"]
    assert {"a": 1.7e308, "b": 1.0} == scores_of(fuse(runs(huge, huge), "combmed"))["q"]


def test_ranks_of_the_column():
    run = parse_run("q Q0 a 5 1 t\nq Q0 b 1 2 t\nq Q0 c 1 3 t\n")

    assert {"b": 0.5, "c": 0.5, "a": 1 / 6} == scores_of(fuse([run], k=1, ranks="column"))["q"]
    assert {"c": 0.5, "b": 1 / 3, "a": 0.25} == scores_of(fuse([run], k=1))["q"]
    assert "run 'run' has no rank column; ranks='column' needs one." == refusal(runs(ONE), ranks="column")
    for rank in (0, 2**31):
        odd = Run.from_columns(["q"], ["a"], [1.0], rank=[rank], name="odd")
        assert f"run 'odd' has ranks from {rank} to {rank}; ranks='column' needs them from 1." == refusal(
            [odd], ranks="column"
        )


def test_a_query_that_a_run_lacks_is_fused_from_the_others():
    one, two = {"q": {"a": 1}, "p": {"b": 1}}, {"q": {"a": 1}}

    assert {"p": {"b": 1 / 61}, "q": {"a": 2 / 61}} == scores_of(fuse(runs(one, two)))
    assert {"p": {"b": 0.5}, "q": {"a": 1.0}} == scores_of(fuse(runs(one, two), "average"))


def test_ties_within_a_run_are_ranked_by_document_id_descending():
    assert {"b": 1 / 61, "a": 1 / 62} == scores_of(fuse(runs({"q": {"a": 1, "b": 1}})))["q"]


def test_name_tag_and_source():
    run = fuse(runs(ONE, TWO), "CombMNZ")

    assert ("combmnz", "combmnz", "combmnz", None) == (run.name, run.tag, run.source, run.rank)


def notes(*tables, **options):
    named = [run.named(f"run{number}") for number, run in enumerate(runs(*tables), 1)]
    return fuse_with_notes(named, **options).notes


def test_nothing_to_note():
    assert () == notes(ONE, TWO)
    assert () == notes(ONE, TWO, method="combsum", norm="min-max")


def test_notes():
    assert ("rrf uses only ranks, so min-max normalisation changes nothing.",) == notes(ONE, TWO, norm="min-max")
    below = {"q": {"a": -1.0, "b": 1.0}}
    assert (
        "run2 has negative scores: a document that the run lacks counts as 0, above those. With min-max it counts as the lowest.",
    ) == notes(ONE, below, method="combsum")
    assert () == notes(ONE, below, method="combmax")
    assert (
        "with z-score, a document that a run lacks counts as 0, the mean score of the documents it retrieved. "
        "With min-max it counts as the lowest.",
    ) == notes(ONE, TWO, method="average", norm="z-score")
    more = {**ONE, "p": {"a": 1.0}}
    assert (
        "1 of 2 queries is not in all runs (first: p). Such queries are fused from the runs that have them.",
    ) == notes(more, TWO)


def test_runs_that_have_no_document_in_common():
    assert (
        "the runs have no document in common for any query. Check that they write document ids the same way ('1' and "
        "'MED-1').",
    ) == notes({"q": {"1": 2.0}}, {"q": {"MED-1": 1.0}})
    assert {"1": 1 / 61, "MED-1": 1 / 61} == scores_of(fuse(runs({"q": {"1": 2.0}}, {"q": {"MED-1": 1.0}})))["q"]


HOSTILE = ["", " ", "a b", "\x00", "\udce9", "é", "e\u0301", "=1+1", "#x", "x" * 1000, "\u2028"]


@pytest.mark.parametrize("method", METHODS)
def test_ids_are_only_compared(method):
    table = {query: {doc: 1.0 + place for place, doc in enumerate(HOSTILE)} for query in HOSTILE}
    options = {"weights": [1, 1]} if method == "weighted" else {}
    found = scores_of(fuse(runs(table, table), method, **options))

    assert {query: set(docs) for query, docs in table.items()} == {query: set(docs) for query, docs in found.items()}


def test_a_million_rows_take_seconds():
    """Not a benchmark: it fails only if rows are processed one by one more than once."""
    import time

    query, doc = np.repeat(np.arange(300), 300), np.array([f"d{n}" for n in range(90_000)], dtype=object)
    names = tuple(f"q{number:03d}" for number in range(300))
    large = [Run(names, query, np.roll(doc, 7 * n), np.tile(np.arange(300.0), 300)) for n in range(3)]
    start = time.process_time()
    fuse(large)

    assert time.process_time() - start < 10


def test_columns_of_tables_may_have_other_names(tmp_path):
    (tmp_path / "a.csv").write_text("term,sku,position\nq,x,1\nq,y,2\n")
    (tmp_path / "b.csv").write_text("term,sku,position\nq,y,1\nq,x#1,2\n")
    columns = {"query": "term", "doc": "sku", "rank": "position"}
    fused = assay.fuse([tmp_path / "a.csv", tmp_path / "b.csv"], columns=columns)

    assert ["y", "x", "x#1"] == fused.doc.tolist()
    assert ["y", "x"] == assay.collapse(tmp_path / "b.csv", "([a-z]+)", columns=columns).doc.tolist()
    with pytest.raises(assay.AssayError, match="rrf has no parameter 'bogus'"):
        assay.fuse([tmp_path / "missing.csv"], bogus=1)
