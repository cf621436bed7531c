"""Evaluations on both paths: values, coverage, tags and bounds agree to the last bit, under every convention."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules, compare_conventions, concat, parse_measure
from assay.errors import MeasureError
from assay.evaluation import Evaluation, Evaluator
from assay.example import QRELS, RUNS
from assay.measures.conventions import CONVENTIONS
from assay.native.sums import exact_sum
from assay.tables import Qrels
from golden.trec import golden_cases, trec_eval
from native.inputs import FORMS, Case, as_text_file, cases, qrels_text, some_rules
from native.paths import MEASURES, NEEDS_KERNEL, both_paths, by_kernel, kernel_and_numpy, values
from topic_cases import TopicCase, topic_cases

pytestmark = NEEDS_KERNEL

GOLDEN = Path(__file__).parents[1] / "golden" / "data"
GOLDEN_NAMES = sorted(path.stem for path in GOLDEN.glob("*.run"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("same_values")


def measures_of(convention: str) -> list[str]:
    """Our measures that the tool supports."""
    names = (*MEASURES, "RR@10", "Hole@5")
    return [name for name in names if _has(convention, name)]


def _has(convention: str, name: str) -> bool:
    try:
        return bool(CONVENTIONS[convention].adapt(parse_measure(name)))
    except MeasureError:
        return False


@settings(max_examples=80)
@given(case=cases(), rules=some_rules())
def test_files_of_random_runs(folder: Path, case: Case, rules: Rules) -> None:
    run, qrels = as_text_file(case.rows, folder), folder / "random.qrels"
    qrels.write_bytes(qrels_text(case))

    native, numpy = both_paths(lambda: values(qrels, run, rules=rules))
    assert numpy == native


@pytest.mark.parametrize("like", CONVENTIONS)
@settings(max_examples=25)
@given(case=cases(), form=st.sampled_from(sorted(FORMS)))
def test_random_runs_under_every_convention(folder: Path, like: str, case: Case, form: str) -> None:
    run = FORMS[form](case.rows, folder)

    native, numpy = both_paths(lambda: values(case.qrels, run, measures_of(like), like=like))
    assert numpy == native


@pytest.mark.parametrize("like", CONVENTIONS)
@pytest.mark.parametrize("name", [*GOLDEN_NAMES, "example"])
def test_the_golden_files_under_every_convention(like: str, name: str) -> None:
    qrels, run = (QRELS, RUNS[0]) if name == "example" else (GOLDEN / f"{name}.qrels", GOLDEN / f"{name}.run")

    native, numpy = both_paths(lambda: values(qrels, run, measures_of(like), like=like))
    assert numpy == native


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_the_face_of_trec_eval(name: str) -> None:
    arguments = [case["args"] for case in golden_cases(GOLDEN) if case["run"] == f"{name}.run"]

    for given_arguments in arguments:
        native, numpy = both_paths(
            lambda: trec_eval(*given_arguments, GOLDEN / f"{name}.qrels", GOLDEN / f"{name}.run")  # noqa: B023
        )
        assert numpy == native


# The real data: a run of each origin


@pytest.mark.parametrize(
    "name",
    [
        *("anserini_cacm_bm25", "cast2019_bert_base_run_raw", "trec_covid_r3_sim_run", "robust03_NLPR03vb10"),
        *("robust03_humR03dc", "sigtrec_baseline", "trec_covid_r1_BERT", "trec_covid_r1_sab20.1.meta.docs"),
    ],
)
def test_real_runs(shared_data: Path, name: str) -> None:
    folder = shared_data / "cases" / name
    files = json.loads((folder / "expected.json").read_text())
    qrels, run = folder / files.get("qrels_file", "qrels"), folder / files.get("run_file", "run")

    native, numpy = kernel_and_numpy(lambda: values(qrels, run))
    assert numpy == native


@pytest.mark.parametrize("like", CONVENTIONS)
def test_a_real_run_under_every_convention(shared_data: Path, like: str) -> None:
    folder = shared_data / "cases" / "robust03_humR03dc"
    qrels = folder / json.loads((folder / "expected.json").read_text())["qrels_file"]

    native, numpy = both_paths(lambda: values(qrels, folder / "run.gz", measures_of(like), like=like))
    assert numpy == native


# Other parts of evaluations


@settings(max_examples=40)
@given(case=cases())
def test_bounds_of_ties(folder: Path, case: Case) -> None:
    run = as_text_file(case.rows, folder)

    native, numpy = both_paths(
        lambda: Evaluator(case.qrels, MEASURES, Rules(duplicates="best"), unmatched="zero").evaluate(
            run, tie_bounds=True
        )
    )
    assert numpy == native


def in_two_parts(qrels: Any, run: Any) -> Evaluation:
    whole = Evaluator(qrels, ["AP", "nDCG@3", "NumRet"])
    queries = whole.judgments.queries
    return concat([whole.part(queries[::2]).evaluate(run), whole.part(queries[1::2]).evaluate(run)])


def test_parts_put_together() -> None:
    qrels, run = GOLDEN / "binary_deep.qrels", GOLDEN / "binary_deep.run"

    native, numpy = kernel_and_numpy(lambda: in_two_parts(qrels, run).values)
    assert numpy == native
    assert native == by_kernel(lambda: values(qrels, run, ["AP", "nDCG@3", "NumRet"]).values)


@settings(max_examples=40)
@given(case=topic_cases())
def test_judgments_by_subtopic(case: TopicCase) -> None:
    """The documents of all subtopics are joined at once; other measures are joined separately."""
    measures = ["alpha_nDCG@5", "ERR_IA@5", "StRecall@3"]

    native, numpy = both_paths(lambda: values(case.qrels, case.run, measures))
    assert numpy == native


def test_one_measure_under_every_convention_at_once() -> None:
    qrels, run = GOLDEN / "ties.qrels", GOLDEN / "ties.run"

    native, numpy = both_paths(lambda: list(compare_conventions(qrels, run, ["nDCG@10", "RR@10"])))
    assert numpy == native


# Sums


@settings(max_examples=200)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=0, max_size=30), st.integers(1, 20)
)
def test_sums_are_rounded_once(numbers: list[float], times: int) -> None:
    column = np.array(numbers * times, np.float64)

    native, numpy = both_paths(lambda: (exact_sum(column), exact_sum(column[::2]), exact_sum(column * 1e-300)))
    assert numpy == native
    assert math.fsum(numbers * times).hex() == native[0]


@pytest.mark.parametrize("number", [-0.0, 5e-324, math.inf, math.nan])
def test_sums_of_odd_numbers(number: float) -> None:
    native, numpy = both_paths(lambda: exact_sum(np.full(200, number)))

    assert numpy == native


def test_means_over_many_queries() -> None:
    """Enough for the kernel to add them up."""
    queries = [f"q{number}" for number in range(300)]
    qrels = Qrels.from_columns(queries * 3, ["a"] * 300 + ["b"] * 300 + ["c"] * 300, [1] * 900)
    run = {query: {"a": number % 3, "b": number % 5, "x": 1, "y": number % 7} for number, query in enumerate(queries)}

    native, numpy = both_paths(lambda: values(qrels, run, ["AP", "GMAP", "NumRet", "nDCG"]).mean())
    assert numpy == native
