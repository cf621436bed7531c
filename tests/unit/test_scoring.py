"""score and score_many: lists, dicts and arrays in, values out."""

from __future__ import annotations

import math
import time
from array import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import Rules, evaluate
from assay.errors import DuplicateError, InputError, MeasureError, RulesError
from assay.evaluation import DEFAULT_MEASURES
from assay.scoring import score, score_many
from strategies import DOCS, judged_docs, retrieved_docs


class Tensor:
    """What score uses of a torch tensor."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def tolist(self):
        return self.values.tolist()


class Scalar:
    """A tensor without dimensions: torch has __float__, __index__ and ndim on it."""

    ndim = 0

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)

    def __index__(self):
        if not isinstance(self.value, int):
            raise TypeError("only integer tensors can be an index")
        return self.value


class ArrayLike:
    """Something that only NumPy can read."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


def test_a_ranking_and_its_grades_give_values_by_measure():
    values = score(["d3", "d1"], {"d1": 3, "d2": 1}, ["nDCG@10", "MRR@10", "P@2"])

    assert ["nDCG@10", "MRR@10", "P@2"] == list(values)
    assert (3 / math.log2(3)) / (3 + 1 / math.log2(3)) == pytest.approx(values["nDCG@10"])
    assert 0.5 == values["MRR@10"] == values["RR@10"] == values["P@2"]


def test_the_usual_measures_are_the_default():
    assert list(DEFAULT_MEASURES) == list(score(["a"], {"a"}))


@pytest.mark.parametrize(
    "ranking",
    [
        ["b", "a"],
        ("b", "a"),
        {"b": None, "a": None}.keys(),
        (doc for doc in ("b", "a")),
        np.array(["b", "a"]),
        np.array(["b", "a"], dtype=object),
        pandas.Series(["b", "a"]),
        {"a": 0.1, "b": 0.2},
        {"a": -2, "b": 1},
        {"a": np.float32(0.1), "b": Decimal("0.2")},
    ],
    ids=lambda ranking: type(ranking).__name__,
)
def test_rankings_of_any_type(ranking):
    assert {"RR": 0.5} == score(ranking, {"a": 1}, ["RR"])


@pytest.mark.parametrize(
    "judgments",
    [
        {"a": 1, "b": 0},
        {"a": 1.0},
        {"a": True},
        {"a": np.int8(1)},
        {"a": Fraction(1)},
        {"a"},
        frozenset("a"),
        ["a", "a"],
        ("a",),
        np.array(["a"]),
        pandas.Series(["a"]),
        {"a": "x"}.keys(),
        {"a": Scalar(1)},
    ],
    ids=lambda judgments: type(judgments).__name__,
)
def test_judgments_of_any_type(judgments):
    assert {"RR": 0.5, "R@5": 1.0} == score(["b", "a"], judgments, ["RR", "R@5"])


@pytest.mark.parametrize(
    "ranking",
    [
        [8, 7],
        range(8, 6, -1),
        np.array([8, 7]),
        array("q", [8, 7]),
        Tensor([8, 7]),
        [Scalar(8), Scalar(7)],
        [np.uint8(8), "7"],
        ["8", "7"],
    ],
    ids=lambda ranking: type(ranking).__name__,
)
@pytest.mark.parametrize("judgments", [{7: 1, 8: 0}, {"7": 1}, {7}, [np.int64(7)]], ids=repr)
def test_whole_numbers_are_ids(ranking, judgments):
    assert {"RR": 0.5} == score(ranking, judgments, ["RR"])


@pytest.mark.parametrize(
    "scores",
    [
        [0.1, 0.9, 0.5],
        (1, 9, 5),
        np.array([0.1, 0.9, 0.5], np.float32),
        np.array([0.1, 0.9, 0.5], np.float16),
        Tensor([0.1, 0.9, 0.5]),
        ArrayLike([0.1, 0.9, 0.5]),
        [Scalar(0.1), Scalar(0.9), Scalar(0.5)],
        pandas.Series([1, 9, 5], index=["x", "y", "z"]),
        (value for value in (1, 9, 5)),
    ],
    ids=lambda scores: type(scores).__name__,
)
def test_scores_make_the_ranking(scores):
    assert {"RR": 1.0, "P@1": 1.0} == score(["a", "b", "c"], ["b"], ["RR", "P@1"], scores=scores)


