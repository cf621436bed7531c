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
    short_help="Check that a report can still be reproduced.",
    epilog="Example: assay verify reports/hybrid",
)
@click.argument("folder", metavar="DIR")
@output_options(VERIFICATION_RENDERERS, "Output format.")
def command(folder: str, output_format: str, output: str | None) -> None:
    """Check the report in DIR: its files, its input files, and every number, recomputed.

    Input files are found by their recorded paths, relative to the current folder or to DIR. Exit status: 0 all checks
    passed, 1 a check failed or could not be run, 2 there is no readable report.
    """
    verification = verify(folder)
    write(VERIFICATION_RENDERERS[output_format](verification), output)
    sys.exit(0 if verification.holds else 1)
