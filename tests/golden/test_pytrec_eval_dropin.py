"""assay.compat.pytrec_eval is pytrec_eval: same names, same keys in the same order, same values to the last bit.

And what the package dies of is an answer or an error here.
"""

from __future__ import annotations

import collections
import io
import json
import math
import os
import struct
import subprocess
import sys
import warnings
from types import MappingProxyType
from unittest import mock

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import (
    AP,
    RR,
    Bpref,
    IPrec,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)
from ir_measures.providers.pytrec_eval_provider import PytrecEvalProvider

import assay.compat.pytrec_eval as dropin
from assay.errors import AssayError, DuplicateError, InputError, MeasureError
from strategies import DOCS, cases, judged_docs, retrieved_docs

QREL = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}


def bits(results):
    """Results with every bit of every value, in their order. All nans are one."""
    return [
        (query, [(name, "nan" if math.isnan(value) else struct.pack("d", value)) for name, value in values.items()])
        for query, values in results.items()
    ]


def assert_same(grades, scores, measures, *options):
    theirs = pytrec_eval.RelevanceEvaluator(grades, measures, *options).evaluate(scores)
    ours = dropin.RelevanceEvaluator(grades, measures, *options).evaluate(scores)

    assert theirs.keys() == ours.keys()
    assert all(type(value) is float for values in ours.values() for value in values.values())
    assert bits(theirs) == bits(ours)


# The same surface


def test_everything_that_the_package_offers_is_there():
    assert set(pytrec_eval.__all__) | {"compute_aggregated_measure"} == set(dropin.__all__)
    assert pytrec_eval.supported_measures == dropin.supported_measures
    assert pytrec_eval.supported_nicknames == dropin.supported_nicknames
    assert type(pytrec_eval.supported_measures) is type(dropin.supported_measures)


# The same values


@settings(max_examples=150)
@given(cases(), st.sampled_from([1, 2, 3]), st.booleans())
def test_all_measures_agree_to_the_last_bit(case, level, only_judged):
    assert_same(case.grades, case.scores, {"all_trec"}, level, only_judged)


@settings(max_examples=60)
@given(cases(scores=st.floats(width=64, allow_nan=False)))
def test_they_do_so_for_all_scores_even_infinite_ones(case):
    assert_same(case.grades, case.scores, {"official"})


@settings(max_examples=60)
@given(cases(scores=st.integers(-(2**70), 2**70) | st.booleans()))
def test_they_do_so_for_whole_numbers(case):
    assert_same(case.grades, case.scores, ["map", "ndcg"])


def cutoffs():
    return st.lists(st.integers(1, 30), min_size=1, max_size=4, unique=True).map(lambda ks: ",".join(map(str, ks)))


def levels():
    texts = st.sampled_from(["0", "0.0", "0.05", "0.1", "0.25", "0.333", "0.334", "0.5", "0.75", "1", "1.5", "2.25"])
    return st.lists(texts, min_size=1, max_size=4, unique_by=float).map(",".join)


PARAMETERS = {
    **dict.fromkeys(["P", "recall", "ndcg_cut", "map_cut", "relative_P", "success"], cutoffs()),
    **dict.fromkeys(["iprec_at_recall", "Rprec_mult", "11pt_avg", "set_F"], levels()),
}


@st.composite
def requested(draw):
    """Measures in every form that the package accepts: families, nicknames, one and several parameters."""
    plain = draw(
        st.lists(st.sampled_from([*sorted(dropin.supported_measures), "official", "set", "all_trec"]), max_size=4)
    )
    family = st.sampled_from(sorted(PARAMETERS))
    chosen = draw(st.lists(family, max_size=3, unique=True))
    return plain + [name + draw(st.sampled_from("._")) + draw(PARAMETERS[name]) for name in chosen]


