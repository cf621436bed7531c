"""What `runs validate` and `qrels validate` share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from assay.cli import write
from assay.cli.bars import is_watched
from assay.cli.flags import with_flags
from assay.cli.options import output_options
from assay.report.validation import RENDERERS
from assay.validation.findings import Validation
from assay.validation.fixing import Repairs
from assay.validation.validating import Progress

Command = TypeVar("Command", bound=Callable[..., Any])
WORTH_A_BAR = 20_000_000  # bytes


def validation_options(command: Command) -> Command:
    """--queries, --fix, --strict, --format and -o."""
    for option in (
        output_options(RENDERERS, "Output format; github prints annotations for GitHub Actions."),
        click.option("--strict", is_flag=True, help="Treat warnings as errors."),
        click.option("--fix", type=click.Path(dir_okay=False), metavar="OUT", help="Write a repaired copy to OUT."),
        click.option(
            "--queries", type=click.Path(dir_okay=False), help="Topics: TSV, JSONL, TREC topics, or one id per line."
        ),
    ):
        command = option(command)
    return command


def finish(
    found: Validation,
    strict: bool,
    output_format: str,
    output: str | None,
    repairs: Repairs | None,
    after: Validation | None,
) -> None:
    """Show the findings; exit with 1 if the file is not valid."""
    context = click.get_current_context()

    def flagged(text: str) -> str:
        return with_flags(text, context.command)

    shown = [
        replace(
            each,
            message=flagged(each.message),
            examples=tuple(replace(example, text=flagged(example.text)) for example in each.examples),
        )
        for each in found.findings
    ]
    found = replace(found, findings=tuple(shown))
    write(RENDERERS[output_format](found, strict=strict, repairs=repairs, after=after), output)
    if not found.holds(strict=strict):
        context.exit(1)


@contextmanager
def progress_bar(path: str) -> Iterator[Progress | None]:
    """A progress bar while a large file is read."""
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    if size < WORTH_A_BAR or not is_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Validating", total=size)
        yield lambda more: bar.advance(task, more)
