"""assay qrels convert."""

from __future__ import annotations

import click

from assay.cli.conversion import conversion_options, finish, target_format
from assay.cli.options import grades_option, input_format_option
from assay.formats import parse_grades, read_qrels
from assay.formats.writing import qrels_as_bytes


@click.command(
    "convert",
    short_help="Convert judgments to another format.",
    epilog="Example: assay qrels convert esci.csv --grades E=3,S=2,C=1,I=0 -o qrels.txt",
)
@click.argument("qrels")
@conversion_options
@input_format_option
@grades_option
def command(qrels: str, output: str, to: str | None, input_format: str, grades: str | None) -> None:
    """Convert QRELS to another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Grades keep every digit. A note lists columns that the format cannot store. Ids that it cannot store are an error.
    """
    target = target_format(qrels, output, to)
    letters = parse_grades(grades) if grades else None
    data, left_out = qrels_as_bytes(read_qrels(qrels, input_format=input_format, grades=letters), target)
    finish(data, left_out, output)
