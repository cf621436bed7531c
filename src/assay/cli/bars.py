"""Progress bars on the terminal, with the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from assay.errors import show_id
from assay.progress import Tell

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

LONG = 1.0  # seconds of work that are worth a bar
_EVERY = 0.05  # seconds between two updates of a bar


def is_watched() -> bool:
    """Whether standard error is a terminal; it is None if the shell has closed it."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress_bars(*, after: float = 0) -> Iterator[Tell | None]:
    """A bar for the current step, removed at the end; None if standard error is not a terminal.

    Work that is done `after` this many seconds shows no bar.
    """
    if not is_watched():
        yield None
        return
    with ExitStack() as until_done:
        yield _Bars(lambda: until_done.enter_context(_shown()), monotonic() + after)


def _shown() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # names are data
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


class _Bars:
    def __init__(self, show: Callable[[], Bars], start: float) -> None:
        self._show, self._start = show, start
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}
        self._looked: dict[str, float] = {}

    def __call__(self, step: str, done: int, total: int | None) -> None:
        now = monotonic()
        finished = total is not None and done >= total
        if now < self._start or (not finished and now - self._looked.get(step, 0.0) < _EVERY):
            return
        self._looked[step] = now
        bars = self._bars = self._bars or self._show()
        if step not in self._tasks:
            for before in bars.tasks:
                if before.finished:
                    bars.update(before.id, visible=False)
            self._tasks[step] = bars.add_task(show_id(step), total=total)
        bars.update(self._tasks[step], completed=done, total=total)
