"""The same results as Pyserini and Anserini on their own test files, to the last printed digit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay import fuse, read_run
from assay.fusion import METHODS
from fusion.small import scores_of

NOT_OURS = {"testInvalidRuns", "testOptions"}  # missing files are tested with the reader, options with the help


@pytest.fixture(scope="session")
def fusion_data(shared_data: Path) -> Path:
    folder = shared_data / "fusion"
    if not folder.is_dir():
        pytest.skip(f"needs the runs and results of Pyserini and Anserini in {folder}")
    return folder


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("rrf", {"k": 60, "ranks": "column"}, "simple_trec_run_rrf_verify.txt"),
        ("average", {}, "simple_trec_run_average_verify.txt"),
        ("interpolation", {"alpha": 0.4}, "simple_trec_run_interpolation_verify.txt"),
        ("combsum", {"norm": "min-max"}, "simple_fusion_normalize_verify.txt"),
    ],
)
def test_pyserini(fusion_data, method, options, expected):
    folder = fusion_data / "pyserini"
    runs = [read_run(folder / f"simple_trec_run_fusion_{number}.txt") for number in (1, 2)]

    assert scores_of(read_run(folder / expected)) == scores_of(fuse(runs, method, **options))


def test_pyserini_takes_ranks_from_the_column_and_we_do_so_when_asked(fusion_data):
    """The second of two documents has rank 3 in the second file: 1/62 + 1/63 there, 1/62 + 1/62 by score."""
    folder = fusion_data / "pyserini"
    runs = [read_run(folder / f"simple_trec_run_fusion_{number}.txt") for number in (1, 2)]

    assert 1 / 62 + 1 / 63 == scores_of(fuse(runs, ranks="column"))["1"]["2054tkb7"]
    assert 1 / 62 + 1 / 62 == scores_of(fuse(runs))["1"]["2054tkb7"]


def test_pyserini_normalises_one_run_in_the_same_way(fusion_data):
    folder = fusion_data / "pyserini"
    run = read_run(folder / "simple_trec_run_fusion_1.txt")
    expected = scores_of(read_run(folder / "simple_trec_run_normalize_verify.txt"))

    assert expected == scores_of(fuse([run], "combsum", norm="min-max"))


def cases(folder: Path, *, failing: bool) -> list[dict]:
    found = json.loads((folder / "anserini" / "cases.json").read_text())
    return [case for case in found if case["name"] not in NOT_OURS and ("expected_lines" not in case) == failing]


def test_anserini(fusion_data):
    """Documents, scores to six decimals, and also the order: ties by document id, descending."""
    for case in cases(fusion_data, failing=False):
        arguments = case["args"]
        runs = [read_run(fusion_data / "anserini" / name) for name in arguments["runs"]]
        norm = "min-max" if arguments.get("min_max_normalization") else None
        run = fuse(runs, arguments["method"], norm=norm, k=int(arguments["rrf_k"]), depth=int(arguments["k"]))
        lines = [
            f"{run.queries[query]} Q0 {doc} {score:.6f}"
            for query, doc, score in zip(run.query, run.doc, run.score, strict=True)
        ]

        expected = [line.split() for line in case["expected_lines"]]
        assert [f"{query} Q0 {doc} {score}" for query, _, doc, _, score, _ in expected] == lines, case["name"]


def test_anserini_refuses_the_same(fusion_data):
    from assay.errors import AssayError

    refused = cases(fusion_data, failing=True)
    assert 8 == len(refused)
    for case in refused:
        arguments = case["args"]
        runs = [read_run(fusion_data / "anserini" / f"run{number}") for number in (1, 2, 3)][: len(arguments["runs"])]
        weights = arguments["weights"].split(",") if arguments.get("weights") else None
        depth = 0 if arguments["depth"] == "0" else int(arguments["k"])
        alpha = {"alpha": 0.5} if "alpha" in METHODS.get(arguments["method"], METHODS["rrf"]).defaults else {}

        with pytest.raises(AssayError):
            fuse(runs, arguments["method"], weights=weights, depth=depth, **alpha)


def test_constant_scores_become_1(fusion_data):
    for name in ("run_same_scores", "run_mixed_scores"):
        values = scores_of(fuse([read_run(fusion_data / "anserini" / name)], "combsum", norm="min-max"))

        assert {1.0} == set(values["query1"].values()), name


# ranx 0.3.21 gave these for the three runs below; the figures can be checked by hand.

RANX = {
    ("combmnz", "min-max"): {"a": 2.0, "b": 3 * (0.625 + 1 + 1), "c": 0.0, "d": 0.0},
    ("combanz", "rank"): {"a": 0.75, "b": (2 / 3 + 1 + 1) / 3, "c": 1 / 3, "d": 0.5},
    ("combmed", "rank"): {"a": 0.75, "b": 1.0, "c": 1 / 3, "d": 0.5},
    ("combsum", "borda"): {"a": 1 + 0.75 + 0.375, "b": 0.75 + 1 + 1, "c": 0.5 + 0.375 * 2, "d": 0.25 + 0.375 + 0.75},
    ("combmax", "sum"): {"a": 0.8 / 1.3, "b": 1.0, "c": 0.0, "d": 0.0},
    ("combmin", "z-score"): {"a": -1.0, "b": 0.202031, "c": -1.313198, "d": -1.0},
    ("borda", None): {"a": 8.5, "b": 11.0, "c": 5.0, "d": 5.5},
    ("isr", None): {"a": 2.5, "b": 6.75, "c": 1 / 9, "d": 0.25},
    ("logisr", None): {"a": 0.866434, "b": 2.471878, "c": 0.0, "d": 0.0},
    ("rbc", None): {"a": 0.36, "b": 0.56, "c": 0.128, "d": 0.16},
}


@pytest.mark.parametrize(("method", "norm"), RANX)
def test_ranx(method, norm):
    from fusion.small import ONE, THREE, TWO, fused

    assert RANX[method, norm] == pytest.approx(fused(ONE, TWO, THREE, method=method, norm=norm), abs=1e-6)
