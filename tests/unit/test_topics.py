"""Judgments by subtopic, with the key (query, subtopic, document); the ranking is the same as for all measures."""

from __future__ import annotations

import numpy as np
import pytest

from assay import Evaluator, Qrels, Rules, concat, evaluate, judge, parse_qrels, read_qrels
from assay.errors import DuplicateError
from assay.judgments import index_judgments
from assay.topics import doubt_about_subtopics, index_topics, judge_topics
from strategies import qrels_of, ranking, run_of
from topic_cases import topic_qrels

QRELS = topic_qrels(
    {
        "q1": {"1": {"a": 1, "b": 2}, "2": {"a": 3, "c": 0}, "10": {"c": -1}},
        "q2": {"2": {"a": 1}, "3": {"d": 0}},
    }
)
RUN = run_of({"q1": ranking(["x", "c", "a"]), "q2": ranking(["d", "b", "a"])})
TEXT = "q 1 a 1\nq 2 a 2\nq 1 b 0\nq 2 a 1\nq 2 a 3\n"


def row_of(topics, doc: str) -> dict[str, float]:
    """The grades of a document of the first query by subtopic."""
    matrix = topics.matrix
    row = matrix.doc.tolist().index(doc)
    cells = slice(matrix.cell_start[row], matrix.cell_start[row + 1])
    names = [matrix.subtopics[number] for number in matrix.cell_subtopic[cells]]
    return dict(zip(names, matrix.cell_rel[cells].tolist(), strict=True))


def test_parts_of_the_queries_can_be_put_together():
    evaluator = Evaluator(QRELS, ["alpha_nDCG@3", "StRecall@3"])
    parts = [evaluator.part([query]).evaluate(RUN) for query in ("q2", "q1")]

    assert [("q2",), ("q1",)] == [part.queries for part in parts]
    assert evaluator.evaluate(RUN).values.tolist() == concat(parts).values.tolist()


def test_a_document_has_one_judgment_with_its_highest_grade():
    judgments = index_topics(QRELS).judgments

    assert [3.0, 2.0, 0.0] == judgments.pool.grade[: judgments.pool.start[1]].tolist()
    assert [1.0, 0.0] == judgments.pool.grade[judgments.pool.start[1] :].tolist()
    assert 3.0 == judgments.top_grade


def test_a_document_keeps_its_grades_by_subtopic():
    topics = index_topics(QRELS)

    assert {"1": 1.0, "2": 3.0} == row_of(topics, "a")
    assert {"1": 2.0} == row_of(topics, "b")
    assert {"2": 0.0, "10": -1.0} == row_of(topics, "c")


def test_each_query_has_its_own_subtopics_in_the_order_of_their_numbers():
    matrix = index_topics(QRELS).matrix

    assert ("1", "2", "10", "2", "3") == matrix.subtopics
    assert [0, 3, 5] == matrix.subtopic_start.tolist()
    assert [0, 0, 0, 1, 1] == matrix.subtopic_query.tolist()
    assert [0, 0, 0, 1, 1] == matrix.doc_query.tolist()


def test_only_subtopics_with_a_relevant_document_count():
    matrix = index_topics(QRELS).matrix

    assert [2, 1, 0, 1, 0] == matrix.num_rel(1).tolist()
    assert [2, 1] == matrix.num_subtopics(1).tolist()
    assert [2, 0] == matrix.num_subtopics(2).tolist()
    assert [3, 2] == matrix.num_subtopics(-1).tolist()


def test_qrels_without_subtopics_have_one_for_each_query():
    matrix = index_topics(qrels_of({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}})).matrix

    assert [0, 1, 2] == matrix.subtopic_start.tolist()
    assert [1, 1] == matrix.num_subtopics(1).tolist()


def test_qrels_without_judgments_have_no_subtopics():
    for subtopics in (None, []):
        topics = index_topics(Qrels.from_columns([], [], [], iteration=subtopics))

        assert 0 == len(topics.judgments.queries) == len(topics.matrix.subtopics)


