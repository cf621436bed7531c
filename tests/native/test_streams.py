"""Runs that are not plain text files: compressed, from a pipe, in pieces, with very long lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import zstandard

from native.inputs import DripRun, Row, run_line, run_text
from native.paths import NEEDS_KERNEL, both_paths, hits, kernel_and_numpy, values

pytestmark = NEEDS_KERNEL

RUN = "q1 Q0 a 1 9.5 t\nq1 Q0 b 2 8.25 t\nx Q0 a 1 7 t\nq2 Q0 a 1 5 t\nq2 Q0 c 2 4 t\n"
GRADES = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}


def row(query: str, doc: str, score: str, rank: int) -> Row:
    return Row(query.encode(), doc.encode(), score.encode(), rank)


# Pieces and long lines


def test_a_query_without_judgments_between_two_with_them_while_the_buffer_is_filled() -> None:
    """The ids of the second judged query must be kept although those of the first were forgotten in the meantime."""
    rows = [
        *(row("A", f"a{number}", "1", 1) for number in range(9)),
        *(row("U", f"u{number}", "1", 1) for number in range(9)),
        *(row("B", f"b{9 - number}{number}", "1", 1) for number in range(9)),
    ]
    run = DripRun(run_text(rows), [60])

    native, numpy = kernel_and_numpy(lambda: hits({"A": {"a1": 1}, "B": {"b45": 1, "b54": 1}}, run))
    assert numpy == native


def long_ranking(query: str) -> list[Row]:
    return [row(query, f"{query}{number * 7919 % 15013}", str(number % 3), number) for number in range(15000)]


@pytest.mark.parametrize("last", [[], [row("A", "late", "1", 1)]], ids=["together", "interleaved"])
def test_rankings_longer_than_the_buffer(tmp_path: Path, last: list[Row]) -> None:
    """Some megabytes with few distinct scores: dropping ids at the end of a chunk would break ties wrongly."""
    rows = [*long_ranking("A"), *long_ranking("U"), *long_ranking("B"), *last]
    path = tmp_path / "long.run"
    path.write_bytes(b"".join(run_line(row, length=150) for row in rows))
    grades = {query: {f"{query}{number}": 1 for number in range(0, 15013, 100)} for query in ("A", "B")}

    native, numpy = kernel_and_numpy(lambda: hits(grades, path))
    assert numpy == native


@pytest.mark.parametrize("size", [(1 << 18) - 1, 1 << 18, (1 << 20) - 7, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_a_line_as_long_as_the_buffer(tmp_path: Path, size: int) -> None:
    long_id = "d" * size
    path = tmp_path / "long.run"
    path.write_bytes(run_text([row("q", "a", "1", 1), row("q", long_id, "1", 1), row("q", "z", "1", 1)]))

    native, numpy = kernel_and_numpy(lambda: hits({"q": {long_id: 1, "z": 1}}, path))
    assert numpy == native


def test_files_one_after_the_other_use_the_same_memory(tmp_path: Path) -> None:
    """Leftovers of one run are not seen by the next: a longer text, a line that made the buffer grow, an error."""
    texts = {
        "long": RUN + "".join(f"q2 Q0 d{number} 3 {3 - number / 1000} t\n" for number in range(900)),
        "short": "q1 Q0 b 1 2 t\n",
        "wrong": RUN + "q2 Q0 d 3 nan t\n",
        "line": RUN + "q2 Q0 " + "d" * 300_000 + " 3 1 t\n",
        "none": "",
        "open": RUN.rstrip("\n"),
        "blank": "\n\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for first in texts:
        for second in texts:
            found = [both_paths(lambda name=name: hits(GRADES, tmp_path / name)) for name in (first, second)]
            assert [numpy for _, numpy in found] == [native for native, _ in found], (first, second)


# Compressed files

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": zstandard.compress,
}
LONG = "".join(f"q{1 + row // 30000} Q0 d{row * 7919 % 60013} 1 {row % 1000} t\n" for row in range(60000)).encode()


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_compressed_run(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"long.run.{ending}"
    path.write_bytes(COMPRESSIONS[ending](LONG))

    native, numpy = kernel_and_numpy(lambda: hits({"q1": {"d7919": 1, "d3": 1}, "q2": {"d5": 1}}, path))
    assert numpy == native


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("keep", [0.001, 0.3, 0.99])
def test_a_compressed_run_that_is_cut_off(tmp_path: Path, ending: str, keep: float) -> None:
    path = tmp_path / f"cut.run.{ending}"
    packed = COMPRESSIONS[ending](LONG)
    path.write_bytes(packed[: 20 + int(keep * len(packed))])

    native, numpy = both_paths(lambda: hits({"q1": {"d7919": 1}}, path))
    assert numpy == native
    assert isinstance(native, tuple)


def test_several_compressed_pieces_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "pieces.run.gz"
    path.write_bytes(gzip.compress(LONG[:1000000], 1) + gzip.compress(LONG[1000000:], 1))

    native, numpy = kernel_and_numpy(lambda: hits({"q1": {"d7919": 1}}, path))
    assert numpy == native


# Pipes


def through_a_pipe(data: bytes, act: Callable[[str], Any]) -> Any:
    """The result of a call with a path that can be read only once."""
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb") as stream:
            stream.write(data)

    thread = Thread(target=write)
    thread.start()
    try:
        return act(f"/dev/fd/{reader}")
    finally:
        thread.join()
        os.close(reader)


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN + RUN.splitlines(keepends=True)[0],
        RUN + "q1 Q0 z 1 nan t\n",
        "",
        "q1 a 1\nq2 a 1\n",
        RUN + "q1 Q0 late 9 1 t\n",
    ],
    ids=["good", "repeated", "wrong", "empty", "msmarco", "interleaved"],
)
def test_a_pipe_can_be_read_only_once(text: str) -> None:
    native, numpy = both_paths(lambda: through_a_pipe(text.encode(), lambda path: values(GRADES, path)))

    assert numpy == native


def test_judgments_through_a_pipe() -> None:
    def evaluated(text: bytes) -> Any:
        return through_a_pipe(text, lambda path: values(path, {"q1": {"a": 1.0}}))

    for text in (b"q1 0 a 1\n", b"q1 0 a 1\nq1 0 a 2\n", b"q1 0 a 1\nq1 0 b E\n", b""):
        native, numpy = both_paths(lambda: evaluated(text))  # noqa: B023
        assert numpy == native
