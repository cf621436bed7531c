"""What Python programs have: lists, sets, pairs, hits, rows, series and open files."""

from __future__ import annotations

import bz2
import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import pytrec_eval

from assay import Rules, evaluate
from assay.errors import DuplicateError
from assay.formats import as_qrels, as_run
from assay.formats.readings import Reading
from reading.rows import listed, qrels_rows, refusal, run_rows

# The same ranking in every shape that a query may have; b is best.
RANKED: dict[str, Any] = {
    "list": ["b", "a"],
    "tuple": ("b", "a"),
    "generator": (doc for doc in "ba"),
    "keys": {"b": 1, "a": 2}.keys(),
    "numpy": np.array(["b", "a"]),
    "objects": np.array(["b", "a"], object),
    "series": pandas.Series(["b", "a"]),
    "filtered series": pandas.Series(["x", "b", "a"])[1:],
    "polars": polars.Series(["b", "a"]),
    "arrow": pyarrow.array(["b", "a"]),
    "ids": [{"id": "b"}, {"id": "a"}],
    "texts": [{"id": "b", "text": "B", "page": 3}, {"id": "a", "text": "A", "page": 1}],
    "ranks": [{"docno": "a", "rank": 2}, {"docno": "b", "rank": 1}],
    "empty scores": [{"id": "b", "score": None}, {"id": "a", "score": None}],
}


class Hit:
    """What a search library returns."""

    def __init__(self, doc: str, score: float) -> None:
        self.id, self.score = doc, score


class Found(NamedTuple):
    docid: str
    score: float


SCORED: dict[str, Any] = {
    "dict": {"a": 8.5, "b": 9.5},
    "pairs": [("a", 8.5), ("b", 9.5)],
    "lists": [["a", 8.5], ["b", 9.5]],
    "items": {"a": 8.5, "b": 9.5}.items(),
    "zip": zip(["a", "b"], np.array([8.5, 9.5]), strict=True),
    "hits": [{"id": "a", "score": 8.5}, {"id": "b", "score": 9.5}],
    "Elasticsearch": [{"_index": "i", "_id": "a", "_score": 8.5}, {"_index": "i", "_id": "b", "_score": 9.5}],
    "texts": [{"id": "a", "document": "A", "score": 8.5}, {"id": "b", "document": "B", "score": 9.5}],
    "document": [{"document": "a", "score": 8.5}, {"document": "b", "score": 9.5}],
    "names": [{"doc_id": "a", "similarity": 8.5, "rank": 1}, {"doc_id": "b", "similarity": 9.5, "rank": 1}],
    "objects": [Hit("a", 8.5), Hit("b", 9.5)],
    "named tuples": [Found("a", 8.5), Found("b", 9.5)],
    "objects and scores": [(Hit("a", 0), 8.5), (Hit("b", 0), 9.5)],
    "series": pandas.Series([8.5, 9.5], index=["a", "b"]),
}


@pytest.mark.parametrize("shape", RANKED)
def test_documents_without_scores_rank_in_their_order(shape: str) -> None:
    run = as_run({"q": RANKED[shape]})

    assert {("q", "b", -1.0), ("q", "a", -2.0)} == set(run_rows(run))
    assert {1, 2} == set(listed(run.rank) or [])


@pytest.mark.parametrize("shape", SCORED)
def test_documents_with_scores_rank_by_score(shape: str) -> None:
    run = as_run({"q": SCORED[shape]})

    assert [("q", "a", 8.5), ("q", "b", 9.5)] == run_rows(run)
    assert run.rank is None


def test_queries_may_have_different_shapes() -> None:
    run = {"q1": ["b", "a"], "q2": {"c": 7.0}, "q3": [("d", 2)], "q4": []}

    assert [("q1", "b", -1.0), ("q1", "a", -2.0), ("q2", "c", 7.0), ("q3", "d", 2.0)] == run_rows(as_run(run))
    assert as_run(run).rank is None


