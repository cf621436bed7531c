"""assay qrels: its commands are the modules of this folder."""

from __future__ import annotations

import click

from assay.cli import CommandFolder

SECTION = "Files"


@click.group(
    "qrels",
    cls=CommandFolder,
    package=__name__,
    short_help="Validate, inspect, convert and split judgments.",
    epilog="Example: assay qrels validate qrels.txt",
)
def command() -> None:
    """Validate, inspect and convert judgments, or split them into dev and test."""
