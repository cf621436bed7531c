"""Files that only a diagnosis reads."""

from __future__ import annotations

import gzip
import re

import pytest

from assay.diagnosis.inputs import read_presented, read_production, texts_of
from assay.errors import InputError


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "file"
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize(
    "text",
    [
        "q1\ta\t1\nq1\tb\t2\n",
        "query,doc,position\nq1,a,1\nq1,b,2\n",
        "q1 a 1\nq1 b 2",
        "q1 Q0 a 1 9.5 shown\nq1 Q0 b 2 9.1 shown\n",
        "# as shown\r\nq1 a 1\r\nq1 b 2\r\n",
    ],
)
def test_positions(file, text):
    assert {"q1": {"a": 1, "b": 2}} == read_presented(file(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 a 1\nq1 b x\n", ":2: position 'x' is not a whole number"),
        ("q1 a 0\n", ":1: position 0 is out of range; positions start at 1"),
        ("q1 a\n", ":1: expected query, document and position, not 2 columns"),
        ("q1 a 1\nq1 a 2\n", ":2: document a occurs twice for query q1; keep the first position"),
        ("\n", "no data"),
        ("query doc position\n", "no data"),
    ],
)
def test_positions_that_cannot_be_read(file, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_presented(file(text))


@pytest.mark.parametrize(
    "text",
    [
        "red shoes\nred shoes\ntea, green\n",
        "red shoes\t2\ntea, green\t1\n",
        'query,count\nred shoes,2\n"tea, green",1\n',
        "id\tquery\tcount\n7\tred shoes\t2\n8\ttea, green\t1\n",
        '{"query": "red shoes", "count": 2}\n{"query": "tea, green"}\n',
        "query\nred shoes\nred shoes\ntea, green\n",
    ],
)
def test_real_queries(file, text):
    assert {"red shoes": 2, "tea, green": 1} == read_production(file(text))


def test_real_queries_may_end_in_a_number_and_be_compressed(tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(b"iphone 15\niphone 15\npixel 8\n"))

    assert {"iphone 15": 2, "pixel 8": 1} == read_production(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,count\nred,two\n", ":2: count 'two' is not a whole number, 1 or more"),
        ("query,count\nred\n", ":2: fewer columns (1) than the first line"),
        ("red\t0\n", ":1: count '0' is not a whole number, 1 or more"),
        ('{"question": "x"}\n', ":1: no query text; expected a field query, text,"),
        ('{"query": \n', ":1: the line is not valid JSON:"),
        ("\n\n", "no data"),
    ],
)
def test_real_queries_that_cannot_be_read(file, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_production(file(text))


def test_only_wanted_texts_are_kept(file):
    path = file('{"_id": "a", "title": "Rice", "text": "Rinse it."}\n{"_id": "b", "text": "Tea"}\n')

    assert {"a": "Rice Rinse it."} == texts_of(path, ["a", "x"])
    assert {"b": "Tea"} == texts_of({"a": "Rice", "b": "Tea"}, ["b"])
