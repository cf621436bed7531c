"""Logs of queries: every form, what is one query, and what is refused."""

from __future__ import annotations

import gzip
import re

import pyarrow as pa
import pytest
from pyarrow import parquet

from assay import read_query_log
from assay.errors import InputError


@pytest.fixture
def file(tmp_path):
    def written(text, name="log"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


@pytest.mark.parametrize(
    "text",
    [
        "red shoes\ntea, green\nred shoes\n",
        "red shoes\r\ntea, green\r\nred shoes",
        "\n\nred shoes\n \nred shoes\ntea, green\n",
        "query\nred shoes\nred shoes\ntea, green\n",
        "red shoes\t2\ntea, green\t1\n",
        "red shoes\t1\ntea, green\t1\nred shoes\t1.0\n",
        'query,count\nred shoes,2\n"tea, green",1\n',
        "search_term;frequency\nred shoes;2\ntea, green;1\n",
        "id\tquery\tcount\n7\tred shoes\t2\n8\ttea, green\t1\n",
        "time\tquery\n10:01\tred shoes\n10:02\tred shoes\n10:03\ttea, green\n",
        '{"query": "red shoes", "count": 2}\n{"query": "tea, green", "count": 1}\n',
        '{"q": "red shoes"}\n{"q": "red shoes"}\n{"q": "tea, green"}\n',
    ],
)
def test_forms_of_a_log(file, text):
    assert {"red shoes": 2, "tea, green": 1} == read_query_log(file(text)).counts


def test_compressed_and_parquet(file, tmp_path):
    table = pa.table({"query": ["red shoes", "laces"], "count": [2, 1]})
    parquet.write_table(table, tmp_path / "log.parquet")

    assert {"red shoes": 2, "laces": 1} == read_query_log(tmp_path / "log.parquet").counts
    assert {"red shoes": 1} == read_query_log(file(gzip.compress(b"red shoes\n"))).counts


def test_columns_with_other_names(file):
    path = file("term,visits,count\nred shoes,9,2\n")

    assert {"red shoes": 9} == read_query_log(path, columns={"query": "term", "count": "visits"}).counts


@pytest.mark.parametrize(
    ("normalise", "counts", "merged"),
    [
        ("case", {"Red shoes": 4}, 2),
        ("blanks", {"red shoes": 1, "Red shoes": 3}, 1),
        ("none", {"red shoes": 1, "Red shoes": 2, "Red  shoes ": 1}, 0),
    ],
)
def test_what_is_one_query(file, normalise, counts, merged):
    """Written as it was asked most often."""
    log = read_query_log(file("red shoes\nRed shoes\nRed shoes\nRed  shoes \n"), normalise=normalise)

    assert counts == log.counts
    assert merged == log.merged


def test_a_hash_or_a_brace_can_start_a_search(file):
    assert {"#metoo": 1, "{x} in latex": 1} == read_query_log(file("#metoo\n{x} in latex\n")).counts


def test_queries_without_searches_are_left_out(file):
    log = read_query_log(file("query,count\na,0\nb,2\n"))

    assert {"b": 2} == log.counts
    assert 1 == log.unasked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,count\na,3\nb,-2\n", ":3: the count '-2' is negative; a count is a number of searches, 0 or more."),
        ("query,count\na,nan\n", ":2: the count 'nan' is not a number;"),
        ("query,count\na,many\n", ":2: the count 'many' is not a number;"),
        ("query,count\na,\n", ":2: the count is missing;"),
        ("a\t3\nb\t2\n" + "c\t1\n" * 20_000 + "d\tx\n", ":20003: the count 'x' is not a number;"),
        ("a\t3\nb\t2\n" + "c\t1\n" * 20_000 + "d\n", ":20003: the line has no count after a tab"),
        ('{"query": "a", "count": null}\n', ":1: the count is missing;"),
        ('{"query": "a", "count": 1e300}\n', ":1: the count '1e+300' is too large;"),
        ('{"query": "a"}\n{"query": \n', ":2: the line is not valid JSON"),
        ("a\nb\tc\td\n", ":2: the line has a tab, but the log has no header"),
        ("query,count\na,1,2\n", ":2: the line has 3 fields, the header has 2"),
        ("", "no data"),
        ("query,count\na,0\n", "no data"),
    ],
)
def test_what_is_refused(file, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_query_log(file(text))


def test_a_column_that_is_not_there(file):
    with pytest.raises(InputError, match="no field 'visits' for the count"):
        read_query_log(file("query,count\na,1\n"), columns={"count": "visits"})


def test_unknown_ways_to_normalise(file):
    with pytest.raises(InputError, match="normalise cannot be 'stems'; it takes case, blanks, none"):
        read_query_log(file("a\n"), normalise="stems")
