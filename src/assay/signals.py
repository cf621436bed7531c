"""What happens when a signal ends the program: it leaves in order, at once, and with the status that shells know.

A signal becomes an exception, KeyboardInterrupt or `Left`, at whatever line Python is just then. Knows no command.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ALL = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has two


class Left(SystemExit):
    """The end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)  # the status that a shell shows for the signal
        self.number = number


def end_in_order() -> None:
    """Let signals that end the process raise an exception, so that temporary files are removed on the way out."""
    for number in _ALL:
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, _leave)
    sys.unraisablehook = _not_swallowed


def signal_of(error: BaseException | None) -> int | None:
    """The signal that an exception came from; None if there was none.

    An import that is interrupted may end in another exception, which has ours as its cause.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return signal.SIGINT
        if isinstance(error, Left):
            return error.number
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def signals_wait() -> Iterator[None]:
    """Let signals that Python code handles, such as Ctrl-C, take effect after this block instead of within it."""
    if threading.current_thread() is not threading.main_thread():  # signals are handled in the main thread
        yield
        return
    handlers = {number: handler for number in _ALL if callable(handler := signal.getsignal(number))}
    came: list[int] = []
    waiting = True

    def wait(number: int, frame: FrameType | None) -> None:
        if waiting:
            came.append(number)
        else:  # it came while the handlers were put back
            handlers[number](number, frame)

    try:
        for number in handlers:
            signal.signal(number, wait)
        yield
    finally:
        waiting = False
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def _leave(number: int, _: FrameType | None) -> None:
    raise Left(number)


def _not_swallowed(ignored: sys.UnraisableHookArgs) -> None:
    """Send a signal again where Python would drop its exception: one that comes while it runs a callback of its own."""
    number = signal_of(ignored.exc_value)
    if number is None:
        sys.__unraisablehook__(ignored)
        return
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        threading.Thread(target=_send_again, args=(main, number), daemon=True).start()


def _send_again(main: int, number: int) -> None:
    """Send a signal to the main thread, once it has left the hook above: there, it would be dropped once more."""
    while True:
        time.sleep(0.001)
        frame = sys._current_frames().get(main)
        while frame is not None and frame.f_code is not _not_swallowed.__code__:
            frame = frame.f_back
        if frame is None:
            break
    signal.pthread_kill(main, number)