@pytest.mark.parametrize(
    "documents",
    [
        ["a", "b"],
        {"a", "b"},
        frozenset("ab"),
        np.array(["a", "b"]),
        pandas.Series(["a", "b"]),
        {"a": 1, "b": 1},
        [("a", 1), ("b", 1)],
        [{"id": "a", "relevance": 1}, {"id": "b", "relevance": 1}],
        pandas.Series([1, 1], index=["a", "b"]),
    ],
)
def test_all_documents_of_a_list_or_set_are_relevant(documents: Any) -> None:
    assert [("q", "a", 1.0), ("q", "b", 1.0)] == qrels_rows(as_qrels({"q": documents}))


def test_letters_in_pairs_need_a_map() -> None:
    assert [3.0] == as_qrels({"q": [("a", "E")]}, Reading(grades={"E": 3})).rel.tolist()
    assert "qrels: grade 'E' (str) is not a number (query q, document a)." in refusal(
        lambda: as_qrels({"q": [("a", "E")]})
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_ranking_scores_the_same_in_every_shape_and_in_pytrec_eval(seed: int) -> None:
    generator = random.Random(seed)
    docs = [f"d{number}" for number in range(30)]
    ranked = {f"q{query}": generator.sample(docs, 20) for query in range(8)}
    relevant = {query: set(generator.sample(docs, 6)) for query in ranked}
    falling = {query: {doc: 20.0 - place for place, doc in enumerate(found)} for query, found in ranked.items()}
    graded = {query: dict.fromkeys(found, 1) for query, found in relevant.items()}
    theirs = pytrec_eval.RelevanceEvaluator(graded, {"map", "ndcg_cut_10"}).evaluate(falling)
    shapes: list[Any] = [
        ranked,
        {query: list(found.items()) for query, found in falling.items()},
        {query: [{"id": doc, "score": score} for doc, score in found.items()] for query, found in falling.items()},
        [(query, doc, score) for query, found in falling.items() for doc, score in found.items()],
    ]

    for run in shapes:
        ours = evaluate(relevant, run, ["AP", "nDCG@10"]).per_query()
        assert {query: (row["map"], row["ndcg_cut_10"]) for query, row in theirs.items()} == {
            query: tuple(row.values()) for query, row in ours.items()
        }


# Duplicates and empty lists


def test_a_document_twice_in_a_list_follows_the_rule() -> None:
    twice = {"q": ["x", "a", "x"]}
    with pytest.raises(DuplicateError, match="run: document x is retrieved more than once for query q"):
        evaluate({"q": ["a"]}, twice, ["RR"])
    with pytest.raises(DuplicateError, match="qrels: document x is judged twice for query q"):
        evaluate(twice, {"q": ["a"]}, ["RR"])

    assert {"RR": 0.5} == evaluate({"q": ["a"]}, twice, ["RR"], rules=Rules(duplicates="first")).mean()


@pytest.mark.parametrize("nothing", [[], (), {}, np.array([])])
def test_a_query_without_documents_counts_as_zero(nothing: Any) -> None:
    result = evaluate({"q1": ["a"], "q2": ["a"]}, {"q1": ["a"], "q2": nothing}, ["RR"])

    assert ({"RR": 0.5}, ("q2",)) == (result.mean(), result.coverage.missing)


@pytest.mark.parametrize("nothing", [[], set(), {}])
def test_a_query_without_judgments_is_not_judged(nothing: Any) -> None:
    assert ("q1",) == as_qrels({"q1": ["a"], "q2": nothing}).queries
    assert refusal(lambda: as_qrels({"q2": nothing})) in ("qrels: the dict is empty", "qrels: no query has a document")


# Rows


def rows_of(kind: str) -> dict[str, Any]:
    value = "relevance" if kind == "qrels" else "score"
    records = [{"qid": "q", "docno": "a", value: 2}, {"qid": "q", "docno": "b", value: 1}]
    named = ir_measures.Qrel if kind == "qrels" else ir_measures.ScoredDoc
    return {
        "records": records,
        "text": [{name: str(cell) for name, cell in record.items()} for record in records],  # of csv.DictReader
        "tuples": [("q", "a", 2), ("q", "b", 1)],
        "lists": [["q", "a", "2"], ["q", "b", "1"]],  # of csv.reader
        "generator": (row for row in [("q", "a", 2), ("q", "b", 1)]),
        "ir_measures": [named("q", "a", 2), named("q", "b", 1)],
        "ir_measures, generator": (named("q", doc, value) for doc, value in (("a", 2), ("b", 1))),
    }


@pytest.mark.parametrize("shape", rows_of("run"))
def test_rows_for_all_queries(shape: str) -> None:
    expected = [("q", "a", 2.0), ("q", "b", 1.0)]

    assert expected == run_rows(as_run(rows_of("run")[shape]))
    assert expected == qrels_rows(as_qrels(rows_of("qrels")[shape]))


def test_objects_of_ir_measures_score_as_there() -> None:
    qrels = [ir_measures.Qrel("q1", "a", 2), ir_measures.Qrel("q1", "b", 1), ir_measures.Qrel("q2", "c", 1)]
    run = [
        ir_measures.ScoredDoc("q1", "b", 2.0),
        ir_measures.ScoredDoc("q1", "a", 1.0),
        ir_measures.ScoredDoc("q2", "x", 1.0),
    ]
    measures = [ir_measures.nDCG @ 10, ir_measures.AP]
    theirs = ir_measures.calc_aggregate(measures, qrels, run)

    assert [theirs[measure] for measure in measures] == list(
        evaluate(iter(qrels), iter(run), ["nDCG@10", "AP"]).mean().values()
    )


def test_iterations_of_named_tuples_are_kept() -> None:
    qrels = as_qrels([ir_measures.Qrel("q", "a", 1, "2"), ir_measures.Qrel("q", "a", 1, "3")])

    assert ["2", "3"] == listed(qrels.iteration)


# Frames indexed by query and document

FRAME = pandas.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0], "rel": [2, 1]})


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.set_index(["qid", "docno"]),
        FRAME.set_index(["qid", "docno"]).rename_axis([None, None]),
        FRAME.set_index("qid"),
        FRAME.set_index("docno"),
        FRAME.set_index(["qid", "docno"], drop=False),
        FRAME.set_index(["docno", "qid"]),
        FRAME[1:].set_index("qid", append=True).combine_first(FRAME.set_index("qid", append=True)),
    ],
)
def test_an_index_may_hold_queries_and_documents(frame: pandas.DataFrame) -> None:
    assert [("q", "a", 2.0), ("q", "b", 1.0)] == run_rows(as_run(frame)) == qrels_rows(as_qrels(frame))
    assert {"RR": 1.0} == evaluate(frame, frame, ["RR"]).mean()


