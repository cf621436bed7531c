"""Comparisons of systems, by hand and against SciPy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay import Evaluator, Rules
from assay.comparison.comparing import compare, compare_scores
from assay.comparison.leaderboard import leaderboard
from assay.comparison.pairs import Study, SystemScores
from assay.errors import AssayError

A = [0.4, 0.3, 0.5, 0.2, 0.6]
B = [0.9, 0.5, 0.8, 0.6, 0.6]


def scores(*columns: list[float], measures: int = 1) -> SystemScores:
    values = np.array([columns] * measures, float).transpose(0, 2, 1)
    names = tuple("abcdefgh"[: len(columns)])
    return SystemScores(names, tuple(map(str, range(len(columns[0])))), tuple(f"m{n}" for n in range(measures)), values)


def only(study: Study = Study(), *columns: list[float]):
    return compare_scores(scores(*(columns or (A, B))), study).pairs[0]


def test_a_pair_by_hand() -> None:
    pair = only()

    assert ("a", "b", 5) == (pair.baseline, pair.system, pair.queries)
    assert (0.4, 0.68) == (pytest.approx(pair.baseline_mean), pytest.approx(pair.system_mean))
    assert 0.28 == pytest.approx(pair.difference)
    assert 0.7 == pytest.approx(pair.relative)
    assert (4, 1, 0) == (pair.wins, pair.ties, pair.losses)
    assert stats.ttest_rel(B, A).pvalue == pytest.approx(pair.p, rel=1e-12)
    assert pair.interval == pytest.approx(stats.ttest_rel(B, A).confidence_interval(), rel=1e-9)
    assert pair.p == pair.p_corrected  # one comparison is not corrected


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_swapping_the_two_turns_every_sign(rows: list[tuple[float, float]]) -> None:
    first, second = (list(column) for column in zip(*rows, strict=True))
    there, back = only(Study(), first, second), only(Study(), second, first)

    assert there.difference == pytest.approx(-back.difference, abs=1e-12)
    assert there.p == pytest.approx(back.p, rel=1e-9, abs=1e-300)
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert {there.verdict, back.verdict} in ({"better", "worse"}, {"no significant difference"})


@pytest.mark.parametrize(
    "test", ["t", "permutation", "bootstrap", "wilcoxon", "wilcoxon-exact", "sign", "tukey", "anova"]
)
def test_a_system_against_itself(test: str) -> None:
    pair = only(Study(test=test, draws=500), A * 4, A * 4)

    assert (0.0, 1.0, "no significant difference") == (pair.difference, pair.p, pair.verdict)


def test_an_empty_run_comes_with_a_warning() -> None:
    found = compare_scores(scores([0.0] * 60, [0.5 + n / 200 for n in range(60)]))

    assert "better" == found.pairs[0].verdict
    assert ("a has m0 0.0000 on every query: is the run empty or constant?",) == found.notes


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap", "sign", "wilcoxon", "anova", "tukey"])
def test_sixty_wins_by_the_same_amount_are_evidence_without_an_interval(test: str) -> None:
    base = [number / 100 for number in range(60)]
    pair = only(Study(test=test, draws=999), base, [value + 0.2 for value in base])

    assert ("better", True, (60, 0, 0)) == (pair.verdict, pair.constant, (pair.wins, pair.ties, pair.losses))
    assert (None, None, None) == (pair.interval, pair.interval_corrected, pair.effect_size)


def test_three_wins_by_the_same_amount_are_not_enough() -> None:
    pair = only(Study(), [0.1, 0.2, 0.3], [0.2, 0.3, 0.4])

    assert (0.25, "no significant difference", True) == (pair.p, pair.verdict, pair.constant)


def test_equal_values_are_equivalent_once_there_are_queries_enough_for_the_margin() -> None:
    """If the mean were 0.01, the chance to see no difference in n queries would be at most 0.99**n: 0.0495 for 299."""
    verdicts = [only(Study(margin=0.01), [0.5] * queries, [0.5] * queries).verdict for queries in (5, 298, 299)]

    assert ["no significant difference", "no significant difference", "equivalent"] == verdicts
    assert (
        "no significant difference" == only(Study(margin=0.01), [5.0] * 999, [5.0] * 999).verdict
    )  # no bound on values
    assert "no significant difference" == only(Study(margin=0.01), [0.1, 0.2, 0.3], [0.2, 0.3, 0.4]).verdict


def test_one_query_is_not_tested() -> None:
    found = compare_scores(scores([0.4], [0.9]))

    assert ("not tested", 1.0) == (found.pairs[0].verdict, found.pairs[0].p)
    assert ("Not tested: t needs at least 2 queries (b - a by m0).",) == found.notes


def test_too_few_queries_for_the_bootstrap_are_not_tested() -> None:
    found = compare_scores(scores(A, B), Study(test="bootstrap", draws=99))

    assert "not tested" == found.pairs[0].verdict
    assert (
        "Not tested: bootstrap needs at least 20 queries, since with fewer it errs too often; use t or permutation (b - a by "
        "m0)."
    ) in found.notes


def test_a_gain_over_a_mean_under_zero_is_a_positive_change() -> None:
    assert 0.5 == pytest.approx(only(Study(), [-2.0, -1.0, -3.0], [-1.0, -0.5, -1.5]).relative)


def test_few_queries_are_said() -> None:
    assert compare_scores(scores(A, B)).notes[0].startswith("With 5 queries (fewer than 50) only large differences")


def test_one_comparison_is_not_corrected_and_equal_measures_count_once() -> None:
    found = compare_scores(scores(A, B, [0.5, 0.4, 0.7, 0.2, 0.8], measures=3))

    assert ((2, 2), "holm") == (found.families, found.correction)
    assert all(pair.p_corrected >= pair.p for pair in found.pairs)
    assert "none" == compare_scores(scores(A, B)).correction


def test_baselines() -> None:
    three = scores(A, B, [0.5, 0.4, 0.7, 0.2, 0.8])

    assert [("a", "b"), ("a", "c")] == [(p.baseline, p.system) for p in compare_scores(three).pairs]
    assert [("c", "a"), ("c", "b")] == [
        (p.baseline, p.system) for p in compare_scores(three, Study(baselines=("c",))).pairs
    ]
    assert [("a", "c"), ("b", "c")] == [
        (p.baseline, p.system) for p in compare_scores(three, Study(baselines=("a", "b"))).pairs
    ]
    assert 3 == compare_scores(three, Study(all_pairs=True)).family
    assert 2 == compare_scores(three, Study(baselines=("c", "c"))).family


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (Study(baselines=("d",)), "no system called 'd' for the baseline; there are a, b."),
        (
            Study(baselines=("a", "b")),
            "every system is a baseline, so there is nothing to compare; name fewer baselines.",
        ),
    ],
)
def test_baselines_that_cannot_be(study: Study, message: str) -> None:
    with pytest.raises(AssayError) as error:
        compare_scores(scores(A, B), study)
    assert message == str(error.value)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"alpha": 0}, "alpha cannot be 0; it takes a number between 0 and 1, such as 0.05."),
        ({"margin": -1}, "margin cannot be -1; it takes a number greater than 0, such as 0.01."),
        ({"plan": math.inf}, "plan cannot be inf; it takes a number greater than 0, such as 0.01."),
        ({"interval": "x"}, "interval cannot be 'x'; it takes t, percentile, bca."),
        ({"test": "tt"}, "no test called 'tt'; did you mean 't'?"),
    ],
)
def test_choices_that_cannot_be(choice: dict, message: str) -> None:
    with pytest.raises(AssayError) as error:
        Study(**choice)
    assert message == str(error.value) or "no test called 'tt'" in str(error.value)


def test_a_query_that_one_side_lacks_is_left_out_and_said() -> None:
    evaluator = Evaluator({"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}, ["RR"], Rules(queries="both"))
    whole = evaluator.evaluate({"1": {"a": 1.0}, "2": {"b": 2.0, "a": 1.0}, "3": {"a": 1.0}}, name="whole")
    part = evaluator.evaluate({"1": {"a": 1.0}, "2": {"a": 1.0}}, name="part")

    found = compare_scores(SystemScores.from_evaluations([whole, part]))

    assert (2, 0.25) == (found.pairs[0].queries, found.pairs[0].difference)
    assert any("are left out" in note for note in found.notes)


def test_equivalence_needs_a_margin() -> None:
    near = [value + (0.001 if number % 2 else -0.001) for number, value in enumerate(A * 20)]

    assert "no significant difference" == only(Study(), A * 20, near).verdict
    assert "equivalent" == only(Study(margin=0.01), A * 20, near).verdict


@pytest.mark.parametrize("correction", [None, "none"])
def test_wider_intervals_hold_together(correction: str | None) -> None:
    three = scores(A, B, [0.5, 0.4, 0.7, 0.2, 0.8])
    one, together = (
        compare_scores(three, Study(simultaneous=choice, correction=correction)).pairs[0] for choice in (False, True)
    )

    assert together.interval[0] < one.interval[0] < one.interval[1] < together.interval[1]
    assert together.interval == together.interval_corrected
    assert (one.interval_corrected == one.interval) == (correction == "none")


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_bootstrap_intervals_are_near_that_of_t(interval: str) -> None:
    random = np.random.default_rng(5)
    a, b = random.random(200).tolist(), random.random(200).tolist()
    t, other = only(Study(), a, b).interval, only(Study(interval=interval), a, b).interval

    assert t == pytest.approx(other, abs=0.01)


def test_planning() -> None:
    pair = only(Study(plan=0.05), A, B)
    deviation = np.std(np.subtract(B, A), ddof=1)

    power = stats.nct.sf(
        stats.t.ppf(0.975, pair.needed - 1), pair.needed - 1, 0.05 / deviation * math.sqrt(pair.needed)
    )
    assert 0.8 <= power < 0.81


def test_a_stricter_alpha_takes_more_queries_and_shows_larger_differences_only() -> None:
    usual, strict = only(Study(plan=0.05)), only(Study(plan=0.05, alpha=0.01))

    assert usual.needed < strict.needed
    assert usual.detectable < strict.detectable


def test_differences_up_to_the_minimum_are_ties() -> None:
    assert (4, 1, 0) == (only().wins, only().ties, only().losses)
    assert (3, 2, 0) == tuple(getattr(only(Study(minimum=0.25)), name) for name in ("wins", "ties", "losses"))


# The basis of the verdict

SMALL_WINS = [0.51 + number / 10_000 for number in range(57)] + [0.0] * 3  # many small gains and three large losses


@pytest.mark.parametrize("test", ["sign", "wilcoxon", "wilcoxon-exact"])
def test_the_verdict_has_the_direction_that_the_test_found_and_says_where_the_means_differ(test: str) -> None:
    found = compare_scores(scores([0.5] * 60, SMALL_WINS), Study(test=test))

    assert "better" == found.pairs[0].verdict
    assert found.pairs[0].difference < 0
    assert f"The verdict is better although the mean is lower: {test} does not test means (b - a by m0)." in found.notes


def test_a_mean_of_exactly_the_same_is_not_worse_where_more_queries_are_won() -> None:
    wins = [0.5 + 0.0625] * 30 + [0.5 - 0.625] * 3
    pair = only(Study(test="sign"), [0.5] * 33, wins)

    assert (0.0, 30, 3, "better") == (pair.difference, pair.wins, pair.losses, pair.verdict)


def test_equivalence_is_corrected_over_its_family_as_well() -> None:
    random = np.random.default_rng(4)
    a = random.random(80)
    b, c = (a + random.normal(0, 0.05, 80) for _ in range(2))
    study = Study(margin=0.01)
    alone = [compare_scores(scores(a.tolist(), each.tolist()), study).pairs[0] for each in (b, c)]
    together = compare_scores(scores(a.tolist(), b.tolist(), c.tolist()), study).pairs

    assert [pair.p_equivalence for pair in alone] == [pair.p_equivalence for pair in together]
    assert [pair.p_equivalence for pair in alone] == [pair.p_equivalence_corrected for pair in alone]
    least, most = sorted(pair.p_equivalence for pair in alone)
    assert [min(1, 2 * least), max(2 * least, most)] == pytest.approx(
        sorted(pair.p_equivalence_corrected for pair in together)
    )


def test_equivalent_is_said_by_the_corrected_p() -> None:
    random = np.random.default_rng(6)
    a = random.random(60)
    others = [(a + random.normal(0, 0.045, 60)).tolist() for _ in range(6)]
    pairs = compare_scores(scores(a.tolist(), *others), Study(margin=0.012)).pairs

    assert any(pair.p_equivalence < 0.05 <= pair.p_equivalence_corrected for pair in pairs)
    assert all((pair.verdict == "equivalent") == (pair.p_equivalence_corrected < 0.05) for pair in pairs)


QRELS = {f"q{n}": {"a": 1} for n in range(60)}
JUDGED = {f"q{n}": {"a": 1.0} for n in range(60)}
STRANGE = {f"q{n}": {"a": 2.0} if n % 3 else {"x": 2.0, "a": 1.0} for n in range(60)}


def test_more_of_what_is_not_good_is_higher_and_not_better() -> None:
    found = compare(QRELS, {"a": JUDGED, "b": STRANGE}, ["Unjudged@10", "RR"])

    assert ["higher", "worse"] == [pair.verdict for pair in found.pairs]
    assert [(), ("a",)] == [found.best(measure) for measure in ("Unjudged@10", "RR")]
    back = compare(QRELS, {"a": STRANGE, "b": JUDGED}, ["Unjudged@10"], segments=dict.fromkeys(QRELS, "x"))
    assert "lower" == back.pairs[0].verdict
    assert () == back.segments[0].segments[0].best("Unjudged@10")


def test_measures_that_are_no_means_are_compared_by_means_and_that_is_said() -> None:
    found = compare(QRELS, {"a": JUDGED, "b": STRANGE}, ["GMAP", "NumRet", "RR"])

    assert (
        "GMAP and NumRet: means, differences and tests use the per-query values; elsewhere these measures are combined "
        "over queries as a geometric mean or a sum."
    ) in found.notes


def test_without_a_query_that_all_have_none_is_best() -> None:
    nan = math.nan
    found = compare_scores(scores([0.1, nan, 0.3], [nan, 0.2, 0.1], [0.2, 0.1, nan], measures=2))

    assert () == found.best("m0")
    assert [None] == [pair.tau for pair in found.measures_alike]


# Notes


def test_the_same_difference_on_every_query_is_said() -> None:
    found = compare_scores(scores([0.1, 0.2, 0.3] * 20, [0.2, 0.3, 0.4] * 20, [0.1, 0.2, 0.3] * 20))

    assert (
        "The difference is +0.1000 on every query: without spread it has no interval, and p is that of the sign test (b - a by "
        "m0).",
        "The values are the same on every query, so there is nothing to test (c - a by m0).",
    ) == found.notes


def test_what_is_said_of_many_is_said_once() -> None:
    found = compare_scores(scores(*[[1.0] * 60] * 8), Study(all_pairs=True))

    assert (
        "a, b, c, ... have m0 1.0000 on every query: there is nothing left to compare.",
        "The values are the same on every query, so there is nothing to test "
        "(b - a by m0, c - a by m0, d - a by m0, ...).",
    ) == found.notes


def test_measures_with_the_same_oddity_share_a_line() -> None:
    qrels = {"q1": {"a": 0}, "q2": {"a": 0}}
    found = compare(
        qrels, {"old": {key: ["a"] for key in qrels}, "new": {key: ["b", "a"] for key in qrels}}, ["AP", "RR"]
    )

    assert "old, new have AP, RR 0.0000 on every query: are these runs empty or constant?" in found.notes


def test_one_query_is_no_test() -> None:
    qrels = {"q1": {"a": 1}}
    runs = {"old": {"q1": ["b", "a"]}, "new": {"q1": ["a"]}}

    assert "Not tested: t needs at least 2 queries (new - old by RR)." == compare(qrels, runs, ["RR"]).notes[0]
    assert (
        "With a single query no mean has an interval, and no difference can be significant."
        == leaderboard(qrels, runs, ["RR"]).notes[0]
    )


def test_who_lacks_queries_is_named_and_how_many_are_left() -> None:
    nan = math.nan
    found = compare_scores(
        scores([0.1, nan, 0.3, 0.2], [0.2, 0.3, 0.5, 0.4], [0.2, 0.3, 0.1, 0.4]), Study(all_pairs=True)
    )

    assert "Queries missing from one of the two systems are left out of their comparison (a: 1 missing)." in found.notes


def test_what_no_system_has_a_value_for_is_not_lacking() -> None:
    nan = math.nan

    assert not any("missing" in note for note in compare_scores(scores([0.1, nan, 0.3], [0.2, nan, 0.5])).notes)


def test_a_plan_that_takes_too_many_queries_does_not_stop_the_rest() -> None:
    values = scores(A, B, measures=1)
    found = compare_scores(values, Study(plan=1e-9))

    assert (None, "better") == (found.pairs[0].needed, only(Study(alternative="greater")).verdict)
    assert "Detecting a difference of 1e-09 takes more than 1,000,000,000 queries (b - a by m0)." in found.notes


def test_tables_of_scores_are_compared_like_runs() -> None:
    table = {"a": dict(enumerate(A)), "b": dict(enumerate(B))}
    frame = pandas.DataFrame(table).rename_axis("query").reset_index()
    for scored in (table, frame):
        found = compare_scores(scored)
        assert stats.ttest_rel(B, A).pvalue == pytest.approx(found.pairs[0].p, rel=1e-12)
        assert (("a", "b"), ("score",)) == (found.scores.systems, found.scores.measures)


def test_options_of_tables_are_those_of_runs(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(
        "query,a,b\n" + "".join(f"{n},{x},{y}\n" for n, (x, y) in enumerate(zip(A, B, strict=True)))
    )
    found = compare_scores(
        tmp_path / "scores.csv",
        Study(test="permutation", draws=500),
        baseline="b",
        segments={"0": "x", "1": "x", "2": "y", "3": "y", "4": "y"},
        minimum_segment=2,
        queries={0: "first query"},
    )

    assert ("b", "a") == (found.pairs[0].baseline, found.pairs[0].system)
    assert ["x", "y"] == [segment.name for segment in found.segments[0].segments]
    assert "first query" == found.texts["0"]
    with pytest.raises(AssayError, match="segments by relevant documents need judgments"):
        compare_scores({"a": {"1": 0.5}, "b": {"1": 0.5}}, segments="relevant")


def test_queries_that_one_system_lacks_are_left_out_and_counted() -> None:
    found = compare_scores({"a": {"1": 0.5, "2": 0.25, "3": 0.5}, "b": {"2": 0.5, "3": 0.5, "4": 1.0}})

    assert (2, 0.125) == (found.pairs[0].queries, found.pairs[0].difference)
    assert any("(a: 1 missing, b: 1 missing)" in note for note in found.notes)


def test_the_pairs_of_one_measure() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"one": {"q1": {"a": 1.0}, "q2": {"x": 1.0}}, "two": {"q1": {"x": 1.0}, "q2": {"b": 1.0}}}
    found = compare(qrels, runs, ["RR", "AP"])

    assert [("RR", "one", "two")] == [(pair.measure, pair.baseline, pair.system) for pair in found.of("RR")]


def test_the_t_test_of_one_query_says_nothing() -> None:
    found = compare(
        {"q": {"a": 1, "b": 0}}, {"one": {"q": {"a": 1.0}}, "two": {"q": {"b": 1.0}}}, ["AP"], study=Study(test="t")
    )

    assert [1.0] == [pair.p for pair in found.pairs]


def test_evaluations_by_different_measures_are_not_compared() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with pytest.raises(AssayError, match="the runs were evaluated with different measures; evaluate all with the same"):
        SystemScores.from_evaluations([Evaluator(qrels, [name]).evaluate(run) for name in ("AP", "RR")])


@pytest.mark.parametrize("test", ["permutation", "sign", "wilcoxon-exact"])
def test_too_few_queries_to_show_anything_by_signs_are_said(test: str) -> None:
    """Of 5 queries, all won, two of 32 outcomes are as extreme: 0.0625."""
    found = compare_scores(scores(A, [value + 0.2 + number / 100 for number, value in enumerate(A)]), Study(test=test))

    assert (0.0625, None, "no significant difference") == (
        found.pairs[0].p,
        found.pairs[0].detectable,
        found.pairs[0].verdict,
    )
    assert (
        f"{test} cannot show a difference of any size: the smallest p of 5 queries is 0.0625 (b - a by m0)."
        in found.notes
    )
    six = compare_scores(scores([*A, 0.1], [*B, 0.4]), Study(test=test))
    assert not any("cannot show" in note for note in six.notes)
    assert None is not six.pairs[0].detectable
