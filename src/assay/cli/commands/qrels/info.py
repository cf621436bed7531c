"""assay qrels info."""

from __future__ import annotations

import click

from assay.cli import write
from assay.cli.options import format_option
from assay.cli.reading import reading_options
from assay.formats import info
from assay.formats.readings import Reading
from assay.report.info import INFO_RENDERERS, without_secrets


@click.command("info", short_help="Summarise judgments.", epilog="Example: assay qrels info qrels.txt --format json")
@click.argument("qrels")
@format_option(INFO_RENDERERS)
@reading_options("qrels")
def command(qrels: str, output_format: str, reading: Reading) -> None:
    """Summarise QRELS: format, queries, judgments, grades, relevant documents and the first rows.

    Reads any supported format, plain or compressed; - is standard input.
    """
    write(INFO_RENDERERS[output_format](without_secrets(info.qrels_info(qrels, reading))))