def test_a_series_indexed_by_query_and_document() -> None:
    best = FRAME.groupby(["qid", "docno"])["score"].max()

    assert [("q", "a", 2.0), ("q", "b", 1.0)] == run_rows(as_run(best)) == qrels_rows(as_qrels(best))
    assert {"RR": 1.0} == evaluate(best, best.rename(None), ["RR"]).mean()


@pytest.mark.parametrize("series", [FRAME["score"], polars.Series([1.0])])
def test_a_series_without_such_an_index_is_refused(series: Any) -> None:
    assert (
        "run: a Series needs an index of query and document, as from frame.set_index(['query_id', 'doc_id'])['score']. "
        "Pass the whole frame, or a dict by query."
    ) == refusal(lambda: as_run(series))


# Open files

TREC = "q Q0 a 1 2 x\nq Q0 b 2 1 x\n"


@pytest.mark.parametrize(
    ("opener", "suffix", "mode"),
    [
        (open, "", "r"),
        (open, "", "rb"),
        (gzip.open, ".gz", "rb"),
        (gzip.open, ".gz", "rt"),
        (open, ".gz", "rb"),
        (open, ".bz2", "rb"),
    ],
)
def test_open_files_are_read_and_name_the_run(
    tmp_path: Path, opener: Callable[[str, str], Any], suffix: str, mode: str
) -> None:
    path = tmp_path / "bm25.run"
    path.write_text(TREC)
    (tmp_path / "bm25.run.gz").write_bytes(gzip.compress(TREC.encode()))
    (tmp_path / "bm25.run.bz2").write_bytes(bz2.compress(TREC.encode()))

    with opener(f"{path}{suffix}", mode) as file:
        result = evaluate({"q": ["b"]}, file, ["RR"])
        assert not file.closed
    assert ("bm25", {"RR": 0.5}) == (result.run, result.mean())


