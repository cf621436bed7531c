"""Tables of scores per query, from any tool."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from assay.errors import InputError
from assay.inputs.scores import as_scores, read_scores


@pytest.fixture
def read(tmp_path: Path):
    def reading(text: str):
        path = tmp_path / "scores"
        path.write_text(text)
        return read_scores(path)

    return reading


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_queries_down_and_systems_across(read, delimiter: str) -> None:
    table = read("query,a,b\n51,0.5,0.25\n52,1e-1,0\n".replace(",", delimiter))

    assert (("51", "52"), ("a", "b")) == (table.queries, table.systems)
    assert [[0.5, 0.25], [0.1, 0.0]] == table.values.tolist()


@pytest.mark.parametrize("cell", ["", "NaN", "NA", "-"])
def test_a_value_that_is_not_there(read, cell: str) -> None:
    assert math.isnan(read(f"query,a,b\n51,{cell},0.25\n").values[0, 0])


@pytest.mark.parametrize("text", ["\n\nquery;a;b\n51; 0.5;1\n", "query,a,b\n   \n51,0.5,1\n,,\n"])
def test_empty_lines_do_not_matter(read, text: str) -> None:
    assert (("51",), [[0.5, 1.0]]) == (read(text).queries, read(text).values.tolist())


def test_quoted_cells_may_hold_what_parts_them(read) -> None:
    table = read('\ufeffquery;"a; b"; "c"\n"q ""1""";1;2\n')

    assert (('q "1"',), ("a; b", "c")) == (table.queries, table.systems)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "scores: no data"),
        ("\t\t\n,\n", "scores: no data"),
        ("query\n1\n", "scores:1: the first line must name the query and then the systems, but has one column"),
        ("query,a,a\n1,2,3\n", "scores:1: two systems are called 'a'"),
        ("query,a,b\n1,2\n", "scores:2: line has 2 columns, the first line has 3"),
        ("query,a,b\n1,2,3\n1,2,3\n", "scores:3: query 1 appears twice"),
        ("query,a,b\n1,2,0x1\n", "scores:2: '0x1' of system b is not a number"),
        ("query,a,b\n", "scores: the table has a header but no queries"),
        ("query,a,\n1,2,\n", "scores:1: system 2 has no name"),
        ("query,a,b\n,2,3\n", "scores:2: the query id is empty"),
        ('query,a,b\n"q\n1",2,3\n2,3,x\n', "scores:4: 'x' of system b is not a number"),
        ('query,a,b\n"1,2,3\n2,3,4\n', "scores:3: cannot read the table: unexpected end of data"),
        ("query,a,b\r1,2,3\r", "scores:1: cannot read the table: new-line character seen in unquoted field"),
    ],
)
def test_what_is_no_table(read, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert message in str(error.value)


# Python values

DOWN = {"query": ["51", "52"], "a": [0.5, 0.1], "b": [0.25, None]}


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"51": 0.5, "52": 0.1}, "b": {"51": 0.25}},
        {"a": {51: 0.5, 52: 0.1}, "b": {"51": np.float32(0.25), "52": None}},
        {"a": {"51": 0.5, "52": 0.1}, "b": {"52": math.nan, "51": 0.25}},
        pandas.DataFrame(DOWN),
        pandas.DataFrame(DOWN).set_index("query"),
        pandas.DataFrame(DOWN).set_index("query").rename_axis(None),
        pandas.DataFrame(DOWN).set_index("query").rename_axis(columns="system"),
        pandas.DataFrame(DOWN | {"query": [51, 52]}),
        pandas.concat([pandas.DataFrame({"query": ["50"]}), pandas.DataFrame(DOWN)], ignore_index=True)[1:],
        polars.DataFrame(DOWN),
        polars.LazyFrame(DOWN),
        pyarrow.table(DOWN),
        pyarrow.table(DOWN).to_reader(),
    ],
)
def test_dicts_and_data_frames_are_tables_too(value) -> None:
    table = as_scores(value)

    assert (("51", "52"), ("a", "b")) == (table.queries, table.systems)
    assert [0.5, 0.25, 0.1] == table.values.ravel()[:3].tolist()
    assert math.isnan(table.values[1, 1])


def test_a_path_is_read(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("query,a\n51,0.5\n")

    assert [[0.5]] == as_scores(str(tmp_path / "scores.csv")).values.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            3,
            "cannot read a value of type int as a table of scores: pass a path, a dict {system: {query: value}}, or a data "
            "frame with the queries in the first column and a column for each system.",
        ),
        ({}, "scores: the table has no queries"),
        ({"a": {}}, "scores: the table has no queries"),
        ({"a": [0.5]}, "scores: the value of system a has the type list; expected {query: value}."),
        ({"a": {"51": "0.5"}}, "scores: '0.5' (str) is not a number (system a, query 51)"),
        ({"a": {"51": math.inf}}, "scores: inf (float) is not a finite number (system a, query 51)"),
        ({"a": {51: 0.5, "51": 0.5}}, "scores: query 51 appears twice"),
        ({"a": {0.5: 0.5}}, "scores: 0.5 (float) is not a query id; ids must be text or whole numbers."),
        (
            pandas.DataFrame({"a": [0.5], "b": [0.5]}),
            "scores: 0.5 (float) is not a query id; ids must be text or whole",
        ),
        (pandas.DataFrame({"query": ["51", "51"], "a": [1, 2]}), "scores: query 51 appears twice"),
        (pandas.DataFrame({"query": ["51"], "a": ["x"]}), "scores: 'x' (str) is not a number (system a, query 51)"),
        (
            polars.DataFrame({"query": ["51"]}),
            "scores: expected the queries in the first column and then a column for each system; the columns are query.",
        ),
    ],
)
def test_values_that_are_no_table(value, message: str) -> None:
    with pytest.raises(InputError) as error:
        as_scores(value)
    assert str(error.value).startswith(message)