def test_a_list_keeps_its_order_and_equal_scores_follow_the_rules():
    assert {"RR": 1.0} == score(["a", "b"], ["a"], ["RR"])
    assert {"RR": 0.5} == score(["a", "b"], ["a"], ["RR"], scores=[1, 1])
    assert {"RR": 0.5} == score({"a": 1, "b": 1}, ["a"], ["RR"])
    for ties in ("doc-asc", "input"):
        assert {"RR": 1.0} == score(["a", "b"], ["a"], ["RR"], scores=[1, 1], rules=Rules(ties=ties))
    for ties in ("doc-desc", "doc-asc", "input", "rank-column"):
        assert {"RR": 1.0} == score(["a", "b"], ["a"], ["RR"], rules=Rules(ties=ties))


def test_an_empty_ranking_scores_0():
    assert {"nDCG@10": 0.0, "AP": 0.0, "RR@10": 0.0, "R@100": 0.0} == score([], {"a": 1})
    assert {"SetP": 0.0} == score({}, {"a": 1}, ["SetP"])
    assert {"RR": 0.0} == score([], {"a": 1}, ["RR"], scores=np.zeros(0), rules=Rules(queries="strict"))


@pytest.mark.parametrize("judgments", [{}, [], set(), {"a": 0}])
@pytest.mark.parametrize("ranking", [[], ["a", "b"], {"a": 1.0}])
def test_without_relevant_documents_the_rules_decide(ranking, judgments):
    assert {"RR": 0.0, "nDCG": 0.0} == score(ranking, judgments, ["RR", "nDCG"])
    assert all(map(math.isnan, score(ranking, judgments, ["RR", "nDCG"], rules=Rules(undefined="nan")).values()))


def test_a_document_twice_is_refused_with_its_places():
    with pytest.raises(DuplicateError) as error:
        score(["b", "a", 7, "7"], ["a"])

    assert str(error.value) == (
        "ranking: document 7 appears at ranks 3 and 4, but may appear only once. "
        'Remove the duplicates, or keep the first with rules=Rules(duplicates="first").'
    )
    assert {"R@5": 1.0} == score(["b", "b", "a"], ["a"], ["R@5"], rules=Rules(duplicates="first"))
    assert {"RR": 0.5} == score(["b", "b", "a"], ["a"], ["RR"], rules=Rules(duplicates="first"))


def test_other_rules_are_heeded():
    assert {"RR": 0.0} == score(["b", "a"], ["a"], ["RR"], rules=Rules(depth=1))
    with pytest.raises(RulesError, match="self_match=drop needs query ids, which lists do not have"):
        score(["b", "a"], ["a"], rules=Rules(self_match="drop"))
    with pytest.raises(RulesError, match="rules must be Rules"):
        score(["b", "a"], ["a"], rules=["ties"])


REFUSED = [
    (("ab", ["a"]), {}, "ranking: expected a list of values, found 'ab' (str)."),
    ((b"ab", ["a"]), {}, "ranking: expected a list of values, found b'ab' (bytes)."),
    ((None, ["a"]), {}, "ranking: expected a list of values, found None (NoneType)."),
    ((np.array(3), ["a"]), {}, "ranking: expected a list of values, found 3 (int)."),
    (({"a", "b"}, ["a"]), {}, "ranking: a set has no order; pass a list of ids, best first, or a dict of scores."),
    (
        ([("a", 0.5)], ["a"]),
        {},
        "ranking: ('a', 0.5) (tuple) is not a document id; ids must be text or whole numbers. Pass grades and scores in "
        "a dict.",
    ),
    (
        ([1.0], ["a"]),
        {},
        "ranking: 1.0 (float) is not a document id; ids must be text or whole numbers. Pass grades and scores in a dict.",
    ),
    (
        ([True], ["a"]),
        {},
        "ranking: True (bool) is not a document id; ids must be text or whole numbers. Pass grades and scores in a dict.",
    ),
    (
        (["a"], [None]),
        {},
        "judgments: None (NoneType) is not a document id; ids must be text or whole numbers. Pass grades and scores in "
        "a dict.",
    ),
    ((["a"], "a"), {}, "judgments: expected a list of values, found 'a' (str)."),
    ((["a"], {"a": "1"}), {}, "judgments: grade '1' (str) is not a finite number."),
    ((["a"], {"a": None}), {}, "judgments: grade None (NoneType) is not a finite number."),
    ((["a"], {"a": math.nan}), {}, "judgments: grade nan (float) is not a finite number."),
    (
        (["a"], {1: 1, "1": 0}),
        {},
        "judgments: document 1 appears both as text and as a number; keep one of them.",
    ),
    (({"a": math.inf}, ["a"]), {}, "ranking: score inf (float) is not a finite number."),
    (({"a": np.float32("nan")}, ["a"]), {}, "ranking: score nan (float32) is not a finite number."),
    ((["a"], ["a"]), {"scores": [1, 2]}, "scores: 2 scores for 1 document; pass one score per document."),
    ((["a"], ["a"]), {"scores": [[1.0]]}, "scores: score [1.0] (list) is not a finite number."),
    ((["a"], ["a"]), {"scores": 10**400}, f"scores: expected a list of values, found 1{'0' * 36}...{'0' * 20} (int)."),
    ((["a"], ["a"]), {"scores": ["x"]}, "scores: score 'x' (str) is not a finite number."),
    (
        ({"a": 1.0}, ["a"]),
        {"scores": [1.0]},
        "ranking: a dict already has scores; do not pass scores= as well.",
    ),
]


