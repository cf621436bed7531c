"""Tables of scores per query, from any tool."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.inputs.scores import read_scores


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
