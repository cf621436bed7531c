"""Measures that model a user, overlap and accuracy, on rankings that can be checked by hand and rank by rank."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import evaluate, judge, parse_measure
from assay.errors import MeasureError, ParameterError
from assay.measures.families.overlap import Compat
from assay.measures.families.utility import sum_of_inverse_squares
from strategies import cases, qrels_of, ranking, run_of

Grades = Sequence[int | None]


def values(names: Sequence[str], ranked: Grades, missed: Sequence[int] = ()) -> dict[str, float]:
    """The measures of one ranking, given by its grades (None: unjudged) and the grades of what it missed."""
    docs = [f"d{place:04}" for place in range(len(ranked))]
    grades = {doc: grade for doc, grade in zip(docs, ranked, strict=True) if grade is not None}
    grades |= {f"m{place}": grade for place, grade in enumerate(missed)}
    return dict(evaluate({"q": grades}, {"q": ranking(docs)}, names, unmatched="zero").mean())


def value(name: str, ranked: Grades, missed: Sequence[int] = ()) -> float:
    return values([name], ranked, missed)[name]


# The definition, rank by rank: the chance to go on from a rank, given it, the gain there and the gain so far.
GoOn = Callable[[int, float, float], float]


def rank_by_rank(gains: Sequence[float], go_on: GoOn) -> float:
    """Gain per document looked at."""
    weight, looked_at, gained, so_far = 1.0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains, 1):
        so_far += gain
        looked_at += weight
        gained += weight * gain
        weight *= go_on(rank, gain, so_far)
    return gained / looked_at


def insq(rank: int, goal: float) -> float:
    return ((rank + 2 * goal - 1) / (rank + 2 * goal)) ** 2


def model(name: str) -> tuple[GoOn, int]:
    """The chance to go on, and the rank at which all users stop."""
    measure = parse_measure(name)
    goal, p = measure.param("T"), measure.param("p")
    end = measure.param("cutoff") or measure.param("depth") or 3000
    models: dict[str, GoOn] = {
        "RBP": lambda rank, gain, so_far: p,
        "INSQ": lambda rank, gain, so_far: insq(rank, goal),
        "INST": lambda rank, gain, so_far: ((rank + 2 * goal - so_far - 1) / (rank + 2 * goal - so_far)) ** 2,
        "BPM": lambda rank, gain, so_far: float(so_far < goal - 1e-9),
        "SDCG": lambda rank, gain, so_far: math.log(rank + 1) / math.log(rank + 2),
        "NERR8": lambda rank, gain, so_far: 1 - gain,
        "NERR9": lambda rank, gain, so_far: (1 - gain) * rank / (rank + 1),
        "NERR10": lambda rank, gain, so_far: (1 - gain) * p,
        "NERR11": lambda rank, gain, so_far: (1 - gain) * insq(rank, goal),
    }
    return models[measure.name], end


def gain_of(grade: int | None, unjudged: float, low: int, top: int) -> float:
    if grade is None or grade < 0:
        return unjudged
    return (min(max(grade, low), top) - low) / (top - low)


def by_definition(name: str, ranked: Grades, *, unjudged: float, top: int = 3) -> float:
    measure = parse_measure(name)
    go_on, end = model(name)
    low, top = measure.param("min_rel", 0), measure.param("max_rel") or top
    gains = [gain_of(grade, unjudged, low, top) for grade in ranked]
    gains += [unjudged] * (end - len(gains))
    return rank_by_rank(gains[:end], go_on)


MODELS = [
    *("RBP", "RBP(p=0.95, depth=40)", "INSQ", "INSQ(T=2.5)", "INSQ(min_rel=1, depth=7)", "INST", "INST(T=0.5)"),
    *("INST(T=3)", "INST(T=1.25, max_rel=2, depth=9)", "BPM@5", "BPM(T=2)@20", "BPM(T=0.4, min_rel=1)@3"),
    *("BPM(T=2.5)@1", "SDCG@1", "SDCG@10", "SDCG(max_rel=2)@4", "NERR8@1", "NERR8@10", "NERR8(min_rel=2)@4"),
    *("NERR9@10", "NERR9@2", "NERR10", "NERR10(p=0.5, depth=5)", "NERR11", "NERR11(T=2, max_rel=2)"),
]
RANKED = st.lists(st.sampled_from([None, -1, 0, 1, 2, 3]), min_size=1, max_size=14)
SPREAD = st.dictionaries(st.integers(1, 1100), st.sampled_from([-1, 0, 1, 2, 3]), max_size=12)


def with_residual(name: str) -> str:
    return str(parse_measure(name)(residual=True))


def check_rank_by_rank(ranked: Grades) -> None:
    residuals = [with_residual(name) for name in MODELS]
    found = values([*MODELS, *residuals], ranked, missed=[3])
    for name, residual in zip(MODELS, residuals, strict=True):
        worst, best = (by_definition(name, ranked, unjudged=gain) for gain in (0.0, 1.0))

        assert worst == pytest.approx(found[name], abs=1e-12), name
        assert best - worst == pytest.approx(found[residual], abs=1e-12), residual


@given(RANKED)
def test_values_and_residuals_follow_from_the_chance_to_go_on(ranked):
    check_rank_by_rank(ranked)


@settings(max_examples=30)
@given(SPREAD, st.integers(0, 200))
def test_so_they_do_where_judged_documents_are_far_apart(spread, more):
    check_rank_by_rank([spread.get(rank) for rank in range(1, max(spread, default=1) + more + 1)])


@pytest.mark.parametrize(
    ("name", "ranked", "expected"),
    [
        # One document of the highest grade at rank 2 of grades up to 2.
        ("SDCG@2", [0, 2], (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        ("BPM@10", [0, 2], 1 / 2),
        ("BPM(T=2)@10", [0, 2], 1 / 10),
        ("NERR8@10", [0, 2], 1 / 2),
        ("NERR9@10", [0, 2], (1 / 2) / (1 + 1 / 2)),
        ("NERR10", [0, 2], 0.9 / 1.9),
        ("NERR11", [0, 2], (1 / 9) / (1 / 4 + 1 / 9)),
        # Half a gain first: half of the users go on.
        ("NERR8@2", [1, 2], (1 * 1 / 2 + 1 / 2 * 1) / (1 + 1 / 2)),
        ("NERR8@3", [1, 0, 2], (1 * 1 / 2 + 1 / 2 * 0 + 1 / 2 * 1) / (1 + 1 / 2 + 1 / 2)),
        ("BPM@10", [1, 0, 1, 2], (1 / 2 + 1 / 2) / 3),
        # Two ranks: the second weighs 4/9 of the first, after a perfect document (1 / 2)**2.
        ("INSQ(depth=2)", [0, 2], (4 / 9) / (1 + 4 / 9)),
        ("INST(depth=2)", [0, 2], (4 / 9) / (1 + 4 / 9)),
        ("INST(depth=2)", [2, 0], 1 / (1 + 1 / 4)),
        ("INSQ(depth=2)", [2, 0], 1 / (1 + 4 / 9)),
    ],
)
def test_users_by_hand(name, ranked, expected):
    assert expected == pytest.approx(value(name, ranked, missed=[2]), abs=1e-14)


def test_a_ranking_full_of_perfect_documents_is_worth_1():
    perfect = [3] * 1000
    for name in ("INST", "INST(T=0.5)", "INSQ", "BPM@10", "SDCG@10", "NERR8@10", "NERR9@10", "NERR10", "NERR11"):
        assert 1.0 == pytest.approx(value(name, perfect), abs=1e-13), name
        assert 0.0 == pytest.approx(value(with_residual(name), perfect), abs=1e-13), name


def test_gains_lie_between_the_lowest_and_the_highest_grade():
    assert 1 / 3 == pytest.approx(value("BPM@1", [1], missed=[3]))
    assert 1 / 4 == pytest.approx(value("BPM(max_rel=4)@1", [1], missed=[3]))
    assert 1 / 2 == value("BPM(min_rel=1, max_rel=3)@1", [2])
    assert 0.0 == value("BPM(min_rel=1, max_rel=3)@1", [1])
    assert 0.0 == value("BPM(min_rel=1)@1", [-2], missed=[3])
    assert 1.0 == value("BPM(max_rel=2)@1", [3])
    assert 0.0 == value("INST", [0, 0])
    assert 0.0 == value("NERR8(min_rel=2)@5", [1, 2])
    with pytest.raises(MeasureError, match=r"^max_rel=2 is not higher than min_rel=2, so no document has a gain\.$"):
        value("INST(min_rel=2, max_rel=2)", [3])


def test_a_residual_counts_what_nobody_judged():
    assert 0.0 == value("SDCG(residual=True)@2", [1, 0])
    assert 1 / (1 + 1 / math.log2(3)) == pytest.approx(value("SDCG(residual=True)@2", [None, 1]))
    assert 1.0 == pytest.approx(value("SDCG(residual=True)@2", [None, -1], missed=[1]))
    assert 1 - 1 / 2 == value("NERR8(residual=True)@10", [None, 1])
    assert 1 - (1 / 2 + 1 / 4) / 4 == value("BPM(residual=True)@4", [None, 2, 1], missed=[4])


def test_all_of_a_missing_query_may_be_hidden():
    names = ["RBP", "INST", "INSQ", "BPM@5", "SDCG@5", "NERR8@5", "NERR9@5", "NERR10", "NERR11"]
    residuals = [with_residual(name) for name in names]
    grades = {"answered": {"a": 1}, "missing": {"a": 1}}
    found = evaluate(grades, {"answered": {"a": 1.0}}, [*names, *residuals]).per_query()["missing"]

    assert [0.0] * len(names) == [found[name] for name in names]
    assert [1.0] * len(names) == pytest.approx([found[name] for name in residuals], abs=1e-14)


def test_a_better_document_further_up_may_lower_the_rate_at_which_the_user_stops():
    assert 1.5 / 4 == value("BPM@4", [0, 0, 1, 2])
    assert 1 / 3 == value("BPM@4", [0, 0, 2, 1])
    # So does an unjudged one that turns out to be perfect: cwl_eval has such residuals as well.
    assert 1 / 4 - 1.9 / 6 == pytest.approx(value("BPM(residual=True)@9", [0, 0, 0, None, 9, 10]))


def test_ten_tenths_are_enough():
    assert 0.1 == pytest.approx(value("BPM@20", [1] * 12, missed=[10]))
    assert 10 / 10 / 10 == pytest.approx(value("BPM@20", [1] * 10 + [10], missed=[10]))


def test_rbp_and_its_residuals():
    assert value("RBPResidual", [2, None, 1]) == pytest.approx(value("RBP(residual=True)", [2, None, 1]))
    assert 0.2 * 0.8 == pytest.approx(value("RBP(residual=True)@2", [2, None, 1]))
    assert 0.2 * 0.8 / (1 - 0.8**2) == pytest.approx(value("RBP(residual=True, depth=2)", [2, None, 1]))
    assert 0.2 / (1 - 0.8**2) == pytest.approx(value("RBP(depth=2)", [2, None, 1]))
    assert 0.2 / (1 - 0.8**3) == pytest.approx(value("RBP(depth=3, rel=2)@2", [2, None, 2]))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("INST(T=0.4)", "INST: T cannot be 0.4; it takes a number from 0.5 to 1e+06."),
        ("INSQ(T=0)", "INSQ: T cannot be 0; it takes a number from 0.01 to 1e+06."),
        ("INSQ(depth=1000001)", "INSQ: depth cannot be 1000001; it takes a whole number from 1 to 1000000."),
        ("SDCG@0", "SDCG: cutoff cannot be 0; it takes a whole number from 1."),
        ("SDCG(dcg='exp-log2')@5", "SDCG: dcg cannot be 'exp-log2'; it takes 'log2'."),
        ("NERR9(min_rel=-1)@5", "NERR9: min_rel cannot be -1; it takes a number from 0."),
        ("BPM", "BPM needs a cutoff: write BPM@10."),
        ("NERR10(residual=1)", "NERR10: residual cannot be 1; it takes True or False."),
    ],
)
def test_what_cannot_be_is_refused(name, message):
    with pytest.raises(ParameterError) as error:
        parse_measure(name)

    assert message == str(error.value)


def test_names_of_ir_measures_read_as_ours():
    assert parse_measure("SDCG@5") == parse_measure("SDCG(dcg='log2')@5")
    assert "INST(T=2.0, max_rel=3)" == str(parse_measure("INST(T=2, min_rel=0, max_rel=3)"))


def test_sums_of_inverse_squares_are_exact():
    first = np.array([0.02, 0.5, 1.0, 2.0, 5.25, 9.99, 10.0, 31.7, 900.5, 1.0, 1.0, 3.3])
    terms = np.array([5, 3, 1, 1000, 7, 2, 1, 990, 100, 0, 10, 100_000])
    exact = [math.fsum((x + k) ** -2.0 for k in range(n)) for x, n in zip(first.tolist(), terms.tolist(), strict=True)]

    np.testing.assert_allclose(sum_of_inverse_squares(first, terms), exact, rtol=1e-14, atol=0)


# Overlap with the ideal ranking.


def overlap_depth_by_depth(grades: dict[str, int], docs: list[str], p: float, normalize: bool) -> float:
    retrieved = [doc for doc in docs if grades.get(doc, 0) > 0]
    others = [doc for doc in grades if grades[doc] > 0 and doc not in docs]
    ideal = sorted(retrieved + others, key=lambda doc: -grades[doc])
    depths = range(1, max(len(docs), len(ideal)) + 1)
    found = sum(p ** (i - 1) / i * len(set(docs[:i]) & set(ideal[:i])) for i in depths)
    best = sum(p ** (i - 1) / i * len(ideal[:i]) for i in depths)
    return found / (best if normalize else sum(p ** (i - 1) for i in depths)) if ideal else 0.0


@given(cases(), st.sampled_from([0.3, 0.95]), st.booleans())
def test_compat_is_the_overlap_depth_by_depth(case, p, normalize):
    rankings = {query: sorted(docs) for query, docs in case.scores.items()}
    judged = judge(qrels_of(case.grades), run_of({query: ranking(docs) for query, docs in rankings.items()}))
    expected = [
        overlap_depth_by_depth(case.grades[query], rankings.get(query, []), p, normalize) for query in judged.queries
    ]

    assert expected == pytest.approx(Compat(p=p, normalize=normalize).values(judged).tolist(), abs=1e-14)


def test_compat_by_hand():
    assert 1.0 == value("Compat", [2, 1])
    assert 0.5 * 1 / (1 + 0.5) == value("Compat(p=0.5)", [1, 2])
    assert (1 + 0.5 * 1 / 2) / (1 + 0.5) == pytest.approx(value("Compat(p=0.5, normalize=False)", [1], missed=[1]))
    assert (1 + 0.5 * 1 / 2) / (1 + 0.5 * 2 / 2) == pytest.approx(value("Compat(p=0.5)", [1], missed=[1]))
    assert 1.0 == value("Compat", [1, 1, 0, None])  # those of one grade stand in the order of the run
    assert 0.0 == value("Compat", [0, None])


# ERR over its best, and pairs in the right order.


def test_nerr_divides_by_the_best_possible():
    assert 1.0 == value("nERR", [3, 2, 0], missed=[0])
    assert (3 / 4 / 2) / (3 / 4) == value("nERR", [0, 2])
    assert 1.0 == value("nERR@1", [2], missed=[2, 2])
    assert value("ERR(top=4)", [1, 3]) / value("ERR(top=4)", [3, 1]) == value("nERR(top=4)", [1, 3])
    assert 0.0 == value("nERR", [0], missed=[0])
    with pytest.raises(MeasureError, match="ERR: grade 3 is higher than top=2"):
        value("nERR(top=2)", [0], missed=[3])


def test_accuracy_is_the_share_of_pairs_in_order():
    assert 3 / 4 == value("Accuracy", [1, 0, 1, None], missed=[1, 1])
    assert 1 / 2 == value("Accuracy@3", [1, 0, 1, None])
    assert 1.0 == value("Accuracy@1", [1, 0, 1, None])
    assert 0.0 == value("Accuracy@1", [0, 1])
    assert 1.0 == value("Accuracy(rel=2)", [2, 1, 0])
    assert 1.0 == value("Accuracy", [1, 1])
    assert 0.0 == value("Accuracy", [0, None], missed=[1])