@settings(max_examples=300)
@given(cases(), requested(), st.sampled_from([list, tuple, set, frozenset, iter]), st.integers(1, 4), st.booleans())
def test_every_way_to_ask_for_measures_gives_the_same(case, names, kind, level, only_judged):
    theirs = pytrec_eval.RelevanceEvaluator(case.grades, kind(names), level, only_judged).evaluate(case.scores)
    ours = dropin.RelevanceEvaluator(case.grades, kind(names), level, only_judged).evaluate(case.scores)

    assert bits(theirs) == bits(ours)


@settings(max_examples=100)
@given(judged_docs(), retrieved_docs(), st.lists(st.tuples(judged_docs(), st.sampled_from([{}, None]))), st.booleans())
def test_empty_rankings_after_one_with_documents(grades, scores, others, only_judged):
    """There, the first one of a run has no working memory; see the next tests."""
    judged = {"first": grades} | {f"q{number}": docs for number, (docs, _) in enumerate(others)}
    found = {"first": scores} | {f"q{number}": {} for number, (_, docs) in enumerate(others) if docs is not None}

    assert_same(judged, found, {"all_trec"}, 1, only_judged)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(DOCS), st.integers(-3, -1), min_size=1), retrieved_docs(), st.booleans())
def test_negative_grades_only_are_as_if_another_document_were_judged(grades, scores, only_judged):
    """There, they read out of bounds unless some document has grade 0; here one that is not found."""
    theirs = pytrec_eval.RelevanceEvaluator({"q": {**grades, "not found": 0}}, {"all_trec"}, 1, only_judged)
    ours = dropin.RelevanceEvaluator({"q": grades}, {"all_trec"}, 1, only_judged)

    assert bits(theirs.evaluate({"q": scores})) == bits(ours.evaluate({"q": scores}))


def test_an_empty_ranking_is_the_same_wherever_it_stands():
    """There, it segfaults at the start of a run, or returns 0 for everything, even num_q."""
    evaluator = dropin.RelevanceEvaluator(QREL, {"all_trec"})
    first = evaluator.evaluate({"q2": {}, "q1": RUN["q1"]})
    last = evaluator.evaluate({"q1": RUN["q1"], "q2": {}})

    assert bits({"q2": first["q2"]}) == bits({"q2": last["q2"]})
    assert 1.0 == first["q2"]["num_q"]
    assert ["q2", "q1"] == list(first)


@given(st.dictionaries(st.sampled_from(["q1", "q2"]), st.just({})), cases())
def test_queries_without_judgments_are_left_out(empty, case):
    assert_same({**case.grades, **empty}, case.scores, ["map"])


@pytest.mark.parametrize("scores", [{}, None, [], {"q9": {"a": 1.0}}])
@pytest.mark.parametrize("grades", [{}, QREL, {"q1": {}}])
@pytest.mark.parametrize("measures", [set(), {"map", "ndcg"}, {}])
def test_nothing_gives_nothing(grades, scores, measures):
    assert_same(grades, scores, measures)


def test_no_measures_give_empty_results():
    assert {"q1": {}, "q2": {}} == dropin.RelevanceEvaluator(QREL, set()).evaluate(RUN)


def test_an_evaluator_may_be_used_again_and_again():
    """trec_eval's parser writes into its parameters; pytrec_eval issue 38."""
    evaluator = dropin.RelevanceEvaluator(QREL, {"ndcg_cut.1,2,3,1000"})

    assert evaluator.evaluate(RUN) == evaluator.evaluate(RUN)
    assert ["ndcg_cut_1", "ndcg_cut_2", "ndcg_cut_3", "ndcg_cut_1000"] == list(evaluator.evaluate(RUN)["q1"])


def test_what_is_given_is_copied_and_never_changed():
    grades, scores = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    evaluator = dropin.RelevanceEvaluator(grades, {"map"})
    evaluator.evaluate(scores)
    before = (dict(grades["q"]), dict(scores["q"]))
    grades["q"]["a"] = 0

    assert ({"a": 1}, {"a": 1.0}) == before
    assert {"q": {"map": 1.0}} == evaluator.evaluate(scores)


