"""A crash is never an answer: faults exit with 70, unusable input with 2, an interruption with 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import assay as assay_package
from cli.command import assay

QRELS, RUN = "q1 0 a 1\n", "q1 Q0 a 1 1.0 x\n"
DEEP = 100_000


@pytest.fixture
def here(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "my.run").write_text(RUN)
    return tmp_path


def planted(here, what: str) -> tuple[str, ...]:
    """A command that fails while it evaluates."""
    (here / "broken.py").write_text(
        f"from assay import Evaluator\n\ndef broken(*given, **named):\n    {what}\n\nEvaluator.evaluate = broken\n"
    )
    return "--plugin", "broken.py", "evaluate", "qrels.txt", "my.run"


def test_a_fault_of_our_own_asks_for_a_report(here):
    done = assay(*planted(here, "raise ZeroDivisionError('planted')"), cwd=here)

    assert 70 == done.returncode
    assert (
        "Error: a fault in assay (ZeroDivisionError: planted). Please report it, with what the command prints under "
        "ASSAY_DEBUG=1.\n"
    ) == done.stderr


def test_the_place_of_a_fault_is_shown_on_request(here):
    done = assay(*planted(here, "raise ZeroDivisionError('planted')"), cwd=here, env={"ASSAY_DEBUG": "1"})

    assert 70 == done.returncode
    assert "Traceback (most recent call last)" in done.stderr
    assert "broken.py" in done.stderr
    assert done.stderr.endswith("(ZeroDivisionError: planted). Please report it, with the lines above.\n")


def test_no_memory_is_not_an_answer(here):
    done = assay(*planted(here, "raise MemoryError"), cwd=here)

    assert (70, "Error: out of memory. Nothing was written.\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("deep.json", '{"a":' * DEEP + "1" + "}" * DEEP, ("evaluate", "qrels.txt", "deep.json")),
        ("deep.json", "[" * DEEP, ("evaluate", "deep.json", "my.run")),
        ("deep.json", '{"a":' * DEEP, ("evaluate", "qrels.txt", "my.run", "--targets", "deep.json")),
        ("deep.toml", "a=" + "[" * DEEP, ("evaluate", "qrels.txt", "my.run", "--targets", "deep.toml")),
        ("deep.toml", "a=" + "[" * DEEP, ("benchmark", "run", "deep.toml")),
        ("dotted.toml", "a" + ".a" * DEEP + "=1", ("benchmark", "run", "dotted.toml")),
        ("ExperimentManifest.json", '{"a":' * DEEP + "1" + "}" * DEEP, ("verify", ".")),
    ],
    ids=["run", "qrels", "targets in JSON", "targets in TOML", "recipe", "dotted key", "manifest"],
)
def test_input_that_is_nested_too_deeply_is_refused(here, name, text, command):
    (here / name).write_text(text)
    done = assay(*command, cwd=here)

    assert 2 == done.returncode
    assert done.stderr.startswith(f"Error: {name}")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed as in a Unix shell")
@pytest.mark.parametrize("command", ["evaluate qrels.txt my.run", "runs validate my.run", "measures list"])
def test_a_closed_output_is_not_an_answer(here, command):
    done = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m assay {command} >&-"],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (2, "Error: the result cannot be written: standard output is closed.\n") == (done.returncode, done.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed as in a Unix shell")
def test_closed_streams_that_are_not_needed_do_not_matter(here):
    command = f"'{sys.executable}' -m assay evaluate qrels.txt my.run -m RR -o out.txt >&- 2>&-"
    done = subprocess.run(["sh", "-c", command], cwd=here, check=False)

    assert 0 == done.returncode
    assert "1.0000" in (here / "out.txt").read_text()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("moment", [0.03, 0.06, 0.09, 0.12, 0.15])
def test_an_interruption_while_it_starts_is_quiet(here, moment):
    os.mkfifo(here / "never.run")  # waits for a writer, so that the command is still there
    started = subprocess.Popen(
        [sys.executable, "-m", "assay", "evaluate", "qrels.txt", "never.run"],
        cwd=here,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    time.sleep(moment)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=30)

    # Before the first line of our own code, Python itself may show a traceback and end by the signal.
    ours = str(Path(assay_package.__file__).parent)
    assert (started.returncode, said.lstrip()) in [(130, ""), (130, "Error: interrupted\n")] or not (
        ours in said or "Error: " in said
    )


def test_an_interruption_that_became_another_error_is_an_interruption(here):
    """As in imports: Python 3.11 makes a RuntimeError of one that comes while a class is made."""
    done = assay(*planted(here, "raise RuntimeError('no class') from KeyboardInterrupt()"), cwd=here)

    assert (130, "Error: interrupted\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize(("name", "status", "said"), [("SIGINT", 130, "Error: interrupted"), ("SIGTERM", 143, "")])
def test_a_signal_that_python_would_drop_still_ends_the_command(here, name, status, said):
    """One that comes in a callback, such as that of a weak reference, cannot be raised there."""
    (here / "interrupted.py").write_text(
        "import signal, sys, time, weakref\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background\n"
        "sys.argv[1:] = ['evaluate', 'qrels.txt', 'keyword.run']\n"
        "import assay.cli.commands.evaluate as evaluate\n"
        "class Thing: pass\n"
        "def work(*args, **options):\n"
        "    thing = Thing()\n"
        "    kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.NAME))\n"
        "    del thing\n"
        "    time.sleep(30)\n"
        "evaluate.command.callback = work\n"
        "import assay.__main__\n"
        "assay.__main__.main()\n".replace("NAME", name)
    )
    done = subprocess.run(
        [sys.executable, "interrupted.py"], cwd=here, capture_output=True, text=True, check=False, timeout=20
    )

    assert (status, said) == (done.returncode, done.stderr.strip())
