"""Diversity measures on rankings that can be checked by hand, and their laws."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay import Rules, judge, parse_measure
from assay.errors import ParameterError
from assay.measures.families.binary import AP, P, Success
from assay.measures.families.diversity import (
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)
from assay.tables import in_byte_order
from assay.topics import index_topics, judge_topics
from strategies import qrels_of, ranking, run_of
from topic_cases import ALPHAS, DOCS, judged_subtopics, topic_cases, topic_qrels

FREE = [  # independent of the order of ids: not divided by the ideal ranking, where ids break ties
    *(measure @ k for measure in (ERR_IA, alpha_DCG, P_IA, StRecall, AP_IA) for k in (1, 2, 5, 30)),
    *(AP_IA, NRBP, StRecall, AP_IA(rel=2), NRBP(alpha=0.3, beta=0.8), alpha_DCG(alpha=0.7) @ 10),
    *(measure(judged_only=True) for measure in (ERR_IA @ 10, P_IA @ 5, NRBP, StRecall @ 3)),
]
NORMALISED = [
    *(measure @ k for measure in (nERR_IA, alpha_nDCG) for k in (1, 2, 5, 30)),
    *(nERR_IA, alpha_nDCG, nNRBP, alpha_nDCG(alpha=0.3, rel=2) @ 10, nNRBP(alpha=1, beta=0.9)),
    *(measure(judged_only=True) for measure in (nERR_IA, alpha_nDCG @ 10, nNRBP)),
]
EVERY = FREE + NORMALISED
# A ranking can beat the one that the greedy search calls the best, but not at its first rank.
NEVER_OVER_1 = [
    *(measure for measure in FREE if measure.name not in ("ERR_IA", "alpha_DCG") or measure.param("cutoff") > 1),
    *(nERR_IA @ 1, alpha_nDCG @ 1),
]

EXAMPLE = {"q": {"1": {"a": 3, "b": 2, "c": 0}, "2": {"a": 3, "d": 1}, "3": {"f": 2, "e": 1}}}
EXAMPLE_RUN = {"q": ranking(["x", "a", "b", "c", "d", "f"])}


def values(measure, grades, scores, rules=Rules()):
    return measure.values(judge_topics(topic_qrels(grades), run_of(scores), rules)).tolist()


def value(measure, grades, docs):
    (only,) = values(measure, {"q": grades}, {"q": ranking(docs)})
    return only


@pytest.mark.parametrize(
    "measure", [alpha_DCG @ 4, alpha_nDCG, ERR_IA @ 4, nERR_IA, NRBP, nNRBP, AP_IA, P_IA @ 4, StRecall], ids=str
)
def test_the_example_of_the_docs_ends_with_the_computed_value(measure):
    example = " ".join(measure.definition.text.rpartition("Example: ")[2].split())
    shown = re.findall(r"-?\d+(?:\.\d+)?", example)[-1]
    (found,) = values(measure, EXAMPLE, EXAMPLE_RUN)

    assert example.endswith(f" = {shown}.")
    assert shown == f"{found:.{len(shown.partition('.')[2])}f}"


def test_a_subtopic_gains_less_each_time():
    """Two documents of the same subtopic and one of another: gains 1, 1/2 and 1."""
    grades = {"1": {"a": 1, "b": 1}, "2": {"c": 1}}
    top = 2 / 1 + 1 / math.log2(3) + 0.5 / 2

    assert (1 + 0.5 / math.log2(3) + 1 / 2) / top == pytest.approx(value(alpha_DCG @ 3, grades, ["a", "b", "c"]))
    assert (1 + 1 / math.log2(3) + 0.5 / 2) / top == pytest.approx(value(alpha_DCG @ 3, grades, ["a", "c", "b"]))
    assert 1.0 == value(alpha_nDCG, grades, ["a", "c", "b"])
    assert 1.0 == value(alpha_nDCG(alpha=0), grades, ["a", "b", "c"])  # alpha 0: a subtopic never wears out
    assert 1.0 == value(alpha_nDCG(alpha=1), grades, ["a", "c"])  # alpha 1: only its first document counts


def test_alpha_1_with_documents_that_add_nothing():
    grades = {"1": {"a": 1, "b": 1}}

    assert 1.0 == value(alpha_nDCG(alpha=1) @ 10, grades, ["a", "b"])
    assert 1.0 == value(nNRBP(alpha=1), grades, ["b"])


def test_expected_reciprocal_rank():
    """Gains 2 and 1/2 at ranks 1 and 3; at most 2, 1 and 1/2."""
    grades = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}

    assert (2 + 0.5 / 3) / (2 + 1 / 2 + 0.5 / 3) == pytest.approx(value(ERR_IA @ 3, grades, ["a", "x", "b"]))
    assert (2 + 0.5 / 3) / (2 + 0.5 / 2) == pytest.approx(value(nERR_IA @ 3, grades, ["a", "x", "b"]))


def test_novelty_and_rank_biased_precision():
    grades = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}

    assert (2 + 0.5 * 0.25) * 0.75 / 2 == value(NRBP, grades, ["a", "x", "b"])
    assert (2 + 0.5 * 0.25) / (2 + 0.5 * 0.5) == pytest.approx(value(nNRBP, grades, ["a", "x", "b"]))
    assert (2 + 0.7 * 0.64) * (1 - 0.7 * 0.8) / 2 == pytest.approx(
        value(NRBP(alpha=0.3, beta=0.8), grades, ["a", "x", "b"])
    )


def test_subtopics_without_a_relevant_document_do_not_count():
    grades = {"1": {"a": 1}, "2": {"a": 0, "b": 0}, "3": {"c": 1}}

    assert 0.5 == value(StRecall @ 1, grades, ["a"])
    assert 1.0 == value(StRecall, grades, ["a", "c"])
    assert 0.5 == value(P_IA @ 2, grades, ["a", "c"])
    assert (1 + 1 / 2) / 2 == value(AP_IA, grades, ["a", "c"])


def test_the_grade_for_one_subtopic_says_nothing_about_another():
    grades = {"1": {"a": 2}, "2": {"a": 1, "b": 2}}

    assert 0.5 == value(StRecall(rel=2), grades, ["a"])
    assert 1.0 == value(StRecall(rel=1), grades, ["a"])


def test_short_rankings_are_divided_by_the_cutoff():
    assert 0.1 == value(P_IA @ 10, {"1": {"a": 1}}, ["a"])


def test_unjudged_documents_can_be_left_out():
    grades = {"1": {"a": 1}, "2": {"b": 0}}

    assert 1 / 3 == value(AP_IA, grades, ["x", "b", "a"])
    assert 0.5 == value(AP_IA(judged_only=True), grades, ["x", "b", "a"])


def test_at_cutoff_1_nothing_is_divided():
    """As ndeval has it (tests/golden/test_pyndeval.py): the number of subtopics of the first document."""
    grades = {"1": {"a": 1}, "2": {"a": 1}, "3": {"b": 1}}

    assert [2.0, 2.0] == [value(measure @ 1, grades, ["a"]) for measure in (ERR_IA, alpha_DCG)]
    assert [1.0, 1.0] == [value(measure @ 1, grades, ["a"]) for measure in (nERR_IA, alpha_nDCG)]


def test_of_equal_documents_the_best_ranking_takes_the_highest_id_and_a_run_can_beat_it():
    """All three gain 2 at first. Taken first, the one that shares a subtopic with each of the others wears both out."""
    shared_last = {"1": {"z": 1, "a": 1}, "2": {"z": 1, "b": 1}, "3": {"a": 1}, "4": {"b": 1}}
    shared_first = {"1": {"A": 1, "a": 1}, "2": {"A": 1, "b": 1}, "3": {"a": 1}, "4": {"b": 1}}
    over_1 = (2 + 2 / math.log2(3)) / (2 + 1.5 / math.log2(3))

    assert over_1 == pytest.approx(value(alpha_nDCG @ 2, shared_last, ["a", "b"]))
    assert 1.0 == value(alpha_nDCG @ 2, shared_first, ["a", "b"])


def test_cutoffs_beyond_the_20_of_ndeval():
    docs = [f"d{number:02}" for number in range(45)]
    grades = {"1": dict.fromkeys(docs, 1)}
    best = sum(0.9**place / math.log2(place + 2) for place in range(45))
    first_30 = sum(0.9**place / math.log2(place + 2) for place in range(30))

    assert first_30 / best == pytest.approx(value(alpha_nDCG(alpha=0.1), grades, docs[:30]))
    assert first_30 / best == pytest.approx(value(alpha_nDCG(alpha=0.1) @ 100, grades, docs[:30]))
    assert 1.0 == pytest.approx(value(alpha_nDCG(alpha=0.1) @ 30, grades, docs[:30]))
    assert best / sum(0.9**place / math.log2(place + 2) for place in range(100)) == pytest.approx(
        value(alpha_DCG(alpha=0.1) @ 100, grades, docs)
    )


def test_a_query_the_run_lacks_and_one_without_relevant_documents_are_0():
    grades = {"q1": {"1": {"a": 1}}, "q2": {"1": {"a": 0}, "2": {"b": 0}}, "q3": {"1": {"a": 1}}}
    scores = {"q2": {"a": 1.0}, "q3": {"a": 1.0}}

    assert [0.0, 0.0, 1.0] == values(alpha_nDCG, grades, scores)
    assert [0.0, 0.0, 1.0] == values(nNRBP, grades, scores)


def test_nothing_relevant_anywhere_is_0():
    for measure in EVERY:
        assert [0.0] == values(measure, {"q": {"1": {"a": 0}}}, {"q": {"a": 1.0, "b": 2.0}}), measure


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("alpha_nDCG@20", alpha_nDCG @ 20),
        ("α_nDCG(alpha=0.3)@10", alpha_nDCG(alpha=0.3) @ 10),
        ("α_DCG@5", alpha_DCG @ 5),
        ("MAP_IA", AP_IA),
        ("NRBP(alpha=0.1, beta=0.9)", NRBP(beta=0.9, alpha=0.1)),
        ("StRecall(rel=2)@10", StRecall(rel=2) @ 10),
    ],
)
def test_names_as_users_of_ir_measures_write_them(name, measure):
    assert measure == parse_measure(name)
    assert measure == parse_measure(str(measure))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ERR_IA", "ERR_IA needs a cutoff: write ERR_IA@10."),
        ("alpha_nDCG(alpha=1.5)", "alpha_nDCG: alpha cannot be 1.5; it takes a number from 0 to 1."),
        ("NRBP(beta=1)", "NRBP: beta cannot be 1; it takes a number between 0 and 1."),
        ("NRBP@10", "NRBP takes no cutoff; write NRBP."),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        parse_measure(name)


# Laws


def all_values(measures, grades, scores, rules=Rules()):
    topics = judge_topics(topic_qrels(grades), run_of(scores), rules)
    return np.array([measure.values(topics) for measure in measures])


@given(topic_cases())
def test_values_are_finite_numbers_from_0_on_one_per_query(case):
    found = all_values(EVERY, case.grades, case.scores)

    assert (len(EVERY), len(case.grades)) == found.shape
    assert np.isfinite(found).all()
    assert (found >= 0).all()


@given(topic_cases())
def test_what_cannot_exceed_1_does_not(case):
    found = all_values(NEVER_OVER_1, case.grades, case.scores)

    assert (found <= 1 + 1e-12).all()


@given(st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1), st.permutations(DOCS), ALPHAS)
def test_with_one_subtopic_the_best_ranking_is_the_best(docs, order, alpha):
    for measure in (alpha_nDCG(alpha=alpha), alpha_nDCG(alpha=alpha) @ 5, nERR_IA(alpha=alpha), nNRBP(alpha=alpha)):
        assert value(measure, {"1": docs}, order) <= 1 + 1e-12, measure


@given(topic_cases(), st.integers(1, 12), st.sampled_from([1, 2]))
def test_intent_aware_measures_are_means_over_the_subtopics(case, cutoff, rel):
    """AP_IA is the mean of AP, P_IA that of P and StRecall that of Success, each with the judgments of one subtopic."""
    for query, by_subtopic in case.grades.items():
        counting = [docs for docs in by_subtopic.values() if max(docs.values()) >= rel]
        scores = {query: case.scores.get(query, {"none of them": 1.0})}
        for whole, part in ((AP_IA, AP), (AP_IA @ cutoff, AP @ cutoff), (P_IA @ cutoff, P @ cutoff)):
            parts = [part(rel=rel).values(judge(qrels_of({query: docs}), run_of(scores)))[0] for docs in counting]
            expected = np.mean(parts) if parts else 0.0

            assert [pytest.approx(expected, abs=1e-12)] == values(whole(rel=rel), {query: by_subtopic}, scores)
        covered = [
            (Success @ cutoff)(rel=rel).values(judge(qrels_of({query: docs}), run_of(scores)))[0] for docs in counting
        ]

        assert [pytest.approx(np.mean(covered) if covered else 0.0)] == values(
            (StRecall @ cutoff)(rel=rel), {query: by_subtopic}, scores
        )


@pytest.mark.slow
@given(topic_cases(max_queries=5), st.data())
def test_parts_put_together_are_bit_equal_to_the_whole(case, data):
    judgments = index_topics(case.qrels)
    topics = judge_topics(judgments, case.run)
    in_part = data.draw(st.lists(st.booleans(), min_size=len(topics), max_size=len(topics)))
    parts = [np.flatnonzero(in_part), np.flatnonzero(~np.array(in_part))]
    for part in parts:
        of_ranking = topics.select(part)
        answered = any(topics.queries[place] in case.scores for place in part)
        of_judgments = judge_topics(judgments.select(of_ranking.queries), case.run) if answered else of_ranking
        for measure in EVERY:
            expected = measure.values(topics)[part]

            np.testing.assert_array_equal(expected, measure.values(of_ranking), err_msg=str(measure))
            np.testing.assert_array_equal(expected, measure.values(of_judgments), err_msg=str(measure))


@given(topic_cases(), judged_subtopics(), st.permutations(DOCS))
def test_one_query_never_changes_another(case, grades, docs):
    before = all_values(EVERY, case.grades, case.scores)
    after = all_values(EVERY, case.grades | {"zz": grades}, case.scores | {"zz": ranking(docs)})

    np.testing.assert_array_equal(before, after[:, : len(case.grades)])


def renamed(table, new):
    return {query: {new[doc]: number for doc, number in docs.items()} for query, docs in table.items()}


@given(topic_cases(scores=st.floats(-100, 100)), st.permutations(DOCS))
def test_renaming_documents_changes_nothing_where_no_scores_are_equal(case, names):
    assume(all(len(set(scores.values())) == len(scores) for scores in case.scores.values()))
    any_name = dict(zip(DOCS, names, strict=True))
    same_order = {doc: f"new {place:02}" for place, doc in enumerate(in_byte_order(DOCS))}
    for measures, new in ((FREE, any_name), (EVERY, same_order)):
        grades = {query: renamed(by_subtopic, new) for query, by_subtopic in case.grades.items()}
        found = all_values(measures, grades, renamed(case.scores, new))

        np.testing.assert_array_equal(all_values(measures, case.grades, case.scores), found)


@given(topic_cases(), st.sampled_from(["doc-desc", "doc-asc"]))
def test_a_constant_scorer_gets_what_the_order_of_ids_gives(case, ties):
    tied = {query: dict.fromkeys(docs, 1.0) for query, docs in case.scores.items()}
    spelled_out = {
        query: ranking(in_byte_order(docs, reverse=ties == "doc-desc")) for query, docs in case.scores.items()
    }
    rules = Rules(ties=ties)

    np.testing.assert_array_equal(
        all_values(EVERY, case.grades, tied, rules), all_values(EVERY, case.grades, spelled_out, rules)
    )


@given(topic_cases())
def test_order_of_input_does_not_matter(case):
    backwards = {
        query: {subtopic: dict(reversed(docs.items())) for subtopic, docs in reversed(by_subtopic.items())}
        for query, by_subtopic in reversed(case.grades.items())
    }

    np.testing.assert_array_equal(
        all_values(EVERY, case.grades, case.scores), all_values(EVERY, backwards, case.scores)
    )


@pytest.mark.slow
@given(judged_subtopics(), st.permutations(DOCS), st.integers(0, len(DOCS) - 1))
def test_moving_a_document_above_an_unjudged_one_never_lowers_the_value(grades, docs, place):
    below = [*docs[:place], "unjudged", *docs[place:]]
    above = [*docs[: place + 1], "unjudged", *docs[place + 1 :]]
    for measure in EVERY:
        assert value(measure, grades, above) >= value(measure, grades, below) - 1e-12, measure
