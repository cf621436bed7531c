"""Answers of Elasticsearch and OpenSearch, and requests of _rank_eval.

The fields are those of the engines' documentation: search, multi search and ranking evaluation APIs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import evaluate
from assay.errors import FormatError
from assay.formats import parse_qrels, parse_run
from reading.rows import listed, qrels_rows, refusal, run_rows

QUERIES = {"q1": "blue shoes", "q2": "red hat"}


def hit(doc: str, score: float | None, **more: Any) -> dict[str, Any]:
    return {"_index": "products", "_id": doc, "_score": score, "_source": {"title": "x", "id": 7, "score": 1}, **more}


def answer(*hits: dict[str, Any], **more: Any) -> dict[str, Any]:
    best = max((each["_score"] for each in hits if each["_score"] is not None), default=None)
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": 431, "relation": "eq"}, "max_score": best, "hits": list(hits)},
        **more,
    }


SHOES = answer(hit("b", 9.5), hit("a", 8.25))
HATS = answer(hit("c", 0.5))
ERROR = {
    "error": {
        "root_cause": [{"type": "parsing_exception", "reason": "unknown query [mach]", "line": 1, "col": 19}],
        "type": "parsing_exception",
        "reason": "unknown query [mach]",
    },
    "status": 400,
}
ROWS = [("q1", "b", 9.5), ("q1", "a", 8.25), ("q2", "c", 0.5)]


def msearch(*answers: dict[str, Any]) -> str:
    return json.dumps({"took": 5, "responses": [{**each, "status": each.get("status", 200)} for each in answers]})


FILES = {
    "_msearch": msearch(SHOES, HATS),
    "_msearch of version 6, without took": json.dumps({"responses": [SHOES, HATS]}),
    "_msearch in many lines": json.dumps(json.loads(msearch(SHOES, HATS)), indent=2),
    "_search answers, one per line": f"{json.dumps(SHOES)}\n{json.dumps(HATS)}\n",
    "_search answers with hits first, one per line": "\n".join(
        json.dumps(dict(reversed(each.items()))) for each in (SHOES, HATS)
    ),
    "_msearch answers, one per line": f"{msearch(SHOES)}\n\n{msearch(HATS)}",
    "list of _search answers": json.dumps([SHOES, HATS]),
    "total as a number, as in version 6": json.dumps(
        [{**each, "hits": {**each["hits"], "total": 431}} for each in (SHOES, HATS)]
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_answers_get_the_ids_of_the_queries_in_order(case: str) -> None:
    run = parse_run(FILES[case], queries=QUERIES)

    assert (ROWS, [1, 2, 1]) == (run_rows(run), listed(run.rank))


def test_the_ids_may_be_a_list() -> None:
    assert ROWS == run_rows(parse_run(msearch(SHOES, HATS), queries=["q1", "q2"]))


def test_one_answer_is_the_answer_to_the_only_query() -> None:
    assert ROWS[:2] == run_rows(parse_run(json.dumps(SHOES), queries={"q1": "blue shoes"}))
    assert ROWS[:2] == run_rows(parse_run(json.dumps(SHOES, indent=1), queries={"q1": "blue shoes"}))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"q1": SHOES, "q2": HATS}),
        f"{json.dumps({'query_id': 'q1', **SHOES})}\n{json.dumps({'query_id': 'q2', **HATS})}",
        json.dumps([{"qid": "q1", "response": SHOES}, {"qid": "q2", "response": HATS}]),
        f"{json.dumps({'q1': SHOES})}\n{json.dumps({'q2': HATS})}",
    ],
)
def test_answers_with_query_ids_need_no_other_file(text: str) -> None:
    assert ROWS == run_rows(parse_run(text))


def test_a_query_without_hits_has_no_rows() -> None:
    run = parse_run(msearch(SHOES, answer()), queries=QUERIES)

    assert ROWS[:2] == run_rows(run)
    assert {"RR": 0.5} == evaluate({"q1": {"b": 1}, "q2": {"c": 1}}, run, ["RR"]).mean()


def test_hits_sorted_by_a_field_are_ranked_as_listed() -> None:
    by_price = answer(hit("z", None, sort=[19.9]), hit("a", None, sort=[24.5]))

    assert [("q1", "z", -1.0), ("q1", "a", -2.0)] == run_rows(parse_run(json.dumps(by_price), queries=["q1"]))


def test_scores_that_contradict_the_order_are_ignored() -> None:
    """A sort with track_scores: the user saw z first."""
    by_price = answer(hit("z", 1.5, sort=[19.9]), hit("a", 7.25, sort=[24.5]))
    run = parse_run(json.dumps(by_price), queries=["q1"])

    assert [("q1", "z", -1.0), ("q1", "a", -2.0)] == run_rows(run)
    assert {"RR": 0.5} == evaluate({"q1": {"a": 1}}, run, ["RR"]).mean()


def test_one_answer_without_scores_makes_all_ranks() -> None:
    run = parse_run(msearch(SHOES, answer(hit("c", None, sort=[1]))), queries=QUERIES)

    assert [("q1", "b", -1.0), ("q1", "a", -2.0), ("q2", "c", -1.0)] == run_rows(run)


def test_an_asynchronous_search_is_a_search_that_has_finished() -> None:
    text = json.dumps({"id": "FmRldE8zREVEUzA2", "is_partial": False, "is_running": False, "response": SHOES})
    running = (
        "the answer for query q1 is incomplete: the search is still running. Save the answer when it has finished."
    )

    assert ROWS[:2] == run_rows(parse_run(text, queries=["q1"]))
    assert f"<text>:1: {running}" == refusal(lambda: parse_run(text.replace("false", "true", 2), queries=["q1"]))


NO_IDS = "the answers have no query ids. List the queries in a file, in the order of the searches, and give it with `queries=`"


@pytest.mark.parametrize(
    ("text", "queries", "message"),
    [
        (msearch(SHOES, HATS), {}, f"<text>: {NO_IDS}"),
        (json.dumps(SHOES), {}, f"<text>: {NO_IDS}"),
        (
            msearch(SHOES, HATS),
            ["q1"],
            "<text>: 2 answers but 1 query in `queries=`. The answers have no query ids, so each query needs exactly one "
            "answer, in the same order.",
        ),
        (
            f"{json.dumps(SHOES)}\n{json.dumps(HATS)}",
            ["q1", "q2", "q3"],
            "<text>: 2 answers but 3 queries in `queries=`. The answers have no query ids, so each query needs exactly one "
            "answer, in the same order.",
        ),
        (
            msearch(SHOES, ERROR),
            QUERIES,
            "<text>:1: answer 2: the answer for query q2 is an error: parsing_exception: unknown query [mach] (status 400). "
            "Repair the search and run it again.",
        ),
        (
            f"{json.dumps(SHOES)}\n{json.dumps(ERROR)}",
            QUERIES,
            "<text>:2: the answer for query q2 is an error: parsing_exception: unknown query [mach] (status 400). "
            "Repair the search and run it again.",
        ),
        (
            json.dumps({"error": "no handler found", "status": 400}),
            ["q1"],
            "<text>:1: the answer for query q1 is an error: no handler found (status 400). Repair the search and run it again.",
        ),
        (
            json.dumps({"q1": SHOES, "q2": {**HATS, "timed_out": True}}),
            {},
            "<text>: the answer for query q2 is incomplete: the search timed out. Search again, or set timed_out to false "
            "in the file to score what was found.",
        ),
        (
            json.dumps(
                [
                    {
                        **SHOES,
                        "_shards": {
                            "total": 2,
                            "successful": 1,
                            "skipped": 0,
                            "failed": 1,
                            "failures": [
                                {"shard": 0, "reason": {"type": "query_shard_exception", "reason": "no field x"}}
                            ],
                        },
                    }
                ]
            ),
            ["q1"],
            "<text>: record 1: the answer for query q1 is incomplete: 1 of 2 shards failed (query_shard_exception: no field "
            "x). Search again, or set _shards.failed to 0 in the file to score what was found.",
        ),
        (msearch(answer(), answer()), QUERIES, "<text>: no document in 2 answers"),
        (
            msearch(SHOES, answer({"_index": "i", "_score": 2.0})),
            QUERIES,
            "<text>:1: hit 1 of answer 2: no '_id'. Search again without a filter that leaves it out.",
        ),
        (
            f'{json.dumps(SHOES)}\n{{"query_id": "q2"}}',
            QUERIES,
            "<text>:2: expected an answer of _search, as at the start of the file, found an object",
        ),
        (
            f"{json.dumps({'query_id': 'q1', **SHOES})}\n{json.dumps(HATS)}",
            QUERIES,
            "<text>:2: this answer has no query id, but others have one. Give all of them an id.",
        ),
        (
            f"{json.dumps({'query_id': 'q1', **SHOES})}\n{json.dumps({'query_id': 'q1', **HATS})}",
            {},
            "<text>:2: this is the second answer for query q1. Keep one of them.",
        ),
        (
            json.dumps({"took": 1, "responses": [SHOES, {"acknowledged": True}]}),
            QUERIES,
            "<text>:1: answer 2: expected an answer with hits or an error, found an object",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(text: str, queries: Any, message: str) -> None:
    assert message == refusal(lambda: parse_run(text, queries=queries))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (msearch(SHOES), "an answer of _msearch"),
        (json.dumps({"responses": [SHOES]}), "an answer of _msearch"),
        (json.dumps(SHOES, indent=1), "an answer of _search"),
        (json.dumps({"q1": SHOES}), "an answer of _search for each query"),
    ],
)
def test_answers_are_no_judgments(text: str, words: str) -> None:
    message = f"this is {words}. It contains search results, not judgments. Are qrels and run swapped?"

    assert refusal(lambda: parse_qrels(text, queries=["q1"]), FormatError).endswith(message)


def test_queries_are_ids_with_or_without_texts() -> None:
    path = "`queries=` takes {id: text} or a list of ids. To read a file, pass assay.read_queries(path) for it."

    assert path == refusal(lambda: parse_run(msearch(SHOES), queries="queries.tsv"))
    assert "query q1 appears twice in `queries=`; give each id once." == refusal(
        lambda: parse_run(msearch(SHOES), queries=["q1", "q1"])
    )


# Ranking evaluation

REQUEST = {
    "requests": [
        {
            "id": "q1",
            "request": {"query": {"match": {"text": "blue shoes"}}},
            "ratings": [
                {"_index": "products", "_id": "a", "rating": 3},
                {"_index": "products", "_id": "b", "rating": 0},
            ],
        },
        {"id": "q2", "template_id": "by_title", "params": {"q": "red hat"}, "ratings": []},
    ],
    "metric": {"dcg": {"k": 20, "normalize": True}},
}
RESULT = {
    "metric_score": 0.4,
    "details": {
        "q1": {
            "metric_score": 0.6,
            "unrated_docs": [{"_index": "products", "_id": "z"}],
            "hits": [
                {"hit": {"_index": "products", "_type": "_doc", "_id": "z", "_score": 7.5}, "rating": None},
                {"hit": {"_index": "products", "_type": "_doc", "_id": "a", "_score": 7.0}, "rating": 3},
            ],
            "metric_details": {"dcg": {"dcg": 4.4, "ideal_dcg": 7.0, "normalized_dcg": 0.6, "unrated_docs": 1}},
        }
    },
    "failures": {},
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_request_of_rank_eval_is_qrels(indent: int | None) -> None:
    assert [("q1", "a", 3.0), ("q1", "b", 0.0)] == qrels_rows(parse_qrels(json.dumps(REQUEST, indent=indent)))


@pytest.mark.parametrize("indent", [None, 2])
def test_an_answer_of_rank_eval_is_a_run(indent: int | None) -> None:
    assert [("q1", "z", 7.5), ("q1", "a", 7.0)] == run_rows(parse_run(json.dumps(RESULT, indent=indent)))


def test_a_document_rated_in_two_indices_is_a_duplicate() -> None:
    twice = [{"_index": name, "_id": "a", "rating": 1} for name in ("shoes", "hats")]
    qrels = parse_qrels(json.dumps({"requests": [{"id": "q1", "request": {}, "ratings": twice}]}))

    assert "document a is judged twice for query q1, with grade 1 each time." in refusal(
        lambda: evaluate(qrels, {"q1": {"a": 1.0}}, ["P@1"])
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps(REQUEST), "this is a request of _rank_eval. It contains judgments, not search results. "),
        (
            json.dumps({**RESULT, "failures": {"q3": ERROR}}),
            "the search for query q3 failed: parsing_exception: unknown query [mach]. Repair the search and run it again.",
        ),
        (
            json.dumps({"metric_score": 0.4, "details": {"q1": {"metric_score": 0.6}}}),
            "query q1: no list 'hits'. Save the whole answer of _rank_eval.",
        ),
    ],
)
def test_no_run_from_rank_eval(text: str, message: str) -> None:
    assert message in refusal(lambda: parse_run(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            json.dumps(RESULT),
            "this is an answer of _rank_eval. It has ratings only of documents that were found. "
            "Use the request of _rank_eval as qrels.",
        ),
        (
            json.dumps({"requests": [{"request": {}, "ratings": [{"_id": "a", "rating": 1}]}]}),
            "request 1: no 'id'. Each request needs the id of its query.",
        ),
        (
            json.dumps({"requests": [{"id": "q1", "ratings": [{"_index": "i", "_id": "a"}]}]}),
            "grade is missing (query q1, document a). Grades must be plain decimal numbers",
        ),
        (
            json.dumps({"requests": [{"id": "q1", "ratings": [{"_index": "i", "rating": 1}]}]}),
            "document 1 of request 1: no document id; the fields are _index, rating. Rename one of them; accepted names: ",
        ),
    ],
)
def test_no_qrels_from_rank_eval(text: str, message: str) -> None:
    assert message in refusal(lambda: parse_qrels(text))
