"""assay runs: its commands are the modules of this folder."""

from __future__ import annotations

import click

from assay.cli import CommandFolder

SECTION = "Files"


@click.group(
    "runs",
    cls=CommandFolder,
    package=__name__,
    short_help="Fetch, validate, convert, diff and fuse runs.",
    epilog="Example: assay runs validate bm25.run.gz --qrels qrels.txt",
)
def command() -> None:
    """Validate, inspect, convert and diff runs, fuse several into one, or turn runs of chunks into runs of documents."""
