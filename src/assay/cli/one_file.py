"""Options of commands that read or write one file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from assay.formats import INPUT_FORMATS

Command = TypeVar("Command", bound=Callable[..., Any])


def input_format_option(command: Command) -> Command:
    """--input-format, for files whose format is not detected correctly."""
    return click.option(
        "--input-format",
        type=click.Choice(["auto", *INPUT_FORMATS]),
        default="auto",
        show_default=True,
        help="Format of the file; auto detects it from the content.",
    )(command)


def grades_option(command: Command) -> Command:
    """--grades, for judgments that are letters."""
    return click.option("--grades", help="Values of letter grades, such as E=3,S=2,C=1,I=0.")(command)


def out_option(command: Command) -> Command:
    """-o, required."""
    return click.option(
        "-o",
        "--output",
        "output",
        metavar="OUT",
        type=click.Path(dir_okay=False, allow_dash=True),
        required=True,
        help="Output file; .gz, .bz2, .xz and .zst compress it. - is standard output and needs --to.",
    )(command)