@pytest.mark.parametrize("measure", ["map", "ndcg_cut_10", "num_ret", "num_q", "gm_map", "gm_bpref"])
@given(values=st.lists(st.floats(-20, 1), min_size=1, max_size=300))
def test_aggregation_agrees_to_the_last_bit(measure, values):
    theirs = pytrec_eval.compute_aggregated_measure(measure, values)

    assert struct.pack("d", theirs) == struct.pack("d", dropin.compute_aggregated_measure(measure, values))


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_aggregating_nothing():
    for module in (pytrec_eval, dropin):
        assert 0.0 == module.compute_aggregated_measure("num_ret", [])
        assert math.isnan(module.compute_aggregated_measure("map", []))
        assert math.isnan(module.compute_aggregated_measure("gm_map", []))


# Files

TEXT = st.text("ab1.é-_", min_size=1, max_size=3)


@given(st.lists(st.tuples(TEXT, TEXT, st.floats()), unique_by=lambda row: row[:2]), st.sampled_from([" ", "\t", "  "]))
def test_runs_are_parsed_the_same(rows, blank):
    lines = [blank.join([query, "Q0", doc, "1", repr(score), "tag"]) + "\n" for query, doc, score in rows]
    theirs, ours = pytrec_eval.parse_run(lines), dropin.parse_run(lines)

    assert type(theirs) is type(ours)
    assert repr(theirs) == repr(ours)


@given(st.lists(st.tuples(TEXT, TEXT, st.integers()), unique_by=lambda row: row[:2]))
def test_qrels_are_parsed_the_same(rows):
    lines = [f" {query} 0 {doc} {grade}\r\n" for query, doc, grade in rows]

    assert pytrec_eval.parse_qrel(lines) == dropin.parse_qrel(lines)


BAD_LINES = [
    ("parse_run", ["q Q0 d 1 2.5 x", ""], "run:2: 0 columns, expected 6: query Q0 document rank score tag."),
    ("parse_run", ["q Q0 d 1 2.5"], "run:1: 5 columns, expected 6: query Q0 document rank score tag."),
    ("parse_run", ["q Q0 d 1 high x"], "run:1: score 'high' is not a number (query q, document d)."),
    (
        "parse_run",
        ["q Q0 d 1 2 x", "q Q0 d 2 1 x"],
        "run:2: document d appears twice in query q; remove one of the lines.",
    ),
    ("parse_qrel", ["q d 1"], "qrels:1: 3 columns, expected 4: query 0 document grade."),
    (
        "parse_qrel",
        ["q 0 d 0.5"],
        "qrels:1: grade '0.5' is not a whole number (query q, document d). assay.evaluate also reads fractions and "
        "letters.",
    ),
    ("parse_qrel", ["q 0 d 1", "q 0 d 1"], "qrels:2: document d appears twice in query q; remove one of the lines."),
    ("parse_qrel", "qrels.txt", "pass an open file or a list of lines: parse_qrel(open(path))."),
    ("parse_run", "run.txt", "pass an open file or a list of lines: parse_run(open(path))."),
]


@pytest.mark.parametrize(("function", "lines", "message"), BAD_LINES)
def test_bad_lines_are_refused_as_there_but_in_words(function, lines, message):
    with pytest.raises((ValueError, AssertionError)) as theirs:
        getattr(pytrec_eval, function)(lines)
    with pytest.raises(theirs.type) as ours:
        getattr(dropin, function)(lines)

    assert message == str(ours.value)
    assert isinstance(ours.value, AssayError)


def test_a_bad_line_is_named_with_its_file(tmp_path):
    path = tmp_path / "bad.run"
    path.write_text("q Q0 d 1\n")
    with path.open() as file, pytest.raises(InputError) as error:
        dropin.parse_run(file)

    assert str(error.value).startswith(f"{path}:1: 4 columns")


# Wrong arguments: the same type of error, with a message

