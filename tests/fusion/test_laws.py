"""Laws for every method: no document is lost, inputs are not changed, and irrelevant order has no effect."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Run, fuse
from assay.fusion import METHODS, NORMALISATIONS
from assay.fusion.pooled import pool_runs, total_of
from assay.ranking import ranks_of
from fusion.small import Scores, runs, scores_of, several, tables
from strategies import run_of

ANY_NUMBER = [name for name, method in METHODS.items() if method.runs is None]
TAKE_WEIGHTS = [name for name, method in METHODS.items() if method.weights != "none"]


def options_of(method: str, number: int) -> dict:
    return {"weights": [0.1 * (place + 1) for place in range(number)]} if method == "weighted" else {}


def fused(parts: list[Scores], method: str, **options) -> dict:
    return scores_of(fuse(runs(*parts), method, **(options_of(method, len(parts)) | options)))


def parts_for(method: str, parts: list[Scores]) -> list[Scores]:
    return parts[: METHODS[method].runs]


@pytest.mark.parametrize("norm", NORMALISATIONS)
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(parts=several)
def test_the_fused_run_has_every_query_and_document_and_no_other(method, norm, parts):
    parts = parts_for(method, parts)
    expected: dict[str, set[str]] = {}
    for part in parts:
        for query, docs in part.items():
            expected[query] = expected.get(query, set()) | set(docs)

    assert expected == {query: set(docs) for query, docs in fused(parts, method, norm=norm).items()}


@pytest.mark.parametrize("method", [name for name in ANY_NUMBER if name != "weighted"])
@given(parts=several, norm=st.sampled_from(list(NORMALISATIONS)), seed=st.integers(0, 99))
def test_the_order_of_runs_and_rows_changes_no_bit(method, norm, parts, seed):
    shuffle = random.Random(seed)
    mixed = [
        {
            query: dict(shuffle.sample(list(docs.items()), len(docs)))
            for query, docs in shuffle.sample(list(part.items()), len(part))
        }
        for part in shuffle.sample(parts, len(parts))
    ]

    assert fused(parts, method, norm=norm) == fused(mixed, method, norm=norm)


@pytest.mark.parametrize("method", TAKE_WEIGHTS)
@given(parts=several, numbers=st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_weights_go_with_their_runs(method, parts, numbers):
    weights = [number / 7 + 0.1 for number in numbers[: len(parts)]]

    assert fused(parts, method, weights=weights) == fused(parts[::-1], method, weights=weights[::-1])


@pytest.mark.parametrize("method", TAKE_WEIGHTS)
@given(parts=several, numbers=st.lists(st.integers(1, 9), min_size=4, max_size=4))
def test_weights_scale_the_scores(method, parts, numbers):
    """Four times the weights give four times the scores; means and votes do not change."""
    weights = [float(number) for number in numbers[: len(parts)]]
    once = fused(parts, method, weights=weights)
    factor = 1 if method in ("average", "condorcet") else 4
    expected = {query: {doc: factor * score for doc, score in docs.items()} for query, docs in once.items()}

    assert expected == fused(parts, method, weights=[4 * weight for weight in weights])


@pytest.mark.parametrize("method", [name for name in TAKE_WEIGHTS if name != "weighted"])
@given(parts=several)
def test_equal_weights_are_no_weights(method, parts):
    assert fused(parts, method) == fused(parts, method, weights=[1] * len(parts))


@pytest.mark.parametrize("norm", NORMALISATIONS)
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(part=tables(), copies=st.integers(1, 3))
def test_a_run_fused_with_itself_keeps_its_order(method, norm, part, copies):
    """With three copies of a run, or one, documents with different scores keep their order."""
    copies = METHODS[method].runs or copies
    together = fused([part] * copies, method, norm=norm)
    if method == "logisr" and copies == 1:
        return  # every document gets log 1 = 0

    for query, docs in part.items():
        for one, other in itertools.combinations(docs, 2):
            if docs[one] > docs[other]:
                assert together[query][one] >= together[query][other]


@pytest.mark.parametrize("method", [name for name, known in METHODS.items() if known.uses == "ranks"])
@given(part=tables(), copies=st.integers(2, 3))
def test_methods_by_rank_keep_the_very_ranking(method, part, copies):
    run = run_of(part)
    together = fuse([run] * copies, method)
    ranks = {(run.query[row], run.doc[row]): rank for row, rank in enumerate(ranks_of(run))}

    assert [ranks[pair] for pair in zip(together.query, together.doc, strict=True)] == ranks_of(together).tolist()


@given(parts=several, k=st.integers(0, 100))
def test_rrf_bounds(parts, k):
    """Nothing beats a first place in every run, and nothing is below a last place in one run."""
    for query, docs in fused(parts, "rrf", k=k).items():
        found = [part[query] for part in parts if query in part]
        highest, lowest = len(found) / (k + 1), 1 / (k + max(map(len, found)))

        assert all(lowest * (1 - 1e-12) <= score <= highest * (1 + 1e-12) for score in docs.values())


@given(parts=several)
def test_lowest_median_mean_and_highest_stand_in_this_order(parts):
    low, middle, mean, high = (fused(parts, name) for name in ("combmin", "combmed", "combanz", "combmax"))
    for query, docs in low.items():
        for doc, score in docs.items():
            assert score <= middle[query][doc] <= high[query][doc]
            assert score - 1e-12 <= mean[query][doc] <= high[query][doc] + 1e-12


@given(parts=several)
def test_borda_gives_out_all_points_and_condorcet_all_duels(parts):
    borda, duels = fused(parts, "borda"), fused(parts, "condorcet")
    for query, docs in borda.items():
        size = len(docs)

        assert len(parts) * size * (size + 1) / 2 == pytest.approx(sum(docs.values()))
        assert size * (size - 1) / 2 == sum(duels[query].values())


@given(parts=several)
def test_borda_as_a_method_is_borda_as_a_normalisation(parts):
    points, shares = fused(parts, "borda"), fused(parts, "combsum", norm="borda")
    for query, docs in points.items():
        assert docs == pytest.approx({doc: score * len(docs) for doc, score in shares[query].items()})


@pytest.mark.parametrize("method", METHODS)
@given(parts=several)
def test_a_query_is_fused_by_itself(method, parts):
    parts = parts_for(method, parts)
    alone = [{"q": part["q"]} if "q" in part else {"other": {"x": 1.0}} for part in parts]
    if any("q" in part for part in parts):
        assert fused(parts, method)["q"] == fused(alone, method)["q"]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=20)
@given(parts=several)
def test_what_is_given_is_never_changed(method, parts):
    given_runs = parts_for(method, runs(*parts))
    before = [(run.query.copy(), run.doc.copy(), run.score.copy()) for run in given_runs]
    for run in given_runs:
        for column in (run.query, run.doc, run.score):
            column.setflags(write=False)
    for norm in NORMALISATIONS:
        fuse(given_runs, method, norm=norm, **options_of(method, len(given_runs)))

    for run, columns in zip(given_runs, before, strict=True):
        for now, then in zip((run.query, run.doc, run.score), columns, strict=True):
            assert then.tolist() == now.tolist()


@given(parts=several, depth=st.integers(1, 4))
def test_depth_keeps_the_best_and_changes_no_score(parts, depth):
    whole, cut = fuse(runs(*parts)), fuse(runs(*parts), depth=depth)
    kept = ranks_of(whole) <= depth

    assert whole.doc[kept].tolist() == cut.doc.tolist()
    assert whole.score[kept].tolist() == cut.score.tolist()


@given(parts=several)
def test_rows_come_by_query_and_rank(parts):
    run = fuse(runs(*parts))

    assert sorted(zip(run.query.tolist(), ranks_of(run).tolist(), strict=True)) == list(
        zip(run.query.tolist(), ranks_of(run).tolist(), strict=True)
    )


@given(parts=several, dense=st.booleans())
def test_both_ways_to_add_up_give_the_same_bits(parts, dense):
    pooled = pool_runs(runs(*parts), np.ones(len(parts)))

    assert total_of(pooled.score, pooled.pair, len(pooled.pair_query)).tolist() == pooled.total(pooled.score).tolist()


def test_many_runs_with_little_in_common_are_added_without_a_grid():
    parts = [{"q": {f"d{number}": 0.1, "common": number / 7}} for number in range(9)]
    values = scores_of(fuse(runs(*parts), "combsum"))["q"]

    assert sum(number / 7 for number in range(9)) == pytest.approx(values["common"])
    assert values == scores_of(fuse(runs(*parts[::-1]), "combsum"))["q"]


def test_equal_votes_in_other_runs_give_equal_scores():
    """The last bit of 1/61 + 1/62 + 1/63 depends on the order, so naive sums would differ."""
    parts = [
        {"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
        {"q": {"c": 3.0, "a": 2.0, "b": 1.0}},
        {"q": {"b": 3.0, "c": 2.0, "a": 1.0}},
    ]

    assert 1 == len(set(scores_of(fuse(runs(*parts)))["q"].values()))


def test_empty_runs():
    nothing = Run.from_columns([], [], [])
    for method in ANY_NUMBER:
        for norm in NORMALISATIONS:
            options = options_of(method, 2)
            assert 0 == len(fuse([nothing, nothing], method, norm=norm, **options))
            assert {"q": {"a"}} == {
                query: set(docs)
                for query, docs in scores_of(
                    fuse([nothing, run_of({"q": {"a": 1.0}})], method, norm=norm, **options)
                ).items()
            }


@given(parts=several)
def test_whoever_beats_all_others_is_first_under_condorcet(parts):
    """Compared one by one, in plain Python."""
    ranks = [
        {(run.queries[q], d): r for q, d, r in zip(run.query, run.doc, ranks_of(run), strict=True)}
        for run in runs(*parts)
    ]

    def beats(query, one, other):
        places = [(known.get((query, one), 99), known.get((query, other), 99)) for known in ranks]
        return sum(a < b for a, b in places) > sum(a > b for a, b in places)

    for query, docs in fused(parts, "condorcet").items():
        for doc, score in docs.items():
            won = sum(beats(query, doc, other) for other in docs)
            lost = sum(beats(query, other, doc) for other in docs)

            assert won + (len(docs) - 1 - won - lost) / 2 == score
