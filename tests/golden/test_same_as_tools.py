"""Conventions held against their tools on a thousand random cases: every value and every mean is the same, or refused.

The cases have ties, lists of 5 to 1,000 documents, negative scores and grades, scores that are equal only as 32-bit
floats, queries without results, without judgments and without relevant documents. Where we refuse, the tool fails or gives
nan.
"""

from __future__ import annotations

import logging
import math
import os
from functools import cache

import ir_measures
import numpy as np
import pytest
import pytrec_eval
import pytrec_eval_ext

from assay import Qrels, Run, evaluate, parse_measure
from assay.errors import InputError, MeasureError
from assay.measures import parse_measures
from assay.measures.bundles import FAMILIES
from strategies import Case

logging.getLogger("ir_measures.cwl_eval").setLevel(logging.ERROR)  # it warns of grades below min_rel, case by case

CASES = 1000
BLOCKS = 10  # so that they run side by side
LENGTHS = (5, 6, 8, 12, 20, 50, 200, 1000)
SCORES = (
    lambda random, size: 10 * random.normal(size=size),
    lambda random, size: random.integers(-3, 4, size).astype(float),
    lambda random, size: -5 * random.random(size),
    lambda random, size: random.choice([0.9, 0.900000001, 1.0, -2.0, 16777217.0, 16777216.0], size),
)


def random_case(seed: int) -> Case:
    random = np.random.default_rng(seed)
    lowest, highest = random.choice([0, -2]), random.choice([1, 2, 3, 4, 4, 5])
    grades, scores = {}, {}
    for query in map(str, range(1, random.integers(2, 7))):
        length = random.choice(LENGTHS)
        docs = [f"d{number}" for number in random.permutation(length + 30)]
        near = docs if random.random() < 0.4 else docs[: length + 5]
        pool = random.permutation(near)[: random.integers(1, 40)].tolist()
        judged = {
            doc: int(grade) for doc, grade in zip(pool, random.integers(lowest, highest + 1, len(pool)), strict=True)
        }
        if random.random() < 0.15:
            judged = {doc: min(0, grade) for doc, grade in judged.items()}
        judged[pool[0]] = max(0, judged[pool[0]])  # trec_eval may fail if all grades are negative
        found = SCORES[random.integers(len(SCORES))](random, length)
        if query == "1" or random.random() < 0.9:
            grades[query] = judged
        if query == "1" or random.random() < 0.85:
            scores[query] = dict(zip(docs, found.tolist(), strict=False))
    return Case(grades, scores)


