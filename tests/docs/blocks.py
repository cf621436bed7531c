"""Run the code blocks of a documentation page, in order, in one folder.

    <!-- file: NAME -->      the next block is written to the folder under this name
    ```console               `$ command` lines, each followed by its exact output (both streams);
                             a line that ends in a backslash continues after `> `
    ```python                `>>>` examples; all blocks of a page share their names
    ```sh, ```text, ```py, ```toml    not run: installation, formulas, signatures

If output has changed on purpose, `python tests/docs/blocks.py` updates the output of all commands in the pages; review
the diff before you commit it.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
SHOWN_ONLY = ("sh", "text", "py", "toml")

_BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>[^ ]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int  # of its first line of text, from 1
    language: str
    text: str
    file: str | None  # the file to write it to


@dataclass(frozen=True)
class Command:
    """A command of a console block and its expected output."""

    line: int
    typed: str  # as written in the page, with `$` and continuation lines
    expected: str

    @property
    def shell(self) -> str:
        """The command without its prompts."""
        return re.sub(r"^[$>] ", "", self.typed, flags=re.MULTILINE)


def hand_written_pages() -> list[Path]:
    """The hand-written pages; docs/reference is generated."""
    return sorted(DOCS.glob("*.md"))


def generated_pages() -> list[Path]:
    """The pages that docs/generate.py writes."""
    return sorted((DOCS / "reference").glob("*.md"))


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start("text")) + 1, found["language"], found["text"], found["file"])
        for found in _BLOCK.finditer(text)
    ]


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block."""
    found = list(re.finditer(r"^\$ .*(?:(?<=\\)\n> .*)*\n", block.text, re.MULTILINE))
    ends = [match.start() for match in found[1:]] + [len(block.text)]
    return [
        Command(block.line + block.text.count("\n", 0, match.start()), match[0], block.text[match.end() : end])
        for match, end in zip(found, ends, strict=False)
    ]


@dataclass(frozen=True)
class Outcome:
    """The result of a block: the output of its commands, or an error."""

    block: Block
    printed: tuple[tuple[Command, str], ...] = ()
    complaint: str = ""


def play(page: Path, folder: Path) -> Iterator[Outcome]:
    """Run the blocks of a page in order."""
    names: dict[str, Any] = {}
    environment = shell_environment(folder)
    work = folder / "work"
    work.mkdir()
    with chdir(work):
        for block in blocks_of(page):
            if block.file:
                (work / block.file).parent.mkdir(parents=True, exist_ok=True)
                (work / block.file).write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                commands = commands_of(block)
                missing = "" if commands else _place(block) + "a console block needs a line that starts with '$ '"
                yield Outcome(block, tuple((command, output_of(command, environment)) for command in commands), missing)
            elif block.language == "python":
                yield Outcome(block, complaint=_run_examples(block, names))
            elif block.language not in SHOWN_ONLY:
                yield Outcome(
                    block, complaint=f"{_place(block)}language {block.language!r} is neither run nor shown only"
                )


def failures(page: Path, folder: Path) -> list[str]:
    """The commands and blocks whose output differs from the page, each as a text with its line."""
    found: list[str] = []
    for outcome in play(page, folder):
        found += [
            f"{page.name}:{command.line}: {command.typed}--- the page says\n{command.expected}--- it prints\n{printed}"
            for command, printed in outcome.printed
            if printed != command.expected
        ]
        found += [outcome.complaint] if outcome.complaint else []
    return found


def rewritten(page: Path, folder: Path) -> str:
    """The page with the current output of its commands. Python examples are unchanged."""
    text = page.read_text(encoding="utf-8")
    for outcome in play(page, folder):
        new = "".join(command.typed + printed for command, printed in outcome.printed)
        if new:
            text = text.replace(f"```console\n{outcome.block.text}```", f"```console\n{new}```", 1)
    return text


def _place(block: Block) -> str:
    return f"{block.page.name}:{block.line}: "


def shell_environment(folder: Path) -> dict[str, str]:
    """The environment of the shell; `assay` and `python` are those that run the tests."""
    tools = folder / "bin"
    tools.mkdir()
    for name, arguments in {"assay": "-m assay ", "python": ""}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n', encoding="utf-8")
        (tools / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}


def output_of(command: Command, environment: dict[str, str]) -> str:
    """The output of a command on both streams, run in the current folder."""
    done = subprocess.run(
        ["sh", "-c", command.shell],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return done.stdout.decode("utf-8")


def _run_examples(block: Block, names: dict[str, Any]) -> str:
    """Run a python block and return its errors; names that it defines are added to `names`."""
    test = doctest.DocTestParser().get_doctest(block.text, names, block.page.name, str(block.page), block.line - 1)
    if not test.examples:
        return _place(block) + "a python block needs lines that start with '>>> '"
    report = io.StringIO()
    doctest.DocTestRunner(verbose=False).run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    return report.getvalue()


if __name__ == "__main__":
    for path in hand_written_pages():
        with tempfile.TemporaryDirectory() as temporary:
            path.write_text(rewritten(path, Path(temporary)), encoding="utf-8")
