"""Three ways to read TREC text: ours, trec_eval 9's and trec_eval 10's."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.formats.dialects import ASSAY, TREC_EVAL_9, TREC_EVAL_10, Dialect
from assay.formats.trec import read_trec_qrels, read_trec_run
from assay.tables import Qrels, Run
from reading.rows import qrels_rows, refusal, run_rows

TREC_EVALS = [TREC_EVAL_9, TREC_EVAL_10]
ALL = [ASSAY, *TREC_EVALS]


class Files:
    """Qrels and runs written to a file and read back in a dialect."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "file"

    def qrels(self, text: str | bytes, dialect: Dialect) -> Qrels:
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_trec_qrels(self.path, dialect)

    def run(self, text: str | bytes, dialect: Dialect) -> Run:
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_trec_run(str(self.path), dialect)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize("dialect", ALL)
def test_plain_files_are_the_same_to_all(files: Files, dialect: Dialect) -> None:
    run = files.run("q1 Q0 a 1 9.5 bm25\r\n\nq1\tQ0  b 2 8 bm25", dialect)

    assert [("q1", "a", 9.5), ("q1", "b", 8.0)] == run_rows(run)
    assert ("file", "bm25") == (run.name, run.tag)
    assert [("q1", "a", 1.0), ("q1", "b", -1.0)] == qrels_rows(files.qrels("q1 0 a 1\nq1 0 b -1\n", dialect))


@pytest.mark.parametrize("dialect", ALL)
def test_none_of_them_recognises_other_formats(files: Files, dialect: Dialect) -> None:
    assert "line has 3 columns, expected 4 (query iteration document grade). Is the line cut off?" in refusal(
        lambda: files.qrels("q1 a 1\n", dialect)
    )
    assert "line has 3 columns, expected 6 (query Q0 document rank score tag). Is the line cut off?" in refusal(
        lambda: files.run("q1 a 1\n", dialect)
    )
    assert "line has 3 columns, expected 4" in refusal(lambda: files.qrels('{"q1": {"a": 1}}', dialect))


def test_comments_are_data_to_trec_eval_9_alone(files: Files) -> None:
    text = "# NIST\nq1 0 a 1\n"

    assert [("q1", "a", 1.0)] == qrels_rows(files.qrels(text, ASSAY)) == qrels_rows(files.qrels(text, TREC_EVAL_10))
    assert "file:1: line has 2 columns, expected 4" in refusal(lambda: files.qrels(text, TREC_EVAL_9))
    assert [("#", "b", 1.0), ("q1", "a", 1.0)] == qrels_rows(files.qrels("# 0 b 1\nq1 0 a 1", TREC_EVAL_9))
    assert [("q1", "a", 1.0)] == qrels_rows(files.qrels("# 0 b 1\nq1 0 a 1", TREC_EVAL_10))


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_a_byte_order_mark_is_part_of_the_first_id_to_trec_eval(files: Files, dialect: Dialect) -> None:
    text = "\ufeffq1 0 a 1\nq1 0 b 0\n"

    assert ("q1", "\ufeffq1") == files.qrels(text, dialect).queries
    assert ("q1",) == files.qrels(text, ASSAY).queries


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_trec_eval_ignores_what_follows_the_sixth_field(files: Files, dialect: Dialect) -> None:
    text = "q1 Q0 a 1 9.5 bm25\nq1 Q0 b 2 8 bm25 more junk\nq1 Q0 c 3 7 last one\n"

    assert [("q1", "a", 9.5), ("q1", "b", 8.0), ("q1", "c", 7.0)] == run_rows(files.run(text, dialect))
    assert "last" == files.run(text, dialect).tag
    assert "file:2: line has 8 columns, the lines before have 6" in refusal(lambda: files.run(text, ASSAY))


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_trec_eval_needs_six_fields_in_runs_and_four_in_qrels(files: Files, dialect: Dialect) -> None:
    assert "file:2: line has 5 columns, the lines before have 6" in refusal(
        lambda: files.run("q1 Q0 a 1 9.5 x\nq1 Q0 b 2 8\n", dialect)
    )
    assert "file:2: line has 5 columns, the lines before have 4" in refusal(
        lambda: files.qrels("q1 0 a 1\nq1 0 b 1 x\n", dialect)
    )


