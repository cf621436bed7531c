"""Functions that search, and several runs at once."""

from __future__ import annotations

import functools
import io
from pathlib import Path

import numpy as np
import pandas
import pytest

import assay
from assay import Run, Study, compare, evaluate, evaluate_runs, fuse
from assay.asking import is_retriever
from assay.errors import InputError, RetrievalError

QRELS = {"q1": ["a"], "q2": ["b"]}
TEXTS = {"q1": "what is a", "q2": "what is b", "q3": "never judged"}


def retrieve(text: str) -> list[str]:
    """The documents x and, second, the last word."""
    return ["x", text.rpartition(" ")[2]]


def refusal(call, kind: type[Exception] = InputError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


# Retrievers


def test_a_function_is_asked_for_each_judged_query_and_no_other() -> None:
    asked = []

    def noted(text: str) -> list[str]:
        asked.append(text)
        return retrieve(text)

    result = evaluate(QRELS, noted, ["RR"], queries=TEXTS)

    assert ["what is a", "what is b"] == asked
    assert ({"RR": 0.5}, "noted") == (result.mean(), result.run)
    assert () == result.coverage.unjudged


@pytest.mark.parametrize(
    "answer",
    [
        ["x", "a"],
        ("x", "a"),
        {"x": 2.0, "a": 1.0},
        [("x", 2.0), ("a", 1.0)],
        [{"id": "x", "score": 2.0}, {"id": "a", "score": 1.0}],
        pandas.Series([2.0, 1.0], index=["x", "a"]),
    ],
)
def test_it_answers_in_any_shape(answer) -> None:
    assert {"RR": 0.5} == evaluate({"q1": {"a"}}, lambda _: answer, ["RR"], queries=TEXTS).mean()


def test_it_may_answer_bit_by_bit() -> None:
    def bit_by_bit(text: str):
        yield from retrieve(text)

    assert {"RR": 0.5} == evaluate(QRELS, bit_by_bit, ["RR"], queries=TEXTS).mean()


def test_it_may_find_nothing_for_some_queries() -> None:
    result = evaluate(QRELS, lambda text: ["a"] if text.endswith("a") else [], ["RR"], queries=TEXTS)

    assert ({"RR": 0.5}, ("q2",)) == (result.mean(), result.coverage.missing)


def test_it_may_not_find_nothing_at_all() -> None:
    assert "run: no query has a document" == refusal(lambda: evaluate(QRELS, lambda _: [], queries=TEXTS))


def test_texts_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text("q1\twhat is a\nq2\twhat is b\n")

    assert {"RR": 0.5} == evaluate(QRELS, retrieve, ["RR"], queries=path).mean()


def test_what_is_asked_need_not_be_text() -> None:
    assert {"RR": 1.0} == evaluate(
        {7: ["a"]}, lambda vector: ["a"] * vector[0], ["RR"], queries={7: np.array([1, 0])}
    ).mean()


def test_names_of_runs() -> None:
    def name_of(run, **options) -> str:
        return evaluate(QRELS, run, ["RR"], queries=TEXTS, **options).run

    assert "retrieve" == name_of(retrieve)
    assert "run" == name_of(lambda text: [*retrieve(text)]) == name_of(functools.partial(retrieve))
    assert "bm25" == name_of(retrieve, name="bm25")


def test_texts_that_are_missing_are_named() -> None:
    assert "a function that searches needs the texts of the queries; give them with `queries=`." == refusal(
        lambda: evaluate(QRELS, retrieve)
    )
    assert (
        "1 of 2 judged queries has no text in `queries=` (first: q2). Add their texts, or leave them out of the qrels."
    ) == refusal(lambda: evaluate(QRELS, retrieve, queries={"q1": "what is a", "q2": ""}))
    assert refusal(lambda: evaluate(QRELS, retrieve, queries=["q1", "q2"])).startswith(
        "2 of 2 judged queries have no text"
    )
    assert (
        "cannot read a value of type int as queries: pass a path, a dict {query: text}, or a list of ids."
        == refusal(lambda: evaluate(QRELS, retrieve, queries=7))  # type: ignore[arg-type]
    )


def test_an_exception_names_the_query() -> None:
    def fails(text: str) -> list[str]:
        return [text.split()[5]]

    def fails_later(text: str):
        yield text.split()[5]

    for run in (fails, fails_later):
        with pytest.raises(RetrievalError) as caught:
            evaluate(QRELS, run, queries=TEXTS)
        assert "the retriever failed for query q1: IndexError: list index out of range" == str(caught.value)
        assert isinstance(caught.value.__cause__, IndexError)


def test_an_answer_of_another_shape_names_the_query() -> None:
    assert refusal(lambda: evaluate(QRELS, len, queries=TEXTS)).startswith(
        "run: the value of query q1 has the type int; expected {document: score}, a list of documents, best first,"
    )


def test_texts_that_no_run_would_use_are_refused() -> None:
    class Store:
        def search(self, text: str) -> list[str]:
            return retrieve(text)

    assert (
        "`queries=` is for a run that is a function of the query's text, or for files; these are neither, so leave it out."
        == refusal(lambda: evaluate(QRELS, {"q1": ["a"]}, queries=TEXTS))
        == refusal(lambda: evaluate_runs(QRELS, {"a": {"q1": ["a"]}}, queries=TEXTS))
    )
    assert "`queries=` needs a run that is a function; pass the method that searches, such as run.search." == refusal(
        lambda: evaluate(QRELS, Store(), queries=TEXTS)  # type: ignore[arg-type]
    )
    assert {"RR": 0.5} == evaluate(QRELS, Store().search, ["RR"], queries=TEXTS).mean()


def test_data_is_never_called() -> None:
    class CallableFrame(pandas.DataFrame):
        def __call__(self, text: str) -> None:
            raise AssertionError

    class CallableDict(dict):
        def __call__(self, text: str) -> None:
            raise AssertionError

    frame = CallableFrame({"qid": ["q1"], "docno": ["a"], "score": [1.0]})
    for run in (frame, CallableDict({"q1": {"a": 1.0}})):
        assert not is_retriever(run)
        assert {"RR": 0.5} == evaluate(QRELS, run, ["RR"]).mean()
    assert not is_retriever(io.StringIO("q1 Q0 a 1 1 x"))


# Several runs


def test_evaluations_are_by_name_and_in_order(tmp_path: Path) -> None:
    path = tmp_path / "zebra.run"
    path.write_text("q1 Q0 a 1 1 x\nq2 Q0 b 1 1 x\n")
    found = evaluate_runs(QRELS, {"z": retrieve, "b": path, "a": {"q1": ["a"]}}, ["RR"], queries=TEXTS)

    assert {"z": 0.5, "b": 1.0, "a": 0.5} == {name: each.mean()["RR"] for name, each in found.items()}
    assert ["z", "b", "a"] == [each.run for each in found.values()]
    assert ["zebra", "run 2", "retrieve"] == list(
        evaluate_runs(QRELS, [path, {"q1": ["a"]}, retrieve], ["RR"], queries=TEXTS)
    )


def test_options_are_those_of_evaluate() -> None:
    run = {"q1": [("x", 1), ("a", 1)]}
    for options in ({}, {"rules": {"ties": "doc-asc"}}, {"like": "beir"}, {"unmatched": "zero"}):
        one = evaluate({"q1": [("a", "E")]}, run, ["RR@10"], grades={"E": 2}, **options)  # type: ignore[arg-type]
        among = evaluate_runs({"q1": [("a", "E")]}, {"run": run}, ["RR@10"], grades={"E": 2}, **options)  # type: ignore[arg-type]

        assert one.mean() == among["run"].mean()


def test_judgments_are_read_once() -> None:
    qrels = iter([("q1", "a", 1), ("q2", "b", 1)])

    assert 2 == len(evaluate_runs(qrels, [{"q1": ["a"]}, {"q2": ["b"]}], ["RR"]))


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (
            [{"q1": ["a"]}, Run.from_columns(["q1"], ["a"], [1.0], name="run 1")],
            "two runs are called 'run 1'; give them",
        ),
        (
            {1: {"q1": ["a"]}, "1": {"q1": ["a"]}},
            "two runs are called '1'; give them different names: {'a': run, 'b': run}.",
        ),
        ("a.run", "expected several runs; give a list, or a dict by name."),
        (Run.from_columns(["q1"], ["a"], [1.0]), "expected several runs; give a list, or a dict by name."),
        (pandas.DataFrame({"qid": ["q"]}), "expected several runs; give a list, or a dict by name."),
        ([], "there are no runs; give a list, or a dict by name."),
        (
            {"q1": {"a": 1.0}},
            "this is one run; give several in a list, or in a dict by name: {'bm25': run, 'new': run}.",
        ),
        (
            {"q1": ["a", "b"]},
            "this is one run; give several in a list, or in a dict by name: {'bm25': run, 'new': run}.",
        ),
        (
            [("q1", "a", 1.0)],
            "this is one run; give several in a list, or in a dict by name: {'bm25': run, 'new': run}.",
        ),
        ([{"qid": "q1", "docno": "a", "score": 1}], "this is one run; give several in a list, or in a dict by name:"),
    ],
)
def test_what_is_not_several_runs(runs, message: str) -> None:
    assert refusal(lambda: evaluate_runs(QRELS, runs, ["RR"])).startswith(message)
    assert refusal(lambda: compare(QRELS, runs, ["RR"])).startswith(message)