def test_a_document_judged_twice_for_a_subtopic_is_refused_with_its_line():
    with pytest.raises(DuplicateError) as caught:
        index_topics(parse_qrels(TEXT))

    assert (
        "<text>:4: document a is judged 3 times for query q, subtopic 2, with grades 2, 1, 3 (lines 2, 4, 5). "
        "Choose which grade counts: `Rules(judges='mean')`, median, majority, best or first." == str(caught.value)
    )
    assert (("q", "a"), ("q", "a")) == caught.value.pairs


def test_without_subtopics_a_document_judged_twice_is_refused_too():
    with pytest.raises(DuplicateError, match="document a is judged twice for query q, with grades 1, 2"):
        index_topics(Qrels.from_columns(["q", "q"], ["a", "a"], [1, 2]))


@pytest.mark.parametrize(("judges", "grade"), [("first", 2.0), ("best", 3.0), ("mean", 2.0), ("majority", 1.0)])
def test_or_repaired_by_the_rule_that_the_user_names(judges, grade):
    topics = index_topics(parse_qrels(TEXT), judges)

    assert {"1": 1.0, "2": grade} == row_of(topics, "a")
    assert [grade, 0.0] == topics.judgments.pool.grade.tolist()


def test_the_rules_of_the_ranking_say_which_grade_counts():
    run = run_of({"q": {"a": 1.0}})

    assert [3.0] == judge_topics(parse_qrels(TEXT), run, Rules(judges="best")).ranking.hit_rel.tolist()


def test_nothing_that_is_passed_in_is_changed():
    qrels = parse_qrels(TEXT)
    index_topics(qrels, "best")

    assert [1.0, 2.0, 0.0, 1.0, 3.0] == qrels.rel.tolist()


def test_the_ranking_is_the_one_that_other_measures_see():
    ad_hoc = judge(qrels_of({"q1": {"a": 3, "b": 2, "c": 0}, "q2": {"a": 1, "d": 0}}), RUN)
    ranking = judge_topics(QRELS, RUN).ranking

    assert ad_hoc.queries == ranking.queries
    for name in ("retrieved", "hit_query", "hit_rank", "hit_rel", "hit_tie_first", "hit_tie_last"):
        assert getattr(ad_hoc, name).tolist() == getattr(ranking, name).tolist(), name


def test_relevant_documents_are_found_once_for_each_of_their_subtopics():
    run = run_of({"q1": ranking(["a", "x", "b"]), "q2": ranking(["a"])})
    topics = judge_topics(QRELS, run)
    found = topics.found(1)

    assert [0, 0, 1, 2] == found.hit.tolist()
    assert ["1", "2", "1", "2"] == [topics.matrix.subtopics[number] for number in found.subtopic]
    assert [1, 1, 2, 1] == found.nth.tolist()
    assert [0, 1] == topics.found(2).hit.tolist()
    assert topics.found(1) is found


def test_unjudged_documents_can_be_left_out():
    topics = judge_topics(QRELS, RUN).only_judged()

    assert [1, 2, 1, 2] == topics.ranking.hit_rank.tolist()
    assert [1, 1, 3] == topics.found(1).hit.tolist()


def test_some_of_the_queries():
    topics = judge_topics(QRELS, RUN)
    second = topics.select(np.array([1]))

    assert ("q2",) == second.queries
    assert 1 == len(second)
    assert [2, 1] == topics.num_subtopics(1).tolist()
    assert [1] == second.num_subtopics(1).tolist()
    assert ["2"] == [topics.matrix.subtopics[number] for number in second.found(1).subtopic]


def test_the_judgments_of_some_of_the_queries():
    part = index_topics(QRELS).select(["q2"])
    topics = judge_topics(part, RUN)

    assert ("q2",) == topics.queries
    assert ("2", "3") == part.matrix.subtopics
    assert ["a", "d"] == part.matrix.doc.tolist()
    assert [1.0, 0.0] == part.matrix.cell_rel.tolist()
    assert [1] == topics.num_subtopics(1).tolist()
    assert [3] == topics.ranking.hit_rank[topics.found(1).hit].tolist()
    assert 3.0 == topics.ranking.top_grade


