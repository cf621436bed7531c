"""`reproduce` finds the figures that papers, leaderboards and other tools report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from assay import evaluate, parse_measure, read_run, reproduce
from conftest import shared_data_folder

pytestmark = pytest.mark.slow  # each search tries some 20,000 combinations

# Each from another source: a test of Anserini, the README of CODEC, of sigtrec_eval, and NIST's leaderboards.
PUBLISHED = (
    "anserini_cacm_bm25",
    "codec_document_ance-maxp",
    "sigtrec_baseline",
    "trec_covid_r1_BERT",
    "trec_covid_r5_udel_fang_ltr_split",
    "web2012_ql_cata_filtered",
)


def published() -> Iterator[tuple[str, str]]:
    """Cases and the names of their figures; none without the shared data."""
    folder = shared_data_folder()
    for case in PUBLISHED if folder else ():
        expected = json.loads((folder / "cases" / case / "expected.json").read_text())["expected"]
        yield from ((case, name) for name in expected)


@pytest.mark.parametrize(("case", "name"), list(published()))
def test_published_figures_are_found_under_their_measure(case: str, name: str, shared_data: Path) -> None:
    """Nothing is said of the measure; it must be among the first three explanations."""
    folder = shared_data / "cases" / case
    facts = json.loads((folder / "expected.json").read_text())
    qrels = folder / (facts.get("qrels_for", {}).get(name) or facts["qrels_file"])
    found = reproduce(facts["expected"][name], qrels, read_run(folder / facts["run_file"]))
    explained = [{one.measure, *one.same} for one in found.candidates[:3] if one.matches]

    assert str(parse_measure(name)) in set().union(*explained)


def test_a_published_figure_that_is_known_to_be_wrong_is_not_found(shared_data: Path) -> None:
    """The README divides a sum over 173 queries by 174: 0.3059 became 0.304."""
    folder = shared_data / "cases" / "cast2019_bert_base_run_raw"
    facts = json.loads((folder / "expected.json").read_text())
    qrels, run = folder / facts["qrels_file"], read_run(folder / facts["run_file"])

    assert not reproduce(facts["expected"]["ndcg_cut_3"], qrels, run, ["nDCG@3"]).found
    assert reproduce(facts["trec_eval_9.0.4"]["ndcg_cut_3"], qrels, run, ["nDCG@3"]).found


@pytest.fixture(scope="module")
def generated() -> tuple[dict, dict]:
    """Twenty queries with ties, float32 ties, unjudged documents and two queries that the run does not answer."""
    random = np.random.default_rng(17)
    grades = {
        f"{query}": {f"d{doc:02}": int(random.integers(0, 4)) for doc in random.choice(60, 25, replace=False)}
        for query in range(101, 121)
    }
    steps = [0.9, 0.900000001, 1.0, 1.5, 2.0, 2.5, 3.0, 3.000000001]
    scores = {
        query: {f"d{doc:02}": float(random.choice(steps)) for doc in random.choice(60, 30, replace=False)}
        for query in list(grades)[:18]
    }
    return grades, scores


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("map", "AP"),
        ("map_cut_5", "AP@5"),
        ("P_10", "P@10"),
        ("recall_20", "R@20"),
        ("recip_rank", "RR"),
        ("bpref", "Bpref"),
        ("Rprec", "Rprec"),
        ("success_1", "Success@1"),
        ("infAP", "infAP"),
    ],
)
def test_figures_of_pytrec_eval_are_those_of_trec_eval_9(theirs: str, ours: str, generated) -> None:
    grades, scores = generated
    values = pytrec_eval.RelevanceEvaluator(grades, {theirs}).evaluate(scores)
    mean = float(np.mean([row[theirs] for row in values.values()]))
    found = reproduce(f"{mean:.6f}", grades, scores)
    explanation = next(one for one in found.candidates if ours in (one.measure, *one.same))

    assert explanation.matches
    assert mean == pytest.approx(explanation.value, abs=1e-12)
    assert "trec_eval-9" in explanation.conventions
    assert "assay" not in explanation.conventions  # which counts the two missing queries


@pytest.mark.parametrize(
    "name",
    [
        *("nDCG@10", "nDCG(dcg='exp-log2')@10", "AP(rel=2)", "RR@10", "P(rel=2)@5", "ERR@20", "Judged@10"),
        *("Accuracy@10", "Compat"),
    ],
)
def test_figures_of_ir_measures(name: str, generated) -> None:
    grades, scores = generated
    (mean,) = ir_measures.calc_aggregate([ir_measures.parse_measure(name)], grades, scores).values()
    found = reproduce(f"{mean:.4f}", grades, scores)
    explanation = next(one for one in found.candidates if str(parse_measure(name)) in (one.measure, *one.same))

    assert explanation.matches
    assert mean == pytest.approx(explanation.value, abs=5e-6)  # gdeval prints five decimals
    assert "ir_measures" in explanation.conventions


def test_a_figure_of_trec_eval_c_is_ours_with_32_bit_scores(generated) -> None:
    grades, scores = generated
    values = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut_10"}).evaluate(scores)
    mean = sum(row["ndcg_cut_10"] for row in values.values()) / len(grades)
    ours = evaluate(grades, scores, ["nDCG@10"], rules={"scores": "float32"}).mean()["nDCG@10"]
    (explanation,) = (one for one in reproduce(f"{mean:.6f}", grades, scores, ["nDCG@10"]).candidates if one.matches)

    assert mean == pytest.approx(ours, abs=1e-12)
    assert ("ir_measures",) == explanation.conventions  # a tool is simpler than a rule of its own


@pytest.mark.parametrize("number", ["0.98765432", "77.777777", "-0.4334", "123456.789"])
def test_numbers_that_nothing_gives(number: str, generated) -> None:
    assert not reproduce(number, *generated).found
