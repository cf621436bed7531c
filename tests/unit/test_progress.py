"""Progress is told step by step, and shown only where somebody watches and the work is long."""

from __future__ import annotations

import io
import sys

import pytest

from assay.cli import bars
from assay.progress import telling, told


class Heard(list[tuple[str, int, int | None]]):
    def __call__(self, step: str, done: int, total: int | None) -> None:
        self.append((step, done, total))


def test_items_are_told_as_they_are_taken() -> None:
    heard = Heard()
    items = told("ab", heard, "Reading", 2)

    assert "a" == next(items)
    assert [("Reading", 0, 2)] == heard
    assert ["b"] == list(items)
    assert [("Reading", 0, 2), ("Reading", 1, 2), ("Reading", 2, 2)] == heard


def test_calls_are_told_when_they_are_done() -> None:
    heard = Heard()
    doubled = telling(lambda number: 2 * number, heard, "Doubling", 2)

    assert [2, 4] == [doubled(1), doubled(2)]
    assert [("Doubling", 1, 2), ("Doubling", 2, 2)] == heard


def test_nobody_is_told_where_nobody_listens() -> None:
    assert [1, 2] == list(told([1, 2], None, "Reading", 2))
    assert len is telling(len, None, "Measuring", 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def watched(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


def test_short_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with bars.progress_bars(after=60) as tell:
        assert tell is not None
        tell("Evaluating", 2, 2)

    assert "" == terminal.getvalue()


def test_long_work_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched(monkeypatch)
    with bars.progress_bars(after=0) as tell:
        assert tell is not None
        tell("Evaluating", 1, 2)
        tell("Evaluating", 2, 2)

    assert "Evaluating" in terminal.getvalue()


def test_nobody_watches_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with bars.progress_bars() as tell:
        assert tell is None
