"""assay qrels: a group of commands; each module also has the command for runs."""

from __future__ import annotations

import click

from assay.cli import LazyGroup

COMMANDS = {
    "validate": "assay.cli.validate:qrels_validate",
    "info": "assay.cli.info:qrels_info",
    "convert": "assay.cli.convert:qrels_convert",
    "sample": "assay.cli.sample",
}


@click.group(
    "qrels",
    cls=LazyGroup,
    places=COMMANDS,
    short_help="Validate, inspect, convert and split judgments.",
    epilog="Example: assay qrels validate qrels.txt",
)
def command() -> None:
    """Validate, inspect and convert judgments, or split them into dev and test."""
