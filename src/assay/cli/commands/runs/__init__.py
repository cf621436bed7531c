"""assay runs: its commands are the modules of this folder."""

from __future__ import annotations

import click

from assay.cli import CommandFolder

SECTION = "Files"


@click.group(
    "runs",
    cls=CommandFolder,
    package=__name__,
    short_help="Check runs, look at them, convert, fuse and collapse them.",
    epilog="Example: assay runs validate bm25.run.gz --qrels qrels.txt",
)
def command() -> None:
    """Check runs before they are scored, look at them, convert them, fuse several into one, turn chunks into documents."""
