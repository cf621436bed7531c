"""What changed between two runs: small rankings by hand, laws, and a slow and obvious implementation."""

from __future__ import annotations

import pickle
import random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay import Run, native
from assay.comparison.agreement import rank_biased_overlap
from assay.comparison.diffing import DiffSettings, diff_runs
from assay.comparison.moves import Place
from assay.errors import AssayError, DuplicateError, QuerySetError
from native.paths import NEEDS_KERNEL, by_numpy, plain


def ranked(*docs: str) -> dict[str, float]:
    """A ranking of these documents, best first."""
    return {doc: float(len(docs) - place) for place, doc in enumerate(docs)}


# By hand

BEFORE = {"q1": ranked("a", "b", "c", "d"), "q2": ranked("e", "f")}
AFTER = {"q1": ranked("a", "c", "x", "b"), "q2": ranked("e", "f")}


def test_a_small_change_by_hand():
    """q1, first three: a b c before, a c x after. They share a and c; ranks 2 and 3 hold another document; c moved by 1."""
    found = diff_runs(BEFORE, AFTER, cutoffs=[3])
    query = found.queries[0]

    assert ("q1", 2 / 3, 2 / 3, 1 / 2) == (query.query, query.overlap[0], query.moved[0], query.rank_change[0])
    assert (Place("x", None, 3, None),) == query.entered
    assert (Place("b", 2, None, None),) == query.left  # it is now at rank 4, which is not looked at
    assert ("q2", (1.0,), (0.0,), (0.0,), ()) == (
        *(getattr(found.queries[1], name) for name in ("query", "overlap", "moved", "rank_change", "entered")),
    )
    assert (1, 0, 1, 1) == tuple(
        getattr(found.cutoffs[0], name) for name in ("unchanged", "reordered", "entered", "left")
    )
    assert pytest.approx((2 / 3 + 1) / 2) == found.cutoffs[0].overlap.mean
    assert ("A", "B", (), ()) == (found.first, found.second, found.only_first, found.only_second)


def test_a_larger_cutoff_shows_where_documents_went():
    """b left the first three and is at rank 4, which the first four documents show."""
    query = diff_runs(BEFORE, AFTER, cutoffs=[3, 4]).queries[0]

    assert (Place("b", 2, 4, None),) == query.left
    assert (2 / 3, 3 / 4) == query.overlap


def test_rank_biased_overlap_by_hand():
    """Documents in common in the first 1 to 4: 1, 1, 2, 3."""
    agreement = [1 / 1, 1 / 2, 2 / 3, 3 / 4]
    expected = 0.1 / 0.9 * sum(share * 0.9**depth for depth, share in enumerate(agreement, 1)) + 3 / 4 * 0.9**4

    assert pytest.approx(expected) == diff_runs(BEFORE, AFTER).queries[0].rbo
    assert pytest.approx(0.74575) == expected


def test_the_same_documents_in_another_order():
    found = diff_runs({"q": ranked("a", "b", "c")}, {"q": ranked("b", "a", "c")}, cutoffs=[10])

    assert (0, 1, 0, 0) == tuple(
        getattr(found.cutoffs[0], name) for name in ("unchanged", "reordered", "entered", "left")
    )
    assert (1.0, 2 / 3) == (found.queries[0].overlap[0], found.queries[0].moved[0])