@pytest.mark.parametrize(("given", "options", "message"), REFUSED, ids=[message[:50] for *_, message in REFUSED])
def test_what_cannot_be_used_is_refused_in_words(given, options, message):
    with pytest.raises(InputError) as error:
        score(*given, **options)

    assert message == str(error.value)


def test_a_huge_whole_number_is_no_score():
    with pytest.raises(InputError, match=r"ranking: score 10+\.\.\.0+ \(int\) is not a finite number"):
        score({"a": 10**400}, ["a"])


def test_an_unknown_measure_is_refused():
    with pytest.raises(MeasureError, match="no measure called 'nDGC'; did you mean 'nDCG'"):
        score(["a"], ["a"], ["nDGC"])


def test_nothing_given_is_changed():
    ranking, judgments, scores = ["a", "b"], {"b": 1}, np.array([1.0, 2.0])
    score(ranking, judgments, scores=scores)
    score_many([ranking], [judgments], scores=[scores])

    assert (["a", "b"], {"b": 1}, [1.0, 2.0]) == (ranking, judgments, scores.tolist())


@given(judged_docs(), retrieved_docs())
def test_one_query_is_scored_as_evaluate_does(grades, scores):
    measures = ["nDCG@5", "AP", "RR", "Bpref", "ERR@5", "RBP", "num_ret", "Judged@3"]

    assert dict(score(scores, grades, measures)) == dict(
        evaluate({"q": grades}, {"q": scores}, measures, unmatched="zero").mean()
    )


@given(st.lists(st.tuples(judged_docs(), st.lists(st.sampled_from(DOCS), unique=True)), min_size=1, max_size=12))
def test_many_are_scored_as_each_alone(questions):
    """Except measures that depend on the highest grade of all judgments, such as ERR."""
    measures = ["nDCG@5", "AP", "num_ret"]
    many = score_many([docs for _, docs in questions], [grades for grades, _ in questions], measures)

    assert [list(score(docs, grades, measures).values()) for grades, docs in questions] == many.values.tolist()


def test_questions_are_numbered_in_their_order():
    rankings = [["x"] * (place % 2) + ["a"] for place in range(12)]
    result = score_many(rankings, [["a"]] * 12, ["RR"], name="retriever")

    assert tuple(map(str, range(12))) == result.queries
    assert [1.0, 0.5] * 6 == [scores["RR"] for scores in result.per_query().values()]
    assert {"RR": 0.75} == result.mean()
    assert "retriever" == result.run


def test_an_empty_ranking_is_missing_and_counts_as_0():
    result = score_many([["a"], [], {}], [["a"], ["a"], []], ["RR"])

    assert {"RR": 1 / 3} == result.mean()
    assert (3, 1, ("1", "2"), (), 1, 3) == (
        result.coverage.judged,
        result.coverage.answered,
        result.coverage.missing,
        result.coverage.unjudged,
        result.coverage.without_relevant,
        result.coverage.evaluated,
    )
    assert {"RR": 0.0} == score_many([[], []], [["a"], ["b"]], ["RR"]).mean()
    assert [1.0, 0.0] == score_many([["a"], []], [["a"], ["a"]], ["RR"], rules=Rules(queries="both")).values[
        :, 0
    ].tolist()


def test_scores_may_come_for_each_question():
    batch = np.array([[0.1, 0.9], [0.8, 0.2]])
    result = score_many([["a", "b"], ["a", "b"]], [["b"], ["b"]], ["RR"], scores=Tensor(batch))

    assert [1.0, 0.5] == result.values[:, 0].tolist()
    assert [0.5, 1.0] == score_many([["a", "b"], {"b": 1}], [["b"], ["b"]], ["RR"], scores=None).values[:, 0].tolist()


def test_lists_of_different_length_are_refused():
    with pytest.raises(InputError, match="2 rankings but 1 judgment: pass one of each per question"):
        score_many([["a"], ["b"]], [["a"]])
    with pytest.raises(InputError, match="1 ranking but 2 lists of scores: pass one of each per question"):
        score_many([["a"]], [["a"]], scores=[[1], [2]])
    with pytest.raises(InputError, match="no questions to score"):
        score_many([], [])


