"""assay qrels: a group whose commands live in modules of their own, each beside its twin for runs."""

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
    short_help="Check judgments, look at them, convert them, cut them in two.",
    epilog="Example: assay qrels validate qrels.txt",
)
def command() -> None:
    """Check judgments, look at them, convert them from format to format, cut them into dev and test."""
