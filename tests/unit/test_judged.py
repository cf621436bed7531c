"""Runs are ranked once, by named rules."""

from __future__ import annotations

import numpy as np
import pytest

from assay import Rules, Run, judge, parse_run
from assay.errors import DuplicateError, QuerySetError, RulesError
from assay.marking import no_query_in_common
from strategies import qrels_of, run_of


def ranks(qrels, run, rules=Rules()):
    judged = judge(qrels, run, rules)
    return dict(zip(judged.hit_query.tolist(), judged.hit_rank.tolist(), strict=True))


QRELS = qrels_of({"q": {"b": 1}})
TIED = Run.from_columns(["q"] * 4, ["a", "b", "c", "b2"], [1.0, 1.0, 1.0, 2.0], rank=[3, 4, 1, 2])


@pytest.mark.parametrize(
    ("ties", "rank"),
    [("doc-desc", 3), ("doc-asc", 3), ("input", 3), ("rank-column", 4)],
)
def test_each_way_to_order_equal_scores(ties, rank):
    """b2 has the highest score; of the three ties, b is between a and c except by the rank column."""
    assert {0: rank} == ranks(QRELS, TIED, Rules(ties=ties))


def test_ids_are_compared_as_bytes():
    """Upper case comes before lower case and accents after both, as in C's strcmp."""
    run = run_of({"q": dict.fromkeys(["é", "b", "B", "z"], 1.0)})

    assert {0: 3} == ranks(QRELS, run)
    assert {0: 2} == ranks(QRELS, run, Rules(ties="doc-asc"))


def test_bytes_that_are_not_utf8_keep_their_order():
    """The byte 0xF5 sorts after any UTF-8 text, although its surrogate escape sorts before U+E000."""
    run = run_of({"q": {"\udcf5": 1.0, "\ue000": 1.0, "b": 1.0}})

    assert {0: 1} == ranks(qrels_of({"q": {"\udcf5": 1}}), run)


def test_tie_groups_span_the_ranks_of_equal_scores():
    judged = judge(QRELS, TIED)

    assert ([2], [4]) == (judged.hit_tie_first.tolist(), judged.hit_tie_last.tolist())


def test_rank_column_needs_a_rank_column():
    with pytest.raises(RulesError, match=r"run 'run' has no rank column; `Rules\(ties='rank-column'\)` needs one."):
        judge(QRELS, run_of({"q": {"b": 1.0}}), Rules(ties="rank-column"))


def test_depth_cuts_every_ranking():
    judged = judge(QRELS, TIED, Rules(depth=2))

    assert ([2], []) == (judged.retrieved.tolist(), judged.hit_rank.tolist())


def test_missing_queries_count_are_left_out_or_refused():
    qrels, run = qrels_of({"q1": {"a": 1}, "q2": {"a": 1}}), run_of({"q1": {"a": 1.0}})

    assert ("q1", "q2") == judge(qrels, run).queries
    assert ("q1",) == judge(qrels, run, Rules(queries="both")).queries
    with pytest.raises(QuerySetError, match=r"1 of 2 judged queries is missing from run 'run' \(first: q2\)"):
        judge(qrels, run, Rules(queries="strict"))


@pytest.mark.parametrize(
    ("judged", "answered", "examples"),
    [
        (["51", "52"], ["051", "052"], "run 'run' has '051', the qrels have '51'"),
        (["Q1"], ["q1"], "run 'run' has 'q1', the qrels have 'Q1'"),
        (["1"], ["MB01"], "run 'run' has 'MB01', the qrels have '1'"),
        (["a-1", "topic-007"], ["b-2", "q7"], "run 'run' has 'q7', the qrels have 'topic-007'"),
        (["7", "y"], ["a", "q7"], "run 'run' has 'q7', the qrels have '7'"),  # a and y have no number in common
        (["a7", "b7"], ["q7"], "run 'run' has 'q7', the qrels have 'a7'"),
        (["a"], ["x"], "run 'run' has 'x', the qrels have 'a'"),
    ],
)
def test_query_sets_that_do_not_meet_show_why(judged, answered, examples):
    qrels = qrels_of({query: {"d": 1} for query in judged})
    run = run_of({query: {"d": 1.0} for query in answered})

    with pytest.raises(QuerySetError, match=f"^0 of {len(judged)} query ids match: {examples}"):
        judge(qrels, run)


def test_many_queries_that_do_not_meet_are_told_at_once():
    judged = tuple(f"Q{number}" for number in range(50_000))
    answered = tuple(f"x{number}y" for number in range(50_000, 100_000))

    assert no_query_in_common(judged, answered, "run").startswith("0 of 50000 query ids match")


def test_a_run_without_rows_is_refused():
    with pytest.raises(QuerySetError, match="run 'run' has no queries; 0 of 1 judged queries are answered"):
        judge(QRELS, Run.from_columns([], [], []))


