"""assay queries: its commands are the modules of this folder."""

from __future__ import annotations

import click

from assay.cli import CommandFolder

SECTION = "Files"


@click.group(
    "queries",
    cls=CommandFolder,
    package=__name__,
    short_help="Draw a query set from the traffic.",
    epilog="Example: assay queries sample searches.txt.gz --size 200 -o queries.tsv",
)
def command() -> None:
    """Draw a query set from a log of real searches."""
