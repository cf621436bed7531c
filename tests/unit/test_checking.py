"""check_measure finds where a function differs from ours, reduces the case, and explains the mistake."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from assay.checking import KINDS, check_measure, make_cases, our_values
from assay.errors import InputError, MeasureError, UnknownMeasureError
from assay.measures import parse_measure
from assay.mistakes import MODELS, NO_NUMBER, Case, Facts, mistakes_in, outcome_of, right_choices

# Functions as people write them


def dcg(gains):
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def ndcg(ranking, judgments, k=10, gain=float, ideal=None):
    gains = [gain(judgments.get(doc, 0)) for doc in ranking]
    best = sorted((gain(grade) for grade in judgments.values()), reverse=True) if ideal is None else ideal(gains)
    return dcg(gains[:k]) / dcg(best[:k]) if dcg(best[:k]) else 0.0


def exponential(grade):
    return 2**grade - 1


def average_precision(ranking, judgments, k=10, divide=lambda relevant, found, k: relevant):
    found, total = 0, 0.0
    for rank, doc in enumerate(ranking[:k], 1):
        if judgments.get(doc, 0) > 0:
            found += 1
            total += found / rank
    relevant = sum(grade > 0 for grade in judgments.values())
    return total / divide(relevant, found, k) if found else 0.0


def found_in(ranking, judgments, k=10):
    return sum(judgments.get(doc, 0) > 0 for doc in ranking[:k])


def relevant_in(judgments):
    return sum(grade > 0 for grade in judgments.values())


def reciprocal_rank(ranking, judgments, k=None):
    return next((1 / rank for rank, doc in enumerate(ranking[:k], 1) if judgments.get(doc, 0) > 0), 0.0)


def f1(ranking, judgments):
    relevant = {doc for doc, grade in judgments.items() if grade > 0}
    shown = set(ranking[:10])
    precision, recall = len(shown & relevant) / len(shown), len(shown & relevant) / len(relevant)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def uncut_ideal(ranking, judgments):
    best = dcg(sorted(judgments.values(), reverse=True))
    return dcg([judgments.get(doc, 0) for doc in ranking[:10]]) / best if best else 0.0


def rbp(ranking, judgments, p=0.8, gain=lambda grade, top: grade / top if top else 0.0):
    top = max(judgments.values(), default=0)
    return (1 - p) * sum(gain(judgments.get(doc, 0), top) * p**place for place, doc in enumerate(ranking))


def binary(grade, top):
    return grade >= 1


def ndcg_score(y_true, y_score, k=None):
    """scikit-learn's, by its formula: tied documents share the mean of their gains. Checked against version 1.9."""
    if len(y_true) < 2:
        raise ValueError("Computing NDCG is only meaningful when there is more than 1 document.")
    discount = [1 / math.log2(place + 2) if k is None or place < k else 0.0 for place in range(len(y_true))]
    best = sum(gain * worth for gain, worth in zip(sorted(y_true, reverse=True), discount, strict=True))
    found, place = 0.0, 0
    for score in sorted(set(y_score), reverse=True):
        tied = [gain for gain, other in zip(y_true, y_score, strict=True) if other == score]
        found += sum(tied) / len(tied) * sum(discount[place : place + len(tied)])
        place += len(tied)
    return found / best if best else 0.0


def falling(ranking):
    return [len(ranking) - place for place in range(len(ranking))]


def grades_of(ranking, judgments):
    return [judgments.get(doc, 0) for doc in ranking]


def sklearn_over_all(ranking, judgments):
    docs = [*ranking, *(doc for doc in judgments if doc not in ranking)]
    scores = [*falling(ranking), *(0 for _ in docs[len(ranking) :])]
    return ndcg_score(grades_of(docs, judgments), scores, k=10)


RIGHT = [
    ("nDCG@10", ndcg),
    ("nDCG@3", lambda ranking, judgments: ndcg(ranking, judgments, 3)),
    ("nDCG(gain='exp')@10", lambda ranking, judgments: ndcg(ranking, judgments, gain=exponential)),
    ("AP@10", average_precision),
    ("AP", lambda ranking, judgments: average_precision(ranking, judgments, None)),
    ("P@10", lambda ranking, judgments: np.float32(found_in(ranking, judgments)) / np.float64(10)),
    ("Success@10", lambda ranking, judgments: found_in(ranking, judgments) > 0),
    ("RR", reciprocal_rank),
    ("RBP", rbp),
    ("RBP(p=0.5, rel=1)", lambda ranking, judgments: rbp(ranking, judgments, 0.5, binary)),
]


