"""assay runs info, assay qrels info."""

from __future__ import annotations

import click

from assay.cli import write
from assay.cli.one_file import grades_option, input_format_option
from assay.formats import info, parse_grades
from assay.report.info import INFO_RENDERERS

_format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(list(INFO_RENDERERS)),
    default="table",
    show_default=True,
    help="Output format.",
)


@click.command("info", epilog="Example: assay runs info bm25.run.gz")
@click.argument("run")
@_format_option
@input_format_option
def runs_info(run: str, output_format: str, input_format: str) -> None:
    """Summarise a RUN: format, queries, documents, tags, scores, ties and the first rows.

    Reads any supported format, plain or compressed; - is standard input.
    """
    write(INFO_RENDERERS[output_format](info.run_info(run, input_format=input_format)))


@click.command("info", epilog="Example: assay qrels info qrels.txt --format json")
@click.argument("qrels")
@_format_option
@input_format_option
@grades_option
def qrels_info(qrels: str, output_format: str, input_format: str, grades: str | None) -> None:
    """Summarise QRELS: format, queries, judgments, grades, relevant documents and the first rows.

    Reads any supported format, plain or compressed; - is standard input.
    """
    letters = parse_grades(grades) if grades else None
    write(INFO_RENDERERS[output_format](info.qrels_info(qrels, input_format=input_format, grades=letters)))