@pytest.mark.parametrize("dialect", TREC_EVALS)
@pytest.mark.parametrize("text", ["\nq1 0 a 1\n", "q1 0 a 1\n\nq1 0 b 1\n", "q1 0 a 1\n \n"])
def test_blank_lines_in_qrels_are_refused_as_by_trec_eval(files: Files, dialect: Dialect, text: str) -> None:
    assert "the line is blank. trec_eval does not allow blank lines in qrels: remove them." in refusal(
        lambda: files.qrels(text, dialect)
    )
    assert "q1" in files.qrels(text, ASSAY).queries


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_grades_are_cut_toward_zero_as_by_atol(files: Files, dialect: Dialect) -> None:
    grades = ["1.7", "-0.5", "-1.9", "+2", ".5", "3.", "007"]
    text = "".join(f"q1 0 d{grade} {grade}\n" for grade in grades)

    assert [1.0, 0.0, -1.0, 2.0, 0.0, 3.0, 7.0] == files.qrels(text, dialect).rel.tolist()
    assert [1.7, -0.5, -1.9, 2.0, 0.5, 3.0, 7.0] == files.qrels(text, ASSAY).rel.tolist()


@pytest.mark.parametrize("dialect", TREC_EVALS)
@pytest.mark.parametrize("value", ["1e2", "E", "0x10", "nan", "1_0", "1" * 400])
def test_grades_that_atol_would_misread_are_refused(files: Files, dialect: Dialect, value: str) -> None:
    assert f"file:1: grade '{value[:37]}" in refusal(lambda: files.qrels(f"q1 0 a {value}\n", dialect))


@pytest.mark.parametrize("dialect", TREC_EVALS)
@pytest.mark.parametrize("value", ["nan", "inf", "0x1p3", "high", "1_0", "1e400"])
def test_scores_that_atof_would_misread_are_refused(files: Files, dialect: Dialect, value: str) -> None:
    assert f"file:1: score '{value}' is" in refusal(lambda: files.run(f"q1 Q0 a 1 {value} x\n", dialect))


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_a_header_is_a_line_like_others_to_trec_eval(files: Files, dialect: Dialect) -> None:
    text = "qid iter docno rel\nq1 0 a 1\n"

    assert "file:1: grade 'rel' is not a number (query qid, document docno)" in refusal(
        lambda: files.qrels(text, dialect)
    )
    assert [("q1", "a", 1.0)] == qrels_rows(files.qrels(text, ASSAY))


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_a_carriage_return_is_a_blank_to_trec_eval_but_not_a_line_end(files: Files, dialect: Dialect) -> None:
    assert [("q1", "a", 9.0)] == run_rows(files.run("q1 Q0 a 1 9 x\rq1 Q0 b 2 8 x\n\n", dialect))
    assert "file:1: carriage return (CR) without a line feed (LF)" in refusal(
        lambda: files.run("q1 Q0 a 1 9 x\rq1 Q0 b 2 8 x\r", dialect)
    )


@pytest.mark.parametrize("dialect", TREC_EVALS)
def test_carriage_returns_do_not_hide_lines_of_another_width(files: Files, dialect: Dialect) -> None:
    text = "q1 0 a 1\r2\nq1 0 b \r\n"  # equally many separators per line, and eight columns in total

    assert "file:1: line has 5 columns" in refusal(lambda: files.qrels(text, dialect))


@pytest.mark.parametrize("dialect", ALL)
@pytest.mark.parametrize("text", [b"", b"\n", b"q1 Q0 a\0b 1 9 x\n", "q1 Q0 a 1 9 x\n".encode("utf-16")])
def test_all_refuse_what_is_no_text(files: Files, dialect: Dialect, text: bytes) -> None:
    assert refusal(lambda: files.run(text, dialect))
    assert refusal(lambda: files.qrels(text, dialect))


def test_nists_own_files_are_read(shared_data: Path) -> None:
    own = shared_data / "cases/trec_eval_own"
    plain = read_trec_qrels(own / "qrels.test", TREC_EVAL_10)
    commented = read_trec_qrels(own / "qrels.test.with-comments", TREC_EVAL_10)

    assert len(plain) == len(commented)
    assert "CR#93E-1860" in commented.doc.tolist()
    assert 584 == len(read_trec_run(own / "results.trunc", TREC_EVAL_9))
