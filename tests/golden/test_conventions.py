"""Named conventions compared with the tools themselves, including ties and missing queries."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import evaluate, parse_measure
from assay.errors import MeasureError, QuerySetError
from assay.measures.conventions import CONVENTIONS
from strategies import cases

GRADES = st.integers(0, 3)
CLOSE = st.sampled_from([0.9, 0.900000001, 1.0, 2.0, 16777217.0, 16777216.0])  # some are equal as 32-bit floats


@settings(max_examples=100)
@given(cases(grades=GRADES, scores=CLOSE))
def test_trec_eval_9_is_pytrec_eval(case):
    ours = {
        "nDCG@3": "ndcg_cut_3",
        "AP": "map",
        "P@5": "P_5",
        "R@5": "recall_5",
        "RR@2": "recip_rank",
        "Bpref": "bpref",
    }
    values = pytrec_eval.RelevanceEvaluator(case.grades, set(ours.values())).evaluate(case.scores)
    found = evaluate(case.qrels, case.run, list(ours), like="trec_eval-9", unmatched="zero")

    assert sorted(values) == sorted(found.queries)
    for name, theirs in ours.items():
        assert np.mean([row[theirs] for row in values.values()]) == pytest.approx(found.mean()[name], abs=1e-12), name


def test_trec_eval_cuts_grades_and_knows_no_exponential_gain():
    grades, scores = {"q": {"a": 1.9, "b": 0.9}}, {"q": {"b": 2.0, "a": 1.0}}

    assert 0.5 == evaluate(grades, scores, ["RR"], like="trec_eval-9").mean()["RR"]
    both = [evaluate(grades, scores, [name], like="trec_eval-10").mean()[name] for name in ("nDCG", "nDCG(gain='exp')")]
    assert both[0] == both[1]
    with pytest.raises(MeasureError, match="trec_eval-9 does not report ERR: trec_eval-9 has no such measure"):
        evaluate(grades, scores, ["ERR"], like="trec_eval-9")


def test_trec_eval_10_refuses_a_run_that_lacks_a_query():
    with pytest.raises(QuerySetError, match="1 of 2 judged queries is missing"):
        evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}, ["AP"], like="trec_eval-10")


IR_MEASURES = [
    *(
        "nDCG",
        "nDCG@3",
        "AP",
        "AP(rel=2)@3",
        "P@3",
        "P(rel=2)@2",
        "R@3",
        "RR",
        "RR@2",
        "RR(rel=2)@3",
        "Judged@3",
        "Rprec",
    ),
    *("Bpref", "infAP", "Success@2", "SetP", "SetR", "SetAP", "SetF", "IPrec@0.3", "AP(judged_only=True)"),
]


@settings(max_examples=100)
@given(cases(grades=GRADES, scores=CLOSE))
def test_ir_measures_by_its_own_names(case):
    theirs = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in IR_MEASURES], case.grades, case.scores
    )
    found = evaluate(case.qrels, case.run, IR_MEASURES, like="ir_measures", unmatched="zero").mean()

    for measure, value in theirs.items():
        assert value == pytest.approx(found[str(measure)], abs=1e-12), str(measure)


CWL = [
    *("RBP(rel=1, p=0.5)", "INST(max_rel=3)", "INSQ(max_rel=3)", "SDCG(max_rel=3)@4", "BPM(max_rel=3)@4"),
    *("NERR8(max_rel=3)@4", "NERR9(max_rel=3)@4", "NERR10(max_rel=3)", "NERR11(max_rel=3)", "NumRel", "NumQ"),
]


@settings(max_examples=60)
@given(cases(grades=GRADES, scores=CLOSE))
def test_ir_measures_takes_ties_as_they_come_for_models_of_users(case):
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in CWL], case.grades, case.scores)
    found = evaluate(case.qrels, case.run, CWL, like="ir_measures", unmatched="zero").mean()

    for measure, value in theirs.items():
        assert value == pytest.approx(found[str(measure)], abs=1e-9), str(measure)


def test_the_published_assertions_of_ir_measures_by_the_names_its_users_write(shared_data):
    import json

    from assay import read_qrels, read_run

    folder = shared_data / "cases" / "ir_measures_unit"
    checked: set[str] = set()
    for case in json.loads((folder / "expected.json").read_text()):
        name = case["measure"]
        qrels, run = read_qrels(folder / f"{case['data']}.qrels"), read_run(folder / f"{case['data']}.run")
        found = evaluate(qrels, run, [name], like="ir_measures", unmatched="zero")
        value = found.mean()[name] if case["query"] == "all" else found.per_query()[case["query"]][name]

        assert case["expected"] == pytest.approx(value, abs=case["tolerance"] + 1e-9), case
        checked.add(parse_measure(name).name)

    assert {"nDCG", "AP", "IPrec", "SetF", "NumRel"} <= checked


def beir(grades: dict, scores: dict, k: int) -> dict[str, float]:
    """BEIR's evaluate and evaluate_custom(mrr), by their documented rules."""
    kept = {q: {d: s for d, s in docs.items() if d != q} for q, docs in scores.items()}
    values = pytrec_eval.RelevanceEvaluator(grades, {f"ndcg_cut_{k}", f"map_cut_{k}", f"recall_{k}"}).evaluate(kept)
    means = {name: sum(row[name] for row in values.values()) / len(values) for name in next(iter(values.values()))}
    reciprocal = 0.0
    for query, docs in kept.items():
        if query in grades:
            ranked = sorted(docs.items(), key=lambda item: item[1], reverse=True)[:k]
            reciprocal += next((1 / (n + 1) for n, (d, _) in enumerate(ranked) if grades[query].get(d, 0) > 0), 0.0)
    return {name: round(value, 5) for name, value in (means | {"mrr": reciprocal / len(grades)}).items()}