@pytest.mark.parametrize(("measure", "fn"), RIGHT, ids=[measure for measure, _ in RIGHT])
def test_a_right_function_agrees(measure, fn):
    report = check_measure(fn, measure)

    assert (True, 200, 0, None, None) == (
        report.agrees,
        report.cases,
        report.differing,
        report.difference,
        report.diagnosis,
    )
    assert f"{measure}: agrees in all 200 cases (seed 0)." == str(report)


WRONG = [
    (
        "nDCG@10",
        lambda r, j: ndcg(r, j, ideal=lambda gains: sorted(gains[:10], reverse=True)),
        "the ideal ranking has only the first 10 retrieved documents, so missing one costs nothing.",
    ),
    (
        "nDCG",
        lambda r, j: ndcg(r, j, None, ideal=lambda gains: sorted(gains, reverse=True)),
        "the ideal ranking has only the retrieved documents, so missing one costs nothing.",
    ),
    ("nDCG@10", uncut_ideal, "the ideal ranking is not cut at 10."),
    (
        "nDCG@10",
        lambda r, j: ndcg(r, j, gain=exponential),
        "the gain is 2**grade - 1, not the grade: this is nDCG(gain='exp')@10.",
    ),
    (
        "nDCG(gain='exp')@10",
        ndcg,
        "the gain is the grade, not 2**grade - 1: this is nDCG@10.",
    ),
    (
        "nDCG@10",
        lambda r, j: ndcg(r, j, gain=lambda grade: grade > 0),
        "grades are ignored: the gain of every relevant document is 1.",
    ),
    (
        "AP@10",
        lambda r, j: average_precision(r, j, divide=lambda relevant, found, k: found),
        "the sum of precisions is divided by the number of relevant documents found, so missing one costs nothing.",
    ),
    (
        "AP@10",
        lambda r, j: average_precision(r, j, divide=lambda relevant, found, k: k),
        "the sum of precisions is divided by 10.",
    ),
    (
        "AP@10",
        lambda r, j: average_precision(r, j, divide=lambda relevant, found, k: min(relevant, k)),
        "the sum of precisions is divided by the smaller of 10 and the number of relevant documents: "
        "this is AP(norm='cutoff')@10.",
    ),
    ("AP", average_precision, "only the first 10 documents count: this is AP@10."),
    (
        "P@10",
        lambda r, j: found_in(r, j) / len(r[:10]) if r else 0.0,
        "it is divided by the number of documents retrieved, even if there are few.",
    ),
    (
        "R@10",
        lambda r, j: found_in(r, j) / min(relevant_in(j), 10) if relevant_in(j) else 0.0,
        "it is divided by the smaller of 10 and the number of relevant documents: this is R_cap@10.",
    ),
    ("RR@10", reciprocal_rank, "the ranking is not cut at 10: this is RR."),
    (
        "RR@10",
        lambda r, j: reciprocal_rank(r, j, 10) and 1 / (1 / reciprocal_rank(r, j, 10) + 1),
        "it returns 1 / (rank + 1): off by one, because ranks start at 1.",
    ),
    ("nDCG@10", lambda r, j: float(found_in(r, j) > 0), "this is Success@10, not nDCG@10."),
    ("AP", lambda r, j: found_in(r, j, None) / relevant_in(j) if relevant_in(j) else 0.0, "this is SetR, not AP."),
    (
        "R@10",
        lambda r, j: found_in(r, j) / relevant_in(j) if relevant_in(j) else 1.0,
        "it returns 1 if nothing is relevant.",
    ),
    (
        "R@10",
        lambda r, j: found_in(r, j) / relevant_in(j) if relevant_in(j) else math.nan,
        "it returns nan if nothing is relevant.",
    ),
    ("R@10", lambda r, j: found_in(r, j) / relevant_in(j), "it fails if nothing is relevant."),
    ("RR", lambda r, j: reciprocal_rank(r, j) if r[0] else 0.0, "it fails if nothing is retrieved."),
    ("nDCG@10", lambda r, j: 100 * ndcg(r, j), "it returns percentages."),
    ("nDCG@10", lambda r, j: round(ndcg(r, j), 4), "it rounds to 4 digits."),
    ("RR", lambda r, j: 0.25, "it returns 0.25 in every case."),
    ("RR", lambda r, j: None, "it fails in every case."),
    (
        "F1@10",
        f1,
        "its precision is divided by the number of documents retrieved, even if there are few; and it fails if nothing is relevant; and "
        "it fails if nothing is retrieved.",
    ),
    ("Bpref", lambda r, j: float("nan"), "it returns nan in every case."),
    (
        "R@10",
        lambda r, j: found_in(r, j) / len(j) if j else 0.0,
        "it is divided by the number of judged documents, relevant or not.",
    ),
    (
        "AP",
        lambda r, j: average_precision(r, j, None, divide=lambda relevant, found, k: len(j)),
        "the sum of precisions is divided by the number of judged documents, relevant or not.",
    ),
    (
        "RBP",
        lambda r, j: rbp(r, j, gain=binary),
        "grades are ignored: the gain of every relevant document is 1: this is RBP(rel=1).",
    ),
    (
        "RBP(rel=1)",
        rbp,
        "the gain is the grade divided by the highest grade, not 1 for every relevant document: this is RBP.",
    ),
    (
        "RBP",
        lambda r, j: rbp(r, j, gain=lambda grade, top: grade),
        "the gain is the grade itself, not divided by the highest grade: this is RBP(raw=True).",
    ),
    (
        "RBP",
        lambda r, j: rbp(r, j, gain=lambda grade, top: grade / 3),
        "the grade is divided by 3, not by the highest grade of the judgments.",
    ),
    ("RBP", lambda r, j: rbp(r, j, 0.95), "p is 0.95."),
    ("RBP", lambda r, j: 5 * rbp(r, j), "the factor 1 - p is missing."),
    (
        "nDCG@10",
        lambda r, j: ndcg_score(grades_of(r, j), falling(r), k=10),
        "the ideal ranking has only the retrieved documents, so missing one costs nothing; and it fails if there are fewer "
        "than two documents, as scikit-learn's ndcg_score does.",
    ),
    (
        "nDCG@10",
        lambda r, j: ndcg_score(grades_of(r, j), falling(r), k=10) if len(r) > 1 else 0.0,
        "the ideal ranking has only the retrieved documents, so missing one costs nothing; and it returns 0 if there are "
        "fewer than two documents.",
    ),
    (
        "nDCG@10",
        lambda r, j: ndcg_score(grades_of(r[:10], j), falling(r[:10])),
        "the ideal ranking has only the first 10 retrieved documents, so missing one costs nothing; and it fails if there "
        "are fewer than two documents, as scikit-learn's ndcg_score does.",
    ),
    (
        "nDCG@10",
        lambda r, j: ndcg_score(grades_of(r, j), range(len(r)), k=10),
        "the ideal ranking has only the retrieved documents, so missing one costs nothing; and the ranking is reversed: "
        "ranks are used as scores, so the last document counts as the best; and it fails if there are fewer than two "
        "documents, as scikit-learn's ndcg_score does.",
    ),
    (
        "nDCG@10",
        sklearn_over_all,
        "judged documents that were not retrieved follow the ranking, each with the mean of their gains, as tied documents "
        "do in scikit-learn; and it fails if there are fewer than two documents, as scikit-learn's ndcg_score does.",
    ),
]


