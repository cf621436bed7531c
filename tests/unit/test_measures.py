"""Measures on rankings that can be checked by hand; the seeds' examples with the right figures."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest

from assay import Rules, evaluate, judge, parse_measure
from assay.errors import MeasureError, ParameterError
from assay.measures import IPrecAvg
from strategies import qrels_of, ranking, run_of


def value(name: str, ranked: list[int | None], missed: list[int] = (), rules: Rules = Rules()) -> float:
    """The measure of one ranking, given by its grades (None: unjudged) and the grades of what it missed."""
    docs = [f"d{place:03}" for place in range(len(ranked))]
    grades = {doc: grade for doc, grade in zip(docs, ranked, strict=True) if grade is not None}
    grades |= {f"m{place}": grade for place, grade in enumerate(missed)}
    return evaluate({"q": grades}, {"q": ranking(docs)}, [name], rules=rules, unmatched="zero").mean()[name]


R, N = 1, 0


@pytest.mark.parametrize(
    ("name", "ranked", "missed", "expected"),
    [
        # nDCG of [3, 2, 0, 1, 2]: often printed as 1.0 from an ideal that was not sorted
        ("nDCG(gain='exp')@5", [3, 2, 0, 1, 2], [], 0.9686),
        ("nDCG@5", [3, 2, 0, 1, 2], [], 0.9602),
        ("DCG(gain='exp')@5", [3, 2, 0, 1, 2], [], 10.4840),
        ("iDCG(gain='exp')@5", [3, 2, 0, 1, 2], [], 10.8235),
        # E, S, C against the ideal E, E, S
        ("nDCG(gain='exp')@3", [3, 2, 1], [3], 0.7272),
        ("nDCG@3", [3, 2, 1], [3], 0.8081),
        # the first hit at rank 12
        ("RR", [N] * 11 + [R], [], 0.0833),
        ("RR@10", [N] * 11 + [R], [], 0.0),
        # 150 relevant documents, all on top
        ("AP@100", [R] * 150, [], 0.6667),
        ("AP(norm='cutoff')@100", [R] * 150, [], 1.0),
        ("AP", [R, N, R, N, R], [R], 0.5667),
        ("P@1", [R, R, N, R, N], [], 1.0),
        ("P@2", [R, R, N, R, N], [], 1.0),
        ("P@3", [R, R, N, R, N], [], 0.6667),
        ("P@4", [R, R, N, R, N], [], 0.75),
        ("F1@5", [R, R, N, R, N], [R, R], 0.6),
        ("R@8", [R] * 6 + [N] * 2, [R] * 2, 0.75),
        ("SetP", [R] * 5 + [N] * 3, [R] * 5, 0.625),
        ("SetR", [R] * 5 + [N] * 3, [R] * 5, 0.5),
        # precision 0.9 and recall 0.1
        ("F1@10", [R] * 9 + [N], [R] * 81, 0.18),
    ],
)
def test_the_worked_examples_of_the_seeds(name, ranked, missed, expected):
    assert expected == pytest.approx(value(name, ranked, missed), abs=0.00005)


@pytest.mark.parametrize(("firsts", "expected"), [((1, 3, 2), 0.6111), ((1, 3, 1), 0.7778)])
def test_mean_reciprocal_rank_of_three_queries(firsts, expected):
    qrels = {f"q{n}": {"hit": 1} for n in range(len(firsts))}
    run = {f"q{n}": ranking([*(f"x{i}" for i in range(first - 1)), "hit"]) for n, first in enumerate(firsts)}

    assert expected == pytest.approx(evaluate(qrels, run, ["MRR"]).mean()["MRR"], abs=0.00005)


def test_short_rankings_are_divided_by_the_cutoff():
    assert 0.1 == value("P@10", [1])
    assert 1.0 == value("Judged@10", [1])
    assert 0.1 == value("Unjudged@10", [None], [1])


def test_the_ideal_is_made_of_all_judged_documents_and_cut_as_well():
    assert 1.0 == value("nDCG@1", [2], [2, 2])
    assert 2 / (2 + 2 / np.log2(3)) == pytest.approx(value("nDCG@2", [2], [2, 2]))


# Two of four relevant documents are retrieved, at ranks 2 and 3 of three; a has grade 2.
KNOWN = ({"q": {"a": 2, "b": 1, "c": 3, "d": 1}}, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nDCG(ideal='retrieved')", (2 / np.log2(3) + 1 / 2) / (2 + 1 / np.log2(3))),  # a and b are the ideal
        ("nDCG(ideal='retrieved')@1", 0.0),
        ("nDCG(ideal='retrieved')@2", (2 / np.log2(3)) / (2 + 1 / np.log2(3))),
        ("nDCG(gain='binary')@3", (1 / np.log2(3) + 1 / 2) / (1 + 1 / np.log2(3) + 1 / 2)),
        ("R(among='retrieved')@2", 1 / 2),
        ("R(among='retrieved', rel=2)@5", 1 / 1),
        ("P(filled=False)@5", 2 / 3),
        ("P(filled=False)@2", 1 / 2),
    ],
)
def test_measures_of_tools_that_know_only_what_was_retrieved(name, expected):
    qrels, run = KNOWN

    assert expected == pytest.approx(evaluate(qrels, run, [name]).mean()[name], abs=1e-12)


@pytest.mark.parametrize("name", ["nDCG(ideal='retrieved')", "R(among='retrieved')@5", "P(filled=False)@5"])
def test_they_are_0_where_nothing_was_retrieved(name):
    qrels = {"q": {"a": 1}, "empty": {"b": 1}, "zero": {"b": 0}}

    assert [0.0, 0.0] == evaluate(qrels, {"q": {"a": 1.0}}, [name]).values[[0, 2], 0].tolist()


def test_negative_grades_gain_nothing_and_are_not_judged():
    assert value("nDCG", [None, 1]) == value("nDCG", [-2, 1])
    assert 1.0 == value("Bpref", [-1, 1, 0])
    assert 0.0 == value("Bpref", [0, 1])
    assert value("infAP", [0, 1]) < value("infAP", [-1, 1])  # pooled but unjudged: it may have been relevant


def test_fractional_grades_are_kept():
    assert (0.5 + 1.5 / np.log2(3)) / (1.5 + 0.5 / np.log2(3)) == pytest.approx(value("nDCG", [0.5, 1.5]))
    assert 0.5 == value("RR", [0.5, 1.5])
    assert 1.0 == value("RR(rel=0.5)", [0.5, 1.5])


def test_gain_maps_leave_other_grades_as_they_are():
    assert value("DCG(gain={1: 3, 2: 9})", [1, 2, 3]) == pytest.approx(3 + 9 / np.log2(3) + 3 / 2)
    assert 1.0 == value("nDCG(gain={1: 9, 2: 3})", [1, 2])  # the map turns the order around


def test_exponential_gain_refuses_grades_that_make_no_sense():
    with pytest.raises(MeasureError, match="grade 61 is too high for gain='exp', which supports grades up to 60"):
        value("nDCG(gain='exp')", [61])


def test_gains_whose_sums_are_rounded_still_have_a_value():
    assert 1.0 == value("G(gain='exp')", [60])  # 2^60 - 1 is rounded, and nothing was missed


def test_err_depends_on_the_highest_grade():
    assert 7 / 8 == value("ERR", [3])
    assert 7 / 16 == value("ERR(top=4)", [3])
    assert 7 / 8 + 1 / 2 * 1 / 8 * 3 / 8 == value("ERR@2", [3, 2, 3])
    for ranked, missed in (([3], []), ([1], [3])):
        with pytest.raises(MeasureError, match="ERR: grade 3 is higher than top=2"):
            value("ERR(top=2)", ranked, missed)
    with pytest.raises(MeasureError, match="ERR: grade 100000 is higher than the limit of 60"):
        value("ERR", [1], [100000])


def test_rbp_and_what_it_may_hide():
    assert 0.2 * (1 + 0.5 * 0.8) == pytest.approx(value("RBP", [2, 1]))
    assert 0.2 * (1 + 0.8) == pytest.approx(value("RBP(rel=1)", [2, 1]))
    assert 0.8**2 == pytest.approx(value("RBPResidual", [2, 1]))
    assert 0.2 + 0.8**2 == pytest.approx(value("RBPResidual", [None, 1]))
    assert 1.0 == value("RBP", [1]) + value("RBPResidual", [1])


def test_f_weighs_recall_by_beta():
    assert 5 * 0.5 * 1.0 / (4 * 0.5 + 1.0) == pytest.approx(value("F(beta=2)@2", [1, 0]))
    assert value("SetF(beta=2)", [1, 0]) == pytest.approx(value("SetF(beta2=4)", [1, 0]))
    assert 0.0 == value("F@2", [0, 0], [1])
    with pytest.raises(ParameterError, match="SetF is given both beta and beta2; keep one"):
        value("SetF(beta=2, beta2=4)", [1, 0])


def test_judged_only_leaves_unjudged_documents_out():
    assert 0.5 == value("RR", [None, 1])
    assert 1.0 == value("RR(judged_only=True)", [None, 1])
    assert 0.5 == value("RR(judged_only=True)", [None, 0, 1])


def test_capped_recall_is_relative_precision():
    assert 1.0 == value("R_cap@2", [1, 1], [1, 1])
    assert 0.5 == value("R@2", [1, 1], [1, 1])
    assert value("relative_P_5", [1, 0], [1]) == value("R_cap@5", [1, 0], [1])


@pytest.mark.parametrize(
    ("ranked", "missed", "expected"),
    [
        ([R], [], 1.0),  # these three are in RAGAS' documentation
        ([R, N], [], 1.0),
        ([N, R], [], 0.5),
        ([R], [R] * 9, 1.0),  # misses cost nothing
        ([N, R, R, None, R], [R], (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ([N, N], [R], 0.0),
    ],
)
def test_context_precision_is_average_precision_over_what_was_found(ranked, missed, expected):
    assert expected == pytest.approx(value("context_precision", ranked, missed), abs=1e-15)
    assert expected == pytest.approx(value("ContextPrecision@5", [*ranked, *[N] * 5, R], missed), abs=1e-15)


def test_utility_prices_the_whole_table():
    assert 1 - 1 == value("Utility", [1, 0])
    assert 2 - 3 - 5 + 7 * (10 - 2 - 1) == value("Utility(weights=(2, -3, -5, 7), docs=10)", [1, 0], [1])


def test_rounding_of_recall_levels_is_a_convention():
    """Recall 0.25 of three relevant documents takes one document rounded up, none rounded to the nearest."""
    ranked = [0, 1, 0, 0, 0, 1, 1, 1, 1, 1]
    assert value("IPrec@0.1", ranked) == value("IPrec(rounding='nearest')@0.1", ranked)
    assert value("IPrec@0.4", [1, 0, 1, 0, 1]) == 2 / 3
    assert value("IPrec(rounding='nearest')@0.4", [1, 0, 1, 0, 1]) == 1.0


@pytest.mark.parametrize(
    "name",
    [
        *(
            "P@2",
            "P(rel=2)@3",
            "RR",
            "AP",
            "AP@2",
            "AP(rel=2)",
            "nDCG",
            "nDCG@3",
            "nDCG(gains={1:5,2:1})@3",
            "R@2",
            "Bpref",
        ),
        *("infAP", "SetAP", "SetP", "SetP(relative=True)", "SetR", "Success@2", "IPrec@0.3", "Judged@3", "Rprec"),
        *("nDCG(judged_only=True)@2", "AP(judged_only=True)", "RR(rel=2)", "RR@2", "NumRet", "NumRet(rel=1)"),
    ],
)
def test_the_same_values_as_ir_measures(name):
    """Without ties, where it orders documents in several ways."""
    random = np.random.default_rng(11)
    grades = {
        f"q{n}": {f"d{d}": int(random.integers(0, 4)) for d in random.choice(20, 8, replace=False)} for n in range(9)
    }
    scores = {f"q{n}": ranking([f"d{d}" for d in random.permutation(20)[:12]]) for n in range(9)}
    theirs = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(name)], grades, scores)}
    judged = judge(qrels_of(grades), run_of(scores), Rules(scores="float32"))
    ours = dict(zip(judged.queries, parse_measure(name).values(judged).tolist(), strict=True))

    assert theirs == pytest.approx(ours, abs=1e-15)


@pytest.mark.parametrize("levels", [(0.25, 2.0), (), ("x",), 0.5])
def test_recall_levels_are_between_0_and_1(levels):
    with pytest.raises(ParameterError, match=r"recalls cannot be .*; it takes recall levels from 0 to 1"):
        IPrecAvg(recalls=levels)


def test_a_score_of_0_or_less_hides_a_relevant_document_under_float32_positive():
    def ap(score: float) -> float:
        rules = Rules(scores="float32-positive")
        return evaluate({"q": {"a": 1}}, {"q": {"a": score}}, ["AP"], rules=rules).mean()["AP"]

    assert [1.0, 0.0, 0.0] == [ap(0.5), ap(0.0), ap(-0.5)]


def test_measures_of_subtopics_need_judgments_of_subtopics():
    judged = judge(qrels_of({"q": {"a": 1}}), run_of({"q": {"a": 1.0}}))
    with pytest.raises(
        MeasureError, match=r"alpha_nDCG needs judgments by subtopic: judge_topics\(qrels, run, rules\)"
    ):
        parse_measure("alpha_nDCG@5").values(judged)


def test_the_summary_is_the_first_line():
    assert "Average precision" in parse_measure("AP").definition.summary
    assert "\n" not in parse_measure("AP").definition.summary
