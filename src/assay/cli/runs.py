"""assay runs: a group whose commands live in modules of their own, each beside its twin for qrels."""

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
    short_help="Check runs, look at them, convert, fuse and collapse them.",
    epilog="Example: assay runs validate bm25.run.gz --qrels qrels.txt",
)
def command() -> None:
    """Check runs before they are scored, look at them, convert them, fuse several into one, turn chunks into documents."""
