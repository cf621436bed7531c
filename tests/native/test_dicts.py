"""Dicts and tables in memory, as in training loops and notebooks; and the replacement for pytrec_eval, which takes dicts."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from assay import Evaluator, Qrels, Rules, Run
from assay.compat import pytrec_eval
from assay.formats.numbers import show_value
from native.inputs import Case, as_dict, cases, some_rules
from native.paths import MEASURES, NEEDS_KERNEL, both_paths, by_numpy, hits, kernel_and_numpy, plain, values
from strategies import cases as graded_cases

pytestmark = NEEDS_KERNEL

GRADES = {"q1": {"a": 1, "b": 0, "é": 2, "\udcff": 1}, "q2": {"c": 2}, "q3": {"a": 1}}
RUN = {
    "q2": {"x": 1.0, "c": 1.0, "b": 1.0},
    "q1": {"b": 2.5, "\udcff": 2.5, "z": 2.5, "é": 2.5, "a": 0.5, "y": 9.0},
    "unjudged": {"a": 1.0},
}


class Frozen(Mapping[str, Any]):
    """A mapping that is not a dict."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __repr__(self) -> str:
        return "frozen"


def scored(kind: Any, run: dict[str, dict[str, float]] = RUN) -> dict[str, dict[str, Any]]:
    return {query: {doc: kind(score) for doc, score in docs.items()} for query, docs in run.items()}


@pytest.mark.parametrize(
    "kind", [float, int, bool, np.float64, np.float32, np.float16, np.int64, np.int8, lambda score: int(score) << 60]
)
def test_scores_of_every_numeric_type(kind: Any) -> None:
    native, numpy = kernel_and_numpy(lambda: hits(GRADES, scored(kind)))

    assert numpy == native


@pytest.mark.parametrize("kind", [np.longdouble, np.uint64, np.bool_, np.array, Fraction, Decimal])
def test_scores_of_rare_types(kind: Any) -> None:
    native, numpy = both_paths(lambda: hits(GRADES, scored(kind)))

    assert numpy == native


def test_scores_of_mixed_types() -> None:
    kinds = (int, float, np.float32, bool, np.float64, np.int32)
    run = {"q1": {f"d{at}": kind(at % 3) for at, kind in enumerate(kinds * 3)}, "q2": {"c": True, "x": np.float32(1)}}
    run["q1"] |= {"a": 1, "é": np.float32(2)}

    native, numpy = kernel_and_numpy(lambda: hits(GRADES, run))
    assert numpy == native


@pytest.mark.parametrize(
    "run",
    [
        *(Frozen(RUN), {query: Frozen(docs) for query, docs in RUN.items()}, OrderedDict(RUN), defaultdict(dict, RUN)),
        *({query: OrderedDict(docs) for query, docs in RUN.items()}, {**RUN, "q3": {}}, {**RUN, "another": {}}),
        *(
            {**RUN, "q3": OrderedDict()},
            {"q1": {1: 1.0, "b": 1.0}, 7: {"a": 1.0}},
            {"q1": {np.int64(3): 1.0, "a": 2.0}},
        ),
        {np.str_(query): {np.str_(doc): score for doc, score in docs.items()} for query, docs in RUN.items()},
    ],
)
@pytest.mark.parametrize("rules", [Rules(), Rules(queries="both"), Rules(queries="strict"), Rules(ties="doc-asc")])
def test_mappings_of_every_kind(run: Any, rules: Rules) -> None:
    native, numpy = both_paths(lambda: values(GRADES, run, rules=rules))

    assert numpy == native


@settings(max_examples=150)
@given(case=cases(), rules=some_rules(), size=st.sampled_from([0, 3, 30]))
def test_few_and_many_judged_documents(case: Case, rules: Rules, size: int) -> None:
    """If few documents are judged, they are looked up in the dict; if many are, the dict's documents are looked up."""
    run = as_dict(case.rows, None)  # type: ignore[arg-type]
    filled = {query: {**docs, **{f"filler{at}": at % 3 for at in range(size)}} for query, docs in run.items()}

    native, numpy = both_paths(lambda: hits(case.qrels, filled, rules))
    assert numpy == native


def test_nothing_that_is_given_is_changed() -> None:
    grades, run = deepcopy(GRADES), scored(np.float32)
    evaluator = Evaluator(grades, ["AP", "nDCG@2"])
    evaluator.evaluate(run)
    evaluator.evaluate(run, tie_bounds=True)

    assert GRADES == grades
    assert [list(docs) for docs in RUN.values()] == [list(docs) for docs in run.values()]
    assert scored(np.float32) == run
    assert {np.float32} == {type(score) for docs in run.values() for score in docs.values()}


