"""Splitting many lines at once gives the same as splitting them one by one."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formats.dialects import ASSAY, TREC_EVAL_9
from assay.formats.lines import BEIR_QRELS, TREC_QRELS, TREC_RUN, data_lines, line_widths, read_rows
from assay.formats.problems import Problems
from assay.formats.sources import Content, _Joined
from assay.formats.text import Chunk, line_chunks

texts = st.text(alphabet="ab# \t\r\n\v\f", max_size=60).map(lambda text: text.encode() + b"\n")
SEPARATORS = [" ", "\t", "  ", " \r", "\r", "\v "]


def content(data: bytes) -> Content:
    return Content(io.BytesIO(data), "file", "file")


@given(texts)
def test_widths_are_those_of_the_split_lines(data: bytes) -> None:
    assert [len(line.split()) for line in data.split(b"\n")[:-1]] == line_widths(data).tolist()


@given(st.lists(st.lists(st.sampled_from(["a", "b1", "é"]), min_size=2, max_size=5), min_size=1), st.data())
def test_rows_are_those_of_the_right_width(lines: list[list[str]], data: st.DataObject) -> None:
    text = "".join(data.draw(st.sampled_from(SEPARATORS)).join(line) + "\n" for line in lines).encode()
    problems = Problems("file")
    rows = list(read_rows(content(text), "qrels", BEIR_QRELS, TREC_EVAL_9, problems))
    right = [(number, line) for number, line in enumerate(lines, 1) if len(line) == 3]

    assert [token.encode() for _, line in right for token in line] == [token for part in rows for token in part.tokens]
    assert [number for number, _ in right] == [line for part in rows for line in part.line_numbers()]
    assert len(lines) - len(right) == problems.count


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", [" ", "\t", "   "])
def test_columns_are_taken_out_by_their_role(blank: str, line_end: str) -> None:
    text = line_end.join(
        ["# c", blank.join(["q1", "Q0", "a", "1", "9.5", "x"]), "", blank.join(["q2", "Q0", "b", "2", "8.5", "y"]), ""]
    )
    (rows,) = read_rows(content(text.encode()), "run", TREC_RUN, ASSAY, Problems("file"))

    assert [b"q1", b"q2"] == rows.column("query")
    assert [b"9.5", b"8.5"] == rows.column("score")
    assert ("y", [2, 4]) == (rows.text("tag", 1), list(rows.line_numbers()))


def test_a_header_gives_the_columns_their_roles() -> None:
    text = b"\nlabel extra docno qid\n1 - a q1\n"
    (rows,) = read_rows(content(text), "qrels", TREC_QRELS, ASSAY, Problems("file"))

    assert ("rel", "", "doc", "query") == rows.layout
    assert ("a", [3]) == (rows.text("doc", 0), list(rows.line_numbers()))


def test_comments_are_no_lines_and_blank_lines_have_no_columns() -> None:
    chunk = Chunk(b"a b\n#c\n\n #d\n", 10)

    assert [(10, [b"a", b"b"]), (12, []), (13, [b"#d"])] == list(data_lines(chunk, comments=True))
    assert (11, [b"#c"]) in data_lines(chunk, comments=False)


@given(st.binary(max_size=50).map(lambda data: data.replace(b"\0", b"\n")), st.integers(1, 9))
def test_chunks_are_whole_lines_and_lose_nothing(data: bytes, size: int) -> None:
    class Blocks(Content):
        def blocks(self):  # type: ignore[no-untyped-def]
            return (data[start : start + size] for start in range(0, len(data), size))

    chunks = list(line_chunks(Blocks(io.BytesIO(b""), "file", "file"), byte_order_mark=True))
    expected = data if data.endswith(b"\n") or not data else data + b"\n"

    assert expected == b"".join(chunk.data for chunk in chunks)
    assert all(chunk.data.endswith(b"\n") for chunk in chunks)
    assert all(chunk.line == 1 for chunk in chunks[:1])
    assert all(after.line == before.line + before.data.count(b"\n") for before, after in pairwise(chunks))


@given(st.binary(max_size=30), st.integers(0, 30), st.lists(st.integers(1, 9), min_size=1))
def test_bytes_looked_at_are_read_again(data: bytes, seen: int, sizes: list[int]) -> None:
    stream = io.BytesIO(data)
    joined = _Joined(stream.read(seen), stream)
    parts = [joined.read(size) for size in sizes]

    assert all(len(part) <= size for part, size in zip(parts, sizes, strict=True))
    assert data == b"".join(parts) + joined.read()