def test_ties_are_broken_by_id_so_equal_scores_are_no_change():
    """Both runs rank c, b, a, whatever the order of their lines."""
    found = diff_runs({"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, {"q": {"c": 1.0, "a": 1.0, "b": 1.0}})

    assert found.identical


def test_a_short_list_is_compared_with_the_longer_one():
    """Two of the ten documents that it could hold: the longer list decides, so dropping documents is a change."""
    found = diff_runs({"q": ranked(*"abcdefghij")}, {"q": ranked("a", "b")}, cutoffs=[10])

    assert (2 / 10, 8 / 10) == (found.queries[0].overlap[0], found.queries[0].moved[0])
    assert (0, 8) == (found.cutoffs[0].entered, found.cutoffs[0].left)
    assert (1.0,) == diff_runs({"q": ranked("a", "b")}, {"q": ranked("a", "b")}, cutoffs=[10]).queries[0].overlap


def test_queries_of_only_one_run_are_named_and_in_no_number():
    found = diff_runs({**BEFORE, "old": ranked("a")}, {**BEFORE, "new": ranked("a")})

    assert (("old",), ("new",)) == (found.only_first, found.only_second)
    assert (1.0, 2, False) == (found.cutoffs[0].overlap.mean, len(found.queries), found.identical)


def test_identical_runs_may_differ_in_scores():
    raised = {query: {doc: score + 0.25 for doc, score in docs.items()} for query, docs in BEFORE.items()}
    same, other = diff_runs(BEFORE, BEFORE), diff_runs(BEFORE, raised)

    assert (True, 6, 0, 0.0) == (same.identical, same.scores.documents, same.scores.different, same.scores.largest)
    assert (True, 6, 6, 0.25) == (other.identical, other.scores.documents, other.scores.different, other.scores.largest)


def test_runs_without_a_document_in_common_show_one_of_each():
    found = diff_runs({"q": ranked("doc-1")}, {"q": ranked("DOC-1")})

    assert ("doc-1", "DOC-1") == found.strangers
    assert (0.0, 0.0, None) == (found.cutoffs[0].overlap.mean, found.rbo.mean, found.cutoffs[0].rank_change)
    assert diff_runs(BEFORE, AFTER).strangers is None


def test_a_query_without_documents_on_either_side():
    """It is unchanged if neither run has documents for it, and changed wholly if one has."""
    nothing = Run(("p", "q"), np.array([0]), np.array(["a"], object), np.array([1.0]))
    something = Run(("p", "q"), np.array([0, 1]), np.array(["a", "b"], object), np.array([1.0, 1.0]))

    same, other = diff_runs(nothing, nothing, cutoffs=[5]), diff_runs(nothing, something, cutoffs=[5])
    assert (2, 1.0) == (same.cutoffs[0].unchanged, same.rbo.mean)
    assert [("q", 0.0, 1.0, 0.0), ("p", 1.0, 0.0, 1.0)] == [
        (each.query, each.overlap[0], each.moved[0], each.rbo) for each in other.queries
    ]


def test_runs_without_a_common_query_are_refused():
    with pytest.raises(QuerySetError) as error:
        diff_runs({"Q1": ranked("a")}, {"q1": ranked("a"), "q0": ranked("b")})
    assert "no query is in both runs: 'A' has 'Q1', 'B' has 'q1'. They differ in letter case." == str(error.value)

    with pytest.raises(QuerySetError, match="Check that both runs answer the same queries"):
        diff_runs({"cats": ranked("a")}, {"dogs": ranked("a")})


def test_a_repeated_document_is_refused():
    twice = Run.from_columns(["q", "q"], ["a", "a"], [2.0, 1.0])
    with pytest.raises(DuplicateError, match="document a is retrieved more than once for query q"):
        diff_runs(twice, BEFORE)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"cutoffs": []}, "at least one cutoff"),
        ({"cutoffs": [0]}, "a depth cannot be 0"),
        ({"cutoffs": [2.5]}, r"a depth cannot be 2\.5"),
        ({"cutoffs": 10}, "cutoffs cannot be 10; it takes numbers of documents, such as \\[10, 100\\]"),
        ({"persistence": 1.0}, r"persistence cannot be 1\.0"),
        ({"persistence": "high"}, "persistence cannot be 'high'"),
        ({"interval": "bca", "draws": "many"}, "draws cannot be 'many'"),
        ({"interval": "bca", "draws": 0}, "draws cannot be 0"),
        ({"interval": "bca", "seed": -1}, "seed cannot be -1"),
        ({"interval": "z"}, "interval cannot be 'z'; it takes t, percentile, bca"),
        (
            {"measures": ["AP", "GMAP"], "qrels": {"q1": {"a": 1}}},
            "GMAP is a geometric mean over queries, but what was lost",
        ),
        (
            {"measures": ["NumRet"], "qrels": {"q1": {"a": 1}}},
            "NumRet is a sum over queries, but what was lost is a mean",
        ),
        ({"measures": ["nDGC"], "qrels": {"q1": {"a": 1}}}, "no measure called 'nDGC'"),
    ],
)
def test_wrong_options_are_refused(options, problem):
    with pytest.raises(AssayError, match=problem):
        diff_runs(BEFORE, AFTER, **options)


