"""Ranks, rank intervals and tiers: by hand, against SciPy and plain loops, and on data with a known true order."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.comparison.comparing import compare_scores
from assay.comparison.leaderboard import Method
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.rank_intervals import rank_counts, rank_intervals, ranks_of
from assay.comparison.tiers import estimate, pair_p, significantly_different, tiers_of
from assay.errors import AssayError, InputError

stats = pytest.importorskip("scipy.stats")
QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
FIRST, SECOND = {"q1": ["a"], "q2": ["b"]}, {"q1": ["x", "a"], "q2": ["x", "b"]}


def table_of(systems, queries=50, *, gap=0.0, seed=0):
    """Values of systems whose true means fall by `gap` from one to the next."""
    rng = np.random.default_rng(seed)
    true = -gap * np.arange(systems)
    return true + rng.normal(0, 0.2, (queries, 1)) + rng.normal(0, 0.15, (queries, systems))


# Ranks


def test_equal_means_share_the_best_rank():
    means = np.array([[0.3, 0.1], [0.5, 0.1 + 1e-17], [0.3, 0.1]])

    assert [[2, 1], [1, 1], [2, 1]] == ranks_of(means).tolist()


def test_ranks_are_those_of_scipy():
    means = np.random.default_rng(3).integers(0, 6, (9, 200)) / 5

    assert stats.rankdata(-means, method="min", axis=0).tolist() == ranks_of(means).tolist()


def test_rank_intervals_are_those_of_a_plain_loop():
    table, draws, seed = table_of(6, 40, gap=0.03), 500, 11
    rng = np.random.default_rng((seed, 0))
    drawn = []
    for _ in range(draws):
        rows = rng.integers(0, 40, 40)
        drawn.append(stats.rankdata(-table[rows].mean(axis=0), method="min"))
    expected = np.quantile(drawn, [0.025, 0.975], axis=0, method="inverted_cdf").T

    assert expected.tolist() == rank_intervals(rank_counts([table], draws, seed)).tolist()


def test_each_collection_is_resampled_by_itself_and_counts_equally():
    tables, draws, seed = [table_of(4, 30, gap=0.02), table_of(4, 70, gap=-0.01, seed=1)], 300, 5
    rngs = [np.random.default_rng((seed, number)) for number in range(2)]
    drawn = []
    for _ in range(draws):
        means = [
            table[rng.integers(0, len(table), len(table))].mean(axis=0) for rng, table in zip(rngs, tables, strict=True)
        ]
        drawn.append(stats.rankdata(-np.mean(means, axis=0), method="min"))
    expected = np.quantile(drawn, [0.025, 0.975], axis=0, method="inverted_cdf").T

    assert expected.tolist() == rank_intervals(rank_counts(tables, draws, seed)).tolist()


def test_the_number_of_draws_at_a_time_changes_nothing(monkeypatch):
    table = table_of(5, 30, gap=0.02)
    whole = rank_counts([table], 300, 1)
    monkeypatch.setattr("assay.comparison.resampling.BLOCK", 7)

    assert whole.tolist() == rank_counts([table], 300, 1).tolist()


@pytest.mark.parametrize("gap", [0.01, 0.03])  # a third of, and one standard error of a difference
def test_rank_intervals_hold_the_true_rank_as_often_as_they_say(gap):
    held = []
    for seed in range(150):
        ends = rank_intervals(rank_counts([table_of(10, gap=gap, seed=seed)], 400, 1))
        held.append((ends[:, 0] <= np.arange(1, 11)) & (np.arange(1, 11) <= ends[:, 1]))

    assert 0.94 <= np.mean(held)


# Tiers


def test_p_of_pairs_is_that_of_scipy():
    table = table_of(5, 25, gap=0.03)
    expected = [[stats.ttest_rel(a, b).pvalue if a is not b else 1.0 for b in table.T] for a in list(table.T)]
    found = pair_p([table])

    for first in range(5):
        for second in range(first + 1, 5):
            assert found[first, second] == pytest.approx(expected[first][second], rel=1e-9)
    assert found.tolist() == found.T.tolist()


def test_the_p_of_two_collections_is_that_of_unequal_variances():
    # The mean of two differences: Welch's test of the first against the negated second.
    tables = [table_of(2, 20, gap=0.05), table_of(2, 60, gap=0.02, seed=4)]
    one, two = (table[:, 0] - table[:, 1] for table in tables)

    assert stats.ttest_ind(one, -two, equal_var=False).pvalue == pytest.approx(pair_p(tables)[0, 1], rel=1e-9)


def test_the_standard_error_of_one_table_is_the_usual_one():
    table = table_of(3, 12)
    found = estimate([table])

    assert stats.sem(table).tolist() == pytest.approx(found.error.tolist(), rel=1e-12)
    assert [11, 11, 11] == pytest.approx(found.degrees.tolist())


def test_tiers_agree_with_comparing_all_pairs():
    table = table_of(8, 40, gap=0.04)
    systems, queries = tuple("abcdefgh"), tuple(f"q{n}" for n in range(40))
    scores = SystemScores(systems, queries, ("score",), table[None])
    verdicts = assay.compare_scores(scores, Study(all_pairs=True)).pairs
    expected = {(pair.baseline, pair.system) for pair in verdicts if pair.verdict in ("better", "worse")}
    different = significantly_different([table], 0.05)
    found = {(systems[a], systems[b]) for a in range(8) for b in range(a + 1, 8) if different[a, b]}

    assert expected == found
    assert 1 < len(found) < 28


def test_systems_that_differ_by_the_same_on_every_query_are_separated_and_equal_ones_are_not():
    column = np.random.default_rng(1).random(20)
    table = np.stack([column, column, column + 0.25], axis=1)

    assert [[0, 0, 1], [0, 0, 1], [1, 1, 0]] == significantly_different([table], 0.05).astype(int).tolist()
    assert 0.5**19 == pair_p([table])[0, 2]
    assert not significantly_different([table[:4]], 0.05).any()


def test_a_tier_holds_all_that_are_not_worse_than_its_best():
    # c is worse than a by a little on every query; d is far below a on average, but not consistently.
    different = np.zeros((4, 4), np.bool_)
    different[0, 2] = different[2, 0] = True

    assert [1, 1, 2, 1] == tiers_of(np.array([0.9, 0.8, 0.7, 0.6]), different).tolist()


@pytest.mark.parametrize("systems", [2, 10, 40])
def test_equal_systems_are_rarely_split(systems):
    splits = [tiers_of(t.mean(axis=0), significantly_different([t], 0.05)).max() > 1 for t in equal_tables(systems)]

    assert np.mean(splits) <= 0.05 + 2 * (0.05 * 0.95 / len(splits)) ** 0.5


def equal_tables(systems):
    """Tables in which the labels of the systems mean nothing."""
    return [table_of(systems, seed=seed) for seed in range(400)]


# The whole leaderboard


def test_a_leaderboard_by_hand():
    found = assay.leaderboard(QRELS, {"second": SECOND, "first": FIRST}, ["RR", "P@1"])

    assert ("RR", "P@1") == found.measures
    assert [(1, "first", 1.0, {"RR": 1.0, "P@1": 1.0}), (2, "second", 0.5, {"RR": 0.5, "P@1": 0.0})] == [
        (each.rank, each.system, each.mean, each.means) for each in found.standings
    ]
    assert ((1, 1), (2, 2)) == tuple(each.rank_interval for each in found.standings)
    assert (("first", "second"),) == found.tiers  # the same difference on both queries: nothing to test with


def test_means_are_those_of_an_evaluation():
    rng = np.random.default_rng(2)
    qrels = {f"q{n}": {f"d{m}": int(rng.integers(0, 2)) for m in range(9)} for n in range(30)}
    runs = {
        name: {query: {doc: float(rng.random()) for doc in docs} for query, docs in qrels.items()} for name in "abc"
    }
    expected = {name: each.mean()["AP"] for name, each in assay.evaluate_runs(qrels, runs, ["AP"]).items()}
    found = assay.leaderboard(qrels, runs, ["AP"])

    assert expected == {each.system: each.mean for each in found.standings}
    assert sorted(expected.values(), reverse=True) == [each.mean for each in found.standings]


def test_identical_runs_share_everything_but_their_names():
    one, two, three = assay.leaderboard(QRELS, {"a": FIRST, "b": FIRST, "c": SECOND}, ["RR"]).standings

    assert [1, 1, 3] == [each.rank for each in (one, two, three)]
    assert one.rank_interval == two.rank_interval == (1, 1)


def test_the_interval_of_a_mean_is_that_of_a_report():
    values = {f"q{n}": n / 10 for n in range(8)}
    found = assay.leaderboard_scores({"a": values, "b": {query: value / 2 for query, value in values.items()}})
    low, high = stats.t.interval(0.95, 7, np.mean(list(values.values())), stats.sem(list(values.values())))

    assert (low, high) == pytest.approx(found.standings[0].interval)


def test_collections_count_equally():
    many = {f"q{n}": {"a": 1} for n in range(9)}
    found = assay.leaderboard_collections(
        {
            "small": (QRELS, {"x": FIRST, "y": SECOND}),
            "large": (
                many,
                {"x": {query: ["n", "a"] for query in many}, "y": {query: ["n", "n2", "n3", "a"] for query in many}},
            ),
        },
        ["RR"],
    )

    assert [("x", 0.75), ("y", 0.375)] == [(each.system, each.mean) for each in found.standings]
    assert {"small": {"RR": 1.0}, "large": {"RR": 0.5}} == found.standings[0].by_collection
    assert [("small", 2), ("large", 9)] == [(each.name, each.queries) for each in found.collections]


def test_a_system_that_lacks_a_collection_is_refused_or_left_out():
    collections = {"web": (QRELS, {"x": FIRST, "y": SECOND, "z": FIRST}), "news": (QRELS, {"y": SECOND, "x": FIRST})}
    words = (
        "'z' has no run in collection news. A mean over fewer collections is not comparable: add the runs, or leave such "
        "systems out with `incomplete='leave-out'`."
    )
    with pytest.raises(InputError) as error:
        assay.leaderboard_collections(collections, ["RR"])
    found = assay.leaderboard_collections(collections, ["RR"], incomplete="leave-out")

    assert words == str(error.value)
    assert ["x", "y"] == [each.system for each in found.standings]
    assert [("z", ("news",))] == [(each.system, each.lacks) for each in found.left_out]


def test_collections_themselves_can_be_resampled():
    rng = np.random.default_rng(0)
    collections = {}
    for number in range(6):
        qrels = {f"q{n}": {"a": 1} for n in range(10)}
        runs = {
            name: {query: [*(f"n{k}" for k in range(rng.integers(0, worst))), "a"] for query in qrels}
            for name, worst in (("good", 2), ("poor", 6))
        }
        collections[f"c{number}"] = (qrels, runs)
    found = assay.leaderboard_collections(collections, ["RR"], resample="collections")
    means = np.array([[each.by_collection[f"c{number}"]["RR"] for each in found.standings] for number in range(6)])

    assert stats.t.interval(0.95, 5, means[:, 0].mean(), stats.sem(means[:, 0])) == pytest.approx(
        found.standings[0].interval
    )
    p = stats.ttest_rel(means[:, 0], means[:, 1]).pvalue
    assert (p < 0.05) == (len(found.tiers) == 2)


def test_queries_that_a_system_lacks_are_left_out_for_all():
    found = assay.leaderboard_scores({"a": {"1": 0.5, "2": 0.7, "3": 0.9}, "b": {"1": 0.4, "3": 0.2}})

    assert [0.7, pytest.approx(0.3)] == [each.mean for each in found.standings]
    assert "1 query is left out for all systems, since one or more have no value." in found.notes


def test_a_run_without_judged_queries_is_mentioned():
    found = assay.leaderboard(QRELS, {"all": FIRST, "half": {"q1": ["a"]}}, ["RR"])

    assert 0.5 == found.standings[1].mean
    assert "1 system lacks judged queries, which are missing from its run and count as 0 (half 1)." in found.notes


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: assay.leaderboard(QRELS, {"a": FIRST}, ["RR"]), "a leaderboard needs at least two systems."),
        (
            lambda: assay.leaderboard(QRELS, {"a": FIRST, "b": SECOND}, ["Unjudged@5", "RR"]),
            "Unjudged@5 cannot rank systems, since a higher value is not better; put another measure first.",
        ),
        (
            lambda: assay.leaderboard(
                QRELS, {"a": {"q1": ["a"]}, "b": {"q2": ["b"]}}, ["RR"], rules={"queries": "both"}
            ),
            "no query has a value of RR for every system, so their means cannot be compared.",
        ),
        (
            lambda: assay.leaderboard_collections({"web": (QRELS, {"a": FIRST, "b": FIRST})}, resample="collections"),
            "resampling collections takes at least 5 of them, and there is 1; use `resample='queries'`.",
        ),
        (
            lambda: assay.leaderboard_collections(
                {"web": (QRELS, {"a": FIRST}), "news": (QRELS, {"b": FIRST})}, incomplete="leave-out"
            ),
            "no system has a run in all of collections web, news.",
        ),
        (
            lambda: assay.leaderboard_collections({"web": (QRELS, {"a": "no-such.run", "b": FIRST})}),
            "collection web: no-such.run: no such file",
        ),
        (lambda: assay.leaderboard_collections({}), "there are no collections to rank systems over."),
        (lambda: Method(draws=0), "draws cannot be 0"),
        (lambda: Method(alpha=2), "alpha cannot be 2; it takes a number between 0 and 1, such as 0.05."),
    ],
)
def test_errors_in_words(make, words):
    with pytest.raises(AssayError) as error:
        make()

    assert str(error.value).startswith(words)


def test_one_query_says_nothing_about_ranks():
    board = assay.leaderboard({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b", "a"]}}, ["RR"])

    assert [(1, (1, 2)), (2, (1, 2))] == [(each.rank, tuple(each.rank_interval)) for each in board.standings]


def test_tiers_are_the_verdicts_of_compare_also_with_equal_systems_and_equal_steps():
    rng = np.random.default_rng(6)
    values = rng.random((30, 1)) + rng.normal(0, 0.1, (30, 6)) + np.linspace(0, 0.2, 6)
    values = np.column_stack((values, values[:, 2], values[:, 4], values[:, 0] + 0.25))
    names = tuple(f"s{number}" for number in range(9))
    scores = SystemScores(names, tuple(f"q{number}" for number in range(30)), ("AP",), values[None])
    found = significantly_different([values], 0.05)

    for pair in compare_scores(scores, Study(all_pairs=True), moves=0).pairs:
        place = names.index(pair.baseline), names.index(pair.system)
        assert (pair.verdict in ("better", "worse")) == found[place]