@pytest.mark.parametrize(("measure", "fn", "diagnosis"), WRONG, ids=[diagnosis[:60] for *_, diagnosis in WRONG])
def test_a_common_mistake_is_named(measure, fn, diagnosis):
    report = check_measure(fn, measure)

    assert not report.agrees
    assert diagnosis == report.diagnosis


ONE_OF_EACH = [
    "P@3",
    "R@3",
    "R_cap@3",
    "SetP",
    "SetR",
    "AP",
    "RR@3",
    "Success@3",
    "F(beta=2)@3",
    "SetF",
    "DCG",
    "nDCG@3",
    "RBP(rel=1)",
]
MORE = [
    "AP@3",
    "AP(norm='cutoff')@3",
    "RR",
    "SetF(beta=2)",
    "DCG@3",
    "nDCG",
    "nDCG(gain='exp')@3",
    "P(judged_only=True)@3",
    "RBP",
    "RBP(p=0.5)@3",
    "RBP(raw=True, p=0.95)",
]
# Choices that change nothing: formulas that divide by nothing that can be 0, values that are whole, gains as they are.
CHANGES_NOTHING = {
    *((name, "undefined") for name in ("P", "RR", "Success", "DCG", "RBP")),
    *(("Success", "rounding"), ("SetR", "unjudged"), ("nDCG", "ideal gain"), ("SetF", "mean")),
}


