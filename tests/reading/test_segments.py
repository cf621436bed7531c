"""Segment files."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.inputs.segments import read_segments


def read(tmp_path, text):
    path = tmp_path / "segments"
    path.write_text(text, encoding="utf-8")
    return read_segments(path)


@pytest.mark.parametrize(
    "text",
    [
        "query,intent,year\n1,buy,2020\n2,know,\n",
        "qid\tintent\tyear\r\n1\tbuy\t2020\r\n\r\n2\tknow\t\r\n",
        '\ufeffTopic ID;intent;year\n1;"buy";2020\n2; know;\n',
        '{"_id": "1", "text": "shoes", "intent": "buy", "year": 2020}\n{"_id": "2", "intent": "know"}\n',
    ],
)
def test_the_same_in_every_form(tmp_path, text):
    assert {"intent": {"1": "buy", "2": "know"}, "year": {"1": "2020", "2": ""}} == read(tmp_path, text)


def test_columns_without_names_are_numbered(tmp_path):
    assert {"segment": {"1": "buy"}} == read(tmp_path, "1 buy\n")
    assert {"segment 1": {"1": "a"}, "segment 2": {"1": "b"}} == read(tmp_path, "1,a,b\n")


def test_query_is_its_text_where_there_is_an_id_beside_it(tmp_path):
    assert {"kind": {"7": "buy"}} == read(tmp_path, '{"query": "red shoes", "id": 7, "kind": "buy"}\n')


def test_a_label_may_hold_a_comma(tmp_path):
    assert {"kind": {"1": "a, b"}} == read(tmp_path, 'query,kind\n1,"a, b"\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no data: the file is empty"),
        (" ,,\n,\n", "no data: the file is empty"),
        ("query,kind\n1,a\n1,b\n", ":3: query 1 appears twice, first on line 2"),
        ("query,kind\n1,a,b\n", ":2: expected a query and 1 segments, found 3 columns"),
        ("query,kind\n,a\n", ":2: the query id is empty"),
        ('query,kind\n1,"a\n2,b\n', ":3: cannot read the table: unexpected end of data"),
        ("query,a,a\n1,x,y\n", "two columns have the same name: a, a"),
        ("query\n1\n", "expected a query and at least one segment on each line"),
        ('{"kind": "a"}\n', ":1: expected an object with a query id"),
        ('{"qid": "1"\n', ":1: the line is not valid JSON"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)

    assert message in str(raised.value)
