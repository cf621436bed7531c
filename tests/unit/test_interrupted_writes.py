"""A signal at any step of what makes, replaces and removes files: nothing is left that was not finished."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import assay.files
import assay.signals
from assay.files import passing_folder, remove_unfinished, write_whole
from assay.signals import signals_wait

SIGNAL = getattr(signal, "SIGHUP", signal.SIGTERM)
STEPS_OF = {assay.files.__file__, assay.signals.__file__, contextlib.__file__, shutil.__file__}


def make_a_folder(folder: Path) -> None:
    with passing_folder(folder / "new.part") as new:
        (new / "file").write_text("half")


def put_a_folder_in_place(folder: Path) -> None:
    with passing_folder(folder / "new.part") as new:
        (new / "file").write_text("whole")
        new.rename(folder / "new")


def write_a_file(folder: Path) -> None:
    write_whole(folder / "new", b"whole")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # interrupted just as a file was opened
@pytest.mark.parametrize("act", [make_a_folder, put_a_folder_in_place, write_a_file])
def test_nothing_unfinished_is_left_whenever_a_signal_comes(act, tmp_path):
    at, came = 0, True
    while came:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        came = is_interrupted(act, folder, at)

        assert {path.name for path in folder.iterdir()} <= {"new"}, at
        assert [] == list(assay.files._unfinished), at
    assert at > 50  # there are this many steps at least


def is_interrupted(act: Callable[[Path], None], folder: Path, at: int) -> bool:
    """Whether a signal came at this step; the act has been done, and a command would have ended."""
    with handled() as came:
        try:
            with stepping(at):
                act(folder)
        except SystemExit:
            pass
        except OSError as error:  # a signal must not be replaced by an error of the tidying
            pytest.fail(f"step {at}: {error!r}")
        remove_unfinished()
    return came != []


@contextmanager
def handled() -> Iterator[list[int]]:
    """A handler as that of the command, and what came."""
    came = []

    def leave(number: int, frame: FrameType | None) -> None:
        came.append(number)
        sys.exit(128 + number)

    before = {number: signal.getsignal(number) for number in assay.signals._ALL}
    try:
        signal.signal(SIGNAL, leave)
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stepping(at: int) -> Iterator[None]:
    """Raise a signal at this step of the code that is watched."""
    before, left = sys.gettrace(), at

    def step(frame, event, _):
        nonlocal left
        if event == "call":
            if frame.f_code.co_filename not in STEPS_OF:
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            left -= 1
            if left == 0:
                sys.settrace(before)
                signal.raise_signal(SIGNAL)
        return step

    sys.settrace(step)
    try:
        yield
    finally:
        sys.settrace(before)


def test_signals_take_effect_after_what_must_not_be_torn():
    done = []

    def act() -> None:
        with signals_wait():
            signal.raise_signal(SIGNAL)
            done.append("whole")

    with handled(), pytest.raises(SystemExit):
        act()

    assert ["whole"] == done


def test_a_second_signal_leaves_nothing_either(tmp_path, monkeypatch):
    def interrupted(path, ignore_errors):
        signal.raise_signal(SIGNAL)
        rmtree(path, ignore_errors=ignore_errors)

    rmtree = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with handled() as came, pytest.raises(SystemExit), passing_folder(tmp_path / "new.part"):
        signal.raise_signal(SIGNAL)

    assert [SIGNAL, SIGNAL] == came
    assert [] == list(tmp_path.iterdir())
