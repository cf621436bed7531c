"""JSON and JSON Lines."""

from __future__ import annotations

import json

import pytest

from assay.errors import FormatError
from assay.formats import parse_qrels, parse_run
from reading.rows import listed, qrels_rows, refusal, run_rows

RUN_FORMS = 'Expected {"query": {"document": score}} or [{"query_id": ..., "doc_id": ..., "score": ...}].'


def test_a_key_that_stands_twice_is_kept_twice() -> None:
    text = '{"q1": {"a": 1, "a": 2}, "q2": {"b": 3}, "q1": {"c": 4}}'

    assert [("q1", "a", 1.0), ("q1", "a", 2.0), ("q2", "b", 3.0), ("q1", "c", 4.0)] == run_rows(parse_run(text))


def test_a_query_without_documents_adds_nothing() -> None:
    assert [("q2", "a", 1.0)] == run_rows(parse_run('{"q1": {}, "q2": {"a": 1}}'))


def test_ids_of_records_may_be_whole_numbers() -> None:
    assert [("51", "7", 2.5)] == run_rows(parse_run('[{"query": 51, "doc": 7, "score": 2.5}]'))


def test_records_keep_rank_tag_and_iteration() -> None:
    run = parse_run('{"qid": 1, "docno": "a", "rank": 1, "score": 2, "run_id": "x"}\n' * 2)
    qrels = parse_qrels('[{"query_id": 1, "iteration": 0, "doc_id": "a", "relevance": 1}]')

    assert ([1, 1], "x", ["0"]) == (listed(run.rank), run.tag, listed(qrels.iteration))


def test_records_with_ranks_alone_are_ranked_by_them() -> None:
    assert [("1", "a", -3.0)] == run_rows(parse_run('{"qid": 1, "docno": "a", "rank": 3}'))


def test_escapes_and_bytes_are_kept() -> None:
    assert ["é\n\U0001f600", "\udce9"] == parse_run(b'{"q": {"\\u00e9\\n\\ud83d\\ude00": 1, "\xe9": 2}}').doc.tolist()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("NaN", "nan (float) is not a finite number"),
        ("-Infinity", "-inf (float) is not a finite number"),
        ("1e400", "inf (float) is not a finite number"),
        ('"nan"', "'nan' is not a number"),
        ('"1_000"', "'1_000' is not a number"),
        ('" 1"', "' 1' is not a number"),
        ('"1e400"', "'1e400' is too large for a 64-bit number"),
        ('""', "is missing"),
        ("null", "is missing"),
        ("[1]", "[1] (list) is not a number"),
        ("1" * 400, f"{'1' * 37}...{'1' * 20} (int) is not a number"),
    ],
)
def test_values_that_are_no_numbers_are_refused(value: str, shown: str) -> None:
    advice = "Scores must be plain decimal numbers such as 12.5 or 1.2e-3: fix or remove these rows."

    assert f"<text>: score {shown} (query q1, document b). {advice}" == refusal(
        lambda: parse_run(f'{{"q1": {{"a": 1, "b": {value}}}}}')
    )
    assert f"<text>:2: score {shown} (query q1, document b). {advice}" == refusal(
        lambda: parse_run(f'{{"qid": "q1", "doc": "a", "score": 1}}\n{{"qid": "q1", "doc": "b", "score": {value}}}')
    )
    assert f"<text>: score {shown} (record 2, query q1, document b). {advice}" == refusal(
        lambda: parse_run(f'[{{"qid": "q1", "doc": "a", "score": 1}}, {{"qid": "q1", "doc": "b", "score": {value}}}]')
    )


@pytest.mark.parametrize(
    ("doc", "shown"),
    [
        ('""', "is empty (query q1, document )"),
        ("null", "is missing (query q1, document None)"),
        ("1.5", "1.5 is a float (query q1, document 1.5)"),
        ("true", "True is a bool (query q1, document True)"),
        ('"\\ud800"', "'\\ud800' contains a lone surrogate (half a character) (query q1, document \\ud800)"),
    ],
)
def test_ids_that_are_no_ids_are_refused(doc: str, shown: str) -> None:
    assert (
        f"<text>:1: document id {shown}. Ids must be non-empty text or whole numbers: fix or remove these rows."
    ) == refusal(lambda: parse_run(f'{{"qid": "q1", "doc": {doc}, "score": 1}}'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "<text>: the table has no rows"),
        ('{"q1": {}}', "<text>: the table has no rows"),
        ("[]", "<text>: no data: the file is empty or contains only blank lines, comments or a header"),
        ('{"q1": {"a": 1}', "<text>:2: invalid JSON: Expecting ',' delimiter. If each line is a separate record, "),
        (
            '{"q1": {"a": 1}}\n{"q2": {"a": 1}}',
            "<text>:1: no query, document or score column; the columns are q1. ",
        ),
        ('{"name": "x",\n"all": []}', f"<text>: the value of 'name' is text, not an object. {RUN_FORMS}"),
        (
            '{"q1": [true]\n}',
            "<text>: hit 1 of query q1: expected a document id, a pair [id, score] or an object with an id, ",
        ),
        ('["q1"]', f"<text>: record 1: expected an object, found text. {RUN_FORMS}"),
        ('[["q1", "a", 1]]', f"<text>: record 1: expected an object, found a list. {RUN_FORMS}"),
        ('{"qid": 1, "doc": 2, "score": 3}\n7', f"<text>:2: expected an object, found a number. {RUN_FORMS}"),
        ('{"qid": 1, "doc": 2, "score": 3}\n{', "<text>:2: invalid JSON: Expecting property name"),
        ('{"qid": 1, "qid": 2, "doc": 2, "score": 3}', "<text>:1: a field appears twice in the record"),
        (
            '{"qid": 1, "doc": 2, "score": 3}\n{"qid": 1, "doc": 2}',
            "<text>:2: the record has no 'score'. All records need the same fields.",
        ),
        (
            '[{"qid": 1, "doc": 2, "score": 3}, {"qid": 1, "score": 2}]',
            "<text>: record 2: the record has no 'doc'. All records need the same fields.",
        ),
        (
            '{"qid": 1, "doc": 2}',
            "<text>:1: no score column; the columns are qid, doc. "
            "Say which one it is with `columns={'score': 'NAME'}`, or rename it; accepted names: score, sim, similarity, rank, doc_position.",
        ),
    ],
)
def test_what_is_not_our_json_is_refused(text: str, message: str) -> None:
    assert refusal(lambda: parse_run(text)).startswith(message)


def test_bottomless_json_is_refused() -> None:
    assert "cannot read this JSON: maximum recursion depth exceeded" in refusal(
        lambda: parse_run("[" * 200_000), FormatError
    )


def test_a_table_written_column_by_column_is_not_taken_for_queries() -> None:
    text = json.dumps({"qid": {"0": 1, "1": 1}, "docno": {"0": 7, "1": 8}, "label": {"0": 1, "1": 0}})

    assert (
        "<text>: this is a table stored column by column. Write records instead, "
        'in pandas with frame.to_json(path, orient="records")'
    ) == refusal(lambda: parse_qrels(text))


def test_letters_are_grades_in_json_too() -> None:
    text = '{"q1": {"a": "E", "b": "I", "c": 0.5}}'

    assert [("q1", "a", 3.0), ("q1", "b", 0.0), ("q1", "c", 0.5)] == (
        qrels_rows(parse_qrels(text, grades={"E": 3, "I": 0}))
    )
    assert "grade 'E' is not a number (query q1, document a)" in refusal(lambda: parse_qrels(text))
