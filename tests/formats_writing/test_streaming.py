"""A run that is converted piece by piece becomes the same file, with the same notes, as one that becomes a table first."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formats import read_run
from assay.formats.readings import Reading
from assay.formats.streaming import stream_run
from assay.formats.writing import OUTPUT_FORMATS, run_as_bytes
from native.inputs import Case, cases, odd_texts
from native.paths import NEEDS_KERNEL

pytestmark = NEEDS_KERNEL

LARGE = b"".join(
    b"q%d Q0 doc%d %d %d.25 mine\n" % (n // 1000, n * 7919 % 100_003, n % 1000 + 1, 2000 - n % 1000)
    for n in range(60_000)
)


def as_table(path: Path, to: str, tag: str | None = None) -> tuple[bytes, tuple[str, ...]]:
    return run_as_bytes(read_run(path), to, tag=tag)


@pytest.mark.parametrize("to", ["trec", "jsonl", "beir", "csv", "tsv"])
@pytest.mark.parametrize("tag", [None, "=other"])
def test_a_file_of_several_pieces(tmp_path: Path, to: str, tag: str | None) -> None:
    source, out = tmp_path / "large.run", tmp_path / "out"
    source.write_bytes(LARGE)
    if to == "beir" and tag is not None:
        assert stream_run(str(source), str(out), to, Reading(), tag) is None  # no place for a tag: the table says so
        assert not out.exists()
        return
    expected, notes = as_table(source, to, tag)

    assert notes == stream_run(str(source), str(out), to, Reading(), tag)
    assert expected == out.read_bytes()


@pytest.mark.parametrize(
    ("end", "to"),
    [
        (b"q1 Q0 last 9 0.5 other\n", "trec"),  # another tag
        (b"q1 Q0 last - 0.5 mine\n", "trec"),  # a rank that is no number
        (b"q1 Q0 last 9 wrong mine\n", "csv"),
        (b"q1 Q0 last 9 0.5\n", "tsv"),
        (b"q1 Q0 =1+1 9 0.5 mine\n", "csv"),  # a formula, in this piece only
        (b"q1 Q0 d\xe9 9 0.5 mine\n", "jsonl"),  # not UTF-8
        (b"q1 Q0 last 99999999999999999 0.5 mine\n", "csv"),  # a rank that readers ignore
        (b"\nq1 Q0 last 9 0.5 mine\n", "trec"),  # a blank line
    ],
)
def test_what_needs_the_whole_table_leaves_no_file(tmp_path: Path, end: bytes, to: str) -> None:
    source, out = tmp_path / "large.run", tmp_path / "out"
    source.write_bytes(LARGE + end)

    assert stream_run(str(source), str(out), to, Reading()) is None
    assert [source] == list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_nothing_is_written_to_a_pipe_before_it_is_sure(tmp_path: Path) -> None:
    source, pipe = tmp_path / "large.run", tmp_path / "pipe"
    source.write_bytes(LARGE)
    os.mkfifo(pipe)  # opening it would wait for ever

    assert stream_run(str(source), str(pipe), "tsv", Reading()) is None
    assert stream_run(str(pipe), str(tmp_path / "out"), "tsv", Reading()) is None


def test_ranks_and_objects_are_made_by_the_table(tmp_path: Path) -> None:
    source, out = tmp_path / "three.txt", tmp_path / "out"
    source.write_text("query-id\tcorpus-id\tscore\nq1\ta\t0.5\n")

    assert stream_run(str(source), str(out), "trec", Reading("beir")) is None
    for to in ("json", "parquet", "arrow", "msmarco"):
        source.write_bytes(LARGE[:3000].rpartition(b"\n")[0])
        assert stream_run(str(source), str(out), to, Reading()) is None


@settings(max_examples=100)
@given(st.data(), cases(), st.sampled_from(OUTPUT_FORMATS))
def test_any_text(data: st.DataObject, case: Case, to: str) -> None:
    with TemporaryDirectory() as folder:
        source, out = Path(folder, "some.run"), Path(folder, "out")
        source.write_bytes(data.draw(odd_texts(case.rows)))
        notes = stream_run(str(source), str(out), to, Reading("trec"))
        if notes is None:
            assert not out.exists()
            return
        expected, table_notes = run_as_bytes(read_run(source, input_format="trec"), to)

        assert table_notes == notes
        assert expected == out.read_bytes()
