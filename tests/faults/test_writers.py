"""Whatever fails in the parts that write: files, reports, indexes, vectors and the steps of a benchmark."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.benchmark.steps import workspace
from assay.errors import InputError
from assay.files import write_blocks, write_whole
from assay.journal import Journal
from assay.records import storing
from assay.retrieval.embeddings import EmbeddingStore, text_digest
from assay.retrieval.indexes import find_index
from assay.retrieval.modes import make_retriever
from faults.acts import TEXTS, Answer
from faults.injecting import KINDS, each_fault, files_in, temporary_in
from faults.test_commands import whole_report
from records.rewriting import experiment, render

REASON = r"(No space left on device|Input/output error|Permission denied)\. [A-Z][^\n]+\.\n"


@pytest.fixture
def copies(tmp_path):
    """Copies of a folder, one for each fault."""
    places = iter(range(10_000))
    (tmp_path / "model").mkdir()
    return lambda: shutil.copytree(tmp_path / "model", tmp_path / f"{next(places)}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_in_blocks(kind, stage, tmp_path, copies):
    old, new = b"old", b"a" * 20_000 + b"b" * 20_000 + b"c" * 20_000
    (tmp_path / "model" / "file").write_bytes(old)

    calls = []
    for folder, met in each_fault(stage, "blocks", kind, copies):
        calls.append(met.call.split()[1])
        found = files_in(folder)
        assert found in ({"file": old}, {"file": new}), met
        if kind != "kill" and met.status:
            assert re.fullmatch(r"Error: file: cannot be written: " + REASON, met.err), met
            assert {"file": old} == found, met
        assert (kind == "kill") >= bool(temporary_in(folder)), met
    expected = ["open", "chmod", "write", "write", "write", "flush", "rename", "flush"]
    assert (["write"] * 3 if kind == "short write" else expected) == calls


REPORTS = [
    "report",
    "report_without_a_swap",
    "report_where_folders_cannot_be_moved",
    "report_in_the_folder_we_stand_in",
]


@pytest.mark.parametrize("kind", ["errors in turn", "short write", "kill"])
@pytest.mark.parametrize("act", REPORTS)
def test_a_report(act, kind, stage, tmp_path, copies):
    """The old one or the new one; where files are replaced one by one, there may be none, but never a mixture."""
    storing.write_reports(tmp_path / "model" / "report", *experiment(0), render)
    (tmp_path / "model" / "report" / "notes.md").write_text("mine")
    in_place = act in REPORTS[2:]

    for folder, met in each_fault(stage, act, kind, copies):
        report = folder / "report"
        if kind == "kill" and act == "report_without_a_swap" and not report.exists():
            storing.read_manifest(report)  # reading repairs it
        found = number_in(report)
        assert found in ({"number 0", "number 2", None} if in_place else {"number 0", "number 2"}), met
        assert "mine" == (report / "notes.md").read_text(), met
        if kind == "kill":
            assert (0, "number 2") == (stage.do("report", folder).status, number_in(report)), met
            assert "mine" == (report / "notes.md").read_text(), met
        elif met.status:
            assert re.fullmatch(r"Error: [^:\n]+: (the report )?cannot be written: " + REASON, met.err), met
            assert found != "number 2", met
        else:
            assert "number 2" == found, met
        # Where there is no report for now, a file says which of the others are ours.
        left = [] if found or kind == "kill" else ["report/.ExperimentManifest.json.part"]
        assert left == temporary_in(folder), met


def number_in(folder: Path) -> str | None:
    if whole_report(folder) is None:
        return None
    number = json.loads((folder / storing.MANIFEST_FILE).read_bytes())["experiment"]
    assert number * 2000 == (folder / "EvaluationReport.html").read_text()
    return number


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["errors in turn", "short write", "kill"])
@pytest.mark.parametrize("mode", ["lexical", "bm25s"])
def test_an_index(mode, kind, stage, tmp_path, copies):
    """There is a whole index or none."""
    pytest.importorskip({"lexical": "tantivy", "bm25s": "bm25s"}[mode])
    way = make_retriever(mode)
    hit = 0
    for folder, met in each_fault(stage, f"{mode}_index", kind, copies):
        hit += 1
        indexes = folder / "indexes"
        if met.status == 0 or find_index(indexes, way.settings) is not None:
            assert "d7" in way.search(indexes, {"q": "word7"}, 1).doc, met
        if kind == "kill":
            assert 0 == stage.do(f"{mode}_index", folder).status, met
        elif met.status:
            assert (2, None) == (met.status, find_index(indexes, way.settings)), met
            assert re.match(r"Error: [^:\n]*indexes[^:\n]*: cannot be written: ", met.err), met
        assert [] == temporary_in(folder), met
    assert hit > 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_vectors(kind, stage, tmp_path, copies):
    """What it has is right, and the vector that it had stays."""
    digests = [text_digest(text) for text in TEXTS]
    EmbeddingStore(tmp_path / "model" / "vectors", 4).add(digests[:1], np.ones((1, 4), np.float32))

    for folder, met in each_fault(stage, "vectors", kind, copies):
        assert_it_has_what_it_says(EmbeddingStore(folder / "vectors", 4), digests)
        if kind != "kill" and met.status:
            assert re.fullmatch(r"Error: vectors: cannot be written: " + REASON, met.err), met
        assert 0 == stage.do("vectors", folder).status, met
        store = EmbeddingStore(folder / "vectors", 4)
        assert_it_has_what_it_says(store, digests)
        assert 3 == len(store), met


def assert_it_has_what_it_says(store: EmbeddingStore, digests: list[bytes]) -> None:
    here = [place for place, digest in enumerate(digests) if digest in store]
    assert 0 in here
    assert [[place + 1.0] * 4 for place in here] == store.vectors([digests[place] for place in here]).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_journal(kind, stage, tmp_path, copies):
    """A line that could not be written whole damages neither those before it nor those after it."""
    with Journal(tmp_path / "model" / "journal.jsonl", Answer) as kept:
        kept.add("one", Answer("one"))

    for folder, met in each_fault(stage, "journal", kind, copies):
        with Journal(folder / "journal.jsonl", Answer) as kept:
            assert Answer("one") == kept.get("one"), met
            assert kept.get("two") in (None, Answer("two" * 20)), met
            assert kept.get("three") in (None, Answer("three" * 20)), met
        assert 0 == stage.do("journal", folder).status, met
        with Journal(folder / "journal.jsonl", Answer) as kept:
            assert Answer("three" * 20) == kept.get("three"), met


@pytest.mark.parametrize("kind", KINDS)
def test_the_steps_of_a_benchmark(kind, stage, tmp_path, copies):
    """A step that is said to be finished has its files, and no file of another stays."""
    with workspace(tmp_path / "model" / "out") as space:
        space.begin("old", "2025-01-30")
        space.finish("search", "old", space.write({"runs/old.run": b"old" * 1000}))

    for folder, met in each_fault(stage, "steps", kind, copies):
        with workspace(folder / "out") as space:
            finished = [key for key in ("old", "new") if space.finished("search", key)]
        assert len(finished) < 2, met
        assert {f"{key}.run" for key in finished} <= set(files_in(folder / "out" / "runs")), met
        if kind != "kill" and met.status:
            assert re.fullmatch(r"Error: out[^:\n]*: cannot be written: " + REASON, met.err), met
        assert 0 == stage.do("steps", folder).status, met
        assert ["new.run"] == os.listdir(folder / "out" / "runs"), met
        assert [] == temporary_in(folder), met


# Others


def test_a_folder_that_vanishes_while_it_is_written_to(tmp_path):
    (tmp_path / "folder").mkdir()

    def blocks():
        yield b"one"
        shutil.rmtree(tmp_path / "folder")
        yield b"two"

    with pytest.raises(InputError) as refused:
        write_blocks(tmp_path / "folder" / "file", blocks())

    assert (
        f"{tmp_path}/folder/file: cannot be written: No such file or directory. Create the folder first, or write to another "
        "one."
    ) == str(refused.value)
    assert [] == os.listdir(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    """The temporary file cannot be removed either, as it never was there."""
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/inside: cannot be written: Not a directory"):
        write_whole(tmp_path / "file" / "inside", b"text")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        write_whole(tmp_path, b"text")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_a_pipe_behind_a_number(tmp_path):
    """As `-o >(gzip)` in a shell: the file /dev/fd/N leads to has no name."""
    reading, writing = os.pipe()
    write_whole(f"/dev/fd/{writing}", b"through")
    os.close(writing)

    assert b"through" == os.read(reading, 100)
    os.close(reading)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_a_pipe_that_nobody_reads_any_more():
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(InputError, match="cannot be written: Broken pipe"):
        write_whole(f"/dev/fd/{writing}", b"nobody")
    os.close(writing)


WRITER = """
import sys
from assay.files import write_whole
for number in range(30):
    write_whole(sys.argv[1], sys.argv[2].encode() * 100_000)
"""


def test_processes_that_write_one_file_do_not_mix(tmp_path):
    file = tmp_path / "file"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(file), letter]) for letter in "abc"]
    while any(writer.poll() is None for writer in writers):
        if file.exists():
            assert file.read_bytes() in {letter * 100_000 for letter in (b"a", b"b", b"c")}

    assert [0, 0, 0] == [writer.returncode for writer in writers]
    assert ["file"] == os.listdir(tmp_path)


def test_what_is_no_error_of_the_system_is_not_explained():
    assert "Too many open files. Write to another place." in str(refusal_of(errno.EMFILE))


def refusal_of(code: int) -> InputError:
    from assay.files import explaining

    with pytest.raises(InputError) as refused, explaining("file"):
        raise OSError(code, os.strerror(code))
    return refused.value