def test_comparisons_take_the_same_runs() -> None:
    old = {query: ["x", doc] for query, (doc,) in QRELS.items()}
    found = compare(QRELS, {"old": old, "new": retrieve}, ["RR"], queries=TEXTS, study=Study(test="sign"))

    assert (("old", "new"), 0.0, 2) == (found.scores.systems, found.pairs[0].difference, found.pairs[0].ties)
    assert "what is a" == found.texts["q1"]
    by_length = compare(QRELS, {"old": old, "new": old}, ["RR"], queries=TEXTS, segments="length", minimum_segment=2)
    assert 1 == len(by_length.segments)


# Everything else that takes runs


def test_fusion_takes_the_same_runs(tmp_path: Path) -> None:
    path = tmp_path / "one.run"
    path.write_text("q Q0 a 1 9 x\nq Q0 b 2 8 x\n")
    expected = fuse([Run.from_columns(["q", "q"], ["a", "b"], [9.0, 8.0]), Run.from_columns(["q"], ["b"], [1.0])])
    for one in (path, {"q": ["a", "b"]}, [("q", "a", 9), ("q", "b", 8)], {"q": [("a", 9), ("b", 8)]}):
        for runs in ([one, {"q": ["b"]}], {"one": one, "two": {"q": ["b"]}}):
            fused = fuse(runs)
            assert (["b", "a"], expected.score.tolist()) == (fused.doc.tolist(), fused.score.tolist())