def test_runs_of_the_same_name_are_named_by_their_paths(tmp_path):
    paths = [tmp_path / folder / "bm25.run" for folder in ("old", "new")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("q1 Q0 a 1 1.0 t\n")
    found = diff_runs(*paths)

    assert tuple(map(str, paths)) == (found.first, found.second)
    assert ("bm25 (A)", "bm25 (B)") == tuple(
        getattr(diff_runs(paths[0], paths[0]), name) for name in ("first", "second")
    )


# An exact run, and judgments


def test_recall_against_an_exact_run_by_hand():
    """q1: a and b of the exact a, b, then a alone. q2: both, both. q3, which neither run has: nothing."""
    exact = {"q1": ranked("a", "b", "c"), "q2": ranked("e", "f"), "q3": ranked("g")}
    (recall,) = diff_runs(BEFORE, AFTER, cutoffs=[2], exact=exact).recalls

    assert pytest.approx([2 / 3, 0.5, 1 / 6]) == [recall.first.mean, recall.second.mean, recall.lost.mean]
    assert pytest.approx([0.1, 0.05]) == [recall.first.p5, recall.second.p5]  # of 0, 1, 1 and of 0, 0.5, 1


def test_an_exact_run_of_other_queries_is_refused():
    with pytest.raises(QuerySetError, match="the exact run has no query in common with either run"):
        diff_runs(BEFORE, AFTER, exact={"other": ranked("a")})


def test_what_was_lost_by_hand():
    """b was at rank 2 and is at rank 4: its reciprocal rank was 1/2 and is 1/4. x is unjudged; q2 keeps its value."""
    qrels = {"q1": {"b": 1, "a": 0}, "q2": {"f": 1}, "q9": {"z": 1}}
    found = diff_runs(BEFORE, AFTER, cutoffs=[3], qrels=qrels, measures=["RR", "AP"])

    loss, _ = found.losses
    assert ("RR", pytest.approx(1 / 3), pytest.approx(1 / 4)) == (loss.measure, loss.first, loss.second)
    assert (pytest.approx(1 / 12), 3, 0, 1) == (loss.lost.mean, loss.lost.queries, loss.rose, loss.fell)
    assert (1 / 4, 1 / 4) == found.queries[0].lost
    assert (Place("b", 2, None, 1.0),) == found.queries[0].left
    assert (1, 1, 1, 0) == tuple(
        getattr(found.unjudged, name) for name in ("entered", "entered_unjudged", "left", "left_unjudged")
    )


def test_the_means_are_those_of_evaluate():
    qrels = {"q1": {"b": 1}, "q2": {"f": 1}, "q9": {"z": 1}}
    loss = diff_runs(BEFORE, AFTER, qrels=qrels).losses[0]

    assert loss.first == assay.evaluate(qrels, BEFORE, ["nDCG@10"]).mean()["nDCG@10"]
    assert loss.second == assay.evaluate(qrels, AFTER, ["nDCG@10"]).mean()["nDCG@10"]


def test_queries_that_lost_most_come_first():
    """q1 shares no document and gained; q2 lost although it shares one; q3 is not judged."""
    before = {"q1": ranked("a"), "q2": ranked("b", "c"), "q3": ranked("d")}
    after = {"q1": ranked("x"), "q2": ranked("c", "b"), "q3": ranked("e")}
    found = diff_runs(before, after, qrels={"q1": {"x": 1}, "q2": {"b": 1}}, measures=["RR"])

    assert [("q2", (0.5,)), ("q3", (None,)), ("q1", (-1.0,))] == [(each.query, each.lost) for each in found.queries]
    assert ["q1", "q3", "q2"] == [each.query for each in diff_runs(before, after).queries]  # without judgments


def test_more_of_what_is_bad_is_worse():
    """More unjudged documents: q2 got one, q1 lost one."""
    before, after = {"q1": ranked("x"), "q2": ranked("b")}, {"q1": ranked("a"), "q2": ranked("y")}
    found = diff_runs(before, after, qrels={"q1": {"a": 1}, "q2": {"b": 1}}, measures=["Unjudged@1"])

    assert [("q2", (-1.0,)), ("q1", (1.0,))] == [(each.query, each.lost) for each in found.queries]
    assert (1, 1) == (found.losses[0].fell, found.losses[0].rose)


# Laws

DOCS = [f"d{number}" for number in range(12)]
lists = st.lists(st.sampled_from(DOCS), min_size=1, max_size=9, unique=True)
runs = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), lists, min_size=1).map(
    lambda run: {query: ranked(*docs) for query, docs in {"q0": ["d0"], **run}.items()}
)
cutoffs = st.lists(st.integers(1, 10), min_size=1, max_size=3)
persistences = st.floats(0.05, 0.99)


