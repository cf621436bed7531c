"""Every method on three small rankings that can be fused by hand."""

from __future__ import annotations

import math
import re

import pytest

from assay import fuse
from assay.fusion import METHODS
from fusion.small import ONE, THREE, TWO, fused, rounded, runs

# Ranks: a 1 2 -, b 2 1 1, c 3 - -, d - - 2.


def test_rrf_adds_one_over_k_plus_rank():
    assert {
        "a": 1 / 62 + 1 / 61,
        "b": 1 / 62 + 1 / 61 + 1 / 61,
        "c": 1 / 63,
        "d": 1 / 62,
    } == pytest.approx(fused(ONE, TWO, THREE, method="rrf"), abs=1e-15)
    assert {"b": 1 / 3 + 1 / 2 + 1 / 2, "a": 1 / 2 + 1 / 3, "d": 1 / 3, "c": 1 / 4} == pytest.approx(
        fused(ONE, TWO, THREE, method="rrf", k=1), abs=1e-15
    )


def test_isr_counts_runs_and_squares_ranks():
    assert {"a": 2 * (1 + 1 / 4), "b": 3 * (1 / 4 + 1 + 1), "c": 1 / 9, "d": 1 / 4} == pytest.approx(
        fused(ONE, TWO, THREE, method="isr")
    )


def test_logisr_is_0_for_what_one_run_alone_found():
    assert {"a": math.log(2) * 1.25, "b": math.log(3) * 2.25, "c": 0, "d": 0} == pytest.approx(
        fused(ONE, TWO, THREE, method="logisr")
    )
    assert math.log(1.01) / 9 == pytest.approx(fused(ONE, TWO, THREE, method="logisr", sigma=0.01)["c"])


def test_rbc_is_patient():
    assert {"a": 0.36, "b": 0.56, "c": 0.128, "d": 0.16} == rounded(fused(ONE, TWO, THREE, method="rbc", phi=0.8))
    assert {"a": 0.75, "b": 1.25, "c": 0.125, "d": 0.25} == fused(ONE, TWO, THREE, method="rbc", phi=0.5)


def test_borda_shares_what_is_left():
    """4 candidates. Not assigned: 1 point of the first run for one document, 2 + 1 points of the others for two."""
    assert {
        "a": 4 + 3 + 1.5,
        "b": 3 + 4 + 4,
        "c": 2 + 1.5 + 1.5,
        "d": 1 + 1.5 + 3,
    } == fused(ONE, TWO, THREE, method="borda")


def test_borda_is_level_where_a_run_lacks_the_query():
    assert {"a": 2 + 1.5, "b": 1 + 1.5} == fused({"q": {"a": 2, "b": 1}}, {"p": {"x": 1}}, method="borda")


def test_condorcet_counts_who_is_beaten():
    """b beats a two to one, and c and d; a beats c two to none and d two to one; c and d are tied: one run each."""
    assert {"b": 3.0, "a": 2.0, "c": 0.5, "d": 0.5} == fused(ONE, TWO, THREE, method="condorcet")


def test_condorcet_where_the_votes_go_round_in_a_circle():
    circle = [{"q": {one: 3, two: 2, three: 1}} for one, two, three in ("abc", "bca", "cab")]

    assert {"a": 1.0, "b": 1.0, "c": 1.0} == fused(*circle, method="condorcet")
    assert {"a": 2.0, "b": 1.0, "c": 0.0} == fused(*circle, method="condorcet", weights=[3, 1, 1])


def test_condorcet_takes_weights_that_do_not_add_up_in_binary_for_a_draw():
    first, last = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2, "a": 1}}

    assert {"a": 0.5, "b": 0.5} == fused(first, first, last, method="condorcet", weights=[0.1, 0.2, 0.3])


def test_condorcet_with_many_documents_is_compared_in_blocks(monkeypatch):
    docs = {f"d{number:03d}": -float(number) for number in range(50)}
    monkeypatch.setattr("assay.fusion.methods._BLOCK", 120)

    assert [float(49 - number) for number in range(50)] == list(fused({"q": docs}, method="condorcet").values())


