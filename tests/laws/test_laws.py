"""Laws that hold for every measure, including plug-ins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay import Rules
from assay.measures import parse_measure
from assay.tables import in_byte_order
from assay.topics import judge_topics
from laws.registry import EVERY, PLAIN, REWARDING
from strategies import cases, judged_docs, qrels_of, ranking, retrieved_docs, run_of

# The first two average nDCG over several ranks of one ranking: moving a document up moves those ranks too.
# BPM: an earlier good document makes the user view fewer documents; Accuracy@k: one more document makes more pairs.
# ContextPrecision@k: one more relevant document found makes the divisor larger.
# G: the gain of a document depends on what was gained before it.
NOT_MONOTONE = {"nDCG_rel", "RnDCG", "BPM", "Accuracy", "ContextPrecision", "G"}


def values(measure, grades, scores, rules=Rules()):
    return measure.values(judge_topics(qrels_of(grades), run_of(scores), rules, strays=True))


def all_values(measures, grades, scores, rules=Rules()):
    judged = judge_topics(qrels_of(grades), run_of(scores), rules, strays=True)
    return np.array([measure.values(judged) for measure in measures])


@pytest.mark.parametrize("measure", EVERY, ids=str)
def test_a_name_reads_back_as_the_same_measure(measure):
    assert measure == parse_measure(str(measure))


@given(cases())
def test_values_are_finite_numbers_one_per_query(case):
    found = all_values(EVERY, case.grades, case.scores)

    assert (len(EVERY), len(case.grades)) == found.shape
    assert np.isfinite(found).all()


@given(cases())
def test_values_stay_within_their_bounds(case):
    judged = judge_topics(case.qrels, case.run, strays=True)
    for measure in EVERY:
        if measure.definition.bounds is not None and not (measure.name == "BPM" and measure.param("residual")):
            low, high = measure.definition.bounds
            found = measure.values(judged)

            assert (found >= low).all(), measure
            assert (found <= high + 1e-12).all(), measure


@given(judged_docs(), retrieved_docs())
def test_a_perfect_ranking_scores_the_top(grades, scores):
    relevant = sorted((doc for doc in grades if grades[doc] > 0), key=lambda doc: -grades[doc])
    assume(relevant)
    perfect = all_values(REWARDING, {"q": grades}, {"q": ranking(relevant)})
    other = all_values(REWARDING, {"q": grades}, {"q": scores})

    for measure, best, found in zip(REWARDING, perfect, other, strict=True):
        assert best >= found - 1e-5 * (measure.name == "infAP") - 1e-12, measure


@given(judged_docs(), st.permutations([f"d{n}" for n in range(9)]), st.integers(0, 7))
def test_moving_a_better_document_up_never_lowers_the_value(grades, docs, pick):
    worth = [max(grades.get(doc, 0), 0) for doc in docs]
    places = [place for place in range(len(docs) - 1) if worth[place + 1] > worth[place]]
    assume(places)
    place = places[pick % len(places)]
    upper, lower = docs[place], docs[place + 1]
    before = all_values(REWARDING, {"q": grades}, {"q": ranking(docs)})
    docs[place], docs[place + 1] = lower, upper
    after = all_values(REWARDING, {"q": grades}, {"q": ranking(docs)})

    for measure, was, now in zip(REWARDING, before, after, strict=True):
        if measure.name not in NOT_MONOTONE:
            if measure.name == "infAP" and min(grades.values()) < 0:
                continue  # an estimate: a pooled but unjudged document above raises it
            assert now >= was - 1e-5 * (measure.name == "infAP") - 1e-12, measure


@pytest.mark.slow
@given(cases(scores=st.floats(-100, 100)))
def test_renaming_documents_changes_nothing_where_no_scores_are_equal(case):
    assume(all(len(set(scores.values())) == len(scores) for scores in case.scores.values()))
    new = {
        doc: f"{abs(hash(doc)) % 97}-{doc[::-1]}"
        for docs in (*case.grades.values(), *case.scores.values())
        for doc in docs
    }
    grades = {query: {new[doc]: grade for doc, grade in docs.items()} for query, docs in case.grades.items()}
    scores = {query: {new[doc]: score for doc, score in docs.items()} for query, docs in case.scores.items()}

    np.testing.assert_array_equal(all_values(EVERY, case.grades, case.scores), all_values(EVERY, grades, scores))


@pytest.mark.slow
@given(cases(), st.sampled_from(["doc-desc", "doc-asc"]))
def test_a_constant_scorer_gets_what_the_order_of_ids_gives(case, ties):
    tied = {query: dict.fromkeys(docs, 1.0) for query, docs in case.scores.items()}
    spelled_out = {
        query: ranking(in_byte_order(docs, reverse=ties == "doc-desc")) for query, docs in case.scores.items()
    }
    rules = Rules(ties=ties)

    np.testing.assert_array_equal(
        all_values(EVERY, case.grades, tied, rules), all_values(EVERY, case.grades, spelled_out, rules)
    )


def test_a_constant_scorer_does_not_look_good():
    """Relevant documents with low ids come last: mteb #5092 had them first and MRR at 1."""
    grades = {"q": {"a": 1, "b": 1}}
    constant = {"q": dict.fromkeys("abcdefghijklmnop", 0.5)}

    assert [1 / 15] == values(parse_measure("RR"), grades, constant).tolist()
    assert [0.0] == values(parse_measure("RR@10"), grades, constant).tolist()
    assert [0.0] == values(parse_measure("nDCG@10"), grades, constant).tolist()