def function_with(measure, *mistakes):
    """A function that makes these mistakes."""
    choices = right_choices(measure) | dict(mistakes)

    def fn(ranking, judgments):
        facts = Facts(Case(tuple(ranking), judgments), measure)
        outcome = outcome_of(MODELS[measure.name], facts, choices)
        if outcome == NO_NUMBER:
            raise ZeroDivisionError
        return outcome

    return fn


@pytest.mark.parametrize("measure", [parse_measure(name) for name in (*ONE_OF_EACH, *MORE)], ids=str)
def test_the_formulas_are_our_measures(measure):
    assert check_measure(function_with(measure), measure, repeats=True).agrees


def test_all_formulas_are_tried():
    assert list(MODELS) == list(dict.fromkeys(parse_measure(name).name for name in ONE_OF_EACH))


@pytest.mark.parametrize("measure", [parse_measure(name) for name in ONE_OF_EACH], ids=str)
def test_every_mistake_of_the_table_shows_in_the_cases_and_is_explained(measure):
    for dimension, words in mistakes_in(measure, repeats=False).items():
        for choice in words:
            report = check_measure(function_with(measure, (dimension, choice)), measure, cases=65)

            assert report.differing > 0 or (measure.name, dimension) in CHANGES_NOTHING, words[choice]
            assert report.agrees or "none of the mistakes" not in (report.diagnosis or "none of the mistakes")


def test_repeated_documents_are_tried_when_asked():
    def recall(ranking, judgments):
        return found_in(ranking, judgments) / relevant_in(judgments) if relevant_in(judgments) else 0.0

    report = check_measure(recall, "R@10", repeats=True)

    assert check_measure(recall, "R@10").agrees
    assert "a document that appears twice in the ranking counts twice." == report.diagnosis
    assert (("d1", "d1"), {"d1": 1}, 1.0, 2.0) == (
        report.difference.ranking,
        report.difference.judgments,
        report.difference.ours,
        report.difference.yours,
    )


def test_the_case_is_made_small():
    report = check_measure(WRONG[0][1], "nDCG@10")

    assert ("d1",) == report.difference.ranking
    assert {"d1": 1, "d2": 1} == report.difference.judgments
    assert 1 / (1 + 1 / math.log2(3)) == pytest.approx(report.difference.ours)
    assert 1.0 == report.difference.yours


def test_a_mistake_is_not_exchanged_for_a_smaller_one_of_another_kind():
    """The function also divides by 0 where nothing is relevant; the case shown is about the first difference."""
    report = check_measure(lambda r, j: found_in(r, j) / relevant_in(j) / 2, "R@10")

    assert (("d1",), {"d1": 1}, 1.0, 0.5) == (
        report.difference.ranking,
        report.difference.judgments,
        report.difference.ours,
        report.difference.yours,
    )


def test_an_error_is_a_difference_with_its_case():
    report = check_measure(lambda ranking, judgments: 1 / 0, "RR", cases=50, seed=3)

    assert str(report) == (
        "RR: differs in 50 of 50 cases (seed 3). A small example:\n"
        "  ranking    d1\n"
        "  judgments  d2 1\n"
        "  ours       0.0\n"
        "  yours      ZeroDivisionError: division by zero\n"
        "Diagnosis: it fails in every case."
    )
    assert report.difference.yours is None


@pytest.mark.parametrize(
    ("given", "shown"),
    [("0.5", "'0.5' (str), which is not a number"), ([1.0, 2.0], "[1.0, 2.0] (list), which is not a number")],
)
def test_what_is_no_number_is_a_difference(given, shown):
    assert shown == check_measure(lambda ranking, judgments: given, "RR").difference.error


def test_where_it_differs_is_said_when_the_reason_is_not_known():
    report = check_measure(lambda r, j: 0.123 if not r else ndcg(r, j), "nDCG@10")

    assert report.diagnosis == "not a known mistake; all differences are in cases with nothing retrieved."
    assert "Diagnosis: not a known mistake." in str(check_measure(lambda r, j: len(r) + 0.1, "RR"))