def blocks(function):
    """Slow, and not run again without the kernel: tests/native holds the two paths against each other."""
    function = pytest.mark.slow(function)
    function = pytest.mark.skipif(os.environ.get("ASSAY_NATIVE") == "0", reason="once is enough")(function)
    ranges = [range(start, start + CASES // BLOCKS) for start in range(0, CASES, CASES // BLOCKS)]
    return pytest.mark.parametrize("seeds", ranges, ids=lambda seeds: f"from {seeds[0]}")(function)


Found = dict[str, tuple[float, dict[str, float]]]  # by measure: the mean, and the values of the queries


def ours(qrels, scores, names: list[str], like: str) -> tuple[Found, dict[str, str]]:
    """The values, without queries that were left out; and the refusals."""
    try:
        result = evaluate(qrels, scores, names, like=like, unmatched="zero")
    except MeasureError as error:
        if len(names) == 1:
            return {}, {names[0]: str(error)}
        parts = [ours(qrels, scores, [name], like) for name in names]
        return {k: v for found, _ in parts for k, v in found.items()}, {
            k: v for _, why in parts for k, v in why.items()
        }
    means = result.mean()
    columns = {
        name: dict(zip(result.queries, result.values[:, n].tolist(), strict=True)) for n, name in enumerate(names)
    }
    left_out = {name: {q: v for q, v in column.items() if not math.isnan(v)} for name, column in columns.items()}
    return {name: (means[name], left_out[name]) for name in names}, {}


def close(a, b) -> bool:
    return a == pytest.approx(b, abs=1e-9, nan_ok=True)


# trec_eval 9

LEFT_OUT = {"relstring", "runid"}  # text
TREC_NAMES = sorted(name for name in pytrec_eval.supported_measures if name in FAMILIES and name not in LEFT_OUT)
LOGARITHMS = ("gm_map", "gm_bpref")  # pytrec_eval gives their logarithms by query


@cache
def trec_measures(level: int, judged_only: bool) -> dict[str, str]:
    """pytrec_eval's names, with ours under its settings; without those that have no such setting here."""
    found = {}
    for name in TREC_NAMES:
        for request in parse_measures(["P.5,10,15,20,30,100,200,500,1000" if name == "P" else name]):
            takes = request.measure.definition.takes
            measure = request.measure(rel=level) if "rel" in takes and request.label != "num_ret" else request.measure
            if not judged_only:
                found[request.label] = str(measure)
            elif "judged_only" in takes:
                found[request.label] = str(measure(judged_only=True))
    return found


@blocks
def test_trec_eval_9_is_pytrec_eval_in_every_value_and_mean(seeds):
    for seed in seeds:
        case, level, judged_only = random_case(seed), 1 + seed % 3, seed % 5 == 0
        evaluator = pytrec_eval.RelevanceEvaluator(case.grades, set(TREC_NAMES), level, judged_only)
        theirs = evaluator.evaluate(case.scores)
        names = trec_measures(level, judged_only)
        found, why = ours(case.grades, case.scores, list(dict.fromkeys(names.values())), "trec_eval-9")
        for label, name in names.items():
            values = {query: row[label] for query, row in theirs.items()}
            if name in why:
                assert any(map(math.isnan, values.values())), (seed, name)
                continue
            mean, by_query = found[name]
            assert close(pytrec_eval.compute_aggregated_measure(label, list(values.values())), mean), (seed, name)
            assert label in LOGARITHMS or close(values, by_query), (seed, name)


# ir_measures

TOGETHER = [
    *("nDCG", "nDCG@3", "nDCG@10", "nDCG@1000", "nDCG(judged_only=True)@5", "AP", "AP@3", "AP(rel=2)@30"),
    *(
        "AP(judged_only=True)",
        "P@3",
        "P(rel=2)@20",
        "P(judged_only=True)@4",
        "R@3",
        "R(rel=2)@100",
        "R(judged_only=True)@5",
    ),
    *("RR", "RR(rel=2)", "RR(judged_only=True)", "RR@2", "RR(rel=2)@10", "RR@100", "Judged", "Judged@3", "Judged@1000"),
    *("Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)", "Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)"),
    *("Success@2", "Success(rel=2)@10", "Success(judged_only=True)@3", "SetP", "SetP(relative=True,rel=2)"),
    *(
        "SetP(judged_only=True)",
        "SetR",
        "SetR(rel=2)",
        "SetAP",
        "SetAP(rel=2,judged_only=True)",
        "SetF",
        "SetF(beta=0.5)",
    ),
    *("SetF(rel=2,beta=2.0)", "SetF(judged_only=True)", "IPrec@0.0", "IPrec@0.125", "IPrec(rel=2)@0.75"),
    *("IPrec(judged_only=True)@0.5", "NumQ", "NumRel", "NumRet(rel=1)", "NumRet(rel=2)"),
    *("Compat", "Compat(p=0.5)", "Compat(normalize=False)", "RBP(rel=1)", "RBP(p=0.5,rel=2)"),
    *("BPM(max_rel=6)@100", "BPM(T=2.0,min_rel=1,max_rel=10)@30", "SDCG(max_rel=4)@5", "SDCG(max_rel=2)@2000"),
    *("NERR8(max_rel=4)@5", "NERR9(min_rel=1,max_rel=3)@7", "NERR10(max_rel=4)", "NERR11(T=2.5,max_rel=3)"),
    *("INST(max_rel=4)", "INST(T=2.0,min_rel=1,max_rel=4)", "INSQ(T=3.0,min_rel=1,max_rel=3)"),
]
# ir_measures gives other values for these if they are asked for together with others; for some, only in some processes,
# because they depend on the order of a set.
ALONE = ["nDCG(gains={0:1,1:4})@5", "NumRet", "Accuracy", "Accuracy@3", "Accuracy(rel=2)@50"]
BY_GDEVAL = ["nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@1000", "ERR@3", "ERR@20"]
BY_SUBTOPIC = [
    *("ERR_IA@10", "ERR_IA(rel=2)@5", "nERR_IA@20", "alpha_DCG@10", "alpha_nDCG@20", "alpha_nDCG(alpha=0.7,rel=2)@10"),
    *(
        "NRBP(alpha=0.3,beta=0.8)",
        "nNRBP",
        "nNRBP(rel=2)",
        "AP_IA",
        "P_IA(rel=2)@20",
        "StRecall@10",
        "StRecall(rel=2)@1",
    ),
]


def by_subtopic(case: Case, seed: int) -> list[tuple[str, str, int, str]]:
    """The judgments for three subtopics: query, document, grade and subtopic."""
    random = np.random.default_rng(seed)
    return [
        (query, doc, grade if random.random() < 0.6 else 0, str(subtopic))
        for query, docs in case.grades.items()
        for doc, grade in docs.items()
        for subtopic in range(1, 4)
        if query == "1" or random.random() < 0.7
    ]


def theirs(qrels, scores, names: list[str]) -> Found | None:
    """What ir_measures gives; None if it fails."""
    try:
        measures = {ir_measures.parse_measure(name): name for name in names}
        found = ir_measures.calc(list(measures), qrels, scores)
    except Exception:  # whatever its programs raise
        return None
    by_query: dict[str, dict[str, float]] = {name: {} for name in names}
    for metric in found.per_query:
        by_query[measures[metric.measure]][metric.query_id] = metric.value
    return {measures[measure]: (mean, by_query[measures[measure]]) for measure, mean in found.aggregated.items()}


def same_or_refused(seed: int, names: list[str], qrels, scores, given=None) -> int:
    """Compare all values; return how many measures we refused. Where we do, ir_measures fails or gives nan."""
    expected = theirs(qrels if given is None else given, scores, names)
    found, why = ours(qrels, scores, names, "ir_measures")
    if expected is None:
        assert len(names) == len(why), (seed, names)
        return len(why)
    for name, (mean, by_query) in found.items():
        assert close(expected[name][0], mean), (seed, name)
        assert close(expected[name][1], by_query), (seed, name)
    for name in why:
        assert math.isnan(expected[name][0]), (seed, name)
    return len(why)


@blocks
def test_ir_measures_in_every_value_and_mean(seeds):
    refused = 0
    for seed in seeds:
        case = random_case(seed)
        refused += same_or_refused(seed, TOGETHER, case.grades, case.scores)
        for name in ALONE:
            refused += same_or_refused(seed, [name], case.grades, case.scores)
        if seed % 4 == 0:  # it starts a program for each cutoff
            refused += same_or_refused(seed, BY_GDEVAL, case.grades, case.scores)

    assert refused < len(seeds) * len(TOGETHER) / 10


@blocks
def test_ir_measures_by_subtopic_in_every_value_and_mean(seeds, capsys):
    refused = 0
    for seed in seeds:
        case = random_case(seed)
        rows = by_subtopic(case, seed)
        queries, docs, grades, subtopics = zip(*rows, strict=True)
        qrels = Qrels.from_columns(queries, docs, grades, iteration=subtopics)
        for name in BY_SUBTOPIC:
            refused += same_or_refused(seed, [name], qrels, case.scores, [ir_measures.Qrel(*row) for row in rows])

    assert refused < len(seeds) * 2  # only nNRBP


# By hand


def test_ir_measures_gives_documents_that_were_not_retrieved_a_score_of_0():
    """Ideal: missed (score 0), found (-1); the ranking: found, other. They have one document in common at depth 2."""
    grades, scores = {"1": {"found": 1, "missed": 1}}, {"1": {"found": -1.0, "other": -2.0}}
    best = 1 + 0.95 * 2 / 2

    assert (0.95 * 1 / 2) / best == pytest.approx(
        evaluate(grades, scores, ["Compat"], like="ir_measures").mean()["Compat"]
    )
    assert (1 + 0.95 * 1 / 2) / best == pytest.approx(evaluate(grades, scores, ["Compat"]).mean()["Compat"])
    assert (0.95 * 1 / 2) / best == pytest.approx(ir_measures.Compat.calc_aggregate(grades, scores))


# The judgments and the run of its own test of Accuracy, as grades in the order of the ranking.
ACCURACY_GRADES = {
    "0": {"C0_1": 0, "B0_1": 1, "A0_1": 2},
    "1": {"A1_1": 2, "A1_2": 2, "B1_1": 1, "C1_2": 0},
    "2": {"B1_1": 1},
}
ACCURACY_SCORES = {
    "0": {"C0_1": 0.4, "A0_1": 0.3, "C0_2": 0.2, "C0_3": 0.1},
    "1": {"C1_1": 0.8, "A1_1": 0.7, "C1_2": 0.6, "B1_1": 0.5, "C1_3": 0.4},
    "2": {"B1_1": 0.2, "C1_1": 0.1},
}


def test_the_published_assertions_of_ir_measures_for_accuracy():
    """Query 2 has no document of grade 2, so with rel=2 it is left out."""
    found = evaluate(ACCURACY_GRADES, ACCURACY_SCORES, ["Accuracy", "Accuracy(rel=2)"], like="ir_measures")
    by_query = {query: [*scores.values()] for query, scores in found.per_query().items()}

    assert {"0": [2 / 3, 2 / 3], "1": [1 / 2, 3 / 4], "2": [1.0, math.nan]} == {
        query: pytest.approx(values, nan_ok=True) for query, values in by_query.items()
    }
    assert (2 / 3 + 1 / 2 + 1) / 3 == pytest.approx(found.mean()["Accuracy"])
    assert (2 / 3 + 3 / 4) / 2 == pytest.approx(found.mean()["Accuracy(rel=2)"])
    assert {"Accuracy": 0.0, "Accuracy(rel=2)": 1.0} == dict(found.undefined())


def test_ir_measures_counts_such_queries_as_0_if_accuracy_is_asked_for_with_other_measures():
    """Its value depends on what else is asked for; ours is that of Accuracy alone."""
    level = ir_measures.Accuracy(rel=2)
    alone, together = (
        ir_measures.calc_aggregate(measures, ACCURACY_GRADES, ACCURACY_SCORES)[level]
        for measures in ([level], [level, ir_measures.nDCG])
    )

    assert (2 / 3 + 3 / 4) / 2 == pytest.approx(alone)
    assert (2 / 3 + 3 / 4) / 3 == pytest.approx(together)


def test_ir_measures_counts_only_answered_queries_but_lists_all():
    grades, scores = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}}
    found = evaluate(grades, scores, ["NumQ", "NumRel"], like="ir_measures")

    assert {"1": {"NumQ": 1.0, "NumRel": 2.0}, "2": {"NumQ": 0.0, "NumRel": 0.0}} == {
        query: dict(values) for query, values in found.per_query().items()
    }
    assert {"NumQ": 1.0, "NumRel": 2.0} == dict(found.mean())


