"""What `runs convert` and `qrels convert` share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from assay.cli import note, write
from assay.cli.options import out_option, spreadsheet_option
from assay.files import refuse_overwrite
from assay.formats.writing import OUTPUT_FORMATS, output_format, packed

Command = TypeVar("Command", bound=Callable[..., Any])
STDOUT = "-"  # also means standard input


def conversion_options(command: Command) -> Command:
    """-o, --to and --spreadsheet."""
    command = click.option(
        "--to",
        type=click.Choice(OUTPUT_FORMATS),
        help="Format to write; by default, taken from the extension of OUT (.run and .txt are trec).",
    )(spreadsheet_option(command))
    return out_option(command)


def target_format(sources: Iterable[str], output: str, to: str | None) -> str:
    """The format to write, decided before any of these files is overwritten."""
    refuse_overwrite(output, list(sources))
    return output_format(output, to)


def finish(data: bytes, left_out: Iterable[str], output: str) -> None:
    """Write the file, then say what its format could not hold."""
    write(data if output == STDOUT else packed(data, output), None if output == STDOUT else output)
    for text in left_out:
        note(text)