def test_a_function_may_change_what_it_is_given():
    def greedy(ranking, judgments):
        value = ndcg(ranking, judgments)
        ranking.clear()
        judgments.clear()
        return value

    assert check_measure(greedy, "nDCG@10").agrees


def test_a_function_that_looks_at_ids_keeps_them_in_the_case():
    report = check_measure(lambda r, j: float("d7" in r), "Success@10")

    assert not report.agrees
    assert report.difference.yours != report.difference.ours


def test_a_measure_with_gains_of_its_own_is_checked():
    own = {0: 0.0, 1: 5.0, 2: 6.0, 3: 7.0}

    assert check_measure(lambda r, j: ndcg(r, j, gain=own.__getitem__), f"nDCG(gain={own})@10").agrees
    assert "this is nDCG@10, not nDCG(gain={0: 0, 1: 5, 2: 6, 3: 7})@10." == (
        check_measure(ndcg, f"nDCG(gain={own})@10").diagnosis
    )
    assert "it rounds to 3 digits." == (
        check_measure(lambda r, j: round(ndcg(r, j, gain=own.__getitem__), 3), f"nDCG(gain={own})@10").diagnosis
    )


def test_a_level_is_heeded():
    def recall(level):
        return lambda ranking, judgments: (
            sum(judgments.get(doc, 0) >= level for doc in ranking[:10])
            / max(1, sum(grade >= level for grade in judgments.values()))
        )

    assert check_measure(recall(2), "R(rel=2)@10").agrees
    assert (
        "only grades above the lowest relevant one count as relevant."
        == check_measure(recall(3), "R(rel=2)@10").diagnosis
    )


def test_the_same_seed_gives_the_same_cases():
    measure = parse_measure("nDCG@10")

    assert list(islice(make_cases(measure, 5), 30)) == list(islice(make_cases(measure, 5), 30))
    assert list(islice(make_cases(measure, 5), 30)) != list(islice(make_cases(measure, 6), 30))


def test_the_cases_are_what_their_kinds_say():
    cases = list(islice(make_cases(parse_measure("nDCG@10")), 20 * len(KINDS)))
    by_kind = {kind.words: [case for case in cases if case.kind == kind.words] for kind in KINDS}

    assert all(len(case.ranking) == len(set(case.ranking)) for case in cases)
    assert {20} == {len(found) for found in by_kind.values()}
    assert all(not case.ranking for case in by_kind["with nothing retrieved"])
    assert all(not case.judgments for case in by_kind["with nothing judged"])
    assert all(not any(case.judgments.values()) for case in by_kind["with nothing relevant"])
    assert all(relevant_in(case.judgments) > 10 for case in by_kind["with more relevant documents than k"])
    assert all(len(case.ranking) > 10 for case in by_kind["with more documents retrieved than k"])
    assert {1.0} == set(our_values(by_kind["with a perfect ranking"], [parse_measure("nDCG@10")])[:, 0].tolist())


def test_each_case_is_as_if_alone():
    """ERR depends on the highest grade of the judgments: here on that of the case, not of all cases."""
    cases = [Case(("a",), {"a": 1}), Case(("a",), {"a": 3}), Case(("b", "a"), {"a": 1})]

    assert [[1 / 2], [7 / 8], [1 / 4]] == our_values(cases, [parse_measure("ERR")]).tolist()


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(UnknownMeasureError, match=r"no measure called .nDGC.; did you mean .nDCG.\?"):
        check_measure(ndcg, "nDGC@10")
    with pytest.raises(MeasureError, match="cannot check Hole@10: it needs more than one ranking and its judgments"):
        check_measure(ndcg, "Hole@10")
    with pytest.raises(InputError, match=r"expected a function fn\(ranking, judgments\), found 0.5"):
        check_measure(0.5, "nDCG@10")
    with pytest.raises(InputError, match="cases cannot be 0; it takes a whole number from 1"):
        check_measure(ndcg, "nDCG@10", cases=0)


def test_results_of_32_bits_are_not_called_wrong():
    def precision(ranking, judgments):
        return float(np.float32(sum(judgments.get(doc, 0) >= 1 for doc in ranking[:10]) / 10))

    assert check_measure(precision, "P@10").agrees
