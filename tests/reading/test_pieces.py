"""A run that is read in pieces of whole queries has the same rows and the same summary as one that is read as a table."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import AssayError
from assay.formats import info, pieces, read_run, sources
from assay.formats.info import RunInfo, run_info
from assay.formats.pieces import NotPlainError, whole_queries
from assay.formats.readings import Reading
from assay.formats.sources import open_source
from assay.tables import Run
from native.inputs import Case, cases, odd_texts
from native.paths import NEEDS_KERNEL

pytestmark = NEEDS_KERNEL


def rows_of(run: Run) -> list[tuple[object, ...]]:
    ranks = [None] * len(run) if run.rank is None else run.rank.tolist()
    queries = [run.queries[code] for code in run.query]
    return list(zip(queries, run.doc, map(repr, run.score.tolist()), ranks, [run.tag] * len(run), strict=True))


def pieces_of(path: Path, found: str = "trec", reading: Reading = Reading()) -> list[Run] | None:
    with open_source(path) as content, suppress(NotPlainError):
        return list(whole_queries(content, found, reading))
    return None


@contextmanager
def small_pieces(rows: int, size: int) -> Iterator[None]:
    with ExitStack() as patches:
        patches.enter_context(patch.object(pieces, "_ROWS", rows))
        patches.enter_context(patch.object(sources, "BLOCK_SIZE", size))
        yield


def both_summaries(path: Path, reading: Reading = Reading()) -> tuple[RunInfo | str, RunInfo | str]:
    """In pieces if that is possible, and as a table; errors as text."""

    def summary() -> RunInfo | str:
        try:
            return run_info(path, reading)
        except AssayError as error:
            return str(error)

    found = summary()
    with patch.object(info, "can_reread", lambda *given: False):
        return found, summary()


def large() -> bytes:
    """Queries of 1 to 3,000 rows, in no order, with a tie in each third one."""
    sizes = [1, 3000, 2, 700, 1, 1, 2999] * 12
    return b"".join(
        b"q%d Q0 d%d %d %d mine\n" % (-number % 83, row * 7919 % 10_007, row + 1, size - row // (1 + number % 3 // 2))
        for number, size in enumerate(sizes[:83])
        for row in range(size)
    )


@pytest.mark.parametrize(("rows", "size"), [(1 << 15, 1 << 18), (1, 1000), (5000, 1 << 16), (1, 1 << 22)])
def test_each_piece_has_whole_queries(tmp_path: Path, rows: int, size: int) -> None:
    path = tmp_path / "large.run"
    path.write_bytes(large())
    with small_pieces(rows, size):
        found = pieces_of(path)
        summaries = both_summaries(path)

    assert found is not None
    assert len(found) > 1 or size == 1 << 22
    assert 83 == sum(len(run.queries) for run in found)
    assert rows_of(read_run(path)) == [row for run in found for row in rows_of(run)]
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n", "apart"),
        (b"q1 Q0 a 1 2 t\nq1 Q0 b 2 1 u\n", "two tags"),
        (b"q1 Q0 a 1 2 t\n# a comment\nq1 Q0 b 2 1 t\n", "a comment between rows"),
        (b"q1 Q0 a 1 2 t\n\nq1 Q0 b 2 1 t\n", "a blank line"),
        (b"q1 Q0 a - 2 t\n", "a rank that is no number"),
        (b"q1 Q0 a 1 two t\n", "a score that is no number"),
        (b"q1 a 1\n", "no scores"),
        (b"", "nothing"),
    ],
)
def test_what_needs_the_table(tmp_path: Path, text: bytes, reason: str) -> None:
    path = tmp_path / "some.run"
    path.write_bytes(text)
    found, expected = both_summaries(path)

    assert pieces_of(path, "msmarco" if reason == "no scores" else "trec") is None
    assert expected == found


def test_comments_at_the_start_do_not_need_the_table(tmp_path: Path) -> None:
    path = tmp_path / "made.run"
    path.write_bytes(b"# ir_metadata.start\n\n# tag: mine\n# ir_metadata.end\n" + large())

    assert 1 < len(pieces_of(path) or [])
    assert both_summaries(path)[1] == both_summaries(path)[0]
    assert 5 == (read_run(path).lines or [0])[0]


def test_compressed_and_beir_runs_are_read_in_pieces(tmp_path: Path) -> None:
    packed, three = tmp_path / "packed.run.gz", tmp_path / "three.txt"
    packed.write_bytes(gzip.compress(large()))
    three.write_bytes(b"query_id doc_id score\nq2 a 0.0\nq2 b -0.0\nq1 a 1\n")

    assert 1 < len(pieces_of(packed) or [])
    assert both_summaries(packed)[1] == both_summaries(packed)[0]
    assert ["q2", "q1"] == [query for run in pieces_of(three, "beir") or [] for query in run.queries[::-1]]
    assert both_summaries(three)[1] == both_summaries(three)[0]


def test_zero_is_the_lowest_score_whichever_zero_comes_first(tmp_path: Path) -> None:
    for text in ("q1 a 0\nq1 b -0.0\n", "q1 a -0.0\nq1 b 0\n"):
        (tmp_path / "zeros.txt").write_text(text)
        summary = run_info(tmp_path / "zeros.txt", Reading("beir"))

        assert ("0.0", "0.0") == (repr(summary.scores.lowest), repr(summary.scores.highest))


@settings(max_examples=200)
@given(st.data(), cases(), st.sampled_from([1, 3, 1000]), st.sampled_from([7, 60, 1 << 18]))
def test_any_text(data: st.DataObject, case: Case, rows: int, size: int) -> None:
    with TemporaryDirectory() as folder, small_pieces(rows, size):
        path = Path(folder, "some.run")
        path.write_bytes(data.draw(odd_texts(case.rows)))
        found = pieces_of(path)
        summaries = both_summaries(path, Reading("trec"))

        assert repr(summaries[1]) == repr(summaries[0])
        if found is not None:
            table = read_run(path, input_format="trec")

            assert rows_of(table) == [row for run in found for row in rows_of(run)]
