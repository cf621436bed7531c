"""assay runs: a group of commands; most modules also have the command for qrels."""

from __future__ import annotations

import click

from assay.cli import LazyGroup

COMMANDS = {
    "validate": "assay.cli.validate:runs_validate",
    "info": "assay.cli.info:runs_info",
    "convert": "assay.cli.convert:runs_convert",
    "fuse": "assay.cli.fuse",
    "collapse": "assay.cli.collapse",
}


@click.group(
    "runs",
    cls=LazyGroup,
    places=COMMANDS,
    short_help="Validate, inspect, convert, fuse and collapse runs.",
    epilog="Example: assay runs validate bm25.run.gz --qrels qrels.txt",
)
def command() -> None:
    """Validate, inspect and convert runs, fuse several into one, or turn runs of chunks into runs of documents."""