@settings(max_examples=80)
@given(cases(grades=GRADES, scores=CLOSE))
def test_beir_by_its_documented_rules(case):
    scores = {query: {**docs, query: 5.0} for query, docs in case.scores.items()}
    theirs = beir(case.grades, scores, 3)
    found = evaluate(case.grades, scores, ["nDCG@3", "AP@3", "R@3", "RR@3"], like="beir", unmatched="zero").mean()

    assert [theirs["ndcg_cut_3"], theirs["map_cut_3"], theirs["recall_3"], theirs["mrr"]] == pytest.approx(
        list(found.values()), abs=1.1e-5
    )


def msmarco(grades: dict, ranks: dict) -> float:
    """MS MARCO's script: ranks from the file, at most 10, mean over all judged queries."""
    total = 0.0
    for query, docs in ranks.items():
        best = min((rank for doc, rank in docs.items() if grades.get(query, {}).get(doc, 0) > 0), default=None)
        total += 1 / best if best is not None and best <= 10 else 0.0
    return total / len(grades)


@given(st.permutations(["a", "b", "c", "d"]), st.permutations(["a", "b", "c", "d"]))
def test_msmarco_by_its_documented_rules(ranked, scored):
    from assay import parse_run

    grades = {"q1": {"a": 1}, "q2": {"b": 1}}
    rows = [f"q1 Q0 {doc} {place + 1} {scored.index(doc)} t" for place, doc in enumerate(ranked)]
    expected = msmarco(grades, {"q1": {doc: place + 1 for place, doc in enumerate(ranked)}})

    assert expected == evaluate(grades, parse_run("\n".join(rows)), ["MRR@10"], like="msmarco").mean()["MRR@10"]
    with pytest.raises(MeasureError, match="msmarco does not report nDCG@10: MS MARCO's script reports only MRR"):
        evaluate(grades, parse_run("\n".join(rows)), ["nDCG@10"], like="msmarco")


# z and d are not retrieved, a and y are tied, b has a negative score, q2 has nothing relevant, and q3 no results.
SMALL = {"q1": {"a": 2, "b": 1, "z": 1}, "q2": {"c": 0, "e": 0}, "q3": {"d": 1}}
TIED = {"q1": {"x": 3.0, "a": 2.0, "y": 2.0, "b": -1.0}, "q2": {"c": 1.0, "e": 0.5}}
NOT_TIED = {"q1": {"x": 3.0, "a": 2.0, "y": 1.0, "b": -1.0}, "q2": {"c": 1.0, "e": 0.5}}


