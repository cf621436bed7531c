"""Writing and summarising a large run needs memory in proportion to the table."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.formats.info import run_info
from assay.formats.writing import OUTPUT_FORMATS, run_as_bytes
from assay.tables import Run

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


def test_looking_takes_little_more_than_reading(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "my.run"
    path.write_bytes(run_as_bytes(run, "trec")[0])

    assert (
        peak_of(lambda: run_info(path)) < 200 * ROWS / MEGABYTE
    )  # an id takes 60 bytes, and its entry in a set as many
