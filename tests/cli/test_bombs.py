"""Files made to fill the memory: every command that reads them stays small, or refuses quickly.

Each command runs in a process of its own, whose memory and processor time are measured.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from native.paths import NEEDS_KERNEL

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")

MOST_MEGABYTES, MOST_SECONDS = 200, 10

# A small process starts the command: ru_maxrss counts the memory of the process that starts another one.
MEASURED = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
started = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
said = started.stdout.read()
_, status, used = os.wait4(started.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss // 1024, used.ru_utime + used.ru_stime)
sys.stdout.buffer.write(said)
"""

PIECE = 4 << 20  # bytes; repeated, it makes bombs of any size quickly, since compressed pieces can be joined
PACKERS = {
    "gz": lambda data: gzip.compress(data, 6),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=1),
}
TEXTS = {
    "zeros": b"\0" * PIECE,
    "newlines": b"\n" * PIECE,
    "one row": b"q1 Q0 d 1 1 t\n" * (PIECE // 14),
    "queries": b"".join(b"q%07d Q0 d 1 1 %s\n" % (number, b"t" * 2000) for number in range(PIECE // 2020)),
    "documents": b"".join(b"q1 Q0 %s%07d 1 1 t\n" % (b"d" * 2000, number) for number in range(PIECE // 2020)),
}

READERS = {
    "evaluate": "evaluate qrels BOMB",
    "evaluate, as judgments": "evaluate BOMB good.run",
    "validate": "runs validate BOMB",
    "validate judgments": "qrels validate BOMB",
    "trec_eval": "trec_eval qrels BOMB",
}
OTHERS = {
    "compare": "compare qrels good.run BOMB",
    "diagnose": "diagnose qrels BOMB",
    "conventions": "conventions qrels BOMB",
    "reproduce": "reproduce 0.5 qrels BOMB",
    "gate": "gate --baseline good.run --candidate BOMB --qrels qrels --rule nDCG@10>=0",
    "info": "runs info BOMB",
    "convert": "runs convert BOMB -o out.json",
    "fuse": "runs fuse good.run BOMB -o out.run",
    "collapse": "runs collapse BOMB -o out.run",
    "judgments info": "qrels info BOMB",
    "judgments convert": "qrels convert BOMB -o out.json",
    "sample": "qrels sample BOMB -o out.qrels --queries 1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bombs")
    (place / "qrels").write_text("q1 0 d 1\nq1 0 e 0\n")
    (place / "good.run").write_text("q1 Q0 d 1 2 t\nq1 Q0 e 2 1 t\n")
    return place


def run(folder: Path, command: str, bomb: str, *, native: str = "1", limits: str = "", feed: object = None):
    """Exit status, megabytes, seconds of the processor, and what it said."""
    words = [word.replace("BOMB", bomb) for word in command.split()]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, sys.executable, "-m", "assay", *words],
        capture_output=True,
        cwd=folder,
        stdin=feed,
        env={**os.environ, "ASSAY_NATIVE": native, "ASSAY_LIMITS": limits},
        check=True,
    )
    measured, _, said = done.stdout.partition(b"\n")
    status, megabytes, seconds = measured.split()
    return int(status), int(megabytes), float(seconds), said.decode(errors="replace")


def refused(found: tuple[int, int, float, str]) -> bool:
    """Whether the command said no, and was small and quick."""
    status, megabytes, seconds, said = found
    return status in (1, 2) and megabytes < MOST_MEGABYTES and seconds < MOST_SECONDS and "Traceback" not in said


@pytest.fixture(scope="module", params=["gz", "bz2", "xz"])
def packed(folder: Path, request: pytest.FixtureRequest) -> str:
    """The ending of files that become a gigabyte each."""
    for name, text in TEXTS.items():
        (folder / f"{name.replace(' ', '-')}.{request.param}").write_bytes(PACKERS[request.param](text) * 250)
    return request.param


@pytest.mark.parametrize("text", TEXTS)
def test_a_gigabyte_from_a_small_file_is_refused(folder: Path, packed: str, text: str) -> None:
    bomb = f"{text.replace(' ', '-')}.{packed}"
    command = list(READERS.values())[list(TEXTS).index(text) % len(READERS)]

    assert refused(run(folder, command, bomb)), bomb


@pytest.mark.parametrize("native", [pytest.param("1", marks=NEEDS_KERNEL), "0"])
@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_without_end_is_refused(folder: Path, reader: str, native: str) -> None:
    with subprocess.Popen(["yes", "q1 Q0 d 1 1 t"], stdout=subprocess.PIPE) as endless:
        found = run(folder, READERS[reader], "-", native=native, feed=endless.stdout)
        endless.kill()

    assert refused(found), found


@pytest.mark.parametrize("line", ["", "# nothing"])
@pytest.mark.parametrize("native", [pytest.param("1", marks=NEEDS_KERNEL), "0"])
@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_of_nothing_without_end_is_refused(folder: Path, reader: str, native: str, line: str) -> None:
    with subprocess.Popen(["yes", line], stdout=subprocess.PIPE) as endless:
        found = run(folder, READERS[reader], "-", native=native, feed=endless.stdout)
        endless.kill()

    assert refused(found), found
    assert "16 MB of blank lines and comments" in " ".join(found[3].split())


@pytest.mark.parametrize("other", OTHERS)
def test_other_commands_refuse_a_row_that_is_repeated_without_end(folder: Path, other: str) -> None:
    pipe = folder / f"pipe-{other.replace(' ', '-')}"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"exec yes 'q1 Q0 d 1 1 t' > '{pipe}'"], stderr=subprocess.DEVNULL) as endless:
        found = run(folder, OTHERS[other], str(pipe), limits="rows=100000")
        endless.kill()

    assert refused(found), found


@pytest.mark.parametrize("reader", READERS)
def test_zeros_without_end_are_refused(folder: Path, reader: str) -> None:
    assert refused(run(folder, READERS[reader], "/dev/zero"))


@pytest.mark.parametrize("reader", READERS)
def test_a_line_of_a_gigabyte_is_refused(folder: Path, reader: str) -> None:
    bomb = folder / "line"
    if not bomb.exists():
        with bomb.open("wb") as file:
            for _ in range(1000):
                file.write(b"a" * 1_000_000)

    assert refused(run(folder, READERS[reader], "line"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.json", b"[" * 1_000_000),
        ("array.json", b"[" + b"1," * 10_000_000 + b"1]"),
        ("string.json", b'{"q1": {"' + b"a" * (100 << 20)),
        ("header", b"# ir_metadata.start\n" + b"# key: value\n" * 1_500_000),
    ],
)
def test_text_of_strange_shapes_is_refused(folder: Path, name: str, text: bytes) -> None:
    (folder / name).write_bytes(text)

    found = run(folder, READERS["validate" if name == "string.json" else "evaluate"], name, limits="whole=32MB")

    assert refused(found), found


def test_tables_that_become_gigabytes_are_refused(folder: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    rows = 20_000
    texts = arrow.DictionaryArray.from_arrays(
        arrow.array([row % 4 for row in range(rows)], arrow.int32()), [f"{'d' * (1 << 20)}{each}" for each in range(4)]
    )
    query, score = arrow.array(["q1"] * rows), arrow.array([float(row) for row in range(rows)])
    table = arrow.table({"query_id": query, "doc_id": texts, "score": score, "relevance": score})
    parquet.write_table(table, folder / "bomb.parquet", compression="none", dictionary_pagesize_limit=1 << 30)
    with ipc.new_file(folder / "bomb.arrow", table.schema) as writer:
        writer.write_table(table)
    zeros = arrow.table({"query_id": ["q1"] * 10, "doc_id": ["d" * (10 << 20)] * 10, "score": [1.0] * 10})
    with ipc.new_file(folder / "packed.arrow", zeros.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(zeros)

    for bomb in ("bomb.parquet", "bomb.arrow", "packed.arrow"):
        for reader in ("evaluate", "validate", "validate judgments"):
            found = run(folder, READERS[reader], bomb)
            assert refused(found), found
            assert "200 times its size" in " ".join(found[3].split())


@NEEDS_KERNEL
def test_trec_eval_needs_as_little_memory_for_standard_input_as_for_a_file(folder: Path) -> None:
    with (folder / "large.run").open("w") as file:
        for query in range(1000):
            file.writelines(f"q{query} Q0 d{rank} {rank} {1000 - rank} t\n" for rank in range(1000))
    _, of_a_file, _, printed = run(folder, READERS["trec_eval"], "large.run")
    with (folder / "large.run").open("rb") as file:
        status, megabytes, _, from_stdin = run(folder, READERS["trec_eval"], "-", feed=file)

    assert 0 == status
    assert printed == from_stdin
    assert megabytes < 70  # as a table, these rows take 150 MB
    assert abs(megabytes - of_a_file) < 15