def test_a_list_without_scores_is_scored_by_rank() -> None:
    fused = fuse([{"q": ["a", "b"]}], "combsum")

    assert {"a": -1.0, "b": -2.0} == dict(zip(fused.doc.tolist(), fused.score.tolist(), strict=True))


def test_chunks_of_any_shape_are_collapsed() -> None:
    assert ["a", "b"] == assay.collapse({"q": ["a#1", "b#1", "a#2"]}, r"(.+)#").doc.tolist()


@pytest.mark.parametrize(
    ("runs", "systems"),
    [
        ({"q1": ["a", "x"]}, ("run",)),
        ({"q1": [("a", 2.0)]}, ("run",)),
        ([("q1", "a", 2.0)], ("run",)),
        ({"bm25": {"q1": ["a", "x"]}}, ("bm25",)),
        ({"bm25": [("q1", "a", 2.0)], "new": {"q1": {"a": 1.0}}}, ("bm25", "new")),
    ],
)
def test_a_diagnosis_tells_one_run_from_several(runs, systems: tuple[str, ...]) -> None:
    assert systems == assay.diagnose({"q1": ["a"]}, runs, ["P@2"], only=["labels"]).systems


def test_conventions_and_published_numbers_take_the_same_values() -> None:
    qrels, run = {"q1": {"a"}}, {"q1": ["x", "a"]}

    assert {0.5} == {row.value for row in assay.compare_conventions(qrels, run, ["RR"]) if row.value is not None}
    assert 1 <= assay.reproduce("0.5", qrels, run, ["RR"]).matches
    assert not [finding for finding in assay.validate_run(run, qrels=qrels).findings if finding.severity == "error"]