def slow_rbo(first: list[str], second: list[str], p: float) -> float:
    """Equation 32 of Webber, Moffat and Zobel, term by term."""
    short, long = sorted((first, second), key=len)
    s, end = len(short), len(long)

    def shared(depth: int) -> int:
        return len(set(long[:depth]) & set(short[:depth]))

    total = sum(shared(d) / d * p**d for d in range(1, end + 1))
    total += sum(shared(s) * (d - s) / (s * d) * p**d for d in range(s + 1, end + 1))
    return total * (1 - p) / p + ((shared(end) - shared(s)) / end + shared(s) / s) * p**end


@settings(max_examples=150)
@given(one=runs, other=runs, ks=cutoffs, p=persistences)
def test_every_number_is_that_of_the_obvious_way(one, other, ks, p):
    found = diff_runs(one, other, cutoffs=ks, persistence=p)
    depth = max(ks)

    for query in found.queries:
        first, second = list(one[query.query])[:depth], list(other[query.query])[:depth]
        assert pytest.approx(slow_rbo(first, second, p)) == query.rbo
        assert pytest.approx(query.rbo) == rank_biased_overlap(first, second, p)
        for place, k in enumerate(sorted(set(ks))):
            a, b = first[:k], second[:k]
            longer = max(len(a), len(b))
            common = set(a) & set(b)
            same = sum(x == y for x, y in zip(a, b, strict=False))
            assert pytest.approx(len(common) / longer) == query.overlap[place]
            assert pytest.approx(1 - same / longer) == query.moved[place]
            moves = [abs(a.index(doc) - b.index(doc)) for doc in common]
            assert (pytest.approx(sum(moves) / len(moves)) if moves else None) == query.rank_change[place]
        k = min(ks)
        assert [doc for doc in second[:k] if doc not in first[:k]] == [each.doc for each in query.entered]
        assert [doc for doc in first[:k] if doc not in second[:k]] == [each.doc for each in query.left]
        for each in (*query.entered, *query.left):
            assert each.before == (first.index(each.doc) + 1 if each.doc in first else None)
            assert each.after == (second.index(each.doc) + 1 if each.doc in second else None)