TWICE = Run.from_columns(["q", "q", "q"], ["b", "a", "b"], [1.0, 2.0, 3.0])


def test_duplicates_are_refused_unless_told_otherwise():
    with pytest.raises(DuplicateError, match="document b is retrieved more than once for query q") as caught:
        judge(QRELS, TWICE)

    assert (("q", "b"),) == caught.value.pairs
    assert {0: 2} == ranks(QRELS, TWICE, Rules(duplicates="first"))
    assert {0: 1} == ranks(QRELS, TWICE, Rules(duplicates="best"))
    assert [2] == judge(QRELS, TWICE, Rules(duplicates="best")).retrieved.tolist()


def test_a_duplicate_is_named_with_its_line():
    """Line 5: a comment and a blank line come before it."""
    run = parse_run("# made by hand\nq Q0 b 1 3 t\nq Q0 a 2 2 t\n\nq Q0 b 3 9 t\n")
    with pytest.raises(DuplicateError) as caught:
        judge(QRELS, run)

    assert (
        "<text>:5: document b is retrieved more than once for query q (1 duplicate row in total). Remove the duplicates, "
        "keep the first (`Rules(duplicates='first')`), or keep the higher score (`Rules(duplicates='best')`)."
    ) == str(caught.value)


def test_a_document_of_another_query_is_no_duplicate():
    run = run_of({"q": {"b": 1.0}, "q2": {"b": 1.0}})

    assert {0: 1} == ranks(QRELS, run)


def test_a_document_with_the_querys_own_id_can_be_dropped():
    run = run_of({"q": {"q": 2.0, "b": 1.0}})

    assert {0: 2} == ranks(QRELS, run)
    assert {0: 1} == ranks(QRELS, run, Rules(self_match="drop"))


def test_float32_makes_false_ties():
    run = run_of({"q": {"c": 0.9, "b": 0.900000001}})

    assert {0: 1} == ranks(QRELS, run)
    assert {0: 2} == ranks(QRELS, run, Rules(scores="float32"))


def test_only_judged_documents_move_up():
    judged = judge(qrels_of({"q": {"a": 1, "b": -1, "c": 0}}), run_of({"q": {"x": 4.0, "b": 3.0, "c": 2.0, "a": 1.0}}))
    only = judged.only_judged()

    assert ([2], [1, 2], [0.0, 1.0]) == (only.retrieved.tolist(), only.hit_rank.tolist(), only.hit_rel.tolist())


def test_ties_among_judged_documents_are_those_that_are_left():
    """Of d, c and x, which are equal, c and d are judged: they share the ranks 2 and 3."""
    run = run_of({"q": {"x": 1.0, "b": 2.0, "c": 1.0, "d": 1.0, "y": 3.0, "a": 0.5}})
    only = judge(qrels_of({"q": {"a": 1, "b": 0, "c": 1, "d": 0}}), run).only_judged()

    assert [1, 2, 3, 4] == only.hit_rank.tolist()
    assert ([1, 2, 2, 4], [1, 3, 3, 4]) == (only.hit_tie_first.tolist(), only.hit_tie_last.tolist())


def test_strays_are_documents_judged_for_other_queries_only():
    qrels = qrels_of({"q1": {"a": 1}, "q2": {"b": 1}})
    judged = judge(qrels, run_of({"q1": {"x": 3.0, "b": 2.0, "a": 1.0}}), strays=True)

    assert ([0], [2]) == (judged.stray_query.tolist(), judged.stray_rank.tolist())
    assert judge(qrels, run_of({"q1": {"a": 1.0}})).stray_query is None


def test_depth_and_selection_keep_strays_apart():
    qrels = qrels_of({"q1": {"a": 1}, "q2": {"b": 1}})
    run = run_of({"q1": {"x": 3.0, "b": 2.0}, "q2": {"a": 1.0, "b": 0.5}})
    judged = judge(qrels, run, Rules(depth=1), strays=True)

    assert [1] == judged.stray_query.tolist()
    assert [0] == judged.select(np.array([1])).stray_query.tolist()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"ties": "doc-dsc"}, "rule ties cannot be 'doc-dsc'; did you mean 'doc-desc'?"),
        ({"queries": "some"}, "rule queries cannot be 'some'; it takes judged, both, strict."),
        ({"depth": True}, "rule depth cannot be True; it takes a whole number of documents, or None."),
        ({"depth": -1}, "rule depth cannot be -1; it takes a whole number of documents, or None."),
    ],
)
def test_impossible_rules_are_refused(rule, message):
    with pytest.raises(RulesError) as caught:
        Rules(**rule)

    assert message == str(caught.value)


def test_nothing_that_is_given_is_changed():
    run = run_of({"q": {"b": 1.0, "a": 2.0}})
    before = (run.doc.tolist(), run.score.tolist())
    judge(QRELS, run, Rules(duplicates="best", depth=1))

    assert before == (run.doc.tolist(), run.score.tolist())