def test_an_evaluator_serves_a_training_loop() -> None:
    """The run changes between evaluations; each result equals that of a new evaluator on the other path."""
    measures = ["AP", "nDCG@2", "RR"]
    evaluator, run = Evaluator(GRADES, measures), deepcopy(RUN)
    for step in range(20):
        run["q1"]["a"] = np.float32(step)
        run["q1"][f"new{step}"] = step / 2
        run["q2"].pop("x", None)
        run[f"query{step}"] = {"a": step}

        assert by_numpy(lambda: values(GRADES, deepcopy(run), measures)) == plain(evaluator.evaluate(run))


def test_one_evaluator_serves_many_threads() -> None:
    evaluator = Evaluator(GRADES, ["AP", "nDCG@2", "RR"])
    table = Run.from_columns(["q1", "q2", "q1"], ["a", "c", "é"], [1.0, 2.0, 1.0])
    runs = [RUN, scored(np.float64), scored(lambda score: -score), {"q3": {"a": 1}}, table]
    expected = [by_numpy(lambda: evaluator.evaluate(run).values) for run in runs]  # noqa: B023
    with ThreadPoolExecutor(4) as pool:
        found = [plain(evaluation.values) for evaluation in pool.map(evaluator.evaluate, runs * 20)]

    assert expected * 20 == found


# Ids and scores that no dict should have

ODD_IDS = [
    *(
        "",
        "\ud800",
        "\udcff",
        "\udcc3\udca9",
        "a\0b",
        " ",
        "long" * 100_000,
        np.str_(""),
        np.str_("b"),
        np.str_("\ud800"),
    ),
    *(1, np.int64(1), 2**70, 10**5000, 1.0, True, None, b"", b"b", b"\xff", ("b",), float("nan")),
]


class Text(str):
    """Text of another class."""


@pytest.mark.parametrize(
    "odd", [*ODD_IDS, Text(""), Text("c")], ids=lambda odd: f"{type(odd).__name__}-{show_value(odd)[:9]}"
)
@pytest.mark.parametrize("others", [1, 50], ids=["many judged", "few judged"])
def test_odd_ids_mean_the_same_on_both_paths(odd: Any, others: int) -> None:
    """A value, or the same error word for word, wherever the id is: a document or a query, judged or not."""
    plain_docs = {"b": 1.0, **{f"filler{at}": -1.0 * at for at in range(others)}}
    grades = {"q1": {"b": 1, "c": 0}, "q2": {"a": 1}, "\udcff": {"b": 1}}
    for run in (
        {"q1": {**plain_docs, odd: 2.0}},
        {"q1": {odd: 2.0, **plain_docs}, "q2": {"a": 1.0}},
        {"q1": plain_docs, "unjudged": {odd: 2.0}},
        {"q1": plain_docs, odd: {"a": 2.0}},
        {"q1": plain_docs, odd: {}},
        {odd: plain_docs},
        {"q1": [odd, "b"]},
        {"q1": [("b", 1.0), (odd, 2.0)]},
        [("q1", "b", 1.0), ("q1", odd, 2.0), (odd, "b", 1.0)],
        [{"query_id": "q1", "doc_id": "b", "score": 1.0}, {"query_id": "q1", "doc_id": odd, "score": 2.0}],
    ):
        native, numpy = both_paths(lambda: values(grades, run))  # noqa: B023
        assert numpy == native
        native, numpy = both_paths(lambda: values(run, grades))  # noqa: B023
        assert numpy == native


@pytest.mark.parametrize(
    ("odd", "why"),
    [("", "is empty"), ("\ud800", r"'\ud800' contains a lone surrogate (half a character)")],
    ids=["empty", "half a character"],
)
def test_ids_that_no_file_can_hold_are_refused(odd: str, why: str) -> None:
    shown = odd and r"\ud800"
    for query in ("q1", "unjudged"):
        native, numpy = both_paths(lambda: values(GRADES, {"q1": {"a": 1.0}} | {query: {"a": 1.0, odd: 2.0}}))  # noqa: B023
        assert numpy == native
        assert native[1] == (
            f"run: document id {why} (query {query}, document {shown}). "
            "Ids must be non-empty text or whole numbers: fix or remove these rows."
        )


ODD_VALUES = [
    *(
        float("nan"),
        float("inf"),
        -float("inf"),
        -0.0,
        5e-324,
        1.7976931348623157e308,
        10**400,
        10**5000,
        2**70,
        True,
        np.bool_(True),
    ),
    *(Decimal("1.5"), Decimal("nan"), Decimal("1e999"), Fraction(1, 3), np.float16(1), np.longdouble("1e400")),
    *("1", "", None, b"1", 1j, [1.0], (), np.array(1.0), np.array([1.0]), np.datetime64("2020-01-01"), object),
]


