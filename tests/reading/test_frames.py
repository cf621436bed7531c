"""Data frames, Parquet and Arrow: types, missing values, missing packages."""

from __future__ import annotations

import datetime
import io
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from assay.errors import AssayError, InputError, MissingExtraError
from assay.formats import as_qrels, as_run, parse_qrels, parse_run
from assay.formats.readings import Reading
from reading.rows import listed, qrels_rows, refusal, run_rows


def frame(**columns: Any) -> pyarrow.Table:
    return pyarrow.table({"qid": ["1"], "docno": ["a"], "score": [1.5]} | columns)


def parquet(table: pyarrow.Table) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


@pytest.mark.parametrize(
    "scores",
    [
        pyarrow.array([2], pyarrow.uint8()),
        pyarrow.array([2], pyarrow.int64()),
        pyarrow.array([2.0], pyarrow.float16()),
        pyarrow.array([2.0], pyarrow.float32()),
        pyarrow.array([Decimal("2.0")], pyarrow.decimal128(5, 1)),
        pyarrow.array(["2"], pyarrow.string()),
        pyarrow.array(["2e0"], pyarrow.large_string()),
        pyarrow.array(["2"], pyarrow.string_view()),
        pyarrow.array(["2"]).dictionary_encode(),
    ],
)
def test_scores_may_be_of_any_numeric_type(scores: pyarrow.Array) -> None:
    assert [("1", "a", 2.0)] == run_rows(as_run(frame(score=scores)))


def test_true_and_false_are_grades() -> None:
    table = pyarrow.table({"qid": ["1", "1"], "docno": ["a", "b"], "label": [True, False]})

    assert [("1", "a", 1.0), ("1", "b", 0.0)] == qrels_rows(as_qrels(table))


@pytest.mark.parametrize(
    "ids",
    [
        pyarrow.array(["51"]),
        pyarrow.array(["51"], pyarrow.large_string()),
        pyarrow.array(["51"], pyarrow.string_view()),
        pyarrow.array([b"51"], pyarrow.binary()),
        pyarrow.array([51], pyarrow.int32()),
        pyarrow.array([51], pyarrow.uint64()),
        pyarrow.array([51]).dictionary_encode(),
        pyarrow.array(["51"]).dictionary_encode(),
    ],
)
def test_ids_may_be_text_or_whole_numbers(ids: pyarrow.Array) -> None:
    assert [("51", "a", 1.5)] == run_rows(as_run(frame(qid=ids)))


def test_large_whole_numbers_are_ids_to_the_last_digit() -> None:
    assert ["18446744073709551615"] == as_run(frame(docno=pyarrow.array([2**64 - 1], pyarrow.uint64()))).doc.tolist()


def test_fractional_ids_are_refused() -> None:
    assert (
        "run: query id 1.0 is a float64 (row 1, query 1.0, document a). "
        "Ids must be non-empty text or whole numbers: fix or remove these rows."
    ) == refusal(lambda: as_run(frame(qid=pyarrow.array([1.0]))).queries)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("qid", ["1", None], "run: query id is missing (row 2, query None, document a)."),
        ("docno", ["a", ""], "run: document id is empty (row 2, query 1, document )."),
        ("score", [1.5, None], "run: score is missing (row 2, query 1, document a)."),
        ("score", [1.5, float("nan")], "run: score nan (float64) is not a finite number (row 2, query 1, document a)."),
        ("score", [1, float("inf")], "run: score inf (float64) is not a finite number (row 2, query 1, document a)."),
        ("score", ["1", "nan"], "run: score 'nan' is not a number (row 2, query 1, document a)."),
        ("score", ["1", ""], "run: score is missing (row 2, query 1, document a)."),
        ("score", [[1], [2]], "run: score [1] (list) is not a number (row 1, query 1, document a)."),
        (
            "score",
            [datetime.date(2026, 1, 2)] * 2,
            "run: score datetime.date(2026, 1, 2) (date) is not a number (row 1, query 1, document a).",
        ),
    ],
)
def test_values_that_are_missing_or_wrong_are_refused(column: str, values: list[Any], message: str) -> None:
    table = pyarrow.table({"qid": ["1", "1"], "docno": ["a", "a"], "score": [1.5, 2.5]} | {column: values})

    assert message in refusal(lambda: as_run(table))
    assert message.removeprefix("run") in refusal(lambda: parse_run(parquet(table)))


