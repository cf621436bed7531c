"""Sums from left to right and logarithms from the C library agree with trec_eval to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytrec_eval

from assay import Rules, judge, parse_measure
from assay.measures.arithmetic import discount, log2_of_integers, running
from strategies import qrels_of, ranking, run_of


def deep_case(seed: int = 7) -> tuple[dict, dict]:
    """Forty queries with hundreds of judged documents each: long sums, where rounding adds up."""
    random = np.random.default_rng(seed)
    grades, scores = {}, {}
    for number in range(40):
        docs = [f"d{n}" for n in range(600)]
        grades[f"q{number}"] = {doc: int(grade) for doc, grade in zip(docs, random.integers(0, 4, 600), strict=True)}
        scores[f"q{number}"] = ranking([docs[n] for n in random.permutation(600)])
    return grades, scores


def test_long_sums_agree_with_trec_eval_to_the_last_bit():
    grades, scores = deep_case()
    theirs = pytrec_eval.RelevanceEvaluator(
        grades, {"ndcg", "map", "infAP", "ndcg_rel", "Rndcg", "G", "binG"}
    ).evaluate(scores)
    judged = judge(qrels_of(grades), run_of(scores), Rules(scores="float32"))
    for name in ("ndcg", "map", "infAP", "ndcg_rel", "Rndcg", "G", "binG"):
        ours = parse_measure(name).values(judged)

        assert [theirs[query][name] for query in judged.queries] == ours.tolist(), name


def test_numpy_sums_in_other_orders_would_not():
    grades, scores = deep_case()
    judged = judge(qrels_of(grades), run_of(scores))
    parts = np.maximum(judged.hit_rel, 0.0) / discount(judged.hit_rank)
    left_to_right = judged.total(parts)

    assert left_to_right.tolist() == running(np.add, parts, judged.hit_start)[judged.hit_start[1:] - 1].tolist()
    assert left_to_right.tolist() != np.add.reduceat(parts, judged.hit_start[:-1]).tolist()
    assert left_to_right.tolist() != [float(part.sum()) for part in np.split(parts, judged.hit_start[1:-1])]


def test_logarithms_are_those_of_the_c_library():
    numbers = np.arange(1, 100_000)

    assert [math.log2(number) for number in numbers.tolist()] == log2_of_integers(numbers).tolist()
