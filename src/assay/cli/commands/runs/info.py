"""assay runs info."""

from __future__ import annotations

import click

from assay.cli import write
from assay.cli.options import format_option
from assay.cli.reading import reading_options
from assay.formats import info
from assay.formats.readings import Reading
from assay.report.info import INFO_RENDERERS, without_secrets


@click.command("info", short_help="Summarise a run.", epilog="Example: assay runs info bm25.run.gz")
@click.argument("run")
@format_option(INFO_RENDERERS)
@reading_options("run")
def command(run: str, output_format: str, reading: Reading) -> None:
    """Summarise a RUN: format, queries, documents, tags, scores, ties and the first rows.

    Reads any supported format, plain or compressed; - is standard input.
    """
    write(INFO_RENDERERS[output_format](without_secrets(info.run_info(run, reading))))