SCORES = {"q1": {"d1": 1.0}}
WRONG = [
    ((QREL, {"nope"}), SCORES, "unsupported measure nope; see pytrec_eval.supported_measures."),
    ((QREL, {"ndgc"}), SCORES, "unsupported measure ndgc; did you mean 'ndcg'?"),
    ((QREL, {"yaap"}), SCORES, "unsupported measure yaap; see pytrec_eval.supported_measures."),
    ((QREL, "map"), SCORES, "measures must be a set of names: write {'map'}."),
    ((QREL, None), SCORES, "measures must be a set of names such as {'map', 'ndcg_cut_10'}, not None."),
    ((QREL, {5}), SCORES, "a measure must be a name such as 'map', not 5."),
    ((QREL, {"map"}, 0), SCORES, "relevance_level is 0; it must be at least 1."),
    ((QREL, {"map"}, 1.0), SCORES, "relevance_level must be a whole number, not 1.0 (float)."),
    ((QREL, {"map"}, "2"), SCORES, "relevance_level must be a whole number, not '2' (str)."),
    ((QREL, {"map"}, 1, "yes"), SCORES, "judged_docs_only_flag must be a whole number, not 'yes' (str)."),
    (
        ({"q1": {"d1": 0.5}}, {"map"}),
        SCORES,
        "query_relevance: grade 0.5 (float) is not a whole number, which pytrec_eval requires; assay.evaluate accepts "
        "fractions (query q1, document d1).",
    ),
    (
        ({"q1": {"d1": "1"}}, {"map"}),
        SCORES,
        "query_relevance: grade '1' (str) is not a number (query q1, document d1).",
    ),
    (
        ({"q1": {"d1": None}}, {"map"}),
        SCORES,
        "query_relevance: grade None (NoneType) is not a number (query q1, document d1).",
    ),
    (
        ({"q1": ["d1"]}, {"map"}),
        SCORES,
        "query_relevance: the value of query q1 is a list, expected {document: number}.",
    ),
    (
        ({"q1": {None: 1}}, {"map"}),
        SCORES,
        "document of query_relevance None is a NoneType; ids must be text or whole numbers.",
    ),
    (
        ({None: {"a": 1}}, {"map"}),
        SCORES,
        "query of query_relevance None is a NoneType; ids must be text or whole numbers.",
    ),
    ((QREL, {"map"}), [1], "scores must be a dict of dicts, {query: {document: number}}, not a list."),
    ((QREL, {"map"}), {"q1": ["d1"]}, "scores: the value of query q1 is a list, expected {document: number}."),
    ((QREL, {"map"}), {"q1": {"d1": "1"}}, "scores: score '1' (str) is not a number (query q1, document d1)."),
    ((QREL, {"map"}), {"q1": {"d1": None}}, "scores: score None (NoneType) is not a number (query q1, document d1)."),
    ((QREL, {"map"}), {"q1": {"d1": 1j}}, "scores: score 1j (complex) is not a number (query q1, document d1)."),
    ((QREL, {"map"}), {"q1": {b"d1": 1.0}}, "document of scores b'd1' is a bytes; ids must be text or whole numbers."),
]


@pytest.mark.parametrize(("arguments", "scores", "message"), WRONG, ids=[message[:60] for *_, message in WRONG])
def test_wrong_arguments_raise_the_same_type_of_error(arguments, scores, message):
    with pytest.raises((TypeError, ValueError)) as theirs:
        pytrec_eval.RelevanceEvaluator(*arguments).evaluate(scores)
    with pytest.raises(theirs.type) as ours:
        dropin.RelevanceEvaluator(*arguments).evaluate(scores)

    assert message == str(ours.value)
    assert isinstance(ours.value, AssayError)


@pytest.mark.parametrize("nickname", ["prefs", "all_prefs", "qrels_jg"])
def test_measures_of_preferences_are_refused_in_both(nickname):
    for module in (pytrec_eval, dropin):
        with pytest.raises(ValueError, match=r"unsupported measure (prefs|P_avgjg|map_avgjg|Rprec_mult_avgjg)"):
            module.RelevanceEvaluator(QREL, {nickname})


def test_arguments_are_missed_as_there():
    for module in (pytrec_eval, dropin):
        with pytest.raises(
            TypeError, match="missing 2 required positional arguments: 'query_relevance' and 'measures'"
        ):
            module.RelevanceEvaluator()
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'scores'"):
            module.RelevanceEvaluator(QREL, {"map"}).evaluate()