def test_queries_that_the_run_lacks_can_be_left_out():
    run = run_of({"q2": {"a": 1.0}})

    assert [2, 1] == judge_topics(QRELS, run).num_subtopics(1).tolist()
    assert [1] == judge_topics(QRELS, run, Rules(queries="both")).num_subtopics(1).tolist()


def test_judgments_are_made_ready_once_for_many_runs():
    topics = index_topics(QRELS)
    first, second = judge_topics(topics, RUN), judge_topics(topics, RUN)

    assert first.matrix is second.matrix
    assert first.matrix.num_subtopics(1) is second.matrix.num_subtopics(1)


def test_documents_are_ordered_by_the_bytes_of_their_ids():
    """The byte 0xF5 sorts after any UTF-8 text, although its surrogate escape sorts before U+E000."""
    ids = ["b", "\ue000", "\udcf5", "B"]
    matrix = index_topics(qrels_of({"q": dict.fromkeys(ids, 1), "p": {"z": 1}})).matrix

    assert ["z", "\udcf5", "\ue000", "b", "B"] == matrix.doc[matrix.by_falling_id(np.arange(5))].tolist()


def test_without_subtopics_the_judgments_are_those_of_other_measures():
    qrels = qrels_of({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}})

    assert index_judgments(qrels).rel.tolist() == index_topics(qrels).judgments.rel.tolist()


# Column 2 without subtopics


def doubt(*rows: str) -> str:
    return doubt_about_subtopics(index_topics(parse_qrels("\n".join(rows))).matrix)


def test_rounds_are_not_subtopics():
    """As in TREC-COVID: a document is judged in one round, and most queries in every round."""
    rounds = ["q1 0.5 a 1", "q1 1 b 0", "q2 0.5 a 0", "q2 1 c 1", "q3 1 d 1"]

    assert (
        "column 2 of the qrels looks like rounds, not subtopics: no document has two values there, and most queries "
        "have all of them (0.5, 1)"
    ) == doubt(*rounds)


@pytest.mark.parametrize("value", ["0", "Q0", "1"])
def test_one_value_is_no_subtopic(value):
    assert f"the qrels have no subtopics: column 2 is '{value}' in every row" == doubt(
        f"q1 {value} a 1", f"q2 {value} b 1"
    )


@pytest.mark.parametrize(
    "rows",
    [
        ["q1 1 a 1", "q1 2 a 0", "q2 1 b 1", "q2 2 c 1"],  # a document has two values
        ["q1 1 a 1", "q1 2 b 1", "q1 3 c 1", "q2 1 b 1", "q3 1 a 1"],  # few queries have the values 2 and 3
        ["q1 1 a 1", "q1 2 b 1"],  # one query is no evidence
    ],
)
def test_what_may_be_subtopics_is_not_doubted(rows):
    assert not doubt(*rows)


@pytest.mark.parametrize("name", ["covid-round1", "covid-round2", "covid-round5", "core17", "dl19-passage"])
def test_real_qrels_without_subtopics(shared_data, name):
    assert doubt_about_subtopics(index_topics(read_qrels(shared_data / "qrels" / f"qrels.{name}.txt")).matrix)


def test_an_evaluation_says_which_measures_need_subtopics():
    rounds = parse_qrels("q1 0.5 a 1\nq1 1 b 0\nq2 0.5 a 0\nq2 1 c 1")
    run = {"q1": {"a": 1.0}, "q2": {"c": 1.0}}

    assert (
        "; alpha_nDCG@5 needs a row for each document and subtopic."
        in evaluate(rounds, run, ["AP", "alpha_nDCG@5"]).doubt
    )
    assert "" == evaluate(rounds, run, ["AP"]).doubt
    assert "" == evaluate(QRELS, RUN, ["alpha_nDCG@5"]).doubt
