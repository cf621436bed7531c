"""Malformed files are read correctly or rejected; shared/data/malformed/table.json shows what other tools do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.formats import read_qrels, read_run
from reading.rows import qrels_rows, refusal, run_rows

SAME_RUN = [
    "good.run",
    "r01_crlf.run",
    "r03_tabs_spaces.run",
    "r05_seven_cols.run",
    "r09_no_final_newline.run",
    "r25_rank_score_conflict.run",
    "r27_blank_lines.run",
    "r29_header.run",
    "r55_trailing_blank.run",
]
SAME_QRELS = [
    "good.qrels",
    "q01_crlf.qrels",
    "q11_header4.qrels",
    "q23_comments.qrels",
    "q25_interleaved.qrels",
    "q27_iter_float.qrels",
]
REFUSED = {
    "r07_one_short_line.run": ":4: line has 4 columns, the lines before have 6.",
    "r13_nan.run": ":2: score 'NaN' is not a number (query 1, document d2).",
    "r17_text_score.run": ":2: score 'high' is not a number (query 1, document d2).",
    "r19_overflow.run": ":4: score '1e400' is too large for a 64-bit number (query 1, document d9).",
    "r21_unicode_digits.run": ":5: score '٩٩' is not a number (query 1, document d5).",
    "r33_id_with_space.run": ": 'doc 3' is between tabs but contains a space,",
    "r35_formfeed_id.run": ":4: line has 7 columns, the lines before have 6. Does an id contain a space?",
    "r37_nul.run": ":4: the line contains a NUL byte,",
    "r39_only_newline.run": ": no data: the file is empty ",
    "r45_cr_only.run": ":1: carriage return (CR) without a line feed (LF): old Mac line endings?",
    "q13_short_line.qrels": ":5: line has 3 columns, the lines before have 4. Is the line cut off?",
    "q15_empty.qrels": ": no data: the file is empty ",
}
# Valid syntax with unusual content, which is read unchanged. Name -> number of rows, one of the rows.
READ = {
    "r11_dup_diff_score.run": (9, ("1", "d3", 1.0)),
    "r15_sci.run": (8, ("1", "d5", 0.0055)),
    "r23_ties.run": (5, ("1", "d3", 1.0)),
    "r31_latin1_ids.run": (8, ("1", "d\udce93", 9.5)),
    "r41_leading_zero_qid.run": (8, ("01", "d3", 9.5)),
    "r43_missing_topic_c.run": (5, ("1", "d5", 5.5)),
    "r47_msmarco3.run": (3, ("1", "d2", -2.0)),
    "r49_long_id.run": (8, ("1", "d" * 1_000_000, 6.0)),
    "r51_deep.run": (2001, ("1", "d3", 0.0001)),
    "r53_case_qid.run": (8, ("q1", "d3", 9.5)),
    "q03_dup_same.qrels": (9, ("1", "d1", 1.0)),
    "q05_negative.qrels": (8, ("1", "d4", -2.0)),
    "q07_float_grade.qrels": (8, ("1", "d3", 1.9)),
    "q09_three_cols.qrels": (3, ("2", "d7", 3.0)),
    "q17_no_relevant_c.qrels": (8, ("2", "d7", 0.0)),
    "q19_extra_topic_c.qrels": (9, ("3", "d1", 1.0)),
    "q21_overflow_grade.qrels": (8, ("1", "d3", 4294967297.0)),
    "q_hash.qrels": (8, ("1", "#d3", 2.0)),
    "q_numeric.qrels": (3, ("1", "100", 0.0)),
    "q_utf8.qrels": (8, ("1", "dé3", 2.0)),
}


@pytest.fixture(scope="module")
def malformed(shared_data: Path) -> Path:
    return shared_data / "malformed"


@pytest.mark.parametrize("file", SAME_RUN)
def test_runs_of_the_same_meaning_are_the_same_run(malformed: Path, file: str) -> None:
    assert run_rows(read_run(malformed / "good.run")) == run_rows(read_run(malformed / file))


@pytest.mark.parametrize("file", SAME_QRELS)
def test_qrels_of_the_same_meaning_are_the_same_qrels(malformed: Path, file: str) -> None:
    assert sorted(qrels_rows(read_qrels(malformed / "good.qrels"))) == sorted(qrels_rows(read_qrels(malformed / file)))


@pytest.mark.parametrize("file", REFUSED)
def test_what_cannot_be_read_is_refused(malformed: Path, file: str) -> None:
    read = read_run if file.endswith(".run") else read_qrels

    assert f"{malformed / file}{REFUSED[file]}" in refusal(lambda: read(malformed / file))


@pytest.mark.parametrize("file", READ)
def test_what_is_only_unusual_is_read_as_it_stands(malformed: Path, file: str) -> None:
    path = malformed / file
    rows = run_rows(read_run(path)) if file.endswith(".run") else qrels_rows(read_qrels(path))
    count, row = READ[file]

    assert count == len(rows)
    assert row in rows


def test_every_malformed_file_is_in_these_tables(malformed: Path) -> None:
    files = {path.name for path in malformed.iterdir()} - {"table.json"}

    assert files == {*SAME_RUN, *SAME_QRELS, *REFUSED, *READ}