# Calls that crash the interpreter in the package

DEADLY = [
    ("RelevanceEvaluator(QREL, {'P_5,05'}).evaluate(RUN)", "P.05,5: a value is given twice."),
    (
        "RelevanceEvaluator(QREL, {'iprec_at_recall_0.1', 'iprec_at_recall_0.10'}).evaluate(RUN)",
        "iprec_at_recall.0.1,0.10: a value is given twice.",
    ),
    ("RelevanceEvaluator(QREL, {'P_0'}).evaluate(RUN)", "P.0: cutoffs must be whole numbers from 1."),
    ("RelevanceEvaluator(QREL, {'ndcg_2'}).evaluate(RUN)", "ndcg.2: parameters must be pairs such as 1=3,2=9."),
    (
        "RelevanceEvaluator(QREL, {'all_trec'}, relevance_level=-1).evaluate(RUN)",
        "relevance_level is -1; it must be at least 1.",
    ),
]


@pytest.mark.parametrize(("call", "message"), DEADLY, ids=[message[:40] for _, message in DEADLY])
def test_what_kills_the_interpreter_is_an_error(call, message):
    with pytest.raises((ValueError, TypeError)) as error:
        eval(f"dropin.{call}")

    assert message == str(error.value)
    assert isinstance(error.value, (MeasureError, InputError))


@pytest.mark.skipif(
    pytrec_eval.__version__ != dropin.__version__ or os.name != "posix",
    reason="another version may live, or die otherwise",
)
def test_it_does_kill_the_interpreter():
    calls = [call for call, _ in DEADLY] + [
        "RelevanceEvaluator({'q1': {'a': 1}}, {'all_trec'}).evaluate({'q1': {}})",
        "RelevanceEvaluator({'q1': {'a\\udc80': 1}}, {'map'}).evaluate({'q1': {'a': 1.0}})",
    ]
    for call in calls:
        program = f"import pytrec_eval\nQREL, RUN = {QREL!r}, {RUN!r}\npytrec_eval.{call}"
        died = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

        assert died.returncode < 0, call  # by a signal


def test_what_it_dies_of_is_computed_where_it_can_be():
    assert {"q1": {"map": 0.0}} == dropin.RelevanceEvaluator({"q1": {"a": 1}}, {"map"}).evaluate({"q1": {}})
    assert {"q": {"map": 1.0}} == dropin.RelevanceEvaluator({"q": {"\udc80": 1}}, {"map"}).evaluate(
        {"q": {"\udc80": 1.0}}
    )
    assert {"q": {"ndcg": 1.0, "Rndcg": 1.0}} == (
        dropin.RelevanceEvaluator({"q": {"a": 2**40}}, {"ndcg", "Rndcg"}).evaluate({"q": {"a": 1.0}})
    )


def test_wrong_numbers_of_coefficients_are_refused_where_it_prints_and_gives_0():
    with pytest.raises(ValueError, match=r"utility.1,2: trec_eval.calc_utility: improper number of coefficients"):
        dropin.RelevanceEvaluator(QREL, {"utility_1,2"})


def test_a_score_that_is_no_number_has_no_rank():
    with pytest.raises(ValueError, match=r"scores: score nan \(float\) is not a number \(query q1, document d1\)"):
        dropin.RelevanceEvaluator(QREL, {"map"}).evaluate({"q1": {"d2": 1.0, "d1": math.nan}})
    with pytest.raises(ValueError, match=r"grade 1180591620717411303424 \(int\) is too large"):
        dropin.RelevanceEvaluator({"q": {"a": 2**70}}, {"map"})


# Accepted in addition to the package


