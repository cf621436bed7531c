"""TREC, BEIR and MS MARCO text: valid input, and errors with line and value."""

from __future__ import annotations

import gzip
import random

import pytest

from assay.errors import InputError
from assay.formats import parse_qrels, parse_run, read_qrels, read_run, sources
from assay.formats.problems import SHOWN
from assay.validation.validating import validate_run
from reading.rows import listed, qrels_rows, refusal, run_rows

ADVICE = "Scores must be plain decimal numbers such as 12.5 or 1.2e-3: fix or remove these rows."
GRADE_ADVICE = (
    "Grades must be plain decimal numbers; give letters a value with `grades={'E': 3, 'S': 2, 'C': 1, 'I': 0}`."
)


def test_a_run_keeps_its_ranks_and_the_tag_of_its_last_line() -> None:
    run = parse_run("q1 Q0 a 3 1.5 first\nq1 Q0 b 1 2.5 last\n")

    assert [3, 1] == listed(run.rank)
    assert ("last", "run", "<text>") == (run.tag, run.name, run.source)


def test_ranks_that_are_not_whole_numbers_throughout_are_left_out() -> None:
    assert parse_run("q1 Q0 a 1 1.5 x\nq1 Q0 b 1.5 2.5 x").rank is None
    assert parse_run("q1 Q0 a 1 1.5 x\nq1 Q0 b 99999999999999999999 2.5 x").rank is None


def test_qrels_keep_their_second_column() -> None:
    assert ["4.5", "Q0"] == listed(parse_qrels("q1 4.5 a 1\nq1 Q0 b 0").iteration)
    assert parse_qrels("q1 a 1\nq1 b 0").iteration is None


def test_queries_need_not_stand_together() -> None:
    run = parse_run("q2 Q0 a 1 3 x\nq1 Q0 a 1 2 x\nq2 Q0 b 2 1 x")

    assert ("q1", "q2") == run.queries
    assert [("q2", "a", 3.0), ("q1", "a", 2.0), ("q2", "b", 1.0)] == run_rows(run)


def test_queries_are_in_the_order_of_their_bytes() -> None:
    ids = ["10", "9", "a", "B", "é", "z", "\U0001f600", "\uffff"]
    text = "".join(f"{query} 0 d 1\n" for query in ids).encode() + b"\xe9 0 d 1\n"

    assert tuple(sorted((*ids, "\udce9"), key=lambda query: query.encode("utf-8", "surrogateescape"))) == (
        parse_qrels(text).queries
    )


def test_grades_may_be_fractional_and_negative() -> None:
    assert [0.5, -2.0, 3.0] == parse_qrels("q 0 a 0.5\nq 0 b -2\nq 0 c +3.").rel.tolist()


def test_a_hash_inside_an_id_is_data() -> None:
    assert [("#q", "d#2", 1.0)] == qrels_rows(parse_qrels("# comment\n #q 0 d#2 1\n#q 0 gone 1\n"))


def test_bytes_that_are_not_utf8_are_kept_apart() -> None:
    run = parse_run(b"q1 Q0 d\xe9 1 2 x\nq1 Q0 d\xc3\xa9 2 1 x")

    assert ["d\udce9", "dé"] == run.doc.tolist()


def test_blanks_of_unicode_are_part_of_an_id() -> None:
    assert ["a\u00a0b\u2003c\u2028d\x85\x1c"] == parse_run("q1 Q0 a\u00a0b\u2003c\u2028d\x85\x1c 1 2 x").doc.tolist()


def test_an_ms_marco_run_is_ranked_by_its_ranks() -> None:
    run = parse_run("51\ta\t1\n51\tb\t10\n52\tc\t1\n")

    assert [("51", "a", -1.0), ("51", "b", -10.0), ("52", "c", -1.0)] == run_rows(run)
    assert [1, 10, 1] == listed(run.rank)


def test_whole_scores_are_not_taken_for_ranks() -> None:
    """Ranks start at 1; reading 95 and 85 as ranks would reverse the ranking."""
    with pytest.raises(InputError, match="the ranks of query q1 repeat or do not start at 1"):
        parse_run("q1 a 95\nq1 b 85\n")

    assert [("q1", "a", 95.0), ("q1", "b", 85.0)] == run_rows(parse_run("q1 a 95\nq1 b 85\n", input_format="beir"))


@pytest.mark.parametrize("third", ["9.5", "0", "-1", "x", "1.0", "1e2", "99999999999999999999"])
def test_a_run_of_three_columns_without_ranks_is_refused(third: str) -> None:
    assert (
        f"<text>:2: rank '{third}' is not a positive whole number (query q1, document b). "
        "A run without scores needs ranks: 1, 2, 3 and so on. If the third column is a score, use "
        "`read_run(input_format='beir')`, or add a header line: query_id doc_id score."
    ) == refusal(lambda: parse_run(f"q1 a 1\nq1 b {third}\n"))


