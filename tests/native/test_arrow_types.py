"""Columns of every Arrow type, in chunks and slices, from every library: the kernel and NumPy read the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from assay import Rules
from native.inputs import Case, as_arrow, cases, some_rules, string_array
from native.paths import NEEDS_KERNEL, both_paths, hits, kernel_and_numpy, values

pytestmark = NEEDS_KERNEL

QUERIES = ["1", "1", "1", "22", "22", "1", "333"]
DOCS = ["11", "a long id of more than twelve bytes", "7", "22", "7", "é", "7"]
SCORES = [3, 1, 3, 5, 5, 3, 2]
RANKS = [3, 1, 2, 2, 1, 4, 1]
GRADES = {
    "1": {"7": 1, "é": 2, DOCS[1]: 1},
    "22": {"22": 1, "7": 0, "0": 1},
    "4444": {"7": 1},
}
TABLE = pa.table({"query": QUERIES, "doc": DOCS, "score": pa.array(SCORES, pa.float64()), "rank": RANKS})
ALL_RULES = [Rules(), Rules(order="rank"), Rules(ties="rank-column"), Rules(self_match="drop", ties="input")]


def with_column(name: str, column: Any, table: Any = TABLE) -> Any:
    return table.set_column(table.column_names.index(name), name, column)


def whole_ids() -> Any:
    """The table with ids that are whole numbers, as text."""
    return with_column("doc", pa.array(["11", "12", "7", "22", "8", "9", "7"]))


def check(table: Any, *, alone: bool) -> None:
    """Both paths agree; with `alone`, the kernel does all the work."""
    for rules in ALL_RULES:
        native, numpy = (kernel_and_numpy if alone else both_paths)(lambda: hits(GRADES, table, rules))  # noqa: B023
        assert numpy == native


# Types

TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
DICTIONARIES = [
    pa.dictionary(codes, texts)
    for codes in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64())
    for texts in (pa.string(), pa.large_string())
]
WHOLE_NUMBERS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]


@pytest.mark.parametrize("kind", [*TEXTS, *DICTIONARIES], ids=str)
@pytest.mark.parametrize("column", ["query", "doc"])
def test_text_of_every_type(column: str, kind: Any) -> None:
    check(with_column(column, TABLE[column].cast(kind)), alone=True)


@pytest.mark.parametrize("kind", [pa.dictionary(pa.uint64(), pa.string()), pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("column", ["query", "doc"])
def test_text_of_types_that_numpy_reads(column: str, kind: Any) -> None:
    check(with_column(column, TABLE[column].cast(kind)), alone=False)


@pytest.mark.parametrize("kind", WHOLE_NUMBERS, ids=str)
@pytest.mark.parametrize("column", ["query", "doc"])
def test_whole_numbers_as_ids(column: str, kind: Any) -> None:
    numbers = whole_ids()
    if column == "query":
        numbers = with_column("query", pa.array([1, 1, 1, 22, 22, 1, 33]).cast(pa.string()), numbers)

    check(with_column(column, numbers[column].cast(kind), numbers), alone=True)


@pytest.mark.parametrize("kind", [*WHOLE_NUMBERS, pa.float32(), pa.float64()], ids=str)
def test_scores_of_every_type(kind: Any) -> None:
    check(with_column("score", pa.array(SCORES).cast(kind)), alone=True)


@pytest.mark.parametrize("kind", WHOLE_NUMBERS[:-1], ids=str)
def test_ranks_of_every_type(kind: Any) -> None:
    check(with_column("rank", pa.array(RANKS).cast(kind)), alone=True)


@pytest.mark.parametrize("column", ["score", "rank"])
@pytest.mark.parametrize(
    "kind",
    [
        *(pa.float16(), pa.float32(), pa.float64(), pa.uint64(), pa.decimal128(24, 2), pa.string(), pa.large_string()),
        *(pa.dictionary(pa.int32(), pa.float64()), pa.dictionary(pa.int8(), pa.int64())),
        *(pa.dictionary(pa.int32(), pa.string()), pa.date32(), pa.duration("s"), pa.time32("s"), pa.timestamp("s")),
    ],
    ids=str,
)
def test_numbers_of_types_that_are_none_or_rare(column: str, kind: Any) -> None:
    """Dictionary codes, days and seconds would be whole numbers to a kernel that ignores the type."""
    numbers = TABLE[column].combine_chunks()
    if pa.types.is_dictionary(kind):
        converted = numbers.cast(kind.value_type).dictionary_encode().cast(kind)
    elif pa.types.is_temporal(kind):
        whole = numbers.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
        converted = whole.cast(kind)
    elif pa.types.is_float16(kind):
        converted = pa.array(np.array(numbers.to_pylist(), np.float16))
    else:
        converted = numbers.cast(kind)

    check(with_column(column, converted), alone=False)


@pytest.mark.parametrize("column", ["query", "doc", "score", "rank"])
def test_runs_of_equal_values(column: str) -> None:
    from pyarrow import compute

    check(with_column(column, compute.run_end_encode(TABLE[column].combine_chunks())), alone=False)


@pytest.mark.parametrize("score", [2**53 + 1, 2**63 - 1, 1 - 2**63, 2**24 + 1])
def test_whole_numbers_that_no_float_holds(score: int) -> None:
    check(with_column("score", pa.array([score, score - 1, score, 5, 6, 7, 8])), alone=True)


# Nulls and values that are not numbers


@pytest.mark.parametrize("column", ["query", "doc", "score", "rank"])
@pytest.mark.parametrize("place", [0, 3, 6])
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
def test_a_null_anywhere(column: str, place: int, encoded: bool) -> None:
    cells = TABLE[column].to_pylist()
    cells[place] = None
    with_null = pa.array(cells)

    check(with_column(column, with_null.dictionary_encode() if encoded else with_null), alone=False)


def test_a_null_that_is_sliced_away_or_only_in_the_dictionary() -> None:
    padded = pa.array([None, *DOCS, None])
    unused = pa.DictionaryArray.from_arrays(pa.array(range(7)), pa.array([*DOCS, None]))

    check(with_column("doc", padded.slice(1, 7)), alone=True)
    check(with_column("doc", unused), alone=False)


def test_a_null_inside_a_dictionary_that_is_used() -> None:
    inside = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 2, 4, 2]), pa.array([*DOCS[:4], None]))

    check(with_column("doc", inside), alone=False)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("place", [1, 6], ids=["judged", "unjudged"])
def test_scores_that_are_not_finite(value: float, kind: Any, place: int) -> None:
    scores = [float(score) for score in SCORES]
    scores[place] = value

    check(with_column("score", pa.array(scores, kind)), alone=False)


def test_text_that_is_not_utf8() -> None:
    docs = string_array([b"\xff", b"7", b"\xc3", b"22", b"7", "é".encode(), b"\xed\xa0\x80"])
    table = with_column("doc", docs)
    tagged = table.append_column("tag", docs)

    check(table, alone=True)
    check(tagged, alone=False)


@pytest.mark.parametrize(
    "tags",
    [["a"] * 7, ["a"] * 6 + [None], list(range(7)), [0.5] * 7, [float("nan")] * 7, [True] * 7, [b"a"] * 7, [2.0] * 7],
    ids=lambda tags: repr(tags[-1]),
)
def test_any_tag(tags: list[Any]) -> None:
    check(TABLE.append_column("tag", pa.array(tags)), alone=True)
    check(TABLE.append_column("tag", pa.array(tags).dictionary_encode()), alone=True)


# Chunks and slices


@settings(max_examples=150)
@given(data=st.data(), case=cases(), rules=some_rules())
def test_any_chunks_and_slices(data: st.DataObject, case: Case, rules: Rules) -> None:
    table = as_arrow(case.rows, Path())
    cut = data.draw(st.integers(0, len(table) - 1))
    pieces = [table.slice(0, 0), table.slice(0, cut), table.slice(cut)]
    chunked = pa.concat_tables(pieces)
    columns = {
        name: chunked[name].cast(data.draw(st.sampled_from(TEXTS))) if name in ("query", "doc") else chunked[name]
        for name in chunked.column_names
    }
    columns["doc"] = columns["doc"].combine_chunks() if data.draw(st.booleans()) else columns["doc"]
    run = pa.table(columns).slice(data.draw(st.integers(0, 2)))

    native, numpy = both_paths(lambda: hits(case.qrels, run, rules))
    assert numpy == native


@pytest.mark.parametrize("kind", [*TEXTS, DICTIONARIES[0]], ids=str)
def test_slices_of_one_long_column(kind: Any) -> None:
    """The offset of a slice counts for texts, codes, numbers and their nulls."""
    texts = pa.array([f"{number % 3}" for number in range(100)])
    docs = pa.array([f"document {number * 7 % 100}" for number in range(100)])
    table = pa.table({"query": texts.cast(kind), "doc": docs.cast(kind), "score": pa.array(range(100), pa.float32())})
    grades = {"1": {f"document {number}": 1 for number in range(0, 100, 9)}, "2": {"document 5": 1}}

    for begin, length in [(0, 100), (1, 98), (7, 8), (8, 16), (63, 3), (65, 35)]:
        run = table.slice(begin, length)
        native, numpy = kernel_and_numpy(lambda: hits(grades, run))  # noqa: B023
        assert numpy == native


def test_dictionaries_that_change_from_chunk_to_chunk() -> None:
    chunks = [pa.array(DOCS[:3]).dictionary_encode(), pa.array(DOCS[3:]).dictionary_encode()]

    check(with_column("doc", pa.chunked_array(chunks)), alone=True)


def test_columns_cut_in_different_places() -> None:
    cut = {
        name: pa.chunked_array([TABLE[name].combine_chunks()[:at], TABLE[name].combine_chunks()[at:]])
        for at, name in enumerate(TABLE.column_names, 1)
    }

    check(pa.table(cut), alone=True)


@pytest.mark.parametrize("table", [TABLE.slice(0, 0), pa.table({"query": [], "doc": [], "score": []})])
def test_no_rows(table: Any) -> None:
    check(table, alone=False)


# Libraries and files


def frames() -> dict[str, Any]:
    pandas = pd.DataFrame({"qid": QUERIES, "docno": DOCS, "score": SCORES, "rank": RANKS})
    polars = pl.DataFrame({"query_id": QUERIES, "doc_id": DOCS, "score": SCORES, "rank": RANKS})
    return {
        "pandas": pandas,
        "pandas objects": pandas.astype({"qid": object, "docno": object}),
        "pandas categories": pandas.astype({"qid": "category", "docno": "category"}),
        "pandas arrow": pandas.astype({"docno": "string[pyarrow]", "score": "float32"}),
        "pandas selection": pandas[::-2],
        "pandas with another index": pandas.set_index("rank", drop=False),
        "polars": polars,
        "polars lazy": polars.lazy(),
        "polars categories": polars.cast({"query_id": pl.Categorical, "doc_id": pl.Categorical}),
        "polars enum": polars.cast({"query_id": pl.Enum(["1", "22", "333", "x"])}),
        "polars slice": polars[1:6],
        "polars shuffled": polars.sample(fraction=1.0, shuffle=True, seed=3),
        "record batch": TABLE.to_batches()[0],
        "arrow": TABLE,
    }


@pytest.mark.parametrize("name", frames())
def test_frames_of_every_library(name: str) -> None:
    run = frames()[name]

    native, numpy = kernel_and_numpy(lambda: values(GRADES, run))
    assert numpy == native
    check(run, alone=True)


@pytest.mark.parametrize(
    "scores", [[1, 2, None, 4, 5, 6, 7], [1.0, float("nan"), 2, 3, 4, 5, 6], ["1"] * 7, [True] * 7]
)
def test_odd_scores_in_pandas_and_polars(scores: list[Any]) -> None:
    for frame in (pd.DataFrame, pl.DataFrame):
        check(frame({"query": QUERIES, "doc": DOCS, "score": scores}), alone=False)


def write_file(table: Any, path: Path) -> None:
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=3)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path))
    else:
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("name", ["run.parquet", "run.feather", "run.arrow"])
@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_files_of_columns(tmp_path: Path, name: str, kind: Any) -> None:
    path = tmp_path / name
    write_file(with_column("query", TABLE["query"].cast(kind)), path)

    check(path, alone=True)


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "damaged.parquet"
    write_file(TABLE, path)
    path.write_bytes(path.read_bytes()[:-30] + b"PAR1")

    native, numpy = both_paths(lambda: hits(GRADES, path))
    assert numpy == native
    assert "InputError" == native[0]


def test_nothing_of_a_frame_is_changed() -> None:
    frame = pd.DataFrame({"qid": QUERIES, "docno": DOCS, "score": SCORES})
    before = frame.copy(deep=True)

    check(frame, alone=False)
    pd.testing.assert_frame_equal(before, frame)
