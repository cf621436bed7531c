"""Quepid's exports, and RankLib's format, which is one of them.

The headers and shapes are those of Quepid's source: ratings_controller.rb and show_*.erb (Basic, TREC, LTR),
caseCSVSvc.js (Detailed, Snapshot), and _query.json.jbuilder, _rre_query.json.jbuilder (JSON).
"""

from __future__ import annotations

import json

import pytest

from assay.formats import parse_qrels, parse_run
from assay.formats.sources import open_text
from assay.inputs.queries import queries_from_text
from reading.rows import qrels_rows, refusal, run_rows

QUERIES = {"1": "star trek", "2": "-rambo, the first", "3": "nothing"}
# A query without ratings has empty cells; a text that starts with a sign has a space before it.
BASIC = 'query,docid,rating\nstar trek,193,3\nstar trek,13475,0\n" -rambo, the first",1370,2\nnothing,,'
DETAILED = (
    "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,overview\r\n"
    'OSC,Movies,8,star trek,13475,1,"Star Trek, 2009",0,x\r\n'
    "OSC,Movies,8,star trek,193,2,Generations,3,y\r\n"
    "OSC,Movies,8,star trek,201,3,Nemesis,,z\r\n"
    "OSC,Movies,8,nothing\r\n"
)
SNAPSHOT = (
    "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\r\n"
    "(3/5/26) Weekly check,2026-03-05T12:00:00Z,8,star trek,13475,1,Star Trek\r\n"
    '(3/5/26) Weekly check,2026-03-05T12:00:00Z,8,star trek,193,2,"Great, dog"\r\n'
)


def test_ratings_are_qrels_by_text() -> None:
    rows = [("star trek", "193", 3.0), ("star trek", "13475", 0.0), ("-rambo, the first", "1370", 2.0)]

    assert rows == qrels_rows(parse_qrels(BASIC))


def test_texts_become_ids() -> None:
    assert [("1", "193", 3.0), ("1", "13475", 0.0), ("2", "1370", 2.0)] == qrels_rows(
        parse_qrels(BASIC, queries=QUERIES)
    )


def test_the_export_of_information_needs_is_a_file_of_queries() -> None:
    with open_text(
        'query_id,query,information_need\n1,star trek,\n2,"-rambo, the first",films\n3,nothing,\n', "x"
    ) as text:
        assert queries_from_text(text) == QUERIES


def test_the_detailed_export_is_a_run_and_qrels() -> None:
    run = [("star trek", "13475", -1.0), ("star trek", "193", -2.0), ("star trek", "201", -3.0)]

    assert run == run_rows(parse_run(DETAILED))
    assert [("star trek", "13475", 0.0), ("star trek", "193", 3.0)] == qrels_rows(parse_qrels(DETAILED))


def test_a_snapshot_is_a_run() -> None:
    assert [("1", "13475", -1.0), ("1", "193", -2.0)] == run_rows(parse_run(SNAPSHOT, queries=QUERIES))


@pytest.mark.parametrize(
    "value",
    [
        {"queries": [{"query": "star trek", "ratings": {"193": 3, "13475": 0}}, {"query": "nothing", "ratings": {}}]},
        {
            "case_name": "Movies",
            "scorer": {"scorer_id": 1, "name": "nDCG@10"},
            "queries": [
                {"arranged_at": 0, "query_text": "star trek", "options": {}, "ratings": {"193": 3, "13475": 0}},
                {"arranged_at": 1, "query_text": "nothing", "options": {}, "ratings": None},
            ],
            "try": {"search_engine": "solr"},
        },
        {
            "id_field": "id",
            "index": "Movies",
            "template": "template.json",
            "queries": [
                {"placeholders": {"$query": "star trek"}, "relevant_documents": {"3": ["193"], "0": ["13475"]}},
                {"placeholders": {"$query": "nothing"}, "relevant_documents": {}},
            ],
        },
    ],
    ids=["ratings", "case", "RRE"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_exports_in_json_are_qrels(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)

    assert [("star trek", "193", 3.0), ("star trek", "13475", 0.0)] == qrels_rows(parse_qrels(text))
    assert [("1", "193", 3.0), ("1", "13475", 0.0)] == qrels_rows(parse_qrels(text, queries=QUERIES))


def test_the_trec_export_is_trec() -> None:
    assert [("1", "193", 3.0), ("1", "13475", 0.0)] == qrels_rows(parse_qrels("\n1 0 193 3\n\n1 0 13475 0\n\n"))


@pytest.mark.parametrize(
    "text",
    [
        "\n3 qid:1 # 193 star trek\n\n0 qid:1 # 13475 star trek\n",  # Quepid
        "# qid:1: star trek\n#\n3\tqid:1 #\t193\tGenerations\n0\tqid:1 #\t13475\tStar Trek\n",  # Elasticsearch LTR
        "3 qid:1 1:0.5 2:1e-3 # 193\n0 qid:1 1:1 2:0 # 13475\n",  # RankLib
        "3 qid:1 1:0.5 #docid = 193 inc = 1 prob = 0.1\n0 qid:1 1:1 #docid = 13475 inc = 1 prob = 0.1\n",  # LETOR
    ],
)
def test_the_ltr_export_is_qrels(text: str) -> None:
    assert [("1", "193", 3.0), ("1", "13475", 0.0)] == qrels_rows(parse_qrels(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BASIC.replace("nothing,,", "else,7,1"),
            "<text>: the query text 'else' is not in `queries=`",
        ),
        (
            DETAILED.replace("star trek", "else"),
            "<text>: the query text 'else' is not in `queries=`. Add it there with its id; texts must be equal, letter by letter.",
        ),
        (DETAILED.replace("193,2,Generations,3", "193,2,Generations,x"), "<text>:3: grade 'x' is not a number"),
        ("3 qid:1 # 193\n2 qid:1 1:0.5\n", "<text>:2: '2 qid:1 1:0.5' has no document id after a #. Each line is: "),
        ("x qid:1 # 193\n", "<text>:1: grade 'x' is not a number (query 1, document 193)"),
        (SNAPSHOT, "<text>:1: no grade column; the columns are Snapshot Name, Snapshot Time, Case ID, "),
    ],
)
def test_wrong_exports_are_refused(text: str, message: str) -> None:
    assert refusal(lambda: parse_qrels(text, queries=QUERIES)).startswith(message)


def test_judgments_are_no_run() -> None:
    swapped = "It contains judgments, not search results. Are qrels and run swapped?"
    exported = json.dumps({"queries": [{"query": "star trek", "ratings": {"193": 3}}]})

    assert f"<text>:1: this is an export of Quepid. {swapped}" == refusal(lambda: parse_run(exported))
    assert f"<text>: this is RankLib data. {swapped}" == refusal(lambda: parse_run("3 qid:1 # 193\n"))
    assert refusal(lambda: parse_run(BASIC)).startswith(
        "<text>:1: no score column; the columns are query, docid, rating."
    )
