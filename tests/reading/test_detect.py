"""Formats are detected from the content; an unknown format is an error that shows the first line."""

from __future__ import annotations

import os
import random

import pytest

from assay.errors import AssayError, FormatError
from assay.formats import INPUT_FORMATS, as_qrels, as_run, parse_qrels, parse_run
from assay.formats.detect import detect_format
from assay.formats.names import Kind
from assay.formats.sources import open_text
from reading.rows import refusal

FORMATS = "Choose a format with `read_{kind}(input_format=)`: trec, beir, msmarco, json, jsonl, csv, tsv, ranklib, parquet, arrow."


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("qrels", "q1 0 a 1", "trec"),
        ("qrels", "\ufeff#x\n\n q1 0 a 1", "trec"),
        ("qrels", "q1 0 a#,b,c 1", "trec"),
        ("qrels", "qid iter docno rel", "trec"),
        ("qrels", "q1 a 1", "beir"),
        ("qrels", "query-id\tcorpus-id\tscore", "tsv"),
        ("qrels", "query-id corpus-id score", "trec"),
        ("qrels", "query_id,doc_id,relevance", "csv"),
        ("qrels", "query_id; doc_id; relevance", "csv"),
        ("qrels", "q1,d1,1", "csv"),
        ("qrels", "q1, d1, 1", "csv"),
        ("qrels", 'q1,"a b",d1,1', "csv"),
        ("run", "q1 Q0 a 1 2 x", "trec"),
        ("run", "q1 Q0 a 1 2 x y z", "trec"),
        ("run", "q1 Q0 a,b,c 1 2 x", "trec"),
        ("run", "q1 a 1", "msmarco"),
        ("run", "q1,a tv of 32,d1,1,2.5,x y", "csv"),
        ("run", '{"q1": {"a": 1}}', "json"),
        ("run", ' {\n "q1"\n:\n{', "json"),
        ("run", "{}", "json"),
        ("run", "[]", "json"),
        ("run", '[{"qid"', "json"),
        ("run", '{"q\\"1": {"a": 1}}', "json"),
        ("run", '{"qid": "q1", "docno": "a", "score": 1}', "jsonl"),
        ("run", '{"qid": "q1",\n"docno": "a", "score": 1}', "json"),
        ("run", "{q1} Q0 a 1 2 x", "trec"),
        ("run", "[1] Q0 a 1 2 x", "trec"),
        ("run", b"PAR1", "parquet"),
        ("run", b"ARROW1\0\0", "arrow"),
        ("run", b"\xff\xff\xff\xff\x00\x01", "arrow"),
    ],
)
def test_the_first_line_tells_the_format(kind: Kind, text: str | bytes, name: str) -> None:
    with open_text(text, "") as content:
        assert name == detect_format(content, kind, INPUT_FORMATS)


def test_a_first_line_far_down_is_found() -> None:
    assert ["a"] == parse_run("# a comment\n" * 100_000 + "q1 Q0 a 1 2 x").doc.tolist()


def test_what_is_no_format_is_refused_with_what_was_seen() -> None:
    assert (
        "<text>: unknown format. The first line has 5 columns: 'q1 Q0 a 1 2'; a TREC run has 6 "
        f"(query Q0 document rank score tag), an MS MARCO run has 3 (query document rank). {FORMATS.format(kind='run')}"
    ) == refusal(lambda: parse_run("q1 Q0 a 1 2\n"), FormatError)
    assert (
        "<text>: unknown format. The first line has 1 column: 'hello'; TREC qrels have 4 "
        f"(query iteration document grade), BEIR qrels have 3 (query document grade). {FORMATS.format(kind='qrels')}"
    ) == refusal(lambda: parse_qrels("hello\n"), FormatError)


def test_qrels_and_run_in_the_wrong_places_are_noticed() -> None:
    assert " Four columns look like qrels: are qrels and run swapped? " in refusal(lambda: parse_run("q1 0 a 1\n"))
    assert " Six columns look like a run: are qrels and run swapped? " in refusal(
        lambda: parse_qrels("q1 Q0 a 1 2 x\n")
    )
    assert (
        "<text>:1: these are the columns of a run, not of qrels: qid, docno, rank, score. Are qrels and run swapped?"
    ) == refusal(lambda: parse_qrels("qid,docno,rank,score\nq1,a,1,2\n"))
    assert refusal(lambda: as_qrels(parse_run("q1 Q0 a 1 2 x"))).endswith("or a Qrels. Are qrels and run swapped?")
    assert "Are qrels and run swapped?" in refusal(lambda: as_run(parse_qrels("q1 0 a 1")))


def test_an_unknown_format_name_is_answered_with_the_known_ones() -> None:
    known = "The formats are auto, trec, beir, msmarco, json, jsonl, csv, tsv, ranklib, parquet, arrow."

    assert f"no input format called 'parket'; did you mean 'parquet'? {known}" == refusal(
        lambda: parse_run("q1 Q0 a 1 2 x", input_format="parket")
    )
    assert f"no input format called 'xyz'. {known}" == refusal(lambda: parse_run("", input_format="xyz"))


def test_a_value_of_another_type_is_answered_with_the_right_ones() -> None:
    assert (
        "cannot read a value of type int as a run: pass a path or an open file, a dict by query (of dicts or lists of "
        "documents), a list of records or of (query, document, score), a data frame (pandas, polars, Arrow) or a Run."
    ) == refusal(lambda: as_run(5))
    assert (
        "cannot read a value of type bytes as qrels: pass a path or an open file, a dict by query (of dicts, lists or sets "
        "of documents), a list of records or of (query, document, grade), a data frame (pandas, polars, Arrow) or a Qrels. "
        "To parse text, use parse_qrels."
    ) == refusal(lambda: as_qrels(b"q1 0 a 1"))


@pytest.mark.parametrize("input_format", ["auto", *INPUT_FORMATS])
def test_garbage_is_refused_in_every_format(input_format: str) -> None:
    generator = random.Random(7)
    texts = [
        b"",
        b"\xff",
        b"{",
        b"[",
        b'"',
        b"PAR1",
        b"ARROW1",
        b"\xff\xff\xff\xff",
        b"\x1f\x8b",
        b'a b c\n\n"',
        b"1,2\n",
    ]
    texts += [generator.randbytes(length) for length in (1, 10, 100, 10_000)]
    texts += [bytes(generator.choices(b'{}[]":,0eQ \n\t#', k=60)) for _ in range(50)]

    for text in texts:
        for parse in (parse_qrels, parse_run):
            with pytest.raises(AssayError):
                parse(text, input_format=input_format)


def test_formats_are_described_in_one_line_each() -> None:
    assert all(description and os.linesep not in description for description in INPUT_FORMATS.values())


@pytest.mark.parametrize("text", ["query one\td1\t1\n", "q1\tdoc one\t1\n"])
def test_three_columns_between_tabs_are_not_taken_for_four(text: str) -> None:
    with pytest.raises(FormatError, match="is between tabs but contains a space"):
        parse_qrels(text)


@pytest.mark.parametrize("odd", ["\x1c", "\x85", "\u00a0", "\u2003"])
def test_only_the_blanks_of_c_end_columns_when_a_format_is_recognised(odd: str) -> None:
    assert [odd] == parse_qrels(f"q1\t0\t{odd}\t1\n").doc.tolist()
    assert (odd,) == parse_qrels(f"{odd} 0 a 1\n").queries
    assert odd == parse_run(f"q1 Q0 a 1 2 {odd}\n").tag