class Tensor:
    """A tensor without dimensions: in torch it has __float__, and a type that the package does not know."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


@pytest.mark.parametrize(
    "number", [np.float16, np.float32, np.float64, np.int8, np.uint64, np.array, Tensor, int, float]
)
def test_numbers_of_any_type_are_taken(number):
    grades = {"q": {"a": number(1), "b": number(0)}}
    scores = {"q": {"b": number(3), "a": number(2), "c": 1}}

    assert {"q": {"map": 0.5}} == dropin.RelevanceEvaluator(grades, {"map"}, np.int32(1), np.bool_(0)).evaluate(scores)


def test_a_huge_whole_number_is_as_good_as_infinite():
    assert {"q": {"recip_rank": 1.0}} == (
        dropin.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate({"q": {"a": 10**400, "b": 1e30}})
    )


def test_mappings_of_any_type_are_taken():
    grades = MappingProxyType({"q1": MappingProxyType(QREL["q1"])})

    assert 1 / 3 == dropin.RelevanceEvaluator(grades, ("map",)).evaluate(collections.OrderedDict(RUN))["q1"]["map"]


def test_ids_may_be_whole_numbers_and_results_keep_them():
    grades = {1: {10: 1, 11: 0}, "2": {"10": 1}}
    evaluator = dropin.RelevanceEvaluator(grades, {"recip_rank"})

    assert {2: {"recip_rank": 1.0}, 1: {"recip_rank": 0.5}} == evaluator.evaluate({2: {10: 1}, 1: {"11": 2, 10: 1}})
    with pytest.raises(ValueError, match="scores has the same query as text and as a number"):
        evaluator.evaluate({1: {}, "1": {}})
    with pytest.raises(DuplicateError, match="document 10 is retrieved more than once for query 1"):
        evaluator.evaluate({1: {10: 1, "10": 2}})


IGNORED = [
    ("recip_rank_10", "recip_rank", "it takes no parameter. Use RR@10 with assay.evaluate."),
    ("map_10", "map", "it takes no parameter. Use map_cut_10."),
    ("bpref.5", "bpref", "it takes no parameter."),
]


@pytest.mark.parametrize(("asked", "given", "why"), IGNORED)
def test_a_parameter_that_is_ignored_there_is_ignored_with_a_warning(asked, given, why):
    with pytest.warns(UserWarning, match="takes no parameter") as warned:
        ours = dropin.RelevanceEvaluator(QREL, {asked}).evaluate(RUN)

    assert f"{asked!r} is read as {given!r}, as in pytrec_eval: {why}" == str(warned[0].message)
    assert __file__ == warned[0].filename
    assert bits(pytrec_eval.RelevanceEvaluator(QREL, {asked}).evaluate(RUN)) == bits(ours)


@pytest.mark.parametrize(
    ("asked", "read"),
    [("ndcg_cut_10abc", "ndcg_cut_10"), ("P_5_7", "P_5"), ("recall.5.", "recall.5"), ("P_5,x", "P_5")],
)
def test_the_rest_of_a_name_is_ignored_with_a_warning(asked, read):
    with pytest.warns(UserWarning, match=f"'{asked}' is read as '{read}', as in pytrec_eval; the rest is ignored"):
        ours = dropin.RelevanceEvaluator(QREL, {asked}).evaluate(RUN)

    assert bits(pytrec_eval.RelevanceEvaluator(QREL, {asked}).evaluate(RUN)) == bits(ours)


def test_nothing_else_warns():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        dropin.RelevanceEvaluator(QREL, ["all_trec", "P_7", "set_F_2", "relstring_4"]).evaluate(RUN)

    assert [] == [str(warning.message) for warning in warned]


# The package's published examples: the same program, one import changed

MODULES = pytest.mark.parametrize("pytrec_eval", [pytrec_eval, dropin], ids=["pytrec_eval", "assay"])


@MODULES
def test_example_simple(pytrec_eval):
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, {"map", "ndcg"})
    printed = json.dumps(evaluator.evaluate(RUN), indent=1)

    assert {
        "q1": {"map": 0.3333333333333333, "ndcg": 0.5},
        "q2": {"map": 0.5833333333333333, "ndcg": 0.6934264036172708},
    } == json.loads(printed)


@MODULES
def test_example_simple_cut(pytrec_eval):
    evaluator = pytrec_eval.RelevanceEvaluator(QREL, {"map_cut", "ndcg_cut"})
    values = json.loads(json.dumps(evaluator.evaluate(RUN)))["q1"]

    assert [
        f"{name}_{k}" for name in ("ndcg_cut", "map_cut") for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    ] == list(values)
    assert {0.5, 1 / 3} == set(values.values())


QREL_FILE = "q1 0 d1 0\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d2 1\nq2 0 d3 1\n"
RUN_FILE = "q1 Q0 d3 1 1.5 one\nq1 Q0 d1 2 1.0 one\nq1 Q0 d2 3 0.0 one\nq2 Q0 d1 1 1.5 one\nq2 Q0 d3 2 0.5 one\n"
OTHER_FILE = "q1 Q0 d2 1 9 two\nq2 Q0 d2 1 9 two\nq2 Q0 d3 2 8 two\nq3 Q0 d3 1 8 two\n"


@pytest.fixture
def files(tmp_path):
    for name, text in {"qrel": QREL_FILE, "one": RUN_FILE, "two": OTHER_FILE}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def trec_eval_output(pytrec_eval, files):
    """As in examples/trec_eval.py: all measures for each query and for all."""
    with (files / "qrel").open() as f_qrel, (files / "one").open() as f_run:
        qrel, run = pytrec_eval.parse_qrel(f_qrel), pytrec_eval.parse_run(f_run)
    results = pytrec_eval.RelevanceEvaluator(qrel, pytrec_eval.supported_measures).evaluate(run)
    out = io.StringIO()
    for query_id, query_measures in sorted(results.items()):
        for measure, value in sorted(query_measures.items()):
            print(f"{measure:25s}{query_id:8s}{value:.4f}", file=out)
    for measure in sorted(query_measures):
        values = [query_measures[measure] for query_measures in results.values()]
        total = pytrec_eval.compute_aggregated_measure(measure, values)
        print(f"{measure:25s}{'all':8s}{total:.4f}", file=out)
    return out.getvalue()


def test_example_trec_eval(files):
    ours = trec_eval_output(dropin, files)

    assert trec_eval_output(pytrec_eval, files) == ours
    assert "map                      all     0.2917\n" in ours
    assert "num_rel                  all     3.0000\n" in ours
    assert "gm_map                   all     0.2887\n" in ours  # (1/3 * 1/4) ** 0.5


@MODULES
def test_example_statistical_significance(pytrec_eval, files):
    """As in examples/statistical_significance.py, with the t statistic by hand: differences of 2/3 and 3/4."""
    with (files / "qrel").open() as f_qrel:
        qrel = pytrec_eval.parse_qrel(f_qrel)
    with (files / "one").open() as f_run:
        first_run = pytrec_eval.parse_run(f_run)
    with (files / "two").open() as f_run:
        second_run = pytrec_eval.parse_run(f_run)
    assert "map" in pytrec_eval.supported_measures
    evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map"})
    first_results, second_results = evaluator.evaluate(first_run), evaluator.evaluate(second_run)
    query_ids = list(set(first_results.keys()) & set(second_results.keys()))
    differences = [second_results[query]["map"] - first_results[query]["map"] for query in query_ids]

    assert {"q1", "q2"} == set(query_ids)
    assert [2 / 3, 3 / 4] == pytest.approx(sorted(differences))
    assert 17.0 == pytest.approx(np.mean(differences) / (np.std(differences, ddof=1) / len(differences) ** 0.5))


@MODULES
def test_example_reward_of_a_learner(pytrec_eval):
    """As in examples/rl.py: one query called 0, evaluated again after each step, at first without any document."""
    evaluator = pytrec_eval.RelevanceEvaluator({"0": {"d1": 2, "d2": 1, "d3": 0}}, {"ndcg"})
    steps = [{}, {"d3": 1.0}, {"d3": 1.0, "d2": 1.5}, {"d1": 2.0, "d2": 1.5, "d3": 1.0}]
    utilities = [evaluator.evaluate({"0": documents})["0"]["ndcg"] for documents in steps]

    assert [0.0, 0.0, 1 / (2 + 1 / math.log2(3)), 1.0] == pytest.approx(utilities)


@MODULES
def test_example_own_evaluator(pytrec_eval):
    """Programs derive their own classes, as with the package."""

    class MeanEvaluator(pytrec_eval.RelevanceEvaluator):
        def __init__(self, qrel, measure):
            super().__init__(query_relevance=qrel, measures={measure}, relevance_level=1)
            self.measure = measure

        def mean(self, run):
            values = [values[self.measure] for values in self.evaluate(scores=run).values()]
            return pytrec_eval.compute_aggregated_measure(self.measure, values)

    assert (1 / 3 + 7 / 12) / 2 == pytest.approx(MeanEvaluator(QREL, "map").mean(RUN))


@MODULES
def test_example_measure_parameters(pytrec_eval):
    """Parameters replace the usual cutoffs of their family; families without any keep them."""
    asked = ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "ndcg_cut_15", "recall.1000", "success"]
    values = pytrec_eval.RelevanceEvaluator(QREL, asked).evaluate(RUN)["q1"]

    assert [
        "recall_1000",
        "ndcg_cut_1",
        "ndcg_cut_4",
        "ndcg_cut_15",
        "ndcg_cut_20",
        "success_1",
        "success_5",
        "success_10",
    ] == (list(values))


# Programs built on the package


@settings(max_examples=60)
@given(cases(grades=st.integers(0, 3)))
def test_ir_measures_runs_on_it(case):
    """Its provider makes evaluators by level and flag, with names such as P_5 and set_F_0.25."""
    measures = [
        *(AP, AP @ 5, AP(rel=2) @ 5, nDCG, nDCG @ 3, nDCG(judged_only=True) @ 3, P @ 5, P(rel=2) @ 3, R @ 5, RR, Rprec),
        *(Bpref, infAP, SetP, SetR, SetF, SetF(beta=0.5), SetAP, Success @ 3, IPrec @ 0.1, NumQ, NumRel, NumRet),
    ]
    qrels = [ir_measures.Qrel(query, doc, grade) for query, docs in case.grades.items() for doc, grade in docs.items()]
    run = [
        ir_measures.ScoredDoc(query, doc, score) for query, docs in case.scores.items() for doc, score in docs.items()
    ]

    def calculated(module):
        with mock.patch.dict(sys.modules, pytrec_eval=module):
            return list(PytrecEvalProvider().iter_calc(measures, qrels, run))

    assert calculated(pytrec_eval) == calculated(dropin)


@pytest.mark.parametrize(
    ("qrels", "run", "expected", "options"),
    [
        ("qrels.test", "results.test", "out.test", {}),
        ("qrels.rel_level", "results.test", "out.test.aql", {"relevance_level": 2}),
    ],
)
def test_the_test_collection_of_trec_eval(shared_data, qrels, run, expected, options):
    """As the package's own tests do: the aggregated values are those that trec_eval prints.

    The expected figures are of trec_eval 10, whose recall levels are rounded otherwise.
    """
    folder = shared_data / "cases" / "trec_eval_own"
    printed = [line.split() for line in (folder / expected).read_text().splitlines()]
    summary = {name: float(value) for name, query, value in printed if query == "all" and name != "runid"}
    with (folder / qrels).open() as f_qrel, (folder / run).open() as f_run:
        grades, scores = dropin.parse_qrel(f_qrel), dropin.parse_run(f_run)
    assert_same(grades, scores, {"all_trec"}, *options.values())
    results = dropin.RelevanceEvaluator(grades, {"all_trec"}, **options).evaluate(scores)
    known = next(iter(results.values()))

    assert len(summary) > 25
    for name in (name for name in summary if name in known and not name.startswith(("iprec", "11pt"))):
        total = dropin.compute_aggregated_measure(name, [values[name] for values in results.values()])
        assert summary[name] == pytest.approx(total, abs=0.00005 + 1e-9), name
