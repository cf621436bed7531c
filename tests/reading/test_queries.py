"""Query files in common formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.inputs.queries import read_queries


@pytest.fixture
def read(tmp_path: Path):
    def reading(text: str | bytes) -> dict[str, str]:
        path = tmp_path / "queries"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_queries(path)

    return reading


WANTED = {"1": "how to cook rice", "2": "rain tomorrow"}


@pytest.mark.parametrize(
    "text",
    [
        "1\thow to cook rice\n2\train tomorrow\n",
        "1\thow to cook rice\r\n2\train tomorrow\r\n",
        "query_id\ttext\n1\thow to cook rice\n2\train tomorrow\n",
        "1 how to cook rice\n\n# a comment\n2 rain tomorrow",
        '{"_id": "1", "text": "how to cook rice"}\n{"_id": "2", "text": "rain tomorrow", "metadata": {}}\n',
        '[{"id": 1, "query": "how to cook rice"}, {"id": 2, "query": "rain tomorrow"}]',
        '{"1": "how to cook rice", "2": "rain tomorrow"}',
        "<top>\n<num> Number: 1\n<title> how to cook rice\n<desc> Description\n</top>\n"
        "<top>\n<num> Number: 2\n<title> rain tomorrow\n</top>\n",
        '<topics><topic number="1"><query>how to cook rice</query></topic>'
        '<topic number="2"><query>rain tomorrow</query></topic></topics>',
        b"\xef\xbb\xbf1\thow to cook rice\n2\train tomorrow\n",
    ],
)
def test_the_same_queries_in_many_ways(read, text: str | bytes) -> None:
    assert WANTED == read(text)


def test_ids_alone(read) -> None:
    assert {"51": "", "52": ""} == read("51\n52\n")


def test_one_record(read) -> None:
    assert {"1": "rice"} == read('{"_id": "1", "text": "rice"}\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "queries: no data"),
        ("1\ta\n1\tb\n", "queries:2: query 1 appears twice"),
        ("\ta\n", "queries:1: the query has no id"),
        ('{"text": "a"}\n{"text": "b"}\n', "queries:1: the query has no id; accepted names: _id, id, qid"),
        ('{"_id": "1"}\n{"_id": \n', "queries:2: the line is not valid JSON"),
        ("[1, 2]", "queries: expected an object with an id and a text"),
        ("<html></html>", "queries: the file contains no <top> or <topic>"),
        ("<top><title>a</top>", "queries:1: the topic has no number"),
    ],
)
def test_what_is_no_file_of_queries(read, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert message in str(error.value)