SMALL = {"1": {"a": 1, "b": 0, "c": 2}}, {"1": {"b": 2.0, "a": 1.0, "x": 3.0}}
NOT_IN_IR_MEASURES = {
    "RBP": "its RBP needs rel",
    "RBP(rel=1)@5": "ir_measures has no such measure",
    "nDCG(dcg='exp-log2')": "it uses gdeval, which needs a cutoff",
    "nDCG(dcg='exp-log2',judged_only=True)@4": "it uses gdeval, which has no judged_only",
    "nDCG(gains={1:2.5})": "its gains are whole numbers from 0",
    "ERR": "it uses gdeval, which needs a cutoff",
    "INST": "it needs max_rel, the highest possible grade",
    "SDCG@5": "it needs max_rel, the highest possible grade",
    "NumRel(rel=2)": "ir_measures has no such measure",
    "RR(judged_only=True)@5": "its RR@k has no judged_only",
    "AP(rel=0)": "most of its measures take only whole numbers from 1 as rel",
    "P(rel=1.5)@3": "most of its measures take only whole numbers from 1 as rel",
    "SetR(judged_only=True)": "ir_measures has no such measure",
    "alpha_nDCG": "it has this measure only with a cutoff",
    "alpha_nDCG@21": "it uses ndeval, which has only cutoffs up to 20",
    "alpha_nDCG(judged_only=True)@5": "its judged_only fails for diversity measures",
    "AP_IA@5": "ir_measures has no such measure",
    "StRecall": "it has this measure only with a cutoff",
}