def test_ranks_tags_and_iterations_are_kept() -> None:
    run = as_run(frame(rank=[3], tag=["bm25"], system=["other"]))
    ranked = as_run(pyarrow.table({"qid": [1, 1], "docno": ["a", "b"], "rank": [1.0, 2.0]}))
    qrels = as_qrels(pyarrow.table({"qid": [1, 1], "docno": ["a", "b"], "rel": [1, 0], "iter": [0, 4.5]}))

    assert ([3], "bm25", "run") == (listed(run.rank), run.tag, run.name)
    assert ([-1.0, -2.0], [1, 2]) == (ranked.score.tolist(), listed(ranked.rank))
    assert ["0", "4.5"] == listed(qrels.iteration)


@pytest.mark.parametrize("ranks", [[None, 1], [0.5, 1.0], ["x", "y"], [0, -(2**60)]])
def test_ranks_beside_scores_may_hold_anything(ranks: list[Any]) -> None:
    table = pyarrow.table({"qid": [1, 1], "docno": ["a", "b"], "score": [2, 1], "rank": ranks})

    assert as_run(table).rank is None


def test_a_frame_of_pyterrier_is_read_by_docno() -> None:
    table = pandas.DataFrame(
        {"qid": ["1"], "docid": [7], "docno": ["a"], "rank": [0], "score": [2.5], "query": ["some words"]}
    )

    assert [("1", "a", 2.5)] == run_rows(as_run(table, name="bm25"))
    assert "bm25" == as_run(table, name="bm25").name


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"query_id": ["1"], "qid": ["1"], "docno": ["a"], "rel": [1]},
            "qrels: the columns 'query_id' and 'qid' could each be the query column. Choose one with "
            "`columns={'query': 'query_id'}`, or rename the others.",
        ),
        (
            {"qid": ["1"], "docno": ["a"], "rel": [1], "Label": [1]},
            "qrels: the columns 'rel' and 'Label' could each be the grade column. Choose one with "
            "`columns={'rel': 'rel'}`, or rename the others.",
        ),
        (
            {"qid": ["1"], "docno": ["a"], "rank": [1], "score": [1]},
            "qrels: these are the columns of a run, not of qrels: qid, docno, rank, score. Are qrels and run swapped?",
        ),
        (
            {"a": [1]},
            "qrels: no query, document or grade column; the columns are a. Say which ones they are with "
            "`columns={'query': 'NAME', 'doc': 'NAME', 'rel': 'NAME'}`.",
        ),
        ({"qid": [], "docno": [], "rel": []}, "qrels: the table has no rows"),
    ],
)
def test_columns_that_do_not_do_are_named(columns: dict[str, Any], message: str) -> None:
    assert refusal(lambda: as_qrels(pyarrow.table(columns))).startswith(message)
    assert refusal(lambda: as_qrels(pandas.DataFrame(columns))).startswith(message)
    assert refusal(lambda: as_qrels(polars.DataFrame(columns))).startswith(message)


def test_letters_and_codes_can_be_mapped() -> None:
    letters = pandas.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": ["E", "2.5"]})
    codes = pandas.DataFrame({"qid": [1, 1, 1], "docno": ["a", "b", "c"], "label": [1, 4, 9]})

    assert [3.0, 2.5] == as_qrels(letters, Reading(grades={"E": 3})).rel.tolist()
    assert [4.0, 1.0, 9.0] == as_qrels(codes, Reading(grades={"1": 4, "4.0": 1})).rel.tolist()


def test_pandas_columns_of_mixed_types_are_explained() -> None:
    mixed = pandas.DataFrame({"qid": pandas.Series(["1", 2], dtype=object), "docno": ["a", "b"], "score": [2, 1]})

    assert "convert ids to text, in pandas with .astype(str)." in refusal(lambda: as_run(mixed))