def test_messages_name_the_question():
    with pytest.raises(DuplicateError, match="question 1: ranking: document a appears at ranks 1 and 2"):
        score_many([["a"], ["a", "a"]], [["a"], ["a"]])
    with pytest.raises(InputError, match="question 0: judgments: expected a list of values, found 'a'"):
        score_many([["a"]], ["a"])
    with pytest.raises(DuplicateError, match="question q1: ranking: document a appears at ranks 1 and 2"):
        score_many({"q1": ["a", "a"]}, {"q1": ["a"]})


def test_dicts_keep_the_names_of_questions():
    result = score_many({"b?": ["x", "b"], "a?": {"a": 0.5}, 7: []}, {"a?": ["a"], "b?": {"b": 2}, 7: {"c"}}, ["RR"])

    assert {"b?": {"RR": 0.5}, "a?": {"RR": 1.0}, "7": {"RR": 0.0}} == result.per_query()
    assert ("b?", "a?", "7") == result.queries
    assert ({"RR": 0.5}, ("7",)) == (result.mean(), result.coverage.missing)


def test_dicts_and_lists_give_the_same_values():
    names, rankings, judgments = ["z", "a", "m"], [["a", "b"], ["c"], ["d", "e"]], [["b"], ["c"], {"e": 2, "x": 1}]
    listed = score_many(rankings, judgments)
    named = score_many(
        dict(zip(names, rankings, strict=True)), dict(zip(reversed(names), reversed(judgments), strict=True))
    )

    assert listed.values.tolist() == named.values.tolist()
    assert {"P@1": 1.0} == score_many({"q": ["a", "b"]}, {"q": ["b"]}, ["P@1"], scores={"q": [1, 2]}).mean()


def test_named_questions_know_themselves():
    rules = Rules(self_match="drop")

    assert {"RR": 1.0} == score_many({"q": ["q", "a"]}, {"q": ["a"]}, ["RR"], rules=rules).mean()
    with pytest.raises(RulesError, match="self_match=drop needs query ids, which lists do not have"):
        score_many([["q", "a"]], [["a"]], ["RR"], rules=rules)


@pytest.mark.parametrize(
    ("rankings", "judgments", "scores", "message"),
    [
        (
            {"a": ["x"], "b": ["x"]},
            {"a": ["x"]},
            None,
            "1 question of rankings is missing from judgments (first: b). Pass the same questions in both; an empty list "
            "stands for no documents.",
        ),
        (
            {"a": ["x"]},
            {"a": ["x"], "b": ["x"], "c": ["x"]},
            None,
            "2 questions of judgments are missing from rankings (first: b, c). Pass the same questions in both; an empty "
            "list stands for no documents.",
        ),
        ({"a": ["x"]}, {"a": ["x"]}, {"b": [1]}, "1 question of rankings is missing from scores (first: a)."),
        (
            {"a": ["x"]},
            [["x"]],
            None,
            "rankings is a dict by question, but judgments is not; pass all as dicts, or all as lists.",
        ),
        (
            [["x"]],
            {"a": ["x"]},
            None,
            "judgments is a dict by question, but rankings is not; pass all as dicts, or all as lists.",
        ),
        (
            {1: ["x"], "1": ["x"]},
            {1: ["x"]},
            None,
            "rankings: the names of questions must be text or whole numbers, and different as text.",
        ),
        ({}, {}, None, "no questions to score."),
    ],
)
def test_names_that_do_not_match_are_named(rankings, judgments, scores, message):
    with pytest.raises(InputError) as caught:
        score_many(rankings, judgments, scores=scores)
    assert str(caught.value).startswith(message)


def test_one_call_is_quick():
    """1 ms on an idle machine; other tests may run at the same time."""
    ranking, judgments = (
        [f"d{number}" for number in range(20)],
        {f"d{number}": number % 4 for number in range(0, 40, 3)},
    )
    best = math.inf
    for _ in range(20):
        start = time.process_time()
        for _ in range(10):
            score(ranking, judgments, ["nDCG@10", "AP", "RR@10"])
        best = min(best, (time.process_time() - start) / 10)

    assert best < 0.002


def test_a_series_is_a_dict_of_its_index():
    import pandas

    assert 1.0 == assay.score(["a"], pandas.Series({"a": 1}), ["RR"])["RR"]


def test_what_is_imported_later_is_listed_all_the_same():
    assert {"score", "score_many", "check_measure", "compare_conventions"} <= set(dir(assay))
    assert hasattr(assay.compat.pytrec_eval, "RelevanceEvaluator")