@pytest.mark.parametrize("name", NOT_IN_IR_MEASURES)
def test_what_ir_measures_does_not_compute_is_refused(name, capsys):
    grades, scores = SMALL
    with pytest.raises(MeasureError) as refused:
        evaluate(grades, scores, [name], like="ir_measures")

    assert f"ir_measures does not report {name}: {NOT_IN_IR_MEASURES[name]}." == str(refused.value)
    assert theirs(grades, scores, [name]) is None


NO_NUMBER = {
    "Accuracy@1": (
        {"1": {"b": 1}},
        {"1": {"b": 2.0}},
        "ir_measures gives no number for Accuracy: 1 of 1 query has only relevant documents (1), and it divides by 0. "
        "Use another measure or convention.",
    ),
    "ERR@5": (
        {"q1": {"a": 1}},
        {"q1": {"a": 2.0}},
        "ir_measures gives no number for ERR: it uses gdeval, which takes only query ids that are numbers, not "
        "'q1'. Use another measure or convention.",
    ),
    "ERR@6": (
        {"01": {"a": 1}, "1": {"b": 1}},
        {"01": {"a": 1.0}, "1": {"c": 1.0}},
        "ir_measures gives no number for ERR: it uses gdeval, for which the query ids '01' and '1' are the same number. Use "
        "another measure or convention.",
    ),
    "nDCG(dcg='exp-log2')@5": (
        {"1": {"a": 5}},
        {"1": {"a": 2.0}},
        "ir_measures gives no number for nDCG: it uses gdeval, which takes grades up to 4, not 5. Use another "
        "measure or convention.",
    ),
}