@pytest.mark.parametrize(
    ("like", "scores", "by_the_tool"),
    [
        (
            "mteb",
            TIED,
            {
                "nDCG@5": 0.22847,
                "AP@5": 0.13889,
                "R@5": 0.33333,
                "P@5": 0.2,
                "RR@5": 0.16666666666666666,
                "Success@5": 0.5,
            },
        ),
        (
            "beir",
            TIED,
            {
                "nDCG@5": 0.22847,
                "AP@5": 0.13889,
                "R@5": 0.33333,
                "P@5": 0.2,
                "RR@5": 0.16667,
                "Success@5": 0.33333,
                "Hole@5": 0.13333,
            },
        ),
        (
            "sentence-transformers",
            TIED,
            {
                "nDCG@5": 0.24909462873320642,
                "AP@5": 0.16666666666666666,
                "RR@5": 0.25,
                "P@5": 0.2,
                "R@5": 0.3333333333333333,
                "Success@5": 0.5,
            },
        ),
        ("sklearn", TIED, {"nDCG@1": 0.0, "nDCG@3": 0.18060605676020097, "DCG@3": 0.5654648767857287}),
        ("torchmetrics", TIED, {"nDCG": 0.29677844047546387, "nDCG@1": 0.0, "nDCG@5": 0.29677844047546387}),
        (
            "torchmetrics",
            NOT_TIED,
            {
                "AP": 0.25,
                "RR": 0.25,
                "nDCG": 0.32166123390197754,
                "P@5": 0.1,
                "P@100": 0.005,
                "R@5": 0.25,
                "Success@5": 0.5,
                "P(rel=2)@5": 0.1,
            },
        ),
    ],
    ids=["mteb", "beir", "sentence-transformers", "sklearn", "torchmetrics", "torchmetrics without ties"],
)
def test_small_cases_as_the_tools_compute_them(like, scores, by_the_tool):
    """By MTEB 2.26.24, BEIR 2.2.0, sentence-transformers 6.2.0, scikit-learn 1.9.1 and torchmetrics 1.9.0 (32 bits).

    tests/conventions has a thousand cases for each, and runs the tools: `make test-conventions`.
    """
    found = evaluate(SMALL, scores, list(by_the_tool), like=like).mean()

    assert list(by_the_tool.values()) == pytest.approx(
        list(found.values()), abs=1e-7 if like == "torchmetrics" else 1e-12
    )


def test_recall_in_torchmetrics_by_hand():
    """Of a, b and z only a and b are retrieved, and b has a negative score: 1 of 2 in q1, 0 in q2, q3 is left out."""
    assert {"R@5": 0.25} == evaluate(SMALL, NOT_TIED, ["R@5"], like="torchmetrics").mean()
    assert evaluate(SMALL, NOT_TIED, ["R@5"]).mean()["R@5"] == pytest.approx((2 / 3 + 0 + 0) / 3)


def opensearch(grades: dict[str, float], docs: list[str], k: int) -> dict[str, float]:
    """The workbench's documented formulas for one query; each value is rounded to two decimals, halves up."""

    def dcg(gains: list[float]) -> float:
        return sum((2**gain - 1) / np.log2(place + 2) for place, gain in enumerate(gains[:k]))

    shown = [grades.get(doc, 0) for doc in docs[:k]]
    hits = [place for place, grade in enumerate(shown) if grade > 0]
    ideal = dcg(sorted(grades.values(), reverse=True))
    relevant = sum(grade > 0 for grade in grades.values())
    values = {
        "Judged": sum(doc in grades for doc in docs[:k]) / len(shown) if shown else 0.0,
        "P": len(hits) / len(shown) if shown else 0.0,
        "AP": sum((n + 1) / (place + 1) for n, place in enumerate(hits)) / relevant if relevant else 0.0,
        "nDCG": dcg(shown) / ideal if ideal else 0.0,
    }
    return {f"{name}@{k}": int(value * 100 + 0.5) / 100 for name, value in values.items()}


@settings(max_examples=100)
@given(cases(grades=st.sampled_from([0, 0.25, 1, 2, 3]), scores=CLOSE))
def test_opensearch_by_its_documented_formulas(case):
    """OpenSearch itself was not run. Documents come in the order of their scores, ties in that of the input."""
    names = ["Judged@5", "P@5", "AP@5", "nDCG@5"]
    theirs = []
    for query, grades in case.grades.items():
        docs = case.scores.get(query, {})
        theirs.append(opensearch(grades, sorted(docs, key=lambda doc: -docs[doc]), 5))
    found = evaluate(case.grades, case.scores, names, like="opensearch", unmatched="zero").mean()

    for name in names:
        assert np.mean([row[name] for row in theirs]) == pytest.approx(found[name], abs=1e-12), name


@pytest.mark.parametrize("convention", CONVENTIONS.values(), ids=lambda convention: convention.name)
def test_every_convention_names_a_test_that_exists(convention):
    from pathlib import Path

    path, _, function = convention.proof.partition("::")
    text = (Path(__file__).parents[2] / path).read_text()

    assert f"def {function or 'test_'}" in text
