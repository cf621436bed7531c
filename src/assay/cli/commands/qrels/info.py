"""assay qrels info."""

from __future__ import annotations

import click

from assay.cli import write
from assay.cli.options import format_option, grades_option, input_format_option
from assay.formats import info, parse_grades
from assay.report.info import INFO_RENDERERS


@click.command("info", short_help="Summarise judgments.", epilog="Example: assay qrels info qrels.txt --format json")
@click.argument("qrels")
@format_option(INFO_RENDERERS)
@input_format_option
@grades_option
def command(qrels: str, output_format: str, input_format: str, grades: str | None) -> None:
    """Summarise QRELS: format, queries, judgments, grades, relevant documents and the first rows.

    Reads any supported format, plain or compressed; - is standard input.
    """
    letters = parse_grades(grades) if grades else None
    write(INFO_RENDERERS[output_format](info.qrels_info(qrels, input_format=input_format, grades=letters)))