@pytest.mark.parametrize(
    ("method", "expected"),
    {
        "combsum": {"a": 4.9, "b": 9.1, "c": 0.1, "d": 0.25},
        "combmnz": {"a": 9.8, "b": 27.3, "c": 0.1, "d": 0.25},
        "combanz": {"a": 2.45, "b": 9.1 / 3, "c": 0.1, "d": 0.25},
        "combmax": {"a": 4.0, "b": 8.0, "c": 0.1, "d": 0.25},
        "combmin": {"a": 0.9, "b": 0.5, "c": 0.1, "d": 0.25},
        "combmed": {"a": 2.45, "b": 0.6, "c": 0.1, "d": 0.25},
        "average": {"a": 4.9 / 3, "b": 9.1 / 3, "c": 0.1 / 3, "d": 0.25 / 3},
    }.items(),
)
def test_methods_by_score(method, expected):
    assert expected == pytest.approx(fused(ONE, TWO, THREE, method=method), abs=1e-12)


def test_interpolation_weighs_the_first_run_by_alpha():
    assert {"a": 2.45, "b": 4.3, "c": 0.05} == rounded(fused(ONE, TWO, method="interpolation"))
    assert {"a": 1.52, "b": 2.08, "c": 0.08} == rounded(fused(ONE, TWO, method="interpolation", alpha=0.8))


def test_weights():
    weights = [2, 1, 4]

    assert {"a": 5.8, "b": 11.2, "c": 0.2, "d": 1.0} == rounded(
        fused(ONE, TWO, THREE, method="weighted", weights=weights)
    )
    assert {"a": 5.8 / 7, "b": 1.6, "c": 0.2 / 7, "d": 1 / 7} == pytest.approx(
        fused(ONE, TWO, THREE, method="average", weights=weights)
    )
    assert {"a": 2 * 5.8, "b": 3 * 11.2, "c": 0.2, "d": 1.0} == pytest.approx(
        fused(ONE, TWO, THREE, method="combmnz", weights=weights)
    )
    assert {"a": 2 / 61 + 1 / 62, "b": 2 / 62 + 5 / 61, "c": 2 / 63, "d": 4 / 62} == pytest.approx(
        fused(ONE, TWO, THREE, method="rrf", weights=weights)
    )
    assert {"a": 17.0, "b": 26.0, "c": 11.5, "d": 15.5} == fused(ONE, TWO, THREE, method="borda", weights=weights)


def test_a_run_of_weight_0_still_brings_its_documents():
    assert {"a": 1.0, "z": 0.0} == fused({"q": {"a": 1}}, {"q": {"z": 9}}, method="weighted", weights=[1, 0])


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_the_last_number_of_the_example_is_what_the_text_says(method):
    """Every method has a one-line summary, an example, its paper and its treatment of missing documents."""
    text = method.compute.__doc__

    assert re.search(r"\n\n    Example: .+\d\.?\n", text), method.name
    assert method.summary
    assert method.missing
    assert method.paper


EXAMPLES = {  # scores of one document in runs of one query, or its rank and the number of documents
    "rrf": ([1, 3], {}, 0.0323),
    "isr": ([1, 2], {}, 2.5),
    "logisr": ([1, 2], {}, 0.8664),
    "rbc": ([1, 2], {}, 0.36),
}


@pytest.mark.parametrize("method", EXAMPLES)
def test_examples_by_rank(method):
    ranks, options, expected = EXAMPLES[method]
    tables = [{"q": {**{f"above{n}": 9.0 - n for n in range(rank - 1)}, "x": 1.0}} for rank in ranks]

    assert expected == round(fused(*tables, method=method, **options)["x"], 4)
    assert f"= {expected}." in METHODS[method].compute.__doc__


@pytest.mark.parametrize(
    ("method", "scores", "options", "expected"),
    [
        ("combsum", [0.5, 0.25], {}, 0.75),
        ("weighted", [0.5, 0.25], {"weights": [2, 1]}, 1.25),
        ("combmnz", [0.5, 0.25], {}, 1.5),
        ("combanz", [0.5, 0.25, None], {}, 0.375),
        ("combmax", [0.5, 0.25], {}, 0.5),
        ("combmin", [0.5, 0.25], {}, 0.25),
        ("combmed", [0.5, 0.25, 0.125], {}, 0.25),
        ("average", [0.5, None], {}, 0.25),
        ("interpolation", [0.5, 0.25], {"alpha": 0.4}, 0.35),
    ],
)
def test_examples_by_score(method, scores, options, expected):
    tables = [{"q": {"other": 1.0} if score is None else {"x": score}} for score in scores]

    assert expected == round(fused(*tables, method=method, **options)["x"], 4)
    assert f" {expected}." in METHODS[method].compute.__doc__


def test_names_may_be_written_in_other_ways():
    for name in ("CombSUM", "comb_sum", "COMB-SUM"):
        assert "combsum" == fuse(runs(ONE, TWO), name).name
    assert "weighted" == fuse(runs(ONE, TWO), "wsum", weights=[1, 1]).name
