"""Waiting for other threads."""

from __future__ import annotations

import _thread
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer

import pytest

from assay.waiting import as_they_end


def test_each_future_comes_once_as_it_ends():
    """Also those that end after a new look, and those that fail."""
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(time.sleep, seconds) for seconds in (0.9, 0.0, 0.6)] + [pool.submit(int, "x")]
        found = list(as_they_end(futures))

    assert {*futures} == {*found}
    assert (4, futures[0]) == (len(found), found[-1])
    assert [] == list(as_they_end([]))


def test_an_interruption_ends_the_wait_though_nothing_wakes_it():
    """`interrupt_main` marks a signal as come, and wakes nobody: so does one that comes just before a wait."""
    ended = Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(ended.wait, 30)
        Timer(0.1, _thread.interrupt_main).start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            next(as_they_end([future]))
        took = time.monotonic() - start
        ended.set()

    assert took < 10
