"""Writing and summarising a large run needs memory in proportion to the table, or to a part of it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from assay import collapse, read_run
from assay.formats.info import run_info
from assay.formats.readings import Reading
from assay.formats.streaming import stream_derived
from assay.formats.writing import OUTPUT_FORMATS, run_as_bytes
from assay.tables import Run
from native.paths import NEEDS_KERNEL

ROWS = 200_000
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def run() -> Run:
    """200 queries with 1,000 documents each; half of the scores are tied."""
    return Run.from_columns(
        [f"q{row // 1000}" for row in range(ROWS)],
        [f"doc{row * 7919 % 1_000_003:07}" for row in range(ROWS)],
        np.arange(ROWS, 0, -1) // 2 / 7,
        tag="bm25",
    )


@pytest.fixture
def large_run(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "my.run"
    path.write_bytes(run_as_bytes(run, "trec")[0])
    return path


def peak_of(act: Callable[[], object]) -> float:
    """The peak of additionally allocated memory, in megabytes."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("to", OUTPUT_FORMATS)
def test_writing_takes_the_file_some_columns_and_a_block_of_texts(run: Run, to: str) -> None:
    size = len(run_as_bytes(run, to)[0]) / MEGABYTE

    assert peak_of(lambda: run_as_bytes(run, to)) < 2 * size + 20


@NEEDS_KERNEL
def test_looking_takes_little_more_than_the_document_ids(large_run: Path) -> None:
    assert (
        peak_of(lambda: run_info(large_run)) < 140 * ROWS / MEGABYTE
    )  # an id takes 60 bytes, and its place in a set 40


@NEEDS_KERNEL
def test_collapsing_takes_some_queries_at_a_time(large_run: Path, tmp_path: Path) -> None:
    collapsing = partial(collapse, documents=".+")
    out = str(tmp_path / "out.run")
    act = partial(stream_derived, str(large_run), out, "trec", Reading(), collapsing, lambda run: b"")

    assert peak_of(act) < 25
    assert ROWS == len(read_run(out))
