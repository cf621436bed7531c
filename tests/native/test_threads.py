"""The hits do not depend on the number of threads. Each thread reads at least a megabyte and starts at a new query."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import Evaluator, Rules
from assay.formats.unread import open_run, read_judgments
from assay.marking import judge
from native.inputs import Row, run_line
from native.paths import NEEDS_KERNEL, both_paths, by_kernel, by_numpy, hits, kernel_and_numpy, plain

pytestmark = NEEDS_KERNEL

MEGABYTE = 1 << 20
LENGTH = 512  # bytes of a line: long lines make large files of few rows


def rows_of(query: int, count: int) -> list[Row]:
    """A ranking with few distinct scores, so ids break ties."""
    return [Row(b"q%d" % query, b"d%d" % (at * 7919 % 10007), b"%d" % (at % 5), at + 1) for at in range(count)]


def judged(queries: range) -> dict[str, dict[str, int]]:
    return {f"q{query}": {f"d{doc}": doc % 3 for doc in range(query % 50, 10007, 50)} for query in queries}


def contiguous(drawn: random.Random) -> list[Row]:
    queries = list(range(200))
    drawn.shuffle(queries)
    return [row for query in queries for row in rows_of(query, 45)]


def one_very_long(drawn: random.Random) -> list[Row]:
    """Most parts would start within the long query, and are moved to its end."""
    return [*rows_of(3, 10), *rows_of(1, 9000), *rows_of(2, 10), *rows_of(5, 10)]


def one_alone(drawn: random.Random) -> list[Row]:
    return rows_of(1, 9000)


def all_different(drawn: random.Random) -> list[Row]:
    return [row for query in range(9000) for row in rows_of(query, 1)]


def interleaved(drawn: random.Random) -> list[Row]:
    return [rows_of(query, 45)[at] for at in range(45) for query in range(200)]


def shuffled(drawn: random.Random) -> list[Row]:
    rows = contiguous(drawn)
    drawn.shuffle(rows)
    return rows


def one_query_comes_back(drawn: random.Random) -> list[Row]:
    rows = contiguous(drawn)
    return [*rows[:20], *rows[40:], *rows[20:40]]


def unjudged_queries_come_back(drawn: random.Random) -> list[Row]:
    return [row for query in (1, 900, 3, 901, 900, 5, 901, 7) for row in rows_of(query, 1100)]


ORDERS: list[Callable[[random.Random], list[Row]]] = [
    *(contiguous, one_very_long, one_alone, all_different, interleaved, shuffled, one_query_comes_back),
    unjudged_queries_come_back,
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.__name__)
def test_any_order_of_queries(tmp_path: Path, order: Callable[[random.Random], list[Row]]) -> None:
    path = tmp_path / "large.run"
    path.write_bytes(b"".join(run_line(row, length=LENGTH) for row in order(random.Random(0))))
    assert path.stat().st_size > 4 * MEGABYTE
    grades = judged(range(200))

    expected = by_numpy(lambda: hits(grades, path))
    for threads in (1, 2, 3, 4, 100):
        assert expected == by_kernel(lambda: hits(grades, path, threads=threads))  # noqa: B023


@pytest.mark.parametrize("rules", [Rules(ties="rank-column", self_match="drop"), Rules(order="rank", scores="float32")])
def test_rules_that_look_at_ranks(tmp_path: Path, rules: Rules) -> None:
    path = tmp_path / "large.run"
    path.write_bytes(b"".join(run_line(row, length=LENGTH) for row in contiguous(random.Random(1))))
    grades = judged(range(200))

    two, numpy = kernel_and_numpy(lambda: hits(grades, path, rules, threads=2))
    assert numpy == two


def test_a_part_may_begin_anywhere(tmp_path: Path) -> None:
    """A comment shifts all lines by a few bytes, so parts start inside a line, at its end, and at its start."""
    lines = b"".join(run_line(row, length=LENGTH) for query in range(700) for row in rows_of(query, 12))
    path = tmp_path / "moved.run"
    judgments = read_judgments(judged(range(0, 700, 3)))

    def found(threads: int) -> Any:
        return judge(judgments, open_run(path), Rules(), threads=threads)

    path.write_bytes(b"#\n" + lines)
    expected = by_numpy(lambda: found(1))
    for moved in (*range(2, 14), *range(LENGTH // 2 - 4, LENGTH // 2 + 5), *range(LENGTH - 4, LENGTH + 5)):
        path.write_bytes(b"#" * (moved - 1) + b"\n" + lines)
        for threads in (2, 4):
            assert expected == by_kernel(lambda: found(threads)), moved  # noqa: B023


@pytest.mark.parametrize(
    "filler", [b"# nothing to see here\n", b" \t" * 50 + b"\r\n", b"#" * 5000 + b"\n", b" " * 5000 + b"\n"]
)
def test_parts_that_hold_nothing(tmp_path: Path, filler: bytes) -> None:
    """The tag comes from the last line with data, in any part."""
    nothing = filler * (MEGABYTE // len(filler) + 1)
    few = b"".join(run_line(row) for row in rows_of(1, 30))
    more = b"".join(run_line(row).replace(b" t\n", b" last\n") for row in rows_of(2, 30))
    path = tmp_path / "sparse.run"
    for text in (few + more + 2 * nothing, nothing + few + nothing + more, few + nothing + more + nothing):
        path.write_bytes(text)
        two, numpy = kernel_and_numpy(lambda: hits(judged(range(5)), path, threads=2))
        assert numpy == two
        assert "last" == two["tag"]


def test_the_last_line_may_lack_its_end(tmp_path: Path) -> None:
    path = tmp_path / "large.run"
    text = b"".join(run_line(row, length=LENGTH) for query in range(100) for row in rows_of(query, 45))
    path.write_bytes(text[: -LENGTH + 60])

    two, numpy = kernel_and_numpy(lambda: hits(judged(range(200)), path, threads=2))
    assert numpy == two


@pytest.mark.parametrize("wrong", [b"q150 Q0 z 1 nan t\n", b"q150 Q0 d0 1 1 t\n", b"q150 Q0\n", b"q1 Q0 \0 1 1 t\n"])
@pytest.mark.parametrize("place", [0.1, 0.7])
def test_a_wrong_line_in_any_part_is_named_with_its_number(tmp_path: Path, wrong: bytes, place: float) -> None:
    lines = [run_line(row, length=LENGTH) for query in range(200) for row in rows_of(query, 22)]
    at = int(place * len(lines))
    path = tmp_path / "wrong.run"
    path.write_bytes(b"".join([*lines[:at], wrong, *lines[at:]]))

    two, numpy = both_paths(lambda: hits(judged(range(200)), path, threads=2))
    assert numpy == two


def test_ranks_in_place_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "msmarco.run"
    lines = [b"q%d\t%s%d\t%d\n" % (query, b"d" * 300, at, at + 1) for query in range(1000) for at in range(10)]
    grades = {f"q{query}": {"d" * 300 + "5": 1} for query in range(0, 1000, 7)}
    for text in (lines, lines[::-1], [*lines, lines[3].replace(b"\t4\n", b"\t11\n")], [*lines, b"new\ta\t2\n"]):
        path.write_bytes(b"".join(text))
        two, numpy = both_paths(lambda: hits(grades, path, threads=2))
        assert numpy == two


def test_threads_are_as_many_as_wanted_and_useful(tmp_path: Path) -> None:
    path = tmp_path / "small.run"
    path.write_bytes(run_line(rows_of(1, 1)[0]))
    expected = by_numpy(lambda: Evaluator(judged(range(3)), ["AP"]).evaluate(path).values)

    for threads in (None, 1, 2, 1000):
        assert expected == plain(Evaluator(judged(range(3)), ["AP"], threads=threads).evaluate(path).values)