@pytest.mark.parametrize(
    "text", [TREC, '{"q": {"a": 2, "b": 1}}', "qid,docno,score\nq,a,2\nq,b,1\n", "q\ta\t1\nq\tb\t2\n"]
)
def test_files_in_memory_have_any_format(text: str) -> None:
    for file in (io.StringIO(text), io.BytesIO(text.encode()), io.BytesIO(gzip.compress(text.encode()))):
        assert ["a", "b"] == as_run(file).doc.tolist()
    assert "run" == as_run(io.StringIO(text)).name
    assert "new" == as_run(io.StringIO(text), name="new").name


def test_qrels_may_be_an_open_file() -> None:
    assert [("é", "ü", 3.0)] == qrels_rows(as_qrels(io.StringIO("é 0 ü E\n"), Reading(grades={"E": 3})))


def test_large_text_files_are_read_whole() -> None:
    text = "".join(f"q{row // 1000} Q0 dé{row} 1 {-row} x\n" for row in range(30_000))

    assert [f"dé{row}" for row in range(30_000)] == as_run(io.StringIO(text)).doc.tolist()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(gzip.compress(TREC.encode()))
    with open(path, encoding="utf-8") as file:
        assert f"{path}: the open file cannot be read as utf-8 text: open it with mode 'rb'" == refusal(
            lambda: as_run(file)
        )
    file = io.StringIO(TREC)
    as_run(file)
    assert "run: the open file is at its end; open it again, or go back to its start with .seek(0)" == refusal(
        lambda: as_run(file)
    )
    file.close()
    assert "run: the open file cannot be read: I/O operation on closed file" == refusal(lambda: as_run(file))
    assert "run: no data" in refusal(lambda: as_run(io.StringIO("")))
    with open(path, "ab") as file:
        assert "cannot be read" in refusal(lambda: as_run(file))


# What is refused

OF_A_RUN = (
    "expected {document: score}, a list of documents, best first, or a list of (document, score) or of hits with an id "
    "and a score."
)
OF_QRELS = (
    "expected {document: grade}, a list or set of the relevant documents, or a list of (document, grade) or of records "
    "with a document and a grade."
)


async def later(text: str) -> list[str]:
    return [text]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (3, f"the value of query q has the type int; {OF_A_RUN}"),
        (None, f"the value of query q has the type NoneType; {OF_A_RUN}"),
        (b"a", f"the value of query q has the type bytes; {OF_A_RUN}"),
        (np.array(3), f"the value of query q has the type int; {OF_A_RUN}"),
        ("a", "the value of query q is text; for one document, pass a list: ['a']."),
        (
            {"a"},
            "the value of query q is a set, which has no order; pass a list of ids, best first, or a dict of scores.",
        ),
        (["a", ("b", 1)], f"the documents of query q are a mix of str, tuple; {OF_A_RUN}"),
        ([("a", 1, 2)], "item 1 of query q has 3 values; expected (document, score)."),
        ([{"name": "a"}], "item 1 of query q has no document id, only name; accepted names: docno, "),
        ([object()], "item 1 of query q (object) has no document id; accepted names: docno, "),
        ([0.5], "document id 0.5 is a float (query q, document 0.5). Ids must be non-empty text or whole numbers"),
        ([(0.5, "a")], "document id 0.5 is a float (query q, document 0.5)."),
        ([("a", "0.5")], "score '0.5' (str) is not a number (query q, document a)."),
        ([{"id": "a", "score": 1}, {"id": "b"}], "score None (NoneType) is not a number (query q, document b)."),
        ([{"id": "a", "rank": 0}], "rank '0' is not a positive whole number (query q, document a)."),
        ([{"id": "a", "rank": 1}, {"id": "b"}], "rank is missing (query q, document b)."),
        ([Hit("", 1.0)], "document id is empty"),
        (
            [{"id": "a", "relevancy": 0.5}],
            "the hits of query q have no score, but a number called relevancy. Rename it to score, or pass a list of ids, "
            "best first.",
        ),
        (
            pandas.Series([8, 9], index=[3, 4]),
            "the Series of query q has whole numbers both as index and as values. Pass .tolist() if the values are ids, "
            ".to_dict() if they are scores.",
        ),
    ],
)
def test_documents_that_cannot_be_read_are_named_with_their_query(documents: Any, message: str) -> None:
    assert refusal(lambda: as_run({"q": documents})).startswith(f"run: {message}")