def test_three_columns_are_read_as_scores_when_asked_for() -> None:
    assert [("q1", "a", 9.5)] == run_rows(parse_run("q1 a 9.5", input_format="beir"))


NO_NUMBERS = [
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "0x1p3",
    "0x10",
    "1_000",
    "1,5",
    "٩٩",
    "１",
    "high",
    "1e",
    "--1",
    "1-2",
    ".",
]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_scores_that_are_no_ordinary_numbers_are_refused(value: str) -> None:
    assert f"<text>:3: score '{value}' is not a number (query 51, document D12). {ADVICE}" == refusal(
        lambda: parse_run(f"51 Q0 D11 1 2.5 x\n\n51 Q0 D12 2 {value} x\n51 Q0 D13 3 1 x")
    )


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_grades_that_are_no_ordinary_numbers_are_refused(value: str) -> None:
    assert f"<text>:2: grade '{value}' is not a number (query 51, document D12). {GRADE_ADVICE}" == refusal(
        lambda: parse_qrels(f"51 0 D11 1\n51 0 D12 {value}\n51 0 D13 1")
    )


def test_numbers_too_large_for_64_bits_are_refused() -> None:
    assert f"<text>:1: score '-1e400' is too large for a 64-bit number (query 51, document D12). {ADVICE}" == refusal(
        lambda: parse_run("51 Q0 D12 1 -1e400 x")
    )
    assert [("51", "D12", 1e308), ("51", "D13", 0.0)] == run_rows(
        parse_run("51 Q0 D12 1 1e308 x\n51 Q0 D13 2 1e-400 x")
    )


def test_the_first_ten_bad_rows_are_shown_and_the_others_counted() -> None:
    rows = [f"q Q0 d{row} {row} {'nan' if row % 2 else '1.5'} x" for row in range(1, 95)]
    message = refusal(lambda: parse_run("\n".join(rows))).splitlines()

    assert f"<text>:1: score 'nan' is not a number (query q, document d1). {ADVICE}" == message[0]
    assert "  line 3: score 'nan' is not a number (query q, document d3)" == message[1]
    assert "  and 37 more" == message[-1]
    assert SHOWN + 1 == len(message)


def test_bad_rows_are_counted_to_the_end_of_a_long_file() -> None:
    text = "q Q0 d 1 1.5 x\n" * 50_000 + "q Q0 d 1 nan x\n" * 50_000
    message = refusal(lambda: parse_run(text)).splitlines()

    assert message[0].startswith("<text>:50001: score 'nan'")
    assert "  and 49,990 more" == message[-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q Q0 a 1 2 x\nq Q0 a b 1 2 x\nq Q0 c 1 2 x\n",
            "<text>:2: line has 7 columns, the lines before have 6. Does an id contain a space?",
        ),
        (
            "q Q0 a 1 2 x y\nq Q0 b 1 2 x\n",
            "<text>:2: line has 6 columns, the lines before have 7. Does an id contain a space?",
        ),
        ("q Q0 a 1 2 x\nq Q0 b 1\n", "<text>:2: line has 4 columns, the lines before have 6. Is the line cut off?"),
        ("q a 1\nq\n", "<text>:2: line has 1 column, the lines before have 3. Is the line cut off?"),
        (
            "qid docno score\nq a 1\nq b c 1\n",
            "<text>:3: line has 4 columns, the header has 3. Does an id contain a space?",
        ),
    ],
)
def test_lines_of_another_width_are_refused(text: str, message: str) -> None:
    assert message == refusal(lambda: parse_run(text))


def test_two_wrong_widths_do_not_make_up_for_each_other() -> None:
    assert (
        "<text>:1: line has 5 columns, expected 4 (query iteration document grade). Does an id contain a space?\n"
        in refusal(lambda: parse_qrels("q 0 a b 1\nq 0 1\n", input_format="trec")) + "\n"
    )
    assert refusal(lambda: parse_qrels("q 0 a 1\nq 0 a b 1\nq c 1\n")).startswith("<text>:2: line has 5 columns")


def test_wide_and_narrow_blanks_together_are_counted_rightly() -> None:
    run = parse_run("q  Q0 a 1 2 x\nq Q0 b 1 2 x \n\n\tq Q0\tc 1 2  x\n")

    assert ["a", "b", "c"] == run.doc.tolist()


def test_a_blank_between_tabs_is_refused() -> None:
    assert (
        "<text>: 'doc 3' is between tabs but contains a space, which also separates columns. "
        "Remove the space, or write TSV with a header line, where ids may contain spaces."
    ) == refusal(lambda: parse_run("1\tQ0\tdoc 3\t1\t9.5\tsys\n1\tQ0\tdoc 4\t2\t8.5\tsys\n"))