@pytest.mark.slow
@given(cases(max_queries=5), st.data())
def test_parts_put_together_are_bit_equal_to_the_whole(case, data):
    judged = judge_topics(case.qrels, case.run, strays=True)
    in_part = data.draw(st.lists(st.booleans(), min_size=len(judged), max_size=len(judged)))
    parts = [np.flatnonzero(in_part), np.flatnonzero(~np.array(in_part))]
    for measure in EVERY:
        whole = measure.values(judged)
        for part in parts:
            if len(part):
                np.testing.assert_array_equal(whole[part], measure.values(judged.select(part)), err_msg=str(measure))


@pytest.mark.slow
@given(cases(max_queries=3), judged_docs(), retrieved_docs())
def test_one_query_never_changes_another(case, grades, scores):
    anchor = {"anchor": {"a": 4}}  # some measures depend on the highest grade in the qrels
    judged, answered = case.grades | anchor, case.scores | {"anchor": {"a": 1.0}}
    added = Rules()
    before = judge_topics(qrels_of(judged), run_of(answered), added, strays=True)
    after = judge_topics(qrels_of(judged | {"zz": grades}), run_of(answered | {"zz": scores}), added, strays=True)
    for measure in EVERY:
        if measure.definition.needs != "strays":  # Hole counts documents that are not judged for any query
            np.testing.assert_array_equal(
                measure.values(before), measure.values(after)[: len(before)], err_msg=str(measure)
            )


@given(cases())
def test_a_missing_query_gains_nothing(case):
    judged = judge_topics(case.qrels, case.run, strays=True)
    missing = np.array([query not in case.scores for query in judged.queries])
    for measure in PLAIN:
        if measure.definition.rewards and measure.name != "YAAP":
            assert (measure.values(judged)[missing] == 0).all(), measure


@pytest.mark.slow
@given(judged_docs(), retrieved_docs())
def test_order_of_input_does_not_matter(grades, scores):
    backwards = dict(reversed(scores.items()))
    upside_down = dict(reversed(grades.items()))

    np.testing.assert_array_equal(
        all_values(EVERY, {"q": grades}, {"q": scores}), all_values(EVERY, {"q": upside_down}, {"q": backwards})
    )