@pytest.mark.parametrize("odd", ODD_VALUES, ids=lambda odd: f"{type(odd).__name__}-{show_value(odd)[:9]}")
def test_odd_scores_and_grades_mean_the_same_on_both_paths(odd: Any) -> None:
    grades = {"q1": {"b": 1, "c": 0}, "q2": {"a": 1}}
    for numbers in (
        {"q1": {"b": 1.0, "c": odd}},
        {"q1": {"b": odd, **{f"filler{at}": -1.0 * at for at in range(50)}}},
        {"q1": {"b": 1.0}, "unjudged": {"c": odd}},
        {"q1": [("b", 1.0), ("c", odd)]},
        [("q1", "b", 1.0), ("q1", "c", odd)],
        [{"query_id": "q1", "doc_id": "b", "rank": odd}],
    ):
        native, numpy = both_paths(lambda: values(grades, numbers))  # noqa: B023
        assert numpy == native
        native, numpy = both_paths(lambda: values(numbers, grades))  # noqa: B023
        assert numpy == native


def test_generators_are_read_once() -> None:
    def rows() -> Iterator[tuple[str, str, float]]:
        yield from (("q1", "b", 1.0), ("q1", "a", 2.0))

    native, numpy = both_paths(lambda: values(GRADES, {"q1": (doc for doc in "ba")}))
    assert numpy == native
    native, numpy = both_paths(lambda: values(GRADES, rows()))
    assert numpy == native


# Tables


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float32, ">f8"])
def test_tables_with_scores_of_another_type(kind: Any) -> None:
    """A table is made by hand, or by replacing a column of another."""
    run = Run.from_columns(["q1"] * 4, ["a", "b", "é", "x"], [-3, 1, -2, 256], rank=[1, 2, 3, 4])

    native, numpy = both_paths(lambda: hits(GRADES, replace(run, score=run.score.astype(kind))))
    assert numpy == native


@pytest.mark.parametrize("kind", [np.int32, np.float64, ">i8"])
def test_tables_with_ranks_of_another_type(kind: Any) -> None:
    run = Run.from_columns(["q1"] * 4, ["a", "b", "é", "x"], [1, 1, 1, 1], rank=[256, -2, 3, -1])

    native, numpy = both_paths(
        lambda: hits(GRADES, replace(run, rank=run.rank.astype(kind)), Rules(order="rank"))  # type: ignore[union-attr]
    )
    assert numpy == native


