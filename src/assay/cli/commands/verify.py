"""assay verify."""

from __future__ import annotations

import sys

import click

from assay.cli import write
from assay.cli.options import output_options
from assay.records.verifying import verify
from assay.report.evaluation.verification import VERIFICATION_RENDERERS

SECTION = "Decide"


@click.command(
    "verify",
    short_help="Check that a report still holds.",
    epilog="Example: assay verify reports/hybrid",
)
@click.argument("folder", metavar="DIR")
@output_options(VERIFICATION_RENDERERS, "How to show the result.")
def command(folder: str, output_format: str, output: str | None) -> None:
    """Check the report in DIR: its files, the files that were evaluated, and every number, computed anew.

    Files are looked for where they were, from the current folder and from DIR. Exit status: 0 everything holds, 1
    something does not, 2 there is no report that can be read.
    """
    verification = verify(folder)
    write(VERIFICATION_RENDERERS[output_format](verification), output)
    sys.exit(0 if verification.holds else 1)