@pytest.mark.parametrize("name", NO_NUMBER)
def test_where_ir_measures_fails_there_is_no_number(name):
    grades, scores, message = NO_NUMBER[name]
    with pytest.raises(MeasureError) as refused:
        evaluate(grades, scores, [name], like="ir_measures")

    assert message == str(refused.value)
    assert theirs(grades, scores, [name]) is None


def test_ir_measures_has_no_nnrbp_of_a_query_without_a_relevant_document():
    grades, scores = {"1": {"a": 1}, "2": {"a": 0}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}
    with pytest.raises(MeasureError) as refused:
        evaluate(grades, scores, ["nNRBP"], like="ir_measures")

    assert (
        "ir_measures gives no number for nNRBP: 1 of 2 queries has no relevant document (2), and it divides by 0. Use "
        "another measure or convention."
    ) == str(refused.value)
    assert math.isnan(ir_measures.nNRBP.calc_aggregate(grades, scores))


@pytest.mark.parametrize("name", ["RBP(rel=1)", "INST(max_rel=1)", "BPM(max_rel=1)@1", "alpha_nDCG@5", "P_IA@1"])
def test_runs_whose_queries_are_in_several_parts_are_not_followed(name, capsys):
    """ir_measures evaluates each part as if it were the whole ranking."""
    rows = [("1", "a", 1.0), ("2", "x", 3.0), ("1", "b", 2.0), ("2", "c", 1.0)]
    grades = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    split, together = ([ir_measures.ScoredDoc(*row) for row in order] for order in (rows, sorted(rows)))
    mixed, grouped = (Run.from_columns(*zip(*order, strict=True)) for order in (rows, sorted(rows)))
    measure = ir_measures.parse_measure(name)
    with pytest.raises(MeasureError) as refused:
        evaluate(grades, mixed, [name], like="ir_measures")

    assert (
        f"assay does not follow ir_measures for {parse_measure(name).name}: the rows of 2 queries are not together in the run "
        "(1, 2), and ir_measures takes each part for a ranking of its own. Sort the run by query."
    ) == str(refused.value)
    right = evaluate(grades, grouped, [name], like="ir_measures").mean()[name]
    assert right == pytest.approx(measure.calc_aggregate(grades, together))
    assert right != pytest.approx(measure.calc_aggregate(grades, split))