@pytest.mark.parametrize("length", [1, 2, 5])
def test_tables_with_documents_that_are_no_objects(length: int) -> None:
    """NumPy strings are not Python objects; two characters are as wide as a pointer. Could crash: runs in a subprocess."""
    code = (
        "import numpy as np; from assay import Run, judge, Qrels; "
        f"docs = np.array(['a' * {length}, 'b' * {length}]); "
        "run = Run(('q',), np.array([0, 0]), docs, np.array([1.0, 2.0])); "
        f"print(judge(Qrels.from_columns(['q'], ['a' * {length}], [1]), run).hit_rank.tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (0, "[2]\n") == (done.returncode, done.stdout), done.stderr


def test_tables_that_are_views() -> None:
    """Every other row of a table, and rows from the last to the first."""
    run = Run.from_columns(["q1"] * 6, list("abcdéx"), [1, 1, 2, 3, 1, 1], rank=[6, 5, 4, 3, 2, 1])
    for step in (2, -1, -2):
        part = replace(
            run, query=run.query[::step], doc=run.doc[::step], score=run.score[::step], rank=run.rank[::step]
        )  # type: ignore[index]
        for rules in (Rules(), Rules(order="rank"), Rules(ties="input")):
            native, numpy = kernel_and_numpy(lambda: hits(GRADES, part, rules))  # noqa: B023
            assert numpy == native


def test_a_table_may_name_queries_without_rows() -> None:
    run = Run(("q1", "q2", "x"), np.zeros(1, np.int64), np.array(["a"], object), np.ones(1))

    for queries in ("judged", "both", "strict"):
        native, numpy = both_paths(lambda: hits(GRADES, run, Rules(queries=queries)))  # noqa: B023
        assert numpy == native


def test_judgments_may_name_queries_without_rows() -> None:
    qrels = Qrels(("a", "q1", "z"), np.array([1, 1]), np.array(["a", "b"], object), np.ones(2))

    native, numpy = kernel_and_numpy(lambda: hits(qrels, {"q1": {"a": 1.0, "b": 1.0}, "z": {"a": 1.0}}))
    assert numpy == native


# The replacement for pytrec_eval

FAMILIES = {"map", "ndcg_cut", "recip_rank", "P_5", "bpref", "num_ret", "infAP", "gm_map", "set_F", "Rprec"}


def face(grades: Any, run: Any, **options: Any) -> Any:
    return pytrec_eval.RelevanceEvaluator(grades, FAMILIES, **options).evaluate(run)


@settings(max_examples=120)
@given(
    case=graded_cases(scores=st.sampled_from([0.1, 0.10000000001, 1.0, -2.0, 1e39, 2e39, 1e-46])), only=st.booleans()
)
def test_the_face_of_pytrec_eval(case: Any, only: bool) -> None:
    native, numpy = kernel_and_numpy(lambda: face(case.grades, case.scores, judged_docs_only_flag=only))

    assert numpy == native


ODD_SCORES = [
    *(
        1,
        True,
        np.float32(1),
        np.bool_(True),
        np.array(1.0),
        10**400,
        float("inf"),
        -float("inf"),
        2.0**200,
        float("nan"),
        np.longdouble("1e400"),
    ),
    *("1", None, [1.0]),
]


@pytest.mark.parametrize("score", ODD_SCORES, ids=lambda score: f"{type(score).__name__}-{str(score)[:9]}")
@pytest.mark.parametrize("query", ["q1", "unjudged"])
def test_the_face_with_any_value_as_a_score(score: Any, query: str) -> None:
    run = deepcopy(RUN)
    run[query]["odd"] = score

    native, numpy = both_paths(lambda: face(GRADES, run))
    assert numpy == native


@pytest.mark.parametrize(
    "run",
    [
        *({"q1": {"\udbff": 1.0, "a": 1.0, chr(0xD800): 1.0}}, {10**5000: {"a": 1.0}}, {"q1": {"a": 10**5000}}),
        *({}, {"q1": {}}, {"q1": {}, "q2": {"c": 1.0}}, {"unjudged": {}}, {"unjudged": {"a": 1.0}, "q2": {"c": 1}}),
        *(
            Frozen(RUN),
            {query: Frozen(docs) for query, docs in RUN.items()},
            {**RUN, "q3": {}},
            {"q1": [1]},
            {"q1": None},
        ),
        *({"q1": {1: 1.0, "1": 2.0}}, {1: {"a": 1.0}, "1": {"a": 1.0}}, {"q1": {"": 1.0, "a": 1.0}}, {"": {"a": 1.0}}),
        *({"q1": {"\ud800": 1.0, "a": 2.0}}, {"q1": {("a",): 1.0}}, {None: {"a": 1.0}}, {**RUN, "\ud800": {"a": 1.0}}),
        {np.str_("q1"): {np.str_("a"): 1.0}},
    ],
    ids=show_value,
)
def test_the_face_with_any_shape_of_dicts(run: Any) -> None:
    native, numpy = both_paths(lambda: face(GRADES, run))

    assert numpy == native


@pytest.mark.parametrize(
    "grades", [{"\ud800": {"a": 1}, "q1": {"a": 1}}, {10**5000: {"a": 1}}, {"q1": {"a": 10**5000}}], ids=[0, 1, 2]
)
def test_the_face_with_ids_that_no_file_can_hold(grades: Any) -> None:
    native, numpy = both_paths(lambda: face(grades, RUN))

    assert numpy == native


def test_the_face_changes_nothing_and_can_be_used_again() -> None:
    evaluator, run = pytrec_eval.RelevanceEvaluator(GRADES, FAMILIES), deepcopy(RUN)
    first, again = evaluator.evaluate(run), evaluator.evaluate(run)

    assert RUN == run
    assert first == again


def test_an_evaluator_takes_one_dict_after_the_other() -> None:
    """The tables of judged documents are built when a query first needs them, and reused for all runs."""
    grades = {"q1": {f"d{n}": n % 3 for n in range(40)}, "q2": {"é": 1, "\udcff": 2, "a": 0}, "q3": {"z": 1}}
    runs: list[dict[str, dict[str, float]]] = [
        {"q1": {f"d{n}": 1.0 * (n % 7) for n in range(60)}},
        {"q2": {"\udcff": 1.0, "é": 1.0, "b": 3.0}, "q1": {"d1": 1.0}},
        {"q1": {f"d{n}": -1.0 * n for n in range(2000)}, "q3": {"y": 1.0}},
        {"q1": {"".join(("d", str(n))): 1.0 for n in range(50)}},
    ]
    native, numpy = kernel_and_numpy(lambda: [values(grades, run).mean() for run in runs])
    evaluator = Evaluator(grades, MEASURES)
    with_one = plain([evaluator.evaluate(run).mean() for run in runs])

    assert numpy == native == with_one


def test_the_tables_go_with_their_evaluator() -> None:
    evaluator = Evaluator({"q1": {f"d{n}": 1 for n in range(40)}}, ["P@10"])
    docs, alone = evaluator.judgments.doc_list, 2  # a name, and the argument
    held = sys.getrefcount(docs)
    evaluator.evaluate({"q1": {f"d{n}": 1.0 * n for n in range(50)}})
    assert held < sys.getrefcount(docs)

    del evaluator
    gc.collect()
    assert alone == sys.getrefcount(docs)