def test_coroutines_are_explained() -> None:
    message = refusal(lambda: as_run({"q": later("a")}))

    assert message.startswith("run: the value of query q has the type coroutine;")
    assert message.endswith(" To await it, pass lambda text: asyncio.run(retrieve(text)).")


def test_qrels_that_cannot_be_read() -> None:
    assert f"qrels: the value of query q has the type int; {OF_QRELS}" == refusal(lambda: as_qrels({"q": 1}))
    assert "qrels: the records of query q have no grade; accepted names: relevance, rel, label, grade, " in refusal(
        lambda: as_qrels({"q": [{"id": "a"}]})
    )
    assert "qrels: these are the documents of a run, not judgments. Are qrels and run swapped?" == refusal(
        lambda: as_qrels([ir_measures.ScoredDoc("q", "a", 2.0)])
    )


def test_a_dict_of_columns_is_not_read_as_queries() -> None:
    assert "run: this is a dict of columns. Make it a data frame: pandas.DataFrame(value)." == refusal(
        lambda: as_run({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0.1, 0.2], "cannot read a list of float as a run: pass a path or an open file, a dict by query"),
        (["d1", "d2"], "cannot read a list of str as a run: pass a path"),
        ({"d1", "d2"}, "cannot read a set of str as a run: pass a path"),
        (np.array([1]), "cannot read a value of type ndarray as a run: pass a path"),
        ([], "run: the list is empty"),
        ([("q", "a")], "run: row 1 has 2 values; expected (query, document, score)."),
        ([("q", "a", 1), 3], "run: row 2 is a int; expected (query, document, score)."),
        ([("q", "a", "x")], "run: score 'x' is not a number (row 1, query q, document a)."),
        (
            [{"qid": "q", "docno": "a", "score": 1}, {"qid": "q"}],
            "run: record 2 has no 'docno'. All records need the same",
        ),
        (
            [{"qid": "q", "docno": "a", "score": 1}, 3],
            "run: record 2 is not a record. All records need the same fields.",
        ),
        ([{"docno": "a", "score": 1}], "run: no query column; the columns are docno, score."),
        (
            [ir_measures.Qrel("q", "a", 1)],
            "run: no score column; the columns are query_id, doc_id, relevance, iteration.",
        ),
    ],
)
def test_values_of_another_shape_are_answered_with_what_is_taken(value: Any, message: str) -> None:
    assert refusal(lambda: as_run(value)).startswith(message)


def test_objects_that_search_are_answered_with_their_method() -> None:
    class Store:
        def invoke(self, text: str) -> list[str]:
            return [text]

    assert refusal(lambda: as_run(Store())).endswith(  # type: ignore[arg-type]
        "or a Run. If it searches, pass its method to evaluate, with `queries=`: value.invoke."
    )
    assert refusal(lambda: as_run(Store().invoke)).endswith(  # type: ignore[arg-type]
        "or a Run. Functions that search are taken by evaluate and compare, with `queries=`."
    )