def test_ir_measures_reads_only_whole_grades():
    grades, scores = {"1": {"a": 1.5}}, {"1": {"a": 1.0}}
    with pytest.raises(InputError) as refused:
        evaluate(grades, scores, ["AP"], like="ir_measures")

    assert (
        "ir_measures does not take these judgments: it reads only whole grades, not 1.5. Use another convention."
    ) == str(refused.value)
    assert theirs(grades, scores, ["AP"]) is None
    with pytest.raises(ValueError, match="invalid literal for int"):
        list(ir_measures.read_trec_qrels("1 0 a 1.5\n"))


def test_trec_eval_has_no_interpolated_precision_if_nothing_judged_was_retrieved():
    grades, scores = {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}
    values = pytrec_eval.RelevanceEvaluator(grades, {"iprec_at_recall"}, 1, True).evaluate(scores)
    with pytest.raises(MeasureError) as refused:
        evaluate(grades, scores, ["IPrec(judged_only=True)@0.0"], like="trec_eval-9")

    assert math.isnan(values["2"]["iprec_at_recall_0.00"])
    assert (
        "trec_eval gives no number for IPrec: 1 of 2 queries has no judged document in the run (2), "
        "and it divides by 0. Use another measure or convention."
    ) == str(refused.value)
    found = evaluate(grades, scores, ["IPrec(judged_only=True)@0.5"], like="trec_eval-9").mean()
    assert [0.5] == list(found.values())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nDCG(gain={1: 3})@5", "ndcg_cut has no gains of its own"),
        ("nDCG(gain={1: 0.5, 2: 1})", "it sorts gains as whole numbers"),
    ],
)
def test_gains_that_trec_eval_does_not_have_are_refused(name, why):
    """tests/golden/test_pytrec_eval.py shows how it sorts them."""
    with pytest.raises(MeasureError, match=f": {why}.$"):
        evaluate(*SMALL, [name], like="trec_eval-9")


WHOLE_GAINS = ({1: 3, 2: 9}, {1: 1, 2: 1, 3: 0}, {0: 1, 1: 2}, {1: -1, 2: 2})


@pytest.mark.parametrize("gains", WHOLE_GAINS, ids=str)
def test_trec_eval_9_with_gains(gains):
    pairs = ",".join(f"{grade}={gain}" for grade, gain in gains.items())
    for seed in range(30):
        case = random_case(seed)
        values = pytrec_eval_ext.RelevanceEvaluator(
            query_relevance=case.grades, measures={f"ndcg.{pairs}"}, relevance_level=1, judged_docs_only_flag=False
        ).evaluate(case.scores)
        name = f"nDCG(gain={gains})"
        found, _ = ours(case.grades, case.scores, [name], "trec_eval-9")

        assert close({query: next(iter(row.values())) for query, row in values.items()}, found[name][1]), seed
