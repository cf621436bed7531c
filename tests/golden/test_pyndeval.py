"""The same values as pyndeval, which is ndeval's own C code, and as ir_measures by the names its users write."""

from __future__ import annotations

import math

import ir_measures
import numpy as np
import pyndeval
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules, parse_measure
from assay.measures.families.diversity import AP_IA, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
from assay.topics import judge_topics
from strategies import ranking
from topic_cases import ALPHAS, BETAS, TopicCase, topic_cases, topic_rows

NDEVAL = Rules(ties="doc-asc")  # pyndeval's order of ties

MEASURES = {
    f"{name}@{cutoff}": measure @ cutoff
    for name, measure in {
        "ERR-IA": ERR_IA,
        "nERR-IA": nERR_IA,
        "alpha-DCG": alpha_DCG,
        "alpha-nDCG": alpha_nDCG,
        "P-IA": P_IA,
        "strec": StRecall,
    }.items()
    for cutoff in range(1, 21)
} | {"NRBP": NRBP, "nNRBP": nNRBP, "MAP-IA": AP_IA}


def ndeval(case: TopicCase, names, *, rel=1, alpha=0.5, beta=0.5) -> dict[str, dict[str, float]]:
    """pyndeval's values by query. It numbers subtopics in input order and adds up gains in that order."""
    retrieved = [(query, doc, score) for query, docs in case.scores.items() for doc, score in docs.items()]
    evaluator = pyndeval.RelevanceEvaluator(topic_rows(case.grades), names, relevance_level=rel, alpha=alpha, beta=beta)
    return evaluator.evaluate(retrieved)


def compare(case: TopicCase, **settings: float) -> None:
    theirs = ndeval(case, list(MEASURES), **settings)
    topics = judge_topics(case.qrels, case.run, NDEVAL)

    assert set(theirs) == set(case.grades) & set(case.scores)
    for name, measure in MEASURES.items():
        params = {key: value for key, value in settings.items() if key in measure.definition.takes}
        ours = dict(zip(topics.queries, measure(**params).values(topics).tolist(), strict=True))
        for query, value in ours.items():
            their = theirs.get(query, {name: 0.0})[name]  # a missing query counts as 0 for us
            if name == "nNRBP" and math.isnan(their):
                their = 0.0
            assert their == value, (query, name, settings)


@settings(max_examples=150)
@given(topic_cases(), st.sampled_from([1, 2]), ALPHAS, BETAS)
def test_every_measure_agrees_to_the_last_bit(case, rel, alpha, beta):
    compare(case, rel=rel, alpha=alpha, beta=beta)


def larger_case(seed: int) -> TopicCase:
    """Queries with up to 12 subtopics and more documents than ndeval evaluates."""
    random = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(80)]
    grades = {
        f"q{query}": {
            str(subtopic): {doc: int(random.integers(0, 3)) for doc in random.choice(docs, 30, replace=False)}
            for subtopic in range(1, random.integers(2, 13))
        }
        for query in range(5)
    }
    scores = {query: ranking([docs[n] for n in random.permutation(80)[:60]]) for query in grades}
    return TopicCase(grades, scores)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.3, 0.95), (0.9, 0.1)])
def test_so_it_does_on_long_rankings(seed, alpha, beta):
    compare(larger_case(seed), rel=1 + seed % 2, alpha=alpha, beta=beta)


NAMES = [
    *("ERR_IA@10", "ERR_IA(rel=2)@5", "nERR_IA@20", "nERR_IA(rel=2)@3"),
    *("alpha_DCG@10", "α_DCG(alpha=0.3)@5", "alpha_nDCG@20", "α_nDCG(alpha=0.7,rel=2)@10"),
    *("NRBP", "NRBP(alpha=0.3,beta=0.8)", "nNRBP", "nNRBP(rel=2,beta=0.9)"),
    *("AP_IA", "MAP_IA(rel=2)", "P_IA@5", "P_IA(rel=2)@20", "StRecall@10", "StRecall(rel=2)@1"),
]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(case=topic_cases())
def test_ir_measures_gives_the_same_by_the_names_its_users_write(name, case):
    """One measure at a time: given several settings in one call, it computes one and reports 0 for the others."""
    qrels = [ir_measures.Qrel(query, doc, grade, subtopic) for query, subtopic, doc, grade in topic_rows(case.grades)]
    found = ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, case.scores)
    theirs = {metric.query_id: metric.value for metric in found if not math.isnan(metric.value)}
    topics = judge_topics(case.qrels, case.run, NDEVAL)
    ours = dict(zip(topics.queries, parse_measure(name).values(topics).tolist(), strict=True))

    assert ours == {query: theirs.get(query, 0.0) for query in ours}


def test_the_defaults_are_those_of_ir_measures():
    for measure in MEASURES.values():
        theirs = getattr(ir_measures, measure.name).SUPPORTED_PARAMS
        defaults = {name: info.default for name, info in theirs.items() if name not in ("cutoff", "judged_only")}

        assert defaults.items() <= measure.definition.defaults.items(), measure


# Surprising behaviour of ndeval and related programs.

CASE = TopicCase({"q": {"1": {"a": 1}, "2": {"a": 1}, "3": {"b": 1}}}, {"q": {"a": 1.0}})


def test_ndeval_divides_nothing_at_cutoff_1():
    names = ["ERR-IA@1", "alpha-DCG@1", "nERR-IA@1", "alpha-nDCG@1"]

    assert {"q": dict(zip(names, [2.0, 2.0, 1.0, 1.0], strict=True))} == ndeval(CASE, names)


def test_ndeval_has_no_number_where_nothing_is_relevant():
    nothing = TopicCase({"q": {"1": {"a": 0}}}, {"q": {"a": 1.0}})

    assert math.isnan(ndeval(nothing, ["nNRBP"])["q"]["nNRBP"])
    assert [0.0] == nNRBP.values(judge_topics(nothing.qrels, nothing.run)).tolist()


def test_ndeval_stops_at_20():
    with pytest.raises(AssertionError, match="ndeval only supports cutoffs up to 20"):
        ndeval(CASE, ["alpha-nDCG@21"])


def test_the_alpha_of_ndeval_is_that_of_err_too():
    case = TopicCase({"q": {"1": {"a": 1, "b": 1}}}, {"q": {"a": 2.0, "b": 1.0}})

    assert (1 + 0.9 / 2) / (1 + 0.9 / 2 + 0.81 / 3) == pytest.approx(
        ndeval(case, ["ERR-IA@3"], alpha=0.1)["q"]["ERR-IA@3"]
    )


def test_ir_measures_reports_0_for_all_but_one_setting_of_a_call():
    """Which one changes from process to process: it depends on the order of a set."""
    qrels = [ir_measures.Qrel(query, doc, grade, subtopic) for query, subtopic, doc, grade in topic_rows(CASE.grades)]
    measures = [ir_measures.NRBP, ir_measures.NRBP(alpha=0.1)]
    together = [metric.value for metric in ir_measures.iter_calc(measures, qrels, CASE.scores)]
    alone = [next(ir_measures.iter_calc([measure], qrels, CASE.scores)).value for measure in measures]

    assert 0 < min(alone)
    assert 0 == min(together) < max(together)
