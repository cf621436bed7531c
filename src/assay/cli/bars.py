"""Progress bars on the terminal, with the time left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from assay.errors import show_id

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

_EVERY = 0.05  # seconds between two updates of a bar


class Tell(Protocol):
    """Reports the progress of a step."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """`done` of `total` are finished; the total is None if unknown."""


def is_watched() -> bool:
    """Whether standard error is a terminal; it is None if the shell has closed it."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bars() -> Iterator[Tell | None]:
    """A bar for the current step, removed at the end; None if standard error is not a terminal."""
    if not is_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # names are data
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bars(bars)


class _Bars:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}
        self._looked: dict[str, float] = {}

    def __call__(self, step: str, done: int, total: int | None) -> None:
        now = monotonic()
        finished = total is not None and done >= total
        if not finished and now - self._looked.get(step, 0.0) < _EVERY:
            return
        self._looked[step] = now
        if step not in self._tasks:
            for before in self._bars.tasks:
                if before.finished:
                    self._bars.update(before.id, visible=False)
            self._tasks[step] = self._bars.add_task(show_id(step), total=total)
        self._bars.update(self._tasks[step], completed=done, total=total)