def test_old_mac_line_ends_are_refused() -> None:
    message = (
        "<text>:1: carriage return (CR) without a line feed (LF): old Mac line endings? "
        "Convert them: tr '\\r' '\\n' < OLD > NEW"
    )

    assert message == refusal(lambda: parse_run("q Q0 a 1 2 x\rq Q0 b 2 1 x\r"))
    assert message == refusal(lambda: parse_qrels("q 0 a 1\rq 0 b 1"))
    assert message == refusal(lambda: parse_qrels("query_id,doc_id,rel\rq,a,1\r"))


def test_a_carriage_return_inside_a_line_is_refused() -> None:
    assert refusal(lambda: parse_run("q Q0 a 1 2 x\nq Q0 b 2 1 x\rq Q0 c 2 1 x\n")).startswith(
        "<text>:2: carriage return"
    )
    assert ["a"] == parse_run("q Q0 a 1 2 x\r").doc.tolist()
    assert ["a", "b"] == parse_run("q Q0 a 1 2 x\r\r\nq Q0 b 2 1 x\r\r\n").doc.tolist()


def test_a_byte_order_mark_inside_is_refused() -> None:
    assert (
        "<text>:2: the line starts with a byte order mark, left over from joining files? "
        "Remove it: sed 's/^\\xef\\xbb\\xbf//'"
    ) == refusal(lambda: parse_qrels("\ufeffq1 0 a 1\n\ufeffq2 0 a 1\n"))


def test_a_nul_byte_is_refused_with_its_line() -> None:
    assert (
        "<text>:2: the line contains a NUL byte, which ids and numbers cannot have. Remove it: tr -d '\\000' < OLD > NEW"
    ) == refusal(lambda: parse_run("q Q0 a 1 9.5 x\nq Q0 b\0 2 9.25 x\nq Q0 c 3 9.0 x\n"))


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n\n", "# only\n# comments", "\ufeff", "qid docno score\n", "#\r\n"])
def test_a_file_without_data_is_refused(text: str) -> None:
    message = "<text>: no data: the file is empty or contains only blank lines, comments or a header"

    assert message == refusal(lambda: parse_run(text))


def test_hostile_ids_are_shown_harmless_and_short() -> None:
    message = refusal(lambda: parse_run(b"q\x1b[31m Q0 " + b"d" * 1_000_000 + b"\xff 1 nan x"))

    assert message.startswith(
        f"<text>:1: score 'nan' is not a number (query q\\x1b[31m, document {'d' * 37}...{'d' * 19}\\xff)"
    )


def test_an_id_of_a_megabyte_is_read() -> None:
    long = "d" * 1_000_000

    assert [long] == parse_run(f"q Q0 {long} 1 1.5 x").doc.tolist()
    assert [long, long] == parse_qrels(f"q 0 {long} 1\nq 0 {long} 0").doc.tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 64])
def test_chunks_may_end_anywhere(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    text = "\ufeff# c\r\nqid iter docno rank score tag\r\n\r\nq1 Q0 a 1 9.5 x\r\n#\nq1  Q0 é 2 8.25 y\n\nq2 Q0 c 1 7 z"
    monkeypatch.setattr(sources, "BLOCK_SIZE", size)
    run = parse_run(text)

    assert [("q1", "a", 9.5), ("q1", "é", 8.25), ("q2", "c", 7.0)] == run_rows(run)
    assert ([1, 2, 1], "z") == (listed(run.rank), run.tag)
    assert refusal(lambda: parse_run(text.replace("7 z", "nan z"))).startswith("<text>:8: score 'nan'")


def test_a_width_is_remembered_from_chunk_to_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_SIZE", 13)

    assert "<text>:2: line has 7 columns, the lines before have 6. Does an id contain a space?" == refusal(
        lambda: parse_run("q Q0 a 1 2 x\nq Q0 a 1 2 x y\nq Q0 a 1 2 x\n")
    )


def test_a_refusal_knows_its_source_and_line() -> None:
    with pytest.raises(InputError) as caught:
        parse_run("q Q0 a 1 2 x\nq Q0 b 1 x x\n")

    assert ("<text>", 2) == (caught.value.source, caught.value.line)


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_never_ends_is_refused_before_it_fills_the_memory(tmp_path, packed):
    path = tmp_path / ("long.run.gz" if packed else "long.run")
    with (gzip.open if packed else open)(path, "wb") as file:
        for seed in range(20):
            file.write(random.Random(seed).randbytes(1 << 19).hex().encode())  # hardly shrinks

    for read in (read_run, read_qrels):
        with pytest.raises(InputError, match=r"long\.run.*: a line has more than 16 MB"):
            read(path, input_format="trec")
    assert ["RUN001"] == validate_run(path).codes()[:1]
