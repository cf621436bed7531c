"""assay qrels: its commands are the modules of this folder."""

from __future__ import annotations

import click

from assay.cli import CommandFolder

SECTION = "Files"


@click.group(
    "qrels",
    cls=CommandFolder,
    package=__name__,
    short_help="Check judgments, look at them, convert them, cut them in two.",
    epilog="Example: assay qrels validate qrels.txt",
)
def command() -> None:
    """Check judgments, look at them, convert them from format to format, cut them into dev and test."""
