"""A run that is collapsed some queries at a time becomes the same file, with the same notes, as one that is a table first."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import collapse, read_run
from assay.errors import AssayError
from assay.formats.readings import Reading
from assay.formats.streaming import stream_derived
from assay.formats.writing import OUTPUT_FORMATS, run_as_bytes
from assay.fusion import WAYS
from assay.fusion.collapsing import Chunks
from cli.command import assay
from native.inputs import Case, cases, odd_texts, text
from native.paths import NEEDS_KERNEL
from reading.test_pieces import large, small_pieces

pytestmark = NEEDS_KERNEL

TOP = b"# made by hand\n"
FORMATS = ["trec", "trec", "csv", "tsv", "jsonl", "beir", *OUTPUT_FORMATS]


def in_pieces(
    path: Path, out: Path, to: str, documents: Chunks, by: str = "max", tag: str | None = None
) -> tuple[bytes, tuple[str, ...]] | None:
    """The file and the notes; None if it needs the table."""
    derive = partial(collapse, documents=documents, by=by)
    notes = stream_derived(str(path), str(out), to, Reading("trec"), derive, lambda run: TOP, tag=tag)
    assert (notes is None) != out.exists()
    return None if notes is None else (out.read_bytes(), notes)


def as_table(
    path: Path, to: str, documents: Chunks, by: str = "max", tag: str | None = None
) -> tuple[bytes, tuple[str, ...]]:
    data, notes = run_as_bytes(collapse(read_run(path, input_format="trec"), documents, by=by), to, tag=tag)
    return TOP + data, notes


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize(
    ("to", "tag"), [("trec", None), ("jsonl", "=other"), ("beir", None), ("csv", "=other"), ("tsv", None)]
)
def test_many_queries_in_no_order(tmp_path: Path, by: str, to: str, tag: str | None) -> None:
    path = tmp_path / "large.run"
    path.write_bytes(large())
    with small_pieces(5000, 1 << 16):
        found = in_pieces(path, tmp_path / "out", to, r"^d(?P<doc>\d?\d)", by, tag)

    assert as_table(path, to, r"^d(?P<doc>\d?\d)", by, tag) == found
    assert ["large.run", "out"] == sorted(os.listdir(tmp_path))


@settings(max_examples=200)
@given(st.data(), cases(), st.sampled_from([*WAYS]), st.sampled_from(FORMATS), st.sampled_from([7, 60, 1 << 18]))
def test_any_text(data: st.DataObject, case: Case, by: str, to: str, size: int) -> None:
    chunks = sorted({text(row.doc) for row in case.rows})
    of_chunks = st.fixed_dictionaries({chunk: st.sampled_from([*chunks[:4], "one\nline", "=1"]) for chunk in chunks})
    documents = data.draw(st.one_of(st.sampled_from(["^.", ".$", ".+", "^(..)?."]), of_chunks))
    with TemporaryDirectory() as folder, small_pieces(1, size):
        path = Path(folder, "some.run")
        path.write_bytes(data.draw(odd_texts(case.rows)))
        try:
            found = in_pieces(path, Path(folder, "out"), to, documents, by)
        except AssayError:  # in the first line
            with pytest.raises(AssayError):
                as_table(path, to, documents, by)
            return
        if found is not None:
            assert as_table(path, to, documents, by) == found


@pytest.mark.parametrize(
    ("run", "rule", "to"),
    [
        ("large.run", ("--regex", "^d.?.?"), "trec"),
        ("large.run", ("--regex", "^d.?.?", "--by", "sum", "--tag", "mine"), "trec"),
        ("large.run", ("--regex", "^d.?.?", "--no-metadata"), "trec"),
        ("large.run", ("--regex", "^d.?.?", "--by", "first"), "csv"),
        ("large.run", ("--regex", "^d[1-8]"), "trec"),  # chunks without a document
        ("large.run", ("--regex", "("), "trec"),
        ("large.run", ("--regex", "d", "--by", "mx"), "trec"),
        ("large.run", ("--map", "none.tsv"), "trec"),
        ("large.run", (), "trec"),
        ("none.run", ("--map", "none.tsv"), "trec"),
        ("small.run", ("--map", "map.tsv"), "jsonl"),
        ("apart.run", ("--map", "map.tsv"), "trec"),
        ("huge.run", ("--regex", "^.", "--by", "sum"), "trec"),
        ("wrong.run", ("--regex", "^."), "trec"),
    ],
)
def test_the_command_says_and_writes_the_same(tmp_path: Path, run: str, rule: tuple[str, ...], to: str) -> None:
    (tmp_path / "large.run").write_bytes(large())
    (tmp_path / "small.run").write_text("q2 Q0 a1 1 3 t\nq2 Q0 a2 2 3 t\nq1 Q0 b1 1 3 t\n")
    (tmp_path / "apart.run").write_text("q2 Q0 a1 1 3 t\nq1 Q0 b1 2 3 t\nq2 Q0 a2 1 3 t\n")
    (tmp_path / "huge.run").write_text("q2 Q0 a1 1 1e308 t\nq2 Q0 a2 2 1e308 t\n")
    (tmp_path / "wrong.run").write_text("q2 Q0 a1 1 3 t\nq2 Q0 a2 2 nan t\n")
    (tmp_path / "map.tsv").write_text("a1\t=a\na2\t=a\nb1\tb\n")
    piped = assay("runs", "collapse", run, *rule, "--to", to, "-o", "-", cwd=tmp_path)
    done = assay("runs", "collapse", run, *rule, "--to", to, "-o", "out", cwd=tmp_path)

    assert (piped.returncode, piped.stderr) == (done.returncode, done.stderr)
    assert (piped.stdout if piped.returncode == 0 else None) == (
        (tmp_path / "out").read_text() if (tmp_path / "out").exists() else None
    )
    assert not [name for name in os.listdir(tmp_path) if name.startswith((".", "tmp"))]