@given(one=runs, other=runs, ks=cutoffs)
def test_the_other_way_round_the_same_but_for_what_entered_and_left(one, other, ks):
    there, back = diff_runs(one, other, cutoffs=ks), diff_runs(other, one, cutoffs=ks)

    assert pytest.approx(there.rbo.mean) == back.rbo.mean
    for first, second in zip(there.cutoffs, back.cutoffs, strict=True):
        assert (first.overlap, first.moved, first.rank_change) == (second.overlap, second.moved, second.rank_change)
        assert (first.unchanged, first.reordered) == (second.unchanged, second.reordered)
        assert (first.entered, first.left) == (second.left, second.entered)


@given(run=runs, ks=cutoffs, p=persistences)
def test_a_run_is_identical_to_itself(run, ks, p):
    found = diff_runs(run, run, cutoffs=ks, persistence=p)

    assert found.identical
    assert all(each.overlap.mean == 1.0 and each.moved.mean == 0.0 for each in found.cutoffs)
    assert pytest.approx(1.0, abs=1e-12) == found.rbo.mean


@given(one=runs, other=runs, ks=cutoffs, p=persistences)
def test_shares_lie_between_0_and_1(one, other, ks, p):
    for query in diff_runs(one, other, cutoffs=ks, persistence=p).queries:
        assert all(0 <= value <= 1 for value in (*query.overlap, *query.moved, query.rbo))
        assert query.changed == (query.moved[-1] > 0)


@given(one=runs, other=runs, seed=st.integers(0, 99))
def test_the_order_of_lines_does_not_matter(one, other, seed):
    def shuffled(run):
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        random.Random(seed).shuffle(rows)
        return Run.from_columns(*map(list, zip(*rows, strict=True)), name="A")

    assert plain(diff_runs(shuffled(one), other)) == plain(diff_runs(one, other))


@NEEDS_KERNEL
@given(one=runs, other=runs, exact=runs, ks=cutoffs)
def test_the_kernel_and_numpy_find_the_same(tmp_path_factory, one, other, exact, ks):
    folder = tmp_path_factory.mktemp("diff")
    paths = [folder / f"{name}.run" for name in ("one", "other", "exact")]
    for path, run in zip(paths, (one, other, exact), strict=True):
        path.write_text(
            "".join(f"{q} Q0 {doc} 1 {score} t\n" for q, docs in run.items() for doc, score in docs.items())
        )

    def found():
        qrels = {"q0": {"d0": 1}, "q1": {"d1": 1, "d2": 0}}
        return diff_runs(*paths[:2], cutoffs=ks, exact=paths[2], qrels=qrels)

    with patch.object(native, "turned_off", False):
        kernel = plain(found())
    assert kernel == by_numpy(found)


def test_the_result_is_a_plain_value(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 a 1 1.0 t\n")
    found = diff_runs(path, {"q1": ranked("b", "a")})

    assert plain(found) == plain(pickle.loads(pickle.dumps(found)))
    assert ["q1"] == list(found.per_query())


def test_intervals_end_at_the_bounds_of_the_figure():
    """Of two queries, one kept its document and one did not: the t interval would be -5.85 to 6.85."""
    found = diff_runs({"p": ranked("a"), "q": ranked("b")}, {"p": ranked("a"), "q": ranked("c")}, cutoffs=[1])

    assert (0.5, (0.0, 1.0)) == (found.cutoffs[0].overlap.mean, found.cutoffs[0].overlap.interval)


def test_a_bootstrap_interval_depends_only_on_its_seed():
    before = {f"q{number}": ranked("a", "b") for number in range(12)}
    after = {f"q{number}": ranked("a", "b" if number % 3 else "c") for number in range(12)}
    one, same, other = (
        diff_runs(before, after, interval="percentile", draws=200, seed=seed).cutoffs[0].overlap.interval
        for seed in (1, 1, 2)
    )

    assert one == same != other
    assert DiffSettings().interval == "t"
