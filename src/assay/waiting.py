"""Wait for work of other threads, so that a signal always ends the wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, as_completed
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")
_LOOK = 0.5  # seconds


def as_they_end(futures: Iterable[Future[Result]]) -> Iterator[Future[Result]]:
    """The futures, each as it ends.

    A signal that comes just before Python begins to wait does not end the wait, so Ctrl-C could be noticed only when some
    work is done. Here the wait is begun anew twice a second.
    """
    left = set(futures)
    while left:
        with suppress(TimeoutError):
            for each in as_completed(left.copy(), timeout=_LOOK):
                left.discard(each)
                yield each