def test_other_columns_may_hold_anything() -> None:
    table = pandas.DataFrame({"qid": [1], "docno": ["a"], "score": [2.0], "more": [object()], 7: [1]})

    assert [("1", "a", 2.0)] == run_rows(as_run(table))


def test_missing_values_of_pandas_are_refused() -> None:
    table = pandas.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "score": pandas.array([1, None], dtype="Int64")})

    assert "run: score is missing (row 2, query 1, document b)" in refusal(lambda: as_run(table))


def test_text_that_is_not_utf8_is_kept() -> None:
    broken = pyarrow.array([b"d\xe9"], pyarrow.binary()).view(pyarrow.string())

    assert ["d\udce9"] == as_run(frame(docno=broken)).doc.tolist()


def test_damaged_files_are_refused() -> None:
    data = parquet(frame())

    assert "<text>: the Parquet data is damaged: " in refusal(lambda: parse_run(data[:-20]))
    assert "<text>: the Arrow data is damaged: " in refusal(lambda: parse_run(b"ARROW1\0\0" + bytes(20)))


def test_parquet_reads_the_columns_it_needs() -> None:
    table = frame(text=["x" * 1000], vector=[[1.0, 2.0]])

    assert [("1", "a", 1.5)] == run_rows(parse_run(parquet(table)))
    assert "<text>: no grade column; the columns are qid, docno, text" in refusal(
        lambda: parse_qrels(parquet(table.drop_columns(["score", "vector"])))
    )


def test_without_the_packages_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    data, table = parquet(frame()), pandas.DataFrame({"qid": [1], "docno": ["a"], "score": [2.0]})
    monkeypatch.setitem(sys.modules, "narwhals", None)

    assert "reading data frames needs one more package: pip install 'assay-ir[frames]'" == refusal(
        lambda: as_run(table), MissingExtraError
    )

    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert "reading Parquet and Arrow files needs one more package: pip install 'assay-ir[frames]'" == refusal(
        lambda: parse_run(data), MissingExtraError
    )


def test_anything_that_speaks_arrow_is_read() -> None:
    class Capsule:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return frame().__arrow_c_stream__(requested_schema)

    assert [("1", "a", 1.5)] == run_rows(as_run(Capsule()))


def test_many_chunks_are_one_column() -> None:
    table = pyarrow.concat_tables([frame(score=[float(row)]) for row in range(5)])

    assert [0.0, 1.0, 2.0, 3.0, 4.0] == as_run(table).score.tolist()
    assert np.float64 == as_run(table).score.dtype


def test_a_damaged_arrow_file_is_refused_not_run_into() -> None:
    """Without validation, a flipped bit in the offsets causes reads out of bounds."""
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({"query": ["q1", "q1"], "doc": ["aaaa", "bbbb"], "score": [2.0, 1.0]})
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    good = bytearray(sink.getvalue())
    lengths, refused = set(), 0
    for position in range(0, len(good), 3):
        bad = bytearray(good)
        bad[position] ^= 0x40
        try:
            lengths.add(tuple(len(doc) for doc in parse_run(bytes(bad), input_format="arrow").doc))
        except AssayError:
            refused += 1

    assert {(4, 4)} == lengths  # a letter or a score may have changed, but every id ends where it did
    assert refused > len(good) / 3 / 2


def test_dates_that_python_does_not_know_are_refused() -> None:
    far = pyarrow.array([10**9], pyarrow.date32())
    table = pyarrow.table({"query_id": ["q1"], "doc_id": ["a"], "score": far})

    with pytest.raises(InputError, match=r"^run: a column of type date32\[day\] cannot be read: days=1000000000"):
        as_run(table)


def test_text_that_is_not_utf8_is_read_beside_missing_values_too() -> None:
    """Arrow does not check its text; a missing id is refused, and named with its row."""
    binary = pyarrow.array([b"a", b"\xff", None])
    docs = pyarrow.StringArray.from_buffers(3, *binary.buffers()[1:], binary.buffers()[0], 1)
    table = pyarrow.table({"query_id": ["q1"] * 3, "doc_id": docs, "score": [1.0, 2.0, 3.0]})

    with pytest.raises(InputError, match="document id is missing"):
        as_run(table)
