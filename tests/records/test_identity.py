"""Files by their content."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.records.identity import (
    content_of,
    digest_of,
    file_digest,
    identity_of,
    name_of,
    refuse_changed,
    stamps,
    unread_identity,
)

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # sha256 of "abc", from FIPS 180-2


@pytest.fixture
def file(tmp_path):
    def write(data: bytes, name: str = "file"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write


def test_the_digest_is_that_of_the_standard(file):
    found = content_of(file(b"abc"))

    assert (ABC, 3, 1) == (found.sha256, found.size, found.lines)


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\nb\n", 2), (b"\n\n", 2), (b"a\r\nb\r\n", 2)],
)
def test_lines_are_counted_and_a_last_one_without_an_end_counts(file, data, lines):
    assert lines == content_of(file(data)).lines


@given(st.binary(max_size=300))
def test_any_bytes_have_the_digest_of_hashlib(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(b"x" + data)  # never starts with the magic number of a compression

    assert hashlib.sha256(b"x" + data).hexdigest() == content_of(str(path)).sha256


def test_a_file_of_many_blocks_is_read_as_a_stream(file):
    line = b"q1 Q0 doc 1 1.0 tag\n"
    data = line * (3_000_000 // len(line))
    found = content_of(file(data))

    assert (hashlib.sha256(data).hexdigest(), len(data), data.count(b"\n")) == (found.sha256, found.size, found.lines)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_of_a_compressed_file_the_bytes_are_as_they_are_and_the_lines_as_one_reads_them(file, pack):
    data = pack(b"a\nb\nc\n")
    found = content_of(file(data))

    assert (hashlib.sha256(data).hexdigest(), len(data), 3) == (found.sha256, found.size, found.lines)


@pytest.mark.parametrize("magic", [b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff"])
def test_parquet_and_arrow_have_no_lines(file, magic):
    assert content_of(file(magic + b"\n\n\n")).lines is None


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        content_of(str(tmp_path / "none"))


def test_the_digest_of_data_and_of_its_file_are_the_same(file):
    path = file(b"abc")

    assert file_digest(path) == digest_of(path, b"abc")


def test_an_identity_has_name_path_content_and_queries(file):
    path = file(b"abc")
    found = identity_of("bm25", path, 7)

    assert ("bm25", path, ABC, 3, 1, 7) == (
        found.name,
        found.path,
        found.sha256,
        found.size,
        found.lines,
        found.queries,
    )


@pytest.mark.parametrize("path", ["-", "", "/dev/null"])
def test_without_a_file_nothing_is_claimed(path):
    assert unread_identity("run", path, 3) == identity_of("run", path, 3)
    assert identity_of("run", path, 3).sha256 is None


def test_a_pipe_is_not_read_a_second_time(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # reading it would block forever

    assert identity_of("run", str(pipe), 1).sha256 is None


@pytest.mark.parametrize(
    ("path", "name"), [("a/qrels.txt", "qrels"), ("test.qrels.gz", "test"), ("-", "stdin"), ("", "qrels")]
)
def test_judgments_are_called_by_their_file(path, name):
    assert name == name_of(path)


def test_a_file_that_was_written_to_meanwhile_is_refused(file):
    path = file(b"abc")
    before = stamps([path, "-", "nowhere"])
    refuse_changed(before)
    with open(path, "ab") as out:
        out.write(b"d")

    assert [path] == list(before)
    with pytest.raises(InputError) as refused:
        refuse_changed(before)
    assert (
        f"{path}: the file changed while it was evaluated, so no report was written. Run the evaluation again."
        == str(refused.value)
    )


def test_a_file_that_was_replaced_or_removed_is_refused(file):
    path = file(b"abc")
    before = stamps([path])
    other = file(b"abd", "other")
    os.utime(other, ns=(before[path].written, before[path].written))
    os.replace(other, path)

    with pytest.raises(InputError, match="the file changed"):
        refuse_changed(before)
    os.unlink(path)
    with pytest.raises(InputError, match="the file changed"):
        refuse_changed(before)
