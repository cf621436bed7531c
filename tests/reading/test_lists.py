"""The documents of each query as a list: one record per query, or an object with a list for each query."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import evaluate
from assay.formats import parse_qrels, parse_run
from reading.rows import listed, qrels_rows, refusal, run_rows

ROWS = [("q1", "b", 9.5), ("q1", "a", 8.25), ("q2", "c", -0.5)]
RANKED = [("q1", "b", -1.0), ("q1", "a", -2.0), ("q2", "c", -1.0)]
LIST_NAMES = (
    *("hits", "results", "candidates", "retrieved", "ranking", "documents", "docs", "passages", "ctxs", "doc_ids"),
    *("retrieved_docs", "retrievedDocuments", "retrieved_ids", "Retrieved doc IDs", "response"),
)
ID_NAMES = ("id", "_id", "doc_id", "docid", "docno", "pid", "passage_id", "chunk_id", "document_id", "doc", "document")


def lines(*records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize("name", LIST_NAMES)
def test_the_list_is_found_by_its_name(name: str) -> None:
    first = {"query_id": "q1", name: [{"id": "b", "score": 9.5, "title": "x"}, {"id": "a", "score": 8.25, "title": ""}]}
    second = {"query_id": "q2", name: [{"id": "c", "score": -0.5, "title": None}]}

    assert ROWS == run_rows(parse_run(lines(first, second)))
    assert ROWS == run_rows(parse_run(json.dumps([first, second], indent=1)))


@pytest.mark.parametrize("name", ID_NAMES)
def test_the_id_of_a_document_is_found_by_its_name(name: str) -> None:
    assert [("1", "7", 2.0)] == run_rows(parse_run(lines({"qid": 1, "hits": [{name: 7, "score": 2, "text": "x"}]})))


def test_an_id_wins_over_a_text() -> None:
    hit = {"doc": "the text", "document": "the text", "id": "d1", "docid": "d2", "score": 1}

    assert [("q", "d2", 1.0)] == run_rows(parse_run(lines({"qid": "q", "hits": [hit]})))


@pytest.mark.parametrize("query", [{"query_id": "q1"}, {"qid": "q1"}, {"id": "q1"}, {"query": "q1"}, {"topic": "q1"}])
def test_the_query_is_found_by_its_name(query: dict[str, str]) -> None:
    assert [("q1", "d", 1.0)] == run_rows(parse_run(lines({**query, "hits": [["d", 1]]})))


ITEMS: dict[str, tuple[list[Any], list[Any]]] = {
    "ids": (["b", "a"], ["c"]),
    "objects without scores": ([{"id": "b"}, {"id": "a"}], [{"id": "c"}]),
    "null scores": ([{"id": "b", "score": None}, {"id": "a", "score": None}], [{"id": "c", "score": None}]),
}


@pytest.mark.parametrize("case", ITEMS)
def test_without_scores_the_order_counts(case: str) -> None:
    first, second = ITEMS[case]
    by_record = parse_run(lines({"query_id": "q1", "results": first}, {"query_id": "q2", "results": second}))
    by_query = parse_run(json.dumps({"q1": first, "q2": second}))

    assert (RANKED, [1, 2, 1]) == (run_rows(by_record), listed(by_record.rank))
    assert RANKED == run_rows(by_query)


@pytest.mark.parametrize(
    "record",
    [
        {"hits": [["b", 9.5], ["a", 8.25]]},
        {"hits": {"b": 9.5, "a": 8.25}},
        {"doc_ids": ["b", "a"], "scores": [9.5, 8.25]},
        {"hits": [{"_index": "i", "_id": "b", "_score": 9.5}, {"_index": "i", "_id": "a", "_score": 8.25}]},
    ],
)
def test_scores_stand_beside_ids(record: dict[str, Any]) -> None:
    assert ROWS[:2] == run_rows(parse_run(lines({"query_id": "q1", **record})))


def test_an_object_of_scores_has_no_order() -> None:
    run = parse_run(lines({"query_id": "q1", "hits": {"a": 8.25, "b": 9.5}}))

    assert {"RR": 1.0} == evaluate({"q1": {"b": 1}}, run, ["RR"]).mean()


def test_rank_llm_is_read() -> None:
    """The fields of its Query and Candidate (src/rank_llm/data.py), as its DataWriter writes JSON Lines and JSON."""
    first = {
        "query": {"text": "how long is life cycle of flea", "qid": 264014},
        "candidates": [
            {"docid": "4834547", "score": 14.97, "doc": {"contents": "The life cycle of a flea"}},
            {"docid": "6641238", "score": 15.0e-1, "doc": {"contents": "x"}},
        ],
    }
    second = {"query": {"text": "x", "qid": "7"}, "candidates": [{"docid": 3, "score": 1, "doc": {}}]}
    rows = [("264014", "4834547", 14.97), ("264014", "6641238", 1.5), ("7", "3", 1.0)]

    assert rows == run_rows(parse_run(lines(first, second)))
    assert rows == run_rows(parse_run(json.dumps([first, second], indent=2)))
    assert rows[:2] == run_rows(parse_run(lines(first)))


def test_a_record_larger_than_the_head_is_still_a_line() -> None:
    hits = [{"docid": f"d{rank}", "score": -rank, "doc": {"text": "x" * 1000}} for rank in range(300)]
    text = lines(*({"query": {"qid": query}, "candidates": hits} for query in ("q1", "q2")))

    assert 600 == len(parse_run(text))


def test_texts_become_ids() -> None:
    text = lines(
        {"query": "blue shoes", "hits": ["a"]},
        {"question": "red hat ", "hits": ["b"]},
        {"query": {"text": "a tie"}, "hits": ["c"]},
    )
    queries = {"q1": "blue shoes", "q2": "red hat", "q3": "a tie"}

    assert ["q1", "q2", "q3"] == [query for query, _, _ in run_rows(parse_run(text, queries=queries))]
    assert ["blue shoes", "red hat ", "a tie"] == [query for query, _, _ in run_rows(parse_run(text))]


def test_ids_stay_ids() -> None:
    queries = {"1": "blue shoes", "2": "red hat"}

    assert [("1", "a", -1.0)] == run_rows(
        parse_run(lines({"query_id": 1, "query": "hm", "hits": ["a"]}), queries=queries)
    )
    assert [("9", "a", -1.0)] == run_rows(parse_run(lines({"query": "9", "hits": ["a"]}), queries=queries))


def test_records_without_a_query_are_in_the_order_of_the_queries() -> None:
    text = lines({"hits": ["b", "a"]}, {"hits": ["c"]})

    assert RANKED == run_rows(parse_run(text, queries=["q1", "q2"]))
    assert refusal(lambda: parse_run(text)).startswith("<text>: the lists have no query ids. ")


def test_one_file_may_have_hits_and_relevant_documents() -> None:
    text = lines({"query_id": "q1", "relevant": ["a"], "retrieved": ["b", "a"]})

    assert [("q1", "a", 1.0)] == qrels_rows(parse_qrels(text))
    assert RANKED[:2] == run_rows(parse_run(text))
    assert {"RR": 0.5} == evaluate(parse_qrels(text), parse_run(text), ["RR"]).mean()


@pytest.mark.parametrize(
    "record",
    [
        {"relevant": ["a", "b"]},
        {"relevant_docs": [{"doc_id": "a"}, {"doc_id": "b", "text": "x"}]},
        {"positives": {"a": 1, "b": 1}},
        {"relevant_documents": {"1": ["a", "b"]}},
        {"judgments": [["a", 1], ["b", 1.0]]},
        {"ratings": [{"_id": "a", "rating": "1"}, {"_id": "b", "rating": 1}]},
    ],
)
def test_relevant_documents_are_qrels(record: dict[str, Any]) -> None:
    assert [("q1", "a", 1.0), ("q1", "b", 1.0)] == qrels_rows(parse_qrels(lines({"query_id": "q1", **record})))


def test_relevant_documents_of_each_query_are_qrels() -> None:
    assert [("q1", "a", 1.0), ("q1", "b", 1.0), ("q2", "c", 1.0)] == qrels_rows(
        parse_qrels('{"q1": ["a", "b"], "q2": ["c"]}')
    )


def test_flat_records_may_have_lists() -> None:
    row = {"query_id": "q1", "doc_id": "a", "score": 2, "passages": ["x", "y"]}

    assert [("q1", "a", 2.0)] == run_rows(parse_run(lines(row)))


def test_a_query_may_be_called_like_a_list() -> None:
    assert [("docs", "a", 1.0), ("hits", "b", 2.0)] == run_rows(parse_run('{"docs": {"a": 1}, "hits": {"b": 2}}'))


UNSORTED = (
    "the list for query q1 is not sorted by score: b (0.9) comes after a (0.2). Sort each list by score, the highest "
    "first. If the order is right and the numbers are something else, such as distances, leave them out."
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lines({"query_id": "q1", "hits": [["a", 0.2], ["b", 0.9]]}), f"<text>:1: {UNSORTED}"),
        (json.dumps({"q1": [["a", 0.2], ["b", 0.9]], "q2": []}, indent=1), f"<text>: {UNSORTED}"),
        (
            lines({"query_id": "q1", "hits": [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]}),
            "<text>:1: hit 2: rank 1 comes after rank 2. Sort each list by rank, the best first.",
        ),
        (
            lines({"query_id": "q1", "hits": [["a", 2], "b"]}),
            "<text>:1: score is missing (query q1, document b). Scores must be plain decimal numbers such as 12.5 or 1.2e-3: "
            "fix or remove these rows.",
        ),
        (
            lines({"query_id": "q1", "hits": ["a"], "results": ["b"]}),
            "<text>:1: the fields 'hits' and 'results' could each be the list of documents. Keep one, or rename the others.",
        ),
        (
            lines({"query_id": "q1", "hits": ["a"]}, {"query_id": "q2", "hits": [{"doc_id": 1, "pid": 2}]}),
            "<text>:2: hit 1: the fields 'doc_id' and 'pid' could each be the document id. Keep one, or rename the others.",
        ),
        (
            json.dumps([{"query_id": "q1", "hits": [{"title": "x"}]}]),
            "<text>: hit 1 of record 1: no document id; the fields are title. Rename one of them; accepted names: docno, "
            "doc_id, document_id, corpus_id, passage_id, chunk_id, product_id, pid, item_id, id, doc, document.",
        ),
        (
            lines({"query_id": "q1", "hits": [["a", 1, 2]]}),
            "<text>:1: hit 1: expected a document id, a pair [id, score] or an object with an id, found a list",
        ),
        (
            lines({"query_id": "q1", "hits": ["a", None]}),
            "<text>:1: hit 2: expected a document id, a pair [id, score] or an object with an id, found null",
        ),
        (
            lines({"query_id": "q1", "doc_ids": ["a", "b"], "scores": [1]}),
            "<text>:1: 2 documents in 'doc_ids', but 1 score. Each document needs one score.",
        ),
        (
            lines({"query_id": "q1", "hits": ["a"]}, {"query_id": "q1", "hits": ["b"]}),
            "<text>:2: this is the second list for query q1. Keep one of them.",
        ),
        (
            lines({"query_id": "q1", "hits": ["a"]}, {"query_id": "q2"}),
            "<text>:2: expected a record with a list of hits, as at the start of the file, found an object",
        ),
        (lines({"query_id": "q1", "hits": []}), "<text>: no document in 1 list"),
        (
            lines({"query_id": "q1", "relevant": ["a"]}),
            "<text>:1: this is a record with a list of relevant documents. It contains judgments, not search results. "
            "Are qrels and run swapped?",
        ),
    ],
)
def test_a_wrong_list_is_refused(text: str, message: str) -> None:
    assert message == refusal(lambda: parse_run(text))


def test_a_list_of_hits_is_no_judgment() -> None:
    assert (
        "<text>:1: this is a record with a list of hits. It contains search results, not judgments. "
        "Are qrels and run swapped?"
    ) == refusal(lambda: parse_qrels(lines({"query_id": "q1", "hits": ["a"]})))


def test_judged_documents_need_grades() -> None:
    assert "<text>:1: grade is missing (query q1, document a). " in refusal(
        lambda: parse_qrels(lines({"query_id": "q1", "judgments": ["a"]}))
    )


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (
            {"q1": "blue shoes"},
            "<text>: the query text 'red hat' is not in `queries=`. Add it there with its id; texts must be equal, letter "
            "by letter.",
        ),
        (
            {"q1": "blue shoes", "q2": "red hat", "q3": "red hat"},
            "<text>: 'red hat' could be any of the queries q2, q3 in `queries=`. Use ids instead of texts, or give each query "
            "its own text.",
        ),
        (
            {"q1": "blue shoes", "red hat": "x", "q3": "red hat"},
            "<text>: 'red hat' could be any of the queries q3, red hat in `queries=`. Use ids instead of texts, or give each "
            "query its own text.",
        ),
    ],
)
def test_texts_must_have_one_id(queries: dict[str, str], message: str) -> None:
    text = lines({"query": "blue shoes", "hits": ["a"]}, {"query": "red hat", "hits": ["b"]})

    assert message == refusal(lambda: parse_run(text, queries=queries))
