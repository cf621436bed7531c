"""CSV and TSV."""

from __future__ import annotations

import csv
import io

import pytest

from assay.errors import FormatError
from assay.formats import parse_qrels, parse_run
from reading.rows import listed, qrels_rows, refusal, run_rows


def test_quoted_fields_may_hold_anything() -> None:
    run = parse_run('qid,docno,score\n"q,1","a ""b""\nc",1.5\n')

    assert [("q,1", 'a "b"\nc', 1.5)] == run_rows(run)


def test_ids_may_contain_blanks_in_tsv() -> None:
    assert [("q 1", "new york", 1.5)] == run_rows(parse_run("qid\tdocno\tscore\nq 1\tnew york\t1.5\n"))


def test_columns_are_found_by_name_in_any_order() -> None:
    run = parse_run("Tag,Rank,SCORE,text,Doc No,Query-ID\nx,2,1.5,some text,a,q1\ny,1,2.5,,b,q1\n")

    assert [("q1", "a", 1.5), ("q1", "b", 2.5)] == run_rows(run)
    assert ([2, 1], "y") == (listed(run.rank), run.tag)


def test_a_subtopic_is_the_second_column_of_qrels() -> None:
    assert ["3", "1"] == listed(parse_qrels("qid,subtopic,docno,rel\n1,3,a,1\n1,1,b,1\n").iteration)


def test_ranks_do_where_there_are_no_scores() -> None:
    assert [("q1", "a", -1.0), ("q1", "b", -2.0)] == run_rows(parse_run("qid,docno,rank\nq1,a,1\nq1,b,2\n"))
    assert "<text>:2: rank '0' is not a positive whole number (query q1, document a)." in refusal(
        lambda: parse_run("qid,docno,rank\nq1,a,0\n")
    )


def test_fields_of_any_length_are_read() -> None:
    long = "x" * 300_000

    assert ["a"] == parse_run(f"qid,text,docno,score\nq1,{long},a,1\n").doc.tolist()


@pytest.mark.parametrize("text", ["q1,d1,1\nq1,d2,0\n", "51;D1;1\n", '"q1","d1","1"\n', "q1, d1, 1\n"])
def test_csv_without_a_header_is_refused(text: str) -> None:
    message = refusal(lambda: parse_qrels(text), FormatError)

    assert message.startswith("<text>:1: the first line is not a header: '")
    assert "Add a line of column names, for example query_id" in message


def test_a_forced_format_says_what_its_header_looks_like() -> None:
    assert (
        "<text>:2: the first line is not a header: 'q1 a 1'. "
        "Add a line of column names, for example query_id<tab>doc_id<tab>relevance"
    ) == refusal(lambda: parse_qrels("\nq1 a 1\n", input_format="tsv"))
    assert "for example query_id,doc_id,score" in refusal(lambda: parse_run("q1 a 1\n", input_format="csv"))


def test_a_missing_column_is_answered_with_names_found_and_accepted() -> None:
    assert (
        "<text>:1: no grade column; the columns are query_id, doc_id, level. Say which one it is with `columns={'rel': 'NAME'}`, "
        "or rename it; accepted names: "
        "relevance, rel, label, grade, judgment, judgement, gain, rating, esci_label, score."
    ) == refusal(lambda: parse_qrels("query_id,doc_id,level\nq1,a,1\n"))
    assert "<text>:1: no query column; the columns are id, docno, score." in refusal(
        lambda: parse_run("id,docno,score\nq1,a,1\n", input_format="csv")
    )


def test_rows_of_another_width_are_refused() -> None:
    assert (
        "<text>:3: line has 4 fields, the header has 3. Quote fields that contain the delimiter.\n"
        "  line 5: line has 1 field, the header has 3"
    ) == refusal(lambda: parse_run("qid,docno,score\nq1,a,1\nq1,b,1,5\n\nq1\n"))


def test_lines_are_counted_through_quoted_line_ends() -> None:
    assert "<text>:5: score 'x' is not a number (query q1, document b)." in refusal(
        lambda: parse_run('# c\nqid,text,docno,score\nq1,"two\nlines",a,1\nq1,,b,x\n')
    )


@pytest.mark.parametrize("text", ['q1,"a,1\nq1,b,2\n', 'q1,"a"x,1\n'])
def test_quotes_that_do_not_close_are_refused(text: str) -> None:
    assert "A field that starts with a quote must end with one; double any quotes inside it." in refusal(
        lambda: parse_run(f"qid,docno,score\n{text}")
    )


@pytest.mark.parametrize("value", ["nan", "1_000", "0x10", "1e400", "", "٩"])
def test_numbers_are_as_strict_as_in_trec_files(value: str) -> None:
    assert "<text>:2: score " in refusal(lambda: parse_run(f"qid,docno,score\nq1,a,{value}\n"))
    assert "<text>:2: grade " in refusal(lambda: parse_qrels(f"qid,docno,label\nq1,a,{value}\n"))


def test_a_decimal_comma_is_refused() -> None:
    assert "<text>:2: score '1,5' is not a number" in refusal(lambda: parse_run("qid;docno;score\nq1;a;1,5\n"))


def test_an_empty_id_is_refused() -> None:
    assert (
        "<text>:2: query id is empty (query , document a). "
        "Ids must be non-empty text or whole numbers: fix or remove these rows."
    ) == refusal(lambda: parse_run("qid,docno,score\n,a,1\n"))


def test_letters_need_a_map() -> None:
    text = "query_id,product_id,esci_label\nq1,a,E\nq1,b,I\n"

    assert [("q1", "a", 3.0), ("q1", "b", 0.0)] == qrels_rows(parse_qrels(text, grades={"E": 3, "I": 0}))
    assert (
        "<text>:2: grade 'E' is not a number (query q1, document a). Grades must be plain decimal numbers; "
        in refusal(lambda: parse_qrels(text))
    )


def test_a_header_alone_is_no_data() -> None:
    assert "<text>: the table has no rows" == refusal(lambda: parse_run("qid,docno,score\n"))


def test_many_rows_are_read_in_batches() -> None:
    file = io.StringIO()
    csv.writer(file).writerows(
        [["qid", "docno", "score"], *([f"q{row % 7}", f"d{row}", row / 8] for row in range(25_000))]
    )
    run = parse_run(file.getvalue())

    assert (25_000, 7) == (len(run), len(run.queries))
    assert ("q6", "d20999", 20_999 / 8) == run_rows(run)[20_999]
